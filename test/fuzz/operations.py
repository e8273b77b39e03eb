"""The operations of random modules: each function adds one to a Builder, or nothing where it finds no fitting operands."""
import math

from generate import BYTES, Builder, COMPLEX, FLOATS, INTS, Unfit, Value, WIDE, braces, is_float, part, settle, shape

NUMBERS = list(FLOATS) + list(COMPLEX) + list(INTS)


def least(*qs):
    return None if any(q is None for q in qs) else min(qs)


# ---- element by element -----------------------------------------------------------------------------------------------
def binary(b):
    r = b.random
    x = b.any()
    t = x.type
    y = b.get(t, x.dims)
    e = max(x.eps, y.eps)
    if t == "pred":
        op = r.choice(["and", "or", "xor", "add", "multiply", "maximum", "minimum"])
        return b.emit(t, x.dims, f"{op}({x.name}, {y.name})")
    if t in INTS:
        op = r.choice(["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor", "shift-left",
                       "shift-right-logical", "shift-right-arithmetic", "power"])
        if op in ("divide", "remainder") and not constant_free(b, y):
            op = "subtract"
        if op == "power":  # the reference takes six bits of the exponent
            low, high = (b.filled(t, x.dims, n) for n in (0, 1 if t in ("s2", "u2") else 7))
            y = b.emit(t, x.dims, f"clamp({low.name}, {y.name}, {high.name})")
        return b.emit(t, x.dims, f"{op}({x.name}, {y.name})")
    op = r.choice(["add", "subtract", "multiply", "maximum", "minimum", "divide", "atan2", "remainder", "power"])
    if t in COMPLEX and op in ("maximum", "minimum", "remainder", "power", "atan2"):
        op = "multiply"
    text = f"{op}({x.name}, {y.name})"
    if op in ("add", "subtract"):
        return b.emit(t, x.dims, text, least(x.q, y.q), x.bound + y.bound, e)
    if op == "multiply":
        q = None if x.q is None or y.q is None else x.q + y.q
        return b.emit(t, x.dims, text, q, x.bound * y.bound * (2 if t in COMPLEX else 1), e)
    if op in ("maximum", "minimum"):
        return b.emit(t, x.dims, text, least(x.q, y.q), max(x.bound, y.bound), e)
    if t in COMPLEX:
        return None
    y = b.get(t, x.dims, positive=True)
    e = max(x.eps, y.eps)
    if op == "divide":
        return b.emit(t, x.dims, f"divide({x.name}, {y.name})", None, x.bound * 2, e)
    if op == "power":
        z = b.get(t, x.dims)
        return z.bound < 6 and y.bound < 3 and b.emit(t, x.dims, f"power({y.name}, {z.name})", None, max(2, y.bound) ** z.bound, max(e, z.eps))
    if op == "remainder":
        y = b.get(t, x.dims, exact=True, positive=True)
        return x.exact and y.exact and b.emit(t, x.dims, f"remainder({x.name}, {y.name})", least(x.q, y.q), y.bound)
    return b.emit(t, x.dims, f"atan2({x.name}, {y.name})", None, 3.2, e)


def constant_free(b, v):
    """Whether the value does not come from constants alone (the reference dies of constant zero divisors)."""
    return v.op == "parameter"


def unary(b):
    r = b.random
    x = b.any()
    t, n = x.type, x.name
    if t == "pred":
        return b.emit(t, x.dims, f"not({n})")
    if t in INTS:
        ops = ["not", "negate", "popcnt", "count-leading-zeros"] + (["abs", "sign"] if t[0] == "s" else [])
        if INTS[t][1] < 8:
            ops = ["negate"] if t[0] == "s" else ["popcnt"]
        elif x.op != "parameter":  # the reference folds those of negative constants to -32
            ops.remove("count-leading-zeros")
        return b.emit(t, x.dims, f"{r.choice(ops)}({n})")
    if t in COMPLEX:
        op = r.choice(["negate", "abs", "real", "imag", "exponential", "sine", "cosine", "tanh", "is", "sqrt", "log", "logistic", "log-plus-one", "exponential-minus-one"])
        f = part(t)
        if op in ("real", "imag"):
            return b.emit(f, x.dims, f"{op}({n})", x.q, x.bound, x.eps)
        if op == "abs":
            return b.emit(f, x.dims, f"abs({n})", None, x.bound, x.eps)
        if op == "negate":
            return b.keep(x, x.dims, f"negate({n})")
        if op in ("exponential", "sine", "cosine", "exponential-minus-one") and x.bound < 7:
            return b.emit(t, x.dims, f"{op}({n})", None, math.exp(x.bound), x.eps)
        return None
    if r.random() < 0.25:
        op = r.choice(["negate", "abs"])
        return b.emit(t, x.dims, f"{op}({n})", x.q, x.bound, x.eps)
    if x.exact and r.random() < 0.5:
        op = r.choice(["floor", "ceil", "round-nearest-afz", "round-nearest-even", "sign", "is-finite", "reduce-precision", "sign"])
        if op == "is-finite":
            return b.emit("pred", x.dims, f"is-finite({n})")
        if op == "reduce-precision":
            return b.emit(t, x.dims, f"reduce-precision({n}), exponent_bits={r.randint(4, 8)}, mantissa_bits={r.randint(1, 10)}", x.q, x.bound * 2)
        return b.emit(t, x.dims, f"{op}({n})", 0, math.ceil(x.bound))
    op = r.choice(["exponential", "exponential-minus-one", "sine", "cosine", "tanh", "logistic", "erf", "cbrt", "log", "log-plus-one",
                   "sqrt", "rsqrt", "tan"])
    if op in ("log", "log-plus-one", "sqrt", "rsqrt"):
        x = b.get(t, x.dims, positive=True)
        return x.positive and b.emit(t, x.dims, f"{op}({x.name})", None, max(2, x.bound), x.eps)
    limit = {"exponential": 7, "exponential-minus-one": 7, "sine": 30, "cosine": 30, "tan": 1.3}.get(op, 1e6)
    if x.bound > limit:
        return None
    bound = math.exp(min(x.bound, 8)) if "exp" in op else {"cbrt": max(1, x.bound), "tan": 4}.get(op, 1)
    return b.emit(t, x.dims, f"{op}({x.name})", None, bound, x.eps, op == "exponential")


def special(b):
    """Element-wise chains over NaN, infinities and zeros of both signs, which reach nothing else."""
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
    op = r.choice(["add", "multiply", "maximum", "minimum", "compare", "clamp", "floor", "ceil", "sign", "round-nearest-even", "round-nearest-afz",
                   "convert", "is-finite", "negate", "abs", "total", "select", "min-reduce"])
    if op == "compare" or op == "total":
        d = r.choice(["EQ", "NE", "LT", "LE", "GT", "GE"])
        return b.emit("pred", dims, f"compare({x.name}, {y.name}), direction={d}" + (", type=TOTALORDER" if op == "total" else ""))
    if op == "is-finite":
        return b.emit("pred", dims, f"is-finite({x.name})")
    if op == "convert":
        to = r.choice(WIDE + BYTES + [t for t in b.module.types if is_float(t)])
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
        return b.emit(x.type, x.dims, f"select({p.name}, {x.name}, {y.name})", least(x.q, y.q), max(x.bound, y.bound), max(x.eps, y.eps))
    if x.type in COMPLEX or x.type == "pred":
        return None
    d = r.choice([x.dims, ()])
    low = b.filled(x.type, d, 0 if x.type[0] == "u" or r.random() < .5 else 1)
    high = b.filled(x.type, d, 2 if x.type not in ("s2", "f4e2m1fn") else 1)
    if r.random() < 0.3:
        low, high = b.get(x.type, d, exact=True), b.get(x.type, d, exact=True)
    return b.emit(x.type, x.dims, f"clamp({low.name}, {x.name}, {high.name})", least(x.q, low.q, high.q),
                  max(x.bound, low.bound, high.bound), max(x.eps, low.eps, high.eps))


