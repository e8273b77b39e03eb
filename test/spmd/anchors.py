#!/usr/bin/env python3
"""Bytes sent and memory of partitioned programs against those of XLA's partitioner.

  anchors.py --cases DIR [--build DIR] [--filter REGEX] [--jobs N] [--run] [--json FILE]

A case is NAME.hlo (the text before partitioning) with NAME.json, whose `anchor` says what XLA's program for it sends and
holds. Ours is what `hlo-compile` has after phase canonicalize; a partition sends, in one execution of the program,

  all-gather (n-1)/n of the result, all-reduce 2(n-1)/n, reduce-scatter and all-to-all (n-1)/n of the operand,
  collective-permute the operand

with n partitions in a group, times the trip counts of loops around it. The table has, for each case: the verdict, our
bytes, XLA's, the ratio (ours + 1 KiB) / (XLA's + 1 KiB), the arena and XLA's temporary memory. Below it: the geometric
mean of the ratios, the sums, and the cases with the worst ratios. --run also runs each case with its inputs and compares
the results. The last line reads 'N passed, M failed': a case fails if it does not compile, gives wrong results, has a
ratio above 1.5, sends something where XLA sends nothing, or has an arena above 1.1 of XLA's memory + 4 KiB.
"""
import argparse
import concurrent.futures
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

WIDTHS = {"pred": 8, "token": 0, "c64": 64, "c128": 128}


def bits_of(element):
    if element in WIDTHS:
        return WIDTHS[element]
    m = re.match(r"(?:bf|f|s|u)(\d+)", element)
    return int(m[1])


def bytes_of(text):
    """Bytes of all arrays in a shape's text."""
    total = 0
    for element, dims in re.findall(r"\b([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]", text):
        elements = math.prod(int(d) for d in dims.split(",") if d)
        total += (elements * bits_of(element) + 7) // 8
    return total


INSTRUCTION = re.compile(r"\s*(ROOT\s+)?%?([\w.\-]+) = (\(.*?\)|[\w]+\[[^\]]*\](?:\{[^}]*\})?) ([a-z][\w\-]*)\((.*)$")
COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.\-]+)(?:\s+\(.*\) -> .*)?\s*\{\s*$")


def parse(text):
    """The computations by name, each a dictionary of instructions by name, and the entry's name."""
    computations, entry, current = {}, None, None
    for line in text.splitlines():
        m = INSTRUCTION.match(line)
        if m and current is not None:
            root, name, shape, opcode, rest = m.groups()
            depth, end = 1, len(rest)
            for i, c in enumerate(rest):
                depth += (c == "(") - (c == ")")
                if depth == 0:
                    end = i
                    break
            operands = re.findall(r"%?([\w.\-]+)(?:,|$)", re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", rest[:end]))
            current[name] = {"shape": shape, "opcode": opcode, "operands": operands, "text": rest[:end],
                             "attributes": rest[end + 1:], "root": bool(root)}
            continue
        m = COMPUTATION.match(line)
        if m:
            current = computations[m[2]] = {}
            entry = m[2] if m[1] else entry
    return computations, entry


def trip_count(computations, body):
    """Of a loop that counts from a constant to a constant; 1 if it is another."""
    condition = computations[re.search(r"condition=%?([\w.\-]+)", body)[1]]
    root = next((i for i in condition.values() if i["root"]), None)
    if root is None or root["opcode"] != "compare" or "direction=LT" not in root["attributes"]:
        return 1
    for operand in root["operands"]:
        limit = condition.get(operand)
        if limit and limit["opcode"] == "constant" and re.fullmatch(r"-?\d+", limit["text"]):
            return max(int(limit["text"]), 0)
    return 1


def group_size(attributes, partitions):
    m = re.search(r"replica_groups=\{\{([\d,]*)\}", attributes)
    if m:
        return len(m[1].split(","))
    m = re.search(r"replica_groups=\[(\d+),(\d+)\]", attributes)
    return int(m[2]) if m else partitions


def sent(computations, name, partitions, totals, times=1):
    """Adds up what a computation sends, by opcode."""
    for instruction in computations[name].values():
        opcode, attributes = instruction["opcode"].removesuffix("-start"), instruction["attributes"]
        operand_bytes = sum(bytes_of(computations[name][o]["shape"]) for o in instruction["operands"]
                            if o in computations[name])
        n = group_size(attributes, partitions)
        factor = {"all-gather": n - 1, "all-reduce": 2 * (n - 1) / n, "reduce-scatter": (n - 1) / n,
                  "all-to-all": (n - 1) / n, "ragged-all-to-all": (n - 1) / n, "collective-broadcast": 1,
                  "collective-permute": 1}.get(opcode)
        if factor is not None:
            totals[opcode] = totals.get(opcode, 0) + factor * operand_bytes * times
        elif opcode == "while":
            inner = times * trip_count(computations, attributes)
            for key in ("condition", "body"):
                sent(computations, re.search(key + r"=%?([\w.\-]+)", attributes)[1], partitions, totals, inner)
        elif opcode == "conditional":
            names = re.findall(r"%?([\w.\-]+)", (re.search(r"branch_computations=\{([^}]*)\}", attributes) or ["", ""])[1])
            names += re.findall(r"(?:true|false)_computation=%?([\w.\-]+)", attributes)
            branches = []
            for branch in names:
                branches.append({})
                sent(computations, branch, partitions, branches[-1], times)
            for key, value in max(branches, key=lambda b: sum(b.values()), default={}).items():
                totals[key] = totals.get(key, 0) + value
        elif opcode in ("call", "fusion", "async-start"):
            m = re.search(r"(?:to_apply|calls)=%?([\w.\-]+)", attributes)
            if m and m[1] in computations:
                sent(computations, m[1], partitions, totals, times)


def command(words, timeout):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout, errors="replace")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"no answer in {timeout} s")


