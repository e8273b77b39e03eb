#!/usr/bin/env python3
"""Compiles an entry that is built as several functions, and compares its result with a computation here.

    long_entry.py HLO-RUN FOLDER STEPS

Each step is one launch of a kernel: a reverse reads elements that the same step overwrites. The steps do not commute,
so a part that is left out, or runs twice or at another place, changes the result.
"""
import os
import subprocess
import sys

import numpy

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
start, factor, summand = numpy.random.default_rng(0).integers(-2**31, 2**31, (3, 16), dtype=numpy.int32)
numpy.savez(os.path.join(folder, "in.npz"), in0=start, in1=factor, in2=summand)
subprocess.run([tool, path, f"--inputs={folder}/in.npz", f"--outputs={folder}/out.npz", "--threads=2"], check=True)
value = start
for _ in range(steps):
    value = value[::-1] ^ (value * factor + summand)
result = numpy.load(os.path.join(folder, "out.npz"))["out0"]
print("equal" if numpy.array_equal(result, -value) else f"differ: {result} {-value}")
