#!/usr/bin/env python3
"""Computes the polynomials of Coefficients.h (needs mpmath): coefficients.py > Coefficients.h

Each table is a near-minimax fit (least squares over Chebyshev nodes, in 80 digits) of the
function, interval, degree and weight given below. Coefficients are rounded to their format one
by one, lowest first, and those above are fitted anew, so that rounding errors of the large
coefficients are absorbed by the small ones.
"""
import struct
import sys
from mpmath import mp, mpf, matrix, lu_solve
import mpmath as m

mp.dps = 80
LN2 = m.log(2)


def round_to(x, bits):
    if x == 0:
        return mpf(0)
    exponent = int(m.floor(m.log(abs(x), 2)))
    unit = mpf(2) ** (exponent - bits + 1)
    return m.nint(x / unit) * unit


def least_squares(f, w, lo, hi, powers):
    """Coefficients c with sum c[i] x^powers[i] close to f(x) on [lo, hi].

    The error times w(x) is nearly minimax: least squares over Chebyshev nodes."""
    n, count = len(powers), 6 * len(powers) + 40
    nodes = [(lo + hi) / 2 - (hi - lo) / 2 * m.cos(m.pi * (k + mpf(1) / 2) / count) for k in range(count)]
    A, b = matrix(n, n), matrix(n, 1)
    rows = []
    for x in nodes:
        wx = w(x)
        row, value = [wx * x ** p for p in powers], wx * f(x)
        rows.append((row, value))
        for i in range(n):
            b[i] += row[i] * value
            for j in range(i, n):
                A[i, j] += row[i] * row[j]
    for i in range(n):
        for j in range(i):
            A[i, j] = A[j, i]
    s = lu_solve(A, b)
    error = max(abs(value - sum(s[i] * row[i] for i in range(n))) for row, value in rows)
    return [s[i] for i in range(n)], error


def fit(f, w, lo, hi, degree, bits, first=None):
    """Coefficients 0..degree in a format of `bits` mantissa bits; `first`: the lowest ones, if they are given."""
    lo, hi = mpf(lo), mpf(hi)
    fixed = [mpf(c) for c in (first or [])]
    while len(fixed) <= degree:
        rest = lambda x: f(x) - sum(c * x ** i for i, c in enumerate(fixed))
        c, error = least_squares(rest, w, lo, hi, list(range(len(fixed), degree + 1)))
        fixed.append(round_to(c[0], bits))
    return fixed, error


def table(name, doc, f, w, lo, hi, degree, bits, first=None):
    c, error = fit(f, w, lo, hi, degree, bits, first)
    sys.stderr.write(f"{name}: weighted error 2^{float(m.log(error, 2)):.1f}\n")
    print(f"/// {doc} Error 2^{float(m.log(error, 2)):.1f}.")
    print(f"inline constexpr double {name}[] = {{")
    for x in c:
        print(f"    {float(x).hex()},")
    print("};")
    sys.stdout.flush()


def pieces(name, doc, f, pieces, degree, bits, rotation=0, odd=True):
    """One polynomial in t = x - lo for each interval (lo, width), as rows of equal powers.

    The first interval of an odd f starts at its zero and approximates f(t) - t. Entry i is that of interval i - rotation."""
    count = len(pieces)
    rows, worst = [None] * count, mpf(0)
    for i, (lo, width) in enumerate(pieces):
        g = lambda t: f(mpf(lo) + t)
        flat = abs(g(mpf(width)) - g(mpf(0))) < mpf(2) ** -26
        if flat:
            c, error = [round_to(g(mpf(0)), bits)] + [mpf(0)] * degree, mpf(0)
        elif i == 0 and odd:
            h = lambda t: g(t) / t - 1
            c, error = fit(h, lambda t: 1 / (1 + h(t)), mpf("1e-9"), width, degree - 1, bits,
                           [round_to(m.diff(f, 0) - 1, bits)])
            c = [mpf(0)] + c
        else:
            c, error = fit(g, lambda t: 1 / g(t), 0, width, degree, bits, [round_to(g(mpf(0)), bits)])
        rows[(i + rotation) % count] = c
        worst = max(worst, error)
    sys.stderr.write(f"{name}: weighted error 2^{float(m.log(worst, 2)):.1f}\n")
    print(f"/// {doc} Error 2^{float(m.log(worst, 2)):.1f}.")
    print(f"inline constexpr double {name}[{degree + 1}][{count}] = {{")
    for power in range(degree + 1):
        print("    {" + ", ".join(float(row[power]).hex() for row in rows) + "},")
    print("};")
    sys.stdout.flush()


