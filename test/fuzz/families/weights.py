"""Products with integers of a few bits as weights: scales and zero points for groups of k or for each column, in either order, of any number of rows."""
from generate import Unfit

MOST, LARGE = 400000, 140000  # elements of the weights


def packed(b, dims):
    """Unsigned integers of 4 bits from words of 8 or 32 bits, by shifts and masks, or by a concatenation."""
    r, (rows, columns) = b.random, dims
    t, each = r.choice([("u8", 2), ("u32", 8)])
    if columns % each:
        raise Unfit
    w = b.parameter(t, (rows, columns // each), "bits")
    split = (rows, columns // each, each)
    if t == "u8" and r.random() < 0.5:
        halves = []
        for op, by in (("and", 15), ("shift-right-logical", 4)):
            c = b.filled(t, w.dims, by)
            v = w and c and b.emit(t, w.dims, f"{op}({w.name}, {c.name})", 0, 15)
            halves.append(v and b.keep(v, w.dims + (1,), f"reshape({v.name})"))
        v = all(halves) and b.emit(t, split, f"concatenate({halves[0].name}, {halves[1].name}), dimensions={{2}}", 0, 15)
    else:
        i, width, mask = b.emit(t, (each,), "iota(), iota_dimension=0", 0, each), b.filled(t, (each,), 4), b.filled(t, split, 15)
        n = i and width and b.emit(t, (each,), f"multiply({i.name}, {width.name})", 0, 32)
        x, n = b.spread(w, split, [0, 1]), b.spread(n, split, [2])
        h = x and n and b.emit(t, split, f"shift-right-logical({x.name}, {n.name})")
        v = h and mask and b.emit(t, split, f"and({h.name}, {mask.name})", 0, 15)
    return v and b.emit(t, dims, f"reshape({v.name})", 0, 15)


def scaled_weights(b):
    """Rows times weights: all values are small enough to be exact in every type on the way."""
    r = b.random
    t = r.choice(["f32", "f32", "bf16"])
    group = r.choice([8, 16, 24, 32, 32, 64, 128])
    k = group * r.choice([1, 2, 3, 5, 8])
    # Smaller weights are converted by a kernel of their own.
    n = r.choice([66, 130, 257, 1000]) if r.random() < 0.2 else r.randint(LARGE // k, MOST // k)
    n = n if n * k <= MOST else MOST // k
    along_k = r.random() < 0.5
    n = n if along_k or r.random() < 0.2 else n // 8 * 8
    dims = (n, k) if along_k else (k, n)
    kind = r.choice(["s4", "s4", "u4", "words"] + (["s8", "u8"] if t == "f32" else []))
    most = {"s4": 8, "u4": 15, "words": 15, "s8": 128, "u8": 255}[kind]
    w = packed(b, dims) if kind == "words" else b.parameter(kind, dims, "bits")
    v = w and b.emit(t, dims, f"convert({w.name})", 0, most)
    if v is None:
        return None
    groups = k // group
    few, split, axes = ((n, groups), (n, groups, group), [0, 1]) if along_k else ((groups, n), (groups, group, n), [0, 2])
    if r.random() < 0.8:
        v = b.keep(v, split, f"reshape({v.name})")
        if v and r.random() < 0.4:
            z = b.parameter("u4", few, "bits")
            z = b.spread(z and b.emit(t, few, f"convert({z.name})", 0, 15), split, axes)
            most += 15
            v = z and b.emit(t, split, f"subtract({v.name}, {z.name})", 0, most)
        if v and r.random() < 0.8:
            s = b.spread(b.get(t, few, True), split, axes)
            most *= s.bound if s else 1
            v = s and (t == "f32" or most <= 256) and b.emit(t, split, f"multiply({v.name}, {s.name})", 0, most)
        v = v and b.keep(v, dims, f"reshape({v.name})")
    m = r.choice([1, 1, 1, 2, 3, 4, 7, 16, 18])
    x = b.get(t, (m, k), True)
    if not v or most * x.bound * k > 2 ** 22:
        return None
    side = 1 if along_k else 0
    if r.random() < 0.3:
        return b.emit(t, (n, m), f"dot({v.name}, {x.name}), lhs_contracting_dims={{{side}}}, rhs_contracting_dims={{1}}", 0, most * x.bound * k)
    return b.emit(t, (m, n), f"dot({x.name}, {v.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{side}}}", 0, most * x.bound * k)


OPERATIONS = [(scaled_weights, 3)]
