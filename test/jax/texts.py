"""Runs JAX functions from both texts that JAX exports, HLO and StableHLO: results must have equal bits.

  texts.py [--tool=build/bin/hlo-run] [--every=N] [--only=REGEX] [--jobs=2] [--keep=FOLDER] [--list]

The functions are those of programs/, by topic. Each is lowered once by JAX, printed in both languages, and run by hlo-run on
the same inputs. --every=N takes every Nth. What fails is kept in --keep as NAME.hlo, NAME.mlir, NAME.npz.
The last line reads 'N passed, N failed'; exit status 1 if any failed or none ran. Needs jax (0.10.2), numpy and ml_dtypes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import numpy as np  # noqa: E402

from arrays import TYPES, stored  # noqa: E402
from programs import programs  # noqa: E402

WIDE = re.compile(r"\b(f64|c128|u64|s64)\[")


def array(text, random):
    """Values for an argument; a small share of those of no kind are special."""
    t, dims, kind = re.fullmatch(r"(\w+)\[([\d,]*)\]:?(\w*)", text).groups()
    dims, dtype = [int(d) for d in dims.split(",") if d], TYPES[t]
    if t == "pred":
        x = random.integers(0, 2, dims)
    elif kind == "index":
        x = random.integers(0, 3, dims)
    elif kind == "key":
        x = random.integers(0, 2**32, dims)
    elif kind == "small":
        x = random.integers(0, 8, dims)
    elif t[0] in "su":
        x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, dims, dtype, endpoint=True)
    elif kind == "positive":
        x = random.uniform(0.1, 3, dims)
    elif kind == "unit":
        x = random.uniform(-0.99, 0.99, dims)
    elif kind == "spd":
        x = random.standard_normal(dims)
        x = x @ np.swapaxes(x, -1, -2) + dims[-1] * np.eye(dims[-1])
    else:
        x = 2 * random.standard_normal(dims) + (2j * random.standard_normal(dims) if t[0] == "c" else 0)
        special = random.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 30.0, -30.0], dims)
        x = np.where(random.random(dims) < (0.15 if len(dims) == 1 or dims == [3, 5] else 0), special, x)
    return np.asarray(x).astype(dtype)


def export(program, folder):
    """Writes the two texts and the inputs."""
    random = np.random.default_rng(zlib.crc32(program.name.encode()))
    arguments = jax.tree.map(lambda text: array(text, random), program.arguments)
    with jax.enable_x64(bool(WIDE.search(str(program.arguments)))):
        lowered = jax.jit(program.function, keep_unused=True).lower(*arguments)
        (folder / f"{program.name}.hlo").write_text(lowered.as_text(dialect="hlo"))
        (folder / f"{program.name}.mlir").write_text(lowered.as_text())
    leaves = jax.tree.leaves(arguments)
    np.savez(folder / f"{program.name}.npz", **{f"in{i}": stored(x) for i, x in enumerate(leaves)})


def results(tool, folder, name, language):
    out = folder / f"{name}.{language}.out.npz"
    done = subprocess.run([tool, folder / f"{name}.{language}", f"--inputs={folder / name}.npz", f"--outputs={out}"],
                          capture_output=True, text=True, timeout=120, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{language}: exit {done.returncode}: {' '.join(done.stderr.split())[:300]}")
    return np.load(out)


def compare(tool, folder, name):
    """What differs, as a message; None if nothing does."""
    try:
        of_hlo, of_stablehlo = (results(tool, folder, name, language) for language in ("hlo", "mlir"))
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        return str(e)
    if of_hlo.files != of_stablehlo.files:
        return f"results {of_stablehlo.files} instead of {of_hlo.files}"
    for key in of_hlo.files:
        x, y = of_hlo[key], of_stablehlo[key]
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{key}: {y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}"
        if x.tobytes() != y.tobytes():
            count = int((x.reshape(-1).view(np.uint8) != y.reshape(-1).view(np.uint8)).reshape(max(x.size, 1), -1).any(1).sum())
            return f"{key}: {count} of {x.size} elements have other bits"
    return None


def check(tool, folder, keep, name):
    why = compare(tool, folder, name)
    for path in folder.glob(f"{name}.*"):
        if why and keep and ".out." not in path.name:
            shutil.copy(path, keep)
        path.unlink()
    return why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/bin/hlo-run")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [p for p in programs()[::options.every] if re.search(options.only, p.name)]
    if options.list:
        print("\n".join(p.name for p in chosen))
        return
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    failed, running = 0, []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(name)
        for program in chosen:
            try:
                export(program, folder)
            except Exception as e:  # JAX refuses it
                print(f"{program.name}: JAX: {type(e).__name__}: {' '.join(str(e).split())[:200]}", flush=True)
                failed += 1
                continue
            running.append((program.name, pool.submit(check, os.path.abspath(options.tool), folder, options.keep, program.name)))
        for name, future in running:
            why = future.result()
            failed += why is not None
            if why:
                print(f"{name}: {why}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0 or not chosen)


if __name__ == "__main__":
    main()
