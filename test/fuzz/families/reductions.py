"""Reductions over dimensions and windows, batch norm, softmax."""
import math

from generate import COMPLEX, FLOATS, INTS, braces, is_float, least, part, settle, shape


IDENTITY = {"add": 0, "multiply": 1, "or": 0, "and": 1, "xor": 0}


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
    if r.random() < 0.3 and x.exact and x.op != "concatenate" and x.type not in COMPLEX and all(1 < x.dims[i] < 17 for i in d) and (x.type in INTS or op == "add"):
        # An initial value that is not the identity the reference forgets for a dimension of one, and adds several times for a long one,
        # a concatenation or complex numbers.
        first = b.get(x.type, (), exact=True)
        return b.emit(x.type, dims, f"reduce({x.name}, {first.name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, x.type)}",
                      least(x.q, first.q), bound + first.bound)
    return b.emit(x.type, dims, f"reduce({x.name}, {start.name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, x.type)}", x.q, bound)


def reduce_pair(b, x, d, dims):
    """The index of the largest element, or a sum beside a maximum."""
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


def odd_reduce(b):
    """Reduces of three operands, or with a computation of several operations."""
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


def window_of(b, dims, dilate_base=True):
    """(text, output dimensions, largest number of elements in a window)"""
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
                  least(x.q, 0), x.bound * count if op == "add" else x.bound)


def cumulative(b):
    """A cumulative sum: the reduce-window that JAX makes of cumsum."""
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
                  f"to_apply={b.module.combiner(op, x.type)}", x.q, x.bound * n)


def pair_window(b):
    """A reduce-window of two operands."""
    r = b.random
    x = b.any(["s32", "s64", "u8", "f32"], minimum=1, exact=True)
    if x.size == 0 or x.type not in ("s32", "s64", "u8", "f32") or x.type == "f32" and x.q is None:
        return None
    y = b.get("s32", x.dims)
    # The reference folds windows of two constants wrongly where they meet only what the dilation puts between.
    text, out, _ = window_of(b, x.dims, not {x.op, y.op} & {"broadcast", "constant", "iota", "reshape", "concatenate", "slice", "transpose"})
    s = shape(x.type, ())
    f = b.module.computation(f"  a = {s} parameter(0)\n  i = s32[] parameter(1)\n  b = {s} parameter(2)\n  j = s32[] parameter(3)\n"
                             f"  m = {s} maximum(a, b)\n  k = s32[] add(i, j)\n  ROOT r = ({s}, s32[]) tuple(m, k)", "pair")
    first, zero = b.scalar(x.type, 0), b.scalar("s32", 0)
    name = b.raw(f"({shape(x.type, out)}, {shape('s32', out)})", f"reduce-window({x.name}, {y.name}, {first.name}, {zero.name}), window={{{text}}}, to_apply={f}")
    b.emit("s32", out, f"get-tuple-element({name}), index=1")
    return b.emit(x.type, out, f"get-tuple-element({name}), index=0", x.q, x.bound)


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
                  f"scatter={b.module.combiner('add', x.type)}", s.q, s.bound * count * 2)


def batch_norm(b):
    r = b.random
    x = b.any(["f32", "f64"], minimum=1)
    if x.type not in ("f32", "f64") or x.size == 0 or x.op in ("iota", "broadcast", "constant"):
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
    # A variance near zero is what the reference makes of equal elements, so training keeps it to itself.
    for k, d in enumerate([x.dims, [n], [n]][:2 if kind == "training" else 3]):
        v = b.emit(x.type, d, f"get-tuple-element({name}), index={k}", None, bound)
    return v


