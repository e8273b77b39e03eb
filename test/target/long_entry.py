#!/usr/bin/env python3
"""Compiles an entry that is built as several functions, and compares its result with a computation here.

    long_entry.py HLO-RUN FOLDER STEPS

Each step is one launch of a kernel: a reverse reads elements that the same step overwrites. The steps do not commute,
so a part that is left out, or runs twice or at another place, changes the result.
"""
import os
import random
import struct
import subprocess
import sys
import zipfile


def array_file(values):
    """An .npy file of int32 values: version 1.0, the header padded with blanks to a multiple of 64 bytes."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},)}}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}i", *values)


def wrapped(value):
    """The value modulo 2^32, as an int32."""
    return (value + 2**31) % 2**32 - 2**31


tool, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.makedirs(folder, exist_ok=True)
lines = ["HloModule m\nENTRY e {\n  v0 = s32[16] parameter(0)\n"
         "  m = s32[16] parameter(1)\n  k = s32[16] parameter(2)\n"]
for i in range(steps):
    lines.append(f"  a{i} = s32[16] reverse(v{i}), dimensions={{0}}\n  p{i} = s32[16] multiply(v{i}, m)\n"
                 f"  b{i} = s32[16] add(p{i}, k)\n  v{i + 1} = s32[16] xor(a{i}, b{i})\n")
path = os.path.join(folder, "chain.hlo")
with open(path, "w") as file:
    file.write("".join(lines) + f"  ROOT r = s32[16] negate(v{steps})\n}}\n")
generator = random.Random(0)
start, factor, summand = ([generator.randrange(-2**31, 2**31) for _ in range(16)] for _ in range(3))
with zipfile.ZipFile(os.path.join(folder, "in.npz"), "w") as archive:
    for i, values in enumerate((start, factor, summand)):
        archive.writestr(f"in{i}.npy", array_file(values))
subprocess.run([tool, path, f"--inputs={folder}/in.npz", f"--outputs={folder}/out.npz", "--threads=2"], check=True)
value = start
for _ in range(steps):
    value = [wrapped(a ^ wrapped(v * k + b)) for a, v, k, b in zip(reversed(value), value, factor, summand)]
expected = [wrapped(-v) for v in value]
with zipfile.ZipFile(os.path.join(folder, "out.npz")) as archive:
    result = list(struct.unpack("<16i", archive.read("out0.npy")[-64:]))
print("equal" if result == expected else f"differ: {result} {expected}")