def first_line(text):
    return next((line for line in text.splitlines() if "error" in line), text.strip().splitlines()[0] if text.strip() else "")


def examine(case, a):
    base, n, anchor = case["base"], case["partitions"], case["anchor"]
    row = {"name": case["name"], "family": case["family"], "xla": anchor["bytes_per_device"], "xla_kinds": anchor["bytes"],
           "xla_temp": anchor["temp_bytes"]}
    common = [os.path.join(a.build, "bin/hlo-compile"), base + ".hlo", f"--partitions={n}"]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "partitioned.hlo")
        done = command(common + ["--compile-to=canonicalize", "--emit=hlo", "-o", out], a.timeout)
        if done.returncode:
            return row | {"verdict": "refused" if 0 < done.returncode < 70 else "crash", "why": first_line(done.stderr)}
        totals = {}
        computations, entry = parse(open(out).read())
        sent(computations, entry, n, totals)
        row |= {"ours": sum(totals.values()), "kinds": totals}
        row["ratio"] = (row["ours"] + 1024) / (row["xla"] + 1024)
        done = command(common + ["--memory-report", "-o", os.path.join(folder, "m.o")], a.timeout)
        if done.returncode:
            return row | {"verdict": "crash" if done.returncode >= 70 or done.returncode < 0 else "refused",
                          "why": first_line(done.stderr)}
        m = re.search(r"arena[^\d]*(\d+) bytes", done.stderr)
        row["arena"] = int(m[1]) if m else None
        if a.run:
            why = run(case, a, os.path.join(folder, "out.npz"))
            if why:
                return row | {"verdict": "wrong", "why": why}
    why = ""
    if row["ratio"] > 1.5:
        why = "ratio above 1.5"
    elif row["ours"] > 0 and row["xla"] == 0:
        why = "XLA sends nothing"
    elif row["arena"] is not None and row["arena"] > 1.1 * row["xla_temp"] + 4096:
        why = "arena above 1.1 of XLA's memory"
    return row | {"verdict": "much" if why else "ok", "why": why}


def run(case, a, out):
    """Why the results differ; empty if they do not."""
    sys.path.insert(0, os.path.join(a.cases, ".."))
    import numpy as np
    import run_spmd
    done = command([os.path.join(a.build, "bin/hlo-run"), case["base"] + ".hlo", f"--partitions={case['partitions']}", "--global",
                    f"--inputs={case['base']}.npz", f"--outputs={out}"], a.timeout)
    if done.returncode:
        return first_line(done.stderr) or f"exit {done.returncode}"
    with np.load(out) as actual, np.load(case["base"] + ".npz") as golden:
        return run_spmd.compare(case, golden, actual)


def number(value):
    return "-" if value is None else f"{value:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--filter", default="", help="regular expression on the name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--run", action="store_true", help="compare the results, too")
    parser.add_argument("--worst", type=int, default=25, help="how many cases to list below the table")
    parser.add_argument("--json")
    a = parser.parse_args()
    cases = []
    for path in sorted(glob.glob(os.path.join(a.cases, "*.json"))):
        case = json.load(open(path))
        if re.search(a.filter, case["name"]):
            cases.append(case | {"base": path[:-5]})
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        rows = list(pool.map(lambda case: examine(case, a), cases))
    print(f"{'case':60s} {'verdict':8s} {'ours':>8s} {'XLA':>8s} {'ratio':>6s} {'arena':>8s} {'temp':>8s}")
    for r in rows:
        ratio = f"{r['ratio']:.3f}" if "ratio" in r else "-"
        print(f"{r['name'][:60]:60s} {r['verdict']:8s} {number(r.get('ours')):>8s} {number(r['xla']):>8s} {ratio:>6s} "
              f"{number(r.get('arena')):>8s} {number(r['xla_temp']):>8s} {r['why'][:100]}")
    known = [r for r in rows if "ratio" in r]
    if known:
        mean = math.exp(sum(math.log(r["ratio"]) for r in known) / len(known))
        print(f"\n{len(known)} cases: geometric mean {mean:.4f}; sum {sum(r['ours'] for r in known):.0f}, XLA "
              f"{sum(r['xla'] for r in known):.0f}")
        for r in sorted(known, key=lambda r: -r["ratio"])[:a.worst]:
            if r["ratio"] > 1:
                kinds = lambda k: ", ".join(f"{name} {value:.0f}" for name, value in sorted(k.items())) or "nothing"
                print(f"{r['ratio']:.3f} {r['name']}: {kinds(r['kinds'])}; XLA {kinds(r['xla_kinds'])}")
    if a.json:
        with open(a.json, "w") as file:
            json.dump(rows, file, indent=1)
    failed = sum(r["verdict"] != "ok" for r in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
