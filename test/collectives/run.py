"""Every collective x element type x group mode on a number of replicas and partitions, compared with a simulation.

  run.py --replicas=N [--partitions=M] [--tool=hlo-run] [--keep=FOLDER]

Writes one module with all of them, inputs for each rank, runs it, and compares every element of every result of every
rank with a direct simulation. Values are small integers, so that results are exact in all types. The last line reads
'N passed, N failed'.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from values import Array, BITS, PART, element, indices, parts, read_npz, write_npz  # noqa: E402

SHAPE = (2, 24, 2)  # 24 can be split by every number of ranks
NARROW = {"f4e2m1fn", "f8e8m0fnu", "s1", "u1", "s2", "u2", "s4", "u4"}  # hold no sums
TYPES = [t for t in list(BITS) + list(PART)]


def value(kind, rank, i):
    """Element i of the input of `rank`: 1 or 2, or what else the type can represent."""
    bit = (rank * 7 + i * (3 + rank) + i // 5) % 2
    if kind == "pred" or BITS.get(kind) is not None and BITS[kind].bits == 1:
        return -bit if kind == "s1" else bit
    if kind in PART:
        return complex(bit, (rank + i) % 3 - 1)
    return 1 if kind in ("s2",) else 1 + bit if kind == "f8e8m0fnu" else bit


def reducers(kind):
    """(name, function) of the reductions whose results are exact."""
    add, multiply = lambda a, b: a + b, lambda a, b: a * b
    if kind == "pred":
        return {"or": lambda a, b: a | b, "and": lambda a, b: a & b}
    if kind in PART:
        return {"add": add}
    if kind in NARROW:
        return {"maximum": max, "minimum": min}
    if kind[0] in "su":
        return {"add": add, "maximum": max, "xor": lambda a, b: a ^ b, "swapped": lambda a, b: a * 3 + b}
    return {"add": add, "minimum": min, "multiply": multiply}


def computation(kind, name):
    head = f"{name}_{kind} {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
    if name == "swapped":
        return head + f"  three = {kind}[] constant(3)\n  c = {kind}[] multiply(a, three)\n  ROOT r = {kind}[] add(c, b)\n}}\n"
    return head + f"  ROOT r = {kind}[] {name}(a, b)\n}}\n"


def groupings(n):
    """Texts of replica groups over n ids, with the lists that they mean. The order of members matters."""
    everything = [list(range(n))]
    yield "{}", everything
    yield "{" + ",".join("{%s}" % ",".join(map(str, g)) for g in [everything[0][::-1]]) + "}", [everything[0][::-1]]
    yield "{" + ",".join("{%d}" % i for i in range(n)) + "}", [[i] for i in range(n)]
    if n % 2 == 0:
        yield f"[{n // 2},2]<=[{n}]", [[2 * i, 2 * i + 1] for i in range(n // 2)]
        yield f"[2,{n // 2}]<=[{n // 2},2]T(1,0)", [list(range(0, n, 2)), list(range(1, n, 2))]


class World:
    def __init__(self, replicas, partitions):
        self.replicas, self.partitions, self.ranks = replicas, partitions, replicas * partitions

    def modes(self, gathers):
        """(name, attributes without the groups, number of ids, function from id and rank to the ranks it denotes)."""
        p = self.partitions
        yield "replicas", "", self.replicas, lambda i, rank: [i * p + rank % p]
        if gathers:
            yield "both", ", channel_id=1", self.replicas, lambda i, rank: [i * p + q for q in range(p)]
            yield "flat", ", channel_id=1, use_global_device_ids=true", self.ranks, lambda i, rank: [i]
        else:
            yield "partitions", ", channel_id=1", p, lambda i, rank: [rank // p * p + i]

    def members(self, groups, ranks_of, rank):
        for group in groups:
            ranks = [r for i in group for r in ranks_of(i, rank)]
            if rank in ranks:
                return ranks
        return []


class Cases:
    """The module under construction and what each of its results must be."""

    def __init__(self, world):
        self.world, self.lines, self.results, self.computations, self.known = world, [], [], {}, {}
        self.more = []  # further parameters: (name, type, shape, rank -> elements)

    def inputs(self, kind, rank):
        if (kind, rank) not in self.known:
            count = math.prod(SHAPE)
            self.known[kind, rank] = Array(kind, SHAPE, [value(kind, rank, i) for i in range(count)])
        return self.known[kind, rank]

    def add(self, what, kind, shape, text, expected):
        """Adds one instruction; expected(rank) returns the elements of its result."""
        name = f"y{len(self.results)}"
        self.lines.append(f"  {name} = {kind}[{','.join(map(str, shape))}] {text}")
        self.results.append((what, kind, shape, expected))

    def reducer(self, kind, name):
        self.computations[name, kind] = computation(kind, name)
        return f"{name}_{kind}"

    def reducing(self, kind, mode, text, attributes, ranks_of, groups, name, function):
        world, to_apply = self.world, self.reducer(kind, name)
        members = lambda rank: world.members(groups, ranks_of, rank)
        n = len(members(0))

        def reduced(rank, index):
            values = [self.inputs(kind, m)[index] for m in members(rank)]
            result = values[0]
            for v in values[1:]:
                result = function(result, v)
            return result

        tail = f"{attributes}, replica_groups={text}, to_apply={to_apply}"
        self.add(f"all-reduce {mode} {text} {name}", kind, SHAPE, f"all-reduce(x_{kind}){tail}",
                 lambda rank: [reduced(rank, i) for i in indices(SHAPE)])
        shape = (SHAPE[0], SHAPE[1] // n, SHAPE[2])

        def scattered(rank):
            at = members(rank).index(rank) * shape[1]
            return [reduced(rank, (i, j + at, k)) for i, j, k in indices(shape)]

        self.add(f"reduce-scatter {mode} {text} {name}", kind, shape,
                 f"reduce-scatter(x_{kind}){tail}, dimensions={{1}}", scattered)

    def gathering(self, kind, mode, text, attributes, ranks_of, groups):
        members = lambda rank: self.world.members(groups, ranks_of, rank)
        n = len(members(0))
        for d in (0, 1):
            shape = list(SHAPE)
            shape[d] *= n

            def gathered(rank, d=d, shape=tuple(shape)):
                own = [self.inputs(kind, m) for m in members(rank)]
                result = []
                for index in indices(shape):
                    inside = list(index)
                    inside[d] %= SHAPE[d]
                    result.append(own[index[d] // SHAPE[d]][tuple(inside)])
                return result

            self.add(f"all-gather {mode} {text} dim {d}", kind, tuple(shape),
                     f"all-gather(x_{kind}){attributes}, replica_groups={text}, dimensions={{{d}}}", gathered)

    def exchanging(self, kind, mode, text, attributes, ranks_of, groups):
        members = lambda rank: self.world.members(groups, ranks_of, rank)
        n = len(members(0))
        tail = f"{attributes}, replica_groups={text}"
        part = SHAPE[1] // n

        def split(rank):
            group = members(rank)
            own = [self.inputs(kind, m) for m in group]
            return [own[j // part][i, group.index(rank) * part + j % part, k] for i, j, k in indices(SHAPE)]

        self.add(f"all-to-all {mode} {text}", kind, SHAPE, f"all-to-all(x_{kind}){tail}, dimensions={{1}}", split)
        self.add(f"collective-broadcast {mode} {text}", kind, SHAPE, f"collective-broadcast(x_{kind}){tail}",
                 lambda rank: list(self.inputs(kind, members(rank)[0])))

    def permuting(self, kind, mode, attributes, count, ranks_of, pairs):
        text = "{" + ",".join("{%d,%d}" % p for p in pairs) + "}"

        def moved(rank):
            for source, target in pairs:
                if ranks_of(target, rank) == [rank]:
                    return list(self.inputs(kind, ranks_of(source, rank)[0]))
            return [0] * len(self.inputs(kind, 0))

        self.add(f"collective-permute {mode} {text}", kind, SHAPE,
                 f"collective-permute(x_{kind}){attributes}, source_target_pairs={text}", moved)

    def asynchronous(self, kind):
        """The -start and -done forms and the wrappers, on all replicas of a partition."""
        (_, _, _, ranks_of), groups = next(self.world.modes(False)), [list(range(self.world.replicas))]
        members = lambda rank: self.world.members(groups, ranks_of, rank)
        shape = f"{kind}[{','.join(map(str, SHAPE))}]"
        add = self.reducer(kind, "add")
        self.lines += [f"  sr = {shape} all-reduce-start(x_{kind}), to_apply={add}",
                       f"  sp = ({shape}, {shape}) collective-permute-start(x_{kind}), source_target_pairs={{{{0,0}}}}",
                       f"  sw = (({shape}), {shape}) all-to-all-start(x_{kind}), dimensions={{1}}",
                       f"  sg = ({shape}, {kind}[{SHAPE[0] * self.world.replicas},{SHAPE[1]},{SHAPE[2]}]) "
                       f"all-gather-start(x_{kind}), dimensions={{0}}",
                       f"  ss = (({shape}), {kind}[{SHAPE[0]},{SHAPE[1] // self.world.replicas},{SHAPE[2]}]) "
                       f"reduce-scatter-start(x_{kind}), dimensions={{1}}, to_apply={add}",
                       f"  sc = ({shape}, {shape}, u32[]) copy-start(x_{kind})"]
        self.add("all-reduce-done", kind, SHAPE, "all-reduce-done(sr)",
                 lambda rank: [sum(v) for v in zip(*(self.inputs(kind, m) for m in members(rank)))])
        self.add("collective-permute-done", kind, SHAPE, "collective-permute-done(sp)",
                 lambda rank: list(self.inputs(kind, rank)) if members(rank)[0] == rank
                 else [0] * len(self.inputs(kind, 0)))
        part = SHAPE[1] // self.world.replicas
        self.add("all-gather-done", kind, (SHAPE[0] * self.world.replicas, *SHAPE[1:]), "all-gather-done(sg)",
                 lambda rank: [v for m in members(rank) for v in self.inputs(kind, m)])
        self.add("reduce-scatter-done", kind, (SHAPE[0], part, SHAPE[2]), "reduce-scatter-done(ss)",
                 lambda rank: [sum(self.inputs(kind, m)[i, j + members(rank).index(rank) * part, k]
                                   for m in members(rank)) for i, j, k in indices((SHAPE[0], part, SHAPE[2]))])
        self.add("all-to-all-done", kind, SHAPE, "all-to-all-done(sw)",
                 lambda rank: [self.inputs(kind, members(rank)[j // part])[
                     i, members(rank).index(rank) * part + j % part, k] for i, j, k in indices(SHAPE)])
        self.add("copy-done", kind, SHAPE, "copy-done(sc)", lambda rank: list(self.inputs(kind, rank)))

    def parameter(self, name, kind, shape, elements):
        self.more.append((name, kind, shape, elements))

    def ragged(self, kind):
        """Rank i of n sends (i + 2 j) % 3 rows to rank j. The first row of each input is sent to nobody."""
        world, p = self.world, self.world.partitions
        n = world.replicas
        sent = [[(i + 2 * j) % 3 for j in range(n)] for i in range(n)]
        first = lambda i, j: 1 + sum(sent[i][:j])
        place = lambda i, j: sum(sent[k][j] for k in range(i)) + 1
        rows = 2 + 2 * n
        at = lambda rank, row, k: rank * 100 + row * 3 + k
        replica = lambda rank: rank // p
        self.parameter("rows", kind, (rows, 3), lambda rank: [at(rank, *i) for i in indices((rows, 3))])
        self.parameter("room", kind, (rows, 3), lambda rank: [9] * (rows * 3))
        tables = {"from": lambda r: [first(r, j) for j in range(n)], "sizes": lambda r: sent[r],
                  "to": lambda r: [place(r, j) for j in range(n)], "come": lambda r: [sent[j][r] for j in range(n)]}
        for name, table in tables.items():
            self.parameter(name, "s64", (n,), lambda rank, table=table: table(replica(rank)))

        def received(rank):
            result, me = [9] * (rows * 3), replica(rank)
            for i in range(n):
                for row in range(sent[i][me]):
                    for k in range(3):
                        result[(place(i, me) + row) * 3 + k] = at(i * p + rank % p, first(i, me) + row, k)
            return result

        self.add("ragged-all-to-all", kind, (rows, 3), "ragged-all-to-all(rows, room, from, sizes, to, come)", received)

    def slices(self, kind):
        """Two slices of 2 x 3 x 2 elements go around a ring; each has its own start indices."""
        n, p = self.world.replicas, self.world.partitions
        shape, sizes, starts = (3, 4, 5), (2, 3, 2), [((0, 1, 2), (1, 0, 3)), ((1, 0, 0), (0, 1, 0))]
        at = lambda rank, i: rank * 1000 + i[0] * 100 + i[1] * 10 + i[2]
        self.parameter("source", kind, shape, lambda rank: [at(rank, i) for i in indices(shape)])
        self.parameter("target", kind, shape, lambda rank: [7] * 60)
        for number in range(5):
            self.lines.append(f"  n{number} = s32[] constant({number})")
        three = "(s32[], s32[], s32[])"
        for side, name in enumerate(("take", "put")):
            for s, pair in enumerate(starts):
                self.lines.append(f"  {name}{s} = {three} tuple({', '.join(f'n{v}' for v in pair[side])})")
            self.lines.append(f"  {name} = ({three}, {three}) tuple({name}0, {name}1)")
        pairs = ",".join("{%d,%d}" % (i, (i + 1) % n) for i in range(n))

        def updated(rank):
            result, source = Array(kind, shape, [7] * 60), (rank // p - 1) % n * p + rank % p
            for take, put in starts:
                for i in indices(sizes):
                    to = tuple(a + b for a, b in zip(put, i))
                    list.__setitem__(result, (to[0] * 4 + to[1]) * 5 + to[2],
                                     at(source, tuple(a + b for a, b in zip(take, i))))
            return list(result)

        self.add("collective-permute of slices", kind, shape,
                 f"collective-permute(source, target, take, put), source_target_pairs={{{pairs}}}, "
                 "slice_sizes={{2,3,2},{2,3,2}}", updated)

    def variadic(self, kind):
        """Several operands at once: an all-reduce, and the all-to-all with one operand for each member."""
        n, p = self.world.replicas, self.world.partitions
        members = lambda rank: [r * p + rank % p for r in range(n)]
        shapes, at = [(5,), (), (70, 3), (2, 2)], lambda rank, k, i: rank * 1000 + k * 100 + i
        texts = [f"{kind}[{','.join(map(str, s))}]" for s in shapes]
        for k, shape in enumerate(shapes):
            self.parameter(f"v{k}", kind, shape,
                           lambda rank, k=k, s=shape: [at(rank, k, i) for i in range(math.prod(s))])
        self.lines.append(f"  vs = ({', '.join(texts)}) all-reduce(v0, v1, v2, v3), to_apply={self.reducer(kind, 'add')}")
        for k, shape in enumerate(shapes):
            self.add(f"all-reduce of several, {k}", kind, shape, f"get-tuple-element(vs), index={k}",
                     lambda rank, k=k, s=shape: [sum(at(m, k, i) for m in members(rank))
                                                 for i in range(math.prod(s))])
        for k in range(n):
            self.parameter(f"t{k}", kind, (4,), lambda rank, k=k: [at(rank, k, i) for i in range(4)])
        names, types = ", ".join(f"t{k}" for k in range(n)), ", ".join(f"{kind}[4]" for _ in range(n))
        self.lines.append(f"  ts = ({types}) all-to-all({names}), replica_groups={{}}")
        for k in range(n):
            self.add(f"all-to-all of several, {k}", kind, (4,), f"get-tuple-element(ts), index={k}",
                     lambda rank, k=k: [at(members(rank)[k], rank // p, i) for i in range(4)])

    def dynamic_root(self, kind):
        n, p = self.world.replicas, self.world.partitions
        self.lines.append(f"  root = s32[] constant({n - 1})")
        self.add("collective-broadcast of a dynamic root", kind, SHAPE,
                 f"collective-broadcast(x_{kind}, root), replica_groups={{{{{','.join(map(str, range(n)))}}}}}, "
                 "has_dynamic_root=true", lambda rank: list(self.inputs(kind, (n - 1) * p + rank % p)))

    def ids(self):
        p = self.world.partitions
        self.add("replica-id", "u32", (), "replica-id()", lambda rank: [rank // p])
        self.add("partition-id", "u32", (), "partition-id()", lambda rank: [rank % p])

    def module(self):
        shape = ",".join(map(str, SHAPE))
        parameters = [f"  x_{t} = {t}[{shape}] parameter({i})" for i, t in enumerate(TYPES)]
        parameters += [f"  {name} = {kind}[{','.join(map(str, dims))}] parameter({len(TYPES) + i})"
                       for i, (name, kind, dims, _) in enumerate(self.more)]
        types = ", ".join(f"{kind}[{','.join(map(str, dims))}]" for _, kind, dims, _ in self.results)
        names = ", ".join(f"y{i}" for i in range(len(self.results)))
        header = f"HloModule collectives, replica_count={self.world.replicas}, num_partitions={self.world.partitions}\n"
        return (header + "".join(self.computations.values()) + "ENTRY main {\n" +
                "\n".join(parameters + self.lines) + f"\n  ROOT result = ({types}) tuple({names})\n}}\n")


def build(world):
    cases = Cases(world)
    cases.ids()
    cases.asynchronous("s32")
    cases.ragged("s32")
    cases.slices("s32")
    cases.variadic("s32")
    cases.dynamic_root("f32")
    for kind in TYPES:
        # Every type in one grouping of one mode, some types in all.
        every = kind in ("s32", "f32", "bf16", "c128", "u8")
        for gathers in (True, False):
            for m, (mode, attributes, count, ranks_of) in enumerate(world.modes(gathers)):
                for g, (text, groups) in enumerate(groupings(count)):
                    if m + g > 0 and not every or text == "{}" and "flat" == mode and world.ranks == 1:
                        continue
                    arguments = (kind, mode, text, attributes, ranks_of, groups)
                    if gathers:
                        names = reducers(kind)
                        for name in names if g == 0 else list(names)[:1]:
                            cases.reducing(*arguments, name, names[name])
                        cases.gathering(*arguments)
                    else:
                        cases.exchanging(*arguments)
                if not gathers and (m == 0 or every):
                    ring = [(i, (i + 1) % count) for i in range(count)]
                    for pairs in (ring, ring[: count // 2], [(0, 0)]):
                        if pairs:
                            cases.permuting(kind, mode, attributes, count, ranks_of, pairs)
    return cases


def run(world, options, folder):
    cases = build(world)
    with open(os.path.join(folder, "module.hlo"), "w") as file:
        file.write(cases.module())
    for rank in range(world.ranks):
        arrays = [cases.inputs(t, rank) for t in TYPES]
        arrays += [Array(kind, shape, elements(rank)) for _, kind, shape, elements in cases.more]
        write_npz(os.path.join(folder, f"in.r{rank}.npz"), {f"in{i}": a for i, a in enumerate(arrays)})
    command = [options.tool, os.path.join(folder, "module.hlo"), f"--replicas={world.replicas}",
               f"--partitions={world.partitions}", f"--inputs={folder}/in.r%r.npz", f"--outputs={folder}/out.r%r.npz",
               "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        print(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[:2000]}")
        return 0, len(cases.results)
    bad, codes = set(), {}
    for rank in range(world.ranks):
        outputs = read_npz(os.path.join(folder, f"out.r{rank}.npz"))
        for i, (what, kind, shape, expected) in enumerate(cases.results):
            code = element(kind)
            wanted = [codes[code, p] if (code, p) in codes else codes.setdefault((code, p), code.encode(p))
                      for v in expected(rank) for p in parts(kind, v)]
            got = list(outputs[f"out{i}"][2])
            mask = (1 << BITS[PART.get(kind, kind)].bits) - 1
            if [v & mask for v in got] != [v & mask for v in wanted] and i not in bad:
                bad.add(i)
                at = next((k for k, (a, b) in enumerate(zip(got, wanted)) if a & mask != b & mask), -1)
                print(f"{what} of {kind}, rank {rank}: element {at} is {got[at]:#x}, expected {wanted[at]:#x}"
                      f" ({len(got)} and {len(wanted)} numbers)")
    return len(cases.results) - len(bad), len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--keep")
    options = parser.parse_args()
    world = World(options.replicas, options.partitions)
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = options.keep
            os.makedirs(folder, exist_ok=True)
        passed, failed = run(world, options, folder)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
