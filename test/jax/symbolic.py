"""Exports functions with symbolic sizes as StableHLO, runs them through hlo-run at several sizes, and compares with JAX.

  symbolic.py [--build DIR] [--only REGEX] [--every N] [--keep DIR] [--json FILE]

For each function of symbolic_functions.py: one text, and for each of its sizes one run of
`hlo-run TEXT --bound=all<=N --inputs= --outputs=`, where N is the largest size that the function is called with, with
inaccessible pages after or before the buffers, which are dense for the sizes. In every second run arrays without
symbols are prepared as immutable parameters. Results must have JAX's shapes, integers
JAX's values, and floats differ by at most 2e-5 of the largest one (2e-2 for 16 bits). Prints a line for each failure.
--every takes every Nth function. The last line reads 'N passed, N failed', of runs.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402

import symbolic_functions  # noqa: E402
from arrays import stored  # noqa: E402

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--build", default="build")
ap.add_argument("--only", default="")
ap.add_argument("--every", type=int, default=1)
ap.add_argument("--keep")
ap.add_argument("--json")
args = ap.parse_args()


def value(dims, kind, random, high):
    if kind == "bool":
        return random.random(dims) < 0.5
    if kind in ("int32", "uint8", "uint32"):
        return random.integers(0, high, dims).astype(kind)
    return (random.integers(-64, 64, dims) / 16).astype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)


def difference(got, wanted):
    """What is wrong with one result; empty if nothing is."""
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    narrow = wanted.dtype in (np.float16, ml_dtypes.bfloat16)
    if wanted.dtype == ml_dtypes.bfloat16:
        got, wanted = (x.view(ml_dtypes.bfloat16).astype(np.float32) for x in (got, wanted))
    tolerance = 2e-2 if narrow else 2e-5 if wanted.dtype.kind in "fc" else 0
    finite = np.abs(wanted.astype(np.complex128))[np.isfinite(wanted)] if tolerance else np.zeros(0)
    scale = float(finite.max()) if finite.size else 0
    if np.allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return ""
    return f"differs by {np.nanmax(np.abs(got.astype(float) - wanted.astype(float)))}"


def run(name, folder):
    """One line for each failure of a function, and the number of runs."""
    f, specs, sizes, where, high = symbolic_functions.CASES[name]
    path = os.path.join(folder, name + ".mlir")
    try:
        scope = export.SymbolicScope(where)
        types = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind) for shape, kind in specs]
        exported = export.export(jax.jit(f))(*types)
    except Exception as error:
        return [f"{name}: JAX does not export it: {str(error).splitlines()[0][:120]}"], 1
    with open(path, "w") as file:
        file.write(exported.mlir_module())
    bound = max(max(size.values()) for size in sizes)
    failures = []
    fixed = [i for i, (shape, _) in enumerate(specs) if not re.search("[a-z]", shape)]
    for number, size in enumerate(sizes):
        random = np.random.default_rng(zlib.crc32(f"{name} {number}".encode()))
        given = [value([int(eval(d, {}, size)) for d in shape.split(",") if d.strip()], kind, random, high)
                 for shape, kind in specs]
        wanted = [np.asarray(x) for x in jax.tree.leaves(jax.jit(f)(*given))]
        inputs, outputs = (os.path.join(folder, f"{name}.{number}.{side}.npz") for side in ("in", "out"))
        np.savez(inputs, **{f"in{i}": stored(x) for i, x in enumerate(given)})
        immutable = ["--immutable-params=" + ",".join(map(str, fixed))] if fixed and number % 2 else []
        try:
            done = subprocess.run([os.path.join(args.build, "bin/hlo-run"), path, f"--bound=all<={bound}",
                                   f"--inputs={inputs}", f"--outputs={outputs}", "--jobs=1",
                                   "--guard-pages=" + ("after", "before")[number % 2], *immutable],
                                  capture_output=True, text=True, timeout=120, errors="replace")
        except subprocess.TimeoutExpired:
            failures.append(f"{name} {size}: no answer in 120 s")
            continue
        if done.returncode:
            failures.append(f"{name} {size}: exit {done.returncode}: {' '.join(done.stderr.split())[:300]}")
            continue
        with np.load(outputs) as got:
            for i, x in enumerate(wanted):
                if why := difference(got[f"out{i}"], x):
                    failures.append(f"{name} {size}: out{i}: {why}")
    return failures, len(sizes)


names = [name for name in symbolic_functions.CASES if re.search(args.only, name)][::args.every]
with tempfile.TemporaryDirectory() as temporary:
    folder = args.keep or temporary
    os.makedirs(folder, exist_ok=True)
    results = {}
    runs = failed = 0
    for name in names:
        results[name], count = run(name, folder)
        runs += count
        failed += min(len(results[name]), count)
        for line in results[name]:
            print(line, flush=True)
if args.json:
    with open(args.json, "w") as file:
        json.dump(results, file, indent=1)
print(f"{runs - failed} passed, {failed} failed")
sys.exit(any(results.values()) or not names)
