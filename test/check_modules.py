#!/usr/bin/env python3
"""Runs hlo-compile --check over the shared texts.

  check_modules.py HLO_COMPILE SHARED

Texts that XLA's parser takes must pass --check=syntax, texts that it refuses must be refused with a position, and all
golden modules and models must pass --check. The last line reads 'N passed, N failed'.
"""
import concurrent.futures
import glob
import re
import subprocess
import sys

tool, shared = sys.argv[1:3]


def run(job):
    path, mode, accepted = job
    r = subprocess.run([tool, path, mode], capture_output=True, text=True, errors="replace", timeout=120)
    if accepted:
        return r.returncode == 0, path, r.stderr
    return r.returncode == 1 and re.search(r"^[^\n]*:\d+:\d+: error: ", r.stderr, re.M), path, r.stderr


folders = [("conformance/parser/accept", "--check=syntax", True), ("conformance/parser/reject", "--check=syntax", False)]
folders += [(f"conformance/{name}", "--check", True) for name in ("interpret", "random", "stablehlo", "xla_tests")] + [("models", "--check", True)]
jobs, empty = [], []
for folder, mode, accepted in folders:
    paths = glob.glob(f"{shared}/{folder}/*.hlo")
    jobs += [(path, mode, accepted) for path in paths]
    empty += [] if paths else [folder]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = list(pool.map(run, sorted(jobs)))
failed = [r for r in results if not r[0]]
for _, path, message in failed:
    print(f"{path.rsplit('/', 2)[-2]}/{path.rsplit('/', 1)[-1]}: {' '.join(message.split())[:200]}")
for folder in empty:
    print(f"{folder}: there are no texts")
print(f"{len(results) - len(failed)} passed, {len(failed) + len(empty)} failed")
sys.exit(1 if failed or empty else 0)
