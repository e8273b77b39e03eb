#!/usr/bin/env python3
"""Times programs compiled by hlo-compile against the fastest engines, on one thread, and compares the results.

  rivals.py [--build BUILD] [--filter REGEX] [--rounds 3] [--seconds 0.3] [--json FILE] [--table FILE] [--readme]
  rivals.py --render FILE [--table FILE] [--readme]     tables from the rows of an earlier --json

Our side is timed twice: with weights as ordinary parameters, and with --immutable-params, as rivals pack theirs ahead.
All sides run in turns, in processes pinned to one processor; the smallest time of all rounds counts. README.md explains
the rest. Rows of an existing --json file are kept, those of the same program replaced.
"""
import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import ml_dtypes
import numpy as np

import programs
import report
import run
import tables
from hlo_text import Module, size

ENGINES = ("oneDNN", "inductor", "ONNXRuntime", "OpenVINO", "MKL", "ggml")


class Machine:
    """The processor that timed processes run on, for us alone while something is timed."""

    def __init__(self, options):
        self.options = options

    @contextlib.contextmanager
    def alone(self, process=None):
        """Holds the lock of --lock, and gives the threads of a process the priority of --priority."""
        with open(self.options.lock or os.devnull, "a") as lock:
            if self.options.lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
            self.schedule(process, os.SCHED_FIFO, self.options.priority)
            try:
                yield
            finally:
                self.schedule(process, os.SCHED_OTHER, 0)

    def schedule(self, process, policy, priority):
        if not process or not self.options.priority:
            return
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(thread), policy, os.sched_param(priority))

    def pinned(self):
        return ["taskset", "-c", self.options.cpu]

    def prefix(self):
        return (f"chrt -f {self.options.priority} " if self.options.priority else "") + " ".join(self.pinned())


