"""Properties of an HLO text for benchmarks: types of parameters and results, and the work of dots and convolutions.

Reads the text by line, without XLA; knows the shapes of one module's instructions by name.
"""
import re
from collections import namedtuple

Array = namedtuple("Array", "type dims")

BITS = {"pred": 8, "s2": 8, "u2": 8, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32,
        "s64": 64, "u64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128}


def count(array):
    n = 1
    for d in array.dims:
        n *= d
    return n


def size(array):
    """The size of an array in memory, in bytes."""
    return count(array) * BITS.get(array.type, 8) // 8


def arrays(text):
    """The arrays in a type's text: a tuple's elements in order."""
    return [Array(t, tuple(int(re.sub(r"\D", "", d)) for d in dims.split(",") if d.strip()))
            for t, dims in re.findall(r"\b([a-z]+[0-9]*(?:e[0-9]m[0-9]\w*)?)\[([0-9,<= ]*)\]", text)]


INSTRUCTION = re.compile(r"^\s*(ROOT )?%?([\w.-]+) = (.+?) ([a-z][a-z0-9-]*)\((.*)$")


class Module:
    """parameters, results: the entry computation's arrays, tuples flattened. instructions: name -> (type text, opcode, rest),
    of all computations. opcodes: the number of instructions of each."""

    def __init__(self, path):
        self.instructions, self.opcodes = {}, {}
        numbered, entry, self.results = {}, False, []
        with open(path) as file:
            for line in file:
                entry = entry or line.startswith("ENTRY")
                match = INSTRUCTION.match(line)
                if not match:
                    continue
                root, name, type_text, opcode, rest = match.groups()
                self.instructions[name] = type_text, opcode, rest
                self.opcodes[opcode] = self.opcodes.get(opcode, 0) + 1
                if entry and opcode == "parameter":
                    numbered[int(rest.split(")")[0])] = arrays(type_text)
                if entry and root:
                    self.results = arrays(type_text)
                if entry and line.startswith("}"):
                    break
        self.parameters = [a for i in sorted(numbered) for a in numbered[i]]

    def bytes(self):
        """The bytes of all parameters and results: the least memory traffic."""
        return sum(map(size, self.parameters + self.results))

    def operand(self, rest, index):
        """The array of an operand, whose text may start with its type."""
        depth, parts = 0, [""]
        for c in rest:
            if c == ")" and depth == 0:
                break
            depth += (c in "([{") - (c in ")]}")
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        name = parts[index].split()[-1].lstrip("%")
        return arrays(self.instructions[name][0])[0]

    def work(self):
        """(number of floating point or integer operations, element type of the operands) of all dots and convolutions.

        None if there are none, or if they are in loops."""
        if "while" in self.opcodes or "conditional" in self.opcodes:
            return None
        total, element = 0, None
        for type_text, opcode, rest in self.instructions.values():
            if opcode == "dot":
                total += self.dot_work(arrays(type_text)[0], rest)
            elif opcode == "convolution":
                total += self.convolution_work(arrays(type_text)[0], rest)
            else:
                continue
            element = self.operand(rest, 0).type
        return (total, element) if total else None

    def dot_work(self, result, rest):
        lhs = self.operand(rest, 0)
        contracted = re.search(r"lhs_contracting_dims=\{([0-9,]*)\}", rest).group(1)
        n = 2 * count(result)
        for d in contracted.split(","):
            n *= lhs.dims[int(d)] if d else 1
        return n * (4 if lhs.type.startswith("c") else 1)

    def convolution_work(self, result, rest):
        """Counts only products with an element of the input, not those with padding or holes."""
        lhs, rhs = self.operand(rest, 0), self.operand(rest, 1)
        labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", rest).groups()
        window = dict(re.findall(r"(\w+)=([\w-]+(?:x[\w-]+)*)", (re.search(r"window=\{([^}]*)\}", rest) or [None, ""])[1]))
        field = lambda name, default, d: window[name].split("x")[d] if name in window else default
        n = 2 * result.dims[labels[2].index("b")] * result.dims[labels[2].index("f")] * rhs.dims[labels[1].index("i")]
        for d in range(len(lhs.dims) - 2):
            extent, kernel, out = (a.dims[l.index(str(d))] for a, l in zip((lhs, rhs, result), labels))
            stride, left, right = int(field("stride", "1", d)), int(field("lhs_dilate", "1", d)), int(field("rhs_dilate", "1", d))
            low = int(field("pad", "0_0", d).split("_")[0])
            n *= sum(1 for o in range(out) for k in range(kernel)
                     if 0 <= (p := o * stride + k * right - low) <= (extent - 1) * left and p % left == 0)
        return n * (4 if lhs.type.startswith("c") else 1)