def compare(b):
    x = b.any(exact=True)
    y = b.get(x.type, x.dims, exact=True)
    if not x.exact or not y.exact:
        return None
    d = b.random.choice(["EQ", "NE"] + ([] if x.type in COMPLEX else ["LT", "LE", "GT", "GE"]))
    return b.emit("pred", x.dims, f"compare({x.name}, {y.name}), direction={d}")


def convert(b):
    r = b.random
    x = b.any()
    to = b.type()
    if x.type in COMPLEX and to not in COMPLEX:
        return None
    if not x.exact and (to in INTS or to == "pred"):
        return None
    if x.type in INTS and to not in INTS and to != "pred" and not (x.type.endswith("8") or INTS[x.type][1] < 8):
        return None  # magnitudes of integers are not known
    if x.type in ("u4", "u2") or x.type == "f4e2m1fn" and to in INTS:
        return None  # the reference leaves bits above the fourth, and takes the largest f4 for an infinity
    bound = x.bound if x.type not in INTS else 2.0 ** INTS[x.type][1]
    return b.emit(to, x.dims, f"convert({x.name})", x.q if x.type not in INTS else 0, bound, x.eps, x.positive)


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
    return b.emit("c64" if x.type == "f32" else "c128", x.dims, f"complex({x.name}, {y.name})", least(x.q, y.q), x.bound + y.bound, max(x.eps, y.eps))


# ---- movement ---------------------------------------------------------------------------------------------------------
def broadcast(b):
    r = b.random
    x = b.any()
    new = [b.dim() for _ in range(r.randint(0, 2))]
    total = len(x.dims) + len(new)
    where = sorted(r.sample(range(total), len(x.dims)))
    dims = [0] * total
    order = list(where)
    if r.random() < 0.2:
        r.shuffle(order)
    for i, d in zip(order, x.dims):
        dims[i] = d
    rest = iter(new)
    for i in range(total):
        if i not in where:
            dims[i] = next(rest)
    return b.keep(x, tuple(dims), f"broadcast({x.name}), dimensions={braces(order)}")


def reshape(b):
    r = b.random
    x = b.any()
    n, dims = x.size, []
    if n == 0:
        dims = [0, b.dim()]
    else:
        factors = []
        p = 2
        while n > 1:
            while n % p == 0:
                factors.append(p)
                n //= p
            p += 1
        dims = [1] * r.randint(1, 5)
        for f in factors:
            dims[r.randrange(len(dims))] *= f
        if x.size == 1 and r.random() < 0.5:
            dims = []
        if r.random() < 0.5:
            dims = [d for d in dims if d != 1] or dims[:1]
    return b.keep(x, tuple(dims), f"reshape({x.name})")


def transpose(b):
    x = b.any(minimum=1)
    p = b.random.sample(range(len(x.dims)), len(x.dims))
    return b.keep(x, tuple(x.dims[i] for i in p), f"transpose({x.name}), dimensions={braces(p)}")


def reverse(b):
    x = b.any(minimum=1)
    d = b.random.sample(range(len(x.dims)), b.random.randint(1, len(x.dims)))
    return b.keep(x, x.dims, f"reverse({x.name}), dimensions={braces(d)}")


