"""Makes random valid HLO modules, the same for the same seed.

  generate.py SEED [--inputs=FILE.npz]        prints the module

A module is a DAG of 1 to 40 operations. Every value carries what is known of its elements: a bound of their magnitude and, if
all arithmetic so far is exact in its type, the power of two of which they are multiples. Values that are exact must agree
bit for bit between compilers, and only they may reach operations that jump (compare, floor, sort, conversion to integers, ...).
"""
import argparse
import math
import random
import re

import ml_dtypes
import numpy as np

# name: (numpy type, precision in bits, largest finite, exponent of the smallest subnormal)
FLOATS = {
    "f64": (np.float64, 53, 1e300, -1000), "f32": (np.float32, 24, 1e30, -120),
    "f16": (np.float16, 11, 65504, -14), "bf16": (ml_dtypes.bfloat16, 8, 1e30, -120),
    "f8e5m2": (ml_dtypes.float8_e5m2, 3, 57344, -14), "f8e4m3": (ml_dtypes.float8_e4m3, 4, 240, -6),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 4, 448, -6), "f8e3m4": (ml_dtypes.float8_e3m4, 5, 15.5, -2),
    "f8e4m3b11fnuz": (ml_dtypes.float8_e4m3b11fnuz, 4, 30, -10), "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 3, 57344, -14),
    "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 4, 240, -6), "f4e2m1fn": (ml_dtypes.float4_e2m1fn, 2, 6, -1),
}
WIDE = ["f64", "f32", "f16", "bf16"]
NARROW = [t for t in FLOATS if t not in WIDE]
COMPLEX = {"c64": "f32", "c128": "f64"}
INTS = {**{f"{k}{w}": (k, w) for w in (8, 16, 32, 64) for k in "su"}, "s4": ("s", 4), "u4": ("u", 4),
        "s2": ("s", 2), "u2": ("u", 2)}
BYTES = [t for t, (_, w) in INTS.items() if w >= 8]
NUMBERS = list(FLOATS) + list(COMPLEX) + list(INTS)
STORED = {"s4": np.int8, "u4": np.uint8, "s2": np.int8, "u2": np.uint8, "pred": np.bool_}


def bits(t):
    if t == "pred":
        return 1
    return int(re.search(r"\d+", t)[0])


def least(*qs):
    return None if any(q is None for q in qs) else min(qs)


def part(t):
    return COMPLEX.get(t, t)


def is_float(t):
    return t in FLOATS


LARGE = 0.06  # of all modules work on large arrays


class Unfit(Exception):
    """No value of the wanted type and shape can be made within the limits."""


class Value:
    def __init__(self, name, type_, dims, q=0, bound=1.0, positive=False, op=""):
        self.name, self.type, self.dims, self.q, self.bound = name, type_, tuple(dims), q, bound
        self.positive, self.op = positive, op

    @property
    def exact(self):
        return self.q is not None or self.type in INTS or self.type == "pred"

    @property
    def size(self):
        return math.prod(self.dims)


def shape(t, dims):
    return f"{t}[{','.join(map(str, dims))}]"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


