"""Compares hlo-run with XLA:CPU on random modules; rounded results must be within error bounds (bounds/).

  run.py [--tool=hlo-run] [--seed=0] [--count=200] [--seconds=0] [--most=40] [--large=0.06] [--family=NAME]
         [--keep=build/fuzz]

Seeds count up from --seed until --count modules or --seconds are reached. One child process runs XLA for many modules. A
module on which XLA itself crashes is skipped; if XLA without its simplifications agrees with hlo-run, the module is counted
as disputed. A module on which the two disagree, or which hlo-run refuses or crashes on, is kept in --keep with its inputs
(NAME.hlo, NAME.npz) and printed as a line. The last line reads 'N passed, N failed', N modules; exit status 1 if any
failed. Without jax it says so and exits with 0.
"""
import argparse
import collections
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

# Processors that everything which runs this has; of an emulator, those with as few instructions as there are.
CPUS = ["x86-64", "x86-64-v2", "x86-64-v3", "haswell"]
CPUS_OF_TARGETS = {"aarch64": ["generic", "cortex-a53", "cortex-a72"]}
HERE = os.path.dirname(os.path.abspath(__file__))


def child():
    """Reads lines of JSON {module, inputs: npz, output, given: [name, ...]}, runs XLA, answers with lines of JSON."""
    import jax
    import ml_dtypes  # noqa: F401  (registers the narrow types with numpy)
    import numpy as np
    from jaxlib import _hlo, _jax
    from bounds.interpreter import with_results
    from generate import to_bits, for_reference
    client = jax.devices("cpu")[0].client
    devices = _jax.DeviceList(tuple(client.local_devices()[:1]))

    def leaves(s):
        return [x for e in s.tuple_shapes() for x in leaves(e)] if s.is_tuple() else [s]

    for line in sys.stdin:
        job, answer = json.loads(line), {"ok": True}
        try:
            text = with_results(for_reference(open(job["module"]).read()), job["given"])
            computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
            shapes = [s for p in computation.program_shape().parameter_shapes() for s in leaves(p)]
            executable = client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(computation), devices, _jax.CompileOptions())
            npz, arguments = np.load(job["inputs"]), []
            for i, s in enumerate(shapes):
                x, dtype = npz[f"in{i}"], s.numpy_dtype()
                x = x if dtype.isbuiltin == 1 else np.ascontiguousarray(x).view(dtype)
                arguments.append(jax.device_put(x.reshape(s.dimensions())))
            found = [to_bits(np.asarray(r)) for r in executable.execute(arguments)]
            own = len(found) - len(job["given"])
            names = [f"out{i}" for i in range(own)] + job["given"]
            np.savez(job["output"], **dict(zip(names, found)))
        except Exception as e:
            answer = {"ok": False, "error": f"{type(e).__name__}: {e}"[:300]}
        print(json.dumps(answer), flush=True)


# Without these passes XLA computes the module as written; if that agrees with hlo-run, one of the passes is at fault.
SIMPLIFIERS = "algsimp,constant_folding,fusion,simplification,while-loop-simplifier,conditional-simplification,reshape-mover,gather_simplifier"


