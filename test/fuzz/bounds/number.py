"""Arrays with error bounds, and the error that one rounding adds.

A Number holds x, the value in f64 (c128) without intermediate roundings, and e, the largest distance of a correct result
from x, per element. Integers and predicates hold x in their own type; their e is 0, or infinite if the element may be
another one because an operation was discontinuous there (such as a comparison of values closer than their errors).

e is slightly more than first order: |x| + e stands for the computed value, and products of errors are kept. A number is
`once` if the correct result is x rounded once to its type, to nearest even; no other result is accepted then, whatever e is.
"""
import functools

import ml_dtypes
import numpy as np

from generate import COMPLEX, FLOATS, INTS, numpy_type, part

# A correctly rounded operation.
HALF = 0.5

# Partitions that may each round a partial sum to its type before the sums are added up.
PARTITIONS = 1


class Number:
    def __init__(self, type_, x, e=None, once=False):
        self.type, self.x = type_, np.asarray(x)
        self.e = None if e is None else np.broadcast_to(e, self.x.shape)
        self.once = once or e is None

    @property
    def error(self):
        return np.zeros(self.x.shape) if self.e is None else self.e

    @property
    def shape(self):
        return self.x.shape

    def moved(self, function):
        """The elements rearranged: `function` applied to the values and to their errors."""
        return Number(self.type, function(self.x), None if self.e is None else function(self.e), self.once)


def is_inexact(type_):
    """Whether the type's arithmetic rounds."""
    return type_ in FLOATS or type_ in COMPLEX


@functools.cache
def format_of(type_):
    """(mantissa bits, exponent of the smallest normal number, largest finite number)"""
    info = ml_dtypes.finfo(FLOATS[part(type_)][0])
    return info.nmant, int(info.minexp), float(info.max)


def ulp(type_, x):
    """The distance of adjacent values near |x| in the type."""
    behind, least, _ = format_of(type_)
    _, exponent = np.frexp(np.abs(x))
    return np.ldexp(1.0, np.maximum(exponent - 1, least) - behind)


def rounded(type_, x):
    """The nearest value of the type, to even. Not by way of f32, as ml_dtypes does."""
    x, dtype = np.asarray(x), numpy_type(type_)
    if part(type_) == "f64":
        return x
    with np.errstate(all="ignore"):
        if type_ not in COMPLEX and type_ != "f32":
            step = ulp(type_, x)
            x = np.rint(x / step) * step
        return x.astype(dtype).astype(np.complex128 if type_ in COMPLEX else np.float64)


def second_rounding(type_, x):
    """The error added by a double rounding of a narrow type.

    f16 and bf16 are computed in f32, whose result may be a tie of the narrow type (see the compiler's README on narrow
    floats); f8 and f4 in f32 or f16, and complex parts in their own type.
    """
    if type_ in ("f32", "f64") or type_ in COMPLEX:
        return 0.0
    return ulp("f32", x) if type_ in ("f16", "bf16") else ulp("f16", x) * HALF


def settle(type_, x, e=None, units=HALF, exact=False):
    """The Number of one operation's result: x, with error e, computed in the type to within `units` units in the last place.

    exact: no rounding can change x, or the rounding is the operation's meaning.
    """
    if not is_inexact(type_):
        return Number(type_, x, e)
    if exact:
        return Number(type_, rounded(type_, x))
    with np.errstate(all="ignore"):
        if units > HALF or part(type_) == "f64":
            e = 0.0 if e is None else e
            return Number(type_, x, e + roundings(type_, np.abs(x) + e, units))
        own = distance(type_, x)
        if e is None:
            return Number(type_, x, own if own.any() else None, once=True)
        return Number(type_, x, np.where(e == 0, own, e + roundings(type_, np.abs(x) + e, units)))


def distance(type_, x):
    """The distance from x to x rounded to the type; infinite on overflow."""
    once = rounded(type_, x)
    off = np.abs(once - x)
    off = np.where(np.isfinite(off), off + second_rounding(type_, np.abs(x)), np.inf)
    return np.where((once == x) | np.isnan(once) & np.isnan(x), 0.0, off)