class Module:
    """State shared by all computations of one module."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.computations, self.names, self.specs, self.counter = [], {}, [], 0
        self.exact = set()  # names of floats that no rounding changes, or whose rounding is what they mean
        self.layouts = r.random() < 0.25
        self.zero = r.random() < 0.08
        self.big = r.random() < 0.15
        self.deep = r.random() < 0.05
        self.large = random.Random(f"large {seed}").random() < LARGE
        self.sizes = None       # what dimensions are drawn from, if not from all
        self.elements = None    # of an array, at most
        self.operations = None  # ([maker, ...], [weight, ...]) instead of those of families/
        self.comma = r.choice([", ", ", ", ",", " ", ",, ", " /*,*/ "])
        types = ["f32"] * 4 + ["s32", "pred"]
        style = r.random()
        if style < 0.35:
            types += r.sample(WIDE, 1) + r.sample(BYTES, 2) + r.sample(list(COMPLEX), 1)
        elif style < 0.55:
            types = r.sample(BYTES, 4) + r.sample(list(INTS), 2) + ["pred"]
        elif style < 0.65:
            types = r.sample(NARROW, 2) + ["f32", "f16", "bf16", "s8"]
        elif style < 0.75:
            types = list(COMPLEX) * 2 + ["f32", "f64"]
        elif style < 0.9:
            types += r.sample(WIDE, 2)
        self.types = types

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}.{self.counter}"

    def computation(self, text, stem="f"):
        """The name of a computation with this body; equal bodies are one."""
        if text not in self.names or self.random.random() < 0.2:
            name = self.fresh(stem)
            self.names[text] = name
            self.computations.append(f"{name} {{\n{text}\n}}\n")
        return self.names[text]

    def combiner(self, op, t, plain=False):
        s = shape(t, ())
        if self.random.random() < 0.2:
            return self.computation(f"  a = {s} parameter(1)\n  b = {s} parameter(0)\n  ROOT r = {s} {op}(b, a)", op)
        if t in INTS and op in ("add", "maximum", "minimum") and not plain and self.random.random() < 0.2:  # the same, hidden
            if op == "add":
                tail = f"  c = {s} negate(b)\n  ROOT r = {s} subtract(a, c)"
            else:
                tail = f"  c = pred[] compare(a, b), direction={'GT' if op == 'maximum' else 'LT'}\n  ROOT r = {s} select(c, a, b)"
            return self.computation(f"  a = {s} parameter(0)\n  b = {s} parameter(1)\n{tail}", op)
        return self.computation(f"  a = {s} parameter(0)\n  b = {s} parameter(1)\n  ROOT r = {s} {op}(a, b)", op)


def settle(t, q, bound):
    """Whether the type represents all multiples of 2^q up to the bound."""
    if t in INTS or t == "pred":
        return 0
    p, largest, low = FLOATS[part(t)][1:]
    if q is None or bound > largest or q < low or bound > 2.0 ** (q + p):
        return None
    return q


class Builder:
    def __init__(self, module, entry=False, depth=0):
        self.module, self.random, self.entry, self.depth = module, module.random, entry, depth
        self.lines, self.values = [], []
        self.hidden = []  # results that no other operation may read

    # ---- values -------------------------------------------------------------------------------------------------------
    def raw(self, type_text, text, stem="v", reference=None):
        """Adds a line. `reference` replaces it for XLA: (NAME = TYPE TEXT ; )* TEXT, or - for nothing."""
        name = self.module.fresh(stem)
        if reference:
            head, _, tail = reference.rpartition(" ; ")
            text += "  // xla: " + (head + " ; " if head else "") + (tail if tail == "-" else f"{type_text} {tail}")
        self.lines.append((name, type_text, text))
        return name

    def emit(self, t, dims, text, q=0, bound=1.0, positive=False, reference=None):
        most = self.module.elements or (600000 if self.module.large else 300000 if self.module.big else 9000)
        if math.prod(dims) > most or len(dims) > 9:
            return None
        if t in INTS or t == "pred":
            q = 0
        elif bound > min(1e6, FLOATS[part(t)][2]):
            return None
        else:
            q = settle(t, q, bound)
        layout = ""
        if self.module.layouts and len(dims) > 1 and self.random.random() < 0.3 and not reference:
            layout = braces(self.random.sample(range(len(dims)), len(dims)))
        op = text.split("(")[0]
        if self.random.random() < 0.02:
            self.lines.append((self.module.fresh("noise"), "s32[]", "constant(3)"))
        v = Value(self.raw(shape(t, dims) + layout, text, reference=reference), t, dims, q, bound, positive, op)
        self.values.append(v)
        if q is not None and t not in INTS and t != "pred":
            self.module.exact.add(v.name)
        return v

    def keep(self, v, dims, text, reference=None):
        """Adds a rearrangement of the elements of v."""
        return self.emit(v.type, dims, text, v.q, v.bound, v.positive, reference)

    def spread(self, v, dims, axes):
        """v along `axes` of an array; None if there is no v."""
        return v and self.keep(v, dims, f"broadcast({v.name}), dimensions={braces(axes)}")

    def parameter(self, t, dims, kind=None, low=0, high=1):
        r = self.random
        if kind is None:
            kind = r.choice(["small", "small", "normal"]) if t not in INTS else r.choice(["small", "bits", "bits"])
        if is_float(t) or t in COMPLEX:
            top = 4 if FLOATS[part(t)][1] > 4 else 2
            q, bound = {"small": (0, top), "distinct": (0, math.prod(dims)), "normal": (None, 4), "positive": (None, 2)}.get(kind, (None, 4))
            bound *= 1.5 if t in COMPLEX else 1
        else:
            q, bound = 0, 1
        index = len(self.module.specs)
        self.module.specs.append((t, tuple(dims), kind, low, high))
        v = self.emit(t, dims, f"parameter({index})", q, bound, positive=kind == "positive")
        if v is None:
            self.module.specs.pop()
        return v

    def scalar(self, t, value):
        text = f"({value}, 0)" if t in COMPLEX else str(value)
        if t == "pred":
            text = "true" if value else "false"
        return self.emit(t, (), f"constant({text})", self.quantum(value), abs(value))

    @staticmethod
    def quantum(value):
        if value == 0:
            return 0
        q = 0
        while value != int(value):
            value *= 2
            q -= 1
        return q

    def filled(self, t, dims, value):
        s = self.scalar(t, value)
        return self.keep(s, dims, f"broadcast({s.name}), dimensions={{}}") if dims else s

    def pick(self, test=lambda v: True):
        found = [v for v in self.values if test(v)]
        if not found:
            return None
        if self.random.random() < 0.5:
            found = found[-6:]
        return self.random.choice(found)

    def dim(self):
        if self.module.zero and self.random.random() < 0.15:
            return 0
        if self.module.sizes:
            return self.random.choice(self.module.sizes)
        if self.module.big and self.random.random() < 0.3:
            return self.random.choice([64, 100, 128, 257])
        return self.random.choice([1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65])

    def dims(self, rank=None):
        if rank is None:
            rank = self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7] + [8, 9] * self.module.deep)
        d = [self.dim() for _ in range(rank)]
        while math.prod(d) > min(self.module.elements or 200000, 200000 if self.module.big else 3000):
            i = d.index(max(d))
            d[i] = max(1, d[i] // 2)
        return tuple(d)

    def type(self, allowed=None):
        types = [t for t in self.module.types if allowed is None or t in allowed]
        return self.random.choice(types) if types else self.random.choice(list(allowed))

    def get(self, t, dims, exact=False, positive=False):
        """A value of this type and shape: an existing one, or a new one."""
        v = self.find_or_make(t, dims, exact, positive)
        if v is None:
            raise Unfit
        return v

    def find_or_make(self, t, dims, exact, positive):
        r, dims = self.random, tuple(dims)

        def good(v):
            return v.type == t and v.dims == dims and (not exact or v.exact) and (not positive or v.positive)
        old = self.pick(good)
        if old and r.random() < 0.75:
            return old
        if positive:
            if self.entry and r.random() < 0.6 and is_float(t):
                return self.parameter(t, dims, "positive")
            v = self.get(t, dims, exact)
            if t not in FLOATS:
                return v
            a = self.emit(t, dims, f"abs({v.name})", v.q, v.bound)
            half = self.filled(t, dims, 0.5)
            out = a and half and self.emit(t, dims, f"add({a.name}, {half.name})",
                                  None if a.q is None else min(a.q, -1), a.bound + 0.5, True)
            return out or self.parameter_or_constant(t, dims, exact)
        choice = r.random()
        if choice < 0.2 and dims:
            b = [i for i in range(len(dims)) if r.random() < 0.5]
            v = self.pick(lambda v: v.type == t and v.dims == tuple(dims[i] for i in b) and (not exact or v.exact))
            if v is not None:
                return self.keep(v, dims, f"broadcast({v.name}), dimensions={braces(b)}")
        if choice < 0.35:
            v = self.pick(lambda v: v.type == t and v.size == math.prod(dims) and v.dims != dims and (not exact or v.exact))
            if v is not None:
                return self.keep(v, dims, f"reshape({v.name})")
        return self.parameter_or_constant(t, dims, exact)

    def parameter_or_constant(self, t, dims, exact=False):
        r, n = self.random, math.prod(dims)
        if self.entry and len(self.module.specs) < 9 and r.random() < 0.8:
            return self.parameter(t, dims, "small" if exact and t not in INTS else None)
        if dims and t != "pred" and t in ["f32", "f64", "s32", "u32", "s64", "u8", "s8", "c64", "f16", "s16", "u64"] and r.random() < 0.4:
            d = r.randrange(len(dims))
            return self.emit(t, dims, f"iota(), iota_dimension={d}", 0, max(dims[d], 1) * 1.0)
        if 0 < n <= 24 or n == 0 and dims and r.random() < 0.5 and math.prod(dims[:dims.index(0)]) <= 100:  # its braces
            return self.constant(t, dims, [r.randint(-3 if t[0] not in "up" else 0, 3) for _ in range(n)])
        return self.filled(t, dims, r.choice([0, 1, 1, 2] if t not in ("pred", "s2") else [0, 1]))

    def constant(self, t, dims, values):
        if t in ("s2", "u2"):
            values = [abs(v) % 2 for v in values]
        if t == "pred":
            values = [v % 2 for v in values]

        def one(v):
            if t in COMPLEX:
                return f"({v}, {-v})"
            if t == "pred":
                return r.choice(["true", "1", "-5"] if v else ["false", "0"])
            if t in FLOATS and r.random() < 0.2:
                return r.choice([f"{v}.0", f"{v}.", f"{v}e0", f"{v}0E-1", f"{v}.00e+00"])
            return str(v)

        def literal(dims, values):
            if not dims:
                return one(values[0])
            step = len(values) // dims[0] if dims[0] else 0
            return "{" + comma.join(literal(dims[1:], values[i * step:(i + 1) * step]) for i in range(dims[0])) + "}"
        r, comma = self.random, self.module.comma
        bare = len(values) == 1 and len(dims) == 1 and t not in COMPLEX and r.random() < 0.3  # a list of one may go without braces
        return self.emit(t, dims, f"constant({literal(() if bare else dims, values)})", 0, 3 * (1.5 if t in COMPLEX else 1))

    def any(self, types=None, rank=None, exact=False, minimum=0):
        """A value whose type is one of `types`, with at least `minimum` dimensions."""
        v = self.pick(lambda v: (types is None or v.type in types) and len(v.dims) >= minimum and (not exact or v.exact) and
                      (rank is None or len(v.dims) == rank))
        if v is not None and self.random.random() < 0.85:
            return v
        d = self.dims(rank)
        while len(d) < minimum:
            d = self.dims()
        return self.get(self.type(types), d, exact)

    # ---- regions ------------------------------------------------------------------------------------------------------
    def body(self, root):
        return "\n".join(f"  {'ROOT ' if n == root else ''}{n} = {t} {x}" for n, t, x in self.lines)

    def sub(self, arguments):
        """A builder whose parameters look like the arguments."""
        b = Builder(self.module, depth=self.depth + 1)
        for i, a in enumerate(arguments):
            b.values.append(Value(b.raw(shape(a.type, a.dims), f"parameter({i})", "p"), a.type, a.dims, a.q, a.bound, a.positive))
        return b

    def grow(self, count):
        import families  # which needs the classes of this file
        for _ in range(count):
            families.step(self)


def finish(b):
    """Returns the module's text."""
    r, m = b.random, b.module
    used = " ".join(x for _, _, x in b.lines)
    words = set(re.findall(r"[\w\-]+\.\d+", used))
    sinks = [v for v in b.values if v.name not in words and (v.op != "parameter" or r.random() < 0.2)]
    extra = [v for v in b.values if v.op not in ("parameter", "constant") and r.random() < 0.06]
    outputs = list(dict.fromkeys(sinks + extra + b.hidden)) or [b.values[-1]]
    r.shuffle(outputs)
    outputs = outputs[:12]
    if len(outputs) == 1 and r.random() < 0.7:
        root = outputs[0].name
        if outputs[0].op == "parameter":
            root = b.raw(shape(outputs[0].type, outputs[0].dims), f"copy({root})", "root")
    elif len(outputs) > 2 and r.random() < 0.2:
        inner = b.raw("(" + ", ".join(shape(v.type, v.dims) for v in outputs[1:]) + ")", f"tuple({', '.join(v.name for v in outputs[1:])})")
        inner_type = b.lines[-1][1]
        root = b.raw(f"({shape(outputs[0].type, outputs[0].dims)}, {inner_type})", f"tuple({outputs[0].name}, {inner})", "root")
    else:
        root = b.raw("(" + ", ".join(shape(v.type, v.dims) for v in outputs) + ")", f"tuple({', '.join(v.name for v in outputs)})", "root")
    text = "HloModule fuzz\n\n" + "\n".join(m.computations) + "\nENTRY main {\n" + b.body(root) + "\n}\n"
    return text, [(v.name, v.type, v.exact) for v in outputs]


