"""Bounds for element-wise operations: their values in f64, and how they propagate errors."""
import numpy as np
import scipy.special

from bounds.number import HALF, Number, is_inexact, rounded, settle, taint, wrap
from generate import COMPLEX, INTS, numpy_type, part

# Units in the last place that test/accuracy holds the functions to; of complex numbers in units of the modulus.
UNITS = {"sqrt": HALF, "cbrt": 1}
UNITS_C64 = {"multiply": 2, "sign": 2}
UNITS_C128 = {"abs": 1, "sign": 2, "multiply": 2, "logistic": 8, "tan": 8, "tanh": 8, "power": 8, "divide": 8}


def units_of(op, type_):
    if type_ == "c64":
        return UNITS_C64.get(op, 1)
    if type_ == "c128":
        return UNITS_C128.get(op, 4)
    return UNITS.get(op, 2)


def complex_log1p(z):
    return 0.5 * np.log1p(z.real * (2 + z.real) + z.imag ** 2) + 1j * np.arctan2(z.imag, 1 + z.real)


def sign_of(x):
    if np.iscomplexobj(x):
        return np.where(x == 0, x, x / np.where(x == 0, 1, np.abs(x)))
    return np.sign(x)


# Real functions that are monotone wherever the generator uses them: their errors are those at the ends of the operand's interval.
MONOTONE = {
    "exponential": np.exp, "exponential-minus-one": np.expm1, "tanh": np.tanh, "logistic": scipy.special.expit, "erf": scipy.special.erf,
    "cbrt": np.cbrt, "log": np.log, "log-plus-one": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "tan": np.tan,
    "sinh": np.sinh, "asinh": np.arcsinh, "acosh": np.arccosh, "asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh,
}
ANALYTIC = {
    "exponential": np.exp, "exponential-minus-one": np.expm1, "tanh": np.tanh, "logistic": lambda z: 1 / (1 + np.exp(-z)), "sine": np.sin,
    "cosine": np.cos, "log": np.log, "log-plus-one": complex_log1p, "sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z), "sign": sign_of,
    "tan": np.tan,
}


def function(op, a):
    """A function of one operand that is rounded once."""
    with np.errstate(all="ignore"):
        if a.type in COMPLEX:
            f = ANALYTIC[op]
            x, e = f(a.x), None
            if a.e is not None:  # an analytic function scales errors equally in all directions; doubled for the second order
                e = 2 * np.max([np.abs(f(a.x + d * a.e) - x) for d in (1, -1, 1j, -1j)], axis=0)
        elif op in ("sine", "cosine"):
            x, e = (np.sin if op == "sine" else np.cos)(a.x), None if a.e is None else np.minimum(a.e, 2)
        elif op == "cosh":
            x, e = np.cosh(a.x), None
            if a.e is not None:
                e = np.maximum(np.cosh(np.abs(a.x) + a.e) - x, x - np.cosh(np.maximum(np.abs(a.x) - a.e, 0)))
        else:
            f = MONOTONE[op]
            x, e = f(a.x), None
            if a.e is not None:
                e = np.maximum(np.abs(f(a.x + a.e) - x), np.abs(f(a.x - a.e) - x))
        if e is not None:
            e = np.where(np.isnan(e), np.inf, e)
    return settle(a.type, x, e, units_of(op, a.type))


def product(x, a, y, b):
    """The error of a product of x +- a and y +- b; None for an exact factor."""
    if a is None and b is None:
        return None
    a, b = 0.0 if a is None else a, 0.0 if b is None else b
    with np.errstate(all="ignore"):
        e = np.abs(x) * b + np.abs(y) * a + a * b
    return np.where(np.isnan(e), np.inf, e)


def plus(a, b):
    return a.e if b.e is None else b.e if a.e is None else a.e + b.e


def arithmetic(op, a, b, exact=False):
    """An operation on two operands of a float type."""
    t = a.type
    with np.errstate(all="ignore"):
        if op in ("add", "subtract"):
            return settle(t, a.x + b.x if op == "add" else a.x - b.x, plus(a, b), exact=exact)
        if op == "multiply":
            return settle(t, a.x * b.x, product(a.x, a.e, b.x, b.e), units_of(op, t) if t in COMPLEX else HALF, exact)
        if op in ("maximum", "minimum"):
            e = None if a.e is None and b.e is None else np.maximum(a.error, b.error)
            return Number(t, (np.maximum if op == "maximum" else np.minimum)(a.x, b.x), e)
        if op == "divide":
            x, e = a.x / b.x, None
            if a.e is not None or b.e is not None:
                rest = np.abs(b.x) - b.error
                e = np.where(rest > 0, (a.error + np.abs(x) * b.error) / rest, np.inf)
            # x / c of f32 and f64 is x * (1 / c), two roundings, as XLA:CPU does it.
            return settle(t, x, e, 1.5 if t in ("f32", "f64") else units_of(op, t) if t in COMPLEX else HALF, exact)
        if op == "remainder":
            return taint(t, rounded(t, np.fmod(a.x, b.x)), a, b)
        if op == "power":
            return power(a, b)
        if op == "atan2":
            x, e = np.arctan2(a.x, b.x), None
            if a.e is not None or b.e is not None:  # an angle, seen from the origin
                off = np.hypot(a.error, b.error)
                rest = np.hypot(a.x, b.x) - off
                e = np.where((rest > 0) & ((b.x > b.error) | (np.abs(a.x) > a.error)), np.arcsin(np.minimum(off / np.where(rest > 0, rest, 1), 1)), np.inf)
            return settle(t, x, e, 2)
    raise NotImplementedError(op)


