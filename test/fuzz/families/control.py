"""Calls, fusions, loops and branches."""
import re

from generate import Builder, FLOATS, INTS, Value, WIDE, braces, least, shape


def call(b):
    r = b.random
    if b.depth > 1:
        return None
    arguments = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 3)))}.values())
    s = b.sub(arguments)
    s.grow(r.randint(1, 6))
    out = r.choice(s.values[-4:])
    if out.name == s.lines[0][0] or out.op == "":
        out = s.keep(out, out.dims, f"copy({out.name})")
        if out is None:
            return None
    kind = r.choice(["", "fusion", "fusion"])
    operands = ", ".join(a.name for a in arguments)
    if kind == "fusion":
        prune(s, out.name)
        kind = fusion_fits(s)
    if kind:
        f = b.module.fresh("fused")  # a fused computation has one caller
        b.module.computations.append(f"{f} {{\n{s.body(out.name)}\n}}\n")
        return b.keep(out, out.dims, f"fusion({operands}), kind={r.choice(['kLoop', 'kLoop', 'kInput', 'kOutput', 'kCustom'])}, calls={f}",
                      reference=f"call({operands}), to_apply={f}")
    return b.keep(out, out.dims, f"call({operands}), to_apply={b.module.computation(s.body(out.name), 'sub')}")


def prune(s, root):
    """Removes instructions that the root does not need."""
    live = {root}
    for n, _, x in reversed(s.lines):
        if n in live:
            live.update(re.findall(r"[A-Za-z]\w*\.\d+", x))
    s.lines = [line for line in s.lines if line[0] in live or line[2].startswith("parameter(")]


def fusion_fits(s):
    """Whether a fusion may hold the body: every parameter is used, and no instruction has effects or an unfusable computation."""
    whole = " ".join(x for _, _, x in s.lines)
    words = ("while(", "conditional(", "call", "-start", "-done", "all-", "collective", "after-all", "rng", "fusion", "custom", "sort(", "cholesky", "fft(", "domain", "scan(")
    return all(re_used(s, n) for n, _, x in s.lines if x.startswith("parameter(")) and not any(w in whole for w in words)


def re_used(s, name):
    return any(name in x.replace("(", " ").replace(")", " ").replace(",", " ").split() for _, _, x in s.lines)


def tuple_call(b):
    """A call, an asynchronous call or a conditional whose result is a nested tuple."""
    r = b.random
    if b.depth > 1:
        return None
    arguments = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 3)))}.values())
    kind = r.choice(["call", "fusion", "conditional", "async"])
    wanted = [b.any() for _ in range(2)]
    types = f"({shape(wanted[0].type, wanted[0].dims)}, ({shape(wanted[1].type, wanted[1].dims)}, {shape(wanted[0].type, wanted[0].dims)}))"
    if kind == "fusion":
        types = f"({shape(wanted[0].type, wanted[0].dims)}, {shape(wanted[1].type, wanted[1].dims)})"
    names, known = [], [[], []]
    for _ in range(2 if kind == "conditional" else 1):
        s = b.sub(arguments)
        s.grow(r.randint(1, 4) if kind != "fusion" else 0)
        v, w = s.get(wanted[0].type, wanted[0].dims), s.get(wanted[1].type, wanted[1].dims)
        x = s.get(v.type, v.dims)
        if kind == "fusion":
            v, w = (s.keep(z, z.dims, f"reverse({z.name}), dimensions={{0}}") if z.dims else z for z in (v, w))
            if v is None or w is None or not v.dims or not w.dims:
                return None  # the reference confuses carries that are only passed through
            root = s.raw(types, f"tuple({v.name}, {w.name})")
            if any(not re_used(s, n) for n, _, _ in s.lines[:-1]):
                return None
        else:
            inner = s.raw(f"({shape(w.type, w.dims)}, {shape(v.type, v.dims)})", f"tuple({w.name}, {x.name})")
            root = s.raw(types, f"tuple({v.name}, {inner})")
        names.append(b.module.computation(s.body(root), "several"))
        known[0] += [v, x]
        known[1].append(w)
    operands = ", ".join(a.name for a in arguments)
    if kind == "call":
        name = b.raw(types, f"call({operands}), to_apply={names[0]}")
    elif kind == "fusion":
        name = b.raw(types, f"fusion({operands}), kind=kLoop, calls={names[0]}")
    elif kind == "async":
        state = f"(({', '.join(shape(a.type, a.dims) for a in arguments)}), {types}, u32[])"
        start = b.raw(state, f"call-start({operands}), to_apply={names[0]}", reference="-")
        if r.random() < 0.3:
            start = b.raw(state, f"call-update({start})", reference="-")
        name = b.raw(types, f"call-done({start})", reference=f"call({operands}), to_apply={names[0]}")
    else:
        if len(arguments) > 1:
            return None
        p = b.get("pred", ())
        name = b.raw(types, f"conditional({p.name}, {arguments[0].name}, {arguments[0].name}), true_computation={names[0]}, false_computation={names[1]}")

    def element(of, index, values):
        return b.emit(values[0].type, values[0].dims, f"get-tuple-element({of}), index={index}", least(*(v.q for v in values)),
                      max(v.bound for v in values))
    if kind == "fusion":
        element(name, 1, known[1])
        return element(name, 0, known[0])
    inner = b.raw(f"({shape(wanted[1].type, wanted[1].dims)}, {shape(wanted[0].type, wanted[0].dims)})", f"get-tuple-element({name}), index=1")
    element(name, 0, known[0])
    element(inner, 1, known[0])
    return element(inner, 0, known[1])


