"""Bounds for operations that move elements: slices, pads, gathers, scatters, sorts."""
import math

import numpy as np

from bounds.contractions import padded, window_views
from bounds.elementwise import select
from bounds.number import Number, grain, is_inexact, settle, sums_exactly, unit, wrap
from generate import COMPLEX, INTS, part


def joined(type_, numbers, function):
    """`function` applied to the values of several numbers, and to their errors."""
    e = None if all(n.e is None for n in numbers) else function([n.error for n in numbers])
    return Number(type_, function([n.x for n in numbers]), e, all(n.once for n in numbers))


def broadcast(a, dims, where):
    def f(x):
        shape = [1] * len(dims)
        order = np.argsort(where)
        x = x.transpose(order) if where else x
        for i, n in zip(sorted(where), x.shape):
            shape[i] = n
        return np.broadcast_to(x.reshape(shape), dims)
    return a.moved(f)


def pad(a, value, config):
    def f(numbers):
        x, fill = numbers
        for i, (low, high, inner) in enumerate(config):
            x = padded(x, i, low, high, inner, fill)
        return x
    return joined(a.type, [a, value], f)


def starts_of(indices, shape, sizes):
    return [int(min(max(int(i.x), 0), n - s)) for i, n, s in zip(indices, shape, sizes)]


def known(indices):
    if any(i.e is not None and np.any(i.e > 0) for i in indices):
        raise NotImplementedError("indices that depend on rounding")


def dynamic_slice(a, indices, sizes):
    known(indices)
    at = starts_of(indices, a.shape, sizes)
    return a.moved(lambda x: x[tuple(slice(s, s + n) for s, n in zip(at, sizes))])


def dynamic_update_slice(a, update, indices):
    known(indices)
    at = starts_of(indices, a.shape, update.shape)

    def f(arrays):
        x = arrays[0].copy()
        x[tuple(slice(s, s + n) for s, n in zip(at, update.shape))] = arrays[1]
        return x
    return joined(a.type, [a, update], f)


def index_vectors(indices, vector, batch_dims):
    """The index vectors as rows, and for each row the indices along the batch dimensions of the operand."""
    x = indices.astype(object) if indices.dtype == np.uint64 else indices.astype(np.int64)
    if vector == x.ndim:
        x = x[..., None]
    x = np.moveaxis(x, vector, -1)
    shape = x.shape[:-1]
    # A batch dimension is counted in the array with the index vector in it.
    places = [d - (d > vector) for d in batch_dims]
    grid = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), int)
    return x.reshape(math.prod(shape), x.shape[-1]), shape, grid, [grid[p] for p in places]


def gather(a, indices, offset_dims, collapsed, start_map, vector, sizes, batching, index_batching):
    known([indices])
    rows, shape, _, batches = index_vectors(indices.x, vector, index_batching)
    start = np.zeros((len(rows), a.x.ndim), np.int64)
    for k, d in enumerate(start_map):
        start[:, d] = np.clip(rows[:, k], 0, a.shape[d] - sizes[d])
    for d, b in zip(batching, batches):
        start[:, d] = b
    window = [d for d in range(a.x.ndim) if d not in collapsed and d not in batching]
    flat = np.zeros((len(rows),) + (1,) * len(window), np.int64)
    strides = [math.prod(a.shape[d + 1:]) for d in range(a.x.ndim)]
    for d in range(a.x.ndim):
        flat = flat + (start[:, d] * strides[d]).reshape([-1] + [1] * len(window))
        if d in window:
            flat = flat + (np.arange(sizes[d]) * strides[d]).reshape([-1 if window[i] == d else 1 for i in range(len(window))])
    flat = np.broadcast_to(flat, [len(rows)] + [sizes[d] for d in window]).reshape(list(shape) + [sizes[d] for d in window])
    total = len(shape) + len(window)
    rest = [d for d in range(total) if d not in offset_dims]
    order = [0] * total
    for i, d in enumerate(rest):
        order[d] = i
    for i, d in enumerate(offset_dims):
        order[d] = len(shape) + i
    flat = flat.transpose(order)
    return a.moved(lambda x: x.reshape(-1)[flat] if x.size else np.zeros(flat.shape, x.dtype))


