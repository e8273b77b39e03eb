"""Tests of the bounds: correct results are within them, and results with small errors are not.

test.py        the last line reads 'N passed, N failed'
"""
import os
import sys
import unittest

import numpy as np
import scipy.fft
import scipy.linalg

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bounds import judge  # noqa: E402
from bounds.interpreter import Interpreter, given_by_reference, results_of, with_results  # noqa: E402
from bounds.number import Number, from_bits, rounded, ulp  # noqa: E402
from generate import FLOATS, COMPLEX, generate, make_inputs, numpy_type, to_bits  # noqa: E402

MIXED = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY main {
  x = f8e4m3fn[64,32] parameter(0)
  y = bf16[64,32] parameter(1)
  x1 = bf16[64,32] convert(x)
  z = bf16[64,32] multiply(x1, y)
  w = bf16[64,32] add(z, y)
  v = f32[64,32] convert(w)
  zero = f32[] constant(0)
  s = f32[64] reduce(v, zero), dimensions={1}, to_apply=add
  n = bf16[64] convert(s)
  ROOT out = (bf16[64,32], f32[64], bf16[64]) tuple(w, s, n)
}
"""


def allowed(text, arrays, types, wanted, exact=()):
    return judge.bounds(text, [(t,) for t in types], [to_bits(np.asarray(a)) for a in arrays], exact, wanted, {})


def stored(type_, x):
    """A result as bits."""
    return to_bits(np.asarray(x).astype(numpy_type(type_)))


def entry(lines):
    return "HloModule m\n\nENTRY main {\n" + "\n".join("  " + line for line in lines) + "\n}\n"


def one(op, type_, arrays, extra="", out=None):
    """The bounds of one operation on arrays of a type."""
    dims = ",".join(map(str, arrays[0].shape))
    lines = [f"p.{i} = {type_}[{dims}] parameter({i})" for i in range(len(arrays))]
    lines.append(f"ROOT r.1 = {out or type_}[{dims}] {op}({', '.join(f'p.{i}' for i in range(len(arrays)))}){extra}")
    return allowed(entry(lines), arrays, [type_] * len(arrays), ["r.1"])["r.1"]


def draw(type_, n=500, low=0.5, high=4.0):
    g = np.random.default_rng(n)
    return (g.uniform(low, high, n) * g.choice([-1, 1], n)).astype(numpy_type(type_))


def strict(text, specs, arrays, wanted):
    """The results of a compiler that rounds every intermediate to its type."""
    parameters = [Number(t, from_bits(t, to_bits(np.asarray(a)))) for (t, *_), a in zip(specs, arrays)]
    interpreter = Interpreter(text, parameters)
    interpreter.exact = {n for c in interpreter.computations.values() for n in c.lines}
    return interpreter.results(wanted)


class SingleOperations(unittest.TestCase):
    def test_sum_is_rounded_to_nearest_even(self):
        for t in FLOATS:
            high = 2.0 if t == "f4e2m1fn" else 4.0
            a, b = draw(t, high=high), draw(t, 501, high=high)[:500]
            number = one("add", t, [a, b])
            x = rounded(t, a.astype(np.float64) + b.astype(np.float64))
            self.assertTrue(judge.within(number, stored(t, x)).all(), t)

    def test_one_unit_too_many_is_found_at_every_element_of_a_sum(self):
        for t in FLOATS:
            a, b = np.abs(draw(t, high=1.5)), np.abs(draw(t, 501, high=1.5)[:500])
            number = one("add", t, [a, b])
            x = rounded(t, a.astype(np.float64) + b.astype(np.float64))
            for sign in (-1, 1):
                wrong = x + sign * ulp(t, x) * (1 if sign > 0 else 0.5)  # below a power of two, the neighbour is nearer
                wrong = np.where(rounded(t, wrong) == x, x + sign * ulp(t, x), wrong)
                if t == "f64":  # the interpreter's own rounding is allowed for
                    wrong = x + sign * 2 * ulp(t, x)
                self.assertFalse(judge.within(number, stored(t, wrong)).any(), t)

    def test_a_tie_goes_to_even(self):
        a, b = (np.array([v]).astype(numpy_type("bf16")) for v in (1.0, 2.0 ** -8))
        number = one("add", "bf16", [a, b])
        self.assertTrue(judge.within(number, stored("bf16", [1.0])).all())
        self.assertFalse(judge.within(number, stored("bf16", [1.0078125])).any())

    def test_the_worst_case_is_within(self):
        """A product and a sum, both rounded by as much as they can be: the bound is met to the last bit."""
        x = np.array([0.012833304], np.float32)
        text = entry(["p.1 = f32[1] parameter(0)", "m.2 = f32[1] multiply(p.1, p.1)", "ROOT r.3 = f32[1] add(m.2, p.1)"])
        number = allowed(text, [x], ["f32"], ["r.3"])["r.3"]
        for right in ((x * x) + x, (x.astype(np.float64) ** 2 + x).astype(np.float32)):
            self.assertTrue(judge.within(number, right).all())

    def test_functions_are_as_accurate_as_test_accuracy_asks(self):
        a = draw("f32")
        number = one("exponential", "f32", [a])
        x = np.exp(a.astype(np.float64))
        self.assertTrue(judge.within(number, stored("f32", rounded("f32", x) + ulp("f32", x))).all())
        self.assertFalse(judge.within(number, stored("f32", x + 3 * ulp("f32", x))).any())

    def test_bf16_functions_round_once(self):
        a = draw("bf16")
        number = one("tanh", "bf16", [a])
        x = rounded("bf16", np.tanh(a.astype(np.float64)))
        self.assertTrue(judge.within(number, stored("bf16", x)).all())
        self.assertLess(judge.within(number, stored("bf16", x + ulp("bf16", x))).mean(), 0.01)

    def test_conversion_does_not_round_twice(self):
        x = np.array([1 + 2.0 ** -8 + 2.0 ** -30])  # by way of f32 it is a tie of bf16
        number = one("convert", "f64", [x], out="bf16")
        self.assertTrue(judge.within(number, stored("bf16", [1.0078125])).all())
        self.assertFalse(judge.within(number, stored("bf16", [1.0])).any())

    def test_overflow_may_be_infinite(self):
        a = np.array([60000.0], np.float16)
        number = one("multiply", "f16", [a, a])
        self.assertTrue(judge.within(number, stored("f16", [np.inf])).all())
        self.assertFalse(judge.within(number, stored("f16", [65504.0])).any())

    def test_units_next_to_a_power_of_two(self):
        z = np.array([1.3099520669974447 + 1.6952754409289272j, 3 + 4j])
        number = one("sign", "c128", [np.concatenate([z, np.exp(1j * np.arange(500))])])
        self.assertTrue((number.e >= 2.5 * 2.0 ** -52).all())

    def test_nan_is_nan(self):
        number = one("log", "f32", [np.array([-1.0, 1.0], np.float32)])
        self.assertTrue(judge.within(number, stored("f32", [np.nan, 0])).all())
        self.assertFalse(judge.within(number, stored("f32", [0, np.nan])).any())


class Propagation(unittest.TestCase):
    def inexact(self, x, e):
        return Number("f32", np.array([x]), np.array([e]))

    def test_errors_grow_with_the_condition(self):
        from bounds import elementwise
        a, b = self.inexact(3.0, 0.01), self.inexact(2.0, 0.02)
        for op, least in (("add", 0.03), ("subtract", 0.03), ("multiply", 3 * 0.02 + 2 * 0.01), ("divide", (0.01 + 1.5 * 0.02) / 2)):
            e = elementwise.binary(op, a, b).e[0]
            self.assertTrue(least <= e <= 1.02 * least, (op, e, least))
        self.assertAlmostEqual(elementwise.unary("exponential", a).e[0], np.exp(3.01) - np.exp(3), delta=1e-5)
        self.assertAlmostEqual(elementwise.unary("rsqrt", a).e[0], 2.99 ** -0.5 - 3 ** -0.5, delta=1e-5)
        self.assertTrue(np.isinf(elementwise.unary("log", self.inexact(0.5, 0.6)).e[0]))

    def test_what_jumps_is_undetermined_near_its_jump(self):
        from bounds import elementwise
        a, b = self.inexact(3.0, 0.01), self.inexact(3.015, 0.01)
        near, far = elementwise.compare("LT", a, b), elementwise.compare("LT", a, self.inexact(3.1, 0.01))
        self.assertTrue(np.isinf(near.e[0]))
        self.assertTrue(far.x[0] and far.e[0] == 0)
        either = elementwise.select(near, self.inexact(1.0, 0.1), self.inexact(5.0, 0.2))
        self.assertTrue(either.e[0] >= 4.1)
        self.assertTrue(np.isinf(elementwise.unary("floor", a).e[0]))

    def test_sums_of_small_integers_are_exact(self):
        g = np.random.default_rng(1)
        a, b = (g.integers(-4, 5, (8, 40)).astype(np.float32) for _ in range(2))
        text = entry(["p.1 = f32[8,40] parameter(0)", "p.2 = f32[8,40] parameter(1)",
                      "ROOT r.1 = f32[8,8] dot(p.1, p.2), lhs_contracting_dims={1}, rhs_contracting_dims={1}"])
        self.assertIsNone(allowed(text, [a, b], ["f32", "f32"], ["r.1"])["r.1"].e)
        number = allowed(text, [a / 3, b], ["f32", "f32"], ["r.1"])["r.1"]
        self.assertTrue((number.e > 0).all() and (number.e < 1e-3).all())

    def test_windows_of_narrow_types_round_each_step_or_once(self):
        x = draw("f8e5m2", 64)
        text = ("HloModule m\n\nadd {\n  a = f8e5m2[] parameter(0)\n  b = f8e5m2[] parameter(1)\n  ROOT r = f8e5m2[] add(a, b)\n}\n\n" +
                entry(["p.1 = f8e5m2[64] parameter(0)", "z.2 = f8e5m2[] constant(0)",
                       "ROOT r.3 = f8e5m2[57] reduce-window(p.1, z.2), window={size=8}, to_apply=add"]).split("\n", 2)[2])
        number = allowed(text, [x], ["f8e5m2"], ["r.3"])["r.3"]
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), 8)
        path = np.zeros(57)
        for k in range(8):
            path = rounded("f8e5m2", path + windows[:, k])
        for right in (path, rounded("f8e5m2", windows.sum(axis=1))):
            self.assertTrue(judge.within(number, stored("f8e5m2", right)).all())
        self.assertGreater((~judge.within(number, stored("f8e5m2", rounded("f8e5m2", path * 2)))).mean(), 0.8)

    def test_a_dot_in_any_order_is_within(self):
        g = np.random.default_rng(2)
        a, b = (g.standard_normal((8, 300)).astype(np.float32) for _ in range(2))
        text = entry(["p.1 = f32[8,300] parameter(0)", "p.2 = f32[8,300] parameter(1)",
                      "ROOT r.1 = f32[8,8] dot(p.1, p.2), lhs_contracting_dims={1}, rhs_contracting_dims={1}"])
        number = allowed(text, [a, b], ["f32", "f32"], ["r.1"])["r.1"]
        for order in (np.arange(300), np.arange(300)[::-1]):
            sum_ = np.zeros((8, 8), np.float32)
            for k in order:
                sum_ = sum_ + np.multiply.outer(a[:, k], b[:, k])
            self.assertTrue(judge.within(number, sum_).all())
        one_less = a[:, :299] @ b[:, :299].T
        self.assertGreater((~judge.within(number, one_less)).mean(), 0.9)


class Factorizations(unittest.TestCase):
    """LAPACK's and pocketfft's results in f32 are within; the same with 1e-4 more of the largest are not."""

    def judge(self, number, x):
        self.assertTrue(judge.within(number, np.ascontiguousarray(x)).all())
        wrong = x + np.where(x == 0, 0, 1e-4 * np.abs(x).max()).astype(x.dtype)
        self.assertGreater((~judge.within(number, wrong))[x != 0].mean(), 0.9)

    def test_fourier_transforms(self):
        g = np.random.default_rng(4)
        for n in (4, 17, 100, 127, 1024, 1009):
            x = (g.standard_normal((3, n)) + 1j * g.standard_normal((3, n))).astype(np.complex64)
            text = entry([f"p.1 = c64[3,{n}] parameter(0)", f"ROOT r.1 = c64[3,{n}] fft(p.1), fft_type=FFT, fft_length={{{n}}}"])
            self.judge(allowed(text, [x], ["c64"], ["r.1"])["r.1"], scipy.fft.fft(x))

    def test_cholesky_and_triangular_solve(self):
        g = np.random.default_rng(5)
        for n in (2, 5, 31, 100):
            a = g.uniform(-1, 1, (n, n))
            a = (a @ a.T / n + 2 * np.eye(n)).astype(np.float32)
            text = entry([f"p.1 = f32[{n},{n}] parameter(0)", f"ROOT r.1 = f32[{n},{n}] cholesky(p.1), lower=true"])
            l = np.linalg.cholesky(a)
            self.judge(allowed(text, [a], ["f32"], ["r.1"])["r.1"], l)
            b = g.standard_normal((n, 3)).astype(np.float32)
            text = entry([f"p.1 = f32[{n},{n}] parameter(0)", f"p.2 = f32[{n},3] parameter(1)",
                          f"ROOT r.1 = f32[{n},3] triangular-solve(p.1, p.2), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE"])
            self.judge(allowed(text, [l, b], ["f32", "f32"], ["r.1"])["r.1"], scipy.linalg.solve_triangular(l, b, lower=True))


class Modules(unittest.TestCase):
    def setUp(self):
        g = np.random.default_rng(3)
        self.arrays = [g.uniform(0.5, 2, (64, 32)).astype(numpy_type(t)) for t in ("f8e4m3fn", "bf16")]
        self.numbers = allowed(MIXED, self.arrays, ["f8e4m3fn", "bf16"], ["w", "s", "n"])

    def computed(self, round_each):
        """The results with every intermediate rounded, or none."""
        def bf16(x):
            return rounded("bf16", x) if round_each else x
        x, y = (a.astype(np.float64) for a in self.arrays)
        w = bf16(bf16(x * y) + y)
        s = w.astype(np.float32).sum(axis=1, dtype=np.float32)
        return {"w": w, "s": s, "n": s.astype(np.float64)}

    def test_rounded_at_each_step_or_at_the_end(self):
        for round_each in (False, True):
            for name, x in self.computed(round_each).items():
                number = self.numbers[name]
                self.assertTrue(judge.within(number, stored(number.type, rounded(number.type, x))).all(), name)

    def test_one_percent_is_found_in_narrow_types(self):
        for name, x in self.computed(True).items():
            number = self.numbers[name]
            wrong = stored(number.type, rounded(number.type, np.asarray(x, np.float64) * 1.01))
            self.assertIsNotNone(judge.difference(number, wrong), name)
            self.assertGreater((~judge.within(number, wrong)).mean(), 0.4, name)

    def test_one_wrong_element_is_found(self):
        number, x = self.numbers["s"], self.computed(True)["s"]
        x[17] *= 1.01
        self.assertEqual(np.argwhere(~judge.within(number, x)).tolist(), [[17]])

    def test_random_modules_rounded_at_each_step(self):
        """Results with each step rounded are within the bounds; with 2 % added, most results of f32 and bf16 are not.

        The rest cancel, or are the result of a long chain."""
        found, undetermined, elements = {"f32": [0, 0], "bf16": [0, 0]}, 0, 0
        for seed in range(150):
            text, specs, outputs, exact = generate(seed)
            wanted = [n for n, t, is_exact in outputs if not is_exact or t in COMPLEX]
            if not wanted or given_by_reference(text, wanted):
                continue
            arrays = make_inputs(specs, seed)
            parameters = [to_bits(np.asarray(a)) for a in arrays]
            numbers = judge.bounds(text, specs, parameters, exact, wanted, {})
            for name, right in strict(text, specs, arrays, wanted).items():
                number, t = numbers[name], right.type
                self.assertIsNone(judge.difference(number, stored(t, right.x)), f"seed {seed} {name}")
                undetermined, elements = undetermined + np.isinf(number.error).sum(), elements + number.x.size
                if t in found and number.e is not None and number.e.any():
                    with np.errstate(all="ignore"):
                        found[t][0] += judge.difference(number, stored(t, rounded(t, right.x * 1.02))) is not None
                    found[t][1] += 1
        for t, (flagged, all_) in found.items():
            self.assertGreater(flagged, 0.8 * all_, t)
        self.assertLess(undetermined, 1e-4 * elements)


class Texts(unittest.TestCase):
    def test_results_in_order(self):
        self.assertEqual(results_of(MIXED), [("w", "bf16"), ("s", "f32"), ("n", "bf16")])

    def test_the_reference_gives_what_is_not_interpreted(self):
        text = entry(["s.1 = u64[2] parameter(0)", "g.2 = (u64[2], u32[4]) rng-bit-generator(s.1), algorithm=rng_three_fry",
                      "b.3 = u32[4] get-tuple-element(g.2), index=1", "z.4 = u32[4] constant({0, 1, 2, 3})", "c.5 = pred[4] compare(b.3, z.4), direction=GT",
                      "x.6 = f32[4] parameter(1)", "e.7 = f32[4] exponential(x.6)", "ROOT r.8 = f32[4] select(c.5, e.7, x.6)"])
        self.assertEqual(given_by_reference(text, ["r.8"]), ["b.3"])
        self.assertIn("ROOT given.all = (f32[4], u32[4]) tuple(r.8, b.3)", with_results(text, ["b.3"]))
        x = np.arange(4, dtype=np.float32)
        number = judge.bounds(text, [("u64",), ("f32",)], [np.zeros(2, np.uint64), x], (), ["r.8"], {"b.3": np.array([1, 0, 3, 0], np.uint32)})["r.8"]
        self.assertTrue(np.allclose(number.x, [1, 1, np.exp(2), 3]))


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(unittest.TestLoader().loadTestsFromModule(sys.modules[__name__]))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed > 0)
