"""Element-wise operations."""
import math

from generate import BYTES, COMPLEX, FLOATS, INTS, Value, WIDE, bits, braces, is_float, least, part, shape


def binary(b):
    r = b.random
    x = b.any()
    t = x.type
    y = b.get(t, x.dims)
    if t == "pred":
        op = r.choice(["and", "or", "xor", "add", "multiply", "maximum", "minimum"])
        return b.emit(t, x.dims, f"{op}({x.name}, {y.name})")
    if t in INTS:
        op = r.choice(["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor", "shift-left",
                       "shift-right-logical", "shift-right-arithmetic", "power", "mulhi"])
        if op == "mulhi":
            return high_half(b, x, y)
        if op in ("divide", "remainder") and not constant_free(b, y):
            op = "subtract"
        if op == "power":  # the reference uses only six bits of the exponent
            top = {2: 1, 4: 7}.get(INTS[t][1], r.choice([7, 63]))
            low, high = b.filled(t, x.dims, -1 if t[0] == "s" and r.random() < 0.3 else 0), b.filled(t, x.dims, top)
            y = b.emit(t, x.dims, f"clamp({low.name}, {y.name}, {high.name})")
        return b.emit(t, x.dims, f"{op}({x.name}, {y.name})")
    op = r.choice(["add", "subtract", "multiply", "maximum", "minimum", "divide", "atan2", "remainder", "power"])
    if t in COMPLEX and op in ("maximum", "minimum", "remainder", "atan2"):
        op = "multiply"
    if t in COMPLEX and op in ("divide", "power"):
        z, w = away_from_zero(b, t, x.dims), away_from_zero(b, t, x.dims) if op == "power" else x
        if z.bound > 8 or op == "power" and w.bound > 8:
            return None
        first, second = (w, z) if op == "divide" else (z, w)
        return b.emit(t, x.dims, f"{op}({first.name}, {second.name})", None, x.bound * 2 if op == "divide" else 1e5)
    text = f"{op}({x.name}, {y.name})"
    if op in ("add", "subtract"):
        return b.emit(t, x.dims, text, least(x.q, y.q), x.bound + y.bound)
    if op == "multiply":
        q = None if x.q is None or y.q is None else x.q + y.q
        return b.emit(t, x.dims, text, q, x.bound * y.bound * (2 if t in COMPLEX else 1))
    if op in ("maximum", "minimum"):
        return b.emit(t, x.dims, text, least(x.q, y.q), max(x.bound, y.bound))
    y = b.get(t, x.dims, positive=True)
    if op == "divide":
        return b.emit(t, x.dims, f"divide({x.name}, {y.name})", None, x.bound * 2)
    if op == "power":
        z = b.get(t, x.dims)
        return z.bound < 6 and y.bound < 3 and b.emit(t, x.dims, f"power({y.name}, {z.name})", None, max(2, y.bound) ** z.bound)
    if op == "remainder":
        y = b.get(t, x.dims, exact=True, positive=True)
        return x.exact and y.exact and b.emit(t, x.dims, f"remainder({x.name}, {y.name})", least(x.q, y.q), y.bound)
    return b.emit(t, x.dims, f"atan2({x.name}, {y.name})", None, 3.2)


def high_half(b, x, y):
    """mulhi, which the reference does not have."""
    kind, width = INTS[x.type]
    if width not in (8, 16, 32):
        return None
    wide = shape(f"{kind}{2 * width}", x.dims)
    n, text = b.module.fresh("wide"), f"mulhi({x.name}, {y.name})"
    shift = "shift-right-arithmetic" if kind == "s" else "shift-right-logical"
    return b.emit(x.type, x.dims, text, reference=f"{n}a = {wide} convert({x.name}) ; {n}b = {wide} convert({y.name}) ; "
                  f"{n}c = {wide} multiply({n}a, {n}b) ; {n}d = {shape(wide.split('[')[0], ())} constant({width}) ; "
                  f"{n}e = {wide} broadcast({n}d), dimensions={{}} ; {n}f = {wide} {shift}({n}c, {n}e) ; convert({n}f)")


