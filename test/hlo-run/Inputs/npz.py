"""Makes and shows .npz files with Python's own library alone.

  npz.py make OUT.npz NAME DESCR SHAPE V,V,...  [NAME DESCR SHAPE V,V,...]...
  npz.py store OUT.npz ...  the same, not compressed
  npz.py show IN.npz       one line per array: NAME DESCR SHAPE VALUES

DESCR is numpy's, e.g. <f4; SHAPE is dims joined by x, '-' for a scalar, with a final F for Fortran order;
values are in the order of the file.
"""
import ast
import struct
import sys
import zipfile

CODES = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
         "u8": "Q", "b1": "?", "V2": "H", "V1": "B"}


def code(descr):
    return ("<" if descr[0] == "|" else descr[0]), CODES[descr[1:]]


def make(path, fields, method):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, descr, shape, values in zip(*[iter(fields)] * 4):
            fortran = shape.endswith("F")
            dims = tuple(int(d) for d in shape.rstrip("F").split("x")) if shape != "-" else ()
            order, kind = code(descr)
            numbers = [float(v) if kind in "fd" else int(v) for v in values.split(",") if v]
            header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {dims}, }}\n".encode()
            data = struct.pack(f"{order}{len(numbers)}{kind}", *numbers)
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def show(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            raw = archive.read(name)
            size = struct.unpack("<H", raw[8:10])[0]
            assert raw[:8] == b"\x93NUMPY\x01\x00" and (10 + size) % 64 == 0
            header = ast.literal_eval(raw[10:10 + size].decode())
            order, kind = code(header["descr"])
            count = (len(raw) - 10 - size) // struct.calcsize(kind)
            values = struct.unpack(f"{order}{count}{kind}", raw[10 + size:])
            shape = "x".join(map(str, header["shape"])) or "-"
            print(name.removesuffix(".npy"), header["descr"], shape, *values)


if sys.argv[1] in ("make", "store"):
    make(sys.argv[2], sys.argv[3:], zipfile.ZIP_DEFLATED if sys.argv[1] == "make" else zipfile.ZIP_STORED)
else:
    show(sys.argv[2])