class Engine:
    """A rival's process, started when first asked and again after it failed."""

    def __init__(self, name, machine):
        self.name, self.machine, self.process = name, machine, None

    def ask(self, job):
        if self.process is None:
            log = open(os.path.join(self.machine.options.folder, self.name + ".log"), "a")
            self.process = subprocess.Popen(["timeout", str(self.machine.options.engine_timeout), *self.machine.pinned(), sys.executable, os.path.join(HERE, "engine.py"), self.name],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            self.end()
            return {"error": "the process ended"}
        return json.loads(line)

    def timed_process(self):
        """The process below `timeout`, whose threads are timed."""
        if self.process is None:
            return None
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            child = children.read().split()
        return argparse.Namespace(pid=int(child[0])) if child else None

    def end(self):
        if self.process:
            self.process.kill() if self.process.poll() is None else None
            self.process.wait()
            self.process = None


def result_of(array, kind):
    """A result of hlo-run as f32."""
    return (array.view(ml_dtypes.bfloat16) if kind == "bf16" else array).astype(np.float32)


ORDERS = ((0, 3, 1, 2), (3, 2, 0, 1))  # images [n, h, w, c], kernels [h, w, i, o], as rivals have them


def distance(ours, theirs):
    """The distance of two results relative to the norm of the second one; None if their shapes differ."""
    if ours.shape != theirs.shape and ours.ndim == 4:
        ours = next((t for t in (ours.transpose(o) for o in ORDERS) if t.shape == theirs.shape), ours)
    if ours.shape != theirs.shape:
        return None
    x, y = ours.astype(np.float64), theirs.astype(np.float64)
    return float(np.linalg.norm(x - y) / (np.linalg.norm(y) or 1.0))


def differences(module, ours, theirs):
    """The largest distance of the results of two .npz files; None if a shape differs."""
    kinds = [a.type for a in Module(module).results]
    with np.load(ours) as left, np.load(theirs) as right:
        found = [distance(result_of(left[f"out{i}"], kind), right[f"out{i}"]) for i, kind in enumerate(kinds)]
    return None if None in found else max(found)


def necessary_bytes(program, module):
    """What a call must read and write: (all, results). Arrays that are updated in place count once."""
    text = Module(module)
    results = sum(map(size, text.results))
    with open(module) as file:
        aliased = file.readline().count("may-alias")
    if aliased:
        results -= sum(size(a) for a in text.results[-aliased:])
    total = sum(map(size, text.parameters)) + results
    return (program.moved or total), results


class Row:
    """One program: its files, its times."""

    def __init__(self, program, machine):
        self.program, self.machine, self.options = program, machine, machine.options
        self.base = os.path.join(self.options.folder, program.name)
        self.ours = {"plain": {}, "prepared": {}}
        self.rivals, self.difference = {}, {}

    def export(self):
        if not os.path.exists(self.base + ".weights"):
            subprocess.run([sys.executable, os.path.join(HERE, "programs.py"), "--folder", self.options.folder, f"^{self.program.name}$"], check=True, stdout=subprocess.DEVNULL)
        with open(self.base + ".weights") as file:
            self.weights = file.read().strip()

    def time_ours(self, way, seconds):
        bench = run.Bench(argparse.Namespace(cpus=self.options.cpu, avx2=False, prefix=self.machine.prefix(), timeout=self.options.timeout, tool=self.options.tool), 1)
        bench.flags = [f"--immutable-params={self.weights}", *self.program.flags] if way == "prepared" else []
        with self.machine.alone():
            run.keep_best(self.ours[way], bench.ours(self.base + ".hlo", self.base + ".npz", f"{self.base}.{way}.out.npz", seconds))

    def measure(self, engines):
        self.export()
        for engine in engines:
            answer = engine.ask({"prepare": self.program.name, "outputs": f"{self.base}.{engine.name}.out.npz"})
            if not answer.get("unsupported"):
                self.rivals[engine.name] = answer
        ways = ["plain"] + (["prepared"] if self.weights else [])
        for _ in range(self.options.rounds):
            for way in ways:
                if "error" not in self.ours[way]:
                    self.time_ours(way, self.options.seconds)
            for engine in engines:
                if "error" not in self.rivals.get(engine.name, {"error": ""}):
                    with self.machine.alone(engine.timed_process()):
                        run.keep_best(self.rivals[engine.name], engine.ask({"seconds": self.options.seconds}))

    def compare(self):
        """Our results, plain and prepared, with each rival's; files of results are removed."""
        for way, answer in self.ours.items():
            for name in self.rivals if "error" not in answer and answer else ():
                theirs, ours = f"{self.base}.{name}.out.npz", f"{self.base}.{way}.out.npz"
                if os.path.exists(theirs) and os.path.exists(ours):
                    self.difference[name] = max(differences(self.base + ".hlo", ours, theirs) or 0.0, self.difference.get(name, 0.0))
        for name in [*self.ours, *self.rivals]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{self.base}.{name}.out.npz")

    def record(self):
        total, results = necessary_bytes(self.program, self.base + ".hlo")
        return {"program": self.program.name, "group": self.program.group, "ours": self.ours["plain"], "prepared": self.ours["prepared"], "rivals": self.rivals,
                "difference": self.difference, "tolerance": self.program.tolerance, "bytes": total, "result_bytes": results, "work": Module(self.base + ".hlo").work()}


def load(path):
    """(rows by program, what is known of the machine) of a file of --json."""
    if not path or not os.path.exists(path):
        return {}, {}
    rows, machine = report.load(path)
    return {r["program"]: r for r in rows}, machine[-1] if machine else {}


def measure_all(options, rows, known):
    machine = Machine(options)
    names = [n for n in options.engines.split(",") if n in ENGINES]
    engines = [Engine(n, machine) for n in names]
    peaks = known.setdefault("peaks", {})
    with machine.alone():
        run.note_peaks(peaks, run.Bench(argparse.Namespace(cpus=options.cpu, avx2=False, prefix=machine.prefix(), timeout=60), 1))
    known.update(report.machine(), versions=tables.versions(), peaks=peaks)
    for program in programs.chosen(options.filter):
        row = Row(program, machine)
        row.measure(engines)
        row.compare()
        rows[program.name] = row.record()
        print(tables.line(rows[program.name], peaks), flush=True)
        if options.json:
            report.save(options.json + ".new", [rows[n] for n in programs.ALL if n in rows], [known])
            os.replace(options.json + ".new", options.json)
        if not options.keep:
            for end in (".npz", ".hlo", ".weights"):
                os.remove(row.base + end)
    for engine in engines:
        engine.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(run.ROOT, "build"))
    parser.add_argument("--filter", default="", help="regular expression of names or groups of programs")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="how long each side runs in each round")
    parser.add_argument("--cpu", default="1", help="the processor that everything runs on")
    parser.add_argument("--folder", default="/tmp/rivals", help="where programs and inputs are written")
    parser.add_argument("--keep", action="store_true", help="keep programs and inputs there for the next run, which takes those that exist")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of ours, with compiling")
    parser.add_argument("--engine-timeout", type=float, default=7200, help="seconds that a rival's process may live")
    parser.add_argument("--lock", help="a file to lock while something is timed, on a machine that others measure on")
    parser.add_argument("--priority", type=int, default=0, help="real-time priority of what is timed; needs the right to set it")
    parser.add_argument("--json", help="rows, one JSON line each")
    parser.add_argument("--table", help="write markdown tables")
    parser.add_argument("--readme", action="store_true", help="write RIVALS.md here")
    parser.add_argument("--render", help="measure nothing: write tables from a file of --json")
    options = parser.parse_args()
    options.tool = os.path.join(options.build, "bin", "hlo-run")
    rows, known = load(options.render or options.json)
    if not options.render:
        os.makedirs(options.folder, exist_ok=True)
        measure_all(options, rows, known)
    rows = [rows[n] for n in programs.ALL if n in rows]
    print(tables.means(rows))
    for path in [options.table] + [os.path.join(HERE, "RIVALS.md") if options.readme else None]:
        if path:
            with open(path, "w") as file:
                file.write(tables.document(rows, known))


if __name__ == "__main__":
    main()