def away_from_zero(b, t, dims):
    """A complex value with a real part of at least 0.5, away from branch cuts."""
    f = part(t)
    x, y = b.get(f, dims, positive=True), b.get(f, dims)
    z = b.emit(t, dims, f"complex({x.name}, {y.name})", least(x.q, y.q), x.bound + y.bound)
    return z or b.filled(t, dims, 1)


def hyperbolic(b):
    """Functions that the reference computes by formulas; no other operation reads their results."""
    r = b.random
    x = b.any(["f32", "f64"])
    if x.type not in ("f32", "f64") or not b.entry:
        return None
    op = r.choice(["acos", "asin", "atanh", "cosh", "sinh", "asinh", "acosh"])
    s, n, name = shape(x.type, x.dims), b.module.fresh("h"), x.name
    if op in ("acos", "asin", "atanh"):
        x = b.emit(x.type, x.dims, f"tanh({name})", None, 1)
        half = b.filled(x.type, x.dims, 0.5)
        x = b.emit(x.type, x.dims, f"multiply({x.name}, {half.name})", None, 0.5)
        name = x.name
    elif op == "acosh":
        x = b.emit(x.type, x.dims, f"abs({name})", x.q, x.bound)
        two = b.filled(x.type, x.dims, 2)
        x = x and b.emit(x.type, x.dims, f"add({x.name}, {two.name})", least(x.q, 0), x.bound + 2)
        if x is None:
            return None
        name = x.name
    elif x.bound > 8:
        return None
    one = f"{n}z = {shape(x.type, ())} constant(1) ; {n}o = {s} broadcast({n}z), dimensions={{}} ; "
    below = f"{n}s = {s} multiply({name}, {name}) ; {n}d = {s} subtract({n}o, {n}s) ; {n}r = {s} sqrt({n}d) ; "
    above = f"{n}s = {s} multiply({name}, {name}) ; {n}d = {s} {'add' if op == 'asinh' else 'subtract'}({n}s, {n}o) ; {n}r = {s} sqrt({n}d) ; "
    exps = f"{n}m = {s} negate({name}) ; {n}e = {s} exponential({name}) ; {n}f = {s} exponential({n}m) ; {n}t = {s} add({n}o, {n}o) ; "
    reference = {
        "acos": one + below + f"atan2({n}r, {name})", "asin": one + below + f"atan2({name}, {n}r)",
        "atanh": one + f"{n}m = {s} negate({name}) ; {n}a = {s} log-plus-one({name}) ; {n}b = {s} log-plus-one({n}m) ; {n}c = {s} subtract({n}a, {n}b) ; "
                       f"{n}t = {s} add({n}o, {n}o) ; divide({n}c, {n}t)",
        "cosh": one + exps + f"{n}g = {s} add({n}e, {n}f) ; divide({n}g, {n}t)", "sinh": one + exps + f"{n}g = {s} subtract({n}e, {n}f) ; divide({n}g, {n}t)",
        "acosh": one + above + f"{n}g = {s} add({name}, {n}r) ; log({n}g)",
        "asinh": one + above + f"{n}g = {s} abs({name}) ; {n}h = {s} add({n}g, {n}r) ; {n}i = {s} log({n}h) ; {n}j = {s} sign({name}) ; multiply({n}i, {n}j)"}[op]
    v = b.emit(x.type, x.dims, f"{op}({name})", None, math.exp(min(x.bound, 8)) + 2, reference=reference)
    if v:  # the two compilers use different formulas, whose difference must not be magnified
        b.values.remove(v)
        b.hidden.append(v)
    return v


def narrow(b):
    """Conversions through exponent-only types and types of less than a byte."""
    r = b.random
    x = b.any(["f32", "bf16", "f16"])
    if x.type not in ("f32", "bf16", "f16") or not x.exact or x.size > 9000:
        return None
    to = r.choice(["f8e8m0fnu"] + [t for t in FLOATS if t[:2] in ("f8", "f4")])
    a = b.emit(x.type, x.dims, f"abs({x.name})", x.q, x.bound)
    one = b.filled(x.type, x.dims, 1)
    a = a and b.emit(x.type, x.dims, f"add({a.name}, {one.name})", least(a.q, 0), a.bound + 1)
    if a is None or to in ("f4e2m1fn",) and a.bound > 6 or to in FLOATS and a.bound > FLOATS[to][2] / 2:
        return None
    n = b.raw(shape(to, x.dims), f"convert({a.name})")
    b.module.exact.add(n)
    if r.random() < 0.5 and x.dims:
        n = b.raw(shape(to, x.dims), f"reverse({n}), dimensions={{0}}")
    if r.random() < 0.3 and to != "f4e2m1fn":
        return b.emit("u8", x.dims, f"bitcast-convert({n})")
    return b.emit("f32", x.dims, f"convert({n})", -8, 2 * a.bound)


