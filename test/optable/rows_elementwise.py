"""Element-wise opcodes, conversions between all types, and what depends on the widths of types."""
import cmath
import functools
import math
import random

from cases import Argument, Case
from inputs import ARRAYS, BITS, COMPLEX, FLOATS, INTEGERS, PART, converted, edges, element, is_float, ordinary, pairs, parts, subnormals

# Opcode -> tolerance in ulps for f32 and wider; narrower types are rounded results and must be within one.
UNARY = {
    "abs": 0, "negate": 0, "sign": 0, "ceil": 0, "floor": 0, "round-nearest-afz": 0, "round-nearest-even": 0,
    "sqrt": 1, "rsqrt": 2, "cbrt": 4, "exponential": 4, "exponential-minus-one": 8, "log": 4, "log-plus-one": 4,
    "logistic": 8, "sine": 4, "cosine": 4, "tan": 8, "sinh": 4, "cosh": 4, "asin": 4, "acos": 4, "asinh": 4,
    "acosh": 4, "atanh": 4, "tanh": 8, "erf": 8, "not": 0, "count-leading-zeros": 0, "popcnt": 0, "copy": 0,
}
BINARY = {
    "add": 0, "subtract": 0, "multiply": 0, "divide": 0, "remainder": 0, "maximum": 0, "minimum": 0, "power": 4,
    "atan2": 4, "and": 0, "or": 0, "xor": 0, "shift-left": 0, "shift-right-logical": 0,
    "shift-right-arithmetic": 0, "mulhi": 0,
}
COUNT = 28
# Opcodes whose complex form is tested with extreme values as well; the other complex forms get moderate values.
EXACT = ("abs", "negate", "sign", "not", "copy")
WIDTHS = {name: 2 * BITS[PART[name]].bits if name in PART else BITS[name].bits
          for name in ARRAYS}
WIDTHS["pred"] = 8


def ulps(tolerance, name):
    if name in PART:
        return max(tolerance, 1) * 4e-7 if name == "c64" else max(tolerance, 1) * 1e-15
    return min(tolerance, 1) if is_float(name) and BITS[name].bits <= 16 else tolerance


def elements(name, raw):
    """Raw parts as numbers."""
    form = element(name)
    values = [form.decode(x) for x in raw]
    return [complex(a, b) for a, b in zip(values[::2], values[1::2])] if name in PART else values


def by_numbers(function, type_, result=None):
    """A reference that applies a function of Python numbers."""
    def reference(*arguments):
        columns = [elements(a.name, a.raw) for a in arguments]
        name = result or type_
        values = [function(*row) for row in zip(*columns)]
        return [[converted(PART.get(name, name), p) for v in values for p in parts(name, v)]]
    return reference


def guarded(real, complex_function):
    """A function of `math` that gives NaN or the infinity outside of its domain."""
    def function(x):
        if isinstance(x, complex):
            try:
                return complex_function(x)
            except (ValueError, OverflowError, ZeroDivisionError):
                return complex(math.nan, math.nan)
        try:
            return real(x)
        except ValueError:
            return math.copysign(math.inf, x) if real is math.atanh and abs(x) == 1 else math.nan
        except OverflowError:
            return math.copysign(math.inf, x) if real is math.sinh else math.inf
    return function


# Reference functions of opcodes that XLA:CPU refuses.
MEANING = {name: guarded(getattr(math, name), getattr(cmath, name))
           for name in ("sinh", "cosh", "asin", "acos", "asinh", "acosh", "atanh")}


def moderate(name):
    """Complex numbers for functions whose extremes differ between libraries."""
    generator = random.Random(name)
    numbers = [complex(generator.uniform(-3, 3), generator.uniform(-3, 3)) for _ in range(COUNT - 6)]
    numbers += [0.5 + 0j, 0.5j, -0.25 + 0j, 1e-3 + 1e-3j, 2 + 1e-3j, -2 - 1e-3j]
    return [element(name).encode(p) for z in numbers for p in (z.real, z.imag)]


