"""Softmax of masked scores times values: heads that share keys, masks of positions and of data, biases, caps, any order of dimensions."""
import math

from generate import braces

MOST = 3e6  # products of one dot, which the reference computes in f64


def order(b, axes):
    """The axes, often in another order."""
    return b.random.sample(axes, len(axes)) if b.random.random() < 0.6 else list(axes)


def paired(b, op, x, y, bound, t=None):
    return x and y and b.emit(t or x.type, x.dims, f"{op}({x.name}, {y.name})", None, bound)


def dot(b, x, x_axes, y, y_axes, batch, contracted, out, bound):
    """A dot of arrays whose dimensions have names; returns it and the names of its dimensions."""
    def numbers(axes, names):
        return braces(axes.index(n) for n in names)
    axes = batch + [n for n in x_axes + y_axes if n not in batch + contracted]
    sizes = dict(zip(x_axes + y_axes, x.dims + y.dims))
    given = f"lhs_batch_dims={numbers(x_axes, batch)}, rhs_batch_dims={numbers(y_axes, batch)}, " if batch else ""
    v = b.emit(out, [sizes[n] for n in axes], f"dot({x.name}, {y.name}), {given}lhs_contracting_dims={numbers(x_axes, contracted)}, "
               f"rhs_contracting_dims={numbers(y_axes, contracted)}", None, bound)
    return v, axes


def positions(b, dims, axis):
    return b.emit("s32", dims, f"iota(), iota_dimension={axis}", 0, dims[axis])


def mask(b, dims, row, key):
    """pred[dims]: which keys count for which rows."""
    r = b.random
    kind = r.choice(["causal", "causal", "window", "block", "data", "length"])
    if kind == "data":
        axes = sorted(r.sample(range(len(dims)), r.randint(1, len(dims))))
        return b.spread(b.get("pred", [dims[a] for a in axes]), dims, axes)
    i, j = positions(b, dims, row), positions(b, dims, key)
    if kind == "length":
        limit = b.filled("s32", dims, r.randint(0, dims[key]))
        return limit and b.emit("pred", dims, f"compare({j.name}, {limit.name}), direction=LT")
    shift = r.choice([0, 0, dims[key] - dims[row], r.randint(-8, 8)])
    if kind == "block":
        size = b.filled("s32", dims, r.choice([2, 8, 16]))
        i, j = (b.emit("s32", dims, f"divide({v.name}, {size.name})", 0, v.bound) for v in (i, j))
        shift = 0
    elif shift:
        s = b.filled("s32", dims, shift)
        i = s and b.emit("s32", dims, f"add({i.name}, {s.name})", 0, i.bound + abs(shift))
    if i is None or j is None:
        return None
    x, y, direction = r.choice([(i, j, "GE"), (j, i, "LE"), (i, j, "GT")])
    causal = b.emit("pred", dims, f"compare({x.name}, {y.name}), direction={direction}")
    if kind != "window" or causal is None:
        return causal
    width = b.filled("s32", dims, r.choice([1, 5, 16, 40]))
    first = b.emit("s32", dims, f"subtract({i.name}, {width.name})", 0, i.bound + 40)
    near = first and b.emit("pred", dims, f"compare({j.name}, {first.name}), direction=GT")
    return near and b.emit("pred", dims, f"and({causal.name}, {near.name})")


def masked(b, scores, row, key):
    """The scores after a scale, a bias, a cap and a mask, some of them or none."""
    r, t, dims = b.random, scores.type, scores.dims
    if r.random() < 0.6:
        scale = r.choice([0.125, 0.25, 0.3])
        scores = paired(b, r.choice(["multiply", "multiply", "divide"]), scores, b.filled(t, dims, scale), scores.bound / scale)
    if scores and r.random() < 0.2:
        axes = sorted(r.sample(range(len(dims)), r.randint(1, len(dims))))
        bias = b.spread(b.get(t, [dims[a] for a in axes]), dims, axes)
        scores = paired(b, "add", scores, bias, scores.bound + (bias.bound if bias else 0))
    if scores and r.random() < 0.15:
        capped = b.emit(t, dims, f"tanh({scores.name})", None, 1)
        scores = paired(b, "multiply", capped, b.filled(t, dims, 8), 8)
    if scores is None or r.random() < 0.2:
        return scores
    p = mask(b, dims, row, key)
    least = b.emit(t, (), f"constant({r.choice(['-3000', '-1e+9', '-1e+30', '-2.3819763e+38', '-100', '-inf'])})", None, scores.bound)
    lows = b.spread(least, dims, [])
    if p is None or lows is None:
        return None
    if r.random() < 0.15:
        zeros = b.filled(t, dims, 0)
        added = zeros and b.emit(t, dims, f"select({p.name}, {zeros.name}, {lows.name})", None, scores.bound)
        return paired(b, "add", scores, added, 2 * scores.bound)
    return b.emit(t, dims, f"select({p.name}, {scores.name}, {lows.name})", None, scores.bound)


