"""Building blocks of large modules: arrays that several threads share, kernels of several results and stages, rows of 2 to 12 elements."""
import math

from generate import BYTES, COMPLEX, FLOATS, INTS, Unfit, braces, least, shape
from families.blocks import changed, combined
from families.reductions import initial

SIZES = [(70001,), (262144,), (300, 301), (513, 130), (2051, 37), (33, 2050), (9, 65, 129), (40, 50, 64), (3, 5, 17, 259), (100003,), (1, 70000), (70000, 1), (257, 4, 64)]
TYPES = ["f32"] * 6 + ["bf16", "f16", "f64", "s32", "s32", "s8", "u8", "u16", "s64", "u64", "c64"]


MOVED = TYPES + ["pred", "s4", "u4", "f8e4m3fn", "f8e5m2", "c128"]  # of what moves elements only


def argument(b, t, dims, exact=False):
    """An existing value of this type and shape, or a parameter."""
    v = b.pick(lambda v: v.type == t and v.dims == tuple(dims) and (v.exact or not exact))
    if v is not None and b.random.random() < 0.6:
        return v
    v = b.parameter(t, dims, "small" if exact and t not in INTS else None) if len(b.module.specs) < 12 else b.parameter_or_constant(t, dims, exact)
    if v is None:
        raise Unfit
    return v


def monoid(b, t):
    """The name of an associative operation. The reference computes extrema of many bytes wrong, so these are left out."""
    return b.random.choice(["add", "add", "maximum", "minimum"] if t not in COMPLEX and t not in ("s8", "u8") else ["add"])


def several(b):
    """Many results of one size, of several types and layouts, and reductions of them."""
    r, t, dims = b.random, b.random.choice(TYPES), b.random.choice(SIZES)
    made = [argument(b, t, dims) for _ in range(r.randint(1, 3))]
    for _ in range(r.randint(3, 9)):
        x, choice, y = r.choice(made[-4:]), r.random(), None
        if choice < 0.4:
            y = combined(b, x, r.choice(made)) if t not in COMPLEX else b.emit(t, dims, f"add({x.name}, {r.choice(made).name})", None, x.bound * 8)
        elif choice < 0.6:
            y = changed(b, x) if t not in COMPLEX else b.keep(x, dims, f"negate({x.name})")
        elif choice < 0.7 and x.exact and t not in COMPLEX and r.random() < 0.7:
            p = b.emit("pred", dims, f"compare({x.name}, {made[0].name}), direction={r.choice(['LT', 'GE', 'EQ'])}") if made[0].exact else None
            y = p and b.emit(t, dims, f"select({p.name}, {x.name}, {made[-1].name})", least(x.q, made[-1].q), max(x.bound, made[-1].bound))
        elif choice < 0.8 and t not in COMPLEX:
            to = r.choice(["bf16", "f32", "f16"] if t in FLOATS else ["s8", "s32", "u16", "s64"])
            b.emit(to, dims, f"convert({x.name})", x.q if t in FLOATS else 0, x.bound)
        elif choice < 0.9 and len(dims) > 1:
            order = r.sample(range(len(dims)), len(dims))
            b.keep(x, [dims[i] for i in order], f"transpose({x.name}), dimensions={braces(order)}")
        else:
            totals(b, x)
        if y:
            made.append(y)
    return made[-1]


