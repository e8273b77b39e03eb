"""dot and its relatives, convolution, factorizations, fft, batch norms."""
from cases import Case
from inputs import ARRAYS, COMPLEX, FLOATS, INTEGERS, PART, converted, element, ordinary, parts, tame
from rows_elementwise import elements, ulps

MIXED = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128")


def encoded(name, values, natural=None):
    """Exact products and sums in the result's type; integers come from results in the operands' type, `natural`."""
    form = element(name)
    if natural in FLOATS and name not in FLOATS + COMPLEX:
        values = [element(natural).decode(converted(natural, v)) for v in values]

    def number(value):
        if name in PART:
            return complex(value)
        value = value.real if isinstance(value, complex) else value
        if name == "pred":
            return value != 0
        if form.kind == "integer" and isinstance(value, float):  # conversions saturate
            low, high = (-(1 << form.bits - 1), (1 << form.bits - 1) - 1) if name[0] == "s" else (0, (1 << form.bits) - 1)
            return max(low, min(high, int(value)))
        return value
    return [[converted(PART.get(name, name), p) for v in values for p in parts(name, number(v))]]


def product(result):
    """The reference of dot [3,4] x [4,5]."""
    def reference(a, b):
        x, y = elements(a.name, a.raw), elements(b.name, b.raw)
        return encoded(result, [sum(x[i * 4 + k] * y[k * 5 + j] for k in range(4)) for i in range(3) for j in range(5)],
                       a.name if a.name == b.name else None)
    return reference


def convolved(result):
    """The reference of a convolution of [1,5,6,2] by [2,3,2,3], neither padded nor strided."""
    def reference(a, b):
        x, y = elements(a.name, a.raw), elements(b.name, b.raw)
        return encoded(result, [sum(x[((r + i) * 6 + c + j) * 2 + f] * y[((i * 3 + j) * 2 + f) * 3 + o]
                                    for i in range(2) for j in range(3) for f in range(2))
                                for r in range(4) for c in range(4) for o in range(3)], a.name)
    return reference


def ragged_rows(name):
    """The reference of ragged-dot [6,3] x [3,3,2], groups of 2, 1 and 3 rows."""
    def reference(a, b, _):
        x, y, group = elements(name, a.raw), elements(name, b.raw), (0, 0, 1, 2, 2, 2)
        return encoded(name, [sum(x[i * 3 + k] * y[(group[i] * 3 + k) * 2 + j] for k in range(3))
                              for i in range(6) for j in range(2)])
    return reference


def ragged_contracting(name):
    """The reference of ragged-dot [2,6] x [6,2], the contracted dimension in groups of 2, 1 and 3."""
    def reference(a, b, _):
        x, y = elements(name, a.raw), elements(name, b.raw)
        return encoded(name, [sum((x[i * 6 + k] * y[k * 2 + j] for k in group), 0 if name not in FLOATS else 0.0)
                              for group in (range(2), range(2, 3), range(3, 6)) for i in range(2) for j in range(2)])
    return reference


def ragged_batches(name):
    """The reference of ragged-dot [2,4,3] x [2,2,3,2]: groups of 1 and 3 rows, then of 3 and 1."""
    def reference(a, b, _):
        x, y, group = elements(name, a.raw), elements(name, b.raw), ((0, 1, 1, 1), (0, 0, 0, 1))
        return encoded(name, [sum(x[(n * 4 + i) * 3 + k] * y[((n * 2 + group[n][i]) * 3 + k) * 2 + j] for k in range(3))
                              for n in range(2) for i in range(4) for j in range(2)])
    return reference


