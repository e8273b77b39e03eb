#!/usr/bin/env python3
"""Random modules with random shardings, each compared with the same module without shardings on one device.

  sharded.py --tool=build/bin/hlo-run [--seed=1] [--count=100] [--seconds=0] [--jobs=2] [--most=10] [--keep=build/fuzz]
             [--xla | --xla-only] [--verbose] [--show=SEED]

A seed makes a module of 1 to --most operations on small arrays, a mesh of 2, 4 or 8 partitions, and shardings of parameters,
results and values in between (sharded_annotate.py). `hlo-run --partitions=N --global` runs it, and `hlo-run` the module
without shardings. Integers and floats that cannot round must agree bit for bit. Others must be within the bounds of bounds/,
which hold for any order of sums; a sum of a narrow type may have been rounded once for each partition. --keep holds modules
that fail: sSEED.hlo, its inputs sSEED.npz, and sSEED.json for sharded_reduce.py, which shrinks them.

--xla also runs the module through XLA's partitioner and says where that disagrees, which is not counted; --xla-only runs
nothing else on several partitions. The last line reads 'N passed, N failed'. Needs numpy, scipy, ml_dtypes; jax for --xla.
"""
import argparse
import collections
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

TIMEOUT = 30  # seconds that a run may take; a module takes less than one
ELEMENTS = 1200  # of an array, at most
SIZES = [1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 13]
# A few modules have larger ones, for which other ways to communicate are cheaper.
LARGE_ELEMENTS, LARGE_SIZES = 20000, [2, 8, 16, 24, 32, 40, 64, 17, 33, 100]


def generate_module(seed, most=10):
    """(text without shardings, parameter specifications, outputs, names of exact values) of a seed."""
    import generate
    import sharded_families
    r = random.Random(f"module {seed}")
    m = generate.Module(f"sharded {seed}")
    m.big = m.deep = m.large = False
    m.layouts, m.zero = r.random() < 0.05, r.random() < 0.03
    sizes, m.elements = (LARGE_SIZES, LARGE_ELEMENTS) if r.random() < 0.12 else (SIZES, ELEMENTS)
    m.sizes, m.operations = r.choices(sizes, k=r.choice([2, 3, 4, 6])), sharded_families.operations()
    b = generate.Builder(m, entry=True)
    while not b.values:
        try:
            b.parameter(b.type(), b.dims())
        except generate.Unfit:
            pass
    b.grow(r.choice([n for n in (1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 16, 24) if n <= most]))
    text, outputs = generate.finish(b)
    # The number of the partition has no counterpart on one device.
    return text.replace("partition-id()", "replica-id()"), m.specs, outputs, m.exact


