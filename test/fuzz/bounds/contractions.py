"""Bounds for sums of products, reductions, windows, Fourier transforms and factorizations, whose results are rounded many times."""
import math

import numpy as np

from bounds.elementwise import arithmetic, function
from bounds.number import (Number, accumulator, grain, is_inexact, partial_sums_error, rounded, settle, sum_error, sums_exactly, taint,
                           unit, wrap)
from generate import COMPLEX, INTS, part

# Windows of up to so many elements are rounded after each addition (compiler/analysis/Reduction.h), longer sums are kept in f32.
ROUNDED_WINDOW = 64


def contracted(type_, a, b, count, contract, exact):
    """A sum of `count` products per element. `contract` computes it from two arrays, and is linear in both.

    The error has three parts: those of the operands, through each product; `count` products and additions, rounded in
    the accumulator's type; and one rounding to the result's type. It includes products below 2^-126, which vdpbf16ps
    flushes to zero.
    """
    if not is_inexact(type_):
        return taint(type_, integers(type_, a, b, count, contract), a, b)
    x, y = (v.x.astype(np.complex128 if type_ in COMPLEX else np.float64) for v in (a, b))
    with np.errstate(all="ignore"):
        out = contract(x, y)
        if exact:
            return settle(type_, out, exact=True)
        magnitude, e, kept = contract(np.abs(x) + a.error, np.abs(y) + b.error), None, accumulator(type_)
        partial = partial_sums_error(type_, magnitude)
        if sums_exactly(kept, grain(a) + grain(b), magnitude):
            return settle(type_, out, exact=kept == type_) if np.max(partial, initial=0) == 0 else settle(type_, out, partial)
        if a.e is not None or b.e is not None:
            # The operands' errors contribute (|a| + da)(|b| + db) - |a||b|.
            e = magnitude - contract(np.abs(x), np.abs(y))
            e = np.maximum(e, 0) + count * 2.0 ** -52 * magnitude
        own = sum_error(kept, count + (2 if type_ in COMPLEX else 1), magnitude) * (2 if type_ in COMPLEX else 1) + count * 2.0 ** -126
        own = own + partial
        if count == 0:
            own = 0.0 * magnitude
        return settle(type_, out, own if e is None else e + own)


def integers(type_, a, b, count, contract):
    """The contraction modulo 2^width, in f64 where that is exact, which is much faster."""
    if type_ == "pred":
        return contract(a.x.astype(np.float64), b.x.astype(np.float64)) > 0
    x, y = a.x.astype(np.float64), b.x.astype(np.float64)
    if np.abs(x).max(initial=0) * np.abs(y).max(initial=0) * count < 2.0 ** 52:
        return wrap(type_, contract(x, y).astype(np.int64))
    with np.errstate(all="ignore"):
        return wrap(type_, contract(a.x.astype(np.int64), b.x.astype(np.int64)))


def dot(type_, a, b, lb, rb, lc, rc, exact):
    lf = [i for i in range(a.x.ndim) if i not in lb + lc]
    rf = [i for i in range(b.x.ndim) if i not in rb + rc]
    batch, m, n = [a.shape[i] for i in lb], [a.shape[i] for i in lf], [b.shape[i] for i in rf]
    k = math.prod(a.shape[i] for i in lc)

    def contract(x, y):
        x = x.transpose(lb + lf + lc).reshape([math.prod(batch), math.prod(m), k])
        y = y.transpose(rb + rc + rf).reshape([math.prod(batch), k, math.prod(n)])
        return np.matmul(x, y).reshape(batch + m + n)
    return contracted(type_, a, b, k, contract, exact)


