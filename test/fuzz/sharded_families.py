"""Operations whose partition needs exchanges that the other families rarely meet, and the weights of all families.

Gradients of convolutions, steps of an associative scan, rolls and shifts, embeddings with their gradients, one-hot products,
multilayer perceptrons, attention, masks of positions.
"""
import math

from families import blocks, control, effects, elementwise, indexed, library, linalg, movement, reductions
from generate import INTS, Unfit, braces, least, shape

NUMBERS = ["f32", "f32", "f64", "s32", "bf16", "s64"]


def dot(b, x, y, left, right, batch=()):
    """x . y over the dimensions `left` and `right`; `batch` are pairs of dimensions."""
    lb, rb = [i for i, _ in batch], [j for _, j in batch]
    dims = [x.dims[i] for i in lb] + [n for i, n in enumerate(x.dims) if i not in [left, *lb]] + \
           [n for j, n in enumerate(y.dims) if j not in [right, *rb]]
    text = f"dot({x.name}, {y.name})"
    if batch:
        text += f", lhs_batch_dims={braces(lb)}, rhs_batch_dims={braces(rb)}"
    text += f", lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}"
    q = None if x.q is None or y.q is None else x.q + y.q
    return b.emit(x.type, dims, text, q, x.bound * y.bound * max(x.dims[left], 1))


def filter_gradient(b):
    """A convolution over the batch whose window is the result's gradient: what the gradient of a kernel is."""
    r = b.random
    t, n = r.choice(["f32", "f32", "s32", "f64"]), r.choice([1, 1, 2])
    batch, features, outputs, stride = r.choice([2, 4, 8, 3]), r.choice([1, 2, 4]), r.choice([1, 2, 4, 8]), r.choice([1, 1, 2])
    kernel = [r.choice([1, 2, 3]) for _ in range(n)]
    places = [r.choice([2, 3, 4, 5, 6]) for _ in range(n)]
    low = [r.randint(0, k - 1) for k in kernel]
    inputs = [(p - 1) * stride + k - l for p, k, l in zip(places, kernel, low)]
    if min(inputs) < 1:
        return None
    x, dy = b.get(t, [batch, *inputs, features]), b.get(t, [batch, *places, outputs])
    digits = "".join(map(str, range(n)))
    window = f"size={'x'.join(map(str, places))}"
    if any(low):
        window += " pad=" + "x".join(f"{l}_0" for l in low)
    if stride > 1:
        window += " rhs_dilate=" + "x".join([str(stride)] * n)
    q = None if x.q is None or dy.q is None else x.q + dy.q
    return b.emit(t, [*kernel, features, outputs],
                  f"convolution({x.name}, {dy.name}), window={{{window}}}, dim_labels=f{digits}b_i{digits}o->{digits}bf", q,
                  x.bound * dy.bound * batch * math.prod(places))


def input_gradient(b):
    """A convolution of a dilated operand with a reversed kernel whose features change places."""
    r = b.random
    t, n = r.choice(["f32", "f32", "s32", "f64"]), r.choice([1, 1, 2])
    batch, features, outputs, stride = r.choice([2, 4, 3]), r.choice([1, 2, 4]), r.choice([1, 2, 4]), r.choice([1, 2, 3])
    kernel = [r.choice([1, 2, 3]) for _ in range(n)]
    places = [r.choice([2, 3, 4, 5, 8]) for _ in range(n)]
    low = [r.randint(0, k - 1) for k in kernel]
    inputs = [(p - 1) * stride + k - l for p, k, l in zip(places, kernel, low)]
    dy, w = b.get(t, [batch, *places, outputs]), b.get(t, [*kernel, features, outputs])
    digits = "".join(map(str, range(n)))
    window = f"size={'x'.join(map(str, kernel))} pad=" + "x".join(f"{k - 1 - l}_{k - 1}" for k, l in zip(kernel, low))
    if stride > 1:
        window += " lhs_dilate=" + "x".join([str(stride)] * n)
    window += " rhs_reversal=" + "x".join(["1"] * n)
    q = None if dy.q is None or w.q is None else dy.q + w.q
    return b.emit(t, [batch, *inputs, features],
                  f"convolution({dy.name}, {w.name}), window={{{window}}}, dim_labels=b{digits}f_{digits}oi->b{digits}f", q,
                  dy.bound * w.bound * outputs * math.prod(kernel))


