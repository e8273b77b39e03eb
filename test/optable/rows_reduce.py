"""Opcodes with a computation: reduce, reduce-window, select-and-scatter, map, scan, sort; and topk."""
import functools

from cases import Case
from inputs import ARRAYS, BITS, COMPLEX, edges, is_float, ordinary, raw, tame, units
from rows_elementwise import LEXICOGRAPHIC, elements, ulps

OPS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
# An element that is not the operation's identity.
WINDOWED = ("add", "maximum", "minimum", "multiply")


def combiner(name, opcode, computation="@f"):
    t = f"{name}[]"
    return f"{computation} {{\n  a = {t} parameter(0)\n  b = {t} parameter(1)\n  ROOT r = {t} {opcode}(a, b)\n}}\n"


def comparator(name, direction, computation="@g", kind=""):
    t = f"{name}[]"
    return (f"{computation} {{\n  a = {t} parameter(0)\n  b = {t} parameter(1)\n"
            f"  ROOT r = pred[] compare(a, b), direction={direction}{kind}\n}}\n")


def tolerance(name, opcode):
    """Sums may be taken in another order and, in narrow types, be rounded at other places."""
    if opcode not in ("add", "multiply"):
        return 0
    return 2 if is_float(name) and BITS[name].bits <= 8 else ulps(2, name)


# Which elements make each result of the reductions and windows below.
ROWS = [[6 * r + c for c in range(6)] for r in range(4)]
COLUMNS = [[6 * r + c for r in range(4)] for c in range(6)]
WINDOWS = [[7 * y + x for y in range(2 * r - 1, 2 * r + 1) for x in range(2 * c - 1, 2 * c + 2) if 0 <= y < 5 and 0 <= x < 7]
           for r in range(3) for c in range(4)]


def extremes(name, opcode, groups):
    """The reference for complex maxima and minima; XLA:CPU cannot give it, as it compares only real parts."""
    if name not in COMPLEX or opcode not in LEXICOGRAPHIC:
        return None

    def reference(a, init):
        values, first = elements(name, a.raw), elements(name, init.raw)[0]
        results = [functools.reduce(LEXICOGRAPHIC[opcode], [values[i] for i in group], first) for group in groups]
        return [raw(name, results)]
    return reference


def best(name, largest):
    """The reference of topk for numbers without NaN."""
    def reference(a):
        values, found = elements(name, a.raw), ([], [])
        for row in range(2):
            order = sorted(range(12), key=lambda i: (-1 if largest else 1) * values[row * 12 + i])[:5]
            found[0].extend(a.raw[row * 12 + i] for i in order)
            found[1].extend(order)
        return list(found)
    return reference


def reductions(name):
    m = (f"{name}[4,6]", tame(name, 24, 1))
    special = (f"{name}[4,6]", edges(name, 24))
    one = (f"{name}[]", tame(name, 1, 5, positive=True))
    for opcode in OPS:
        values = (f"{name}[4,6]", units(name, 24)) if opcode == "multiply" else special if opcode in ("maximum", "minimum", "and", "or", "xor") else m
        yield Case(f"reduce {opcode}", name, f"{name}[4]", "reduce(p0, p1), dimensions={1}, to_apply=@f", values, one,
                   helpers=combiner(name, opcode), tolerance=tolerance(name, opcode), reference=extremes(name, opcode, ROWS))
        yield Case(f"reduce {opcode}", name, f"{name}[6]", "reduce(p0, p1), dimensions={0}, to_apply=@f", values, one,
                   helpers=combiner(name, opcode), tolerance=tolerance(name, opcode), variant="columns",
                   reference=extremes(name, opcode, COLUMNS))
    yield Case("reduce add", name, f"{name}[]", "reduce(p0, p1), dimensions={0,1}, to_apply=@f", m, one,
               helpers=combiner(name, "add"), tolerance=tolerance(name, "add"), variant="all")
    yield Case("reduce add", name, f"{name}[3]", "reduce(p0, p1), dimensions={1}, to_apply=@f", (f"{name}[3,0]", []), one,
               helpers=combiner(name, "add"), variant="empty")
    yield Case("reduce add", name, f"{name}[1,1,2,1]", "reduce(p0, p1), dimensions={1,4,6}, to_apply=@f",
               (f"{name}[1,2,1,2,3,1,2]{{2,0,6,3,1,5,4}}", m[1]), one, helpers=combiner(name, "add"),
               tolerance=tolerance(name, "add"), variant="rank 7, layout")
    if name not in COMPLEX:
        yield argument_maximum(name)