def generate(seed, most=40, family=None):
    """A module of up to `most` operations, of one family if it is named, and what they need: (text, parameter specifications,
    outputs, names of exact values)"""
    m = Module(seed)
    if family:
        import families
        m.operations, m.large, m.big = families.only(family), False, True
    b = Builder(m, entry=True)
    b.parameter(b.type(), b.dims())
    b.grow(b.random.choice([n for n in ((1, 2, 3) if m.large else (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)) if n <= most]))
    text, outputs = finish(b)
    return text, m.specs, outputs, m.exact


def for_reference(text):
    """The module without layouts, with the replacements that operations give for XLA."""
    lines = []
    for line in text.splitlines():
        match = re.fullmatch(r"( *(?:ROOT )?[\w.\-]+ = ).*  // xla: (.*)", line)
        if not match:
            lines.append(line)
        elif match[2] != "-":
            *before, last = match[2].split(" ; ")
            lines += ["  " + x for x in before] + [match[1] + last]
    return re.sub(r"\]\{[\d,]*\}", "]", "\n".join(lines) + "\n")


# ---- inputs -----------------------------------------------------------------------------------------------------------
def numpy_type(t):
    if t in STORED:
        return np.dtype(STORED[t])
    if t in FLOATS:
        return np.dtype(FLOATS[t][0])
    return np.dtype({"c64": np.complex64, "c128": np.complex128}.get(t) or f"{'u' if t[0] == 'u' else ''}int{t[1:]}")


