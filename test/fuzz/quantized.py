"""Compares hlo-run with XLA:CPU on random chains of quantized layers; every result must agree bit for bit.

  quantized.py [--tool=hlo-run] [--seed=0] [--count=100] [--keep=build/fuzz]

Layers are products, convolutions (of all channels or depthwise), pools and residual sums of bytes; each is rescaled in f32,
bounded and rounded in one of the ways in which programs write it. Some products are of floats: bytes converted, moved by a
zero point and scaled, or values that were rounded and bounded but stayed floats. Scales and offsets are such that at most the last product
before rounding is inexact, so that neither multiply-adds nor the order of sums matter. A module that fails is kept in --keep
with its inputs as qSEED. The last line reads 'N passed, N failed'; exit status 1 if any failed. Without jax it says so and
exits with 0.
"""
import argparse
import math
import os
import random
import shlex
import shutil
import sys
import tempfile

from run import HERE, Reference, flags_of, inequality, run_tool

LIMITS = {"s8": (-128, 127), "u8": (0, 255), "s16": (-32768, 32767), "f32": None}


def shape(t, dims):
    return f"{t}[{','.join(map(str, dims))}]"


class Chain:
    """The text of one module: `value` is (name, type, dimensions) of the layer that was added last, NHWC."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.lines, self.specs, self.results = [], [], []
        dims = (r.choice([1, 1, 2]), r.choice([1, 5, 8, 13]), r.choice([1, 4, 7, 16]), r.choice([1, 3, 16, 19, 32, 40]))
        self.value = self.parameter(r.choice(["s8", "s8", "u8", "f32"]), dims)
        if self.value[1] == "f32":
            self.quantize(self.value)
        for _ in range(r.randint(1, 4)):
            r.choices([self.convolution, self.depthwise, self.residual, self.pool, self.product], [3, 4, 2, 1, 1])[0]()
        self.results.append(self.value)

    def line(self, t, dims, text):
        name = f"v{len(self.lines)}"
        self.lines.append((name, shape(t, dims), text))
        return name, t, tuple(dims)

    def parameter(self, t, dims, kind="any"):
        self.specs.append((t, tuple(dims), kind))
        return self.line(t, dims, f"parameter({len(self.specs) - 1})")

    def filled(self, dims, number):
        scalar = self.line("f32", (), f"constant({number!r})")
        return self.line("f32", dims, f"broadcast({scalar[0]}), dimensions={{}}")

    def of_two(self, op, x, y):
        if self.random.random() < 0.3 and op != "subtract":
            x, y = y, x
        return self.line("f32", x[2], f"{op}({x[0]}, {y[0]})")

    def bounded(self, x, low, high):
        """x within the bounds; None is no bound."""
        lows, highs = (None if bound is None else self.filled(x[2], float(bound)) for bound in (low, high))
        if lows and highs and self.random.random() < 0.5:
            return self.line("f32", x[2], f"clamp({lows[0]}, {x[0]}, {highs[0]})")
        steps = [(op, bound) for op, bound in (("maximum", lows), ("minimum", highs)) if bound]
        self.random.shuffle(steps)
        for op, bound in steps:
            x = self.of_two(op, x, bound)
        return x

    def shown(self, x):
        """x may be a result beside the last one."""
        if self.random.random() < 0.06:
            self.results.append(x)

    def quantize(self, x):
        """The f32 x as the next value: an activation, a scale, a rounding, a zero point, bounds."""
        r = self.random
        x = self.bounded(x, *r.choice([(None, None), (None, None), (0, None), (0, 6), (0, 3.3), (-2, 5), (None, 4), (5, 3)]))
        self.shown(x)
        scale = r.choice([None, 1, 0.25, 8.0, 20.0, 25.5, 0.7, -3.0])
        if scale:
            x = self.of_two("multiply", x, self.filled(x[2], scale))
        if r.random() < 0.2:
            x = self.bounded(x, -100.5, r.choice([None, 77.25]))
        t = r.choice(["s8", "s8", "s8", "u8", "s16"])
        low, high = LIMITS[t]
        low, high = r.choice([(low, high), (low, high), (low, high), (low + 1, high), (3, 90), (None, None), (None, 50)])
        zero = r.choice([0, 0, 0, 128, -128, 3, -17])
        first = r.random() < 0.2
        if first:
            x = self.bounded(x, low, high)
        x = self.line("f32", x[2], f"round-nearest-even({x[0]})")
        self.shown(x)
        if zero:
            x = self.of_two("add", x, self.filled(x[2], float(zero))) if r.random() < 0.7 else \
                self.of_two("subtract", x, self.filled(x[2], float(-zero)))
        if not first:
            x = self.bounded(x, low, high)
        self.value = self.line(t, x[2], f"convert({x[0]})")

    def rescale(self, sums):
        """Sums, which f32 holds, times powers of two, plus small integers; then quantize."""
        r, dims = self.random, sums[2]
        self.shown(sums)
        x = sums if sums[1] == "f32" else self.line("f32", dims, f"convert({sums[0]})")
        last = f"dimensions={{{len(dims) - 1}}}"
        if r.random() < 0.6:
            s = self.parameter("f32", dims[-1:], "scales")
            s = self.line("f32", dims, f"broadcast({s[0]}), {last}")
        else:
            s = self.filled(dims, 2.0 ** -r.randint(3, 9))
        x = self.of_two("multiply", x, s)
        if r.random() < 0.5:
            bias = self.parameter("f32", dims[-1:], "integers")
            x = self.of_two("add", x, self.line("f32", dims, f"broadcast({bias[0]}), {last}"))
        self.quantize(x)

    def bytes(self):
        """The value, of 8 bits."""
        name, t, dims = self.value
        return self.value if t != "s16" else self.line("s8", dims, f"convert({name})")

    def dequantized(self, x, terms, along=None):
        """The bytes x as floats: less a zero point where sums stay exact in f32, times powers of two, also one for each index
        of dimension `along`."""
        r = self.random
        y = self.line("f32", x[2], f"convert({x[0]})")
        if terms * 400 * 160 < 1 << 24 and r.random() < 0.5:
            y = self.line("f32", x[2], f"subtract({y[0]}, {self.filled(x[2], float(r.choice([3, -17, 128])))[0]})")
        if along is not None and r.random() < 0.5:
            s = self.parameter("f32", x[2][along:along + 1], "scales")
            return self.of_two("multiply", y, self.line("f32", x[2], f"broadcast({s[0]}), dimensions={{{along}}}"))
        return y if r.random() < 0.1 else self.of_two("multiply", y, self.filled(x[2], 2.0 ** -r.randint(0, 6)))

    def rounded(self, dims):
        """An f32 parameter whose values become small integers, but stay floats, times a power of two."""
        x = self.parameter("f32", dims)
        x = self.line("f32", dims, f"round-nearest-even({self.of_two('multiply', x, self.filled(dims, 4.0))[0]})")
        x = self.bounded(x, *self.random.choice([(-128, 127), (-127, 127), (0, 255)]))
        return self.of_two("multiply", x, self.filled(dims, 2.0 ** -self.random.randint(0, 6)))

    def float_sums(self, x, w, op, dims, attributes):
        """A product of bytes as scaled floats, whose sums f32 holds."""
        terms = math.prod(w[2][:-1])
        left = self.rounded(x[2]) if terms * 255 * 128 < 1 << 24 and self.random.random() < 0.2 else self.dequantized(x, terms)
        right = self.dequantized(w, terms, along=len(w[2]) - 1)
        return self.line("f32", dims, f"{op}({left[0]}, {right[0]}), {attributes}")

    def sums(self, x, w, op, dims, attributes):
        """A product of bytes in s32; XLA:CPU gets its operands in s32, and convolutions of two types are written so.
        Or one of floats."""
        if self.random.random() < 0.3:
            return self.float_sums(x, w, op, dims, attributes)
        if op == "convolution" and x[1] != w[1]:
            x, w = (self.line("s32", v[2], f"convert({v[0]})") for v in (x, w))
            return self.line("s32", dims, f"{op}({x[0]}, {w[0]}), {attributes}")
        t = self.random.choice(["s32"] * 8 + ["s16", "s8"]) if x[1] == w[1] else "s32"
        wide = [f"{v[0]}w{len(self.lines)}" for v in (x, w)]
        reference = " ; ".join(f"{name} = {shape(t, v[2])} convert({v[0]})" for name, v in zip(wide, (x, w)))
        return self.line(t, dims, f"{op}({x[0]}, {w[0]}), {attributes}  // xla: {reference} ; "
                                  f"{shape(t, dims)} {op}({', '.join(wide)}), {attributes}")

    def windowed(self, depthwise):
        r, x = self.random, self.bytes()
        n, h, w, c = x[2]
        kernel, stride, pads, sizes = [], r.choice([1, 1, 2]), [], []
        for size in (h, w):
            k = r.choice([1, 3, 3, 5] if not depthwise else [3, 3, 5, 19])
            low, high = k // 2, r.choice([k // 2, k - 1])
            kernel.append(k)
            pads.append(f"{low}_{high}")
            sizes.append((size + low + high - k) // stride + 1)
        out = c * r.choice([1, 1, 1, 2]) if depthwise else r.choice([1, 5, 16, 33, 64])
        weights = self.parameter(r.choice(["s8", "s8", x[1]]), (*kernel, 1 if depthwise else c, out))
        groups = f", feature_group_count={c}" if depthwise and c > 1 else ""
        return self.sums(x, weights, "convolution", (n, *sizes, out),
                         f"window={{size={kernel[0]}x{kernel[1]} stride={stride}x{stride} pad={pads[0]}x{pads[1]}}}, "
                         f"dim_labels=b01f_01io->b01f{groups}")

    def convolution(self):
        self.rescale(self.windowed(depthwise=False))

    def depthwise(self):
        self.rescale(self.windowed(depthwise=True))

    def product(self):
        x, n = self.bytes(), self.random.choice([1, 7, 16, 48])
        w = self.parameter(self.random.choice(["s8", x[1]]), (x[2][3], n))
        self.rescale(self.sums(x, w, "dot", (*x[2][:3], n), "lhs_contracting_dims={3}, rhs_contracting_dims={0}"))

    def residual(self):
        x = self.value
        y = self.parameter(self.random.choice(["s8", "u8"]), x[2])
        floats = [self.of_two("multiply", self.line("f32", x[2], f"convert({v[0]})"), self.filled(x[2], scale))
                  for v, scale in ((x, 0.125), (y, self.random.choice([0.25, 0.5])))]
        self.quantize(self.of_two("add", *floats))

    def pool(self):
        name, t, (n, h, w, c) = self.value
        least = self.line(t, (), f"constant({LIMITS[t][0]})")
        self.value = self.line(t, (n, (h + 1) // 2, (w + 1) // 2, c), f"reduce-window({name}, {least[0]}), window={{size=1x3x3x1 "
                               f"stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}}, to_apply=larger_{t}")

    def text(self):
        larger = "".join(f"larger_{t} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT m = {t}[] maximum(a, b)\n}}\n"
                         for t in ("s8", "u8", "s16"))
        body = "".join(f"  {name} = {type_} {text}\n" for name, type_, text in self.lines)
        types = ", ".join(shape(t, dims) for _, t, dims in self.results)
        names = ", ".join(name for name, _, _ in self.results)
        return f"HloModule quantized\n{larger}ENTRY main {{\n{body}  ROOT r = ({types}) tuple({names})\n}}\n"


def arrays(specs, seed):
    import numpy as np
    r, found = np.random.default_rng(seed), {}
    for i, (t, dims, kind) in enumerate(specs):
        if kind == "scales":
            x = (2.0 ** -r.integers(3, 10, dims)).astype(np.float32)
        elif kind == "integers":
            x = r.integers(-8, 9, dims).astype(np.float32)
        elif t == "f32":
            x = (r.integers(-400, 400, dims) / 32).astype(np.float32)
            special = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0 ** 31, -0.0, 127.5, -128.5, 0.49999997], np.float32)
            x = np.where(r.random(dims) < 0.1, r.choice(special, dims), x)
        else:
            low, high = LIMITS[t]
            x = r.integers(low, high + 1, dims).astype("int8" if t == "s8" else "uint8")
        found[f"in{i}"] = x
    return found


def check(seed, tool, folder, reference):
    """What differs, as a message; None if nothing does; False if XLA refuses the module."""
    import numpy as np
    chain = Chain(seed)
    module, inputs, golden, actual = (os.path.join(folder, f"q{seed}{end}") for end in (".hlo", ".npz", ".golden.npz", ".actual.npz"))
    with open(module, "w") as file:
        file.write(chain.text())
    np.savez(inputs, **arrays(chain.specs, seed))
    reference.start({"module": module, "inputs": inputs, "output": golden, "given": []})
    verdict, why = run_tool(tool + flags_of(seed, tool), module, inputs, actual)
    answer = reference.answer()
    if not answer["ok"]:
        print(f"passed over q{seed}: {answer['error']}")
        return False
    if verdict != "ok":
        return f"{verdict} {why}"
    a, g = np.load(actual), np.load(golden)
    differ = (inequality(a[f"out{i}"], g[f"out{i}"], t) for i, (_, t, _) in enumerate(chain.results))
    return next((f"{flags_of(seed, tool)}: {text}" for text in differ if text), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", default="build/fuzz")
    options = parser.parse_args()
    reference, tool, passed, failed = Reference(), shlex.split(options.tool), 0, 0
    os.makedirs(options.keep, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            why = check(seed, tool, folder, reference)
            passed, failed = passed + (why is None), failed + bool(why)
            if why:
                print(f"q{seed}: {why}", flush=True)
                for end in (".hlo", ".npz"):
                    shutil.copy(os.path.join(folder, f"q{seed}{end}"), options.keep)
    reference.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    try:
        import jax  # noqa: F401
    except ImportError:
        print("skipped: jax is not installed, so there is nothing to compare with")
        sys.exit(0)
    main()
