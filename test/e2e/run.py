"""Runs the cases of end-to-end tests: HLO modules with inputs and expected results in comments of the same file.

  run.py [--tool=COMMAND] [--filter=REGEX] [--keep=FOLDER] [--cache=FOLDER] [--jobs=N] [--constants] FILE.hlo|FOLDER
         [FLAG of the tool]...

COMMAND is called as `COMMAND MODULE --inputs=IN.npz --outputs=OUT.npz`; the default is hlo-run. Of a folder all files are
run, those of its folders too. README.md in this folder describes the form of a case.

With --constants the parameters that a case lists in --immutable-params=NAME,... are constants of the module instead.

With --cache the values of inputs and results are kept in FOLDER for the next run of the same file, with other flags.
"""
import argparse
import cmath
import concurrent.futures
import functools
import glob
import hashlib
import itertools
import math
import os
import pickle
import random
import re
import shlex
import subprocess
import sys
import tempfile
import zlib

import values
from values import Array, BITS, PART, element, indices, parts

DIRECTIVE = re.compile(r"// (in\d+|out\d+|for|tolerance|flags)\b\s*:?\s*(.*)")
TYPED = re.compile(r"(\w+)\[([\d,]*)\]\s*=\s*(.*)", re.DOTALL)


def rounding(name):
    return lambda x: element(name).decode(element(name).encode(x))


def fill(shape, function):
    """The array whose element at (i, j, ...) is function(i, j, ...)."""
    return [function(*index) for index in indices(shape)]


def ints(seed, count, low, high):
    """`count` pseudo-random integers from low to high, the same on every machine."""
    generator = random.Random(seed)
    return [generator.randint(low, high) for _ in range(count)]


NAMES = {"math": math, "cmath": cmath}
NAMES.update({name: getattr(math, name) for name in dir(math) if not name.startswith("_")})
NAMES.update({name: rounding(name) for name in BITS if BITS[name].kind == "float"})
NAMES.update(fill=fill, ints=ints, prod=math.prod, Array=Array)


@functools.cache
def version():
    """What gives the values of a case beside its text."""
    return b"".join(open(name, "rb").read() for name in (__file__, values.__file__))


def evaluate(directives, cache):
    """[(name, array)] of directives such as ("in0", "f32[2] = [1, 2]"), each of which may use those before it. They are kept in the
    folder `cache`, if there is one, and read from it."""
    file = cache and os.path.join(cache, hashlib.sha256(version() + repr(directives).encode()).hexdigest() + ".pickle")
    if file and os.path.exists(file):
        with open(file, "rb") as kept:
            return pickle.load(kept)
    scope = dict(NAMES)
    for name, text in directives:
        scope[name] = parse_array(text, scope)
    arrays = [(name, scope[name]) for name, _ in directives]
    if file:
        os.makedirs(cache, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache, delete=False) as kept:
            pickle.dump(arrays, kept)
        os.replace(kept.name, file)
    return arrays


