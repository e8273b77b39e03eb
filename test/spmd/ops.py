#!/usr/bin/env python3
"""Single operations with random shardings on several partitions, against the same modules on one device.

  ops.py --tool=build/bin/hlo-run [--filter=REGEX] [--seed=1] [--count=1] [--jobs=2] [--keep=DIR]

Each case of cases.py (--filter: of these opcodes) --count times: a number of partitions from 2 to 8, and shardings of
parameters and results that split any dimension any number of times, even ones of size 1. Prints what differs; --keep holds
the modules that fail. The last line reads 'N passed, N failed'.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

from cases import CASES

TYPES = {"f32": np.float32, "s32": np.int32, "s8": np.int8, "u8": np.uint8, "c64": np.complex64, "pred": np.bool_}
PARAMETER = re.compile(r"  (\w+) = (\w+)\[([\d,]*)\] parameter\((\d+)\)$")
ROOT = re.compile(r"  ROOT (\w+) = (\([^)]*\)|\S+) ")


def sizes_of(text):
    return [int(size) for size in text.split(",") if size]


def sharding(r, partitions, sizes):
    """A sharding of an array: each prime factor of the number of partitions splits a dimension, or none."""
    counts, rest, copies = [1] * len(sizes), partitions, 1
    for prime in (2, 3, 5, 7):
        while rest % prime == 0:
            rest //= prime
            if sizes and r.random() < 0.75:
                counts[r.randrange(len(sizes))] *= prime
            else:
                copies *= prime
    if copies == partitions:
        return "{replicated}"
    tiles = ",".join(str(n) for n in counts + [copies] * (copies > 1))
    return "{devices=[%s]<=[%d]%s}" % (tiles, partitions, " last_tile_dim_replicate" if copies > 1 else "")


def annotate(text, choose):
    """The module with the shardings that `choose(sizes)` gives to parameters and results; without any if it is None."""
    head, entry = text.split("ENTRY", 1)
    lines = []
    for line in entry.splitlines():
        root = ROOT.match(line)
        if not root:
            parameter = PARAMETER.match(line)
            lines.append(line + (", sharding=" + choose(sizes_of(parameter[3])) if choose and parameter else ""))
            continue
        shapes = [re.sub(r"\{.*", "", s) for s in re.findall(r"\w+\[[\d,]*\](?:\{[\d,]*\})?", root[2])]
        lines.append(line.replace("ROOT ", ""))
        results = [f"result{i}" for i in range(len(shapes))]
        for i, shape in enumerate(shapes):
            source = f"get-tuple-element({root[1]}), index={i}" if root[2].startswith("(") else f"copy({root[1]})"
            lines.append(f"  {results[i]} = {shape} {source}")
        shardings = [choose(sizes_of(re.search(r"\[(.*)\]", s)[1])) for s in shapes] if choose else []
        lines.append(f"  ROOT results = ({', '.join(shapes)}) tuple({', '.join(results)})" +
                     (", sharding={%s}" % ", ".join(shardings) if choose else ""))
    return head + "ENTRY" + "\n".join(lines) + "\n"


def inputs_of(text, seed):
    g = np.random.default_rng(seed)
    arrays = {}
    for line in text.split("ENTRY", 1)[1].splitlines():
        if parameter := PARAMETER.match(line):
            _, element, sizes, number = parameter.groups()
            sizes = tuple(sizes_of(sizes))
            if element == "pred":
                values = g.random(sizes) < 0.7
            elif element in ("f32", "c64"):
                values = g.standard_normal(sizes) + (1j * g.standard_normal(sizes) if element == "c64" else 0)
            else:
                values = g.integers(0 if element == "u8" else -9, 9, sizes)
            arrays["in" + number] = np.asarray(values).astype(TYPES[element])
    return arrays


def difference(whole, shards, tolerance):
    """What differs first; "" if nothing does."""
    for name in whole.files:
        x, y = whole[name], shards[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{name}: {y.dtype}{y.shape} instead of {x.dtype}{x.shape}"
        if tolerance == 0 or x.dtype.kind not in "fc":
            same = x == y
        else:
            finite = np.abs(x[np.isfinite(x)])
            same = np.isclose(x, y, rtol=tolerance, atol=tolerance * (finite.max() if finite.size else 1), equal_nan=True)
        if not np.all(same):
            at = tuple(int(i[0]) for i in np.nonzero(~np.atleast_1d(same)))
            return f"{name}{list(at)}: {np.atleast_1d(y)[at]} instead of {np.atleast_1d(x)[at]}"
    return ""


def run(options, number, seed):
    """The failure of a case, "" if it passes."""
    opcode, text, tolerance = CASES[number]
    r = random.Random(f"{seed} {number}")
    partitions = r.choice([2, 3, 4, 4, 5, 6, 7, 8, 8])
    whole, split = annotate(text, None), annotate(text, lambda sizes: sharding(r, partitions, sizes))
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for name, module in (("whole", whole), ("split", split)):
            with open(path(name + ".hlo"), "w", encoding="utf-8") as file:
                file.write(module)
        inputs = inputs_of(text, number)
        np.savez(path("in.npz"), **inputs)
        flags = ["--timeout=60"] + (["--inputs=" + path("in.npz")] if inputs else [])
        for name, more in (("whole", []), ("split", [f"--partitions={partitions}", "--global"])):
            done = subprocess.run([options.tool, path(name + ".hlo"), "--outputs=" + path(name + ".npz")] + flags + more,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                problem = f"{name}: exit {done.returncode}: " + " ".join(done.stderr.split())[:400]
                break
        else:
            problem = difference(np.load(path("whole.npz")), np.load(path("split.npz")), tolerance)
    if problem and options.keep:
        os.makedirs(options.keep, exist_ok=True)
        with open(os.path.join(options.keep, f"{opcode}-{number}-{seed}.hlo"), "w", encoding="utf-8") as file:
            file.write(split)
    return problem and f"{opcode} (case {number}, seed {seed}, {partitions} partitions): {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default="")
    options = parser.parse_args()
    numbers = [n for n, (opcode, _, _) in enumerate(CASES) if re.search(options.filter, opcode)]
    jobs = [(n, seed) for seed in range(options.seed, options.seed + options.count) for n in numbers]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        problems = [problem for problem in pool.map(lambda job: run(options, *job), jobs) if problem]
    for problem in problems:
        print(problem)
    print(f"{len(jobs) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