def softmax(b, x, key):
    """Along a dimension, as programs write it; sometimes the quotient stands behind the values."""
    r, t, dims = b.random, x.type, x.dims
    kept = [d for d in range(len(dims)) if d != key]

    def reduced(v, op, start, bound):
        zero = b.emit(t, (), f"constant({start})", None, 1)
        s = v and b.emit(t, [dims[d] for d in kept], f"reduce({v.name}, {zero.name}), dimensions={{{key}}}, to_apply={b.module.combiner(op, t)}", None, bound)
        return s
    largest = reduced(x, "maximum", "-inf", x.bound)
    if largest and r.random() < 0.3:  # what JAX does against rows of -inf alone
        finite = b.emit("pred", largest.dims, f"is-finite({largest.name})")
        zero = b.filled(t, largest.dims, 0)
        largest = finite and zero and b.emit(t, largest.dims, f"select({finite.name}, {largest.name}, {zero.name})", None, x.bound)
    less = paired(b, "subtract", x, b.spread(largest, dims, kept), 2 * x.bound)
    e = less and b.emit(t, dims, f"exponential({less.name})", None, 1)
    total = reduced(e, "add", 0, dims[key])
    return e and total and paired(b, "divide", e, b.spread(total, dims, kept), 1)


def attention(b):
    """An attention; what lies inside of it is rarely read by others, which would keep it apart."""
    before, result = len(b.values), of_random_form(b)
    if result and b.random.random() < 0.9:
        b.values[before:] = [v for v in b.values[before:] if v.op == "parameter"] + [result]
    return result


def of_random_form(b):
    r = b.random
    t = r.choice(["f32", "f32", "f32", "bf16", "bf16", "f64"])
    sizes = {"b": r.choice([1, 1, 2]), "h": r.choice([1, 2, 3]), "g": r.choice([1, 1, 1, 2, 4]), "q": r.choice([1, 16, 33, 64, 100, 128, 200]),
             "k": r.choice([7, 32, 48, 64, 100, 128, 257]), "d": r.choice([3, 8, 16, 32, 64]), "e": r.choice([3, 8, 16, 33, 64])}
    if r.random() < 0.6:
        sizes["k"] = sizes["q"]
    names = [n for n in "bhg" if sizes[n] > 1 or r.random() < 0.3]
    queries, keys = names + ["q", "d"], [n for n in names if n != "g"]
    keys, values = keys + ["k", "d"], keys + ["k", "e"]
    if math.prod(sizes[n] for n in queries) * sizes["k"] > MOST or math.prod(sizes[n] for n in names + ["q", "k", "e"]) > MOST:
        return None
    queries, keys, values = (order(b, axes) for axes in (queries, keys, values))
    arrays = [(t, [sizes[n] for n in axes]) for axes in (queries, keys, values)]
    # Broadcasts and constants would be simplified away.
    q, k, v = (b.parameter(*a, "normal") if b.entry and r.random() < 0.9 else b.get(*a) for a in arrays)
    if None in (q, k, v):
        return None
    batch = [n for n in keys if n in "bh"]
    sides = [(q, queries), (k, keys)]
    if r.random() < 0.3:
        sides.reverse()
    wide = "f32" if t == "bf16" and r.random() < 0.4 else t
    scores, axes = dot(b, *sides[0], *sides[1], batch, ["d"], wide, min(q.bound * k.bound * sizes["d"], 1000))
    if scores is None:
        return None
    if wide == "bf16" and r.random() < 0.6:
        scores = b.emit("f32", scores.dims, f"convert({scores.name})", None, scores.bound)
    scores = scores and masked(b, scores, axes.index("q"), axes.index("k"))
    weights = scores and softmax(b, scores, axes.index("k"))
    if weights and weights.type != t:
        weights = b.emit(t, weights.dims, f"convert({weights.name})", None, 1)
    if weights is None:
        return None
    sides = [(weights, axes), (v, values)]
    if r.random() < 0.3:
        sides.reverse()
    result, axes = dot(b, *sides[0], *sides[1], batch, ["k"], t, 2 * v.bound)
    if result and r.random() < 0.5:
        turned = order(b, range(len(axes)))
        result = b.keep(result, [result.dims[d] for d in turned], f"transpose({result.name}), dimensions={braces(turned)}")
    return result


OPERATIONS = [(attention, 1)]