def scaled(result):
    """The reference of scaled-dot [2,64] x [3,64] with scales [2,2] and [3,2]."""
    def reference(a, b, sa, sb):
        x, y, u, v = (elements(z.name, z.raw) for z in (a, b, sa, sb))
        return encoded(result, [sum(x[i * 64 + k] * u[i * 2 + k // 32] * y[j * 64 + k] * v[j * 2 + k // 32] for k in range(64))
                                for i in range(2) for j in range(3)])
    return reference


def dots(name):
    a, b = (f"{name}[3,4]", tame(name, 12, 1)), (f"{name}[4,5]", tame(name, 20, 2))
    contract = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    yield Case("dot", name, f"{name}[3,5]", f"dot(p0, p1), {contract}", a, b, reference=product(name))
    yield Case("dot", name, f"{name}[2,3,2]", "dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={1}, "
               "lhs_contracting_dims={2}, rhs_contracting_dims={0}", (f"{name}[2,3,4]", tame(name, 24, 1)),
               (f"{name}[4,2,2]", tame(name, 16, 2)), variant="batch")
    yield Case("dot", name, f"{name}[3,5]{{0,1}}", f"dot(p0, p1), {contract}", (f"{name}[3,4]{{0,1}}", a[1]),
               (f"{name}[4,5]{{0,1}}", b[1]), variant="layouts")
    yield Case("dot", name, f"{name}[]", "dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
               (f"{name}[4]", tame(name, 4, 1)), (f"{name}[4]", tame(name, 4, 2)), variant="vectors")
    yield Case("dot", name, f"{name}[2,3]", "dot(p0, p1), lhs_contracting_dims={}, rhs_contracting_dims={}",
               (f"{name}[2]", tame(name, 2, 1)), (f"{name}[3]", tame(name, 3, 2)), variant="outer")
    yield Case("dot", name, f"{name}[2,3]", f"dot(p0, p1), {contract}", (f"{name}[2,0]", []), (f"{name}[0,3]", []),
               variant="empty")
    for wide in MIXED:
        if wide != name:
            yield Case(f"dot to {wide}", name, f"{wide}[3,5]", f"dot(p0, p1), {contract}", a, b,
                       reference=product(wide))
    for other in ("f32", "s32", "f8e4m3fn", "s8", "u8", "bf16"):
        if other != name:
            result = "s32" if name in INTEGERS and other in INTEGERS else "f32"
            yield Case(f"dot by {other} to {result}", name, f"{result}[3,5]", f"dot(p0, p1), {contract}", a,
                       (f"{other}[4,5]", tame(other, 20, 2)), reference=product(result))
    yield Case("ragged-dot", name, f"{name}[6,2]", "ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", (f"{name}[6,3]", tame(name, 18, 1)),
               (f"{name}[3,3,2]", tame(name, 18, 2)), ("s32[3]", [2, 1, 3]), reference=ragged_rows(name))
    yield Case("ragged-dot", name, f"{name}[3,2,2]", "ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={}", (f"{name}[2,6]", tame(name, 12, 1)),
               (f"{name}[6,2]", tame(name, 12, 2)), ("s32[3]", [2, 1, 3]), variant="contracting",
               reference=ragged_contracting(name))
    yield Case("ragged-dot", name, f"{name}[2,4,2]", "ragged-dot(p0, p1, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, "
               "lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}",
               (f"{name}[2,4,3]", tame(name, 24, 1)), (f"{name}[2,2,3,2]", tame(name, 24, 2)), ("s32[2,2]", [1, 3, 3, 1]),
               variant="sizes per batch", reference=ragged_batches(name))
    for result in ("bf16", "f32"):
        yield Case(f"scaled-dot to {result}", name, f"{result}[2,3]", "scaled-dot(p0, p1, p2, p3), "
                   "lhs_contracting_dims={1}, rhs_contracting_dims={1}", (f"{name}[2,64]", tame(name, 128, 1)),
                   (f"{name}[3,64]", tame(name, 192, 2)), ("f8e8m0fnu[2,2]", tame("f8e8m0fnu", 4)),
                   ("f8e8m0fnu[3,2]", tame("f8e8m0fnu", 6)), tolerance=1, reference=None if name in COMPLEX else scaled(result))


LOOSE = {"f32": 1e-5, "c64": 1e-5, "f64": 1e-13, "c128": 1e-13, "bf16": 0.03, "f16": 0.004, "f4e2m1fn": 0.5}
CONVOLUTION = "convolution(p0, p1), window={%s}, dim_labels=%s"


def convolutions(name):
    image, kernel = (f"{name}[1,5,6,2]", tame(name, 60, 1)), (f"{name}[2,3,2,3]", tame(name, 36, 2))
    yield Case("convolution", name, f"{name}[1,4,4,3]", CONVOLUTION % ("size=2x3", "b01f_01io->b01f"), image, kernel,
               reference=convolved(name))
    yield Case("convolution", name, f"{name}[1,6,3,3]",
               CONVOLUTION % ("size=2x3 stride=1x2 pad=1_1x1_0", "b01f_01io->b01f"), image, kernel, variant="padded")
    yield Case("convolution", name, f"{name}[2,4,4]", CONVOLUTION % ("size=3 pad=1_1 rhs_dilate=2 rhs_reversal=1",
             "bf0_oi0->bf0") + ", feature_group_count=2", (f"{name}[2,4,6]", tame(name, 48, 1)),
             (f"{name}[4,2,3]", tame(name, 24, 2)), variant="groups")
    yield Case("convolution", name, f"{name}[1,4,4,3]{{0,2,1,3}}", CONVOLUTION % ("size=2x3", "b01f_01io->b01f"),
               (image[0] + "{1,3,0,2}", image[1]), (kernel[0] + "{0,1,2,3}", kernel[1]), variant="layouts")
    yield Case("convolution", name, f"{name}[2,3]", CONVOLUTION % ("", "bf_io->bf"), (f"{name}[2,4]", tame(name, 8, 1)),
               (f"{name}[4,3]", tame(name, 12, 2)), variant="no spatial dimensions")
    for wide in MIXED:
        if wide != name:
            yield Case(f"convolution to {wide}", name, f"{wide}[1,4,4,3]",
                       CONVOLUTION % ("size=2x3", "b01f_01io->b01f"), image, kernel, reference=convolved(wide))


def factorizations(name):
    size = 4
    width = 2 if name in PART else 1
    numbers = [[(6.0 if i == j else 1.0 / (1 + abs(i - j))) + (0 if i == j or width == 1 else (i - j) * 0.25j)
                for j in range(size)] for i in range(size)]
    form = element(name)
    flat = [form.encode(p) if form.kind == "float" else form.encode(int(p)) for line in numbers for x in line
            for p in ([complex(x).real, complex(x).imag] if width == 2 else [x])]
    # Narrow types may be rounded after each step or once; f8e8m0fnu cannot hold most steps.
    loose, check = LOOSE.get(name, 0.25), "shape" if name == "f8e8m0fnu" else "bits"
    for lower in ("true", "false"):
        yield Case("cholesky", name, f"{name}[4,4]", f"cholesky(p0), lower={lower}", (f"{name}[4,4]", flat),
                   variant="" if lower == "true" else "upper", tolerance=loose, check=check)
    for side, lower, unit, transpose in (("true", "true", "false", "NO_TRANSPOSE"), ("false", "false", "true", "TRANSPOSE"),
                                         ("true", "false", "false", "ADJOINT")):
        shape = f"{name}[4,3]" if side == "true" else f"{name}[3,4]"
        yield Case("triangular-solve", name, shape, f"triangular-solve(p0, p1), left_side={side}, lower={lower}, "
                   f"unit_diagonal={unit}, transpose_a={transpose}", (f"{name}[4,4]", flat),
                   (shape, tame(name, 12, 2)), variant="" if transpose == "NO_TRANSPOSE" else transpose.lower(),
                   tolerance=loose, check=check)


def transforms(name):
    wide = {"f32": "c64", "f64": "c128"}.get(name, name)
    real = PART.get(name, name)
    loose = 2e-6 if wide in ("c64", "f32") else 1e-14 if wide in ("c128", "f64") else 1
    for length in (8, 7):
        for kind in ("FFT", "IFFT"):
            yield Case(kind.lower(), name, f"{wide}[2,{length}]",
                       f"fft(p0), fft_type={kind}, fft_length={{{length}}}", (f"{name}[2,{length}]",
                       ordinary(name, 2 * length)), variant=f"{length}", tolerance=loose)
        yield Case("rfft", name, f"{wide}[2,{length // 2 + 1}]", f"fft(p0), fft_type=RFFT, fft_length={{{length}}}",
                   (f"{name}[2,{length}]", ordinary(name, 2 * length)), variant=f"{length}", tolerance=loose)
        yield Case("irfft", name, f"{real}[2,{length}]", f"fft(p0), fft_type=IRFFT, fft_length={{{length}}}",
                   (f"{name}[2,{length // 2 + 1}]", ordinary(name, 2 * (length // 2 + 1))), variant=f"{length}",
                   tolerance=loose)


def norms(name):
    x, s = (f"{name}[3,4,2]", ordinary(name, 24, 1)), (f"{name}[4]", ordinary(name, 4, 2, 0.5, 2))
    o, v = (f"{name}[4]", ordinary(name, 4, 3)), (f"{name}[4]", ordinary(name, 4, 4, 0.5, 2))
    g = (f"{name}[3,4,2]", ordinary(name, 24, 5))
    loose, check = LOOSE.get(name, 0.25), "shape" if name == "f8e8m0fnu" else "bits"
    three = f"({name}[3,4,2], {name}[4], {name}[4])"
    rest = "epsilon=0.125, feature_index=1"
    yield Case("batch-norm-inference", name, f"{name}[3,4,2]", f"batch-norm-inference(p0, p1, p2, p3, p4), {rest}", x, s, o,
               o, v, tolerance=loose, check=check)
    yield Case("batch-norm-training", name, three, f"batch-norm-training(p0, p1, p2), {rest}", x, s, o, tolerance=loose, check=check)
    yield Case("batch-norm-grad", name, three, f"batch-norm-grad(p0, p1, p2, p3, p4), {rest}", x, s, o, v, g,
               tolerance=loose, check=check)


def rows():
    for name in ARRAYS:
        for family in (dots, convolutions, factorizations, transforms, norms):
            yield from family(name)