def constant_free(b, v):
    """Whether the value depends on a parameter. (The reference crashes on constant zero divisors.)"""
    return v.op == "parameter"


def unary(b):
    r = b.random
    x = b.any()
    t, n = x.type, x.name
    if t == "pred":
        return b.emit(t, x.dims, f"not({n})")
    if t in INTS:
        ops = ["not", "negate", "popcnt", "count-leading-zeros"] + (["abs", "sign"] if t[0] == "s" else [])
        if x.op in ("multiply", "power") and "abs" in ops:  # the reference treats overflowing products as squares
            ops.remove("abs")
        if INTS[t][1] < 8:
            ops = ["negate"] if t[0] == "s" else ["popcnt"]
        elif x.op != "parameter":  # the reference folds those of negative constants to -32
            ops.remove("count-leading-zeros")
        return b.emit(t, x.dims, f"{r.choice(ops)}({n})")
    if t in COMPLEX:
        op = r.choice(["negate", "abs", "real", "imag", "exponential", "sine", "cosine", "tanh", "sqrt", "rsqrt", "log", "logistic", "log-plus-one",
                       "exponential-minus-one", "sign"])
        f = part(t)
        if op in ("real", "imag"):
            return b.emit(f, x.dims, f"{op}({n})", x.q, x.bound)
        if op == "abs":
            return b.emit(f, x.dims, f"abs({n})", None, x.bound)
        if op == "negate":
            return b.keep(x, x.dims, f"negate({n})")
        if op in ("exponential", "sine", "cosine", "exponential-minus-one") and x.bound < 7:
            return b.emit(t, x.dims, f"{op}({n})", None, math.exp(x.bound))
        if op in ("sqrt", "rsqrt", "log", "log-plus-one", "sign", "tanh", "logistic"):
            z = away_from_zero(b, t, x.dims)
            return z.bound < 30 and b.emit(t, x.dims, f"{op}({z.name})", None, max(2, z.bound))
        return None
    if r.random() < 0.25:
        op = r.choice(["negate", "abs"])
        return b.emit(t, x.dims, f"{op}({n})", x.q, x.bound)
    if x.exact and r.random() < 0.5:
        op = r.choice(["floor", "ceil", "round-nearest-afz", "round-nearest-even", "sign", "is-finite", "reduce-precision", "sign"])
        if op == "round-nearest-even" and t not in WIDE and x.op in ("constant", "broadcast"):
            op = "floor"  # the reference folds it to NaN
        if op == "is-finite":
            return b.emit("pred", x.dims, f"is-finite({n})")
        if op == "reduce-precision":
            return b.emit(t, x.dims, f"reduce-precision({n}), exponent_bits={r.randint(4, 8)}, mantissa_bits={r.randint(1, 10)}", x.q, x.bound * 2)
        return b.emit(t, x.dims, f"{op}({n})", 0, math.ceil(x.bound))
    op = r.choice(["exponential", "exponential-minus-one", "sine", "cosine", "tanh", "logistic", "erf", "cbrt", "log", "log-plus-one",
                   "sqrt", "rsqrt", "tan"])
    if op in ("log", "log-plus-one", "sqrt", "rsqrt"):
        x = b.get(t, x.dims, positive=True)
        return x.positive and b.emit(t, x.dims, f"{op}({x.name})", None, max(2, x.bound))
    limit = {"exponential": 7, "exponential-minus-one": 7, "sine": 30, "cosine": 30, "tan": 1.3}.get(op, 1e6)
    if x.bound > limit:
        return None
    bound = math.exp(min(x.bound, 8)) if "exp" in op else {"cbrt": max(1, x.bound), "tan": 4}.get(op, 1)
    accuracy = r.choice([", result_accuracy={mode=highest}", ", result_accuracy={tolerance={ulps=2}}"]) if r.random() < 0.05 else ""
    return b.emit(t, x.dims, f"{op}({x.name}){accuracy}", None, bound, op == "exponential")