def power(a, b):
    """A power; complex bases are in the right half-plane. Real powers are monotone in both operands."""
    t, e = a.type, None
    x = np.power(a.x, b.x)
    if t in COMPLEX:
        log = np.abs(b.x * np.log(a.x))
        if a.e is not None or b.e is not None:
            e = 2 * np.abs(x) * (np.abs(b.x) * a.error / np.abs(a.x) + np.abs(np.log(a.x)) * b.error)
        n = settle(t, x, e, units_of("power", t))
        own = 2 * np.abs(x) * (1 + log) * 2.0 ** -52  # the error of the interpreter's power, and of the compiler's for c128
        return Number(t, n.x, n.error + own * (8 if t == "c128" else 1))
    if a.e is not None or b.e is not None:
        e = np.max([np.abs(np.power(a.x + i * a.error, b.x + j * b.error) - x) for i in (1, -1) for j in (1, -1)], axis=0)
        e = np.where(np.isnan(e) | (a.x <= a.error), np.inf, e)
    return settle(t, x, e, 2)


def integer(op, a, b):
    """An operation on two integers or predicates."""
    t, x, y = a.type, a.x, b.x
    if t == "pred":
        out = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "add": np.logical_or, "multiply": np.logical_and,
               "maximum": np.logical_or, "minimum": np.logical_and}[op](x, y)
        return taint(t, out, a, b)
    kind, width = INTS[t]
    with np.errstate(all="ignore"):
        if op in ("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"):
            f = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.get(op) or getattr(np, op)
            out = f(x, y)
        elif op in ("divide", "remainder"):
            zero = y == 0
            flip = (y == -1) if kind == "s" else np.zeros(np.shape(y), bool)
            safe = np.where(zero | flip, 1, y).astype(x.dtype)
            rest = np.fmod(x, safe)
            quotient = (x - rest) // safe
            ones = numpy_type(t).type(-1) if kind == "s" else numpy_type(t).type(2 ** width - 1)
            out = np.where(zero, ones, np.where(flip, -x if kind == "s" else x, quotient)) if op == "divide" else np.where(zero, x, np.where(flip, 0, rest))
        elif op == "power":
            out, base, n = np.ones(np.broadcast_shapes(x.shape, y.shape), x.dtype), x, np.where(y < 0, 0, y)
            while (n > 0).any():
                out = wrap(t, np.where(n & 1, out * base, out))
                base, n = wrap(t, base * base), n >> 1
            if kind == "s":
                out = np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, np.where(y & 1, -1, 1), 0)), out)
        else:
            unsigned = np.dtype(f"u{x.dtype.itemsize}")
            mask = unsigned.type(2 ** width - 1)
            by = y.astype(unsigned) & mask if width < 64 else y.astype(unsigned)
            far = by >= width
            by = np.where(far, 0, by).astype(unsigned)
            if op == "shift-left":
                out = np.where(far, 0, x.astype(unsigned) << by)
            elif op == "shift-right-logical":
                out = np.where(far, 0, (x.astype(unsigned) & mask) >> by)
            else:
                signed = wrap("s" + t[1:], x)
                out = np.where(far, np.where(signed < 0, -1, 0), signed >> by.astype(signed.dtype))
        return taint(t, wrap(t, out), a, b)


def binary(op, a, b, exact=False):
    return arithmetic(op, a, b, exact) if is_inexact(a.type) else integer(op, a, b)


ROUND = {"floor": np.floor, "ceil": np.ceil, "round-nearest-even": np.rint, "round-nearest-afz": lambda x: np.trunc(x + np.copysign(0.5, x)), "sign": sign_of}


