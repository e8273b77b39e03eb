#!/usr/bin/env python3
"""Compiles the benchmark modules with two builds of hlo-compile and compares the objects byte by byte.

  objects.py OLD-HLO-COMPILE NEW-HLO-COMPILE [--cpus=x86-64-v3,x86-64-v4] [--filter=REGEX] [--sample=N] [--jobs=1]

A change that moves code without changing what is generated leaves every object as it was. Prints each module and CPU
whose object, or whose way to fail, differs; the last line reads 'N equal, N differ'. Exit status 1 if any differs.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

CPUS = "x86-64,x86-64-v3,x86-64-v4,sapphirerapids,znver5"
TIMEOUT = 300

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("old")
parser.add_argument("new")
parser.add_argument("--cpus", default=CPUS, help=f"names for --cpu (default: {CPUS})")
parser.add_argument("--filter", default="", help="only modules whose names match")
parser.add_argument("--sample", type=int, default=0, help="only so many modules, evenly spread over their names")
parser.add_argument("--jobs", type=int, default=1)
options = parser.parse_args()


def compiled(tool, module, cpu, path):
    """The object's bytes; after an error its text."""
    command = [tool, module, f"--cpu={cpu}", "--jobs=1", "-o", path]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return b"no answer"
    if done.returncode != 0:
        return b"exit %d: " % done.returncode + done.stderr
    with open(path, "rb") as file:
        return file.read()


def differs(case):
    """A description of the difference; None if both builds make the same object or fail alike."""
    module, cpu = case
    with tempfile.TemporaryDirectory() as folder:
        # Both builds get the same path, although it is not part of the object.
        path = os.path.join(folder, "module.o")
        old, new = (compiled(tool, module, cpu, path) for tool in (options.old, options.new))
    if old == new:
        return None
    sizes = f"{len(old)} and {len(new)} bytes"
    for side, content in (("old", old), ("new", new)):
        if not content.startswith(b"\x7fELF"):
            sizes += f"; {side}: " + content.decode(errors="replace")[:200]
    return sizes


def spread(items, count):
    """`count` of the items, evenly spread; all if there are no more."""
    return [items[i * len(items) // count] for i in range(count)] if 0 < count < len(items) else items


here = os.path.dirname(os.path.abspath(__file__))
found = sorted(glob.glob(os.path.join(here, "modules", "*.hlo")))
modules = spread([path for path in found if re.search(options.filter, os.path.basename(path))], options.sample)
cases = [(module, cpu) for module in modules for cpu in options.cpus.split(",")]
different = 0
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for (path, name), difference in zip(cases, pool.map(differs, cases)):
        if difference:
            different += 1
            print(f"{os.path.basename(path)} for {name}: {difference}", flush=True)
print(f"{len(cases) - different} equal, {different} differ")
sys.exit(1 if different or not cases else 0)
