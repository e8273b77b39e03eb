"""Dots, convolutions, factorizations, Fourier transforms."""
import math

from generate import COMPLEX, NUMBERS, braces, shape


def dot(b):
    r = b.random
    t = b.type([t for t in NUMBERS if t not in ("s2", "u2", "s4", "u4") and t[:2] not in ("f8", "f4")])
    nb, nc = r.choice([0, 0, 0, 1, 1, 2, 3]), r.choice([0, 1, 1, 1, 1, 2, 3])
    nl, nr = r.choice([0, 1, 1, 1, 2, 3]), r.choice([0, 1, 1, 1, 2, 3])
    batch, contract = [min(b.dim(), 5) for _ in range(nb)], [min(b.dim(), 300 if nc == 1 else 50) for _ in range(nc)]
    left, right = [b.dim() for _ in range(nl)], [b.dim() for _ in range(nr)]

    def side(free):
        items = [("b", i, d) for i, d in enumerate(batch)] + [("c", i, d) for i, d in enumerate(contract)] + [("f", i, d) for i, d in enumerate(free)]
        r.shuffle(items) if r.random() < 0.6 else None
        free_order = [d for k, _, d in items if k == "f"]
        where = {(k, i): p for p, (k, i, _) in enumerate(items)}
        return [d for _, _, d in items], [where["b", i] for i in range(nb)], [where["c", i] for i in range(nc)], free_order
    ld, lb, lc, lf = side(left)
    rd, rb, rc, rf = side(right)
    if math.prod(batch + contract + left + right) > 2e7:
        return None
    x, y = b.get(t, ld), b.get(t, rd)
    k = math.prod(contract)
    text = f"dot({x.name}, {y.name})"
    for name, l in (("lhs_batch_dims", lb), ("lhs_contracting_dims", lc), ("rhs_batch_dims", rb), ("rhs_contracting_dims", rc)):
        if l:
            text += f", {name}={braces(l)}"
    if r.random() < 0.1:
        text += f", operand_precision={{{r.choice(['default', 'high', 'highest'])},highest}}"
    q = None if x.q is None or y.q is None else x.q + y.q
    out = t
    if t in ("s8", "u8", "s16") and r.random() < 0.5:
        out = "s32"
    if t in ("bf16", "f16") and r.random() < 0.5:
        out = "f32"
    return b.emit(out, batch + lf + rf, text, q, x.bound * y.bound * max(k, 1) * (2 if t in COMPLEX else 1))


def mixed_dot(b):
    """A dot of narrow operands of two types with a wider result."""
    r = b.random
    t, u, out = r.choice([("f8e4m3fn", "f8e5m2", "f32"), ("f8e4m3fn", "f8e4m3fn", "f32"), ("f8e5m2", "f8e5m2", "f16"), ("f8e4m3fn", "f8e4m3fn", "bf16"), ("s8", "u8", "s32"),
                          ("u8", "u8", "u32"), ("bf16", "bf16", "f32"), ("bf16", "f32", "f32"), ("f16", "f16", "f32"), ("s8", "s8", "f32"), 
                          ("s16", "s16", "s64"), ("s32", "s32", "s64"), ("pred", "pred", "pred")])
    m, k, n = b.dim(), b.dim(), b.dim()
    x, y = b.parameter_or_constant(t, (m, k), True), b.parameter_or_constant(u, (n, k), True)
    if x is None or y is None:
        return None
    q = None if x.q is None or y.q is None else 0
    if "s8" in (t, u) and out == "f32" and 16129 * k > 2 ** 24:
        q = None
    return b.emit(out, (m, n), f"dot({x.name}, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}", q, x.bound * y.bound * max(k, 1))