def argument_maximum(name):
    t = f"{name}[]"
    helpers = f"""@f {{
  a = {t} parameter(0)
  i = s32[] parameter(1)
  b = {t} parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = {t} select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT r = ({t}, s32[]) tuple(v, k)
}}
"""
    return Case("reduce (variadic)", name, f"({name}[4], s32[4])",
                "reduce(p0, i, p1, z), dimensions={1}, to_apply=@f",
                (f"{name}[4,6]", distinct(name)), (f"{name}[]", tame(name, 1, 5)),
                before=["i = s32[4,6] iota(), iota_dimension=1", "z = s32[] constant(-1)"], helpers=helpers)


def distinct(name):
    return ordinary(name, 24, 3, -6, 6)


def windows(name):
    m = (f"{name}[5,7]", tame(name, 35, 1))
    one = (f"{name}[]", tame(name, 1, 5, positive=True))
    for opcode in WINDOWED:
        yield Case(f"reduce-window {opcode}", name, f"{name}[3,4]",
                   "reduce-window(p0, p1), window={size=2x3 stride=2x2 pad=1_0x1_1}, to_apply=@f",
                   (f"{name}[5,7]", units(name, 35)) if opcode == "multiply" else m, one,
                   helpers=combiner(name, opcode), tolerance=tolerance(name, opcode), reference=extremes(name, opcode, WINDOWS))
    yield Case("reduce-window add", name, f"{name}[8,3]",
               "reduce-window(p0, p1), window={size=2x3 pad=0_0x-1_1 lhs_dilate=2x1 rhs_dilate=1x2}, "
               "to_apply=@f", m, one, helpers=combiner(name, "add"), tolerance=tolerance(name, "add"),
               variant="dilated")
    yield Case("reduce-window add", name, f"{name}[5,7]", "reduce-window(p0, p1), window={size=1x7 pad=0_0x6_0}, "
               "to_apply=@f", m, one, helpers=combiner(name, "add"), tolerance=tolerance(name, "add"),
               variant="cumulative")
    select, scatter = comparator(name, "EQ" if name in COMPLEX else "GE"), combiner(name, "add")
    yield Case("select-and-scatter", name, f"{name}[4,6]",
               "select-and-scatter(p0, p1, p2), window={size=2x3 stride=2x3}, select=@g, scatter=@f",
               (f"{name}[4,6]", distinct(name)), (f"{name}[2,2]", tame(name, 4, 2)), one, helpers=select + scatter)
    yield Case("select-and-scatter", name, f"{name}[4,6]",
               "select-and-scatter(p0, p1, p2), window={size=2x3 stride=1x2 pad=1_0x1_1}, select=@g, scatter=@f",
               (f"{name}[4,6]", distinct(name)), (f"{name}[4,3]", tame(name, 12, 2)), one, helpers=select + scatter,
               tolerance=tolerance(name, "add"), variant="overlapping")