def unary(op, a, exact=False):
    t = a.type
    with np.errstate(all="ignore"):
        if op in ("copy", "negate", "abs", "not") and t == "pred":
            return taint(t, a.x if op == "copy" else ~a.x, a)
        if t in INTS:
            width = INTS[t][1]
            unsigned = a.x.astype(np.dtype(f"u{a.x.dtype.itemsize}")) & np.dtype(f"u{a.x.dtype.itemsize}").type(2 ** width - 1)
            if op == "popcnt":
                x = np.bitwise_count(unsigned)
            elif op == "count-leading-zeros":
                n, x = unsigned.copy(), np.full(a.shape, width)
                while (n > 0).any():
                    x = np.where(n > 0, x - 1, x)
                    n >>= 1
            else:
                x = {"negate": lambda v: -v, "not": np.invert, "abs": np.abs, "sign": np.sign}[op](a.x)
            return taint(t, wrap(t, x), a)
        if op == "negate":
            return Number(t, -a.x, a.e, a.once)
        if op == "abs" and t not in COMPLEX:
            return Number(t, np.abs(a.x), a.e, a.once)
        if op == "abs":
            return settle(part(t), np.abs(a.x), a.e, 1, exact)
        if op in ("real", "imag"):
            return Number(part(t), getattr(a.x, op), a.e)
        if op in ROUND and t not in COMPLEX:
            return taint(t, ROUND[op](a.x), a)
        if op == "is-finite":
            return taint("pred", np.isfinite(a.x), a)
        return function(op, a)


def reduce_precision(a, exponent_bits, mantissa_bits):
    """Rounds to nearest even, overflows to infinities, and flushes what is below the normal numbers."""
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(a.x)
        x = np.ldexp(np.rint(np.ldexp(mantissa, mantissa_bits + 1)), exponent - mantissa_bits - 1)
        bias = 2 ** (exponent_bits - 1) - 1
        _, exponent = np.frexp(x)
        x = np.where(np.isfinite(x) & (exponent - 1 > bias), np.copysign(np.inf, x), np.where(exponent - 1 < 1 - bias, x * 0, x))
        return taint(a.type, np.where(np.isfinite(a.x), x, a.x), a)


def compare(direction, a, b, total=False):
    x, y = a.x, b.x
    if total and is_inexact(a.type):
        def key(v):
            bits = v.view(np.int64)
            return bits ^ ((bits >> 63) & np.int64(2 ** 63 - 1))
        x, y = key(np.ascontiguousarray(x)), key(np.ascontiguousarray(y))
    out = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}[direction](x, y)
    if a.e is None and b.e is None:
        return Number("pred", out)
    with np.errstate(all="ignore"):
        off = a.error + b.error
        if not is_inexact(a.type):
            return taint("pred", out, a, b)
        return Number("pred", out, np.where((off > 0) & ~(np.abs(a.x - b.x) > off), np.inf, 0.0))


def select(p, a, b):
    """A select. If the predicate is uncertain, the result may be either value."""
    x = np.where(p.x, a.x, b.x)
    if p.e is None and a.e is None and b.e is None:
        return Number(a.type, x)
    e = np.where(p.x, a.error, b.error)
    if p.e is not None:
        if is_inexact(a.type):
            with np.errstate(all="ignore"):
                either = np.abs(a.x - b.x) + np.maximum(a.error, b.error)
        else:
            either = np.where(a.x == b.x, np.maximum(a.error, b.error), np.inf)
        e = np.where(p.error > 0, either, e)
    return Number(a.type, x, e)


def clamp(low, a, high):
    if not is_inexact(a.type):
        return taint(a.type, np.minimum(np.maximum(low.x, a.x), high.x), low, a, high)
    x = np.minimum(np.maximum(low.x, a.x), high.x)
    e = None if low.e is None and a.e is None and high.e is None else np.maximum(np.maximum(low.error, a.error), high.error)
    return Number(a.type, x, e)


def convert(to, a, exact=False):
    with np.errstate(all="ignore"):
        if to == "f8e8m0fnu":  # a type of powers of two only, which rounds ties up
            mantissa, exponent = np.frexp(a.x)
            return Number(to, np.ldexp(1.0, np.where(mantissa >= 0.75, exponent, exponent - 1)), a.e)
        if to == "pred":
            return taint(to, a.x != 0, a)
        if to in INTS:
            if not is_inexact(a.type):
                return taint(to, wrap(to, a.x), a)
            kind, width = INTS[to]
            low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind == "s" else (0, 2 ** width - 1)
            x = np.trunc(np.where(np.isnan(a.x), 0, a.x))
            inside = np.where((x > low) & (x < high), x, 0).astype(numpy_type(to))
            return taint(to, np.where(x >= high, numpy_type(to).type(high), np.where(x <= low, numpy_type(to).type(low), inside)), a)
        x = a.x.astype(np.complex128 if to in COMPLEX else np.float64)
        if not is_inexact(a.type):
            a = taint(to, x, a)
        return settle(to, x, a.e, exact=exact)