def convolution(b):
    r = b.random
    t = b.type(["f32", "f64", "f16", "bf16", "s32", "c64", "s8", "u8", "s16", "u32", "s64", "c128"])
    if t not in b.module.types:
        t = "f32"
    n = r.choice([0, 1, 1, 2, 2, 2, 3, 4])
    fg, bg = 1, 1
    if r.random() < 0.3:
        fg = r.choice([2, 3, 4])
    elif r.random() < 0.2:
        bg = r.choice([2, 3])
    kif = r.choice([1, 1, 2, 3, 5] + [16, 17, 64] * b.module.big)
    features, of = kif * fg, r.choice([1, 2, 3] + [16, 35] * b.module.big) * fg * bg
    batch = r.choice([1, 2, 3]) * bg
    items, spatial, kernel, out = [], [], [], []
    for _ in range(n):
        k, s = r.choice([1, 2, 3, 3, 5]), r.choice([1, 1, 2, 3])
        base, win = r.choice([1, 1, 1, 2]), r.choice([1, 1, 1, 2])
        d = r.choice([1, 4, 5, 7, 8, 9, 12] + [28, 33] * b.module.big)
        low, high = (r.randint(-1, 3), r.randint(-1, 3)) if r.random() < 0.6 else (0, 0)
        if low * high < 0:  # the reference is wrong for some of these
            high = 0
        extent = (k - 1) * win + 1
        full = (d - 1) * base + 1 + low + high
        if full < extent:
            low, high = extent, 0
            full = (d - 1) * base + 1 + low + high
        items.append((k, s, low, high, base, win, r.random() < 0.15))
        spatial.append(d)
        kernel.append(k)
        out.append((full - extent) // s + 1)

    def arrange(names, sizes, canonical):
        order = list(range(len(names)))
        if not canonical:
            r.shuffle(order)
        return "".join(names[i] for i in order), [sizes[i] for i in order]
    canonical = r.random() < 0.4
    digits = [str(i) for i in range(n)]
    ll, ld = arrange(["b"] + digits + ["f"], [batch] + spatial + [features], canonical)
    kl, kd = arrange(digits + ["i", "o"], kernel + [kif, of], canonical)
    ol, od = arrange(["b"] + digits + ["f"], [batch // bg] + out + [of], canonical)
    x, y = b.get(t, ld), b.get(t, kd)
    text = f"convolution({x.name}, {y.name})"
    if n:
        w = "size=" + "x".join(str(i[0]) for i in items)
        for name, j in (("stride", 1), ("lhs_dilate", 4), ("rhs_dilate", 5), ("rhs_reversal", 6)):
            if any(int(i[j]) != (name == "rhs_reversal" and 0 or name != "rhs_reversal") for i in items):
                w += f" {name}=" + "x".join(str(int(i[j])) for i in items)
        if any(i[2] or i[3] for i in items):
            w += " pad=" + "x".join(f"{i[2]}_{i[3]}" for i in items)
        text += f", window={{{w}}}"
    text += f", dim_labels={ll}_{kl}->{ol}"
    if fg > 1:
        text += f", feature_group_count={fg}"
    if bg > 1:
        text += f", batch_group_count={bg}"
    k = math.prod(kernel) * kif * (batch if bg > 1 else 1)
    q = None if x.q is None or y.q is None else x.q + y.q
    if t in ("s8", "u8") and r.random() < 0.5:
        t = "s32" if t == "s8" else "u32"
    return b.emit(t, od, text, q, x.bound * y.bound * k * (2 if t in COMPLEX else 1))


def factorize(b):
    r = b.random
    if not b.entry or len(b.module.specs) > 8:
        return None
    t = r.choice(["f32", "f32", "f64", "c64", "c128"])
    n, batch = r.choice([1, 2, 3, 5, 8, 13, 31 if b.module.big else 4]), [r.choice([1, 2, 3]) for _ in range(r.choice([0, 0, 1, 2]))]
    if r.random() < 0.5:
        a = b.parameter(t, batch + [n, n], "spd")
        lower = r.random() < 0.7
        low = b.emit(t, a.dims, f"cholesky({a.name}), lower={'true' if lower else 'false'}", None, 10)
        # The other triangle is not defined.
        i = b.emit("s32", a.dims, f"iota(), iota_dimension={len(a.dims) - 2}")
        j = b.emit("s32", a.dims, f"iota(), iota_dimension={len(a.dims) - 1}")
        p = b.emit("pred", a.dims, f"compare({i.name}, {j.name}), direction={'GE' if lower else 'LE'}")
        b.values.remove(low)
        return b.emit(t, a.dims, f"select({p.name}, {low.name}, {b.filled(t, a.dims, 0).name})", None, 10)
    a = b.parameter(t, batch + [n, n], "triangular")
    left = r.random() < 0.5
    m = r.choice([1, 2, 5, 9])
    c = b.get(t, batch + ([n, m] if left else [m, n]))
    return b.emit(t, c.dims, f"triangular-solve({a.name}, {c.name}), left_side={'true' if left else 'false'}, "
                  f"lower={r.choice(['true', 'false'])}, unit_diagonal={r.choice(['true', 'false', 'false'])}, "
                  f"transpose_a={r.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}", None, c.bound * 8)


def fft(b):
    r = b.random
    rank = r.randint(1, 3)
    lengths = [r.choice([1, 2, 3, 4, 5, 7, 8, 16, 12] + [11, 13, 17, 31, 37, 64, 100, 127] * (rank == 1)) for _ in range(rank)]
    batch = [r.choice([1, 2, 3]) for _ in range(r.choice([0, 1, 1, 2]))]
    kind = r.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
    f = r.choice(["f32", "f32", "f64"])
    c = "c64" if f == "f32" else "c128"
    half = lengths[:-1] + [lengths[-1] // 2 + 1]
    t, dims, ot, od = {"FFT": (c, lengths, c, lengths), "IFFT": (c, lengths, c, lengths), "RFFT": (f, lengths, c, half), "IRFFT": (c, half, f, lengths)}[kind]
    x = b.get(t, batch + dims)
    v = b.emit(ot, batch + od, f"fft({x.name}), fft_type={kind}, fft_length={braces(lengths)}", None, x.bound * math.prod(lengths))
    if v:  # small values beside large ones: a slice alone does not bound the error
        b.values.remove(v)
        b.hidden.append(v)
    return v


def ragged_dot(b):
    """Rows of the lhs are multiplied by their group's matrix, or groups of the contracted dimension have results of their own."""
    r = b.random
    t = r.choice(["f32", "f32", "f64", "s32", "bf16"])
    g, m, k, n = r.randint(1, 4), b.dim(), min(b.dim(), 20), min(b.dim(), 20)
    kind = r.choice(["free", "contracted", "batch"])
    if min(m, k, n) == 0:
        return None
    ragged = {"free": m, "contracted": k, "batch": r.randint(1, 6)}[kind]
    cuts = sorted(r.randint(0, ragged) for _ in range(g - 1))
    sizes = [b_ - a for a, b_ in zip([0] + cuts, cuts + [ragged])]
    groups = b.emit("s32", (g,), f"constant({{{', '.join(map(str, sizes))}}})")
    fresh, ids = b.module.fresh("r"), [i for i, count in enumerate(sizes) for _ in range(count)]
    ids_text = f"{fresh}i = s32[{ragged}] constant({{{', '.join(map(str, ids))}}}) ; "

    def rows(name, dims):
        """The part of each ragged index of an array whose first dimension is the groups."""
        slices = [1] + list(dims[1:])
        return (f"{fresh}g = {shape(t, [ragged] + list(dims[1:]))} gather({name}, {fresh}i), offset_dims={braces(range(1, len(dims)))}, collapsed_slice_dims={{0}}, "
                f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={braces(slices)} ; ")
    if kind == "free":
        x, y, out = b.get(t, (m, k)), b.get(t, (g, k, n)), (m, n)
        numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
        reference = ids_text + rows(y.name, y.dims) + (f"dot({x.name}, {fresh}g), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}")
    elif kind == "contracted":
        x, y, out = b.get(t, (m, k)), b.get(t, (k, n)), (g, m, n)
        numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}"
        # The left side once per group, zero outside of it.
        inside = "{" + ", ".join("{" + ", ".join(str(int(ids[j] == i)) for j in range(k)) + "}" for i in range(g)) + "}"
        whole = shape(t, (g, m, k))
        reference = (f"{fresh}p = pred[{g},{k}] constant({inside}) ; {fresh}q = pred[{g},{m},{k}] broadcast({fresh}p), dimensions={{0,2}} ; "
                     f"{fresh}x = {whole} broadcast({x.name}), dimensions={{1,2}} ; {fresh}0 = {shape(t, ())} constant(0) ; {fresh}z = {whole} broadcast({fresh}0), dimensions={{}} ; "
                     f"{fresh}s = {whole} select({fresh}q, {fresh}x, {fresh}z) ; dot({fresh}s, {y.name}), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}")
    else:
        x, y, out = b.get(t, (ragged, m, k)), b.get(t, (ragged, k, n)), (ragged, m, n)
        numbers = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}"
        reference = f"dot({x.name}, {y.name}), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}"
    q = None if x.q is None or y.q is None else x.q + y.q
    return b.emit(t, out, f"ragged-dot({x.name}, {y.name}, {groups.name}), {numbers}", q, x.bound * y.bound * k, reference=reference)


def scaled_dot(b):
    """A dot whose operands have a power-of-two scale per block."""
    r = b.random
    t, out = r.choice(["f8e4m3fn", "f8e5m2", "f4e2m1fn", "bf16"]), r.choice(["f32", "f32", "bf16"])
    (m, n), block = (r.choice([1, 2, 5, 8, 17]) for _ in range(2)), r.choice([1, 2, 4, 32])
    k = block * r.choice([1, 2, 3])
    x, y = b.parameter_or_constant(t, (m, k), True), b.parameter_or_constant(t, (n, k), True)
    if x is None or y is None:
        return None
    fresh, names, reference = b.module.fresh("q"), [], ""
    for side, v, rows in (("l", x, m), ("r", y, n)):
        s = [2.0 ** r.randint(-2, 2) for _ in range(rows * (k // block))]
        text = "{" + ", ".join("{" + ", ".join(map(str, s[i:i + k // block])) + "}" for i in range(0, len(s), k // block)) + "}"
        names.append(b.raw(shape("f8e8m0fnu", (rows, k // block)), f"constant({text})", reference="-"))
        wide = f"f32[{rows},{k // block},{block}]"
        reference += (f"{fresh}{side}s = f32[{rows},{k // block}] constant({text}) ; {fresh}{side}b = {wide} broadcast({fresh}{side}s), dimensions={{0,1}} ; "
                      f"{fresh}{side}t = f32[{rows},{k}] reshape({fresh}{side}b) ; {fresh}{side}w = f32[{rows},{k}] convert({v.name}) ; "
                      f"{fresh}{side} = f32[{rows},{k}] multiply({fresh}{side}w, {fresh}{side}t) ; ")
    numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    q = None if x.q is None or y.q is None else x.q + y.q - 4
    wide = b.emit("f32", (m, n), f"scaled-dot({x.name}, {y.name}, {names[0]}, {names[1]}), {numbers}", q, x.bound * y.bound * k * 16,
                  reference=reference + f"dot({fresh}l, {fresh}r), {numbers}")
    return wide and (wide if out == "f32" else b.emit(out, (m, n), f"convert({wide.name})", wide.q, wide.bound))


OPERATIONS = [(scaled_dot, 1), (ragged_dot, 1), (dot, 5), (mixed_dot, 2), (convolution, 4), (factorize, 1), (fft, 1)]
