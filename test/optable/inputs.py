"""Inputs of the cells: raw bits of values that operations are likely to get wrong, for every element type."""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from values import BITS, PART, element, parts  # noqa: E402  (test/e2e)

FLOATS = ("f16 bf16 f32 f64 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4 f8e8m0fnu "
          "f4e2m1fn").split()
SIGNED = "s1 s2 s4 s8 s16 s32 s64".split()
UNSIGNED = "u1 u2 u4 u8 u16 u32 u64".split()
COMPLEX = ["c64", "c128"]
INTEGERS = SIGNED + UNSIGNED
ARRAYS = ["pred"] + INTEGERS + FLOATS + COMPLEX
TYPES = ARRAYS + ["token"]


def is_float(name):
    return name in FLOATS


def largest(name):
    """The largest finite value of a float type."""
    form = element(name)
    if form.bits <= 8:
        return max(x for x in form.table if math.isfinite(x))
    exponent_bits = form.bits - 1 - form.mantissa
    return form.decode((((1 << exponent_bits) - 1) << form.mantissa) - 1)


def raw(name, values):
    """Values (numbers; complex ones for complex types) as raw bits, part by part."""
    return [element(name).encode(p) for v in values for p in parts(name, v)]


def converted(name, value):
    """The raw bits of a number (or of a part of one) after a conversion; an overflow gives infinity, NaN or, for f4, the largest number."""
    form = element(name)
    if form.kind != "float" or form.bits > 8:
        return form.encode(value)
    if form.special == "none" and math.isnan(value):
        return 1 << (form.bits - 1)
    if form.special == "scale":
        mantissa, exponent = math.frexp(value) if value > 0 else (math.nan, 0)
        return form.encode(math.ldexp(1, exponent - (mantissa < 0.75))) if mantissa == mantissa else 255
    if math.isnan(value):
        return form.encode(value)
    most = largest(name)
    code = form.encode(most)
    limit = most + (most - form.decode(code - 1)) / 2
    if abs(value) > limit or (abs(value) == limit and code & 1):
        special = {"ieee": math.copysign(math.inf, value), "none": math.copysign(most, value)}
        return form.encode(special.get(form.special, math.nan))
    return form.encode(value)


def float_specials(name):
    """Raw bits of the special values of a float type: zeros, units, infinities, NaN, subnormals, bounds."""
    form = element(name)
    most = largest(name)
    listed = [form.encode(x) for x in (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, most, -most)]
    return listed + ([] if flushed(name) else [1, 1 << form.mantissa, 1 | 1 << (form.bits - 1)])


def flushed(name):
    """Whether XLA:CPU flushes this type's subnormals; they then have cells of their own."""
    return name in ("bf16", "f32", "f64", "f8e8m0fnu")


def usable(name, code):
    """Whether x is neither a NaN with an unusual payload nor a subnormal that XLA:CPU flushes."""
    form = element(name)
    if form.kind != "float":
        return True
    value = form.decode(code)
    if math.isnan(value):
        return code == form.encode(math.nan)
    return not (flushed(name) and (code & (1 << (form.bits - 1)) - 1) >> form.mantissa == 0 and value != 0)


def edges(name, count):
    """`count` raw elements: the special values first, then ordinary ones, then pseudo-random bits."""
    if name in PART:
        return complex_edges(name, count)
    form = element(name)
    generator = random.Random(name)
    if name == "pred":
        return [i * 5 % 3 & 1 for i in range(count)]
    if form.kind == "integer":
        low = -(1 << (form.bits - 1))
        numbers = [0, 1, -1, low, low + 1, ~low, -low, 2, 3, 5, 7, -2, -3, -5, 10, 12, 46, 100, -100, 77]
        codes = [form.encode(x) for x in numbers]
    else:
        numbers = [0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 3.14159, -7.25, 100, -1000, 1e-5, 0.999, 20.3, -80.5]
        codes = float_specials(name) + [form.encode(x) for x in numbers]
    codes = [code for code in dict.fromkeys(codes) if usable(name, code)]
    while len(codes) < count:
        code = generator.getrandbits(form.bits)
        if usable(name, code):
            codes.append(code)
    return codes[:count]


