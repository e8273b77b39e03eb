#!/usr/bin/env python3
"""Writes the names of the functions that a compilation calls, one a line, for lld's --symbol-ordering-file.

Callgrind, of valgrind, runs the compiler on a few modules. The functions stay in the order of the program.
Without valgrind, or where it fails, the file is empty: the program is the same, its code further apart.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def called(program, module, folder):
    """The names in callgrind's profile of one compilation; nothing where it failed."""
    profile = folder / f"{module.stem}.profile"
    command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}", str(program),
               "--jobs=1", "--cpu=x86-64-v4", str(module), "-o", str(folder / f"{module.stem}.o")]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0 or not profile.exists():
        print(f"link order: {module.name}: callgrind failed: {run.stderr[-300:].strip()}", file=sys.stderr)
        return set()
    # 'fn=(12) name' where a name comes first, 'fn=(12)' from then on; cfn: the called one.
    return set(re.findall(r"^c?fn=\(\d+\) (\S+?)(?:'\d+)?$", profile.read_text(errors="replace"), re.M))


def functions(nm, program):
    """All functions of a program with names, by address."""
    listing = subprocess.run([nm, "--numeric-sort", str(program)], capture_output=True, text=True, check=True).stdout
    fields = (line.split() for line in listing.splitlines())
    return [f[2] for f in fields if len(f) == 3 and f[1] in "tTwW"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="hlo-compile, linked in any order")
    parser.add_argument("--llvm-tools", type=pathlib.Path, required=True, help="folder of llvm-nm and llvm-strip")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("modules", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    names = set()
    if shutil.which("valgrind"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            # Callgrind stops at clang's debug information; it only needs the names.
            program = folder / "program"
            subprocess.run([options.llvm_tools / "llvm-strip", "--strip-debug", "-o", program, options.program], check=True)
            for module in options.modules:
                names |= called(program, module, folder)
    else:
        print("link order: no valgrind; compilations of small modules take a tenth longer", file=sys.stderr)
    ordered = [f for f in functions(options.llvm_tools / "llvm-nm", options.program) if f in names] if names else []
    options.output.write_text("".join(f"{name}\n" for name in ordered))


if __name__ == "__main__":
    main()