def softmax(b):
    """A softmax along one dimension: maximum, exponential, sum, quotient."""
    r = b.random
    x = b.any(["f32", "bf16", "f16"], minimum=1)
    if x.type not in ("f32", "bf16", "f16") or x.size == 0:
        return None
    d = r.randrange(len(x.dims))
    kept = [i for i in range(len(x.dims)) if i != d]
    dims = tuple(x.dims[i] for i in kept)
    t = x.type
    start, zero = initial(b, "maximum", t), b.scalar(t, 0)
    m = b.emit(t, dims, f"reduce({x.name}, {start.name}), dimensions={{{d}}}, to_apply={b.module.combiner('maximum', t)}", x.q, x.bound)
    spread = m and b.keep(m, x.dims, f"broadcast({m.name}), dimensions={braces(kept)}")
    y = spread and b.emit(t, x.dims, f"subtract({x.name}, {spread.name})", None, 2 * x.bound)
    e = y and b.emit(t, x.dims, f"exponential({y.name})", None, 1)
    s = e and b.emit(t, dims, f"reduce({e.name}, {zero.name}), dimensions={{{d}}}, to_apply={b.module.combiner('add', t)}", None, x.dims[d])
    spread = s and b.keep(s, x.dims, f"broadcast({s.name}), dimensions={braces(kept)}")
    return spread and b.emit(t, x.dims, f"divide({e.name}, {spread.name})", None, 1)


def scan(b):
    """A scan along a dimension, forwards or backwards, with one or two carries."""
    r = b.random
    x = b.any(minimum=1)
    if x.type in COMPLEX or b.depth or x.type == "pred" or x.type in INTS and INTS[x.type][1] < 8:
        return None
    d = r.randrange(len(x.dims))
    row = x.dims[:d] + x.dims[d + 1:]
    op = r.choice(["maximum", "minimum"] + ["add", "multiply", "xor"] * (x.type in INTS))
    carry = b.get(x.type, row)
    s = shape(x.type, row)
    flags = f"dimensions={{{d}}}{r.choice(['', ', is_reverse=true', ', is_reverse=false'])}"
    q, bound = least(x.q, carry.q), max(x.bound, carry.bound)
    if r.random() < 0.5:
        f = b.module.computation(f"  a = {s} parameter(0)\n  c = {s} parameter(1)\n  n = {s} {op}(a, c)\n  ROOT t = ({s}, {s}) tuple({r.choice(['n', 'n', 'c', 'a'])}, n)", "step")
        name = b.raw(f"({shape(x.type, x.dims)}, {s})", f"scan({x.name}, {carry.name}), {flags}, num_carries=1, to_apply={f}")
        b.emit(x.type, row, f"get-tuple-element({name}), index=1", q, bound)
        return b.emit(x.type, x.dims, f"get-tuple-element({name}), index=0", q, bound)
    y, count = b.get("s32", x.dims), b.get("s32", ())
    i = shape("s32", row)
    spread = f"  w = {i} broadcast(k), dimensions={{}}\n" if row else ""
    f = b.module.computation(
        f"  a = {s} parameter(0)\n  y = {i} parameter(1)\n  c = {s} parameter(2)\n  k = s32[] parameter(3)\n  n = {s} {op}(a, c)\n  one = s32[] constant(1)\n"
        f"  l = s32[] add(k, one)\n{spread}  z = {i} subtract(y, {'w' if row else 'k'})\n  ROOT t = ({s}, {i}, {s}, s32[]) tuple(c, z, n, l)", "step")
    name = b.raw(f"({shape(x.type, x.dims)}, {shape('s32', x.dims)}, {s}, s32[])",
                 f"scan({x.name}, {y.name}, {carry.name}, {count.name}), {flags}, num_carries=2, to_apply={f}")
    b.emit("s32", (), f"get-tuple-element({name}), index=3")
    b.emit("s32", x.dims, f"get-tuple-element({name}), index=1")
    return b.emit(x.type, x.dims, f"get-tuple-element({name}), index=0", q, bound)


OPERATIONS = [(scan, 2), (reduce, 7), (odd_reduce, 2), (reduce_window, 4), (cumulative, 2), (pair_window, 2), (select_and_scatter, 2), (batch_norm, 1), (softmax, 2)]