def scan_step(b):
    """A level of an associative scan: sums of neighbours, and the odd and even elements interleaved again."""
    r = b.random
    x = b.any(["f32", "s32", "f64", "s64"], minimum=1)
    d = r.randrange(len(x.dims))
    n = x.dims[d]
    if n < 2 or x.type not in ("f32", "s32", "f64", "s64"):
        return None

    def cut(v, low, high, step):
        parts = [f"[{low}:{high}:{step}]" if i == d else f"[0:{m}]" for i, m in enumerate(v.dims)]
        dims = [(high - low + step - 1) // step if i == d else m for i, m in enumerate(v.dims)]
        return b.keep(v, dims, f"slice({v.name}), slice={{{', '.join(parts)}}}")
    half = n // 2
    even, odd = cut(x, 0, 2 * half, 2), cut(x, 1, 2 * half, 2)
    pairs = even and odd and b.emit(x.type, even.dims, f"add({even.name}, {odd.name})", x.q, 2 * x.bound)
    zero = pairs and b.scalar(x.type, 0)
    if not zero:
        return None

    def spread(v, low, high):
        parts = [f"{low}_{high}_1" if i == d else "0_0" for i in range(len(v.dims))]
        dims = [2 * m - 1 + low + high if i == d else m for i, m in enumerate(v.dims)]
        return b.keep(v, dims, f"pad({v.name}, {zero.name}), padding={'x'.join(parts)}")
    first, second = spread(even, 0, 1), spread(pairs, 1, 0)
    return first and second and b.emit(x.type, first.dims, f"add({first.name}, {second.name})", x.q, 3 * x.bound)


def roll(b):
    """The elements moved along a dimension; what leaves at the end comes in at the front, or zeros do."""
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    n = x.dims[d]
    if n < 2:
        return None
    k = r.randint(1, n - 1)

    def cut(low, high):
        parts = [f"[{low}:{high}]" if i == d else f"[0:{m}]" for i, m in enumerate(x.dims)]
        return b.keep(x, [high - low if i == d else m for i, m in enumerate(x.dims)], f"slice({x.name}), slice={{{', '.join(parts)}}}")
    behind, front = cut(k, n), cut(0, k)
    if behind is None or front is None:
        return None
    if r.random() < 0.3:
        front = b.filled(x.type, front.dims, 0)
    both = [behind, front] if r.random() < 0.7 else [front, behind]
    return b.emit(x.type, x.dims, f"concatenate({both[0].name}, {both[1].name}), dimensions={{{d}}}", least(behind.q, front.q),
                  max(behind.bound, front.bound))


def embedding(b):
    """Rows of a table by their numbers, and the gradient of that: rows added to the table's."""
    r = b.random
    if not b.entry or len(b.module.specs) > 9:
        return None
    t, rows, width = r.choice(NUMBERS), r.choice([4, 5, 8, 12]), r.choice([1, 2, 3, 4, 8])
    dims = [r.choice([2, 3, 4, 8]) for _ in range(r.choice([1, 1, 2]))]
    table = b.get(t, [rows, width])
    ids = b.parameter(r.choice(["s32", "s32", "s64", "u32"]), dims, "index", 0, rows - 1)
    n = len(dims)
    if r.random() < 0.5:
        return b.keep(table, [*dims, width], f"gather({table.name}, {ids.name}), offset_dims={{{n}}}, collapsed_slice_dims={{0}}, "
                      f"start_index_map={{0}}, index_vector_dim={n}, slice_sizes={{1,{width}}}")
    u = b.get(t, [*dims, width])
    op, plain = r.choice([("add", False), ("add", False), ("maximum", True)])
    f = b.module.combiner(op, t, plain=plain)
    count = 1 if op != "add" else math.prod(dims) + 1
    return b.emit(t, table.dims, f"scatter({table.name}, {ids.name}, {u.name}), update_window_dims={{{n}}}, inserted_window_dims={{0}}, "
                  f"scatter_dims_to_operand_dims={{0}}, index_vector_dim={n}, to_apply={f}", least(table.q, u.q),
                  max(table.bound, u.bound) * count)


def one_hot(b):
    """Numbers compared with positions, and the matrix of that times a table."""
    r = b.random
    if not b.entry or len(b.module.specs) > 9:
        return None
    t, n, rows, width = r.choice(["f32", "f32", "s32", "bf16"]), r.choice([2, 4, 6, 8]), r.choice([2, 3, 4, 8]), r.choice([1, 2, 4, 8])
    ids = b.parameter("s32", [n], "index", 0, rows)
    i = b.emit("s32", [n, rows], "iota(), iota_dimension=1")
    j = i and b.keep(ids, [n, rows], f"broadcast({ids.name}), dimensions={{0}}")
    p = j and b.emit("pred", [n, rows], f"compare({i.name}, {j.name}), direction=EQ")
    x = p and b.emit(t, [n, rows], f"convert({p.name})", 0, 1)
    return x and (dot(b, x, b.get(t, [rows, width]), 1, 0) if r.random() < 0.7 else x)


def mlp(b):
    """Two products with an element-wise operation between them, as a layer's weights are split: columns first, then rows."""
    r = b.random
    t, n, d, h = r.choice(NUMBERS), r.choice([2, 4, 6, 8]), r.choice([2, 3, 4, 8]), r.choice([4, 5, 8, 12])
    x, w, v = b.get(t, [n, d]), b.get(t, [d, h]), b.get(t, [h, d])
    y = dot(b, x, w, 1, 0)
    if y is None:
        return None
    if t in INTS:
        z = b.emit(t, y.dims, f"negate({y.name})")
    elif r.random() < 0.5:
        z = b.emit(t, y.dims, f"tanh({y.name})", None, 1)
    else:
        z = b.emit(t, y.dims, f"maximum({y.name}, {b.filled(t, y.dims, 0).name})", least(y.q, 0), y.bound)
    out = z and dot(b, z, v, 1, 0)
    if out and r.random() < 0.5:
        out = b.emit(t, x.dims, f"add({out.name}, {x.name})", least(out.q, x.q), out.bound + x.bound) or out
    return out


def attention(b):
    """Scores of queries and keys over batch and heads, a softmax, and the values weighted by it."""
    r = b.random
    if not b.entry or len(b.module.specs) > 8:
        return None
    t = r.choice(["f32", "f32", "f64"])
    n, s, h, d = r.choice([1, 2, 4]), r.choice([3, 4, 8]), r.choice([1, 2, 4]), r.choice([1, 2, 4])
    q, k, v = (b.get(t, [n, s, h, d]) for _ in range(3))
    scores = dot(b, q, k, 3, 3, [(0, 0), (2, 2)])
    if scores is None:
        return None
    smallest, zero = b.emit(t, (), "constant(-inf)", 0, 1), b.scalar(t, 0)
    b.values.remove(smallest)
    m = b.emit(t, (n, h, s), f"reduce({scores.name}, {smallest.name}), dimensions={{3}}, to_apply={b.module.combiner('maximum', t)}",
               scores.q, scores.bound)
    y = m and b.keep(m, scores.dims, f"broadcast({m.name}), dimensions={{0,1,2}}")
    y = y and b.emit(t, scores.dims, f"subtract({scores.name}, {y.name})", None, 2 * scores.bound)
    e = y and b.emit(t, scores.dims, f"exponential({y.name})", None, 1)
    total = e and b.emit(t, (n, h, s), f"reduce({e.name}, {zero.name}), dimensions={{3}}, to_apply={b.module.combiner('add', t)}", None, s)
    y = total and b.keep(total, scores.dims, f"broadcast({total.name}), dimensions={{0,1,2}}")
    p = y and b.emit(t, scores.dims, f"divide({e.name}, {y.name})", None, 1)
    return p and dot(b, p, v, 3, 1, [(0, 0), (1, 2)])


def mask(b):
    """Elements chosen by their positions: a triangle, or the positions before a number."""
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    i = b.emit("s32", x.dims, f"iota(), iota_dimension={d}")
    if i is None:
        return None
    if len(x.dims) > 1 and r.random() < 0.6:
        j = b.emit("s32", x.dims, f"iota(), iota_dimension={r.choice([k for k in range(len(x.dims)) if k != d])}")
    else:
        j = b.filled("s32", x.dims, r.randint(0, x.dims[d]))
    p = b.emit("pred", x.dims, f"compare({i.name}, {j.name}), direction={r.choice(['LT', 'GE', 'EQ', 'LE'])}")
    other = b.filled(x.type, x.dims, 0) if r.random() < 0.5 else b.get(x.type, x.dims)
    return b.emit(x.type, x.dims, f"select({p.name}, {x.name}, {other.name})", least(x.q, other.q), max(x.bound, other.bound))


def merged_sort(b):
    """Sorts along one dimension of an array of at least two, or a short vector, with an array that follows the keys."""
    r = b.random
    t = r.choice(["s32", "f32", "u8", "s64"])
    dims = [r.choice([2, 4, 5, 8, 12]) for _ in range(r.choice([1, 2, 2, 3]))]
    x = b.get(t, dims, exact=True)
    if x.type not in INTS and x.q is None:
        return None
    d, direction = r.randrange(len(dims)), r.choice(["LT", "GT"])
    i = b.emit("s32", dims, f"iota(), iota_dimension={d}")
    s = shape(t, ())
    f = b.module.computation(f"  a = {s} parameter(0)\n  b = {s} parameter(1)\n  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
                             f"  ROOT r = pred[] compare(a, b), direction={direction}", "before")
    name = b.raw(f"({shape(t, dims)}, {shape('s32', dims)})", f"sort({x.name}, {i.name}), dimensions={{{d}}}, is_stable=true, to_apply={f}")
    order = b.emit("s32", dims, f"get-tuple-element({name}), index=1")
    return b.keep(x, dims, f"get-tuple-element({name}), index=0") if r.random() < 0.7 else order


def running_sum(b):
    """A loop that adds a row to the one before it: dynamic slices at the loop's counter, updates of the result."""
    r = b.random
    x = b.any(["s32", "s64", "f32"], minimum=1, exact=True)
    if b.depth or x.size == 0 or x.type not in ("s32", "s64", "f32") or x.type == "f32" and x.q is None:
        return None
    n, row = x.dims[0], (1,) + x.dims[1:]
    whole, one = shape(x.type, x.dims), shape(x.type, row)
    types, zeros = f"(s32[], {whole}, {one}, {whole})", ["z"] * (len(x.dims) - 1)
    body = b.module.computation(
        f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  x = {whole} get-tuple-element(t), index=1\n"
        f"  c = {one} get-tuple-element(t), index=2\n  y = {whole} get-tuple-element(t), index=3\n  z = s32[] constant(0)\n"
        f"  one = s32[] constant(1)\n  row = {one} dynamic-slice({', '.join(['x', 'i'] + zeros)}), dynamic_slice_sizes={braces(row)}\n"
        f"  d = {one} add(c, row)\n  u = {whole} dynamic-update-slice({', '.join(['y', 'd', 'i'] + zeros)})\n  j = s32[] add(i, one)\n"
        f"  ROOT next = {types} tuple(j, x, d, u)", "sums")
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant({n})\n"
                                     f"  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    zero, c, y = b.scalar("s32", 0), b.filled(x.type, row, 0), b.filled(x.type, x.dims, 0)
    init = b.raw(types, f"tuple({zero.name}, {x.name}, {c.name}, {y.name})")
    loop = b.raw(types, f"while({init}), condition={condition}, body={body}")
    b.emit(x.type, row, f"get-tuple-element({loop}), index=2", x.q, x.bound * n)
    return b.emit(x.type, x.dims, f"get-tuple-element({loop}), index=3", x.q, x.bound * n)


def region(b):
    """A call of an element-wise computation, which may become a manual region."""
    r = b.random
    x = b.any(["f32", "s32", "f64", "bf16", "u8", "s64"], minimum=1)
    if b.depth or not b.entry or x.type not in ("f32", "s32", "f64", "bf16", "u8", "s64") or x.size == 0:
        return None
    y = b.get(x.type, x.dims) if r.random() < 0.6 else None
    s, q, bound = shape(x.type, x.dims), x.q, x.bound
    lines = [f"  a = {s} parameter(0)"]
    if y:
        op = r.choice(["maximum", "minimum", "subtract", "add"])
        lines += [f"  b = {s} parameter(1)", f"  c = {s} {op}(a, b)"]
        q, bound = least(q, y.q), bound + y.bound if op in ("subtract", "add") else max(bound, y.bound)
    lines.append(f"  ROOT d = {s} {r.choice(['abs', 'copy', 'negate' if x.type[0] != 'u' else 'copy'])}({'c' if y else 'a'})")
    name = b.module.fresh("region")
    b.module.computations.append(f"{name} {{\n" + "\n".join(lines) + "\n}\n")
    return b.emit(x.type, x.dims, f"call({', '.join(v.name for v in (x, y) if v)}), to_apply={name}", q, bound)


OWN = [(region, 4), (filter_gradient, 3), (input_gradient, 3), (scan_step, 3), (roll, 4), (embedding, 5), (one_hot, 2), (mlp, 4), (attention, 2),
       (mask, 3), (merged_sort, 3), (running_sum, 2)]

# Factors of the other families' weights. A collective would say that the module has been partitioned already; the bytes of
# bitcasts and bounded dimensions have tests of their own.
FACTORS = {elementwise: 0.5, movement: 1.5, indexed: 1.5, reductions: 1.3, linalg: 1.5, library: 1, control: 1, blocks: 0.5, effects: 0.3}
DROPPED = {effects.collective, effects.dynamic}


def within_limits(maker):
    """The maker, for arrays so small that a value it needs may not fit: what it makes of that is no operation."""
    def attempt(b):
        try:
            return maker(b)
        except AttributeError:  # of None, which `emit` returns
            raise Unfit from None
    return attempt


def operations():
    """(makers, weights) of the modules that are partitioned."""
    found = [(maker, weight * factor) for family, factor in FACTORS.items() for maker, weight in family.OPERATIONS if maker not in DROPPED]
    found += OWN
    return [within_limits(m) for m, _ in found], [w for _, w in found]