def roundings(type_, far, units):
    """The largest error of one operation whose result is at most `far`."""
    wide = part(type_)
    far = far * (1 + 2.0 ** -48)  # just below a power of two, the interpreter's own rounding must not select the smaller ulp
    if wide == "f64":  # the type of x itself: the interpreter's own rounding counts as well
        units = units + HALF
    if type_ in COMPLEX:  # both parts, or units of the modulus
        return ulp(wide, far) * max(units, 0.75)
    if wide != "f32" and wide != "f64" and units > HALF:  # a function, computed in f32 and rounded once
        return ulp(wide, far) * HALF + ulp("f32", far) * units + second_rounding(type_, far)
    return ulp(wide, far) * units + second_rounding(type_, far)


def accumulator(type_):
    """The type in which sums of elements of the type are accumulated."""
    return "f64" if part(type_) == "f64" else "f32"


def unit(type_):
    """The largest relative error of one rounding."""
    return 2.0 ** -(format_of(type_)[0] + 1)


def sum_error(type_, count, magnitude):
    """The error of a sum of `count` terms in any order: each addition rounds a partial sum of at most the total magnitude.

    Doubled for f64, since the interpreter rounds too; complex numbers round each part.
    """
    return np.maximum(count, 0) * unit(type_) * magnitude * (2 if part(type_) == "f64" else 1)


def partial_sums_error(type_, magnitude):
    """The error of a sum whose partial sums, one for each partition, are rounded to a narrow type, as are the sums of these.

    Partial sums add up to the magnitude, and so does each of their sums: one rounding for the former, PARTITIONS - 1 for the latter.
    """
    if PARTITIONS == 1 or accumulator(type_) == part(type_):
        return 0.0
    return PARTITIONS * unit(type_) * magnitude


def grain(*numbers):
    """The smallest of a few q such that all elements are known to be multiples of 2^-q; infinity if there is none."""
    found = 0
    for number in numbers:
        parts = (number.x.real, number.x.imag) if number.type in COMPLEX else (number.x,)
        with np.errstate(all="ignore"):
            fits = [q for q in (0, 2, 8) if all((np.rint(p * 2.0 ** q) == p * 2.0 ** q).all() for p in parts)]
        found = max(found, fits[0] if fits and not (number.e is not None and np.any(number.e)) else np.inf)
    return found


def sums_exactly(type_, q, magnitude):
    """True if sums of multiples of 2^-q of this total magnitude fit the type's mantissa."""
    behind, _, largest = format_of(type_)
    most = np.max(magnitude, initial=0.0)
    return bool(q < np.inf and most * 2.0 ** q <= min(2.0 ** (behind + 1), largest * 2.0 ** q))


def taint(type_, x, *operands):
    """A result that is meaningful only if all operands are known."""
    if all(o.e is None for o in operands):
        return Number(type_, x)
    e = 0.0
    for o in operands:
        e = e + np.where(o.error > 0, np.inf, 0.0)
    return Number(type_, x, np.broadcast_to(e, np.shape(x)))


def wrap(type_, x):
    """Integers modulo the type's width, in the type that holds them."""
    kind, width = INTS[type_]
    dtype = numpy_type(type_)
    with np.errstate(all="ignore"):
        x = np.asarray(x).astype(dtype)
    if width >= 8:
        return x
    x = x & dtype.type(2 ** width - 1)
    return np.where(x >= 2 ** (width - 1), x - dtype.type(2 ** width) if kind == "s" else x, x).astype(dtype)


def from_bits(type_, raw):
    """The Number of a parameter or result that is given as bits."""
    dtype = numpy_type(type_)
    raw = np.asarray(raw)
    if raw.dtype != dtype and raw.dtype.itemsize == dtype.itemsize:
        raw = np.ascontiguousarray(raw).view(dtype).reshape(raw.shape)
    if type_ == "pred":
        return raw.astype(bool)
    if type_ in INTS:
        return wrap(type_, raw)
    with np.errstate(all="ignore"):
        return raw.astype(np.complex128 if type_ in COMPLEX else np.float64)


def to_type(type_, x):
    """x in the type itself, for operations on bits."""
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(numpy_type(type_))
