#!/usr/bin/env python3
"""Writes one file of each kind that people give to the compiler by mistake: file_kinds.py FOLDER."""
import gzip
import io
import os
import sys
import zipfile

folder = sys.argv[1]
TEXT = "HloModule m\n\nENTRY main {\n  ROOT x = f32[4]{0} parameter(0)\n}\n"


def field(number, data):
    """A length-delimited field of a protocol buffer, of less than 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def archive(name):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as z:
        z.writestr(name, b"\x93NUMPY\x01\x00")
    return data.getvalue()


module_proto = field(1, b"jit_f") + field(2, b"main.1") + field(3, b"\x0a\x06main.1\x12\x02\x0a\x00")
kinds = {
    "bitcode": b"BC\xc0\xde\x35\x14\x00\x00",
    "blank": b" \n\t\n",
    "bytecode": b"ML\xefR\x0dMLIR22.1.8\x00",
    "elf": b"\x7fELF\x02\x01\x01" + bytes(57),
    "empty": b"",
    "export": b"\x3c\x00\x00\x00\x38\x00\x60\x00" + bytes(90) + b"ML\xefR\x0dStableHLO_v1.15.0\x00",
    "gzip": gzip.compress(TEXT.encode()),
    "hloproto": field(1, module_proto) + field(3, b"\x0a\x02\x08\x01"),
    "jaxpr": b"{ lambda ; a:f32[4,4]. let\n    b:f32[4,4] = tanh a\n  in (b,) }",
    "mlir": b"module {\n  hlo.computation @main() -> tensor<f32> attributes {entry} {\n  }\n}\n",
    "moduleproto": module_proto,
    "noise": bytes((i * 37 + 11) % 256 for i in range(1000)),
    "npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n" + bytes(16),
    "npz": archive("in0.npy"),
    "onnx": b"\x08\x0a\x12\x07pytorch\x3a\x10\x0a\x0e\x0a\x01x\x12\x01y\x22\x04Tanh",
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.",
    "python": b"import jax\nprint(jax.jit(f).lower(x).as_text())\n",
    "textproto": b'hlo_module {\n  name: "jit_f"\n  entry_computation_name: "main.1"\n}\n',
    "utf16": TEXT.encode("utf-16"),
    "vhlo": b"// Written by a tool.\nmodule @jit_f {\n  vhlo.func_v1 @main() -> () {\n    \"vhlo.return_v1\"() : () -> ()\n  }\n}\n",
    "zip": archive("weights.bin"),
}
for name, data in kinds.items():
    with open(os.path.join(folder, "kind." + name), "wb") as f:
        f.write(data)
with open(os.path.join(folder, "mark.hlo"), "wb") as f:
    f.write(TEXT.encode("utf-8-sig"))
os.makedirs(os.path.join(folder, "folder.hlo"), exist_ok=True)