def slice_(b):
    r = b.random
    x = b.any(minimum=1)
    parts, dims = [], []
    for d in x.dims:
        if r.random() < 0.4:
            low, high, s = 0, d, 1
        else:
            low = r.randint(0, max(d - 1, 0))
            high = r.randint(low if b.module.zero else min(low + 1, d), d)
            s = r.choice([1, 1, 1, 2, 3, 5])
        parts.append(f"[{low}:{high}" + (f":{s}]" if s > 1 else "]"))
        dims.append((high - low + s - 1) // s)
    return b.keep(x, tuple(dims), f"slice({x.name}), slice={{{', '.join(parts)}}}")


def pad(b):
    r = b.random
    x = b.any(minimum=1)
    v = b.get(x.type, ())
    parts, dims = [], []
    for d in x.dims:
        low, high, inside = 0, 0, 0
        if r.random() < 0.7:
            low, high, inside = r.randint(-2, 3), r.randint(-2, 3), r.choice([0, 0, 0, 1, 2])
        n = d + max(d - 1, 0) * inside
        if n + low + high < (0 if b.module.zero else 1) or -low > n or -high > n:
            low, high = max(low, 0), max(high, 0)
        parts.append(f"{low}_{high}" + (f"_{inside}" if inside else ""))
        dims.append(n + low + high)
    return b.emit(x.type, dims, f"pad({x.name}, {v.name}), padding={'x'.join(parts)}", least(x.q, v.q), max(x.bound, v.bound), max(x.eps, v.eps))


def concatenate(b):
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    all_ = [x]
    for _ in range(r.randint(0, 3)):
        dims = list(x.dims)
        dims[d] = b.dim() if r.random() < 0.5 else dims[d]
        other = b.pick(lambda v: v.type == x.type and len(v.dims) == len(x.dims) and all(i == d or v.dims[i] == x.dims[i] for i in range(len(x.dims))))
        all_.append(other if other is not None and r.random() < 0.5 else b.get(x.type, dims))
    r.shuffle(all_)
    dims = list(x.dims)
    dims[d] = sum(v.dims[d] for v in all_)
    return b.emit(x.type, dims, f"concatenate({', '.join(v.name for v in all_)}), dimensions={{{d}}}", least(*(v.q for v in all_)),
                  max(v.bound for v in all_), max(v.eps for v in all_))


def iota(b):
    t = b.type([t for t in NUMBERS if t not in ("s2", "u2") and t[:2] not in ("f8", "f4")])
    dims = b.dims()
    if not dims:
        return None
    d = b.random.randrange(len(dims))
    return b.emit(t, dims, f"iota(), iota_dimension={d}", 0, max(dims[d], 1))


def copy(b):
    x = b.any()
    return b.keep(x, x.dims, f"{b.random.choice(['copy', 'opt-barrier'])}({x.name})")


def index(b, count, low, high, dims=()):
    """An integer array of indices, mostly from low to high."""
    r = b.random
    t = r.choice(["s32", "s32", "s32", "s64", "u32", "u8", "s16"])
    if r.random() < 0.25:
        low, high = (low - 3 if t[0] == "s" else low), high + 3
    high = min(high, 100)
    if b.entry and len(b.module.specs) < 12:
        return lambda: b.parameter(t, dims, "index", low, high)
    n = math.prod(dims)
    if dims and n > 30:
        return None
    return lambda: b.constant(t, dims, [r.randint(low, high) for _ in range(n)])


def starts(b, free):
    one = index(b, 1, 0, max(free) if free else 0)
    if b.random.random() < 0.3 and not b.entry:
        s = b.pick(lambda v: v.type == "s32" and v.dims == ())
        if s:
            one = lambda: s
    made = [one() for _ in free]
    return made


def dynamic_slice(b):
    r = b.random
    x = b.pick(lambda v: v.dims and v.op not in ("dynamic-slice", "reshape", "bitcast-convert", "copy", "opt-barrier", "transpose", "fusion", "call"))
    if x is None:
        return None
    sizes = [d if r.random() < 0.3 else r.randint(0 if b.module.zero or d == 0 else 1, d) for d in x.dims]
    s = starts(b, [d - n for d, n in zip(x.dims, sizes)])
    return b.keep(x, tuple(sizes), f"dynamic-slice({', '.join(v.name for v in [x] + s)}), dynamic_slice_sizes={braces(sizes)}")


def dynamic_update_slice(b):
    r = b.random
    x = b.any(minimum=1)
    sizes = [d if r.random() < 0.3 else r.randint(0 if b.module.zero or d == 0 else 1, d) for d in x.dims]
    u = b.get(x.type, sizes)
    s = starts(b, [d - n for d, n in zip(x.dims, sizes)])
    return b.emit(x.type, x.dims, f"dynamic-update-slice({', '.join(v.name for v in [x, u] + s)})", least(x.q, u.q), max(x.bound, u.bound), max(x.eps, u.eps))


def indexed(b, x):
    """Random dimension numbers: what gather and scatter share."""
    r, rank = b.random, len(x.dims)
    roles = list(range(rank))
    r.shuffle(roles)
    nb = r.choice([0, 0, 0, 1, 1, 2]) if rank > 1 else 0
    batching = sorted(roles[:min(nb, rank - 1)])
    rest = [d for d in range(rank) if d not in batching]
    mapped = r.sample(rest, r.randint(0 if r.random() < 0.1 else 1, len(rest)))
    collapsed = sorted(d for d in rest if r.random() < 0.45 and x.dims[d] > 0)
    sizes = [1 if d in collapsed or d in batching else (x.dims[d] if r.random() < 0.4 else r.randint(min(1, x.dims[d]), x.dims[d])) for d in range(rank)]
    if any(x.dims[d] == 0 for d in batching):
        return None
    extra = [r.choice([1, 2, 3, 5]) for _ in range(r.randint(0, 2))]
    items = [("free", n) for n in extra] + [("batch", d) for d in batching]
    r.shuffle(items)
    index_dims = [x.dims[v] if kind == "batch" else v for kind, v in items]
    # operand_batching_dims must be sorted; the indices' ones follow their order.
    place = [items.index(("batch", d)) for d in batching]
    if len(mapped) == 1 and r.random() < 0.5:
        vector = len(index_dims)
        full = list(index_dims)
    else:
        vector = r.randint(0, len(index_dims))
        full = index_dims[:vector] + [len(mapped)] + index_dims[vector:]
        place = [p + (p >= vector) for p in place]
    window = [sizes[d] for d in range(rank) if d not in collapsed and d not in batching]
    total = len(window) + len(index_dims)
    offset = sorted(r.sample(range(total), len(window)))
    result, w, i = [], iter(window), iter(index_dims)
    for d in range(total):
        result.append(next(w) if d in offset else next(i))
    top = max([x.dims[d] - sizes[d] for d in mapped] or [0])
    made = index(b, 0, 0, top, tuple(full))
    if made is None:
        return None
    return batching, place, mapped, collapsed, sizes, vector, offset, result, made()


def gather(b):
    x = b.any(minimum=1)
    n = indexed(b, x)
    if n is None or n[-1] is None:
        return None
    batching, place, mapped, collapsed, sizes, vector, offset, result, i = n
    text = (f"gather({x.name}, {i.name}), offset_dims={braces(offset)}, collapsed_slice_dims={braces(collapsed)}, start_index_map={braces(mapped)}, "
            f"index_vector_dim={vector}, slice_sizes={braces(sizes)}")
    if batching:
        text += f", operand_batching_dims={braces(batching)}, start_indices_batching_dims={braces(place)}"
    return b.keep(x, tuple(result), text)


def scatter(b):
    r = b.random
    x = b.any(minimum=1)
    n = indexed(b, x)
    if n is None or n[-1] is None:
        return None
    batching, place, mapped, collapsed, _, vector, offset, result, i = n
    if not mapped:  # the reference applies one update only
        return None
    u = b.get(x.type, result)
    count = max(u.size, 1)
    ops = ["add", "maximum", "minimum"] if x.type not in COMPLEX else ["add"]
    if x.type == "pred":
        ops = ["and", "or"]
    if x.q is not None and u.q is not None or x.type in INTS:
        ops.append("subtract" if x.type != "pred" else "xor")
    op = r.choice(ops)
    numbers = (f"update_window_dims={braces(offset)}, inserted_window_dims={braces(collapsed)}, scatter_dims_to_operand_dims={braces(mapped)}, "
               f"index_vector_dim={vector}")
    if batching:
        numbers += f", input_batching_dims={braces(batching)}, scatter_indices_batching_dims={braces(place)}"
    noise = max(x.eps, sum_eps(u, "add", count)) if op in ("add", "subtract") else max(x.eps, u.eps)
    bound = x.bound + u.bound * count if op in ("add", "subtract") else max(x.bound, u.bound)
    return b.emit(x.type, x.dims, f"scatter({x.name}, {i.name}, {u.name}), {numbers}, to_apply={b.module.combiner(op, x.type)}",
                  least(x.q, u.q), bound, noise)


# ---- reductions -------------------------------------------------------------------------------------------------------
IDENTITY = {"add": 0, "multiply": 1, "or": 0, "and": 1, "xor": 0}


def sum_eps(x, op, count):
    """The noise of a sum: the reference rounds after every addition, the compiler may sum in f32."""
    if op != "add" or x.type not in FLOATS and x.type not in COMPLEX:
        return x.eps
    if settle(x.type, x.q, x.bound * count) is not None:
        return x.eps
    return max(x.eps, 2.0 ** -FLOATS[part(x.type)][1] * max(1, count / 8))


def monoid(b, x):
    r, t = b.random, x.type
    if t == "pred":
        ops = ["and", "or", "xor"]
    elif t in INTS:
        ops = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]
    elif t in COMPLEX:
        ops = ["add"]
    else:
        ops = ["add", "add", "maximum", "minimum"]
    return r.choice(ops)


def initial(b, op, t):
    if op in IDENTITY:
        if t in INTS and op == "and":
            width = INTS[t][1]
            return b.emit(t, (), f"constant({-1 if t[0] == 's' else 2 ** width - 1})")
        return b.scalar(t, IDENTITY[op])
    if t in INTS:
        k, w = INTS[t]
        low, high = (-(2 ** (w - 1)), 2 ** (w - 1) - 1) if k == "s" else (0, 2 ** w - 1)
        return b.emit(t, (), f"constant({low if op == 'maximum' else high})")
    text = "-inf" if op == "maximum" else "inf"
    if t in FLOATS and t.endswith(("fn", "fnuz")):
        v = FLOATS[t][2]
        text = f"{-v if op == 'maximum' else v}"
    v = b.emit(t, (), f"constant({text})", 0, 1)
    if v in b.values:
        b.values.remove(v)
    return v


def reduce(b):
    r = b.random
    x = b.any(minimum=1)
    rank = len(x.dims)
    d = sorted(r.sample(range(rank), r.randint(1, rank)))
    if r.random() < 0.1:
        r.shuffle(d)
    count = math.prod(x.dims[i] for i in d)
    dims = tuple(n for i, n in enumerate(x.dims) if i not in d)
    if r.random() < 0.3 and x.exact and x.type not in COMPLEX and x.type != "pred" and count:
        return reduce_pair(b, x, d, dims)
    if count == 0 and not (x.type in INTS or x.type == "pred"):
        return None
    op = monoid(b, x)
    start = initial(b, op, x.type)
    bound = x.bound * count if op == "add" else x.bound
    return b.emit(x.type, dims, f"reduce({x.name}, {start.name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, x.type)}", x.q, bound,
                  sum_eps(x, op, count))


def reduce_pair(b, x, d, dims):
    """The place of the largest element, or a sum beside a maximum."""
    r, t = b.random, x.type
    s, i = shape(t, ()), "s32[]"
    if r.random() < 0.6:
        flip = r.random() < 0.5
        f = b.module.computation(
            f"  a = {s} parameter(0)\n  i = {i} parameter(1)\n  b = {s} parameter(2)\n  j = {i} parameter(3)\n"
            f"  gt = pred[] compare(a, b), direction={'LT' if flip else 'GT'}\n  eq = pred[] compare(a, b), direction=EQ\n"
            f"  lt = pred[] compare(i, j), direction=LT\n  tie = pred[] and(eq, lt)\n  take = pred[] or(gt, tie)\n"
            f"  v = {s} select(take, a, b)\n  k = {i} select(take, i, j)\n  ROOT r = ({s}, {i}) tuple(v, k)", "arg")
        y = b.emit("s32", x.dims, f"iota(), iota_dimension={r.choice(d)}") if r.random() < 0.7 else b.get("s32", x.dims)
        first = initial(b, "minimum" if flip else "maximum", t)
        second = b.emit("s32", (), "constant(2147483647)")
        types = [(t, x.q, x.bound), ("s32", 0, 1)]
    else:
        y = b.get("s32", x.dims)
        f = b.module.computation(
            f"  a = {s} parameter(0)\n  i = {i} parameter(1)\n  b = {s} parameter(2)\n  j = {i} parameter(3)\n"
            f"  v = {s} maximum(a, b)\n  k = {i} add(i, j)\n  ROOT r = ({s}, {i}) tuple(v, k)", "two")
        first, second = initial(b, "maximum", t), b.scalar("s32", 0)
        types = [(t, x.q, x.bound), ("s32", 0, 1)]
    name = b.raw(f"({shape(t, dims)}, {shape('s32', dims)})",
                 f"reduce({x.name}, {y.name}, {first.name}, {second.name}), dimensions={braces(d)}, to_apply={f}")
    for k, (t_, q, bound) in enumerate(types):
        v = b.emit(t_, dims, f"get-tuple-element({name}), index={k}", q, bound)
    return v


