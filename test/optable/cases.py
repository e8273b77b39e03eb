"""A cell of the table: one small computation for one element type, and how its result is compared."""
import math
import re

from inputs import BITS, PART, element

SHAPE = re.compile(r"(\w+)\[([\d,<=]*)\]")


class Argument:
    """A parameter: its shape as text and its elements' raw bits (two parts for complex types)."""

    def __init__(self, shape, raw):
        self.shape = shape
        name, dims = SHAPE.match(shape).groups()
        self.name, self.dims = name, [int(d) for d in dims.split(",") if d]
        self.raw = [x & (1 << element(name).bits) - 1 for x in raw]
        wanted = math.prod(self.dims) * (2 if name in PART else 1)
        if len(self.raw) != wanted:
            raise ValueError(f"{shape}: {len(self.raw)} values, expected {wanted}")


class Case:
    """One cell, or one variant of it.

    `row`: the table's row; an opcode, or an opcode and what is particular. `type`: the column. `root`: the root
    instruction's right-hand side after its shape, `shape`; `before`: instructions before it; parameters are p0, p1, ...
    `helpers`: computations; their names begin with `@`. `tolerance`: ulps, or a float: relative to the largest
    magnitude of the result. `check`: "bits", "shape" (only the shape is compared). `reference`: a function of the
    arguments that gives the raw results where XLA:CPU cannot be asked or is wrong (a list per output).
    """

    def __init__(self, row, type, shape, root, *arguments, before=(), helpers="", variant="", tolerance=0,
                 check="bits", reference=None):
        self.row, self.type, self.shape, self.root = row, type, shape, root
        self.arguments = [a if isinstance(a, Argument) else Argument(*a) for a in arguments]
        self.before, self.helpers, self.variant = list(before), helpers, variant
        self.tolerance, self.check, self.reference = tolerance, check, reference

    @property
    def key(self):
        return " / ".join(filter(None, [self.row, self.type, self.variant]))

    def computation(self, name):
        lines = [f"  p{i} = {a.shape} parameter({i})" for i, a in enumerate(self.arguments)]
        lines += [f"  {line}" for line in self.before] + [f"  ROOT result = {self.shape} {self.root}"]
        text = f"{self.helpers.strip()}\n{name} {{\n" + "\n".join(lines) + "\n}\n"
        return text.lstrip().replace("@", name.split()[-1] + ".")

    def module(self):
        """The case alone."""
        return f"HloModule cell\n\n{self.computation('ENTRY cell')}"

    def sibling(self):
        """The case with 1- to 4-bit integers held in 8 bits, which XLA:CPU knows better; None if it has none."""
        narrow = re.compile(r"\b([su])[124](?=\[)")
        if not narrow.search(self.module()):
            return None
        arguments = []
        for a in self.arguments:
            raw_bits, form = a.raw, element(a.name)
            if narrow.match(a.shape):
                raw_bits = [form.decode(x) & 255 for x in a.raw]
            arguments.append(Argument(narrow.sub(r"\g<1>8", a.shape), raw_bits))
        return Case(self.row, self.type, narrow.sub(r"\g<1>8", self.shape), self.root, *arguments,
                    before=[narrow.sub(r"\g<1>8", line) for line in self.before],
                    helpers=narrow.sub(r"\g<1>8", self.helpers), variant=self.variant)

    def outputs(self):
        """(type, dims) of each array leaf of the result."""
        return [(m[1], [int(d.lstrip('<=')) for d in m[2].split(",") if d]) for m in SHAPE.finditer(self.shape)
                if m[1] != "token"]


def merged(cases):
    """One module that computes all cases: each is a call, and the root is the tuple of all results."""
    text, lines, number = "HloModule cells\n\n", [], 0
    for i, case in enumerate(cases):
        text += case.computation(f"cell{i}") + "\n"
        names = []
        for argument in case.arguments:
            lines.append(f"  a{number} = {argument.shape} parameter({number})")
            names.append(f"a{number}")
            number += 1
        lines.append(f"  r{i} = {case.shape} call({', '.join(names)}), to_apply=cell{i}")
    shapes = ", ".join(case.shape for case in cases)
    lines.append(f"  ROOT all = ({shapes}) tuple({', '.join(f'r{i}' for i in range(len(cases)))})")
    return text + "ENTRY all {\n" + "\n".join(lines) + "\n}\n"


def equal(form, raw, wanted, tolerance, scale):
    a, b = form.decode(raw), form.decode(wanted)
    if a != a or b != b:
        return a != a and b != b
    if raw == wanted:
        return True
    if isinstance(tolerance, float):
        return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= tolerance * scale
    return tolerance > 0 and abs(form.ordered(raw) - form.ordered(wanted)) <= tolerance


def differences(case, got, expected):
    """Descriptions of what differs: `got` and `expected` are raw bits per output."""
    found = []
    for number, ((name, dims), a, b) in enumerate(zip(case.outputs(), got, expected)):
        form = element(name)
        if len(a) != len(b):
            found.append(f"out{number}: {len(a)} values, expected {len(b)}")
            continue
        decoded = [form.decode(x) for x in b]
        scale = max([abs(x) for x in decoded if math.isfinite(x)], default=0)
        width = 2 if name in PART else 1
        for i, (x, y) in enumerate(zip(a, b)):
            if not equal(form, x, y, case.tolerance, scale):
                part = (".re", ".im")[i % 2] if width == 2 else ""
                found.append(f"out{number}[{i // width}]{part}: {form.decode(x)!r} ({x:#x}), "
                             f"expected {form.decode(y)!r} ({y:#x})")
    return found


def hexadecimal(name, raw):
    """Raw bits as text, a fixed number of digits an element."""
    digits = max(1, element(name).bits // 4)
    return "".join(f"{x & (1 << element(name).bits) - 1:0{digits}x}" for x in raw)


def from_hexadecimal(name, text):
    digits = max(1, element(name).bits // 4)
    return [int(text[i:i + digits], 16) for i in range(0, len(text), digits)]