def special(b):
    """Element-wise chains over NaN, infinities and signed zeros; no other operation reads their results."""
    r = b.random
    if not b.entry:
        return None
    t, dims = b.type(FLOATS), b.dims()
    if not dims:
        return None
    x, y = b.parameter(t, dims, "special"), b.parameter(t, dims, "special")
    if x is None or y is None:
        return None
    for v in (x, y):
        b.values.remove(v)
    if t in WIDE and r.random() < 0.4:
        op = r.choice(["exponential", "exponential-minus-one", "tanh", "logistic", "erf", "cbrt", "log", "log-plus-one", "sqrt", "rsqrt", "atan2", "divide",
                       "reduce-precision"])
        text = f"{op}({x.name}, {y.name})" if op in ("atan2", "divide") else f"{op}({x.name})"
        if op == "reduce-precision":
            text += f", exponent_bits={r.randint(1, 8)}, mantissa_bits={r.randint(0, 23)}"
        v = b.emit(t, dims, text, 0 if op == "reduce-precision" else None)
        if v in b.values:
            b.values.remove(v)
            b.hidden.append(v)
        return v
    op = r.choice(["add", "multiply", "maximum", "minimum", "compare", "clamp", "floor", "ceil", "sign", "round-nearest-even", "round-nearest-afz",
                   "convert", "is-finite", "negate", "abs", "total", "select", "min-reduce"])
    if op == "compare" or op == "total":
        d = r.choice(["EQ", "NE", "LT", "LE", "GT", "GE"])
        return b.emit("pred", dims, f"compare({x.name}, {y.name}), direction={d}" + (", type=TOTALORDER" if op == "total" else ""))
    if op == "is-finite":
        return b.emit("pred", dims, f"is-finite({x.name})")
    if op == "convert":
        to = r.choice(WIDE + BYTES + [t for t in b.module.types if is_float(t)])
        if t == "f4e2m1fn" and to in INTS:
            to = "f32"  # the reference takes the largest f4 for an infinity
        v = b.emit(to, dims, f"convert({x.name})")
    elif op == "clamp":
        v = b.emit(t, dims, f"clamp({x.name}, {y.name}, {b.filled(t, dims, 2).name})")
    elif op == "select":
        v = b.emit(t, dims, f"select({b.get('pred', dims).name}, {x.name}, {y.name})")
    elif op in ("add", "multiply", "maximum", "minimum"):
        v = b.emit(t, dims, f"{op}({x.name}, {y.name})")
    elif op == "min-reduce":
        v = b.emit(t, dims, f"reverse({x.name}), dimensions={{0}}")
    else:
        v = b.emit(t, dims, f"{op}({x.name})")
    if v in b.values and v.type not in INTS:
        b.values.remove(v)
        b.hidden.append(v)
    return v


def ternary(b):
    r = b.random
    x = b.any()
    y = b.get(x.type, x.dims)
    if r.random() < 0.6:
        p = b.get("pred", r.choice([x.dims, x.dims, x.dims, ()]))
        return b.emit(x.type, x.dims, f"select({p.name}, {x.name}, {y.name})", least(x.q, y.q), max(x.bound, y.bound))
    if x.type in COMPLEX or x.type == "pred":
        return None
    d = r.choice([x.dims, ()])
    low = b.filled(x.type, d, 0 if x.type[0] == "u" or r.random() < .5 else 1)
    high = b.filled(x.type, d, 2 if x.type not in ("s2", "f4e2m1fn") else 1)
    if r.random() < 0.3:
        low, high = b.get(x.type, d, exact=True), b.get(x.type, d, exact=True)
    return b.emit(x.type, x.dims, f"clamp({low.name}, {x.name}, {high.name})", least(x.q, low.q, high.q),
                  max(x.bound, low.bound, high.bound))


