"""dynamic-slice, dynamic-update-slice, gather, scatter: by element type and by index type."""
from cases import Case
from inputs import ARRAYS, COMPLEX, INTEGERS, edges, element, ordinary, raw, tame
from rows_elementwise import LEXICOGRAPHIC, elements

COMBINE = ("set", "add", "maximum", "multiply", "and")


def combiner(name, how):
    t = f"{name}[]"
    if how == "set":
        return f"@f {{\n  a = {t} parameter(0)\n  ROOT b = {t} parameter(1)\n}}\n"
    return f"@f {{\n  a = {t} parameter(0)\n  b = {t} parameter(1)\n  ROOT r = {t} {how}(a, b)\n}}\n"


GATHER = ("gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
          "slice_sizes={1,3}")
BATCHED = ("gather(p0, p1), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, "
           "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,2}")
SCATTER = ("scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=@f")


def scattered(name, how):
    """The reference of the scatters below for complex numbers: rows 1, 4 and 1; the row 7 does not exist."""
    def reference(target, _, updates):
        rows, values = elements(name, target.raw), elements(name, updates.raw)
        for i, row in enumerate((1, 4, 1)):
            for c in range(6):
                rows[row * 6 + c] = LEXICOGRAPHIC[how](rows[row * 6 + c], values[i * 6 + c])
        return [raw(name, rows)]
    return reference


def by_type(name):
    m = (f"{name}[5,6]", edges(name, 30))
    i, j = ("s32[]", [3]), ("s32[]", [-7])
    yield Case("dynamic-slice", name, f"{name}[3,2]", "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={3,2}", m, i, j)
    yield Case("dynamic-update-slice", name, f"{name}[5,6]", "dynamic-update-slice(p0, p1, p2, p3)", m,
               (f"{name}[2,3]", ordinary(name, 6)), i, ("s32[]", [9]))
    yield Case("dynamic-slice", name, f"{name}[1,1,1,2,2,1,2]",
               "dynamic-slice(p0, p1, p2, p3, p4, p5, p6, p7), dynamic_slice_sizes={1,1,1,2,2,1,2}",
               (f"{name}[1,2,1,2,3,1,2]{{2,0,6,3,1,5,4}}", edges(name, 24)),
               *[("s32[]", [start]) for start in (0, 1, 3, -1, 1, 0, 5)], variant="rank 7, layout")
    rows = ("s32[4,1]", [0, 4, 9, -1])
    yield Case("gather", name, f"{name}[4,3]", GATHER, m, rows)
    yield Case("gather", name, f"{name}[5,2]", BATCHED, m, ("s32[5,1]", [0, 5, 2, -3, 4]), variant="batching")
    yield Case("gather", name, f"{name}[0,3]", GATHER, m, ("s32[0,1]", []), variant="empty")
    target, updates = (f"{name}[5,6]", tame(name, 30, 1)), (f"{name}[4,6]", tame(name, 24, 2))
    places = ("s32[4,1]", [1, 4, 1, 7])
    for how in COMBINE:
        unique = how == "set"
        yield Case(f"scatter {how}", name, f"{name}[5,6]", SCATTER, target,
                   ("s32[4,1]", [1, 4, 2, 7]) if unique else places, updates, helpers=combiner(name, how),
                   reference=scattered(name, how) if name in COMPLEX and how == "maximum" else None)


def by_index(name):
    m = ("f32[5,6]", tame("f32", 30))
    bits = element(name).bits
    top = (1 << bits) - 1
    yield Case("dynamic-slice by index", name, "f32[2,3]", "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}", m,
               (f"{name}[]", [1]), (f"{name}[]", [top]))
    yield Case("dynamic-update-slice by index", name, "f32[5,6]", "dynamic-update-slice(p0, p1, p2, p3)", m,
               ("f32[2,3]", tame("f32", 6, 3)), (f"{name}[]", [top]), (f"{name}[]", [1]))
    yield Case("gather by index", name, "f32[4,3]", GATHER, m, (f"{name}[4,1]", [x & top for x in (0, 3, top, 1)]))
    yield Case("scatter by index", name, "f32[5,6]", SCATTER, m, (f"{name}[4,1]", [x & top for x in (0, 3, top, 1)]),
               ("f32[4,6]", tame("f32", 24, 2)), helpers=combiner("f32", "add"))


def rows():
    for name in ARRAYS:
        yield from by_type(name)
        if name in INTEGERS:
            yield from by_index(name)
