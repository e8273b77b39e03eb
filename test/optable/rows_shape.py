"""Opcodes that move data. The element type should not matter, so every type must work."""
from cases import Case
from inputs import ARRAYS, PART, edges, ordinary, raw, tame


def arranged(name):
    m = (f"{name}[4,6]", edges(name, 24))
    turned = (f"{name}[4,6]{{0,1}}", edges(name, 24))
    yield "broadcast", f"{name}[3,4,2,6]", "broadcast(p0), dimensions={1,3}", (m,), ""
    yield "broadcast", f"{name}[6,4]", "broadcast(p0), dimensions={1,0}", (m,), "permuted"
    yield "broadcast", f"{name}[5]", "broadcast(p0), dimensions={}", ((f"{name}[]", edges(name, 3)[-1:]
                                                                     if name not in PART else edges(name, 1)),), "scalar"
    yield "broadcast", f"{name}[0,4,6]", "broadcast(p0), dimensions={1,2}", (m,), "empty"
    yield "reshape", f"{name}[2,3,4]", "reshape(p0)", (m,), ""
    yield "reshape", f"{name}[1,2,2,1,3,2,1]", "reshape(p0)", (m,), "rank 7"
    yield "transpose", f"{name}[6,4]", "transpose(p0), dimensions={1,0}", (m,), ""
    yield "transpose", f"{name}[3,2,4]", "transpose(p0), dimensions={2,0,1}", ((f"{name}[2,4,3]", edges(name, 24)),), \
        "rank 3"
    seven = (f"{name}[1,2,1,2,3,1,2]{{2,0,6,3,1,5,4}}", edges(name, 24))
    yield "transpose", f"{name}[2,1,3,1,2,2,1]{{6,0,1,2,3,4,5}}", "transpose(p0), dimensions={6,0,4,2,3,1,5}", (seven,), \
        "rank 7, layouts"
    yield "concatenate", f"{name}[1,2,1,2,6,1,2]", "concatenate(p0, p0), dimensions={4}", (seven,), "rank 7, layout"
    yield "pad", f"{name}[1,2,1,4,3,2,2]{{0,1,2,3,4,5,6}}", "pad(p0, p1), padding=0_0x0_0x0_0x1_1x0_0x0_1x0_0", \
        (seven, (f"{name}[]", tame(name, 1, 7))), "rank 7, layouts"
    yield "reverse", f"{name}[4,6]", "reverse(p0), dimensions={0,1}", (m,), ""
    yield "slice", f"{name}[2,2]", "slice(p0), slice={[1:4:2], [0:5:3]}", (m,), ""
    yield "slice", f"{name}[2,5]", "slice(p0), slice={[1:3], [1:6]}", (turned,), "layout"
    one = (f"{name}[]", tame(name, 1, 7))
    yield "pad", f"{name}[6,12]", "pad(p0, p1), padding=1_1x2_-1_1", (m, one), ""
    yield "pad", f"{name}[4,5]", "pad(p0, p1), padding=0_0x-1_0", (m, one), "negative"
    yield "pad", f"{name}[4]", "pad(p0, p1), padding=2_2", ((f"{name}[0]", []), one), "empty"
    yield "concatenate", f"{name}[4,15]", "concatenate(p0, p1, p0), dimensions={1}", \
        (m, (f"{name}[4,3]", ordinary(name, 12))), ""
    yield "concatenate", f"{name}[7]", "concatenate(p0, p1), dimensions={0}", \
        ((f"{name}[7]", edges(name, 7)), (f"{name}[0]", [])), "empty"
    yield "iota", f"{name}[3,5]", "iota(), iota_dimension=1", (), ""
    yield "iota", f"{name}[5,3]{{0,1}}", "iota(), iota_dimension=0", (), "layout"
    yield "bitcast", f"{name}[3,8]", "bitcast(p0)", (m,), ""
    yield "bitcast", f"{name}[6,4]{{1,0}}", "bitcast(p0)", (turned,), "layout"
    yield "copy", f"{name}[4,6]{{0,1}}", "copy(p0)", (m,), "layout"
    yield "parameter", f"{name}[4,6]{{0,1}}", "parameter(0)", (turned,), "layout"


def turned(a):
    """The reference of a bitcast from [4,6]{0,1} to [6,4]{1,0}."""
    width = 2 if a.name in PART else 1
    return [[a.raw[(r * 6 + c) * width + p] for c in range(6) for r in range(4) for p in range(width)]]


def literals(name):
    """constant: its text for a few values."""
    values = "{true, false, true}" if name == "pred" else "{(1, -0.5), (inf, nan), (-0.0, 2)}" if name in PART else \
        {"s1": "{0, -1, 0}", "u1": "{0, 1, 1}", "s2": "{-2, 1, 0}", "u2": "{3, 0, 2}"}.get(name) or \
        ("{0.5, 1, 4}" if name in ("f8e8m0fnu", "f4e2m1fn") else "{1, 0, 7}" if name[0] == "u" else
         "{1, -8, 7}" if name[0] == "s" else "{-0.5, 3, inf}")
    yield Case("constant", name, f"{name}[3]", f"constant({values})")
    if name == "pred":
        text = "true"
    elif name in PART:
        text = "(2, 3)"
    else:
        text = "0" if name == "s1" else "1"
    yield Case("constant", name, f"{name}[]", f"constant({text})", variant="rank 0")
    yield Case("constant", name, f"{name}[0]", "constant({})", variant="empty")


def rows():
    for name in ARRAYS:
        for row, shape, root, arguments, variant in arranged(name):
            if row == "parameter":
                yield Case(row, name, shape, "bitcast(p0)", *arguments, variant=variant)
                continue
            reference = None
            if row == "bitcast":  # XLA:CPU makes it, but does not take it
                reference = turned if variant else lambda a: [a.raw]
            yield Case(row, name, shape, root, *arguments, variant=variant, reference=reference)
        yield from literals(name)
    for name in ("f6e2m3fn", "f6e3m2fn"):
        yield Case("constant", name, "f32[3]", "convert(c)", before=[f"c = {name}[3] constant({{-0.5, 3, 1.25}})"],
                   reference=lambda: [raw("f32", [-0.5, 3, 1.25])])
