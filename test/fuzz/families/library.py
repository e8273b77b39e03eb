"""Sorting and random numbers."""

from generate import BYTES, COMPLEX, INTS, bits, shape


def sort(b):
    r = b.random
    x = b.any(minimum=1, exact=True)
    if not x.exact or x.type in COMPLEX or x.type in INTS and INTS[x.type][1] < 8:  # of those the reference sorts only some
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


def topk(b):
    r = b.random
    x = b.any(["f32", "s32", "bf16", "f16", "f64", "u8", "s64"], minimum=1, exact=True)
    if not x.exact or x.type not in ("f32", "s32", "bf16", "f16", "f64", "u8", "s64") or x.size == 0 or x.q is None:
        return None
    k = r.randint(1, x.dims[-1])
    dims = x.dims[:-1] + (k,)
    name = b.raw(f"({shape(x.type, dims)}, {shape('s32', dims)})", f"topk({x.name}), k={k}, largest={r.choice(['true', 'true', 'false'])}")
    if r.random() < 0.5:
        b.emit("s32", dims, f"get-tuple-element({name}), index=1")
    return b.emit(x.type, dims, f"get-tuple-element({name}), index=0", x.q, x.bound)


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


def uniform(b):
    """Random numbers, of which only the bounds are known, and the state that the module keeps."""
    r = b.random
    if not b.entry:
        return None
    if r.random() < 0.3:
        return b.emit("u64", (2,), f"rng-get-and-update-state(), delta={r.choice([1, 64, 123])}")
    t, dims = r.choice(["f32", "f64", "f16", "bf16", "s32"]), b.dims()
    low, high = b.scalar(t, 1), b.scalar(t, 7)
    x = b.raw(shape(t, dims), f"rng({low.name}, {high.name}), distribution=rng_uniform")
    low, high = b.filled(t, dims, 1), b.filled(t, dims, 7)
    if r.random() < 0.5:
        return b.emit("pred", dims, f"compare({x}, {low.name}), direction=GE")
    return b.emit("pred", dims, f"compare({x}, {high.name}), direction=LE")


def total_sort(b):
    """A sort by the total order of floats, in which NaN and signed zeros have positions."""
    r = b.random
    t, dims = r.choice(["f32", "f32", "f64", "bf16", "f16"]), b.dims()
    if not b.entry or not dims:
        return None
    x = b.parameter(t, dims, "special")
    if x is None:
        return None
    b.values.remove(x)
    s, d = shape(t, ()), r.randrange(len(dims))
    f = b.module.computation(f"  a = {s} parameter(0)\n  b = {s} parameter(1)\n  ROOT r = pred[] compare(a, b), direction={r.choice(['LT', 'GT'])}, type=TOTALORDER", "total")
    v = b.emit(t, dims, f"sort({x.name}), dimensions={{{d}}}, is_stable={r.choice(['true', 'false'])}, to_apply={f}")
    if v in b.values:
        b.values.remove(v)
        b.hidden.append(v)
    return v


OPERATIONS = [(uniform, 1), (total_sort, 1), (sort, 3), (topk, 1), (rng, 1)]
