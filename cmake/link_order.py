#!/usr/bin/env python3
"""Writes the names of the functions that a compilation calls, one a line, for lld's --symbol-ordering-file.

The compiler runs on a few modules with called_functions.c preloaded. The functions stay in the order of the program.
Where that fails, as on another CPU than x86-64, the file is empty: the program is the same, its code further apart.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def called(program, recorder, module, folder):
    """The names of the functions that one compilation calls; nothing where it failed."""
    names = folder / f"{module.stem}.names"
    command = [str(program), "--jobs=1", "--cpu=x86-64-v4", str(module), "-o", str(folder / f"{module.stem}.o")]
    environment = {**os.environ, "LD_PRELOAD": str(recorder), "CALLED_FUNCTIONS": str(names)}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode != 0 or not names.exists():
        print(f"link order: {module.name}: no functions recorded; compilations of small modules take a tenth longer: "
              f"{run.stderr[-300:].strip()}", file=sys.stderr)
        return set()
    return set(names.read_text().splitlines())


def functions(nm, program):
    """All functions of a program with names, by address."""
    listing = subprocess.run([nm, "--numeric-sort", str(program)], capture_output=True, text=True, check=True).stdout
    fields = (line.split() for line in listing.splitlines())
    return [f[2] for f in fields if len(f) == 3 and f[1] in "tTwW"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="hlo-compile, linked in any order")
    parser.add_argument("--recorder", required=True, help="called_functions.c as a library to preload")
    parser.add_argument("--llvm-tools", type=pathlib.Path, required=True, help="folder of llvm-nm")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("modules", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    names = set()
    with tempfile.TemporaryDirectory() as folder:
        for module in options.modules:
            names |= called(options.program, options.recorder, module, pathlib.Path(folder))
    ordered = [f for f in functions(options.llvm_tools / "llvm-nm", options.program) if f in names] if names else []
    options.output.write_text("".join(f"{name}\n" for name in ordered))


if __name__ == "__main__":
    main()
