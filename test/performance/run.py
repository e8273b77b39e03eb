#!/usr/bin/env python3
"""Times modules compiled by hlo-compile against XLA:CPU (and IREE), and measures the machine's peaks for comparison.

  run.py [--tool build/bin/hlo-run] [--cores 1,2] [--filter REGEX] [--seconds 0.3] [--rounds 2] [--json FILE] [MODULE.hlo ...]
  run.py --against=OLD-BUILD ...    times another build of ours instead, in turns; exit 1 where this one is slower

Default modules: modules/, and ../shared/models next to the checkout if it exists. Each is run by both sides,
alternating, on the same inputs and pinned processors; the smallest time of all rounds counts, and results are compared.
Needs the PyPI packages jax and ml_dtypes; --iree needs iree-base-compiler and iree-base-runtime as well.
README.md explains the output.
"""
import argparse
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

import against
import report
from hlo_text import Module, size

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Bench:
    """Where and how the timed processes run."""

    def __init__(self, options, cores):
        self.options, self.cores = options, cores
        self.processors = ",".join(options.cpus.split(",")[:cores])
        self.environment = dict(os.environ, CPUS=self.processors)
        self.flags = []
        if options.avx2:
            self.flags = ["--cpu=x86-64-v3"]
            self.environment["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX2").strip()

    def run(self, command, text=None):
        """The standard output of a pinned process, or an error."""
        prefix = shlex.split(self.options.prefix) if self.options.prefix else ["taskset", "-c", self.processors]
        # The shell lies between, so that a process does not inherit the peak memory of this one.
        command = ["sh", "-c", '"$@"; exit $?', "sh"] + prefix + command
        # A session of its own, so that a process that does not end is ended with all that it started.
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", env=self.environment, start_new_session=True) as process:
            try:
                output, errors = process.communicate(text, timeout=self.options.timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, f"no answer in {self.options.timeout} s"
        return output, None if process.returncode == 0 else f"exit {process.returncode}: " + " ".join(errors.split())[:200]

    def lines(self, command, text=None):
        """The JSON lines that a process prints."""
        output, error = self.run(command, text)
        found = [json.loads(line) for line in (output or "").splitlines() if line.startswith("{")]
        return found or [{"error": error or "no answer"}]

    def ours(self, module, inputs, outputs, seconds, tool=None):
        return self.lines([tool or self.options.tool, module, f"--inputs={inputs}", f"--outputs={outputs}", f"--bench={seconds}",
                           f"--threads={self.cores}", "--json"] + self.flags)[-1]

    def xla(self, jobs):
        text = "".join(json.dumps(job) + "\n" for job in jobs)
        answers = self.lines([sys.executable, os.path.join(HERE, "xla.py")], text)
        return answers + [{"error": "no answer"}] * (len(jobs) - len(answers))

    def iree(self, module, folder):
        """IREE: compiled for this processor at the highest level, timed by its own benchmark; all elements of an input are equal."""
        binaries = os.path.dirname(sys.executable)
        source, binary = os.path.join(folder, "iree.mlir"), os.path.join(folder, "iree.vmfb")
        job = {"module": module, "stablehlo": source}
        made = subprocess.run([sys.executable, os.path.join(HERE, "xla.py")], input=json.dumps(job) + "\n", capture_output=True, text=True, check=False)
        if "error" in made.stdout or not os.path.exists(source):
            return {"error": "not converted to StableHLO"}
        made = subprocess.run([binaries + "/iree-compile", source, "-o", binary, "--iree-input-type=stablehlo", "--iree-opt-level=O3",
                               "--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"], capture_output=True, text=True, check=False)
        os.remove(source)
        if made.returncode:
            return {"error": "not compiled: " + " ".join(made.stderr.split())[:150]}
        spell = lambda t: {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>"}.get(t, re.sub(r"^[su](?=\d)", "i", t))
        inputs = ["--input=" + "x".join([str(d) for d in a.dims] + [spell(a.type)]) + ("" if a.type[0] == "c" else "=1") for a in Module(module).parameters]
        device = "local-sync" if self.cores == 1 else "local-task"
        output, error = self.run([binaries + "/iree-benchmark-module", f"--module={binary}", f"--device={device}", "--function=main",
                                  f"--benchmark_min_time={max(self.options.seconds, 0.2)}s", "--benchmark_format=json"] + inputs)
        if error:
            return {"error": error}
        result = json.loads(output[output.index("{"):])["benchmarks"][0]
        return {"run_ms_min": result["real_time"] * {"s": 1e3, "ms": 1, "us": 1e-3, "ns": 1e-6}[result["time_unit"]]}


def is_own(module):
    return os.path.dirname(os.path.abspath(module)) == os.path.join(HERE, "modules")


def fits(module):
    """Whether the arrays of a module fit the memory of both sides."""
    need, have = Module(module).bytes(), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need * 3 > have:
        print(f"{os.path.basename(module)} is left out: {need / 1e9:.1f} GB of arrays on a machine of {have / 1e9:.1f} GB")
    return need * 3 <= have


def make_inputs(module, path):
    """Random inputs: small floats of both signs, integers from 0 to 999 (s8 and u8: all values), so that indices differ.

    In modules from elsewhere vectors are positive: some are variances, and XLA:CPU's maximum may lose a NaN."""
    rng = np.random.default_rng(1)
    saved = {}
    for i, a in enumerate(Module(module).parameters):
        if a.type == "pred":
            x = rng.integers(0, 2, a.dims).astype(np.bool_)
        elif a.type in ("s4", "u4", "s2", "u2", "s8", "u8"):
            low, high = {"s4": (-8, 8), "u4": (0, 16), "s2": (-2, 2), "u2": (0, 4), "s8": (-128, 128), "u8": (0, 256)}[a.type]
            dtype = {"s8": np.int8, "u8": np.uint8}.get(a.type) or getattr(ml_dtypes, {"s": "int", "u": "uint"}[a.type[0]] + a.type[1:])
            x = rng.integers(low, high, a.dims).astype(dtype)
        elif a.type[0] in "su":
            x = rng.integers(0, 1000, a.dims).astype({"s": "i", "u": "u"}[a.type[0]] + str(int(a.type[1:]) // 8))
        else:
            x = rng.standard_normal(a.dims, np.float32) * np.float32(0.05)
            if len(a.dims) == 1 and not is_own(module):
                x = np.abs(x)
            if a.type[0] == "c":
                x = x + 1j * (rng.standard_normal(a.dims, np.float32) * np.float32(0.05))
            names = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128, "bf16": ml_dtypes.bfloat16}
            x = np.asarray(x).astype(names.get(a.type) or getattr(ml_dtypes, "float8_" + a.type[2:]))
        saved[f"in{i}"] = x if x.dtype.isbuiltin == 1 else x.view(f"u{x.dtype.itemsize}")
    np.savez(path, **saved)


def difference(module, ours, theirs):
    """The largest distance of a result from XLA's, relative to its norm; for integers the share of elements that differ."""
    worst = 0.0
    with np.load(ours) as left, np.load(theirs) as right:
        for i, a in enumerate(Module(module).results):
            x, y = left[f"out{i}"], right[f"out{i}"]
            if a.type == "bf16":
                x, y = (v.view(ml_dtypes.bfloat16) for v in (x, y))
            if x.shape != y.shape:
                return math.inf
            if a.type[0] in "sup":
                worst = max(worst, float((x != y).mean()) if y.size else 0.0)
                continue
            x, y = (v.astype(np.complex128 if a.type[0] == "c" else np.float64) for v in (x, y))
            finite = np.isfinite(x) & np.isfinite(y)
            if (np.isfinite(x) != np.isfinite(y)).any():
                return math.inf
            norm = float(np.linalg.norm(y[finite]))
            worst = max(worst, float(np.linalg.norm((x - y)[finite])) / (norm or 1.0))
    return worst


def keep_best(best, answer):
    for key, value in answer.items():
        best[key] = min(best[key], value) if key in best and isinstance(value, (int, float)) else value


def compiler_memory(options, module):
    """Peak bytes of hlo-compile alone, measured by a small parent."""
    compiler = os.path.join(os.path.dirname(options.tool), "hlo-compile")
    if not os.path.exists(compiler):
        return None
    script = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss*1024)"
    done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-S", "-c", script, compiler, module, "--cpu=host", "-o", "/dev/null"],
                          capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else None


def measure_group(bench, modules, reused):
    """The rows of some modules, for which each side starts few processes."""
    options, rows = bench.options, []
    with tempfile.TemporaryDirectory() as folder:
        for i, module in enumerate(modules):
            name = os.path.basename(module)[:-4]
            row = {"module": name, "cores": bench.cores, "ours": {}, "xla": {}, **{k: v for k, v in reused.get((name, bench.cores), {}).items() if k in ("xla", "iree")}}
            row["paths"] = [os.path.join(folder, f"{i}.{kind}.npz") for kind in ("in", "ours", "xla")]
            make_inputs(module, row["paths"][0])
            rows.append(row)
        for turn in range(options.rounds):
            for module, row in zip(modules, rows):
                if "error" not in row["ours"]:
                    keep_best(row["ours"], bench.ours(module, row["paths"][0], row["paths"][1], options.seconds))
            todo = [(m, r) for m, r in zip(modules, rows) if (r["module"], bench.cores) not in reused and "error" not in r["xla"]]
            jobs = [{"module": m, "inputs": r["paths"][0], "outputs": None if turn else r["paths"][2], "seconds": options.seconds} for m, r in todo]
            for (_, row), answer in zip(todo, bench.xla(jobs) if jobs else []):
                keep_best(row["xla"], answer)
        for module, row in zip(modules, rows):
            _, ours, theirs = row.pop("paths")
            text = Module(module)
            row["bytes"], row["result_bytes"], row["work"] = text.bytes(), sum(map(size, text.results)), text.work()
            row["own"] = is_own(module)
            if os.path.exists(theirs) and "error" not in row["ours"]:
                row["difference"] = difference(module, ours, theirs)
            elif (row["module"], bench.cores) in reused:
                row["difference"] = reused[row["module"], bench.cores].get("difference")
            if options.memory:
                row["ours"]["compile_rss_bytes"] = compiler_memory(options, module)
            if options.iree:
                row["iree"] = bench.iree(module, folder)
    return rows


def note_peaks(best, bench):
    """Measures the peaks (peaks.c) on these processors now, and keeps the best of each."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "peaks")
        for compiler in ("clang-22", "clang", "cc"):
            try:
                subprocess.run([compiler, "-O2", "-pthread", os.path.join(HERE, "peaks.c"), "-o", program], capture_output=True, check=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            for name, value in bench.lines([program, str(bench.cores)])[-1].items():
                best[name] = max(best.get(name, 0), value)
            return


def default_modules():
    folders = [os.path.join(HERE, "modules"), os.path.join(os.path.dirname(ROOT), "shared", "models")]
    return [os.path.join(f, n) for f in folders if os.path.isdir(f) for n in sorted(os.listdir(f)) if n.endswith(".hlo")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "bin", "hlo-run"))
    parser.add_argument("--cores", default="1", help="numbers of processors, each a run: 1 or 1,2")
    parser.add_argument("--cpus", default="1,0", help="which processors, the first ones first")
    parser.add_argument("--filter", default="", help="regular expression of module names")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long each side runs in each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=1, help="modules for each process of XLA; more is faster")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--prefix", help="command that runs a timed process in place of taskset; finds the processors in $CPUS")
    parser.add_argument("--avx2", action="store_true", help="both sides for AVX2, hlo-compile's default; libraries inside of XLA take AVX-512 all the same")
    parser.add_argument("--iree", action="store_true", help="time IREE as well")
    parser.add_argument("--memory", action="store_true", help="measure the compiler's peak memory as well")
    parser.add_argument("--json", help="write the rows, one JSON line each")
    parser.add_argument("--reuse", help="take XLA's and IREE's figures from such a file where it has them")
    parser.add_argument("--table", help="write a markdown table, the slowest first")
    parser.add_argument("--svg", help="draw a chart")
    parser.add_argument("--readme", action="store_true", help="write RESULTS.md and results.svg here, and the table in the README")
    parser.add_argument("--against", metavar="OLD-BUILD", help="compare with the hlo-run of another build folder, not with XLA")
    parser.add_argument("--render", help="measure nothing: write tables and charts from a file of --json")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    if options.against:
        modules = [m for m in options.modules or default_modules() if re.search(options.filter, os.path.basename(m)) and fits(m)]
        old = os.path.join(options.against, "bin", "hlo-run")
        sys.exit(bool(sum(against.compare(Bench(options, cores), old, modules, make_inputs) for cores in map(int, options.cores.split(",")))))
    if options.render:
        rows, machine = report.load(options.render)
    else:
        reused = {(r["module"], r["cores"]): r for r in report.load(options.reuse)[0] if "run_ms_min" in r["xla"]} if options.reuse else {}
        modules = [m for m in options.modules or default_modules() if re.search(options.filter, os.path.basename(m)) and fits(m)]
        rows, machine = [], []
        for cores in map(int, options.cores.split(",")):
            bench = Bench(options, cores)
            machine.append({"peaks": {}, "cores": cores, **report.machine()})
            for i in range(0, len(modules), options.chunk):
                if i // options.chunk % max(1, 48 // options.chunk) == 0:
                    note_peaks(machine[-1]["peaks"], bench)
                for row in measure_group(bench, modules[i:i + options.chunk], reused):
                    rows.append(row)
                    print(report.line(row, machine[-1]["peaks"]), flush=True)
                if options.json:
                    report.save(options.json, rows, machine)
            note_peaks(machine[-1]["peaks"], bench)
            print(report.peaks_line(machine[-1]))
    if options.json:
        report.save(options.json, rows, machine)
    print(report.summary(rows))
    if options.table:
        report.write_table(options.table, rows, machine)
    if options.svg:
        report.write_svg(options.svg, rows, machine)
    if options.readme:
        report.write_readme(os.path.join(ROOT, "README.md"), os.path.join(HERE, "RESULTS.md"), os.path.join(HERE, "results.svg"), rows, machine)


if __name__ == "__main__":
    main()