def leaf(g, t, dims, kind, low, high):
    dtype = numpy_type(t)
    if t == "pred":
        return g.integers(0, 2, dims).astype(np.bool_)
    if kind == "distinct":
        return g.permutation(math.prod(dims)).reshape(dims).astype(dtype)
    if kind == "index":
        return g.integers(low, high + 1, dims).astype(np.int64).astype(dtype)
    if t in INTS:
        sign, width = INTS[t]
        if kind == "bits" and width >= 8:
            x = np.frombuffer(g.bytes(math.prod(dims) * dtype.itemsize), dtype).reshape(dims).copy()
            edges = np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
            return np.where(g.integers(0, 8, dims) == 0, edges[g.integers(0, 4, dims)], x)
        top = min(2 ** (width - (sign == "s")) - 1, 9)
        return g.integers(-top if sign == "s" and kind != "bits" else 0, top + 1, dims).astype(dtype)
    top = 4 if FLOATS[part(t)][1] > 4 else 2
    if kind == "small":
        x = g.integers(-top, top + 1, dims).astype(np.float64)
        if t in COMPLEX:
            x = x + 1j * g.integers(-top, top + 1, dims)
    elif kind == "positive":
        x = g.uniform(0.5, 2, dims)
    elif kind == "spd":
        n = dims[-1]
        a = g.uniform(-1, 1, dims) + (1j * g.uniform(-1, 1, dims) if t in COMPLEX else 0)
        x = a @ np.conj(np.swapaxes(a, -1, -2)) / max(n, 1) + np.eye(n) * 2
    elif kind == "triangular":
        n = dims[-1]
        x = g.uniform(-1, 1, dims) / max(n, 1) + np.eye(n) * 2
        if t in COMPLEX:
            x = x + 1j * g.uniform(-1, 1, dims) / max(n, 1)
    else:
        x = np.clip(g.standard_normal(dims), -3.9, 3.9)
        if t in COMPLEX:
            x = x + 1j * np.clip(g.standard_normal(dims), -3.9, 3.9)
        if kind == "special" and dims:
            x = np.where(g.integers(0, 3, dims) == 0, g.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e38, -1e-30, 0.5, 1.5, 2.5], dims), x)
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(dtype)


def make_inputs(specs, seed):
    g = np.random.default_rng(seed)
    return [leaf(g, *spec) for spec in specs]


def to_bits(x):
    return x if x.dtype.isbuiltin == 1 else x.view({1: np.uint8, 2: np.uint16}[x.dtype.itemsize])


def save(path, arrays):
    np.savez(path, **{f"in{i}": to_bits(np.asarray(x)) for i, x in enumerate(arrays)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--inputs")
    options = parser.parse_args()
    text, specs, _, _ = generate(options.seed)
    print(text, end="")
    if options.inputs:
        save(options.inputs, make_inputs(specs, options.seed))


if __name__ == "__main__":
    from generate import main as run  # one copy of the classes, for families/ too
    run()