def window_of(b, dims, dilate_base=True):
    """(text, output dimensions, most elements in a window)"""
    r = b.random
    items, out, count = [], [], 1
    for d in dims:
        size = 1 if r.random() < 0.4 else r.choice([1, 2, 2, 3, 3, 4, 5])
        stride = r.choice([1, 1, 1, 2, 3])
        base = r.choice([1, 1, 1, 1, 2, 3]) if dilate_base else 1
        win = r.choice([1, 1, 1, 2]) if dilate_base else 1
        extent = (size - 1) * win + 1
        low, high = (r.randint(0, 2), r.randint(0, 2)) if r.random() < 0.5 else (0, 0)
        if dilate_base and r.random() < 0.1:
            low, high = r.randint(-1, 1), r.randint(-1, 1)
        full = (0 if d == 0 else (d - 1) * base + 1) + low + high
        if full < extent:
            size, win, extent = 1, 1, 1
            if full < 1:
                low, high = max(low, 0), max(high, 0)
                full = (0 if d == 0 else (d - 1) * base + 1) + low + high
        out.append(0 if full < extent else (full - extent) // stride + 1)
        items.append((size, stride, low, high, base, win))
        count *= size
    text = "size=" + "x".join(str(i[0]) for i in items)
    if any(i[1] > 1 for i in items):
        text += " stride=" + "x".join(str(i[1]) for i in items)
    if any(i[2] or i[3] for i in items):
        text += " pad=" + "x".join(f"{i[2]}_{i[3]}" for i in items)
    if any(i[4] > 1 for i in items):
        text += " lhs_dilate=" + "x".join(str(i[4]) for i in items)
    if any(i[5] > 1 for i in items):
        text += " rhs_dilate=" + "x".join(str(i[5]) for i in items)
    return text, out, count


def reduce_window(b):
    x = b.any(minimum=1)
    if x.size == 0:
        return None
    op = monoid(b, x)
    text, out, count = window_of(b, x.dims)
    if op in ("maximum", "minimum") and is_float(x.type):
        start = b.scalar(x.type, 0)
        count = 1
    else:
        start = initial(b, op, x.type)
    return b.emit(x.type, out, f"reduce-window({x.name}, {start.name}), window={{{text}}}, to_apply={b.module.combiner(op, x.type)}",
                  least(x.q, 0), x.bound * count if op == "add" else x.bound,
                  sum_eps(x, op, count))


def cumulative(b):
    """A running sum: the reduce-window that JAX makes of cumsum."""
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    n = x.dims[d]
    if n == 0 or x.size == 0:
        return None
    size = ["1"] * len(x.dims)
    padding = ["0_0"] * len(x.dims)
    size[d], padding[d] = str(n), f"{n - 1}_0" if r.random() < 0.6 else f"0_{n - 1}"
    op = "add" if x.type != "pred" else "or"
    start = b.scalar(x.type, 0)
    return b.emit(x.type, x.dims, f"reduce-window({x.name}, {start.name}), window={{size={'x'.join(size)} pad={'x'.join(padding)}}}, "
                  f"to_apply={b.module.combiner(op, x.type)}", x.q, x.bound * n, sum_eps(x, op, n))


def select_and_scatter(b):
    r = b.random
    # Of equal elements the reference takes another one, so all are distinct.
    t, dims = r.choice(["f32", "f32", "f64", "s32"]), b.dims()
    if not b.entry or not dims or len(b.module.specs) > 8 or math.prod(dims) == 0:
        return None
    x = b.parameter(t, dims, "distinct")
    if x is None:
        return None
    text, out, count = window_of(b, x.dims, False)
    s = b.get(x.type, out)
    zero = b.scalar(x.type, 0)
    t = shape(x.type, ())
    select = b.module.computation(f"  a = {t} parameter(0)\n  b = {t} parameter(1)\n  ROOT r = pred[] compare(a, b), direction={r.choice(['GE', 'GE', 'LE', 'GT'])}", "pick")
    return b.emit(x.type, x.dims, f"select-and-scatter({x.name}, {s.name}, {zero.name}), window={{{text}}}, select={select}, "
                  f"scatter={b.module.combiner('add', x.type)}", s.q, s.bound * count * 2, s.eps)


# ---- linear algebra ---------------------------------------------------------------------------------------------------
def dot(b):
    r = b.random
    t = b.type([t for t in NUMBERS if t not in ("s2", "u2", "s4", "u4") and t[:2] not in ("f8", "f4")])
    nb, nc = r.choice([0, 0, 0, 1, 1, 2]), r.choice([0, 1, 1, 1, 1, 2])
    nl, nr = r.choice([0, 1, 1, 1, 2]), r.choice([0, 1, 1, 1, 2])
    batch, contract = [min(b.dim(), 5) for _ in range(nb)], [min(b.dim(), 300 if nc == 1 else 50) for _ in range(nc)]
    left, right = [b.dim() for _ in range(nl)], [b.dim() for _ in range(nr)]

    def side(free):
        items = [("b", i, d) for i, d in enumerate(batch)] + [("c", i, d) for i, d in enumerate(contract)] + [("f", i, d) for i, d in enumerate(free)]
        r.shuffle(items) if r.random() < 0.6 else None
        free_order = [d for k, _, d in items if k == "f"]
        where = {(k, i): p for p, (k, i, _) in enumerate(items)}
        return [d for _, _, d in items], [where["b", i] for i in range(nb)], [where["c", i] for i in range(nc)], free_order
    ld, lb, lc, lf = side(left)
    rd, rb, rc, rf = side(right)
    if math.prod(batch + contract + left + right) > 2e7:
        return None
    x, y = b.get(t, ld), b.get(t, rd)
    k = math.prod(contract)
    text = f"dot({x.name}, {y.name})"
    for name, l in (("lhs_batch_dims", lb), ("lhs_contracting_dims", lc), ("rhs_batch_dims", rb), ("rhs_contracting_dims", rc)):
        if l:
            text += f", {name}={braces(l)}"
    q = None if x.q is None or y.q is None else x.q + y.q
    out = t
    if t in ("s8", "u8", "s16") and r.random() < 0.5:
        out = "s32"
    if t in ("bf16", "f16") and r.random() < 0.5:
        out = "f32"
    return b.emit(out, batch + lf + rf, text, q, x.bound * y.bound * max(k, 1) * (2 if t in COMPLEX else 1), max(x.eps, y.eps))


def convolution(b):
    r = b.random
    t = b.type([t for t in ("f32", "f64", "f16", "bf16", "s32", "c64")])
    if t not in b.module.types:
        t = "f32"
    n = r.choice([0, 1, 1, 2, 2, 2, 3])
    fg, bg = 1, 1
    if r.random() < 0.3:
        fg = r.choice([2, 3, 4])
    elif r.random() < 0.2:
        bg = r.choice([2, 3])
    kif = r.choice([1, 1, 2, 3, 5] + [16, 17, 64] * b.module.big)
    features, of = kif * fg, r.choice([1, 2, 3] + [16, 35] * b.module.big) * fg * bg
    batch = r.choice([1, 2, 3]) * bg
    items, spatial, kernel, out = [], [], [], []
    for _ in range(n):
        k, s = r.choice([1, 2, 3, 3, 5]), r.choice([1, 1, 2, 3])
        base, win = r.choice([1, 1, 1, 2]), r.choice([1, 1, 1, 2])
        d = r.choice([1, 4, 5, 7, 8, 9, 12] + [28, 33] * b.module.big)
        low, high = (r.randint(-1, 3), r.randint(-1, 3)) if r.random() < 0.6 else (0, 0)
        if low * high < 0:  # the reference is wrong for some of these
            high = 0
        extent = (k - 1) * win + 1
        full = (d - 1) * base + 1 + low + high
        if full < extent:
            low, high = extent, 0
            full = (d - 1) * base + 1 + low + high
        items.append((k, s, low, high, base, win, r.random() < 0.15))
        spatial.append(d)
        kernel.append(k)
        out.append((full - extent) // s + 1)

    def arrange(names, sizes, canonical):
        order = list(range(len(names)))
        if not canonical:
            r.shuffle(order)
        return "".join(names[i] for i in order), [sizes[i] for i in order]
    canonical = r.random() < 0.4
    digits = [str(i) for i in range(n)]
    ll, ld = arrange(["b"] + digits + ["f"], [batch] + spatial + [features], canonical)
    kl, kd = arrange(digits + ["i", "o"], kernel + [kif, of], canonical)
    ol, od = arrange(["b"] + digits + ["f"], [batch // bg] + out + [of], canonical)
    x, y = b.get(t, ld), b.get(t, kd)
    text = f"convolution({x.name}, {y.name})"
    if n:
        w = "size=" + "x".join(str(i[0]) for i in items)
        for name, j in (("stride", 1), ("lhs_dilate", 4), ("rhs_dilate", 5), ("rhs_reversal", 6)):
            if any(int(i[j]) != (name == "rhs_reversal" and 0 or name != "rhs_reversal") for i in items):
                w += f" {name}=" + "x".join(str(int(i[j])) for i in items)
        if any(i[2] or i[3] for i in items):
            w += " pad=" + "x".join(f"{i[2]}_{i[3]}" for i in items)
        text += f", window={{{w}}}"
    text += f", dim_labels={ll}_{kl}->{ol}"
    if fg > 1:
        text += f", feature_group_count={fg}"
    if bg > 1:
        text += f", batch_group_count={bg}"
    k = math.prod(kernel) * kif * (batch if bg > 1 else 1)
    q = None if x.q is None or y.q is None else x.q + y.q
    return b.emit(t, od, text, q, x.bound * y.bound * k * (2 if t in COMPLEX else 1), max(x.eps, y.eps))


def factorize(b):
    r = b.random
    if not b.entry or len(b.module.specs) > 8:
        return None
    t = r.choice(["f32", "f32", "f64", "c64"])
    n, batch = r.choice([1, 2, 3, 5, 8, 13]), [r.choice([1, 2, 3]) for _ in range(r.choice([0, 0, 1, 2]))]
    if r.random() < 0.5:
        a = b.parameter(t, batch + [n, n], "spd")
        lower = r.random() < 0.7
        low = b.emit(t, a.dims, f"cholesky({a.name}), lower={'true' if lower else 'false'}", None, 10)
        # The other triangle is not defined.
        i = b.emit("s32", a.dims, f"iota(), iota_dimension={len(a.dims) - 2}")
        j = b.emit("s32", a.dims, f"iota(), iota_dimension={len(a.dims) - 1}")
        p = b.emit("pred", a.dims, f"compare({i.name}, {j.name}), direction={'GE' if lower else 'LE'}")
        b.values.remove(low)
        return b.emit(t, a.dims, f"select({p.name}, {low.name}, {b.filled(t, a.dims, 0).name})", None, 10)
    a = b.parameter(t, batch + [n, n], "triangular")
    left = r.random() < 0.5
    m = r.choice([1, 2, 5, 9])
    c = b.get(t, batch + ([n, m] if left else [m, n]))
    return b.emit(t, c.dims, f"triangular-solve({a.name}, {c.name}), left_side={'true' if left else 'false'}, "
                  f"lower={r.choice(['true', 'false'])}, unit_diagonal={r.choice(['true', 'false', 'false'])}, "
                  f"transpose_a={r.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}", None, c.bound * 8, c.eps)


def fft(b):
    r = b.random
    rank = r.randint(1, 3)
    lengths = [r.choice([1, 2, 3, 4, 5, 7, 8, 16, 12]) for _ in range(rank)]
    batch = [r.choice([1, 2, 3]) for _ in range(r.choice([0, 1, 1, 2]))]
    kind = r.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
    f = r.choice(["f32", "f32", "f64"])
    c = "c64" if f == "f32" else "c128"
    half = lengths[:-1] + [lengths[-1] // 2 + 1]
    t, dims, ot, od = {"FFT": (c, lengths, c, lengths), "IFFT": (c, lengths, c, lengths), "RFFT": (f, lengths, c, half), "IRFFT": (c, half, f, lengths)}[kind]
    x = b.get(t, batch + dims)
    return b.emit(ot, batch + od, f"fft({x.name}), fft_type={kind}, fft_length={braces(lengths)}", None, x.bound * math.prod(lengths), x.eps)


def batch_norm(b):
    r = b.random
    x = b.any(["f32", "f64"], minimum=1)
    if x.type not in ("f32", "f64") or x.size == 0:
        return None
    f = r.randrange(len(x.dims))
    n = x.dims[f]
    scale, offset = b.get(x.type, [n]), b.get(x.type, [n])
    attributes = f"epsilon={r.choice([0.001, 0.1, 0.5])}, feature_index={f}"
    kind = r.choice(["training", "inference", "grad"])
    if kind == "inference":
        mean, var = b.get(x.type, [n]), b.get(x.type, [n], positive=True)
        return b.emit(x.type, x.dims, f"batch-norm-inference({', '.join(v.name for v in (x, scale, offset, mean, var))}), {attributes}", None,
                      (x.bound + mean.bound) * scale.bound * 1.5 + offset.bound)
    if kind == "grad":
        mean, var, g = b.get(x.type, [n]), b.get(x.type, [n], positive=True), b.get(x.type, x.dims)
        operands = [x, scale, mean, var, g]
    else:
        operands = [x, scale, offset]
    name = b.raw(f"({shape(x.type, x.dims)}, {shape(x.type, [n])}, {shape(x.type, [n])})",
                 f"batch-norm-{kind}({', '.join(v.name for v in operands)}), {attributes}")
    bound = 1e5
    eps = max(x.eps, 2.0 ** -FLOATS[x.type][1] * max(1, x.size / n / 8))  # sums, in whatever order, of rounded squares
    # A variance near zero is what the reference makes of equal elements, so training keeps it to itself.
    for k, d in enumerate([x.dims, [n], [n]][:2 if kind == "training" else 3]):
        v = b.emit(x.type, d, f"get-tuple-element({name}), index={k}", None, bound, eps)
    return v


def sort(b):
    r = b.random
    x = b.any(minimum=1, exact=True)
    if not x.exact or x.type in COMPLEX:
        return None
    if b.entry and r.random() < 0.2:
        x = b.get(r.choice(["s32", "u8", "s64", "s16"]), r.choice([(r.randint(100, 5000),), (3, r.randint(50, 900)), (r.randint(50, 600), 4)]))
    d = r.randrange(len(x.dims))
    others = [b.get(b.type(), x.dims) for _ in range(r.choice([0, 0, 1, 2]))]
    all_ = [x] + others
    direction = r.choice(["LT", "GT"])
    lines = []
    for i, v in enumerate(all_):
        lines += [f"  a{i} = {shape(v.type, ())} parameter({2 * i})", f"  b{i} = {shape(v.type, ())} parameter({2 * i + 1})"]
    text = "\n".join(lines) + f"\n  ROOT r = pred[] compare(a0, b0), direction={direction}"
    if x.type in BYTES and r.random() < 0.3:  # by the lowest bits, and then by all
        t = shape(x.type, ())
        text = "\n".join(lines) + (f"\n  m = {t} constant(3)\n  c = {t} and(a0, m)\n  d = {t} and(b0, m)\n  l = pred[] compare(c, d), direction={direction}"
                                   f"\n  e = pred[] compare(c, d), direction=EQ\n  s = pred[] compare(a0, b0), direction=LT\n"
                                   f"  f = pred[] and(e, s)\n  ROOT r = pred[] or(l, f)")
    f = b.module.computation(text, "less")
    attributes = f"dimensions={{{d}}}, is_stable=true, to_apply={f}"
    if len(all_) == 1:
        return b.keep(x, x.dims, f"sort({x.name}), {attributes}")
    name = b.raw("(" + ", ".join(shape(v.type, v.dims) for v in all_) + ")", f"sort({', '.join(v.name for v in all_)}), {attributes}")
    for k, v in enumerate(all_):
        out = b.keep(v, v.dims, f"get-tuple-element({name}), index={k}")
    return out


def rng(b):
    r = b.random
    if not b.entry:
        return None
    algorithm = r.choice(["rng_three_fry", "rng_philox", "rng_default"])
    n = 2 if algorithm == "rng_three_fry" else r.choice([2, 3])
    state = b.parameter("u64", (n,), "bits")
    t, dims = r.choice(["u32", "u64", "u32", "u8", "u16"]), b.dims()
    name = b.raw(f"(u64[{n}], {shape(t, dims)})", f"rng-bit-generator({state.name}), algorithm={algorithm}")
    b.emit("u64", (n,), f"get-tuple-element({name}), index=0")
    return b.emit(t, dims, f"get-tuple-element({name}), index=1")


def topk(b):
    r = b.random
    x = b.any(["f32", "s32", "bf16", "f16", "f64"], minimum=1, exact=True)
    if not x.exact or x.type not in ("f32", "bf16") or x.size == 0 or x.q is None or len(x.dims) > 2:
        return None
    k = r.randint(1, x.dims[-1])
    dims = x.dims[:-1] + (k,)
    name = b.raw(f"({shape(x.type, dims)}, {shape('s32', dims)})", f"topk({x.name}), k={k}, largest=true")
    return b.emit(x.type, dims, f"get-tuple-element({name}), index=0", x.q, x.bound)


def odd_reduce(b):
    """Reduces with three operands, or with a computation of several operations."""
    r = b.random
    t = r.choice(["s32", "u8", "s64", "f32"])
    x = b.get(t, b.dims(r.randint(1, 4)), exact=True)
    if t == "f32" and x.q is None or x.size == 0:
        return None
    d = sorted(r.sample(range(len(x.dims)), r.randint(1, len(x.dims))))
    dims = tuple(n for i, n in enumerate(x.dims) if i not in d)
    y, z = b.get("pred", x.dims), b.get("s32", x.dims)
    s = shape(t, ())
    f = b.module.computation(
        f"  a = {s} parameter(0)\n  p = pred[] parameter(1)\n  i = s32[] parameter(2)\n  b = {s} parameter(3)\n  q = pred[] parameter(4)\n"
        f"  j = s32[] parameter(5)\n  m = {s} minimum(a, b)\n  o = pred[] or(p, q)\n  x = s32[] xor(i, j)\n  ROOT r = ({s}, pred[], s32[]) tuple(m, o, x)", "three")
    first = initial(b, "minimum", t)
    no, zero = b.scalar("pred", 0), b.scalar("s32", 0)
    name = b.raw(f"({shape(t, dims)}, {shape('pred', dims)}, {shape('s32', dims)})",
                 f"reduce({x.name}, {y.name}, {z.name}, {first.name}, {no.name}, {zero.name}), dimensions={braces(d)}, to_apply={f}")
    b.emit("pred", dims, f"get-tuple-element({name}), index=1")
    b.emit("s32", dims, f"get-tuple-element({name}), index=2")
    return b.emit(t, dims, f"get-tuple-element({name}), index=0", x.q, x.bound)


def pair_window(b):
    """reduce-window of two operands."""
    r = b.random
    x = b.any(["s32", "s64", "u8", "f32"], minimum=1, exact=True)
    if x.size == 0 or x.type not in ("s32", "s64", "u8", "f32") or x.type == "f32" and x.q is None:
        return None
    y = b.get("s32", x.dims)
    text, out, _ = window_of(b, x.dims)
    s = shape(x.type, ())
    f = b.module.computation(f"  a = {s} parameter(0)\n  i = s32[] parameter(1)\n  b = {s} parameter(2)\n  j = s32[] parameter(3)\n"
                             f"  m = {s} maximum(a, b)\n  k = s32[] add(i, j)\n  ROOT r = ({s}, s32[]) tuple(m, k)", "pair")
    first, zero = b.scalar(x.type, 0), b.scalar("s32", 0)
    name = b.raw(f"({shape(x.type, out)}, {shape('s32', out)})", f"reduce-window({x.name}, {y.name}, {first.name}, {zero.name}), window={{{text}}}, to_apply={f}")
    b.emit("s32", out, f"get-tuple-element({name}), index=1")
    return b.emit(x.type, out, f"get-tuple-element({name}), index=0", x.q, x.bound)


def pair_scatter(b):
    """scatter into two arrays, of rows in one dimension."""
    r = b.random
    x = b.any(["s32", "s64", "u8", "f32", "f64"], minimum=1)
    if x.type not in ("s32", "s64", "u8", "f32", "f64") or x.size == 0:
        return None
    y = b.parameter("s32", x.dims) if b.entry and len(b.module.specs) < 8 else None
    d, n = r.randrange(len(x.dims)), r.choice([1, 2, 5, 9])
    i = index(b, n, 0, x.dims[d] - 1, (n, 1))
    if i is None or y is None:
        return None
    i = i()
    window = [v for k, v in enumerate(x.dims) if k != d]
    u, v = b.get(x.type, [n] + window), b.get("s32", [n] + window)
    s = shape(x.type, ())
    f = b.module.computation(f"  a = {s} parameter(0)\n  i = s32[] parameter(1)\n  b = {s} parameter(2)\n  j = s32[] parameter(3)\n"
                             f"  m = {s} maximum(a, b)\n  k = s32[] add(i, j)\n  ROOT r = ({s}, s32[]) tuple(m, k)", "pair")
    name = b.raw(f"({shape(x.type, x.dims)}, {shape('s32', x.dims)})",
                 f"scatter({x.name}, {y.name}, {i.name}, {u.name}, {v.name}), update_window_dims={braces(range(1, len(x.dims)))}, inserted_window_dims={{{d}}}, "
                 f"scatter_dims_to_operand_dims={{{d}}}, index_vector_dim=1, to_apply={f}")
    b.emit("s32", x.dims, f"get-tuple-element({name}), index=1")
    return b.emit(x.type, x.dims, f"get-tuple-element({name}), index=0", least(x.q, u.q), max(x.bound, u.bound), max(x.eps, u.eps))


def replace_scatter(b):
    """scatter that overwrites: rows at distinct places."""
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    n = r.randint(0, min(x.dims[d], 9))
    places = r.sample(range(x.dims[d]), n)
    if n == 0:
        return None
    i = b.emit("s32", (n,), f"constant({{{', '.join(map(str, places))}}})")
    window = [v for k, v in enumerate(x.dims) if k != d]
    at = r.randint(0, len(window))
    u = b.get(x.type, window[:at] + [n] + window[at:])
    s = shape(x.type, ())
    f = b.module.computation(f"  a = {s} parameter(0)\n  ROOT b = {s} parameter(1)", "second")
    return b.emit(x.type, x.dims, f"scatter({x.name}, {i.name}, {u.name}), update_window_dims={braces(k for k in range(len(x.dims)) if k != at)}, "
                  f"inserted_window_dims={{{d}}}, scatter_dims_to_operand_dims={{{d}}}, index_vector_dim=1, unique_indices=true, to_apply={f}",
                  least(x.q, u.q), max(x.bound, u.bound), max(x.eps, u.eps))


def softmax(b):
    """What models do most: a maximum, an exponential, a sum and a quotient over one dimension."""
    r = b.random
    x = b.any(["f32", "bf16", "f16"], minimum=1)
    if x.type not in ("f32", "bf16", "f16") or x.size == 0:
        return None
    d = r.randrange(len(x.dims))
    kept = [i for i in range(len(x.dims)) if i != d]
    dims = tuple(x.dims[i] for i in kept)
    t, unit = x.type, 2.0 ** -FLOATS[x.type][1]
    start, zero = initial(b, "maximum", t), b.scalar(t, 0)
    m = b.emit(t, dims, f"reduce({x.name}, {start.name}), dimensions={{{d}}}, to_apply={b.module.combiner('maximum', t)}", x.q, x.bound, x.eps)
    spread = m and b.keep(m, x.dims, f"broadcast({m.name}), dimensions={braces(kept)}")
    y = spread and b.emit(t, x.dims, f"subtract({x.name}, {spread.name})", None, 2 * x.bound, x.eps)
    e = y and b.emit(t, x.dims, f"exponential({y.name})", None, 1, max(unit, x.eps))
    s = e and b.emit(t, dims, f"reduce({e.name}, {zero.name}), dimensions={{{d}}}, to_apply={b.module.combiner('add', t)}", None, x.dims[d], e.eps)
    spread = s and b.keep(s, x.dims, f"broadcast({s.name}), dimensions={braces(kept)}")
    return spread and b.emit(t, x.dims, f"divide({e.name}, {spread.name})", None, 1, max(e.eps, unit * 4))


def nested_loop(b):
    """A loop over rows: dynamic-slice of one array, dynamic-update-slice of another, at the counter."""
    r = b.random
    x = b.any(minimum=1)
    if b.depth > 1 or x.size == 0:
        return None
    n = x.dims[0]
    types = f"(s32[], {shape(x.type, x.dims)}, ({shape(x.type, x.dims)}, s32[]))"
    row = (1,) + x.dims[1:]
    zeros = ["z"] * (len(x.dims) - 1)
    op = r.choice(["copy(row)", "reverse(row), dimensions={0}"] + (["add(row, old)"] if x.type in INTS else ["maximum(row, old)"] if x.type in WIDE else []))
    s = shape
    body = b.module.computation(
        f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  x = {s(x.type, x.dims)} get-tuple-element(t), index=1\n"
        f"  u = ({s(x.type, x.dims)}, s32[]) get-tuple-element(t), index=2\n  y = {s(x.type, x.dims)} get-tuple-element(u), index=0\n"
        f"  k = s32[] get-tuple-element(u), index=1\n  z = s32[] constant(0)\n  one = s32[] constant(1)\n  n = s32[] constant({n - 1})\n"
        f"  j = s32[] subtract(n, i)\n  row = {s(x.type, row)} dynamic-slice({', '.join(['x', r.choice(['i', 'j'])] + zeros)}), dynamic_slice_sizes={braces(row)}\n"
        f"  old = {s(x.type, row)} dynamic-slice({', '.join(['y', r.choice(['i', 'j'])] + zeros)}), dynamic_slice_sizes={braces(row)}\n"
        f"  new = {s(x.type, row)} {op}\n  w = {s(x.type, x.dims)} dynamic-update-slice({', '.join(['y', 'new', 'i'] + zeros)})\n"
        f"  i1 = s32[] add(i, one)\n  k1 = s32[] add(k, i)\n  v = ({s(x.type, x.dims)}, s32[]) tuple(w, k1)\n  ROOT next = {types} tuple(i1, {r.choice(['x', 'x', 'w'])}, v)", "rows")
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant({n})\n"
                                     f"  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    y = b.get(x.type, x.dims)
    zero = b.scalar("s32", 0)
    inner = b.raw(f"({s(x.type, x.dims)}, s32[])", f"tuple({y.name}, {zero.name})")
    init = b.raw(types, f"tuple({zero.name}, {x.name}, {inner})")
    loop = b.raw(types, f"while({init}), condition={condition}, body={body}")
    out = b.raw(f"({s(x.type, x.dims)}, s32[])", f"get-tuple-element({loop}), index=2")
    b.emit("s32", (), f"get-tuple-element({out}), index=1")
    return b.emit(x.type, x.dims, f"get-tuple-element({out}), index=0", least(x.q, y.q), max(x.bound, y.bound), max(x.eps, y.eps))


# ---- control ----------------------------------------------------------------------------------------------------------
def call(b):
    r = b.random
    if b.depth > 1:
        return None
    arguments = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 3)))}.values())
    s = b.sub(arguments)
    s.grow(r.randint(1, 6))
    out = r.choice(s.values[-4:])
    if out.name == s.lines[0][0] or out.op == "":
        out = s.keep(out, out.dims, f"copy({out.name})")
        if out is None:
            return None
    kind = r.choice(["call", "fusion"])
    operands = ", ".join(a.name for a in arguments)
    text = f"call({operands}), to_apply=" if kind == "call" else f"fusion({operands}), kind=kLoop, calls="
    if kind == "fusion" and any(not re_used(s, n) for n, _, x in s.lines if n != out.name):
        text = f"call({operands}), to_apply="
    f = b.module.computation(s.body(out.name), "sub")
    return b.keep(out, out.dims, text + f)


