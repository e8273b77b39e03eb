#!/usr/bin/env python3
"""Compiles and runs every benchmark module once, so that none of them breaks unnoticed. Nothing is timed, and XLA is not needed.

  check.py --tool=build/bin/hlo-run [--jobs=2]

The last line reads 'N passed, N failed'. run.py compares the modules' results with XLA's.
"""
import argparse
import concurrent.futures
import glob
import os
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--tool", required=True)
parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
options = parser.parse_args()


def run(module):
    """The reason why a module failed; None if it did not."""
    try:
        done = subprocess.run([options.tool, module, "--json", "--jobs=1", "--guard-pages=after"], capture_output=True, text=True, errors="replace", timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "no answer in 120 s"
    return None if done.returncode == 0 else f"exit {done.returncode}: " + " ".join(done.stderr.split())[:200]


modules = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules", "*.hlo")))
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    answers = list(pool.map(run, modules))
for module, answer in zip(modules, answers):
    if answer:
        print(f"{os.path.basename(module)}: {answer}")
failed = sum(answer is not None for answer in answers)
print(f"{len(modules) - failed} passed, {failed} failed")
sys.exit(1 if failed or not modules else 0)