def convolution(type_, a, b, labels, window, groups, batch_groups, exact):
    """window: (size, stride, low, high, base dilation, window dilation, reversed) per spatial dimension."""
    left, right, out = labels
    n = len(window)
    digits = [str(i) for i in range(n)]
    batch, features = a.shape[left.index("b")], a.shape[left.index("f")]
    outputs, inputs = b.shape[right.index("o")], b.shape[right.index("i")]
    sizes = []
    for i, (size, stride, low, high, base, dilation, _) in enumerate(window):
        d = a.shape[left.index(digits[i])]
        full = (0 if d == 0 else (d - 1) * base + 1) + low + high
        extent = (size - 1) * dilation + 1 if size else 0
        sizes.append(0 if full < extent else (full - extent) // stride + 1)
    count = math.prod(w[0] for w in window) * inputs
    g = groups * batch_groups

    def contract(x, y):
        x = x.transpose([left.index("b"), left.index("f"), *(left.index(c) for c in digits)])
        y = y.transpose([right.index("o"), right.index("i"), *(right.index(c) for c in digits)])
        for i, (_, _, low, high, base, _, flip) in enumerate(window):
            x = padded(x, 2 + i, low, high, base - 1, 0)
            y = np.flip(y, 2 + i) if flip else y
        # Groups first: [g, batch, features of a group, ...] and [g, outputs of a group, inputs, ...]
        if batch_groups > 1:
            x = x.reshape((batch_groups, batch // batch_groups) + x.shape[1:])
        else:
            x = np.moveaxis(x.reshape((batch, groups, features // groups) + x.shape[2:]), 1, 0)
        y = y.reshape((g, outputs // g) + y.shape[1:])
        rows = x.shape[1] * math.prod(sizes)
        sum_ = np.zeros((g, rows, outputs // g), np.result_type(x, y))
        for tap in np.ndindex(*(w[0] for w in window)):
            cut = tuple(slice(t * w[5], t * w[5] + (s - 1) * w[1] + 1 if s else 0, w[1]) for t, w, s in zip(tap, window, sizes))
            patch = np.moveaxis(x[(slice(None),) * 3 + cut], 2, -1).reshape(g, rows, inputs)
            sum_ += np.matmul(patch, y[(slice(None),) * 3 + tap].transpose(0, 2, 1))
        result = sum_.reshape([g, x.shape[1], *sizes, outputs // g])
        # To [batch, spatial, features]: the group is the slower part of the features.
        result = np.moveaxis(result, 0, -2).reshape([x.shape[1], *sizes, outputs])
        return result.transpose([("b" + "".join(digits) + "f").index(c) for c in out])
    return contracted(type_, a, b, count, contract, exact)


def padded(x, axis, low, high, inner, value):
    """x with `value` added before, behind and between its elements; negative amounts remove elements."""
    n = x.shape[axis]
    if inner and n > 1:
        shape = list(x.shape)
        shape[axis] = (n - 1) * (inner + 1) + 1
        wide = np.full(shape, value, x.dtype)
        wide[(slice(None),) * axis + (slice(None, None, inner + 1),)] = x
        x = wide
    if low > 0 or high > 0:
        x = np.pad(x, [(max(low, 0), max(high, 0)) if i == axis else (0, 0) for i in range(x.ndim)], constant_values=value)
    if low < 0 or high < 0:
        x = x[(slice(None),) * axis + (slice(max(-low, 0), x.shape[axis] - max(-high, 0)),)]
    return x


UFUNC = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def ufunc_of(op, type_):
    if type_ == "pred":
        return {"add": np.logical_or, "multiply": np.logical_and, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
                "maximum": np.logical_or, "minimum": np.logical_and}[op]
    return UFUNC[op]


def summed(type_, terms, x, count, magnitude, e, exact, kept):
    """The Number of a sum x: `count` terms of the given total magnitude, with operand error e, accumulated in type `kept`."""
    if exact:
        return settle(type_, x, exact=True)
    partial = partial_sums_error(type_, magnitude)
    if sums_exactly(kept, grain(*terms), magnitude) and np.max(partial, initial=0) == 0:
        return settle(type_, x, exact=part(type_) == kept)
    own = sum_error(kept, count, magnitude) + partial
    if kept == part(type_):  # every step is rounded, including the last
        return Number(type_, x, own + (e if e is not None else 0))
    return settle(type_, x, own if e is None else e + own)


def reduce(op, a, start, dims, exact):
    """A reduction by an operation that may be applied in any order."""
    t, dims = a.type, tuple(dims)
    with np.errstate(all="ignore"):
        if op == "add" and is_inexact(t):
            e = None
            if a.e is not None or start.e is not None:
                e = a.error.sum(axis=dims) + start.error
            count = math.prod(a.shape[d] for d in dims)
            magnitude = (np.abs(a.x) + a.error).sum(axis=dims) + np.abs(start.x) + start.error
            return summed(t, (a, start), a.x.sum(axis=dims) + start.x, count, magnitude, e, exact, accumulator(t))
        f = ufunc_of(op, t)
        x = np.broadcast_to(start.x, [n for i, n in enumerate(a.shape) if i not in dims])
        if math.prod(a.shape[d] for d in dims):
            x = f(f.reduce(a.x, axis=dims, **({} if t == "pred" else {"dtype": a.x.dtype})), x)
        if t in INTS:
            x = wrap(t, x)
        if a.e is None and start.e is None:
            return Number(t, x)
        return Number(t, x, np.maximum(a.error.max(axis=dims, initial=0), start.error))


def window_views(x, window, value):
    """The elements at each tap, as an array of the result's shape; and the number of taps inside per element."""
    for i, (_, _, low, high, base, _) in enumerate(window):
        x = padded(x, i, low, high, base - 1, value)
    sizes = []
    for i, (size, stride, _, _, _, dilation) in enumerate(window):
        extent = (size - 1) * dilation + 1
        sizes.append(0 if x.shape[i] < extent else (x.shape[i] - extent) // stride + 1)
    for tap in np.ndindex(*(w[0] for w in window)):
        yield x[tuple(slice(t * w[5], t * w[5] + (s - 1) * w[1] + 1 if s else 0, w[1]) for t, w, s in zip(tap, window, sizes))]


def reduce_window(op, a, start, window, exact):
    t, f = a.type, ufunc_of(op, a.type)
    with np.errstate(all="ignore"):
        x = None
        for view in window_views(a.x, window, start.x):
            x = view.copy() if x is None else f(x, view)
        sums = op == "add" and is_inexact(t)
        x = f(x, start.x)
        if t in INTS:
            x = wrap(t, x)
        if not sums and a.e is None:
            return Number(t, x)
        e = magnitude = None
        if a.e is not None:
            e = 0.0
            for view in window_views(a.error, window, 0.0):
                e = e + view if sums else np.maximum(e, view)
        if not sums:
            return Number(t, x, e)
        magnitude = np.abs(start.x)
        for view in window_views(np.abs(a.x) + a.error, window, 0.0):
            magnitude = magnitude + view
        count = math.prod(w[0] for w in window)
        steps = part(t) not in ("f32", "f64") and count <= ROUNDED_WINDOW
        known = a.e is None and start.e is None
        number = summed(t, (a, start), x, count, magnitude, e, exact, part(t) if steps and not known else accumulator(t))
        if not steps or not known or exact:
            return number
        path = start.x  # in the order of the window, rounded after each step; or, in cumulative windows beyond 16 elements, in f32
        for view in window_views(a.x, window, start.x):
            path = rounded(t, path + view)
        return Number(t, x, np.maximum(number.error, np.where(np.isfinite(path), np.abs(path - x), np.inf)))


FFT_STAGE = 4  # roundings of a stage, of a number next to the others' root mean square


def fft(kind, a, lengths, type_):
    """A Fourier transform of log2 N stages.

    Each stage is unitary up to a factor and rounds every number a few times, so errors are relative to the root mean
    square of the results, even for a result that cancels. A worst case for a single element would be sqrt(N) times that."""
    axes = tuple(range(a.x.ndim - len(lengths), a.x.ndim))
    n = math.prod(lengths)
    transform = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}.get(kind)
    out = np.fft.irfftn(a.x, s=lengths, axes=axes) if kind == "IRFFT" else transform(a.x, axes=axes)
    scale = 1 / n if kind in ("IFFT", "IRFFT") else 1
    both = 2 if kind == "IRFFT" else 1  # only half of the operand's row is stored
    mean = np.sqrt(both * (np.abs(a.x) ** 2).sum(axis=axes, keepdims=True)) * scale
    u = unit(accumulator(type_)) * (2 if part(type_) == "f64" else 1)
    e = FFT_STAGE * u * math.log2(2 * n) * mean
    if a.e is not None:
        e = e + both * a.e.sum(axis=axes, keepdims=True) * scale
    return settle(type_, out, np.broadcast_to(e, out.shape))


def transposed(x):
    return np.conj(np.swapaxes(x, -1, -2))


def cholesky(a, lower):
    """L L^H = A + E with |E| <= (n + 2) u |L||L^H| and the operand's error (Higham, theorem 10.3).

    To first order L changes by L times the lower triangle of L^-1 E L^-H with half of its diagonal."""
    n, u = a.shape[-1], unit(accumulator(a.type)) * (2 if part(a.type) == "f64" else 1) * (4 if a.type in COMPLEX else 1)
    l = np.linalg.cholesky(a.x)
    inverse = np.abs(np.linalg.inv(l))
    backward = (n + 2) * u * np.abs(l) @ np.swapaxes(np.abs(l), -1, -2) + a.error
    move = np.tril(inverse @ backward @ np.swapaxes(inverse, -1, -2))
    e = np.abs(l) @ (move - np.eye(n) * move / 2)
    return settle(a.type, *((l, e) if lower else (transposed(l), np.swapaxes(e, -1, -2))))


def triangular_solve(a, b, left, lower, unit_diagonal, transpose):
    """|x' - x| <= |T^-1| (|T||x| (n + 2) u + the operands' errors) (Higham, theorem 8.5)."""
    t = np.tril(a.x) if lower else np.triu(a.x)
    off = np.tril(a.error) if lower else np.triu(a.error)
    n = t.shape[-1]
    if unit_diagonal:
        eye = np.eye(n, dtype=bool)
        t, off = np.where(eye, 1, t), np.where(eye, 0, off)
    if transpose != "NO_TRANSPOSE":
        t, off = np.swapaxes(t, -1, -2), np.swapaxes(off, -1, -2)
        t = np.conj(t) if transpose == "ADJOINT" else t
    x = np.linalg.solve(t, b.x) if left else np.swapaxes(np.linalg.solve(np.swapaxes(t, -1, -2), np.swapaxes(b.x, -1, -2)), -1, -2)
    inverse = np.abs(np.linalg.inv(t))
    u = unit(accumulator(a.type)) * (2 if part(a.type) == "f64" else 1) * (4 if a.type in COMPLEX else 1)
    move = off + (n + 2) * u * np.abs(t)
    e = inverse @ (move @ np.abs(x) + b.error) if left else (np.abs(x) @ move + b.error) @ inverse
    return settle(b.type, x, e)


def batch_norm(kind, operands, epsilon, feature):
    """Batch norm as the compiler expands it: the variance takes a second pass over the operand."""
    x, t = operands[0], operands[0].type
    dims = [i for i in range(x.x.ndim) if i != feature]
    n = Number(t, np.float64(math.prod(x.shape[i] for i in dims)))
    zero = Number(t, np.float64(0))

    def spread(v):
        return v.moved(lambda y: y.reshape([-1 if i == feature else 1 for i in range(x.x.ndim)]))

    def total(v):
        return reduce("add", v, zero, dims, False)

    def add(a, b):
        return arithmetic("add", a, b)

    def sub(a, b):
        return arithmetic("subtract", a, b)

    def mul(a, b):
        return arithmetic("multiply", a, b)

    def div(a, b):
        return arithmetic("divide", a, b)

    small = Number(t, np.float64(np.float32(epsilon)))

    def normalized(mean, variance, scale, offset):
        s = function("rsqrt", add(variance, small))
        return add(mul(mul(sub(x, spread(mean)), spread(s)), spread(scale)), spread(offset))
    if kind == "inference":
        _, scale, offset, mean, variance = operands
        return normalized(mean, variance, scale, offset)
    if kind == "training":
        _, scale, offset = operands
        mean = div(total(x), n)
        centered = sub(x, spread(mean))
        variance = div(total(mul(centered, centered)), n)
        return normalized(mean, variance, scale, offset), mean, variance
    _, scale, mean, variance, gradient = operands
    centered = sub(x, spread(mean))
    s = function("rsqrt", add(variance, small))
    t_, offset = total(mul(gradient, centered)), total(gradient)
    correction = div(t_, add(variance, small))
    inner = sub(sub(mul(n, gradient), spread(offset)), mul(centered, spread(correction)))
    return mul(spread(div(mul(scale, s), n)), inner), mul(t_, s), offset