def scatter_places(a, indices, update, window_dims, inserted, to_operand, vector, batching, index_batching):
    """The flat index of each update element in the operand, or -1 if its window does not fit."""
    known([indices])
    rows, shape, _, batches = index_vectors(indices.x, vector, index_batching)
    rest = [d for d in range(update.x.ndim) if d not in window_dims]
    window = [d for d in range(a.x.ndim) if d not in inserted and d not in batching]
    sizes = [1] * a.x.ndim
    for w, d in zip(window_dims, window):
        sizes[d] = update.shape[w]
    start = np.zeros((len(rows), a.x.ndim), np.int64)
    for k, d in enumerate(to_operand):
        start[:, d] = rows[:, k]
    for d, b in zip(batching, batches):
        start[:, d] = b
    fits = np.ones(len(rows), bool)
    for d in range(a.x.ndim):
        fits &= (start[:, d] >= 0) & (start[:, d] + sizes[d] <= a.shape[d])
    flat = np.zeros((len(rows),) + (1,) * len(window), np.int64)
    for d in range(a.x.ndim):
        stride = math.prod(a.shape[d + 1:])
        flat = flat + (start[:, d] * stride).reshape([-1] + [1] * len(window))
        if d in window:
            flat = flat + (np.arange(sizes[d]) * stride).reshape([-1 if window[i] == d else 1 for i in range(len(window))])
    flat = np.where(fits.reshape([-1] + [1] * len(window)), flat, -1)
    flat = flat.reshape(list(shape) + [sizes[d] for d in window])
    order = [0] * update.x.ndim
    for i, d in enumerate(rest):
        order[d] = i
    for i, d in enumerate(window_dims):
        order[d] = len(shape) + i
    return flat.transpose(order)


def scatter(op, a, update, places, exact):
    """A scatter. The array is rounded to its type after each update: as many roundings as updates."""
    flat = places.reshape(-1)
    good = flat >= 0
    flat, t = flat[good], a.type

    def spread(x, u, f):
        out = np.array(x, copy=True).reshape(-1)
        if f is None:
            out[flat] = u.reshape(-1)[good]
        else:
            f.at(out, flat, u.reshape(-1)[good])
        return out.reshape(x.shape)
    logical = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "add": np.logical_or, "maximum": np.logical_or,
               "minimum": np.logical_and, "multiply": np.logical_and}
    f = None if op == "second" else (logical if t == "pred" else
         {"add": np.add, "subtract": np.subtract, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply, "and": np.bitwise_and,
          "or": np.bitwise_or, "xor": np.bitwise_xor})[op]
    with np.errstate(all="ignore"):
        x = spread(a.x, update.x, f)
        if t in INTS:
            x = wrap(t, x)
        if op in ("add", "subtract") and is_inexact(t):
            if exact:
                return settle(t, x, exact=True)
            magnitude = spread(np.abs(a.x) + a.error, np.abs(update.x) + update.error, np.add)
            if sums_exactly(part(t), grain(a, update), magnitude):
                return settle(t, x, exact=True)
            count = spread(np.zeros(a.shape), np.ones(update.shape), np.add)
            e = spread(a.error, update.error, np.add)
            e = e + count * unit(t) * magnitude * (2 if part(t) == "f64" else 1) * (1.5 if t in COMPLEX else 1)
            return Number(t, x, e if e.any() else None)
        if a.e is None and update.e is None:
            return Number(t, x)
        return Number(t, x, spread(a.error, update.error, None if op == "second" else np.maximum))


def select_and_scatter(a, source, start, window, pick, exact):
    """Adds each source element at the chosen element of its window. pick(best, other): whether best stays chosen."""
    places = np.arange(a.x.size).reshape(a.shape)
    best = best_place = None
    for x, e, place in zip(window_views(a.x, window, 0), window_views(a.error, window, 0), window_views(places, window, -1)):
        x = Number(a.type, x, e if e.any() else None)
        if best is None:
            best, best_place = x, place
            continue
        stays = pick(best, x)
        if stays.e is not None and stays.e.any():
            raise NotImplementedError("a choice that depends on rounding")
        keep = np.where(place < 0, True, np.where(best_place < 0, False, stays.x))
        best, best_place = select(Number("pred", keep), best, x), np.where(keep, best_place, place)
    filled = Number(source.type, np.full(a.shape, start.x))
    return scatter("add", filled, source, best_place, exact)


def sort_order(a, axis, descending, low_bits):
    """The stable order along an axis. low_bits: by the lowest two bits first, then by all bits, ascending."""
    x = np.moveaxis(a.x, axis, -1)
    if low_bits:
        first = (x & x.dtype.type(3)).astype(np.int64)
        order = np.argsort(x, axis=-1, kind="stable")
        key = np.take_along_axis(-first if descending else first, order, -1)
        order = np.take_along_axis(order, np.argsort(key, axis=-1, kind="stable"), -1)
    elif descending:
        n = x.shape[-1]
        order = (n - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable"))[..., ::-1]
    else:
        order = np.argsort(x, axis=-1, kind="stable")
    return np.moveaxis(order, -1, axis)


def sorted_by(numbers, axis, descending, low_bits=False):
    if numbers[0].e is not None and np.any(numbers[0].e > 0):
        raise NotImplementedError("an order that depends on rounding")
    order = sort_order(numbers[0], axis, descending, low_bits)
    return [n.moved(lambda x: np.take_along_axis(x, order, axis)) for n in numbers]
