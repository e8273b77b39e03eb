"""Element types: HLO's, numpy's, and the packed form of those below a byte."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# HLO's name, numpy's or ml_dtypes' name, and the type of the raw bits where ml_dtypes is absent; by hlo_type.
_TABLE = """
pred bool
s1 int1 u1
s2 int2 u1
s4 int4 u1
s8 int8
s16 int16
s32 int32
s64 int64
u1 uint1 u1
u2 uint2 u1
u4 uint4 u1
u8 uint8
u16 uint16
u32 uint32
u64 uint64
f16 float16
bf16 bfloat16 u2
f32 float32
f64 float64
c64 complex64
c128 complex128
f8e5m2 float8_e5m2 u1
f8e4m3 float8_e4m3 u1
f8e4m3fn float8_e4m3fn u1
f8e4m3b11fnuz float8_e4m3b11fnuz u1
f8e5m2fnuz float8_e5m2fnuz u1
f8e4m3fnuz float8_e4m3fnuz u1
f8e3m4 float8_e3m4 u1
f8e8m0fnu float8_e8m0fnu u1
f4e2m1fn float4_e2m1fn u1
f6e2m3fn float6_e2m3fn u1
f6e3m2fn float6_e3m2fn u1
"""


class ElementType(NamedTuple):
    """How elements of a type look in numpy and in a buffer of the module."""
    name: str  # HLO's
    dtype: np.dtype  # of the arrays that callers pass and get
    bits: int  # of an element in a buffer; below 8, elements are packed
    signed: bool  # a packed integer with sign


def _element_type(row: str) -> ElementType:
    name, numpy_name, *raw = row.split()
    bits = {"pred": 8, "c64": 64, "c128": 128, "bf16": 16}.get(name)
    if bits is None:
        digits = name[1:].split("e")[0]
        bits = 8 if digits == "6" else int(digits)
    if not raw:
        dtype = np.dtype(numpy_name)
    else:
        dtype = np.dtype(getattr(ml_dtypes, numpy_name, raw[0]) if ml_dtypes else raw[0])
    return ElementType(name, dtype, bits, bits < 8 and name[0] == "s")


TYPES: tuple[ElementType | None, ...] = (None, *map(_element_type, _TABLE.split("\n")[1:-1]))


def pack(array: np.ndarray, element: ElementType) -> np.ndarray:
    """The bytes of an array of a type below 8 bits: the first element in the lowest bits of the first byte."""
    if array.dtype.kind == "V" and element.name[0] in "su":
        array = array.astype(np.int8)  # ml_dtypes' integers
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << element.bits) - 1)
    per_byte = 8 // element.bits
    padded = np.zeros((-(-raw.size // per_byte), per_byte), np.uint8)
    padded.reshape(-1)[:raw.size] = raw
    return np.bitwise_or.reduce(padded << (np.arange(per_byte, dtype=np.uint8) * element.bits), axis=1, dtype=np.uint8)


def unpack(data: np.ndarray, element: ElementType, shape: tuple[int, ...]) -> np.ndarray:
    """The array whose packed bytes are `data`."""
    per_byte = 8 // element.bits
    shifts = np.arange(per_byte, dtype=np.uint8) * element.bits
    raw: Any = ((data[:, None] >> shifts) & ((1 << element.bits) - 1)).astype(np.uint8).reshape(-1)
    raw = raw[:int(np.prod(shape))].reshape(shape)
    if element.dtype == np.uint8:
        return raw
    if element.name[0] == "f":
        return raw.view(element.dtype)
    if element.signed:
        sign = 1 << (element.bits - 1)
        raw = ((raw ^ sign).astype(np.int8) - np.int8(sign)).astype(np.int8)
    return raw.astype(element.dtype)
