#!/usr/bin/env python3
"""How well the compiler's model of time agrees with measurements, for the candidates of every kernel.

  model.py [--filter=REGEX] [--json=FILE] [--seconds=0.05] [--misses=10]

Runs `hlo-run --explain-plan --measure` on the modules and compares modelled with measured cycles of every candidate.
Families are what precedes the first underscore of a module's name. For each of them: kernels with several candidates;
the mean rank correlation (Spearman's) of the candidates of one kernel; the rank correlation of all candidates of the
family; in how many kernels the chosen candidate is the fastest measured (within 5 %), and in how many the one with the
fewest modelled cycles is; and what is lost by either beside the fastest (geometric mean). The worst misses are the
candidates whose modelled and measured cycles, both relative to those of their kernel's chosen candidate, are furthest
apart. --render=FILE prints the tables of an earlier --json file.
"""
import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys

NEAR = 1.05


def ranks(values):
    """The rank of each value, from 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            result[i] = (first + last) / 2 + 1
        first = last + 1
    return result


def rank_correlation(a, b):
    """Spearman's: the correlation of the ranks. None if either side is constant, or there are fewer than two."""
    if len(a) < 2:
        return None
    x, y = ranks(a), ranks(b)
    mean = (len(x) + 1) / 2
    xx, yy = sum((v - mean) ** 2 for v in x), sum((v - mean) ** 2 for v in y)
    if xx == 0 or yy == 0:
        return None
    return sum((v - mean) * (w - mean) for v, w in zip(x, y)) / math.sqrt(xx * yy)


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def measured(kernel):
    """The kernel's candidates that were measured."""
    return [c for c in kernel["candidates"] if "measured_cycles" in c]


def losses(kernel):
    """How much slower than the fastest measured candidate the chosen one is, and the one that the model prefers."""
    candidates = measured(kernel)
    best = min(c["measured_cycles"] for c in candidates)
    modelled = min(candidates, key=lambda c: c["modelled_cycles"])
    chosen = next((c for c in candidates if c["name"] == kernel["chosen"]), None)
    return chosen["measured_cycles"] / best if chosen else None, modelled["measured_cycles"] / best


def misses(kernel):
    """(log of the model's error, candidate) for each candidate but the chosen one, relative to that."""
    candidates = measured(kernel)
    chosen = next((c for c in candidates if c["name"] == kernel["chosen"]), None)
    if not chosen:
        return []
    found = []
    for c in candidates:
        if c is not chosen:
            model = c["modelled_cycles"] / chosen["modelled_cycles"]
            found.append((math.log(model * chosen["measured_cycles"] / c["measured_cycles"]), c))
    return found


def family_of(module):
    return module.split("_")[0]


def summary(kernels):
    """One row of the table for these kernels, each of which has several measured candidates."""
    single = [rank_correlation([c["modelled_cycles"] for c in measured(k)], [c["measured_cycles"] for c in measured(k)]) for k in kernels]
    single = [c for c in single if c is not None]
    everything = [c for k in kernels for c in measured(k)]
    lost = [losses(k) for k in kernels]
    chosen, modelled = [l for l, _ in lost if l is not None], [l for _, l in lost]
    return {"kernels": len(kernels), "candidates": len(everything),
            "within": sum(single) / len(single) if single else None,
            "across": rank_correlation([c["modelled_cycles"] for c in everything], [c["measured_cycles"] for c in everything]),
            "chosen_best": sum(l <= NEAR for l in chosen), "modelled_best": sum(l <= NEAR for l in modelled),
            "chosen_loss": geometric_mean(chosen), "modelled_loss": geometric_mean(modelled)}


def shown(value):
    return "" if value is None else f"{value:.2f}"


def table(kernels):
    """The rows of all families, as lines of markdown."""
    lines = ["| family | kernels | candidates | rank correlation in a kernel | of the family | chosen is best | model's is best | chosen loses | model's loses |",
             "|---|---|---|---|---|---|---|---|---|"]
    families = {}
    for kernel in kernels:
        families.setdefault(family_of(kernel["module"]), []).append(kernel)
    for name, members in [*sorted(families.items()), ("all", kernels)]:
        row = summary(members)
        lines.append(f"| {name} | {row['kernels']} | {row['candidates']} | {shown(row['within'])} | {shown(row['across'])} | {row['chosen_best']} | "
                     f"{row['modelled_best']} | {shown(row['chosen_loss'])} | {shown(row['modelled_loss'])} |")
    return lines


def worst(kernels, count):
    """The candidates furthest from the model, as lines of markdown."""
    found = [(error, k, c) for k in kernels for error, c in misses(k)]
    found.sort(key=lambda miss: -abs(miss[0]))
    lines = ["| module, kernel | candidate | chosen | modelled / chosen | measured / chosen |", "|---|---|---|---|---|"]
    for _, kernel, c in found[:count]:
        chosen = next(d for d in measured(kernel) if d["name"] == kernel["chosen"])
        lines.append(f"| {kernel['module']} {kernel['kernel']} | {c['name']} | {chosen['name']} | {c['modelled_cycles'] / chosen['modelled_cycles']:.2f} | "
                     f"{c['measured_cycles'] / chosen['measured_cycles']:.2f} |")
    return lines


def measure(tool, module, seconds, timeout):
    """The kernels of a module that have several candidates with times; prints why not, if so."""
    name = os.path.basename(module)[:-4]
    command = [tool, module, "--explain-plan", f"--measure={seconds}", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        print(f"{name}: no answer in {timeout} s", file=sys.stderr)
        return []
    if done.returncode != 0:
        print(f"{name}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return []
    kernels = json.loads(done.stdout.splitlines()[-1])["plans"]
    return [dict(k, module=name) for k in kernels if len(measured(k)) > 1]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(here, "../../build/bin/hlo-run"))
    parser.add_argument("--filter", default="", help="only modules whose names match")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each candidate")
    parser.add_argument("--timeout", type=float, default=300, help="for each module")
    parser.add_argument("--misses", type=int, default=10, help="how many of the worst are listed")
    parser.add_argument("--json", help="write what was measured")
    parser.add_argument("--render", help="print the tables of such a file")
    options = parser.parse_args()
    if options.render:
        with open(options.render) as file:
            kernels = json.load(file)
    else:
        modules = [m for m in sorted(glob.glob(os.path.join(here, "modules", "*.hlo"))) if re.search(options.filter, os.path.basename(m))]
        kernels = []
        for module in modules:
            kernels += measure(options.tool, module, options.seconds, options.timeout)
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(kernels, file)
    kernels = [k for k in kernels if re.search(options.filter, k["module"])]
    if not kernels:
        sys.exit("no kernel has several candidates")
    print("\n".join(table(kernels) + [""] + worst(kernels, options.misses)))


if __name__ == "__main__":
    main()