def complex_edges(name, count):
    """Raw parts of `count` complex numbers: ordinary ones in every quadrant and on the axes, then extremes."""
    inf, nan = math.inf, math.nan
    numbers = [(1, 2), (-1, 2), (1, -2), (-1, -2), (0, 0), (-0.0, 0), (0, -0.0), (1, 0), (-1, 0), (-1, -0.0), (0, 1),
               (0, -1), (0.5, 0.25), (-3, 4), (2, 0), (-2, -0.0), (1e-3, 1e-3), (30, 1), (inf, 1), (1, inf), (nan, 1),
               (1, nan), (-inf, 0), (inf, inf), (nan, nan), (1e10, -1e10), (0.999, 0.001), (-0.5, 0.3)]
    generator = random.Random(name)
    while len(numbers) < count:
        numbers.append((generator.uniform(-4, 4), generator.uniform(-4, 4)))
    form = element(name)
    return [form.encode(p) for pair in numbers[:count] for p in pair]


def subnormals(name):
    """Raw elements around the smallest normal number."""
    form = element(name)
    sign, normal = 1 << (form.bits - 1), 1 << form.mantissa
    return [1, 1 | sign, 5, normal - 1, (normal - 1) | sign, normal, normal | sign, normal >> 1, 0, sign]


def pairs(name, count=64):
    """Two lists of `count` raw elements: special values against each other, then ordinary pairs."""
    width = 2 if name in PART else 1
    if name in PART:
        few = raw(name, [1 + 2j, -3 + 0.5j, 0j, complex(math.inf, 1), complex(1, math.nan), -2 + 0j])
    elif element(name).kind == "integer":
        form = element(name)
        few = [form.encode(x) for x in (0, 1, -1, 1 << (form.bits - 1), (1 << (form.bits - 1)) - 1, 3, -2)]
    else:
        numbers = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]
        few = raw(name, [1, 2, 4, 0.5, 8, 0.25, math.nan] if name == "f8e8m0fnu" else numbers)
    few = [few[i:i + width] for i in range(0, len(few), width)]
    more = edges(name, 40)
    if flushed(name):  # a quotient by the largest number would be a subnormal
        more = [code for code in more if element(name).decode(code) != -largest(name)]
    more = [more[i:i + width] for i in range(0, len(more), width)]
    left = [a for a in few for _ in few] + [more[i % len(more)] for i in range(count)]
    right = [b for _ in few for b in few] + [more[(i * 7 + 3) % len(more)] for i in range(count)]
    return sum(left[:count], []), sum(right[:count], [])


def tame(name, count, seed=0, positive=False):
    """Raw bits of small numbers: their sums and products are exact in most types."""
    if name == "pred":
        return [(i * 3 + seed) % 5 % 2 for i in range(count)]
    generator = random.Random(f"{name}{seed}")

    def number():
        if name == "f8e8m0fnu":
            return 2.0 ** generator.randint(-1, 2)
        if name == "f4e2m1fn":
            return generator.choice([0.5, 1, 1.5, 2] + ([] if positive else [-1, -0.5, 0]))
        low = 0 if name[0] == "u" or name == "pred" else -3
        if name in ("s1", "u1", "s2", "u2"):
            return generator.randint(*{"s1": (-1, 0), "u1": (0, 1), "s2": (-2, 1), "u2": (0, 3)}[name])
        return generator.randint(1 if positive else low, 3)
    numbers = []
    for _ in range(count):
        numbers.append(complex(number(), number()) if name in PART else number())
    return raw(name, numbers)


def ordinary(name, count, seed=0, low=-2.0, high=2.0):
    """Raw bits of pseudo-random reals (or small integers)."""
    if name == "pred" or element(name).kind == "integer":
        return tame(name, count, seed)
    generator = random.Random(f"{name}{seed}")
    width = 2 if name in PART else 1
    numbers = [generator.uniform(low, high) for _ in range(count * width)]
    return [element(name).encode(abs(x) if name == "f8e8m0fnu" else x) for x in numbers]


def units(name, count):
    """Raw bits of numbers whose products are small: mostly one, with a few twos and signs."""
    values = [1, 1, 2, 1, 1, 1, 1, 0.5, 1, 1] if is_float(name) else [1, 1, 2, 1, 1]
    if name in ("s1", "u1", "s2", "pred"):
        values = [1]
    numbers = [values[i % len(values)] * (-1 if i % 3 == 0 and name[0] != "u" and name not in ("pred", "f8e8m0fnu") else 1)
               for i in range(count)]
    return raw(name, [complex(x, 0) if name in PART else x for x in numbers])