def re_used(s, name):
    return any(name in x.replace("(", " ").replace(")", " ").replace(",", " ").split() for _, _, x in s.lines)


def tuple_call(b):
    """A call, an asynchronous one, or a conditional whose result is a nested tuple."""
    r = b.random
    if b.depth > 1:
        return None
    arguments = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 3)))}.values())
    kind = r.choice(["call", "fusion", "conditional", "async"])
    wanted = [b.any() for _ in range(2)]
    types = f"({shape(wanted[0].type, wanted[0].dims)}, ({shape(wanted[1].type, wanted[1].dims)}, {shape(wanted[0].type, wanted[0].dims)}))"
    if kind == "fusion":
        types = f"({shape(wanted[0].type, wanted[0].dims)}, {shape(wanted[1].type, wanted[1].dims)})"
    names, known = [], [[], []]
    for _ in range(2 if kind == "conditional" else 1):
        s = b.sub(arguments)
        s.grow(r.randint(1, 4) if kind != "fusion" else 0)
        v, w = s.get(wanted[0].type, wanted[0].dims), s.get(wanted[1].type, wanted[1].dims)
        x = s.get(v.type, v.dims)
        if kind == "fusion":
            v, w = (s.keep(z, z.dims, f"reverse({z.name}), dimensions={{0}}") if z.dims else z for z in (v, w))
            if v is None or w is None or not v.dims or not w.dims:
                return None  # the reference confuses what only passes through
            root = s.raw(types, f"tuple({v.name}, {w.name})")
            if any(not re_used(s, n) for n, _, _ in s.lines[:-1]):
                return None
        else:
            inner = s.raw(f"({shape(w.type, w.dims)}, {shape(v.type, v.dims)})", f"tuple({w.name}, {x.name})")
            root = s.raw(types, f"tuple({v.name}, {inner})")
        names.append(b.module.computation(s.body(root), "several"))
        known[0] += [v, x]
        known[1].append(w)
    operands = ", ".join(a.name for a in arguments)
    if kind == "call":
        name = b.raw(types, f"call({operands}), to_apply={names[0]}")
    elif kind == "fusion":
        name = b.raw(types, f"fusion({operands}), kind=kLoop, calls={names[0]}")
    elif kind == "async":
        state = f"(({', '.join(shape(a.type, a.dims) for a in arguments)}), {types}, u32[])"
        start = b.raw(state, f"call-start({operands}), to_apply={names[0]}")
        name = b.raw(types, f"call-done({start})")
    else:
        if len(arguments) > 1:
            return None
        p = b.get("pred", ())
        name = b.raw(types, f"conditional({p.name}, {arguments[0].name}, {arguments[0].name}), true_computation={names[0]}, false_computation={names[1]}")

    def element(of, index, values):
        return b.emit(values[0].type, values[0].dims, f"get-tuple-element({of}), index={index}", least(*(v.q for v in values)),
                      max(v.bound for v in values), max(v.eps for v in values))
    if kind == "fusion":
        element(name, 1, known[1])
        return element(name, 0, known[0])
    inner = b.raw(f"({shape(wanted[1].type, wanted[1].dims)}, {shape(wanted[0].type, wanted[0].dims)})", f"get-tuple-element({name}), index=1")
    element(name, 0, known[0])
    element(inner, 1, known[0])
    return element(inner, 0, known[1])


