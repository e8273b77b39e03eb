"""Collectives of one replica, asynchronous pairs, tokens, barriers, bitcasts, dynamic sizes, and calls of known targets."""
import math

from generate import COMPLEX, FLOATS, INTS, WIDE, braces, least, shape
from families.reductions import initial


def collective(b):
    """A collective over one replica, whose result is its operand."""
    r = b.random
    x = b.any()
    if b.depth or x.type in ("pred",) or x.type not in WIDE and x.type not in INTS or INTS.get(x.type, ("", 8))[1] < 8:
        return None
    s, groups = shape(x.type, x.dims), r.choice(["{}", "{{0}}", "[1,1]<=[1]"])
    op = r.choice(["all-reduce", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast"])
    f = b.module.combiner(r.choice(["add", "maximum", "minimum"]), x.type, plain=True)
    channel = r.choice(["", "", f", channel_id={b.module.counter + 1}"])
    d = r.randrange(len(x.dims)) if x.dims else None
    if d is None and op in ("all-gather", "reduce-scatter", "all-to-all"):
        op = "all-reduce"
    if op == "all-reduce":
        if r.random() < 0.3:
            start = b.raw(s, f"all-reduce-start({x.name}), replica_groups={groups}, to_apply={f}")
            return b.keep(x, x.dims, f"all-reduce-done({start})")
        if r.random() < 0.3:
            y = b.get(x.type, b.dims())
            name = b.raw(f"({s}, {shape(y.type, y.dims)})", f"all-reduce({x.name}, {y.name}), replica_groups={groups}, to_apply={f}")
            b.keep(y, y.dims, f"get-tuple-element({name}), index=1")
            return b.keep(x, x.dims, f"get-tuple-element({name}), index=0")
        return b.keep(x, x.dims, f"all-reduce({x.name}), replica_groups={groups}{channel}, to_apply={f}")
    if op == "all-gather" and r.random() < 0.4:
        start = b.raw(f"({s}, {s})", f"all-gather-start({x.name}), replica_groups={{{{0}}}}, dimensions={{{d}}}")
        return b.keep(x, x.dims, f"all-gather-done({start})")
    if op == "collective-permute" and r.random() < 0.3:
        start = b.raw(f"({s}, {s}, u32[], u32[])", f"collective-permute-start({x.name}), source_target_pairs={{{{0,0}}}}", reference="-")
        return b.keep(x, x.dims, f"collective-permute-done({start})", reference=f"copy({x.name})")
    if op == "collective-permute":
        pairs = r.choice(["{{0,0}}", "{{0,0}}", "{}"])
        return b.keep(x, x.dims, f"collective-permute({x.name}), source_target_pairs={pairs}{channel}")
    if op == "collective-broadcast":
        return b.keep(x, x.dims, f"collective-broadcast({x.name}), replica_groups={{{{0}}}}", reference=f"copy({x.name})")
    extra = f", to_apply={f}" if op == "reduce-scatter" else ""
    return b.keep(x, x.dims, f"{op}({x.name}), replica_groups={groups if groups != '{}' else '{{0}}'}, dimensions={{{d}}}{extra}")


def identity(b):
    """Operations that return their operand: replica ids, barriers, domains, tokens, copies, calls of known targets."""
    r = b.random
    x = b.any()
    kind = r.choice(["id", "barrier", "domain", "token", "copy", "copy-start", "sharding", "composite", "dynamic-reshape"])
    if kind == "id":
        return b.emit("u32", (), f"{r.choice(['replica-id', 'partition-id'])}()")
    if kind == "barrier":
        y = b.any()
        s = f"({shape(x.type, x.dims)}, ({shape(y.type, y.dims)}, {shape(x.type, x.dims)}))"
        inner = b.raw(f"({shape(y.type, y.dims)}, {shape(x.type, x.dims)})", f"tuple({y.name}, {x.name})")
        name = b.raw(s, f"opt-barrier({b.raw(s, f'tuple({x.name}, {inner})')})", reference=f"opt-barrier({b.lines[-1][0]})")
        part_ = b.raw(f"({shape(y.type, y.dims)}, {shape(x.type, x.dims)})", f"get-tuple-element({name}), index=1")
        b.keep(x, x.dims, f"get-tuple-element({name}), index=0")
        return b.keep(y, y.dims, f"get-tuple-element({part_}), index=0")
    if kind == "domain":
        return b.keep(x, x.dims, f"domain({x.name}), domain={{kind=\"sharding\", entry={{replicated}}, exit={{maximal device=0}}}}")
    if kind == "token":
        first = b.raw("token[]", "after-all()")
        second = b.raw("token[]", f"after-all({first}, {first})")
        v = b.keep(x, x.dims, f"add-dependency({x.name}, {second})")
        return v
    if kind == "copy":
        order = r.sample(range(len(x.dims)), len(x.dims))
        name = b.raw(shape(x.type, x.dims) + (braces(order) if len(order) > 1 else ""), f"copy({x.name})")
        return b.keep(x, x.dims, f"copy({name})")
    if kind == "copy-start":
        s = shape(x.type, x.dims)
        start = b.raw(f"({s}, {s}, u32[])", f"copy-start({x.name})", reference="-")
        return b.keep(x, x.dims, f"copy-done({start})", reference=f"copy({x.name})")
    if kind == "dynamic-reshape":  # only with static sizes
        dims = [x.size] if r.random() < 0.5 else [1] + list(x.dims)
        sizes = [b.emit("s32", (), f"constant({d})").name for d in dims]
        return b.keep(x, dims, f"dynamic-reshape({', '.join([x.name] + sizes)})", reference=f"reshape({x.name})")
    if kind == "sharding":
        return b.keep(x, x.dims, f"custom-call({x.name}), custom_call_target=\"Sharding\", sharding={{replicated}}")
    s = shape(x.type, x.dims)
    f = b.module.computation(f"  a = {s} parameter(0)\n  ROOT c = {s} copy(a)", "composed")
    return b.keep(x, x.dims, f"call({x.name}), to_apply={f}, is_composite=true, frontend_attributes={{composite.name=\"a.b\",composite.attributes={{n = 1 : i64}},"
                  "composite.version=\"1\"}")


def asynchronous(b):
    """X-start and X-done of an operation that has no such forms, or async-start of a computation."""
    r = b.random
    x = b.any([*FLOATS, *INTS])
    if x.type == "pred" or x.type in COMPLEX or b.depth > 1:
        return None
    s = shape(x.type, x.dims)
    thread = r.choice(["", ", async_execution_thread=\"other\""])
    if r.random() < 0.5:
        y = b.get(x.type, x.dims)
        op = r.choice(["maximum", "minimum"])
        alternative = f"{op}({x.name}, {y.name})"
        name = b.raw(f"(({s}, {s}), {s}, u32[])", f"{op}-start({x.name}, {y.name}){thread}", reference="-")
        q, bound = least(x.q, y.q), max(x.bound, y.bound)
    else:
        if not x.dims:
            return None
        op, q, bound = "reverse", x.q, x.bound
        d = r.randrange(len(x.dims))
        alternative = f"reverse({x.name}), dimensions={{{d}}}"
        if r.random() < 0.5:
            name = b.raw(f"(({s}), {s}, u32[])", f"reverse-start({x.name}), dimensions={{{d}}}{thread}", reference="-")
        else:
            op = "async"
            # A computation that is run asynchronously belongs to one call.
            f = b.module.fresh("turned")
            where = ", execution_thread=\"other\"" if thread else ""
            b.module.computations.append(f"{f} {{\n  a = {s} parameter(0)\n  ROOT c = {s} reverse(a), dimensions={{{d}}}\n}}{where}\n")
            name = b.raw(f"(({s}), {s}, u32[])", f"async-start({x.name}), calls={f}{thread}", reference="-")
    for _ in range(r.choice([0, 0, 1, 2])):
        name = b.raw(b.lines[-1][1], f"{op}-update({name})", reference="-")
    return b.emit(x.type, x.dims, f"{op}-done({name})", q, bound, reference=alternative)


def bitcast(b):
    """The same bytes with other dimensions, or as another type of the same width."""
    r = b.random
    x = b.any()
    if x.size == 0 or x.type == "pred":
        return None
    if x.op == "parameter" and x.type in ("f32", "s32", "u32") and r.random() < 0.4:
        to = r.choice(["s32", "u32"])
        order = braces(reversed(range(len(x.dims)))) if x.dims else ""  # the operand's layout may be another one
        plain = b.raw(shape(x.type, x.dims) + order, f"copy({x.name})")
        return b.emit(to, x.dims, f"bitcast({plain})", reference=f"bitcast-convert({plain})")
    if len(x.dims) > 1 and r.random() < 0.5:  # a transpose expressed by layouts only
        order = r.sample(range(len(x.dims)), len(x.dims))
        dims = tuple(x.dims[i] for i in order)
        # Dimension i of the result is dimension order[i] of the operand: minor to major, the operand's are rank-1, ..., 0.
        place = {d: i for i, d in enumerate(order)}
        layout = [place[d] for d in reversed(range(len(x.dims)))]
        plain = b.raw(shape(x.type, x.dims) + braces(reversed(range(len(x.dims)))), f"copy({x.name})")
        name = b.raw(shape(x.type, dims) + braces(layout), f"bitcast({plain})  // xla: {shape(x.type, dims)} transpose({plain}), dimensions={braces(order)}")
        return b.keep(x, dims, f"copy({name})")
    dims = [1] * r.randint(1, 3)
    n, p = x.size, 2
    while n > 1:
        while n % p == 0:
            dims[r.randrange(len(dims))] *= p
            n //= p
        p += 1
    plain = b.raw(shape(x.type, x.dims) + (braces(reversed(range(len(x.dims)))) if x.dims else ""), f"copy({x.name})")
    name = b.raw(shape(x.type, dims) + braces(reversed(range(len(dims)))), f"bitcast({plain})", reference=f"reshape({plain})")
    return b.keep(x, dims, f"copy({name})")


def dynamic(b):
    """A dimension shorter than its bound, and a reduction over it."""
    r = b.random
    x = b.any(["f32", "s32", "f64", "s64"], minimum=1, exact=True)
    if x.type not in ("f32", "s32", "f64", "s64") or x.size == 0 or not x.exact or b.depth:
        return None
    d = r.randrange(len(x.dims))
    if r.random() < 0.2:
        return b.emit("s32", (), f"get-dimension-size({x.name}), dimensions={{{d}}}")
    n = b.parameter("s32", (), "index", 0, x.dims[d]) if b.entry and len(b.module.specs) < 12 else b.emit("s32", (), f"constant({r.randint(0, x.dims[d])})")
    bounded = list(x.dims)
    bounded[d] = f"<={x.dims[d]}"
    s = f"{x.type}[{','.join(map(str, bounded))}]"
    name = b.raw(s, f"set-dimension-size({x.name}, {n.name}), dimensions={{{d}}}")
    q, bound = x.q, x.bound
    for _ in range(r.randint(0, 2)):
        op = r.choice(["negate", "abs", "copy", "add"])
        name = b.raw(s, f"{op}({name}, {name})" if op == "add" else f"{op}({name})")
        bound *= 2 if op == "add" else 1
    if r.random() < 0.2:
        return b.emit("s32", (), f"get-dimension-size({name}), dimensions={{{d}}}")
    over = sorted({d, *(i for i in range(len(x.dims)) if r.random() < 0.3)})
    op = r.choice(["add", "maximum", "minimum"])
    start = initial(b, op, x.type)
    dims = [v for i, v in enumerate(x.dims) if i not in over]
    count = math.prod(x.dims[i] for i in over)
    if op != "add" and x.type not in INTS:
        start = b.scalar(x.type, 0)
        if any(x.dims[i] == 1 for i in over):
            return None  # for a dimension of size 1 the reference drops the initial value
    return b.emit(x.type, dims, f"reduce({name}, {start.name}), dimensions={braces(over)}, to_apply={b.module.combiner(op, x.type)}", q,
                  bound * count if op == "add" else bound)


OPERATIONS = [(collective, 2), (identity, 3), (asynchronous, 2), (bitcast, 2), (dynamic, 2)]