def totals(b, x, spread=0.4):
    """A reduction over some dimensions, possibly of two operands or broadcast back."""
    r, t, dims = b.random, x.type, x.dims
    d = sorted(r.sample(range(len(dims)), r.randint(1, len(dims))))
    kept, count = [i for i in range(len(dims)) if i not in d], math.prod(dims[i] for i in d)
    op = monoid(b, t)
    if op == "add" and t not in INTS and x.bound * count > 9e5:
        unit = 2.0 ** -math.ceil(math.log2(x.bound * count / 5e5))
        scale = b.filled(t, dims, unit)
        x = scale and b.emit(t, dims, f"multiply({x.name}, {scale.name})", None if x.q is None else x.q + math.log2(unit), x.bound * unit)
        if x is None:
            return None
        op = "maximum" if t not in COMPLEX and t in ("f16", "bf16") and not x.exact else "add"
    s = b.emit(t, [dims[i] for i in kept], f"reduce({x.name}, {initial(b, op, t).name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, t)}", x.q,
               x.bound * (count if op == "add" else 1))
    if s and r.random() < spread and s.bound < 1e4 and t not in COMPLEX:
        back = b.keep(s, dims, f"broadcast({s.name}), dimensions={braces(kept)}")
        return back and combined(b, x, back)
    return s


def columns(b):
    """Several reductions along the columns of one array, and values computed from them."""
    r, t = b.random, b.random.choice(["f32", "f32", "bf16", "f16", "f64", "s32", "s8", "u16", "s64"])
    dims = (r.choice([100, 513, 2051, 4096]), r.choice([1, 2, 3, 8, 31, 64, 100, 129, 256, 500]))
    if r.random() < 0.3:
        dims = (r.choice([2, 3]),) + dims[:1] + (r.choice([2, 3, 16, 33, 65]),)
    x = argument(b, t, dims)
    out = None
    for _ in range(r.randint(1, 4)):
        d = r.choice([[0], [0], list(range(len(dims) - 1)), [len(dims) - 2]])
        kept, count = [i for i in range(len(dims)) if i not in d], math.prod(dims[i] for i in d)
        op, y = monoid(b, t), x
        if r.random() < 0.5 and t in FLOATS:
            y = b.emit(t, dims, f"multiply({x.name}, {x.name})", None if x.q is None else 2 * x.q, x.bound ** 2)
        elif r.random() < 0.4 and t in ("bf16", "f16", "s8", "u16"):
            y = b.emit("f32" if t in FLOATS else "s32", dims, f"convert({x.name})", x.q, x.bound)
        if y is None:
            continue
        s = b.emit(y.type, [dims[i] for i in kept], f"reduce({y.name}, {initial(b, op, y.type).name}), dimensions={braces(d)}, to_apply={b.module.combiner(op, y.type)}",
                   y.q, y.bound * (count if op == "add" else 1))
        out = s or out
        if s and r.random() < 0.5 and s.type == t and s.bound < 1e4:
            back = b.keep(s, dims, f"broadcast({s.name}), dimensions={braces(kept)}")
            out = back and combined(b, x, back) or out
    return out