def mapped(name):
    a, b = (f"{name}[4,6]", tame(name, 24, 1)), (f"{name}[4,6]", tame(name, 24, 2))
    yield Case("map", name, f"{name}[4,6]", "map(p0, p1), dimensions={0,1}, to_apply=@f", a, b,
               helpers=combiner(name, "add"))
    yield Case("map", name, "pred[4,6]", "map(p0, p1), dimensions={0,1}, to_apply=@g", a, b,
               helpers=comparator(name, "NE"), variant="to pred")
    t = f"{name}[]"
    step = (f"@f {{\n  x = {t} parameter(0)\n  c = {t} parameter(1)\n  s = {t} add(c, x)\n"
            f"  ROOT r = ({t}, {t}) tuple(s, s)\n}}\n")
    for reverse in ("", ", is_reverse=true"):
        yield Case("scan", name, f"({name}[6], {t})",
                   f"scan(p0, p1), dimensions={{0}}, num_carries=1{reverse}, is_associative=true, to_apply=@f",
                   (f"{name}[6]", tame(name, 6, 1)), (t, tame(name, 1, 2)), helpers=step,
                   tolerance=tolerance(name, "add"), variant=reverse.strip(", "))


def sorts(name):
    values = (f"{name}[2,13]", edges(name, 26))
    less = comparator(name, "LT")
    if name not in COMPLEX:
        keys = distinct_keys(name)
        yield Case("sort", name, f"{name}[2,12]", "sort(p0), dimensions={1}, is_stable=true, to_apply=@g",
                   (f"{name}[2,12]", keys), helpers=less)
        yield Case("sort", name, f"{name}[12,2]", "sort(p0), dimensions={0}, to_apply=@g", (f"{name}[12,2]", keys),
                   helpers=comparator(name, "GT"), variant="columns, descending")
        yield Case("sort", name, f"{name}[2,12]{{0,1}}", "sort(p0), dimensions={1}, is_stable=true, to_apply=@g",
                   (f"{name}[2,12]{{0,1}}", keys), helpers=less, variant="layout")
        if is_float(name):
            yield Case("sort", name, f"{name}[2,13]", "sort(p0), dimensions={1}, is_stable=true, to_apply=@g", values,
                       helpers=comparator(name, "LT", kind=", type=TOTALORDER"), variant="total order")
        t = f"{name}[]"
        pair = (f"@g {{\n  a = {t} parameter(0)\n  b = {t} parameter(1)\n  i = s32[] parameter(2)\n"
                f"  j = s32[] parameter(3)\n  ROOT r = pred[] compare(a, b), direction=LT\n}}\n")
        yield Case("sort (with values)", name, f"({name}[2,12], s32[2,12])",
                   "sort(p0, i), dimensions={1}, is_stable=true, to_apply=@g", (f"{name}[2,12]", keys),
                   before=["i = s32[2,12] iota(), iota_dimension=1"], helpers=pair)
        for largest in ("true", "false"):
            yield Case("topk", name, f"({name}[2,5], s32[2,5])", f"topk(p0), k=5, largest={largest}",
                       (f"{name}[2,12]", keys), variant="" if largest == "true" else "smallest",
                       reference=best(name, largest == "true") if name == "f4e2m1fn" else None)
    else:
        yield Case("topk", name, f"({name}[2,5], s32[2,5])", "topk(p0), k=5, largest=true",
                   (f"{name}[2,12]", tame(name, 24)))
    # Any type can be carried along.
    carried = (f"@h {{\n  i = s32[] parameter(0)\n  j = s32[] parameter(1)\n  a = {name}[] parameter(2)\n"
               f"  b = {name}[] parameter(3)\n  ROOT r = pred[] compare(i, j), direction=GT\n}}\n")
    yield Case("sort (carried)", name, f"(s32[13], {name}[13])", "sort(i, p0), dimensions={0}, to_apply=@h",
               (f"{name}[13]", edges(name, 13)), before=["i = s32[13] iota(), iota_dimension=0"], helpers=carried)


def distinct_keys(name):
    """Ordinary numbers, with ties."""
    return ordinary(name, 24, 8, -5, 5)


def rows():
    for name in ARRAYS:
        for family in (reductions, windows, mapped, sorts):
            yield from family(name)
