"""Element types: conversions between HLO numbers and the bits in .npz files, with Python's own library alone."""
import ast
import itertools
import math
import struct
import zipfile


class Float:
    """A float of `bits` bits: `mantissa` bits of fraction, exponent bias `bias`. `special`: "ieee" (infinities and NaN
    in the last exponent), "fn" (one NaN pattern, all mantissa bits set, no infinity), "fnuz" (the NaN is what
    would be -0), "none" (neither), "scale" (an unsigned power of two)."""

    def __init__(self, bits, mantissa, bias, special="ieee"):
        self.bits, self.mantissa, self.bias, self.special = bits, mantissa, bias, special
        self.kind = "float"
        if bits <= 8:
            self.table = [self.decode_bits(i) for i in range(1 << bits)]

    def decode_bits(self, raw):
        if self.special == "scale":
            return math.nan if raw == 255 else 2.0 ** (raw - self.bias)
        sign = -1.0 if raw >> (self.bits - 1) else 1.0
        exponent_bits = self.bits - 1 - self.mantissa
        exponent = raw >> self.mantissa & ((1 << exponent_bits) - 1)
        fraction = raw & ((1 << self.mantissa) - 1)
        last = exponent == (1 << exponent_bits) - 1
        if self.special == "ieee" and last:
            return math.nan if fraction else sign * math.inf
        if self.special == "fn" and last and fraction == (1 << self.mantissa) - 1:
            return math.nan
        if self.special == "fnuz" and raw == 1 << (self.bits - 1):
            return math.nan
        if exponent == 0:
            return sign * math.ldexp(fraction, 1 - self.bias - self.mantissa)
        return sign * math.ldexp(fraction + (1 << self.mantissa), exponent - self.bias - self.mantissa)

    def decode(self, raw):
        if self.bits <= 8:
            return self.table[raw]
        if self.bits == 16 and self.mantissa == 7:
            return struct.unpack("<f", struct.pack("<I", raw << 16))[0]
        integer, real = {16: "He", 32: "If", 64: "Qd"}[self.bits]
        return struct.unpack("<" + real, struct.pack("<" + integer, raw))[0]

    def encode(self, value):
        value = float(value)
        if self.bits <= 8:
            return self.encode_by_table(value)
        if self.bits == 16 and self.mantissa == 7:
            raw = BITS["f32"].encode(value)
            return 0x7fc0 if math.isnan(value) else (raw + 0x7fff + (raw >> 16 & 1)) >> 16
        integer, real = {16: "He", 32: "If", 64: "Qd"}[self.bits]
        try:
            data = struct.pack("<" + real, value)
        except OverflowError:
            data = struct.pack("<" + real, math.copysign(math.inf, value))
        return struct.unpack("<" + integer, data)[0]

    def encode_by_table(self, value):
        if math.isnan(value) and self.special == "ieee":  # the quiet one
            return ((1 << (self.bits - 1 - self.mantissa)) - 1) << self.mantissa | 1 << (self.mantissa - 1)
        def distance(raw):
            entry = self.table[raw]
            if math.isnan(value) or math.isnan(entry):
                return (math.isnan(value) != math.isnan(entry), 0, 0, 0)
            gap = 0 if value == entry else abs(value - entry)
            return (False, gap, math.copysign(1, value) != math.copysign(1, entry), raw & 1)
        return min(range(1 << self.bits), key=distance)

    def ordered(self, raw):
        """An integer that grows with the value; adjacent values differ by one."""
        sign = 1 << (self.bits - 1)
        return -(raw - sign) if raw & sign and self.special != "scale" else raw


class Integer:
    def __init__(self, bits, signed):
        self.bits, self.signed, self.kind = bits, signed, "integer"

    def decode(self, raw):
        raw &= (1 << self.bits) - 1
        return raw - (1 << self.bits) if self.signed and raw >> (self.bits - 1) else raw

    def encode(self, value):
        return int(value) & ((1 << self.bits) - 1)

    def ordered(self, raw):
        return self.decode(raw)


BITS = {
    "pred": Integer(1, False), "f16": Float(16, 10, 15), "bf16": Float(16, 7, 127), "f32": Float(32, 23, 127),
    "f64": Float(64, 52, 1023), "f8e5m2": Float(8, 2, 15), "f8e4m3": Float(8, 3, 7), "f8e4m3fn": Float(8, 3, 7, "fn"),
    "f8e4m3b11fnuz": Float(8, 3, 11, "fnuz"), "f8e5m2fnuz": Float(8, 2, 16, "fnuz"),
    "f8e4m3fnuz": Float(8, 3, 8, "fnuz"), "f8e3m4": Float(8, 4, 3), "f8e8m0fnu": Float(8, 0, 127, "scale"),
    "f4e2m1fn": Float(4, 1, 1, "none"),
}
for _bits in (1, 2, 4, 8, 16, 32, 64):
    BITS[f"s{_bits}"], BITS[f"u{_bits}"] = Integer(_bits, True), Integer(_bits, False)
PART = {"c64": "f32", "c128": "f64"}


def descr(name):
    """numpy's name of the type that stands for an HLO type in a file."""
    if name in PART:
        return {"c64": "<c8", "c128": "<c16"}[name]
    if name == "pred":
        return "|b1"
    if name in ("f16", "f32", "f64"):
        return "<f" + str(BITS[name].bits // 8)
    size = max(BITS[name].bits, 8) // 8
    sign = "i" if name[0] == "s" and BITS[name].bits >= 8 else "u"
    return ("|" if size == 1 else "<") + sign + str(size)


def parts(name, value):
    """The values of an element's parts: two for a complex number, otherwise one."""
    if name in PART:
        return [complex(value).real, complex(value).imag]
    return [value]


def element(name):
    """How one part of an element is encoded."""
    return BITS[PART.get(name, name)]


class Array(list):
    """Elements in row-major order; a[i, j] by index, a[k] by position."""

    def __init__(self, name, shape, values):
        super().__init__(values)
        self.name, self.shape = name, shape

    def __getitem__(self, index, at=list.__getitem__):  # bound here: most of a test's time is spent in this function
        if index.__class__ is not tuple:
            return at(self, index)
        position = 0
        for i, d in zip(index, self.shape, strict=True):
            if not 0 <= i < d:
                raise IndexError(f"{index} in {self.shape}")
            position = position * d + i
        return at(self, position)


def indices(shape):
    return itertools.product(*map(range, shape))


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}[max(element(array.name).bits, 8) // 8]
            raw = [element(array.name).encode(p) for v in array for p in parts(array.name, v)]
            header = repr({"descr": descr(array.name), "fortran_order": False, "shape": tuple(array.shape)}) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                             struct.pack(f"<{len(raw)}{code}", *raw))


def read_npz(path):
    """Name -> (descr, shape, raw bits of all parts)."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            start = 10 + struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10:start].decode())
            size = int(header["descr"][2:])
            if header["descr"][1] == "c":
                size //= 2
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
            raw = struct.unpack(f"<{(len(data) - start) // size}{code}", data[start:])
            if header["fortran_order"]:
                raise ValueError("Fortran order")
            arrays[name.removesuffix(".npy")] = (header["descr"], list(header["shape"]), raw)
    return arrays