def fit(b, v, like):
    """Whether v may replace `like` as the next value of a carry, or as another branch's result."""
    if v.type != like.type or v.dims != like.dims:
        return False
    if v.type in INTS or v.type == "pred":
        return True
    return v.bound <= like.bound and (like.q is None or v.q is not None and v.q >= like.q)


def while_(b):
    r = b.random
    if b.depth > 1:
        return None
    carries = list({v.name: v for v in (b.any() for _ in range(r.randint(1, 4)))}.values())
    if r.random() < 0.4:
        carries.append(b.get(carries[0].type, carries[0].dims))
    trips = r.choice([0, 1, 2, 3, 5])
    limit, counted = None, f"constant({trips})"
    if r.random() < 0.3 and not b.depth:  # the trip count is an input, at most six
        limit = b.parameter("s32", (), "index", -1, 6) if b.entry and len(b.module.specs) < 12 else None
        if limit:
            carries.append(limit)
            counted = f"get-tuple-element(t), index={len(carries)}"
    zero = b.scalar("s32", 0)
    all_ = [zero] + carries
    types = "(" + ", ".join(shape(v.type, v.dims) for v in all_) + ")"
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] {counted}\n"
                                     f"  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    s = Builder(b.module, depth=b.depth + 1)
    t = s.raw(types, "parameter(0)", "t")
    inner = []
    # A carry that varies between iterations is inexact after the loop, unless every possible value keeps its bound.
    loose = [r.random() < 0.4 and v.type in FLOATS for v in carries]
    for k, v in enumerate(all_):
        w = Value(s.raw(shape(v.type, v.dims), f"get-tuple-element({t}), index={k}"), v.type, v.dims, v.q, v.bound)
        if k and loose[k - 1]:
            w.q, w.bound = None, max(v.bound, 4)
        inner.append(w)
    s.values = list(inner[1:]) + [inner[0]]
    s.grow(r.randint(1, 6))
    one = s.scalar("s32", 1)
    results = [s.raw("s32[]", f"add({inner[0].name}, {one.name})")]
    finals = []
    for k, w in enumerate(inner[1:]):
        c = [v for v in s.values if fit(s, v, w) and v is not w]
        choice = r.choice(c[-5:]) if c and r.random() < 0.9 and not (limit and w is inner[-1]) else w
        if choice is w and w.q is None and w.type in FLOATS:
            c = [v for v in s.values if v.type == w.type and v.dims == w.dims]
            v = r.choice(c[-5:])
            m = int(w.bound)
            choice = s.emit(w.type, w.dims, f"clamp({s.scalar(w.type, -m).name}, {v.name}, {s.scalar(w.type, m).name})", None, w.bound) or w
        results.append(choice.name)
        finals.append(choice)
    s.raw(types, f"tuple({', '.join(results)})", "next")
    body = b.module.computation(s.body(s.lines[-1][0]), "body")
    init = b.raw(types, f"tuple({', '.join(v.name for v in all_)})")
    loop = b.raw(types, f"while({init}), condition={condition}, body={body}")
    out = None
    for k, v in enumerate(inner):
        if k and r.random() < 0.8:
            out = b.emit(v.type, v.dims, f"get-tuple-element({loop}), index={k}", v.q, max(v.bound, all_[k].bound))
    return out


