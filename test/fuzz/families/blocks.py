"""Building blocks of models, in many variations: reductions that are broadcast back, products with epilogues and prologues."""
from generate import FLOATS, INTS, WIDE, braces, least, settle
from families.reductions import initial


def combined(b, x, y):
    """x and y, of one type and shape, combined by an operation that keeps magnitudes small."""
    r, t = b.random, x.type
    op = r.choice(["add", "subtract", "maximum", "minimum", "multiply"])
    bound = {"add": x.bound + y.bound, "subtract": x.bound + y.bound, "multiply": x.bound * y.bound}.get(op, max(x.bound, y.bound))
    q = least(x.q, y.q)
    if op == "multiply" and q is not None:
        q = x.q + y.q
    if t not in INTS and bound > 1e4:
        op, bound, q = "maximum", max(x.bound, y.bound), least(x.q, y.q)
    return b.emit(t, x.dims, f"{op}({x.name}, {y.name})", q, bound)


def changed(b, x):
    """x after one or two element-wise operations."""
    r, t = b.random, x.type
    if t in INTS:
        return b.emit(t, x.dims, f"{r.choice(['negate', 'not', 'copy'])}({x.name})")
    choice = r.random()
    if choice < 0.3:
        return b.emit(t, x.dims, f"tanh({x.name})", None, 1)
    if choice < 0.5:
        zero = b.filled(t, x.dims, 0)
        return b.emit(t, x.dims, f"maximum({x.name}, {zero.name})", least(x.q, 0), x.bound)
    if choice < 0.7:
        half = b.filled(t, x.dims, 0.5)
        return b.emit(t, x.dims, f"multiply({x.name}, {half.name})", None if x.q is None else x.q - 1, x.bound / 2)
    if choice < 0.85 and t in ("bf16", "f16", "f32"):
        to = r.choice(["f32", "bf16", "f16"])
        y = b.emit(to, x.dims, f"convert({x.name})", x.q, x.bound)
        return y and b.emit(t, x.dims, f"convert({y.name})", y.q, y.bound)
    return b.emit(t, x.dims, f"negate({x.name})", x.q, x.bound)


def rows(b):
    """Reductions over dimensions of one array, broadcast over it again, with element-wise operations between."""
    r = b.random
    t = r.choice([t for t in b.module.types if t in WIDE or t in ("s32", "s8", "u16", "s64")] or ["f32"])
    dims = r.choice([(r.choice([1, 3, 16, 64]), r.choice([1, 7, 31, 65, 129])), (3, 5, 33), (2, 4, 8, 9), (17, 17), (65, 1), (b.dim(), b.dim())])
    if 0 in dims:
        return None
    x = b.get(t, dims)
    for _ in range(r.randint(2, 6)):
        choice = r.random()
        y = None
        if choice < 0.5:
            d = sorted(r.sample(range(len(dims)), r.randint(1, len(dims) - 1) if r.random() < 0.9 else len(dims)))
            if r.random() < 0.6:
                d = list(range(len(dims) - len(d), len(dims)))
            kept = [i for i in range(len(dims)) if i not in d]
            op, count = r.choice(["add", "maximum", "minimum"]), 1
            for i in d:
                count *= dims[i]
            start = initial(b, op, t)
            s = b.emit(t, [dims[i] for i in kept], f"reduce({x.name}, {start.name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, t)}", x.q,
                       x.bound * (count if op == "add" else 1))
            if s and r.random() < 0.5:
                s = changed(b, s)
            if s and t not in INTS and settle(t, s.q, s.bound) is None and s.bound > 100:
                s = b.emit(t, s.dims, f"tanh({s.name})", None, 1)
            if s and r.random() < 0.2 and len(kept) == 1 and dims.count(dims[kept[0]]) > 1:
                kept = [r.choice([i for i in range(len(dims)) if dims[i] == dims[kept[0]]])]  # along another dimension
            spread = s and b.keep(s, dims, f"broadcast({s.name}), dimensions={braces(kept)}")
            y = spread and combined(b, x, spread)
        elif choice < 0.7:
            y = changed(b, x)
        elif choice < 0.85:
            y = combined(b, x, b.get(t, dims))
        elif len(set(dims)) < len(dims):
            order = list(range(len(dims)))
            same = [i for i in order if dims.count(dims[i]) > 1]
            i, j = r.sample(same, 2)
            if dims[i] == dims[j]:
                order[i], order[j] = j, i
                z = b.keep(x, dims, f"transpose({x.name}), dimensions={braces(order)}")
                y = z and combined(b, x, z)
        x = y or x
    return x


def product(b):
    """A matrix product with element-wise prologues and an epilogue of bias, activation, conversion and reduction."""
    r = b.random
    t = r.choice([t for t in b.module.types if t in ("f32", "f64", "bf16", "f16", "s32", "s8", "u8", "s16")] or ["f32"])
    m, k, n = (r.choice([1, 2, 5, 8, 17, 33, 64, 65, 100, 129]) for _ in range(3))
    batch = r.choice([(), (), (), (2,), (3, 2)])
    if m * k * n * 6 > 4e6:
        return None
    x = b.get(t, batch + ((k, m) if (flip := r.random() < 0.3) else (m, k)))
    y = b.get(t, batch + ((n, k) if (turn := r.random() < 0.4) else (k, n)))
    if r.random() < 0.3:
        x = changed(b, x) or x
    if r.random() < 0.3:
        y = changed(b, y) or y
    out = r.choice([t, t, {"bf16": "f32", "f16": "f32", "s8": "s32", "u8": "s32", "s16": "s32"}.get(t, t)])
    q = None if x.q is None or y.q is None else x.q + y.q
    numbers = ""
    if batch:
        every = braces(range(len(batch)))
        numbers = f"lhs_batch_dims={every}, rhs_batch_dims={every}, "
    nb = len(batch)
    bound = x.bound * y.bound * k
    if t not in INTS and bound > 1e5:
        return None
    v = b.emit(out, batch + (m, n), f"dot({x.name}, {y.name}), {numbers}lhs_contracting_dims={{{nb if flip else nb + 1}}}, "
               f"rhs_contracting_dims={{{nb + 1 if turn else nb}}}", q, bound)
    for _ in range(r.randint(0, 4)):
        if v is None:
            return None
        choice, y = r.random(), None
        if choice < 0.35:
            d = r.randrange(len(v.dims))
            bias = b.get(out, (v.dims[d],))
            spread = b.keep(bias, v.dims, f"broadcast({bias.name}), dimensions={{{d}}}")
            y = spread and combined(b, v, spread)
        elif choice < 0.7:
            y = changed(b, v) if out in INTS or out in FLOATS else None
        elif choice < 0.85:
            y = combined(b, v, b.get(out, v.dims))
        else:
            order = r.sample(range(len(v.dims)), len(v.dims))
            y = b.keep(v, [v.dims[i] for i in order], f"transpose({v.name}), dimensions={braces(order)}")
        v = y or v
    return v


OPERATIONS = [(rows, 5), (product, 4)]
