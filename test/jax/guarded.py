"""Calls of functions with symbolic sizes with random sizes, every buffer between pages without access (guarded.c).

  guarded.py [--build DIR] [--only REGEX] [--every N] [--calls N] [--seed N] [--versions N] [--keep DIR]

Every Nth function of symbolic_functions.py is exported as StableHLO and compiled, with at most so many versions of the
program for its sizes; the calls are spread over them. Sizes are 0, 1, the bound, one more, negative or in between.
Prints a line for each call that touches what it must not, or whose status is wrong. The last line reads 'N passed, N
failed', of calls.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax  # noqa: E402
from jax import export  # noqa: E402

import symbolic_functions  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--build", default="build")
ap.add_argument("--only", default="")
ap.add_argument("--every", type=int, default=5)
ap.add_argument("--calls", type=int, default=10000)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--versions", type=int, default=9)
ap.add_argument("--keep")
args = ap.parse_args()


def exported(name):
    f, specs, _, where, _ = symbolic_functions.CASES[name]
    scope = export.SymbolicScope(where)
    types = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind) for shape, kind in specs]
    return export.export(jax.jit(f))(*types).mlir_module()


def check(name, number, calls, driver, folder):
    """The counts of good and bad calls of one function."""
    def path(suffix):
        return os.path.join(folder, name + suffix)

    with open(path(".mlir"), "w") as file:
        file.write(exported(name))
    bound = max(max(size.values()) for size in symbolic_functions.CASES[name][2])
    build = os.path.abspath(args.build)
    # Weak references alone would not load the library.
    found = os.path.exists(os.path.join(build, "lib/libhlo_lapack.so"))
    lapack = ["-Wl,--no-as-needed", "-l:libhlo_lapack.so"] if found else []
    commands = [
        [os.path.join(build, "bin/hlo-compile"), path(".mlir"), "-o", path(".o"), f"--name=f_{name}", f"--bound=all<={bound}",
         f"--size-versions={args.versions}", "--jobs=1"],
        ["cc", "-shared", path(".o"), "-o", path(".so"), "-L" + os.path.join(build, "lib"), "-lhlo_rt", "-lm", *lapack],
        [driver, path(".so"), "f_" + name, str(calls), str(args.seed + number)]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace",
                              env={**os.environ, "LD_LIBRARY_PATH": os.path.join(build, "lib")})
        if done.returncode:
            break
    found = re.fullmatch(r"(\d+) calls, (\d+) succeeded, \d+ were refused, (\d+) wrong\n", done.stdout)
    if not found:
        print(f"{name}: exit {done.returncode}: {' '.join((done.stdout + done.stderr).split())[:300]}")
        return 0, calls
    print("".join(done.stderr.splitlines(True)[:5]), end="", flush=True)
    if not int(found[2]):
        print(f"{name}: no call succeeded")
    wrong = int(found[3]) if int(found[2]) else calls
    return calls - wrong, wrong


names = [name for name in symbolic_functions.CASES if re.search(args.only, name)][::args.every]
passed = failed = 0
with tempfile.TemporaryDirectory() as temporary:
    folder = args.keep or temporary
    os.makedirs(folder, exist_ok=True)
    driver = os.path.join(folder, "guarded")
    build = os.path.abspath(args.build)
    subprocess.run(["cc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", os.path.join(HERE, "guarded.c"), "-o", driver,
                    "-I" + os.path.join(HERE, "../../runtime/abi"), "-L" + os.path.join(build, "lib"), "-lhlo_rt", "-ldl"],
                   check=True)
    for number, name in enumerate(names):
        good, bad = check(name, number, -(-args.calls // len(names)), driver, folder)
        passed += good
        failed += bad
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or not names)