class Case:
    """One module after substitution of `for` variables."""

    def __init__(self, name, text, directives, cache):
        self.name, self.text = name, text
        self.tolerance, self.flags, self.inputs, self.expected = None, [], {}, {}
        arrays = []
        for key, value in directives:
            if key == "tolerance":
                number, _, unit = value.partition(" ")
                self.tolerance = (float(number), unit.strip() or "relative")
            elif key == "flags":
                self.flags = shlex.split(value)
            elif key != "for":
                arrays.append((key, value))
        for key, array in evaluate(arrays, cache):
            (self.inputs if key.startswith("in") else self.expected)[key] = array

    def make_constants(self):
        """Turns the immutable parameters into constants."""
        flag = next((flag for flag in self.flags if flag.startswith("--immutable-params=")), "=")
        self.flags = [other for other in self.flags if other != flag]
        names, kept = flag.partition("=")[2].split(","), {}

        def replace(match):
            name, type_, number = match.groups()
            array = self.inputs[f"in{number}"]
            if name in names:
                return f"{name} = {type_} constant({literal(list(array), array.shape)})"
            kept[f"in{len(kept)}"] = array
            return f"{name} = {type_} parameter({len(kept) - 1})"
        self.text = re.sub(r"(\w+) = (\S+) parameter\((\d+)\)", replace, self.text)
        self.inputs = kept

    def compare(self, outputs):
        """Descriptions of what differs."""
        for key, array in self.expected.items():
            if key not in outputs:
                yield f"{key}: missing"
                continue
            descr, shape, raw = outputs[key]
            if descr != values.descr(array.name) or shape != array.shape:
                yield f"{key}: {descr}{shape}, expected {values.descr(array.name)}{array.shape}"
                continue
            yield from self.compare_elements(key, array, raw)
        for key in outputs.keys() - self.expected.keys():
            yield f"{key}: not expected"

    def compare_elements(self, key, array, raw):
        form = element(array.name)
        wanted = [form.encode(part) for value in array for part in parts(array.name, value)]
        bad = [i for i, (a, b) in enumerate(zip(raw, wanted, strict=True)) if not self.equal(form, a, b)]
        for i in bad[:8]:
            width = 2 if array.name in PART else 1
            where = position(array.shape, i // width) + (".im" if i % width else "")
            yield f"{key}{where}: {form.decode(raw[i])!r}, expected {form.decode(wanted[i])!r}"
        if len(bad) > 8:
            yield f"{key}: {len(bad)} elements differ in all"

    def equal(self, form, raw, wanted):
        a, b = form.decode(raw), form.decode(wanted)
        if a != a or b != b:
            return a != a and b != b
        if raw == wanted or not self.tolerance:
            return raw == wanted  # zeros have signs
        if self.tolerance[1] == "ulp":
            return abs(form.ordered(raw) - form.ordered(wanted)) <= self.tolerance[0]
        return abs(a - b) <= self.tolerance[0] * max(1, abs(b))


def literal(elements, shape):
    """An array in HLO text, of its elements in row-major order."""
    if not shape:
        return str(elements[0])
    step = len(elements) // shape[0]
    return "{" + ", ".join(literal(elements[i:i + step], shape[1:]) for i in range(0, len(elements), step)) + "}"


def position(shape, flat):
    index = []
    for d in reversed(shape):
        index.append(flat % d)
        flat //= d
    return str(list(reversed(index)))


def parse_array(text, scope):
    match = TYPED.fullmatch(text.strip())
    if not match:
        raise SystemExit(f"error: expected TYPE[DIMS] = VALUES, not: {text}")
    name, dims, expression = match.groups()
    shape = [int(d) for d in dims.split(",") if d]
    result = eval(expression, scope)
    result = list(result) if hasattr(result, "__iter__") else [result] * math.prod(shape)
    if len(result) != math.prod(shape):
        raise SystemExit(f"error: {len(result)} values for {text}")
    return Array(name, shape, result)


def read_cases(path, cache=None):
    for text in re.split(r"^// -----.*$", open(path).read(), flags=re.MULTILINE):
        directives, loops = [], []
        for line in text.splitlines():
            match = DIRECTIVE.match(line)
            if match:
                directives.append([match[1], match[2]])
            elif line.startswith("//    ") and directives:
                directives[-1][1] += " " + line[2:].strip()
        for key, value in directives:
            if key == "for":
                variables, _, choices = value.partition(" in ")
                loops.append([list(zip(variables.strip().split(","), choice.split(","), strict=True))
                              for choice in choices.split()])
        header = re.search(r"^HloModule ([\w.\-$]+)", text, re.MULTILINE)
        if not header:
            continue
        for choice in itertools.product(*loops):
            pairs = dict(itertools.chain(*choice))

            def substitute(string, pairs=pairs):
                return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda match: pairs.get(match[1] or match[2], match[0]), string)
            name = ".".join([header[1], *pairs.values()])
            yield Case(name, substitute(text), [(k, substitute(v)) for k, v in directives], cache)


def run_case(case, tool, flags, folder):
    os.makedirs(folder, exist_ok=True)
    module = os.path.join(folder, re.sub(r"[^\w.\-]", "_", case.name) + ".hlo")
    files = [module.replace(".hlo", suffix) for suffix in (".in.npz", ".out.npz")]
    with open(module, "w") as file:
        file.write(case.text)
    values.write_npz(files[0], case.inputs)
    # All buffers lie at pages that nothing may touch: one half of the cases at their start, the other at their end. Not in
    # the process of an emulator.
    here = "hlo-run" in tool[0] and not any(flag.startswith(("--target=", "--emulator=")) for flag in [*tool, *flags])
    guard = ["--guard-pages=" + ("before", "after")[zlib.crc32(case.name.encode()) % 2]] * here
    done = subprocess.run([*tool, module, f"--inputs={files[0]}", f"--outputs={files[1]}", *guard, *case.flags, *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        return [f"exit code {done.returncode}"] + done.stdout.splitlines()[:12]
    return list(case.compare(values.read_npz(files[1])))


def run_file(path, options, flags, folder):
    """What failed, as text, and how many cases passed and failed."""
    lines, passed, failed = [], 0, 0
    for case in read_cases(path, options.cache):
        if re.search(options.filter, case.name):
            if options.constants:
                case.make_constants()
            problems = run_case(case, shlex.split(options.tool), flags, folder)
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                lines.append(f"{path}: {case.name}: " + "\n  ".join(problems))
    return lines, passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", help="folder that receives modules and arrays")
    parser.add_argument("--cache", help="folder that keeps values of inputs and results for the next run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--constants", action="store_true", help="immutable parameters are constants")
    options, flags = parser.parse_known_args()
    paths = sorted(glob.glob(f"{options.file}/**/*.hlo", recursive=True)) if os.path.isdir(options.file) else [options.file]
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        folder = options.keep or folder
        # Cases of different files may have one name.
        work = [pool.submit(run_file, path, options, flags, os.path.join(folder, str(number)) if len(paths) > 1 else folder)
                for number, path in enumerate(paths)]
        for result in work:
            lines, good, bad = result.result()
            passed, failed = passed + good, failed + bad
            for line in lines:
                print(line, flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


if __name__ == "__main__":
    main()