def mixed_dot(b):
    """Narrow operands, of two types, with a wider result."""
    r = b.random
    t, u, out = r.choice([("f8e4m3fn", "f8e5m2", "f32"), ("f8e4m3fn", "f8e4m3fn", "f32"), ("f8e5m2", "f8e5m2", "f16"), ("f8e4m3fn", "f8e4m3fn", "bf16"), ("s8", "u8", "s32"),
                          ("u8", "u8", "u32"), ("bf16", "bf16", "f32"), ("bf16", "f32", "f32"), ("f16", "f16", "f32"), ("s8", "s8", "f32"), 
                          ("s16", "s16", "s64"), ("s32", "s32", "s64"), ("pred", "pred", "pred")])
    m, k, n = b.dim(), b.dim(), b.dim()
    x, y = b.parameter_or_constant(t, (m, k), True), b.parameter_or_constant(u, (n, k), True)
    if x is None or y is None:
        return None
    q = None if x.q is None or y.q is None else 0
    if "s8" in (t, u) and out == "f32" and 16129 * k > 2 ** 24:
        q = None
    return b.emit(out, (m, n), f"dot({x.name}, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}", q, x.bound * y.bound * max(k, 1), max(x.eps, y.eps))


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
    a, c = Value("", x.type, (), x.q, x.bound, x.eps), Value("", y.type, (), y.q, y.bound, y.eps)
    s = b.sub([a, c])
    for _ in range(r.randint(1, 3)):
        r.choice([binary, unary])(s)
    outs = [v for v in s.values if v.dims == () and v.op not in ("constant", "")]
    if not outs:
        return None
    out = outs[-1]
    f = b.module.computation(s.body(out.name), "mapped")
    return b.keep(out, x.dims, f"map({x.name}, {y.name}), dimensions={braces(range(len(x.dims)))}, to_apply={f}")