# What the ops do to subnormals, which XLA:CPU takes for zeros.
SUBNORMAL = {
    "abs": abs, "negate": lambda x: -x, "sign": lambda x: math.copysign(1, x) if x else x, "ceil": lambda x: sign_of(math.ceil(x), x),
    "floor": lambda x: sign_of(math.floor(x), x), "sqrt": lambda x: math.sqrt(x) if x > 0 else x if x == 0 else math.nan,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.copysign(math.inf, x) if x == 0 else math.nan,
    "cbrt": math.cbrt, "copy": lambda x: x,
    "log": lambda x: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan, "exponential": math.exp, "sine": math.sin,
    "tanh": math.tanh, "exponential-minus-one": math.expm1, "log-plus-one": math.log1p,
}
SUBNORMAL_PAIRS = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y, "divide": lambda x, y: x / y,
    "maximum": lambda x, y: max((x, y), key=lambda z: (z, math.copysign(1, z))),
    "minimum": lambda x, y: min((x, y), key=lambda z: (z, math.copysign(1, z))), "remainder": math.fmod, "atan2": math.atan2,
}


def sign_of(x, like):
    """A zero with the sign of the value that was rounded to it."""
    return math.copysign(x, like)


def tiny():
    for name in ("f16", "bf16", "f32", "f64"):
        values = subnormals(name)
        for opcode, meaning in SUBNORMAL.items():
            yield Case(opcode, name, f"{name}[10]", f"{opcode}(p0)", (f"{name}[10]", values), variant="subnormals",
                       reference=by_numbers(meaning, name), tolerance=ulps(UNARY[opcode], name))
        other = element(name)
        second = [other.encode(x) for x in (2.0, 0.5, 1.0, -2.0, 0.5, 0.25, -0.5, 4.0, 1.0, 1.0)]
        for opcode, meaning in SUBNORMAL_PAIRS.items():
            yield Case(opcode, name, f"{name}[10]", f"{opcode}(p0, p1)", (f"{name}[10]", values), (f"{name}[10]", second),
                       variant="subnormals", reference=by_numbers(meaning, name), tolerance=ulps(BINARY[opcode], name))
        yield Case("compare", name, "pred[10]", "compare(p0, p1), direction=LT", (f"{name}[10]", values),
                   (f"{name}[10]", values[1:] + values[:1]), variant="subnormals",
                   reference=by_numbers(lambda x, y: x < y, name, "pred"))
        for target in ("pred", "s32", "f16", "bf16", "f32", "f64"):
            meaning = (lambda x: x != 0) if target == "pred" else (lambda x: int(x)) if target == "s32" else (lambda x: x)
            if name != "f64" or target not in ("f16", "bf16"):
                yield Case(f"convert to {target}", name, f"{target}[10]", "convert(p0)", (f"{name}[10]", values),
                           variant="subnormals", reference=by_numbers(meaning, name, target))


def mulhi(name):
    bits = BITS[name].bits
    return by_numbers(lambda a, b: a * b >> bits, name)