def compare(b):
    x = b.any(exact=True)
    y = b.get(x.type, x.dims, exact=True)
    if not x.exact or not y.exact:
        return None
    d = b.random.choice(["EQ", "NE"] + ([] if x.type in COMPLEX else ["LT", "LE", "GT", "GE"]))
    kind = ""
    if b.random.random() < 0.2 and x.type not in COMPLEX:
        kind = ", type=" + ("FLOAT" if is_float(x.type) else "SIGNED" if x.type[0] == "s" else "UNSIGNED")
    return b.emit("pred", x.dims, f"compare({x.name}, {y.name}), direction={d}{kind}")


def convert(b):
    r = b.random
    x = b.any()
    to = b.type()
    if x.type in COMPLEX and to not in COMPLEX:
        return None
    if not x.exact and (to in INTS or to == "pred"):
        return None
    if x.type in INTS and to not in INTS and to != "pred" and not (x.type.endswith("8") or INTS[x.type][1] < 8):
        return None  # no bound is known for integers
    if x.type in ("u4", "u2") or x.type == "f4e2m1fn" and to in INTS:
        return None  # the reference leaves bits above the fourth, and takes the largest f4 for an infinity
    bound = x.bound if x.type not in INTS else 2.0 ** INTS[x.type][1]
    return b.emit(to, x.dims, f"convert({x.name})", x.q if x.type not in INTS else 0, bound, x.positive)


def bitcast_convert(b):
    r = b.random
    x = b.any(BYTES)
    w = INTS[x.type][1]
    to = r.choice(BYTES)
    v = INTS[to][1]
    if v == w:
        return b.emit(to, x.dims, f"bitcast-convert({x.name})")
    if v < w:
        return b.emit(to, x.dims + (w // v,), f"bitcast-convert({x.name})")
    if x.dims and x.dims[-1] == v // w:
        return b.emit(to, x.dims[:-1], f"bitcast-convert({x.name})")
    x = b.get(x.type, b.dims(r.randint(0, 2)) + (v // w,))
    return b.emit(to, x.dims[:-1], f"bitcast-convert({x.name})")


def bits_of_float(b):
    x = b.pick(lambda v: v.type in ("f32", "f64", "f16", "bf16") and v.op == "parameter")
    if x is None:
        return None
    w = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16}[x.type]
    to = b.random.choice([f"u{w}", f"s{w}", f"u{w // 2}", "u8"])
    v = int(to[1:])
    return b.emit(to, x.dims + (() if v == w else (w // v,)), f"bitcast-convert({x.name})")


def complex_(b):
    x = b.any(["f32", "f64"])
    y = b.get(x.type, x.dims)
    return b.emit("c64" if x.type == "f32" else "c128", x.dims, f"complex({x.name}, {y.name})", least(x.q, y.q), x.bound + y.bound)


def stochastic_convert(b):
    r = b.random
    if not b.entry:
        return None
    x = b.get("f32", b.dims())
    if x.op != "parameter" or len(b.module.specs) > 9:
        return None
    bits_ = b.parameter("u32", x.dims, "bits")
    to = r.choice(["s8", "s32"])
    return bits_ and b.emit(to, x.dims, f"stochastic-convert({x.name}, {bits_.name})", None if x.q is None else x.q, x.bound * 2)


def map_(b):
    r = b.random
    x = b.any([t for t in b.module.types if t in WIDE or t in BYTES])
    if x.type == "pred" or x.type in COMPLEX:
        return None
    y = b.get(x.type, x.dims)
    a, c = Value("", x.type, (), x.q, x.bound), Value("", y.type, (), y.q, y.bound)
    s = b.sub([a, c])
    for _ in range(r.randint(1, 3)):
        r.choice([binary, unary])(s)
    outs = [v for v in s.values if v.dims == () and v.op not in ("constant", "")]
    if not outs:
        return None
    out = outs[-1]
    f = b.module.computation(s.body(out.name), "mapped")
    return b.keep(out, x.dims, f"map({x.name}, {y.name}), dimensions={braces(range(len(x.dims)))}, to_apply={f}")


OPERATIONS = [(hyperbolic, 2), (narrow, 1), (binary, 14), (unary, 10), (special, 3), (ternary, 5), (compare, 4), (convert, 6), (bitcast_convert, 2), (bits_of_float, 1), (complex_, 1), (stochastic_convert, 1), (map_, 2)]
