#!/usr/bin/env python3
"""Shrinks a sharded module on which hlo-run fails: a file sSEED.json that sharded.py kept.

  sharded_reduce.py sSEED.json [--tool=hlo-run] [--seconds=120] [--any]

Takes shardings away, gives them fewer axes and plain device orders, and takes operations away as reduce.py does, as long as
sharded.py's verdict stays the same (with --any, as long as it is any failure) and the module on one device is right. Writes
sSEED.min.hlo, its inputs sSEED.min.npz and sSEED.min.json, and prints the module with the command that runs it.
"""
import argparse
import copy
import json
import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


class State:
    """A candidate module, as reduce.py knows it, and its plan."""

    def __init__(self, candidate, plan):
        self.candidate, self.plan = candidate, plan

    def text(self):
        import sharded_annotate
        return sharded_annotate.annotate(self.candidate.copy().computations, self.plan)

    def size(self):
        """What must become smaller: instructions, then what the shardings say."""
        axes = sum(len(axes) for n in self.plan["notes"] for axes in n["dims"])
        extras = sum(len(n) for n in self.plan["notes"]) + sum(bool(self.plan.get(k)) for k in ("header", "alias", "free"))
        meshes = sum(len(m["sizes"]) + bool(m["devices"]) * 3 for m in self.plan["meshes"])
        return (self.candidate.size() + 4 * len(self.plan["notes"]), self.plan["partitions"], axes + extras + meshes + len(self.plan["packs"]),
                len(self.text()))


def tidy(plan, candidate):
    """The plan without shardings of instructions that are gone."""
    names = {(c.head, line[0]) for c in candidate.computations for line in c.lines}
    plan = copy.deepcopy(plan)
    plan["notes"] = [n for n in plan["notes"] if (n["in"], n["at"]) in names]
    used = {n["mesh"] for n in plan["notes"]} | {0}
    plan["meshes"] = plan["meshes"][:max(used) + 1]
    return plan