def unary():
    for opcode, tolerance in UNARY.items():
        for name in ARRAYS:
            shape = f"{name}[{COUNT}]"
            result = f"{PART[name]}[{COUNT}]" if opcode == "abs" and name in PART else shape
            reference, values = None, edges(name, COUNT)
            if opcode in MEANING and (name in FLOATS or name in COMPLEX):
                reference = by_numbers(MEANING[opcode], name)
            if name in COMPLEX and opcode not in EXACT:
                values = moderate(name)
            if name in INTEGERS and opcode in OF_INTEGERS:
                reference = by_numbers(functools.partial(OF_INTEGERS[opcode], BITS[name]), name)
            yield Case(opcode, name, result, f"{opcode}(p0)", (shape, values), tolerance=ulps(tolerance, name),
                       reference=reference)
            if opcode == "negate":
                yield Case(opcode, name, f"{name}[]", f"{opcode}(p0)", (f"{name}[]", tame_one(name)),
                           variant="rank 0")
                yield Case(opcode, name, f"{name}[3,0]", f"{opcode}(p0)", (f"{name}[3,0]", []), variant="empty")
                yield Case(opcode, name, f"{name}[1,2,1,2,1,2,3]{{0,2,4,6,1,3,5}}", f"{opcode}(p0)",
                           (f"{name}[1,2,1,2,1,2,3]{{6,5,4,3,2,1,0}}", ordinary(name, 24)), variant="rank 7, layouts")
    for name in ARRAYS:
        shape = f"{name}[{COUNT}]"
        for opcode in ("real", "imag"):
            yield Case(opcode, name, f"{PART.get(name, name)}[{COUNT}]", f"{opcode}(p0)", (shape, edges(name, COUNT)))
        yield Case("is-finite", name, f"pred[{COUNT}]", "is-finite(p0)", (shape, edges(name, COUNT)))


def tame_one(name):
    return ordinary(name, 1)


def binary():
    for opcode, tolerance in BINARY.items():
        for name in ARRAYS:
            left, right = pairs(name)
            reference = None
            if name in COMPLEX and opcode in ("power", "atan2", "divide", "multiply"):
                left, right = (moderate(name) * 3)[:128], (moderate(name)[20:] * 4)[:128]
            if name in COMPLEX and opcode in LEXICOGRAPHIC:
                reference = by_numbers(LEXICOGRAPHIC[opcode], name)
            if opcode in ("divide", "remainder", "power") and name in INTEGERS:
                reference = by_numbers(functools.partial(INTEGER[opcode], BITS[name]), name)
            if opcode == "mulhi" and name in INTEGERS:
                reference = mulhi(name)
            if opcode in SHIFTS and name in INTEGERS:
                reference = by_numbers(functools.partial(SHIFTS[opcode], BITS[name]), name)
            shape = f"{name}[64]"
            yield Case(opcode, name, shape, f"{opcode}(p0, p1)", (shape, left), (shape, right),
                       tolerance=ulps(tolerance, name), reference=reference)
            if opcode == "add":
                one = f"{name}[]"
                yield Case(opcode, name, one, "add(p0, p1)", (one, ordinary(name, 1, 1)), (one, ordinary(name, 1, 2)),
                           variant="rank 0")
                none = f"{name}[0,2]"
                yield Case(opcode, name, none, "add(p0, p1)", (none, []), (none, []), variant="empty")
    for name in ARRAYS:
        left, right = pairs(name)
        both = {"f32": "c64", "f64": "c128"}.get(name, "c64")
        yield Case("complex", name, f"{both}[64]", "complex(p0, p1)", (f"{name}[64]", left), (f"{name}[64]", right))


def integer_divide(form, a, b):
    if b == 0:
        return -1
    return math.trunc(a / b) if abs(a) < 1 << 52 and abs(b) < 1 << 52 else abs(a) // abs(b) * (1 if a * b >= 0 else -1)


def integer_remainder(form, a, b):
    if b == 0:
        return a
    return int(math.copysign(1, a)) * (abs(a) % abs(b))


def integer_power(form, a, b):
    if b < 0:
        return 0 if abs(a) > 1 else -1 if a == 0 else a if b % 2 else 1
    return pow(a, b, 1 << form.bits)


def lexicographic(better):
    """The complex number that comes first; the first operand if it is no number."""
    def choose(a, b):
        if a != a or (a.real == b.real and better(a.imag, b.imag)) or better(a.real, b.real):
            return a
        return b
    return choose


LEXICOGRAPHIC = {"maximum": lexicographic(lambda x, y: x > y), "minimum": lexicographic(lambda x, y: x < y)}


