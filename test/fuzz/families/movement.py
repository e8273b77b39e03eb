"""Operations that move elements."""

from generate import NUMBERS, braces, least


def broadcast(b):
    r = b.random
    x = b.any()
    new = [b.dim() for _ in range(r.randint(0, 2))]
    total = len(x.dims) + len(new)
    where = sorted(r.sample(range(total), len(x.dims)))
    dims = [0] * total
    order = list(where)
    if r.random() < 0.2:
        r.shuffle(order)
    for i, d in zip(order, x.dims):
        dims[i] = d
    rest = iter(new)
    for i in range(total):
        if i not in where:
            dims[i] = next(rest)
    return b.keep(x, tuple(dims), f"broadcast({x.name}), dimensions={braces(order)}")


def reshape(b):
    r = b.random
    x = b.any()
    n, dims = x.size, []
    if n == 0:
        dims = [0, b.dim()]
    else:
        factors = []
        p = 2
        while n > 1:
            while n % p == 0:
                factors.append(p)
                n //= p
            p += 1
        dims = [1] * r.randint(1, 5)
        for f in factors:
            dims[r.randrange(len(dims))] *= f
        if x.size == 1 and r.random() < 0.5:
            dims = []
        if r.random() < 0.5:
            dims = [d for d in dims if d != 1] or dims[:1]
    return b.keep(x, tuple(dims), f"reshape({x.name})")


def transpose(b):
    x = b.any(minimum=1)
    p = b.random.sample(range(len(x.dims)), len(x.dims))
    return b.keep(x, tuple(x.dims[i] for i in p), f"transpose({x.name}), dimensions={braces(p)}")


def reverse(b):
    x = b.any(minimum=1)
    d = b.random.sample(range(len(x.dims)), b.random.randint(1, len(x.dims)))
    return b.keep(x, x.dims, f"reverse({x.name}), dimensions={braces(d)}")


def slice_(b):
    r = b.random
    x = b.any(minimum=1)
    parts, dims = [], []
    for d in x.dims:
        if r.random() < 0.4:
            low, high, s = 0, d, 1
        else:
            low = r.randint(0, max(d - 1, 0))
            high = r.randint(low if b.module.zero else min(low + 1, d), d)
            s = r.choice([1, 1, 1, 2, 3, 5])
        parts.append(f"[{low}:{high}" + (f":{s}]" if s > 1 else "]"))
        dims.append((high - low + s - 1) // s)
    return b.keep(x, tuple(dims), f"slice({x.name}), slice={{{', '.join(parts)}}}")


def pad(b):
    r = b.random
    x = b.any(minimum=1)
    v = b.get(x.type, ())
    parts, dims = [], []
    for d in x.dims:
        low, high, inside = 0, 0, 0
        if r.random() < 0.7:
            low, high, inside = r.randint(-2, 3), r.randint(-2, 3), r.choice([0, 0, 0, 1, 2])
        n = d + max(d - 1, 0) * inside
        if n + low + high < (0 if b.module.zero else 1) or -low > n or -high > n:
            low, high = max(low, 0), max(high, 0)
        parts.append(f"{low}_{high}" + (f"_{inside}" if inside else ""))
        dims.append(n + low + high)
    return b.emit(x.type, dims, f"pad({x.name}, {v.name}), padding={'x'.join(parts)}", least(x.q, v.q), max(x.bound, v.bound))


def concatenate(b):
    r = b.random
    x = b.any(minimum=1)
    d = r.randrange(len(x.dims))
    all_ = [x]
    for _ in range(r.randint(0, 3)):
        dims = list(x.dims)
        dims[d] = b.dim() if r.random() < 0.5 else dims[d]
        other = b.pick(lambda v: v.type == x.type and len(v.dims) == len(x.dims) and all(i == d or v.dims[i] == x.dims[i] for i in range(len(x.dims))))
        all_.append(other if other is not None and r.random() < 0.5 else b.get(x.type, dims))
    r.shuffle(all_)
    dims = list(x.dims)
    dims[d] = sum(v.dims[d] for v in all_)
    return b.emit(x.type, dims, f"concatenate({', '.join(v.name for v in all_)}), dimensions={{{d}}}", least(*(v.q for v in all_)),
                  max(v.bound for v in all_))


def iota(b):
    t = b.type([t for t in NUMBERS if t not in ("s2", "u2") and t[:2] not in ("f8", "f4")])
    dims = b.dims()
    if not dims:
        return None
    d = b.random.randrange(len(dims))
    return b.emit(t, dims, f"iota(), iota_dimension={d}", 0, max(dims[d], 1))


def copy(b):
    x = b.any()
    return b.keep(x, x.dims, f"{b.random.choice(['copy', 'opt-barrier'])}({x.name})")


OPERATIONS = [(broadcast, 5), (reshape, 5), (transpose, 5), (reverse, 3), (slice_, 5), (pad, 5), (concatenate, 4), (iota, 1), (copy, 1)]