def conditional(b):
    r = b.random
    if b.depth > 1:
        return None
    wanted = b.any()
    count = 2 if r.random() < 0.5 else r.randint(1, 4)
    branches, operands, outs = [], [], []
    for _ in range(count):
        a = b.any()
        s = b.sub([a])
        s.grow(r.randint(0, 4))
        v = s.get(wanted.type, wanted.dims)
        out = s.keep(v, v.dims, f"{r.choice(['copy', 'negate' if v.type not in ('pred',) and v.type[0] != 'u' and v.type not in ('u4','u2') else 'copy'])}({v.name})")
        if out is None:
            return None
        branches.append(b.module.computation(s.body(out.name), "branch"))
        operands.append(a)
        outs.append(out)
    if count == 2 and r.random() < 0.6:
        p = b.get("pred", ())
        head, tail = p.name, f"true_computation={branches[0]}, false_computation={branches[1]}"
    else:
        i = b.parameter("s32", (), "index", -1, count) if b.entry else b.get("s32", ())
        head, tail = i.name, f"branch_computations={{{', '.join(branches)}}}"
    return b.emit(wanted.type, wanted.dims, f"conditional({head}, {', '.join(v.name for v in operands)}), {tail}", least(*(v.q for v in outs)),
                  max(v.bound for v in outs))


def nested_loop(b):
    """A loop over rows: dynamic-slices of one array and dynamic-update-slices of another at the counter."""
    r = b.random
    x = b.any(minimum=1)
    if b.depth > 1 or x.size == 0:
        return None
    n = x.dims[0]
    types = f"(s32[], {shape(x.type, x.dims)}, ({shape(x.type, x.dims)}, s32[]))"
    row = (1,) + x.dims[1:]
    zeros = ["z"] * (len(x.dims) - 1)
    op = r.choice(["copy(row)", "reverse(row), dimensions={0}"] + (["add(row, old)"] if x.type in INTS else ["maximum(row, old)"] if x.type in WIDE else []))
    s = shape
    body = b.module.computation(
        f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  x = {s(x.type, x.dims)} get-tuple-element(t), index=1\n"
        f"  u = ({s(x.type, x.dims)}, s32[]) get-tuple-element(t), index=2\n  y = {s(x.type, x.dims)} get-tuple-element(u), index=0\n"
        f"  k = s32[] get-tuple-element(u), index=1\n  z = s32[] constant(0)\n  one = s32[] constant(1)\n  n = s32[] constant({n - 1})\n"
        f"  j = s32[] subtract(n, i)\n  row = {s(x.type, row)} dynamic-slice({', '.join(['x', r.choice(['i', 'j'])] + zeros)}), dynamic_slice_sizes={braces(row)}\n"
        f"  old = {s(x.type, row)} dynamic-slice({', '.join(['y', r.choice(['i', 'j'])] + zeros)}), dynamic_slice_sizes={braces(row)}\n"
        f"  new = {s(x.type, row)} {op}\n  w = {s(x.type, x.dims)} dynamic-update-slice({', '.join(['y', 'new', 'i'] + zeros)})\n"
        f"  i1 = s32[] add(i, one)\n  k1 = s32[] add(k, i)\n  v = ({s(x.type, x.dims)}, s32[]) tuple(w, k1)\n  ROOT next = {types} tuple(i1, {r.choice(['x', 'x', 'w'])}, v)", "rows")
    condition = b.module.computation(f"  t = {types} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant({n})\n"
                                     f"  ROOT r = pred[] compare(i, n), direction=LT", "condition")
    y = b.get(x.type, x.dims)
    zero = b.scalar("s32", 0)
    inner = b.raw(f"({s(x.type, x.dims)}, s32[])", f"tuple({y.name}, {zero.name})")
    init = b.raw(types, f"tuple({zero.name}, {x.name}, {inner})")
    loop = b.raw(types, f"while({init}), condition={condition}, body={body}")
    out = b.raw(f"({s(x.type, x.dims)}, s32[])", f"get-tuple-element({loop}), index=2")
    b.emit("s32", (), f"get-tuple-element({out}), index=1")
    return b.emit(x.type, x.dims, f"get-tuple-element({out}), index=0", least(x.q, y.q), max(x.bound, y.bound))


OPERATIONS = [(call, 3), (tuple_call, 3), (while_, 4), (conditional, 3), (nested_loop, 2)]
