"""Operations with computed indices: dynamic slices, gather, scatter."""
import math

from generate import COMPLEX, INTS, braces, least, shape


def index(b, count, low, high, dims=()):
    """An integer array of indices, most of them from `low` to `high`."""
    r = b.random
    t = r.choice(["s32", "s32", "s32", "s64", "u32", "s16"] + ["u8"] * (high < 250))  # the reference rounds the bound to the type
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
    return b.emit(x.type, x.dims, f"dynamic-update-slice({', '.join(v.name for v in [x, u] + s)})", least(x.q, u.q), max(x.bound, u.bound))


def indexed(b, x):
    """Random dimension numbers for gather and scatter."""
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
    bound = x.bound + u.bound * count if op in ("add", "subtract") else max(x.bound, u.bound)
    return b.emit(x.type, x.dims, f"scatter({x.name}, {i.name}, {u.name}), {numbers}, to_apply={b.module.combiner(op, x.type)}",
                  least(x.q, u.q), bound)


def pair_scatter(b):
    """A scatter into two arrays, of rows along one dimension."""
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
    return b.emit(x.type, x.dims, f"get-tuple-element({name}), index=0", least(x.q, u.q), max(x.bound, u.bound))


def replace_scatter(b):
    """A scatter that overwrites rows at distinct indices."""
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
                  least(x.q, u.q), max(x.bound, u.bound))


OPERATIONS = [(dynamic_slice, 3), (dynamic_update_slice, 3), (gather, 5), (scatter, 5), (pair_scatter, 2), (replace_scatter, 2)]
