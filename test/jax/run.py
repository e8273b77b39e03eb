"""Calls functions exported from JAX from C and compares their results with JAX's, byte for byte.

  run.py [--build=build] [--cc=cc] [--flags=-O1] [--keep=FOLDER] [--only=NAME ...]

Each function of functions.py is lowered to HLO text, compiled by hlo-compile, and called by one C program through the typed
struct of its header; buffers are row-major, and donated arguments share theirs with a result. training.py has two training
steps, which C programs run 200 times: losses and final state within 1e-5 of JAX's. sharded.py has functions of four
devices, which hlo-run runs on four ranks.
The last line reads 'N passed, N failed'; exit status 1 if any failed or none ran.

--only: names of functions and training steps.
--flags: of hlo-compile, such as "-O2 --cpu=host".
--keep: the folder for texts, objects, programs and arrays of the run.
Needs jax (0.10.2), numpy and ml_dtypes.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"  # for sharded.py

import jax  # noqa: E402
import numpy as np  # noqa: E402

import functions  # noqa: E402
import program  # noqa: E402
import sharded  # noqa: E402
import training  # noqa: E402

# A function in HLO text with the arrays of its entry: arguments that it reads, and JAX's results.
Exported = collections.namedtuple("Exported", "name text inputs outputs donates")


class Failure(Exception):
    pass


def export(name, function, arguments, donate, keep_unused=False):
    """Lowers the function and runs it in JAX."""
    jitted = jax.jit(function, donate_argnums=donate, keep_unused=keep_unused)
    lowered = jitted.lower(*arguments)
    # What an entry does not read is no parameter of it.
    kept = lowered._lowering.compile_args["kept_var_idx"]
    inputs = [np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(arguments)) if i in kept]
    results = jitted(*jax.tree.map(lambda leaf: jax.device_put(np.array(leaf)), arguments))
    outputs = [np.asarray(leaf) for leaf in jax.tree.leaves(results)]
    text = lowered.as_text(dialect="hlo")
    return Exported(name, text, inputs, outputs, "input_output_alias" in text)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"{os.path.basename(command[0])} {done.returncode}: {done.stdout.strip()[-1000:]}")
    return done.stdout


class Workplace:
    def __init__(self, options, folder):
        self.folder = folder
        self.tool = os.path.abspath(os.path.join(options.build, "bin/hlo-compile"))
        self.runtime = os.path.abspath(os.path.join(options.build, "lib/libhlo_rt.a"))
        self.hlo_run = os.path.abspath(os.path.join(options.build, "bin/hlo-run"))
        self.cc, self.flags = options.cc, options.flags.split()

    def compile(self, one):
        """The object and the header; the members of the struct, which must fit the function's arrays."""
        (self.folder / f"{one.name}.hlo").write_text(one.text)
        run([self.tool, f"{one.name}.hlo", *self.flags, "-o", f"{one.name}.o", f"--header={one.name}.h"], self.folder)
        inputs, outputs = program.members_of((self.folder / f"{one.name}.h").read_text())
        for kind, members, arrays in (("inputs", inputs, one.inputs), ("outputs", outputs, one.outputs)):
            if len(members) != len(arrays):
                raise Failure(f"{one.name}.h has {len(members)} {kind}, the function {len(arrays)}")
            for wrong in filter(None, map(program.mismatch, members, arrays)):
                raise Failure(wrong)
        if one.donates != any(m.alias for m in inputs):
            raise Failure("the header and the text disagree on donated arguments")
        return one.name, inputs, outputs

    def link(self, name, source, objects):
        (self.folder / f"{name}.c").write_text(source)
        run([self.cc, "-std=c11", "-Wall", "-Wextra", "-Werror", f"{name}.c", *(f"{o}.o" for o in objects), "-I.",
             f"-I{ROOT}/runtime/abi", self.runtime, "-lm", "-lpthread", "-o", name], self.folder)
        return self.folder / name


def differences(wanted, path):
    """Where the results in a file differ from JAX's; empty if they do not."""
    data, offset = path.read_bytes(), 0
    for i, array in enumerate(wanted):
        size = len(program.raw(array))
        found, offset = data[offset:offset + size], offset + size
        if found != program.raw(array):
            bad = [k for k in range(size) if found[k:k + 1] != program.raw(array)[k:k + 1]]
            yield f"result {i}, {array.dtype}{list(array.shape)}: {len(bad)} of {size} bytes differ, the first at {bad[0]}"
    if offset != len(data):
        yield f"{len(data)} bytes of results instead of {offset}"