def fit(b, v, like):
    """Whether v may stand for `like`: in the next turn of a loop, or from another branch."""
    if v.type != like.type or v.dims != like.dims:
        return False
    if v.type in INTS or v.type == "pred":
        return True
    return v.bound <= like.bound and (like.q is None or v.q is not None and v.q >= like.q)


def while_(b):
    r = b.random
    if b.depth > 1:
        return None
    carries = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 4)))}.values())
    if r.random() < 0.4:
        carries.append(b.get(carries[0].type, carries[0].dims))
    zero = b.scalar("s32", 0)
    all_ = [zero] + carries
    types = "(" + ", ".join(shape(v.type, v.dims) for v in all_) + ")"
    trips = r.choice([0, 1, 2, 3, 5])
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant({trips})\n"
                                     f"  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    s = Builder(b.module, depth=b.depth + 1)
    t = s.raw(types, "parameter(0)", "t")
    inner = []
    # What varies from turn to turn is inexact after the loop unless every candidate keeps its bound.
    loose = [r.random() < 0.4 and v.type in FLOATS for v in carries]
    for k, v in enumerate(all_):
        w = Value(s.raw(shape(v.type, v.dims), f"get-tuple-element({t}), index={k}"), v.type, v.dims, v.q, v.bound, v.eps)
        if k and loose[k - 1]:
            w.q, w.bound, w.eps = None, max(v.bound, 4), max(v.eps, 2.0 ** -FLOATS[v.type][1])
        inner.append(w)
    s.values = list(inner[1:]) + [inner[0]]
    s.grow(r.randint(1, 6))
    one = s.scalar("s32", 1)
    results = [s.raw("s32[]", f"add({inner[0].name}, {one.name})")]
    finals = []
    for k, w in enumerate(inner[1:]):
        c = [v for v in s.values if fit(s, v, w) and v is not w]
        choice = r.choice(c[-5:]) if c and r.random() < 0.9 else w
        if choice is w and w.q is None and w.type in FLOATS:
            c = [v for v in s.values if v.type == w.type and v.dims == w.dims]
            v = r.choice(c[-5:])
            m = int(w.bound)
            choice = s.emit(w.type, w.dims, f"clamp({s.scalar(w.type, -m).name}, {v.name}, {s.scalar(w.type, m).name})", None, w.bound, max(w.eps, v.eps)) or w
        results.append(choice.name)
        finals.append(choice)
    s.raw(types, f"tuple({', '.join(results)})", "next")
    body = b.module.computation(s.body(s.lines[-1][0]), "body")
    init = b.raw(types, f"tuple({', '.join(v.name for v in all_)})")
    loop = b.raw(types, f"while({init}), condition={condition}, body={body}")
    worst = max([v.eps for v in carries] + [f.eps for f in finals])
    out = None
    for k, v in enumerate(inner):
        if k and r.random() < 0.8:
            out = b.emit(v.type, v.dims, f"get-tuple-element({loop}), index={k}", v.q, max(v.bound, all_[k].bound), worst)
    return out