def quotient(g, p):
    """g(x) / x^p; its limit at 0 is taken from nearby points, so g must be analytic."""
    def f(x):
        if x == 0:
            x = mpf(10) ** -12
        return g(x) / x ** p
    return f


def root(g, p):
    """g as a function of z = x^2, divided by x^p."""
    def f(z):
        if z == 0:
            z = mpf(10) ** -18
        x = m.sqrt(z)
        return g(x) / x ** p
    return f


def numbers(name, doc, values):
    print(f"/// {doc}")
    print(f"inline constexpr double {name}[] = {{")
    for x in values:
        print(f"    {float(x).hex()},")
    print("};")
    sys.stdout.flush()


def near_inverses():
    """For each sixteenth of an octave from 45/64 on (by the numbers' bits) a c near 1/z; and the largest |r|.

    c has so few bits that r = z c - 1 is an f64 for every z of the sixteenth."""
    inverses, worst = [], mpf(0)
    for i in range(16):
        low = mpf(45) / 64 + mpf(i) / 32
        pieces = [(low, low + mpf(1) / 32)]
        if i > 9:
            pieces = [(mpf(66) / 64 + mpf(i - 10) / 16, mpf(66) / 64 + mpf(i - 9) / 16)]
        if i == 9:
            pieces = [(low, mpf(1)), (mpf(1), mpf(66) / 64)]
        choices = []
        for bits in range(8):
            for n in range(2 ** bits // 2, 2 * 2 ** bits):
                c = mpf(n) / 2 ** bits
                ends = [(abs(z * c - 1), (54 if lo < 1 else 53) - 1 + bits) for lo, hi in pieces for z in (lo, hi)]
                if all(r <= mpf(2) ** (53 - unit) for r, unit in ends):
                    choices.append((max(r for r, unit in ends), c))
        r, c = (max(abs(low - 1), mpf(1) / 32), mpf(1)) if i == 9 else min(choices)
        inverses.append(c)
        worst = max(worst, r)
    return inverses, worst


def f32_near_inverses(entries, start):
    """near_inverses for f32, with `parts` parts of an octave from `start` on."""
    inverses, worst = [], mpf(0)
    number = lambda bits: mpf(struct.unpack("f", struct.pack("I", bits))[0])
    first, step = struct.unpack("I", struct.pack("f", float(start)))[0], 2 ** 23 // entries
    for i in range(entries):
        lo, hi = number(first + i * step), number(first + (i + 1) * step)
        unit = 24 if lo < 1 else 23
        candidates = [(max(abs(lo * c - 1), abs(hi * c - 1)), c, bits) for bits in range(8)
                      for c in (mpf(n) / 2 ** bits for n in range(2 ** bits // 2, 2 * 2 ** bits))]
        exact = [(r, c) for r, c, bits in candidates if r <= mpf(2) ** (24 - unit - bits)]
        r, c = (max(1 - lo, hi - 1), mpf(1)) if lo < 1 < hi else min(exact)
        inverses.append(c)
        worst = max(worst, r)
    return inverses, worst


def power_pieces(name, entries, start, log_degree, exp_degree, reach):
    """The tables of `entries` entries for powers of f32, and their polynomials."""
    inverses, radius = f32_near_inverses(entries, start)
    logs = [-m.log(c) / LN2 - mpf(i) / entries for i, c in enumerate(inverses)]
    high = [m.nint(x * 2 ** 16) / 2 ** 16 for x in logs]
    numbers(f"pow{name}Inverse", f"c next to 1 / z for the z of a part of an octave from {float(start)} on; |z c - 1| <= {float(radius):.4f} is exact in f32.",
            inverses)
    numbers(f"pow{name}Log", f"-log2(c) less i/{entries}, to 2^-16.", high)
    numbers(f"pow{name}LogLow", "What that lacks.", [x - h for x, h in zip(logs, high)])
    roots = [m.power(2, mpf(i) / entries) for i in range(entries)]
    rounded = [round_to(x, 24) for x in roots]
    less = lambda x, i: struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", float(x)))[0] - i * (2 ** 23 // entries)))[0]
    numbers(f"pow{name}Root", f"2^(i/{entries}), its bits less those of i/{entries} in the exponent.", [less(x, i) for i, x in enumerate(rounded)])
    numbers(f"pow{name}RootLow", "What these lack, as a part of them.", [x / y - 1 for x, y in zip(roots, rounded)])
    scale = round_to(1 / LN2, 24)
    table(f"pow{name}Series", "(log(1 + r) / r - 1 + r / 2) / r^2, times 1 / ln 2 in f32.",
          quotient(lambda r: scale * (m.log1p(r) - r + r * r / 2), 3), lambda r: r * r, -radius, radius, log_degree, 24)
    table(f"pow{name}Exp", "(2^f - 1) / f.", quotient(lambda f: m.power(2, f) - 1, 1), lambda f: abs(f) + mpf("1e-4"), -reach, reach, exp_degree, 24)


print("""//===- Coefficients.h - Polynomials of the elementary functions -----------===//
//
// Written by coefficients.py; do not edit. Lowest power first. The error is relative
// to the function that the polynomial is part of.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_COEFFICIENTS_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_COEFFICIENTS_H

// clang-format off
namespace hlo::codegen::coefficients {
""")
one = lambda x: mpf(1)

table("exp32", "(exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2.", quotient(lambda r: m.expm1(r) - r, 2),
      lambda r: abs(r) + mpf("1e-3"), -0.3475, 0.3475, 4, 24)
table("exp64", "The same.", quotient(lambda r: m.expm1(r) - r, 2),
      lambda r: abs(r) + mpf("1e-3"), -0.3475, 0.3475, 10, 53)
numbers("sixteenthRoots", "2^(i/16).", [round_to(m.power(2, mpf(i) / 16), 24) for i in range(16)])
table("expSixteenth32", "(exp(r) - 1 - r) / r^2 on |r| <= ln(2)/32.", quotient(lambda r: m.expm1(r) - r, 2),
      lambda r: r * r + mpf("1e-6"), -0.02168, 0.02168, 1, 24)
table("exp2m32", "2^f on |f| <= 1/2, in f64 for results in f32.", lambda r: m.power(2, r), one, -0.5, 0.5, 6, 53)
table("log32", "(log(1 + f) - f + f^2/2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1].",
      quotient(lambda f: m.log1p(f) - f + f * f / 2, 3), lambda f: f ** 2 + mpf("1e-4"),
      m.sqrt(mpf(1) / 2) - 1, m.sqrt(2) - 1, 7, 24)
table("log64", "With s = f / (2 + f), z = s^2: (log(1 + f) - 2s) / (s z).",
      root(lambda s: 2 * m.atanh(s) - 2 * s, 3), lambda z: z + mpf("1e-5"), 0, 0.02946, 6, 53)
table("log2in64", "With s = (m - 1) / (m + 1), z = s^2: log2(m) / s; for f32 powers.",
      root(lambda s: 2 * m.atanh(s) / LN2, 1), one, 0, 0.0304, 4, 53)
table("sin32", "(sin(r) - r) / r^3 in r^2 on |r| <= pi/4.", root(lambda r: m.sin(r) - r, 3),
      lambda z: z + mpf("1e-3"), 0, 0.6186, 3, 24)
table("cos32", "(cos(r) - 1 + r^2/2) / r^4 in r^2.", root(lambda r: m.cos(r) - 1 + r * r / 2, 4),
      lambda z: z * z + mpf("1e-3"), 0, 0.6186, 2, 24)
table("sin64", "The same.", root(lambda r: m.sin(r) - r, 3),
      lambda z: z + mpf("1e-4"), 0, 0.6186, 6, 53)
table("cos64", "The same.", root(lambda r: m.cos(r) - 1 + r * r / 2, 4),
      lambda z: z * z + mpf("1e-4"), 0, 0.6186, 5, 53)
table("tan32", "(tan(r) - r) / r^3 in r^2.", root(lambda r: m.tan(r) - r, 3),
      lambda z: z + mpf("1e-3"), 0, 0.6186, 6, 24)
table("tan64", "The same.", root(lambda r: m.tan(r) - r, 3),
      lambda z: z + mpf("1e-4"), 0, 0.6186, 14, 53)
table("tanh32", "(tanh(x) - x) / x^3 in x^2 on [0, 0.625].", root(lambda x: m.tanh(x) - x, 3),
      lambda z: z + mpf("1e-3"), 0, 0.391, 4, 24)
table("tanhSmall64", "The same.", root(lambda x: m.tanh(x) - x, 3),
      lambda z: z + mpf("1e-4"), 0, 0.391, 12, 53)
table("tanh64", "The same on [0, ln(2)/4].", root(lambda x: m.tanh(x) - x, 3),
      lambda z: z + mpf("1e-4"), 0, 0.0302, 6, 53)
table("atan32", "(atan(x) - x) / x^3 in x^2 on [0, tan(pi/8)].", root(lambda x: m.atan(x) - x, 3),
      lambda z: z + mpf("1e-3"), 0, 0.1717, 4, 24)
table("atan64", "The same.", root(lambda x: m.atan(x) - x, 3),
      lambda z: z + mpf("1e-4"), 0, 0.1717, 10, 53)
table("asin64", "(asin(x) - x) / x^3 in x^2 on [0, 1/2].", root(lambda x: m.asin(x) - x, 3),
      lambda z: z + mpf("1e-4"), 0, 0.2501, 12, 53)
table("sinh64", "(sinh(x) - x) / x^3 in x^2 on [0, 1].", root(lambda x: m.sinh(x) - x, 3),
      lambda z: z + mpf("1e-4"), 0, 1.001, 7, 53)
table("cbrtStart32", "1 / cbrt(x) on [1, 2].", lambda x: 1 / m.cbrt(x), m.cbrt, 1, 2, 3, 24)
table("cbrtStart64", "cbrt(x) on [1, 2].", m.cbrt, lambda x: 1 / m.cbrt(x), 1, 2, 4, 53)
table("erfSmall32", "(erf(x) - x) / x in x^2 on [0, 1.25].", root(lambda x: m.erf(x) - x, 1),
      lambda z: mpf(1), 0, 1.5626, 7, 24)
table("erfSmall64", "The same.", root(lambda x: m.erf(x) - x, 1), lambda z: mpf(1), 0, 1.5626, 17, 53)
pieces("erfcPieces", "e^(t^2) (1 - erf(t)) where 1 + t has the same exponent and three bits behind it; by these five bits.", lambda t: m.exp(t * t) * m.erfc(t),
       [((8 + k % 8) * mpf(2) ** (k // 8) / 8 - 1, mpf(2) ** (k // 8) / 8) for k in range(32)], 4, 24, 24, odd=False)
scaled_erfc = lambda z: (lambda t: m.exp(t * t) * m.erfc(t))(2 * z / (1 - z))
table("erfc32", "e^(t^2) (1 - erf(t)) in z = t / (t + 2), for t in [0, 9.3].", scaled_erfc, lambda z: 1 / scaled_erfc(z), 0, mpf("9.3") / mpf("11.3"), 10, 24, [1])
erfc_log = lambda t: m.log(m.erfc(t)) / t
table("erfLarge32", "log(1 - erf(t)) / t on [1.25, 4].", erfc_log, lambda t: t * m.erfc(t), 1.25, 4, 6, 24)
table("erfLarge64", "log(1 - erf(t)) in t - 2, on [1.25, 6].", lambda u: m.log(m.erfc(u + 2)),
      lambda u: m.erfc(u + 2) + mpf(10) ** -22, -0.75, 4, 20, 53)
pieces("erfPieces", "erf(x) in x - k/8 on [k/8, (k+1)/8], k < 32, less x where k = 0.", m.erf, [(mpf(k) / 8, mpf(1) / 8) for k in range(32)], 5, 24)
pieces("tanhPieces", "tanh(x) where 1 + x has the same exponent and three bits behind it; by these five bits. Less x below 1/8.", m.tanh,
       [((8 + k % 8) * mpf(2) ** (k // 8) / 8 - 1, mpf(2) ** (k // 8) / 8) for k in range(32)], 5, 24, 24)
pieces("erfEightPieces", "The same, on [k/2, (k+1)/2], k < 8.", m.erf, [(mpf(k) / 2, mpf(1) / 2) for k in range(8)], 7, 24)
pieces("tanhEightPieces", "The same by one bit behind the exponent.", m.tanh,
       [((2 + k % 2) * mpf(2) ** (k // 2) / 2 - 1, mpf(2) ** (k // 2) / 2) for k in range(8)], 8, 24, 6)
inverses, radius = near_inverses()
sys.stderr.write(f"sixteenthInverse: |r| <= {float(radius)}\n")
logs = [-m.log(c) for c in inverses]
high = [m.nint(x * 2 ** 42) / 2 ** 42 for x in logs]
numbers("sixteenthInverse", "c next to 1 / z for the z of a sixteenth of an octave from 45/64 on; z c - 1 is exact.", inverses)
numbers("sixteenthLog", "-log(c), to 2^-42, so that k ln 2 can be added exactly.", high)
numbers("sixteenthLogLow", "What that lacks.", [x - h for x, h in zip(logs, high)])
roots = [m.power(2, mpf(i) / 16) for i in range(16)]
numbers("powRoot", "2^(i/16).", roots)
numbers("powRootLow", "What these lack, as a part of them.", [x / mpf(float(x)) - 1 for x in roots])
table("powLog64", f"(log(1 + r) - r + r^2/2) / r^3 for |r| <= {float(radius):.4f}.",
      quotient(lambda r: m.log1p(r) - r + r * r / 2, 3), lambda r: r ** 2 + mpf("1e-6"), -radius, radius, 8, 53)
table("sixteenthLog64", "The same, for one f64.",
      quotient(lambda r: m.log1p(r) - r + r * r / 2, 3), lambda r: r ** 2 + mpf("1e-6"), -radius, radius, 7, 53)
table("powExp64", "(exp(r) - 1 - r) / r^2 for |r| <= ln(2)/32.", quotient(lambda r: m.expm1(r) - r, 2),
      lambda r: r ** 2 + mpf("1e-6"), -LN2 / 32, LN2 / 32, 5, 53)
for entries, name, start, log_degree, exp_degree, reach in [(32, "ThirtySeconds", mpf(89) / 128, 2, 3, mpf(1) / 64 + mpf("0.035")),
                                                            (8, "Eighths", mpf(21) / 32, 5, 4, mpf(1) / 16 + mpf("0.001"))]:
    power_pieces(name, entries, start, log_degree, exp_degree, reach)
print("""
} // namespace hlo::codegen::coefficients

#endif""")