def smaller_plans(plan):
    """Plans that say less, the boldest first."""
    count = len(plan["notes"])
    for size in sorted({count, count // 2, count // 4, 1}, reverse=True):
        for start in range(0, count if size else 0, size or 1):
            n = copy.deepcopy(plan)
            del n["notes"][start:start + size]
            yield n
    for key, value in (("packs", []), ("header", False), ("alias", False), ("free", None), ("replicas", 1), ("form", "hlo"), ("form", "sdy")):
        if plan.get(key) and plan[key] != value and not (key == "form" and plan["form"] != "both"):
            yield {**copy.deepcopy(plan), key: value}
    for k, mesh in enumerate(plan["meshes"]):
        if mesh["devices"]:
            n = copy.deepcopy(plan)
            n["meshes"][k]["devices"] = None
            yield n
        if 1 in mesh["sizes"] and len(mesh["sizes"]) > 1:
            yield without_axis(plan, k, mesh["sizes"].index(1))
    if len(plan["meshes"]) == 1:
        mesh = plan["meshes"][0]
        for i, size in enumerate(mesh["sizes"]):  # an axis away, or half as large
            if not mesh["devices"] and plan["partitions"] // size > 1:
                yield without_axis(plan, 0, i)
            if not mesh["devices"] and size > 2:
                yield with_half_axis(plan, i)
    for i, note in enumerate(plan["notes"]):
        if note["mesh"]:
            n = copy.deepcopy(plan)
            n["notes"][i]["mesh"] = 0
            if plan["meshes"][0]["sizes"] == plan["meshes"][note["mesh"]]["sizes"]:
                yield n
        for key in ("explicit", "split", "open", "priority", "replicated", "subgroups", "named", "maximal"):
            if key in note:
                n = copy.deepcopy(plan)
                del n["notes"][i][key]
                yield n
        for d, axes in enumerate(note["dims"]):
            for k in range(len(axes)):
                n = copy.deepcopy(plan)
                del n["notes"][i]["dims"][d][k]
                yield n


def without_axis(plan, mesh, axis):
    """The plan on a mesh that lacks an axis."""
    n = copy.deepcopy(plan)
    n["partitions"] //= n["meshes"][mesh]["sizes"].pop(axis)
    for note in n["notes"]:
        if note["mesh"] == mesh:
            for axes in [*note["dims"], note.get("replicated", [])]:
                axes[:] = [[a - (a > axis), b, s] for a, b, s in axes if a != axis]
            if "manual" in note:
                note["manual"] = [a - (a > axis) for a in note["manual"] if a != axis]
    return n


def with_half_axis(plan, axis):
    """The plan on a mesh with half of the axis; parts of the axis go."""
    n = copy.deepcopy(plan)
    size = n["meshes"][0]["sizes"][axis]
    n["meshes"][0]["sizes"][axis] = size // 2
    n["partitions"] //= 2
    for note in n["notes"]:
        for axes in [*note["dims"], note.get("replicated", [])]:
            axes[:] = [[a, 1, size // 2] if a == axis else [a, b, s] for a, b, s in axes if a != axis or s == size]
    return n


def without_results(candidate):
    """Candidates that return fewer arrays: half of them, then all but one."""
    at = next(i for i, line in enumerate(candidate.entry.lines) if line[4])
    if candidate.entry.lines[at][2] != "tuple":
        return
    names = re.findall(r"[A-Za-z_][\w.\-]*", candidate.entry.lines[at][3])
    types = {line[0]: line[1] for line in candidate.entry.lines}
    size = len(names) // 2
    while size:
        for start in range(0, len(names), size):
            kept = names[:start] + names[start + size:]
            if kept:
                n = candidate.copy()
                n.entry.lines[at][1] = f"({', '.join(types[k] for k in kept)})"
                n.entry.lines[at][3] = f"{', '.join(kept)})"
                yield n.tidy()
        size //= 2


class Reducer:
    def __init__(self, tool, folder, is_any):
        import reduce
        self.tool, self.folder, self.is_any, self.wanted = tool, folder, is_any, None
        self.attempts = reduce.Reducer.attempts
        self.runs = 0

    def case(self, state):
        import reduce
        import sharded
        from bounds.interpreter import results_of
        from bounds.number import is_inexact
        c = state.candidate
        text = c.text()
        specs = [reduce.single(x[1]) for x in c.entry.lines if x[2] == "parameter"]
        outputs = [(name, t, not is_inexact(t)) for name, t in results_of(text)]
        return sharded.Case(text, state.plan, specs, c.arrays, outputs)

    def verdict(self, state):
        self.runs += 1
        verdict, why, _ = self.case(state).check(self.tool, self.folder)
        return verdict if not why.startswith("on one device") else "ok", why

    def fails(self, state):
        try:
            verdict, why = self.verdict(state)
        except Exception:  # a candidate that no longer is a module
            return False
        if self.is_any:
            return verdict != "ok"
        return (verdict, self.kind(why)) == self.wanted

    def kind(self, why):
        """What tells one refusal from another: the message without names, places and numbers."""
        at = why.find("error:")
        return re.sub(r"[\w.\-/]*\d[\w.\-/]*|'[^']*'|\[[^\]]*\]", "", why[at:at + 60]) if at >= 0 else ""

    def candidates(self, state):
        for plan in smaller_plans(state.plan):
            yield State(state.candidate, plan)
        for c in without_results(state.candidate):
            yield State(c, tidy(state.plan, c))
        for c in self.attempts(self, state.candidate):
            yield State(c, tidy(state.plan, c))

    def reduce(self, state, seconds):
        verdict, why = self.verdict(state)
        if verdict == "ok":
            raise SystemExit("nothing to reduce: it passes")
        self.wanted, end, progress = (verdict, self.kind(why)), time.time() + seconds, True
        while progress and time.time() < end:
            progress = False
            for n in self.candidates(state):
                if time.time() > end:
                    break
                if n.size() < state.size() and self.fails(n):
                    state, progress = n, True
                    break
        return state


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept")
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--any", action="store_true")
    options = parser.parse_args()
    import numpy as np
    import reduce
    base = options.kept.removesuffix(".json")
    with open(base + ".json") as file:
        kept = json.load(file)
    npz = np.load(base + ".npz")
    start = reduce.Candidate(reduce.parse(kept["text"]), [npz[f"in{i}"] for i in range(len(npz.files))])
    with tempfile.TemporaryDirectory() as folder:
        reducer = Reducer(options.tool.split(), folder, options.any)
        small = reducer.reduce(State(start, kept["plan"]), options.seconds)
        verdict, why = reducer.verdict(small)
    reducer.case(small).keep(base + ".min", f"{verdict}: {why}")
    print(small.text())
    print(f"// {verdict}: {why}\n// {options.tool} {base}.min.hlo --partitions={small.plan['partitions']} --global --inputs={base}.min.npz "
          f"--outputs=O.npz {reducer.case(small).guard()}   ({reducer.runs} runs)")


if __name__ == "__main__":
    main()