def check_functions(place, only):
    """Yields (name, error or None) for each function."""
    cases = [c for c in functions.CASES if not only or c.name in only]
    compiled, exports, layouts = {}, {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in cases:
            try:
                with jax.enable_x64(one.x64):
                    exports[one.name] = export(one.name, one.function, functions.arguments_of(one), one.donate, one.keep_unused)
                compiled[one.name] = pool.submit(place.compile, exports[one.name])
            except Exception as error:  # whatever JAX says
                yield one.name, f"JAX: {type(error).__name__}: {error}"
    modules = []
    for name, future in compiled.items():
        try:
            modules.append(future.result())
            (place.folder / f"{name}.in").write_bytes(b"".join(map(program.raw, exports[name].inputs)))
            layouts += not is_row_major(exports[name].text)
        except (Failure, ValueError, OSError, subprocess.TimeoutExpired) as error:
            yield name, str(error)
    if cases:
        print(f"functions: results that are not row-major in {layouts} of {len(modules)} texts")
    if not modules:
        return
    try:
        executable = place.link("calls", program.calls_program(modules), [m[0] for m in modules])
    except Failure as error:
        yield "calls", str(error)
        return
    names, said = [m[0] for m in modules], {}
    first = 0
    while first < len(names):  # a second time if a call ended the program
        done = subprocess.run([executable, str(first)], cwd=place.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120)
        said.update(line.split(" ", 1) for line in done.stdout.splitlines() if line.split(" ")[0] in names)
        first = next((i for i, name in enumerate(names) if name not in said), len(names))
        if first < len(names):
            said[names[first]] = f"the program ended with {done.returncode}: {done.stdout[-200:]}"
    for name in names:
        if said[name] != "ok":
            yield name, said[name]
        else:
            yield name, "; ".join(differences(exports[name].outputs, place.folder / f"{name}.out")) or None


def is_row_major(text):
    """Whether the text's results all have row-major layouts, as JAX's runtime gives them."""
    results = text.split("\n", 1)[0].rpartition("->")[2]
    return all([int(d) for d in layout.split(",")] == list(range(layout.count(","), -1, -1))
               for layout in re.findall(r"\]\{([\d,]+)\}", results))


def check_training(place, one):
    """Runs a training step in JAX and in C. Returns an error or None."""
    state, losses = one.state, []
    step = jax.jit(one.step, donate_argnums=tuple(range(len(one.state))))
    exported = export(one.name, one.step, (*state, *one.batches[0]), tuple(range(len(state))))
    if is_row_major(exported.text):
        return "no result of the text has another layout than JAX's: this would not notice transposed state"
    for k in range(training.STEPS):
        *state, loss = step(*state, *one.batches[k % training.BATCHES])
        losses.append(float(loss))
    name, inputs, outputs = place.compile(exported)
    if sum(not m.alias for m in outputs) != 1:
        return "not all state is donated"
    source = program.loop_program(name, inputs, outputs, training.STEPS, training.BATCHES, one.in_place)
    arrays = [*jax.tree.leaves(one.state), *(a for batch in one.batches for a in batch)]
    (place.folder / f"{name}.in").write_bytes(b"".join(map(program.raw, arrays)))
    executable = place.link(name, source, [name])
    run([str(executable)], place.folder)
    data = (place.folder / f"{name}.out").read_bytes()
    ours = np.frombuffer(data[:4 * training.STEPS], np.float32)
    worst = float(np.max(np.abs(ours - losses)))
    print(f"{name}: {training.STEPS} steps, loss {losses[0]:.6f} -> {losses[-1]:.6f}, in C {ours[-1]:.6f}, largest difference {worst:.1e}")
    if not (losses[-1] < losses[0] / 4 and worst <= 1e-5):
        return f"losses differ by up to {worst:.1e}, or did not fall"
    offset = 4 * training.STEPS
    for i, leaf in enumerate(map(np.asarray, jax.tree.leaves(state))):
        found = np.frombuffer(data[offset:offset + leaf.nbytes], leaf.dtype).reshape(leaf.shape)
        offset += leaf.nbytes
        if not np.allclose(found, leaf, rtol=1e-3, atol=1e-4):
            return f"state {i} {list(leaf.shape)} differs by up to {np.max(np.abs(found - leaf)):.1e}"
    return None if offset == len(data) else "not the size of the state"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("--keep")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    passed = failed = 0

    def count(name, wrong):
        nonlocal passed, failed
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong is not None:
            print(f"FAILED {name}: {wrong}")

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        place = Workplace(options, folder)
        for name, wrong in check_functions(place, options.only):
            count(name, wrong)
        for one in training.trainings():
            if not options.only or one.name in options.only:
                try:
                    count(one.name, check_training(place, one))
                except (Failure, ValueError, OSError, subprocess.TimeoutExpired) as error:
                    count(one.name, str(error))
        for one in sharded.CASES:
            if not options.only or one.name in options.only:
                try:
                    count(f"{one.name} on {sharded.RANKS} ranks", sharded.check(one, place.hlo_run, folder))
                except Exception as error:  # whatever JAX says
                    count(one.name, f"{type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
