"""Shrinks a module on which hlo-run and XLA:CPU disagree, or which hlo-run refuses or crashes on.

  reduce.py MODULE.hlo [--tool=hlo-run]        inputs are in MODULE.npz; writes MODULE.min.hlo and MODULE.min.npz

Keeps one result, replaces operations of the entry by parameters (with small random integers) and those of other computations
by constants, and removes unused operations, as long as run.py's verdict stays the same: integers differ from XLA's, or floats
exceed their bounds.
"""
import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INSTRUCTION = re.compile(r"^  (ROOT )?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
WORD = re.compile(r"[A-Za-z_][\w.\-]*")


class Computation:
    def __init__(self, head, lines, tail=""):
        self.head, self.lines, self.tail = head, lines, tail  # lines: [name, type, opcode, rest, root]

    def text(self):
        return self.head + " {\n" + "\n".join(f"  {'ROOT ' if r else ''}{n} = {t} {o}({x}" for n, t, o, x, r in self.lines) + f"\n}}{self.tail}\n"


def parse(text):
    computations, lines, head = [], [], None
    for line in text.splitlines():
        if line.endswith("{") and not line.startswith(" "):
            head, lines = line[:-1].strip(), []
        elif line.startswith("}"):
            computations.append(Computation(head, lines, line[1:]))
        else:
            match = INSTRUCTION.match(line)
            if match:
                root, name, type_, opcode, rest = match.groups()
                if type_.startswith("("):  # a tuple's type may hold more brackets
                    whole = line.split(" = ", 1)[1]
                    depth = 0
                    for i, c in enumerate(whole):
                        depth += (c == "(") - (c == ")")
                        if depth == 0:
                            break
                    type_, (opcode, rest) = whole[:i + 1], whole[i + 2:].split("(", 1)
                lines.append([name, type_, opcode, rest, bool(root)])
    return computations


class Candidate:
    """A module and the arrays of its parameters, in order."""

    def __init__(self, computations, arrays):
        self.computations, self.arrays = computations, arrays

    def copy(self):
        return Candidate([Computation(c.head, [list(x) for x in c.lines], c.tail) for c in self.computations], list(self.arrays))

    @property
    def entry(self):
        return self.computations[-1]

    def tidy(self):
        """Removes operations that the root does not need, and renumbers the entry's parameters."""
        for c in self.computations:
            live = {n for n, _, o, _, r in c.lines if r or (o == "parameter" and c is not self.entry)}
            for n, _, o, x, _ in reversed(c.lines):
                if n in live and o not in ("constant", "parameter"):
                    live.update(WORD.findall(x))
            c.lines = [x for x in c.lines if x[0] in live]
        arrays = []
        for line in self.entry.lines:
            if line[2] == "parameter":
                arrays.append(self.arrays[int(line[3].split(")")[0])])
                line[3] = f"{len(arrays) - 1})"
        self.arrays = arrays
        used = set()
        keep = [self.entry]
        used.update(w for _, _, _, x, _ in self.entry.lines for w in WORD.findall(x))
        for c in reversed(self.computations[:-1]):
            if c.head in used:
                keep.append(c)
                used.update(w for _, _, _, x, _ in c.lines for w in WORD.findall(x))
        self.computations = keep[::-1]
        return self

    def text(self):
        return "HloModule reduced\n\n" + "\n".join(c.text() for c in self.computations)

    def size(self):
        return sum(3 + (o not in ("parameter", "constant")) * 5 for c in self.computations for _, _, o, _, _ in c.lines)


def single(type_):
    match = re.fullmatch(r"(\w+)\[([\d,]*)\](\{[\d,]*\})?", type_)
    return match and (match[1], tuple(int(d) for d in match[2].split(",") if d))


class Reducer:
    def __init__(self, tool, folder):
        import run
        self.run, self.tool, self.folder, self.reference = run, tool, folder, run.Reference()
        self.wanted = None

    def verdict(self, c):
        from bounds.interpreter import results_of
        from bounds.number import is_inexact
        text = c.text()
        types = [single(x[1]) for x in c.entry.lines if x[2] == "parameter"]
        outputs = [(name, t, not is_inexact(t)) for name, t in results_of(text)]
        return self.run.Case(self.folder, "r", text, types, c.arrays, outputs).check(self.reference, self.tool, self.folder)[0]

    def fails(self, c):
        try:
            v = self.verdict(c)
        except Exception:
            return False
        return v == self.wanted

    def attempts(self, c):
        """Smaller candidates than c, the boldest first."""
        import generate
        import numpy as np
        root = next(i for i, x in enumerate(c.entry.lines) if x[4])
        line = c.entry.lines[root]
        if line[2] == "tuple":
            for name in reversed(WORD.findall(line[3])):
                n = c.copy()
                del n.entry.lines[root]
                for x in n.entry.lines:
                    if x[0] == name:
                        x[4] = True
                yield n.tidy()
        for i in reversed(range(len(c.entry.lines))):
            name, type_, opcode, rest, is_root = c.entry.lines[i]
            if is_root and opcode not in ("parameter", "constant"):
                for operand in dict.fromkeys(WORD.findall(rest.split(")")[0])):  # an operand as the result
                    n = c.copy()
                    n.entry.lines[i][4] = False
                    for x in n.entry.lines:
                        if x[0] == operand:
                            x[4] = True
                    if any(x[4] for x in n.entry.lines):
                        yield n.tidy()
            kind = single(type_)
            if not kind or opcode in ("parameter", "constant") or is_root:
                continue
            n = c.copy()
            g = np.random.default_rng(i)
            spec = (kind[0], kind[1], "small", 0, 3)
            n.entry.lines[i] = [name, type_, "parameter", f"{len(n.arrays)})", False]
            n.arrays.append(generate.leaf(g, *spec))
            yield n.tidy()
        for k, f in enumerate(c.computations[:-1]):
            for i in reversed(range(len(f.lines))):
                name, type_, opcode, rest, is_root = f.lines[i]
                kind = single(type_)
                if not kind or opcode in ("parameter", "constant", "broadcast") and not kind[1]:
                    continue
                for replacement in [x for x in f.lines[:i] if x[1] == type_][:4]:
                    if not is_root:
                        n = c.copy()
                        for x in n.computations[k].lines:
                            if x[2] not in ("constant", "parameter"):
                                x[3] = re.sub(rf"(?<![\w.\-]){re.escape(name)}(?![\w.\-])", replacement[0], x[3])
                        if n.text() != c.text():
                            yield n.tidy()
                if opcode in ("parameter", "constant", "broadcast"):
                    continue
                n = c.copy()
                value = "(1, 0)" if kind[0][0] == "c" else "1" if kind[0] != "pred" else "true"
                lines = [[name, type_, "constant", value + ")", is_root]]
                if kind[1]:
                    lines = [[name + ".one", kind[0] + "[]", "constant", value + ")", False], [name, type_, "broadcast", f"{name}.one), dimensions={{}}", is_root]]
                n.computations[k].lines[i:i + 1] = lines
                yield n.tidy()

    def reduce(self, c):
        self.wanted = self.verdict(c)
        if self.wanted in ("ok", "passed over"):
            raise SystemExit(f"nothing to reduce: {self.wanted}")
        progress = True
        while progress:
            progress = False
            for n in self.attempts(c):
                if (n.size(), len(n.text())) < (c.size(), len(c.text())) and self.fails(n):
                    c, progress = n, True
                    break
        return c


def main():
    import numpy as np
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("--tool", default="hlo-run")
    options = parser.parse_args()
    base = options.module.removesuffix(".hlo")
    npz = np.load(base + ".npz")
    start = Candidate(parse(open(options.module).read()), [npz[f"in{i}"] for i in range(len(npz.files))])
    with tempfile.TemporaryDirectory() as folder:
        reducer = Reducer(options.tool.split(), folder)
        small = reducer.reduce(start)
        reducer.reference.close()
    with open(base + ".min.hlo", "w") as file:
        file.write(small.text())
    import generate
    np.savez(base + ".min.npz", **{f"in{i}": generate.to_bits(a) for i, a in enumerate(small.arrays)})
    print(small.text(), end="")


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    main()