def complex_clamp(low, x, high):
    return LEXICOGRAPHIC["minimum"](LEXICOGRAPHIC["maximum"](x, low), high)


OF_INTEGERS = {
    "abs": lambda form, x: abs(x), "sign": lambda form, x: (x > 0) - (x < 0),
    "popcnt": lambda form, x: form.encode(x).bit_count(),
    "count-leading-zeros": lambda form, x: form.bits - form.encode(x).bit_length(),
}


SHIFTS = {
    "shift-left": lambda form, x, by: x << form.encode(by) if form.encode(by) < form.bits else 0,
    "shift-right-logical": lambda form, x, by: form.encode(x) >> form.encode(by),
    "shift-right-arithmetic": lambda form, x, by: as_signed(form, x) >> form.encode(by),
}


def as_signed(form, x):
    """The number whose sign is the first bit of x."""
    code = form.encode(x)
    return code - (1 << form.bits) if code >> form.bits - 1 else code


INTEGER = {"divide": integer_divide, "remainder": integer_remainder, "power": integer_power}


def comparisons():
    directions = ("EQ", "NE", "GE", "GT", "LE", "LT")
    for name in ARRAYS:
        left, right = pairs(name)
        shape = f"{name}[64]"
        kinds = ["", "FLOAT", "TOTALORDER"] if is_float(name) or name in COMPLEX else ["", "SIGNED", "UNSIGNED"]
        for kind in kinds:
            row = "compare" + (f" type={kind}" if kind else "")
            used = directions[:2] if name in COMPLEX else directions
            suffix = f", type={kind}" if kind else ""
            lines = [f"c{d} = pred[64] compare(p0, p1), direction={d}{suffix}" for d in used]
            yield Case(row, name, "(" + ", ".join("pred[64]" for _ in used) + ")",
                       "tuple(" + ", ".join(f"c{d}" for d in used) + ")", (shape, left), (shape, right), before=lines)


def selections():
    for name in ARRAYS:
        left, right = pairs(name)
        shape, flags = f"{name}[64]", [i % 3 == 0 for i in range(64)]
        yield Case("select", name, shape, "select(p0, p1, p2)", ("pred[64]", flags), (shape, left), (shape, right))
        for flag in (0, 1):
            yield Case("select", name, shape, "select(p0, p1, p2)", ("pred[]", [flag]), (shape, left), (shape, right),
                       variant=f"scalar {flag}")
        low, high = sorted(ordinary(name, 1, 3), key=element(name).decode), ordinary(name, 1, 9)
        if name not in COMPLEX:
            low, high = sorted(edges(name, 28)[2:4], key=element(name).decode)
            low, high = [low], [high]
        reference = by_numbers(complex_clamp, name) if name in COMPLEX else None
        yield Case("clamp", name, shape, "clamp(p0, p1, p2)", (f"{name}[]", low), (shape, left), (f"{name}[]", high),
                   variant="scalar bounds", reference=None if reference is None else spread_clamp(name))
        yield Case("clamp", name, shape, "clamp(p0, p1, p2)", (shape, low * 64 if name not in COMPLEX else right),
                   (shape, left), (shape, right if name not in COMPLEX else right[2:] + right[:2]), reference=reference)


def spread_clamp(name):
    """The reference of a clamp of a complex array by scalars."""
    def reference(low, x, high):
        count = len(x.raw) // 2
        wide = [Argument(f"{name}[{count}]", a.raw * count) for a in (low, high)]
        return by_numbers(complex_clamp, name)(wide[0], x, wide[1])
    return reference


def saturated(target, x):
    """A float as an integer: truncated, at the bounds of the type, 0 for NaN."""
    bits = BITS[target].bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if target[0] == "s" else (0, (1 << bits) - 1)
    return 0 if x != x else low if x <= low else high if x >= high else math.trunc(x)