def run_tool(command, timeout=TIMEOUT):
    """(verdict, message) of a run of hlo-run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout + 10, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return "timeout", f"more than {timeout + 10} s"
    if done.returncode == 0:
        return "ok", ""
    kind = "timeout" if done.returncode in (7, 124) else "crash" if done.returncode < 0 or done.returncode >= 70 else "refused"
    return kind, f"exit {done.returncode}: " + " ".join(done.stderr.split())[:400]


class Case:
    """A module, its shardings (a plan) and its inputs (bits), and what its results must be."""

    def __init__(self, text, plan, specs, arrays, outputs, exact=()):
        from bounds.interpreter import given_by_reference
        import generate
        self.text, self.plan, self.specs, self.outputs, self.exact = text, plan, specs, outputs, exact
        self.arrays = [generate.to_bits(x) for x in arrays]
        self.rounded = [n for n, t, is_exact in outputs if not is_exact or t in generate.COMPLEX]
        self.given = given_by_reference(text, self.rounded)

    def sharded_text(self):
        import reduce
        import sharded_annotate
        return sharded_annotate.annotate(reduce.parse(self.text), self.plan)

    def write(self, base):
        import generate
        with open(base + ".hlo", "w") as file:
            file.write(self.sharded_text())
        generate.save(base + ".npz", self.arrays)

    def keep(self, base, why):
        self.write(base)
        with open(base + ".json", "w") as file:
            json.dump({"why": why, "text": self.text, "plan": self.plan, "specs": self.specs, "outputs": self.outputs,
                       "exact": sorted(self.exact)}, file)

    def expect(self, tool, folder):
        """Runs the module on one device: (verdict, message). Afterwards `golden` and `allowed` say what is right."""
        import numpy as np
        from bounds import judge, number
        from bounds.interpreter import with_results
        import generate
        base = os.path.join(folder, "plain")
        with open(base + ".hlo", "w") as file:
            file.write(with_results(self.text, self.given))
        generate.save(base + ".npz", self.arrays)
        verdict, why = run_tool([*tool, base + ".hlo", f"--inputs={base}.npz", f"--outputs={base}.out.npz", f"--timeout={TIMEOUT}"])
        if verdict != "ok":
            return verdict, why
        found = np.load(base + ".out.npz")
        self.golden = {k: found[k] for k in found.files}
        given = {n: self.golden[f"out{len(self.outputs) + i}"] for i, n in enumerate(self.given)}
        number.PARTITIONS = self.plan["partitions"]
        try:
            self.allowed = judge.bounds(self.text, self.specs, self.arrays, self.exact, self.rounded, given)
        except NotImplementedError as e:
            return "no bounds", str(e)
        finally:
            number.PARTITIONS = 1
        why = self.differences(self.golden)
        return ("wrong", why) if why else ("ok", "")

    def differences(self, found):
        """The first result that is not as it must be, as a message; empty if there is none."""
        import run
        from bounds import judge
        for i, (name, t, _) in enumerate(self.outputs):
            if f"out{i}" not in found:
                return f"out{i} is missing"
            x = found[f"out{i}"]
            why = judge.difference(self.allowed[name], x) if name in self.allowed else run.inequality(x, self.golden[f"out{i}"], t)
            if why:
                return f"out{i} {name} {t}: {why}"
        return ""

    def guard(self):
        """Buffers lie at inaccessible pages, and what shards have beyond their arrays is NaN."""
        return "--guard-pages=" + ("before", "after")[len(self.text) % 2]

    def check(self, tool, folder, xla=None, is_xla_only=False):
        """(verdict, message, message about XLA)"""
        import numpy as np
        verdict, why = self.expect(tool, folder)
        if verdict != "ok":
            return verdict, f"on one device: {why}", ""
        base = os.path.join(folder, "sharded")
        self.write(base)
        about = ""
        if xla:
            answer = xla.ask({"module": base + ".hlo", "inputs": base + ".npz", "output": base + ".xla.npz",
                              "partitions": self.plan["partitions"], "is_shardy": self.plan["form"] != "hlo"})
            about = answer["error"] if not answer["ok"] else self.differences(np.load(base + ".xla.npz"))
            about = about and ("refused by XLA: " if not answer["ok"] else "wrong in XLA: ") + about
        if not is_xla_only:
            replicas = self.plan.get("replicas", 1)
            flags = [f"--replicas={replicas}", f"--outputs={base}.%r.npz"] if replicas > 1 else [f"--outputs={base}.0.npz"]
            verdict, why = run_tool([*tool, base + ".hlo", f"--partitions={self.plan['partitions']}", "--global",
                                     f"--inputs={base}.npz", *flags, f"--timeout={TIMEOUT}", self.guard()])
            for replica in range(replicas if verdict == "ok" else 0):
                why = why or self.differences(np.load(f"{base}.{replica}.npz"))
                verdict = "wrong" if why else "ok"
        return verdict, why, about


def case_of(seed, most=10):
    """The module of a seed."""
    import generate
    import reduce
    import sharded_annotate
    text, specs, outputs, exact = generate_module(seed, most)
    plan = sharded_annotate.random_plan(reduce.parse(text), seed)
    return Case(text, plan, specs, generate.make_inputs(specs, seed), outputs, exact)


XLA = None


def work(job):
    """Checks one seed, in a process of the pool."""
    global XLA  # one for each process
    seed, options = job
    if (options.xla or options.xla_only) and XLA is None:
        import sharded_xla
        XLA = sharded_xla.Partitioner()
    case = None
    try:
        case = case_of(seed, options.most)
        with tempfile.TemporaryDirectory() as folder:
            verdict, why, about = case.check(options.tool.split(), folder, XLA, options.xla_only)
    except Exception as e:  # an error of the test itself, reported like a failure
        verdict, why, about = "error", f"{type(e).__name__}: {e}", ""
    if case and (verdict != "ok" or about.startswith("wrong")):
        case.keep(os.path.join(options.keep, f"s{seed}"), f"{verdict}: {why} {about}")
    return seed, verdict, why, about, describe(case)


def describe(case):
    if not case:
        return ""
    sizes = "x".join(map(str, case.plan["meshes"][0]["sizes"]))
    return f"{case.plan['form']} {sizes}, {len(case.plan['notes'])} shardings"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=10, help="operations that a module is made of, at most")
    parser.add_argument("--keep", default="build/fuzz")
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--xla-only", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="a line for each module")
    parser.add_argument("--show", type=int, help="only prints the module of this seed")
    options = parser.parse_args()
    if options.show is not None:
        print(case_of(options.show, options.most).sharded_text(), end="")
        return
    os.makedirs(options.keep, exist_ok=True)
    end, tally, about_xla = time.time() + (options.seconds or 1e9), collections.Counter(), collections.Counter()

    def jobs():
        for seed in range(options.seed, options.seed + options.count):
            if time.time() > end:
                return
            yield seed, options
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for seed, verdict, why, about, what in pool.imap(work, jobs()):
            tally[verdict] += 1
            about_xla[about.partition(":")[0] or "agrees"] += 1
            if verdict != "ok" or options.verbose:
                print(f"{verdict:8s} s{seed} ({what}): {why}", flush=True)
            if about:
                print(f"         s{seed} ({what}): {about}", flush=True)
    if options.xla or options.xla_only:
        print("XLA: " + ", ".join(f"{n} {k}" for k, n in sorted(about_xla.items())))
    failed = sum(n for k, n in tally.items() if k != "ok")
    print(", ".join(f"{n} {k}" for k, n in sorted(tally.items())))
    print(f"{tally['ok']} passed, {failed} failed")
    sys.exit(failed != 0 or not tally["ok"])


if __name__ == "__main__":
    main()