class Reference:
    """XLA in a process of its own, restarted after a crash."""

    def __init__(self, flags=""):
        self.process, self.flags = None, "--xla_backend_optimization_level=0 " + flags  # LLVM's part is most of the time

    def start(self, job):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--child"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                            env={**os.environ, "XLA_FLAGS": self.flags})
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def answer(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.process.wait()
        self.process = None
        return {"ok": False, "error": "XLA died"}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def inequality(actual, golden, t):
    """Where exact values differ, as a message; empty if nowhere."""
    import numpy as np
    from bounds.number import from_bits
    if actual.shape != golden.shape or actual.dtype.itemsize != golden.dtype.itemsize:
        return f"{actual.dtype}{list(actual.shape)} instead of {golden.dtype}{list(golden.shape)}"
    a, g = from_bits(t, actual), from_bits(t, golden)
    good = (a == g) | (a != a) & (g != g)
    if good.all():
        return None
    bad = np.argwhere(~good)
    where = tuple(bad[0])
    return f"{len(bad)} of {good.size} differ, first at {list(map(int, where))}: {a[where]} instead of {g[where]}"


def run_tool(tool, module, inputs, output, timeout=60):
    command = [*tool, module, f"--inputs={inputs}", f"--outputs={output}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if done.returncode == 0:
        return "ok", ""
    kind = "crash" if done.returncode < 0 or done.returncode >= 70 else "refused"
    return kind, f"exit {done.returncode}: " + " ".join(done.stderr.split())[:300]


class Case:
    """A module in files, with what is known of it: parameters (type, ...), their bits, outputs (name, type, exact), names of exact values."""

    def __init__(self, folder, name, text, specs, arrays, outputs, exact=(), dressed=None):
        import generate
        from bounds.interpreter import given_by_reference
        self.text, self.specs, self.outputs, self.exact = text, specs, outputs, exact
        self.arrays = [generate.to_bits(x) for x in arrays]
        self.module, self.dressed, self.inputs = (os.path.join(folder, name + end) for end in (".hlo", ".dressed.hlo", ".npz"))
        for path, content in ((self.module, text), (self.dressed, dressed or text)):
            with open(path, "w") as file:
                file.write(content)
        generate.save(self.inputs, self.arrays)
        # Complex results that are exact may still have been made with FMA, or of infinities.
        self.rounded = [n for n, t, is_exact in outputs if not is_exact or t in generate.COMPLEX]
        self.given = given_by_reference(text, self.rounded)

    def check(self, reference, tool, folder):
        """(verdict, explanation). The tool gets the dressed module."""
        import numpy as np
        golden, actual = os.path.join(folder, "golden.npz"), os.path.join(folder, "actual.npz")
        reference.start({"module": self.module, "inputs": self.inputs, "output": golden, "given": self.given})
        verdict, why = run_tool(tool, self.dressed, self.inputs, actual)
        answer = reference.answer()
        if not answer["ok"]:
            return "passed over", answer["error"] + (f" (hlo-run: {verdict}: {why})" if verdict == "crash" else "")
        if verdict != "ok":
            return verdict, why
        try:
            why = self.differences(np.load(actual), np.load(golden))
        except NotImplementedError as e:
            return "no bounds", str(e)
        return ("wrong", why) if why else ("ok", "")

    def differences(self, a, g):
        """The first difference between hlo-run's arrays and the expected ones, as a message; empty if there is none."""
        from bounds import judge
        allowed = judge.bounds(self.text, self.specs, self.arrays, self.exact, self.rounded, {n: g[n] for n in self.given})
        for i, (name, t, _) in enumerate(self.outputs):
            if f"out{i}" not in a or f"out{i}" not in g:
                return f"out{i} is missing"
            x, y = a[f"out{i}"], g[f"out{i}"]
            text = judge.difference(allowed[name], x, y) if name in allowed else inequality(x, y, t)
            if text:
                return f"out{i} {name} {t}: {text}"
        return None


def flags_of(seed, tool):
    """Random flags: CPUs, numbers of threads, and buffers placed next to inaccessible pages. A tool that has --target in its
    command has the CPU it names there, or one of those that every machine of it has; its buffers are in another process."""
    r = random.Random(seed)
    target = next((word.partition("=")[2].partition("-")[0] for word in tool if word.startswith("--target=")), None)
    threads, cpu, guard = r.choice([1, 1, 1, 2, 3, 7]), r.choice(["host"] * 5 + CPUS), r.choice(["before", "after"])
    flags = [f"--threads={threads}"] * (threads > 1)
    if not target:
        return flags + [f"--cpu={cpu}"] * (cpu != "host") + [f"--guard-pages={guard}"]
    return flags + [f"--cpu={r.choice(CPUS_OF_TARGETS[target])}"] * (not any(word.startswith("--cpu=") for word in tool))


def case_of(seed, folder, most=40, family=None):
    """The module of a seed."""
    import dress
    import generate
    text, specs, outputs, exact = generate.generate(seed, most, family)
    return Case(folder, f"m{seed}", text, specs, generate.make_inputs(specs, seed), outputs, exact, dress.dress(text, seed))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--most", type=int, default=40, help="operations that a module is made of, at most")
    parser.add_argument("--large", type=float, help="share of modules that work on large arrays (0.06 if not given)")
    parser.add_argument("--family", help="operations of a file of families/ alone")
    parser.add_argument("--keep", default="build/fuzz")
    parser.add_argument("--verbose", action="store_true", help="also list what XLA refuses, and progress")
    options = parser.parse_args()
    if options.large is not None:
        import generate
        generate.LARGE = options.large
    tool, end, tally = shlex.split(options.tool), time.time() + (options.seconds or 1e9), collections.Counter()
    os.makedirs(options.keep, exist_ok=True)
    reference, literal = Reference(), None
    for seed in range(options.seed, options.seed + options.count):
        if time.time() > end:
            break
        with tempfile.TemporaryDirectory() as folder:
            case = case_of(seed, folder, options.most, options.family)
            verdict, why = case.check(reference, tool + flags_of(seed, tool), folder)
            if verdict == "wrong":
                if literal is None:
                    literal = Reference(f"--xla_disable_hlo_passes={SIMPLIFIERS}")
                if case.check(literal, tool + flags_of(seed, tool), folder)[0] == "ok":
                    verdict = "disputed"
            tally[verdict] += 1
            if options.verbose and sum(tally.values()) % 200 == 0:
                print(f"after m{seed}: " + ", ".join(f"{n} {k}" for k, n in sorted(tally.items())), flush=True)
            if verdict not in ("ok", "passed over"):
                for path in [case.module, case.dressed, case.inputs]:
                    shutil.copy(path, options.keep)
            if verdict not in ("ok", "passed over") or options.verbose and verdict != "ok":
                print(f"{verdict:8s} m{seed} {' '.join(flags_of(seed, tool))}: {why}", flush=True)
    reference.close()
    if literal:
        literal.close()
    print(", ".join(f"{n} {k}" for k, n in sorted(tally.items())))
    print(f"{tally['ok']} passed, {sum(n for k, n in tally.items() if k not in ('ok', 'passed over', 'disputed'))} failed")
    sys.exit(any(k not in ("ok", "passed over", "disputed") for k in tally))


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    try:
        import jax  # noqa: F401
        import ml_dtypes  # noqa: F401
    except ImportError:
        print("skipped: jax is not installed, so there is nothing to compare with")
        sys.exit(0)
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        main()