def of_complex(target, z):
    """The real part as an integer; pred: whether either part is not 0."""
    return z != 0 if target == "pred" else saturated(target, z.real)


def stochastic(target, random_type, x, random_bits):
    """Away from zero if the random bits are below the fraction's."""
    if not math.isfinite(x):
        return saturated(target, x)
    fraction, whole = math.modf(abs(x))
    away = random_bits < math.floor(fraction * 2.0 ** BITS[random_type].bits)
    return saturated(target, math.copysign(whole + away, x))


def conversions():
    for source in ARRAYS:
        values = edges(source, COUNT)
        for target in ARRAYS:
            meaning = None
            if source in FLOATS and target in INTEGERS:
                meaning = functools.partial(saturated, target)
            elif source in COMPLEX and target in INTEGERS + ["pred"]:
                meaning = functools.partial(of_complex, target)
            yield Case(f"convert to {target}", source, f"{target}[{COUNT}]", "convert(p0)",
                       (f"{source}[{COUNT}]", values),
                       reference=by_numbers(meaning, source, target) if meaning else None)
            yield Case(f"bitcast-convert to {target}", source, *bitcast_convert(source, target),
                       reference=None if (source in COMPLEX) != (target in COMPLEX) else regrouped(target))
        if BITS[PART.get(source, source)].bits >= 16 and source not in INTEGERS:
            for exponent, mantissa in ((8, 23), (5, 10), (8, 7), (4, 3), (5, 2), (2, 1), (11, 52), (1, 0), (15, 3)):
                yield precision(source, exponent, mantissa)
        else:
            yield precision(source, 4, 3)
            yield precision(source, 2, 1)
        bits = {2: "u2", 4: "u4", 8: "u8", 16: "u16", 32: "u32", 64: "u64", 1: "u1"}[BITS[PART.get(source, source)].bits]
        for target in ARRAYS:
            to_integer = source in FLOATS and target in INTEGERS
            yield Case(f"stochastic-convert to {target}", source, f"{target}[{COUNT}]", "stochastic-convert(p0, p1)",
                       (f"{source}[{COUNT}]", values), (f"{bits}[{COUNT}]", edges(bits, COUNT)),
                       reference=by_numbers(functools.partial(stochastic, target, bits), source, target) if to_integer
                       else None)


def precision(name, exponent, mantissa):
    return Case("reduce-precision", name, f"{name}[{COUNT}]",
                f"reduce-precision(p0), exponent_bits={exponent}, mantissa_bits={mantissa}",
                (f"{name}[{COUNT}]", edges(name, COUNT)), variant=f"{exponent} {mantissa}")


def regrouped(target):
    """The reference of a bitcast-convert: the elements' bits, the lowest first, in groups of the other width; complex
    numbers are two parts."""
    def part(name):
        return WIDTHS[name] // (2 if name in COMPLEX else 1)

    def reference(a):
        width, bits = part(target), 0
        for i, x in enumerate(a.raw):
            bits |= x << i * part(a.name)
        codes = [bits >> i & (1 << width) - 1 for i in range(0, len(a.raw) * part(a.name), width)]
        return [[int(code != 0) for code in codes] if target == "pred" else codes]
    return reference


def bitcast_convert(source, target):
    """Result shape, root and argument of a bitcast-convert, which adds or drops a minor dimension."""
    wide, narrow = WIDTHS[source], WIDTHS[target]
    if wide >= narrow:
        extra = [wide // narrow] if wide > narrow else []
        dims = ",".join(map(str, [6, *extra]))
        return f"{target}[{dims}]", "bitcast-convert(p0)", (f"{source}[6]", edges(source, 6))
    ratio = narrow // wide
    values = edges(source, 6 * ratio)
    return f"{target}[6]", "bitcast-convert(p0)", (f"{source}[6,{ratio}]", values)


def rows():
    for family in (unary, binary, tiny, comparisons, selections, conversions):
        yield from family()