def conditional(b):
    r = b.random
    if b.depth > 1:
        return None
    wanted = b.any()
    count = 2 if r.random() < 0.5 else r.randint(1, 4)
    branches, operands, outs = [], [], []
    for _ in range(count):
        a = b.any()
        s = b.sub([a])
        s.grow(r.randint(0, 4))
        v = s.get(wanted.type, wanted.dims)
        out = s.keep(v, v.dims, f"{r.choice(['copy', 'negate' if v.type not in ('pred',) and v.type[0] != 'u' and v.type not in ('u4','u2') else 'copy'])}({v.name})")
        if out is None:
            return None
        branches.append(b.module.computation(s.body(out.name), "branch"))
        operands.append(a)
        outs.append(out)
    if count == 2 and r.random() < 0.6:
        p = b.get("pred", ())
        head, tail = p.name, f"true_computation={branches[0]}, false_computation={branches[1]}"
    else:
        i = b.parameter("s32", (), "index", -1, count) if b.entry else b.get("s32", ())
        head, tail = i.name, f"branch_computations={{{', '.join(branches)}}}"
    return b.emit(wanted.type, wanted.dims, f"conditional({head}, {', '.join(v.name for v in operands)}), {tail}", least(*(v.q for v in outs)),
                  max(v.bound for v in outs), max(v.eps for v in outs))


WEIGHTS = [
    (binary, 14), (unary, 10), (special, 3), (ternary, 5), (compare, 4), (convert, 6), (bitcast_convert, 2), (bits_of_float, 1), (complex_, 1),
    (broadcast, 5), (reshape, 5), (transpose, 5), (reverse, 3), (slice_, 5), (pad, 5), (concatenate, 4), (iota, 1), (copy, 1),
    (dynamic_slice, 3), (dynamic_update_slice, 3), (gather, 5), (scatter, 5),
    (reduce, 7), (reduce_window, 4), (cumulative, 2), (select_and_scatter, 2), (dot, 5), (convolution, 4), (factorize, 1), (fft, 1),
    (batch_norm, 1), (sort, 3), (rng, 1), (topk, 1), (call, 3), (map_, 2), (while_, 4), (conditional, 3),
    (odd_reduce, 2), (pair_window, 2), (pair_scatter, 2), (replace_scatter, 2), (softmax, 2), (nested_loop, 2), (tuple_call, 3), (mixed_dot, 2), (stochastic_convert, 1),
]


def step(b):
    """Adds one operation and what it needs."""
    makers, weights = zip(*WEIGHTS)
    for _ in range(20):
        count = len(b.lines)
        try:
            v = b.random.choices(makers, weights)[0](b)
        except Unfit:
            v = None
        if v:
            return v
        if len(b.lines) > count + 30:
            return None
    return None