def short_rows(b):
    """Arrays with a short last dimension: their sums, slices, concatenates and permutations."""
    r, t, m = b.random, b.random.choice(TYPES), b.random.choice([1, 2, 3, 4, 5, 6, 7, 8, 12, 16])
    dims = r.choice([(9001, m), (20000, m), (301, 67, m), (64, 64, m), (4099, m)])
    x = argument(b, t, dims)
    zeros, limits = [0] * len(dims), list(dims)
    for _ in range(r.randint(1, 6)):
        choice, y, last = r.random(), None, len(dims) - 1
        if choice < 0.2:
            start, stride = r.randrange(m), r.choice([1, 1, 2, 3])
            end = r.randint(start + 1, m)
            parts = [f"[{a}:{z}]" for a, z in zip(zeros[:-1], limits[:-1])] + [f"[{start}:{end}:{stride}]"]
            b.keep(x, dims[:-1] + ((end - start + stride - 1) // stride,), f"slice({x.name}), slice={{{', '.join(parts)}}}")
        elif choice < 0.35:
            z = argument(b, t, dims)
            b.emit(t, dims[:-1] + (2 * m,), f"concatenate({x.name}, {z.name}), dimensions={{{last}}}", least(x.q, z.q), max(x.bound, z.bound))
        elif choice < 0.5:
            y = b.keep(x, dims, f"reverse({x.name}), dimensions={braces(r.sample(range(len(dims)), r.randint(1, 2)))}")
        elif choice < 0.6:
            low, high, inner = r.randint(0, 2), r.randint(0, 2), r.choice([0, 0, 1, 2])
            zero = b.scalar(t, 0)
            pad = "x".join(["0_0"] * last + [f"{low}_{high}_{inner}"])
            b.emit(t, dims[:-1] + (m + low + high + (m - 1) * inner,), f"pad({x.name}, {zero.name}), padding={pad}", least(x.q, 0), x.bound)
        elif choice < 0.75:
            op = monoid(b, t)
            s = b.emit(t, dims[:-1], f"reduce({x.name}, {initial(b, op, t).name}), dimensions={{{last}}}, to_apply={b.module.combiner(op, t)}", x.q,
                       x.bound * (m if op == "add" else 1))
            if s and t not in COMPLEX and r.random() < 0.7:
                back = b.keep(s, dims, f"broadcast({s.name}), dimensions={braces(range(last))}")
                y = back and combined(b, x, back)
        elif choice < 0.85:
            order = r.sample(range(len(dims)), len(dims))
            b.keep(x, [dims[i] for i in order], f"transpose({x.name}), dimensions={braces(order)}")
        else:
            v = argument(b, t, (m,))
            back = b.keep(v, dims, f"broadcast({v.name}), dimensions={{{last}}}")
            y = back and t not in COMPLEX and combined(b, x, back)
        x = y or x
    return x


def woven(b):
    """Arrays deinterleaved by strided slices and interleaved again, pair by pair."""
    r, t, dims = b.random, b.random.choice(MOVED), b.random.choice([d for d in SIZES if d[-1] > 1] + [(500, 64), (30, 1000, 2), (66, 66)])
    x, d = argument(b, t, dims), b.random.randrange(len(dims))
    if r.random() < 0.5:  # [a0 b0 a1 b1 ...]
        others = [x] + [argument(b, t, dims) for _ in range(r.choice([1, 1, 2, 3]))]
        at, parts = r.choice([len(dims), d]), []
        for v in others:
            parts.append(b.keep(v, dims[:at] + (1,) + dims[at:], f"reshape({v.name})"))
        if any(p is None for p in parts):
            return None
        y = b.emit(t, dims[:at] + (len(parts),) + dims[at:], f"concatenate({', '.join(p.name for p in parts)}), dimensions={{{at}}}", least(*(p.q for p in parts)),
                   max(p.bound for p in parts))
        if y and at and r.random() < 0.6:
            return b.keep(y, dims[:at - 1] + (dims[at - 1] * len(parts),) + dims[at:], f"reshape({y.name})")
        return y
    k = r.choice([2, 2, 3])
    halves = []
    for start in range(k):
        n = (dims[d] - start + k - 1) // k
        if n <= 0:
            return None
        parts = ", ".join(f"[{start}:{size}:{k}]" if i == d else f"[0:{size}]" for i, size in enumerate(dims))
        halves.append(b.keep(x, dims[:d] + (n,) + dims[d + 1:], f"slice({x.name}), slice={{{parts}}}"))
    if any(h is None for h in halves):
        return None
    if len({h.dims for h in halves}) == 1 and t in TYPES and t not in COMPLEX:
        halves = [combined(b, halves[0], halves[1]) or halves[0], halves[-1]]
    r.shuffle(halves)
    return b.emit(t, dims[:d] + (sum(h.dims[d] for h in halves),) + dims[d + 1:], f"concatenate({', '.join(h.name for h in halves)}), dimensions={{{d}}}",
                  least(*(h.q for h in halves)), max(h.bound for h in halves))


def long_sort(b):
    r, t = b.random, b.random.choice(["f32", "f32", "s32", "u32", "s64", "f64", "bf16", "f16", "u8", "s16", "u64"])
    dims = r.choice([(70001,), (20000,), (100003,), (5, 9001), (9001, 5), (300, 300), (65536,), (3, 40000)])
    x, d = argument(b, t, dims, True), max(range(len(dims)), key=lambda i: dims[i])
    if not x.exact:
        return None
    others = [argument(b, r.choice(["s32", "f32", "u8", "pred", "s64", "bf16"]), dims) for _ in range(r.choice([0, 0, 1, 2]))]
    if others and r.random() < 0.6:
        others[0] = b.emit("s32", dims, f"iota(), iota_dimension={d}")
    all_ = [x] + others
    lines = []
    for i, v in enumerate(all_):
        lines += [f"  a{i} = {shape(v.type, ())} parameter({2 * i})", f"  b{i} = {shape(v.type, ())} parameter({2 * i + 1})"]
    f = b.module.computation("\n".join(lines) + f"\n  ROOT r = pred[] compare(a0, b0), direction={r.choice(['LT', 'GT'])}", "less")
    attributes = f"dimensions={{{d}}}, is_stable=true, to_apply={f}"
    if len(all_) == 1:
        return b.keep(x, dims, f"sort({x.name}), {attributes}")
    name, out = b.raw("(" + ", ".join(shape(v.type, v.dims) for v in all_) + ")", f"sort({', '.join(v.name for v in all_)}), {attributes}"), None
    for k, v in enumerate(all_):
        if r.random() < 0.6 or k + 1 == len(all_) and out is None:
            out = b.keep(v, dims, f"get-tuple-element({name}), index={k}")
    return out


def long_fft(b):
    r, f = b.random, b.random.choice(["f32", "f32", "f64"])
    lengths, batch = r.choice([([4096], []), ([65536], []), ([10007], []), ([30000], []), ([3600], [7]), ([256, 260], []), ([100, 300], [2]), ([511], [65]), ([64, 48, 10], []), ([1000, 64], [])])
    c, kind = "c64" if f == "f32" else "c128", r.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
    half = lengths[:-1] + [lengths[-1] // 2 + 1]
    t, dims, ot, od = {"FFT": (c, lengths, c, lengths), "IFFT": (c, lengths, c, lengths), "RFFT": (f, lengths, c, half), "IRFFT": (c, half, f, lengths)}[kind]
    x = argument(b, t, batch + dims)
    y = b.raw(shape(ot, batch + od), f"fft({x.name}), fft_type={kind}, fft_length={braces(lengths)}")
    v = b.emit(ot, batch + od, f"negate({y})", None, 9e5)
    if v:
        b.values.remove(v)
        b.hidden.append(v)
    return v


def large_factorize(b):
    r, t = b.random, b.random.choice(["f32", "f32", "f64", "c64"])
    n, batch = r.choice([64, 100, 129, 200, 260]), r.choice([[], [], [], [2], [3]])
    if r.random() < 0.5:
        a, lower = b.parameter(t, batch + [n, n], "spd"), r.random() < 0.6
        if a is None:
            return None
        low = b.emit(t, a.dims, f"cholesky({a.name}), lower={'true' if lower else 'false'}", None, 10)
        i, j = (b.emit("s32", a.dims, f"iota(), iota_dimension={len(a.dims) - k}") for k in (2, 1))
        p = b.emit("pred", a.dims, f"compare({i.name}, {j.name}), direction={'GE' if lower else 'LE'}")
        b.values.remove(low)
        return b.emit(t, a.dims, f"select({p.name}, {low.name}, {b.filled(t, a.dims, 0).name})", None, 10)
    a, left, m = b.parameter(t, batch + [n, n], "triangular"), r.random() < 0.5, r.choice([1, 3, 16, 65, 130])
    c = argument(b, t, batch + ([n, m] if left else [m, n]))
    if a is None or c.bound > 100:
        return None
    return b.emit(t, c.dims, f"triangular-solve({a.name}, {c.name}), left_side={'true' if left else 'false'}, lower={r.choice(['true', 'false'])}, "
                  f"unit_diagonal=false, transpose_a={r.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}", None, c.bound * 8)


def large_convolution(b):
    """Convolutions of models, their input gradients, and their kernel gradients, whose windows are as large as the image."""
    r = b.random
    t = r.choice(["f32", "f32", "f32", "bf16", "f16", "f64", "s8", "c64"])
    style, n = r.choice(["model", "model", "kernel", "grouped", "depthwise"]), r.choice([1, 2, 2, 2, 3])
    fg, bg, batch, stride = 1, 1, r.choice([1, 2, 4]), [r.choice([1, 1, 2]) for _ in range(n)]
    d = [r.choice([[17, 100, 511], [7, 14, 28, 33], [5, 8, 9]][n - 1]) for _ in range(n)]
    k, fi, of, wd, ld, pad = [r.choice([1, 3, 3, 5]) for _ in range(n)], r.choice([1, 3, 4, 16, 20, 64]), r.choice([1, 5, 16, 33, 64]), [1] * n, [1] * n, []
    if style == "grouped":
        fg = r.choice([2, 4, 8])
        fi, of = r.choice([1, 2, 4, 16]), r.choice([1, 2, 4, 16]) * fg
    elif style == "depthwise":
        fg, fi = r.choice([8, 17, 32, 100]), 1
        of = fg * r.choice([1, 1, 2])
    elif style == "kernel":  # the gradient's size is what is slid over: contract batch and window
        wd, stride = stride, [1] * n
        k = [max(1, (size - 1) // w) for size, w in zip(d, wd)]
        if r.random() < 0.3:
            bg, batch, of = (g := r.choice([2, 4])), g * r.choice([1, 2]), r.choice([1, 2, 4]) * g
    elif r.random() < 0.3:
        ld, stride = stride, [1] * n
    for i in range(n):
        full, extent = (d[i] - 1) * ld[i] + 1, (k[i] - 1) * wd[i] + 1
        low = r.choice([0, extent // 2 if style != "kernel" else 1, extent - 1 if ld[i] > 1 else 0])
        pad.append((max(low, extent - full), low))
    out = [((d[i] - 1) * ld[i] + 1 + sum(pad[i]) - (k[i] - 1) * wd[i] - 1) // stride[i] + 1 for i in range(n)]
    digits = [str(i) for i in range(n)]

    def arrange(names, sizes, orders):
        order = [names.index(c) for c in r.choice(orders)]
        return "".join(names[i] for i in order), [sizes[i] for i in order]
    last, first, front = ["b", *digits, "f"], ["b", "f", *digits], ["f", *digits, "b"]
    ll, xs = arrange(last, [batch, *d, fi * fg], [last, last, first] + [front] * (style == "kernel"))
    kl, ks = arrange([*digits, "i", "o"], [*k, fi, of], [[*digits, "i", "o"], ["o", "i", *digits], ["i", *digits, "o"], ["o", *digits, "i"]])
    ol, os_ = arrange(last, [batch // bg, *out, of], [last, last, first, front, [*digits, "b", "f"]])
    if math.prod(xs) * math.prod(k) * of > 6e8 or math.prod(os_) > 4e5:
        return None
    x, y = argument(b, t, xs), argument(b, t, ks)
    text = f"convolution({x.name}, {y.name}), window={{size={'x'.join(map(str, k))}"
    for name, values in (("stride", stride), ("lhs_dilate", ld), ("rhs_dilate", wd)):
        text += f" {name}={'x'.join(map(str, values))}" if any(v > 1 for v in values) else ""
    text += f" pad={'x'.join(f'{a}_{z}' for a, z in pad)}}}, dim_labels={ll}_{kl}->{ol}"
    text += f", feature_group_count={fg}" * (fg > 1) + f", batch_group_count={bg}" * (bg > 1)
    count = math.prod(k) * fi * (batch if bg > 1 else 1)
    q = None if x.q is None or y.q is None else x.q + y.q
    v = b.emit("s32" if t == "s8" else t, os_, text, q, x.bound * y.bound * count * (2 if t in COMPLEX else 1))
    if v and t in ("f32", "s8", "bf16") and r.random() < 0.5:
        f = v.dims[ol.index("f")]
        bias = argument(b, v.type, (f,))
        back = b.keep(bias, v.dims, f"broadcast({bias.name}), dimensions={{{ol.index('f')}}}")
        v = back and combined(b, v, back) or v
        v = changed(b, v) or v
    return v


def large_products(b):
    """Matrix products that share an operand, or are skinny, narrow, batched or transposed, with epilogues."""
    r, t = b.random, b.random.choice(["f32", "f32", "f32", "bf16", "f16", "f64", "s8", "u8", "s16", "s32", "c64"])
    m, k, n = (r.choice([1, 2, 3, 8, 31, 64, 100, 129, 257, 500]) for _ in range(3))
    batch = r.choice([(), (), (), (2,), (7,), (64,), (2, 3)])
    if math.prod(batch) * max(m * k, k * n, m * n) > 4e5 or math.prod(batch) * m * k * n > 2e8:
        return None
    turned = r.random() < 0.3
    x, nb, out = argument(b, t, batch + ((k, m) if turned else (m, k))), len(batch), None
    to = r.choice([t, {"bf16": "f32", "f16": "f32", "s8": "s32", "u8": "s32", "s16": "s32"}.get(t, t)])
    for _ in range(r.choice([1, 1, 2, 3])):
        flip = r.random() < 0.4
        y = argument(b, t, batch + ((n, k) if flip else (k, n)))
        numbers = f"lhs_batch_dims={braces(range(nb))}, rhs_batch_dims={braces(range(nb))}, " if nb else ""
        q = None if x.q is None or y.q is None else x.q + y.q
        v = b.emit(to, batch + (m, n), f"dot({x.name}, {y.name}), {numbers}lhs_contracting_dims={{{nb if turned else nb + 1}}}, rhs_contracting_dims={{{nb + 1 if flip else nb}}}",
                   q, x.bound * y.bound * k * (2 if t in COMPLEX else 1))
        if v and to not in COMPLEX and r.random() < 0.6:
            if out is not None and out.dims == v.dims and out.type == v.type and r.random() < 0.6:
                v = combined(b, v, out) or v
            v = changed(b, v) or v
            if r.random() < 0.3:
                totals(b, v)
        if v and r.random() < 0.3:
            order = r.sample(range(len(v.dims)), len(v.dims))
            b.keep(v, [v.dims[i] for i in order], f"transpose({v.name}), dimensions={braces(order)}")
        out = v or out
    return out


def divisions(b):
    """Integer quotients and remainders by constants."""
    r, t, dims = b.random, b.random.choice(BYTES), b.random.choice(SIZES)
    kind, width = INTS[t]
    x = b.parameter(t, dims, "bits") if len(b.module.specs) < 12 else None
    out = None
    for _ in range(r.randint(1, 5) if x else 0):
        top = 2 ** (width - (kind == "s")) - 1
        value = r.choice([1, 2, 3, 5, 7, 10, 64, 100, 60, 127, top, top - 1, top // 2 + 1, r.randint(1, top), r.randint(1, min(top, 1000))])
        value = max(1, min(value, top))
        if kind == "s" and r.random() < 0.4:
            value = -value - (r.random() < 0.1 and value == top)
        c = b.emit(t, (), f"constant({value})")
        c = c and b.keep(c, dims, f"broadcast({c.name}), dimensions={{}}")
        out = c and b.emit(t, dims, f"{r.choice(['divide', 'remainder'])}({x.name}, {c.name})") or out
    return out


def chosen(b):
    """A conditional with large results, some of which are used."""
    r, t, dims = b.random, b.random.choice(MOVED), b.random.choice([d for d in SIZES if math.prod(d) < 120000])
    x, y = argument(b, t, dims), argument(b, t, dims)
    s, names = shape(t, dims), []
    for i in range(2):
        p = b.module.fresh("p")
        op = r.choice([f"copy({p}a)", f"select({p}c, {p}a, {p}b)"] + [f"negate({p}a)", f"add({p}a, {p}b)"] * (t in TYPES) + [f"reverse({p}b), dimensions={{0}}", f"copy({p}b)"])
        names.append(b.module.computation(f"  {p}t = ({s}, {s}) parameter(0)\n  {p}a = {s} get-tuple-element({p}t), index=0\n  {p}b = {s} get-tuple-element({p}t), index=1\n"
                                          f"  {p}l = {shape('s32', dims)} iota(), iota_dimension=0\n  {p}m = s32[] constant({dims[0] // 2})\n"
                                          f"  {p}n = {shape('s32', dims)} broadcast({p}m), dimensions={{}}\n  {p}c = {shape('pred', dims)} compare({p}l, {p}n), direction=LT\n"
                                          f"  {p}r = {s} {op}\n  {p}i = s32[] constant({i})\n  ROOT {p}o = ({s}, s32[], {s}) tuple({p}r, {p}i, {r.choice([p + 'a', p + 'r'])})", "way"))
    both, p = b.raw(f"({s}, {s})", f"tuple({x.name}, {y.name})"), argument(b, "pred", ())
    name = b.raw(f"({s}, s32[], {s})", f"conditional({p.name}, {both}, {both}), true_computation={names[0]}, false_computation={names[1]}")
    q, bound, out = least(x.q, y.q), x.bound + y.bound, None
    for index in r.sample([0, 2], r.choice([1, 1, 2])):
        v = b.emit(t, dims, f"get-tuple-element({name}), index={index}", q, bound)
        for _ in range(r.choice([0, 1, 1, 2]) if v else 0):
            ends = [(lo := r.randrange(n), r.randint(lo + 1, n)) for n in dims]
            b.keep(v, tuple(z - a for a, z in ends), f"slice({v.name}), slice={{{', '.join(f'[{a}:{z}]' for a, z in ends)}}}")
        out = v or out
    if r.random() < 0.5:
        b.emit("s32", (), f"get-tuple-element({name}), index=1")
    return out


def updates(b):
    """A loop that carries several large arrays, swaps some, and updates rows of others at its counter."""
    r, t = b.random, b.random.choice([t for t in MOVED if t not in COMPLEX])
    rows, row = r.choice([(7, (1000,)), (40, (64,)), (5, (33, 65)), (100, (3,)), (300, ()), (64, (64, 2))])
    dims, count = (rows,) + row, r.randint(2, 6)
    carries = [argument(b, t, dims, True) for _ in range(count)]
    if any(not v.exact for v in carries):
        return None
    if r.random() < 0.3:
        carries[1] = carries[0]
    s, line = shape(t, dims), shape(t, (1,) + row)
    types = f"(s32[], {', '.join([s] * count)})"
    zeros = "".join([", z"] * len(row))
    text, results = f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  z = s32[] constant(0)\n  one = s32[] constant(1)\n  n = s32[] constant({rows - 1})\n  j = s32[] subtract(n, i)\n", []
    for k in range(count):
        text += f"  c{k} = {s} get-tuple-element(t), index={k + 1}\n"
    for k in range(count):
        kind, other = r.choice(["keep", "swap", "update", "update", "slice", "reverse"] + ["max"] * (t in TYPES)), r.randrange(count)
        if kind in ("update", "slice"):
            text += f"  r{k} = {line} dynamic-slice(c{other}, {r.choice('ij')}{zeros}), dynamic_slice_sizes={braces((1,) + row)}\n"
            op = r.choice([f"copy(r{k})", f"negate(r{k})" if t[0] != "u" and t in TYPES else f"copy(r{k})", f"reverse(r{k}), dimensions={{0}}"])
            text += f"  m{k} = {line} {op}\n  w{k} = {s} dynamic-update-slice(c{k}, m{k}, {r.choice('ij')}{zeros})\n"
            results.append(f"w{k}")
        elif kind in ("max", "reverse"):
            text += f"  w{k} = {s} " + (f"maximum(c{k}, c{other})\n" if kind == "max" else f"reverse(c{other}), dimensions={{0}}\n")
            results.append(f"w{k}")
        else:
            results.append(f"c{other if kind == 'swap' else k}")
    body = b.module.computation(text + f"  i1 = s32[] add(i, one)\n  ROOT next = {types} tuple(i1, {', '.join(results)})", "turn")
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant({r.choice([rows, rows, 1, 2, 3])})\n"
                                     "  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    init = b.raw(types, f"tuple({b.scalar('s32', 0).name}, {', '.join(v.name for v in carries)})")
    loop, out = b.raw(types, f"while({init}), condition={condition}, body={body}"), None
    for k in range(count):
        if r.random() < 0.8 or k == count - 1 and out is None:
            out = b.emit(t, dims, f"get-tuple-element({loop}), index={k + 1}", least(*(v.q for v in carries)), max(v.bound for v in carries))
    return out


def running(b):
    """Cumulative sums and maxima along a long dimension."""
    r, t = b.random, b.random.choice(["f32", "s32", "u8", "s64", "f64", "bf16"])
    dims = r.choice([(5000,), (1, 3000), (65, 257), (257, 65), (2001, 3), (20, 33, 17)])
    x, d = argument(b, t, dims, True), r.randrange(len(dims))
    if not x.exact:
        return None
    size, padding, n = ["1"] * len(dims), ["0_0"] * len(dims), dims[d]
    size[d], padding[d] = str(n), f"{n - 1}_0" if r.random() < 0.6 else f"0_{n - 1}"
    op = r.choice(["add", "maximum"]) if t in INTS else "add"
    return b.emit(t, dims, f"reduce-window({x.name}, {initial(b, op, t).name}), window={{size={'x'.join(size)} pad={'x'.join(padding)}}}, "
                  f"to_apply={b.module.combiner(op, t)}", x.q, x.bound * n)


def many_places(b):
    """Gathers and scatters of many rows or elements."""
    r, t = b.random, b.random.choice(TYPES)
    n, row = r.choice([(1000, ()), (500, (3,)), (257, (64,)), (100, (17,)), (2000, (2,)), (50, (5, 7))])
    count = r.choice([1, 7, 500, 3000, 20000] if math.prod(row) < 6 else [1, 7, 500, 3000])
    kind = r.choice(["s32", "s32", "s64", "u32", "u16"])
    if len(b.module.specs) > 10:
        return None
    i = b.parameter(kind, (count, 1), "index", r.choice([0, -3]) if kind[0] == "s" else 0, n - 1 + r.choice([0, 0, 5]))
    x = argument(b, t, (n,) + row)
    window = braces(range(1, len(row) + 1))
    if r.random() < 0.5:
        return b.keep(x, (count,) + row, f"gather({x.name}, {i.name}), offset_dims={window}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
                      f"slice_sizes={braces((1,) + row)}, indices_are_sorted=false")
    u = argument(b, t, (count,) + row, True)
    op = "add" if t in COMPLEX else r.choice(["add", "maximum", "minimum"])
    if not (u.exact and x.exact) and (count > 3000 or t in ("f16", "bf16")):
        return None
    return b.emit(t, x.dims, f"scatter({x.name}, {i.name}, {u.name}), update_window_dims={window}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
                  f"index_vector_dim=1, to_apply={b.module.combiner(op, t)}", least(x.q, u.q), x.bound + u.bound * (count if op == "add" else 1))


OPERATIONS = [(several, 5), (columns, 3), (short_rows, 4), (woven, 3), (long_sort, 2), (long_fft, 1), (large_factorize, 1), (large_convolution, 4), (large_products, 4), (divisions, 2),
              (chosen, 2), (updates, 2), (running, 1), (many_places, 2)]
