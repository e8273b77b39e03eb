"""Opcodes that pass values through: tuples, calls, loops, tokens, collectives over one replica; and random bits."""
from cases import Case
from inputs import ARRAYS, COMPLEX, FLOATS, PART, raw, tame


def reversed_first(argument, *_):
    """The reference of the computation that reverses its argument."""
    width = 2 if argument.name in PART else 1
    parts = [argument.raw[i:i + width] for i in range(0, len(argument.raw), width)]
    return [sum(reversed(parts), [])]


def first_four(argument, *_):
    """The reference of a dynamic reshape of four elements to [2,2]."""
    return [argument.raw[:4 * (2 if argument.name in PART else 1)]]


def spliced(source, target, *_):
    """The reference of the ragged-all-to-all below: elements 1 and 2 go to 3 and 4."""
    width = 2 if source.name in PART else 1
    return [target.raw[:3 * width] + source.raw[width:3 * width]]


def passed(name):
    t, shape = f"{name}[]", f"{name}[7]"
    x, y = (shape, tame(name, 7, 1)), (shape, tame(name, 7, 2))
    same = f"@f {{\n  ROOT a = {shape} parameter(0)\n}}\n"
    twice = f"@g {{\n  a = {shape} parameter(0)\n  ROOT r = {shape} reverse(a), dimensions={{0}}\n}}\n"
    both = same + twice
    yield Case("tuple", name, f"({shape}, {shape}, {shape})", "tuple(p0, p1, p0)", x, y)
    yield Case("get-tuple-element", name, shape, "get-tuple-element(t), index=1", x, y,
               before=[f"t = ({shape}, {shape}) tuple(p1, p0)"])
    yield Case("call", name, shape, "call(p0), to_apply=@g", x, helpers=twice)
    yield Case("call", name, shape, "call(p0), to_apply=@g, is_composite=true, frontend_attributes={composite.attributes={},"
               "composite.name=\"a.b\",composite.version=\"1\"}", x, helpers=twice, variant="composite")
    for flag in (0, 1):
        yield Case("conditional", name, shape, "conditional(p0, p1, p2), true_computation=@f, false_computation=@g",
                   ("pred[]", [flag]), x, y, helpers=both, variant=("false", "true")[flag])
    yield Case("conditional", name, shape, "conditional(p0, p1, p2), branch_computations={@f, @g}", ("s32[]", [9]), x, y,
               helpers=both, variant="index")
    body = f"""@c {{
  s = (s32[], {shape}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}}
@b {{
  s = (s32[], {shape}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = {shape} get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  y = {shape} reverse(x), dimensions={{0}}
  ROOT r = (s32[], {shape}) tuple(j, y)
}}
"""
    yield Case("while", name, f"(s32[], {shape})", "while(t), condition=@c, body=@b", x, helpers=body,
               before=["z = s32[] constant(0)", f"t = (s32[], {shape}) tuple(z, p0)"])
    for kind in ("kLoop", "kInput", "kOutput", "kCustom"):
        yield Case("fusion", name, shape, f"fusion(p0), kind={kind}, calls=@g", x, helpers=twice,
                   variant="" if kind == "kLoop" else kind, reference=reversed_first)
    yield Case("opt-barrier", name, f"({shape}, {shape})", "opt-barrier(t)", x, y,
               before=[f"t = ({shape}, {shape}) tuple(p0, p1)"])
    yield Case("domain", name, shape, "domain(p0), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}", x)
    yield Case("add-dependency", name, shape, "add-dependency(p0, k)", x, before=["k = token[] after-all()"])
    yield Case("copy-start", name, shape, "copy-done(s)", x, before=[f"s = ({shape}, {shape}, u32[]) copy-start(p0)"], reference=lambda a: [a.raw])
    yield Case("async-start", name, shape, "async-done(s)", x, helpers=twice,
               before=[f"s = (({shape}), {shape}, u32[]) async-start(p0), calls=@g"], reference=reversed_first)
    yield Case("async-start", name, shape, "reverse-done(u)", x, variant="sugar", reference=reversed_first,
               before=[f"s = (({shape}), {shape}, u32[]) reverse-start(p0), dimensions={{0}}",
                       f"u = (({shape}), {shape}, u32[]) reverse-update(s)"])
    yield Case("get-dimension-size", name, "s32[]", "get-dimension-size(p0), dimensions={0}", x)
    yield Case("set-dimension-size", name, "s32[]", "get-dimension-size(d), dimensions={0}", x, ("s32[]", [3]),
               before=[f"d = {name}[<=7] set-dimension-size(p0, p1), dimensions={{0}}"])
    yield Case("dynamic-reshape", name, f"{name}[2,2]", "slice(w), slice={[0:2], [0:2]}", (f"{name}[6]", tame(name, 6, 1)),
               ("s32[]", [4]), ("s32[]", [3]), reference=first_four,
               before=[f"d = {name}[<=6] set-dimension-size(p0, p1), dimensions={{0}}", "two = s32[] constant(2)",
                       f"r = {name}[2,<=3] dynamic-reshape(d, two, two)",
                       f"w = {name}[2,3] set-dimension-size(r, p2), dimensions={{1}}"])
    yield Case("custom-call Sharding", name, shape, "custom-call(p0), custom_call_target=\"Sharding\", sharding={replicated}", x)


def collectives(name):
    t, shape = f"{name}[]", f"{name}[4]"
    x = (shape, tame(name, 4, 1))
    add = f"@f {{\n  a = {t} parameter(0)\n  b = {t} parameter(1)\n  ROOT r = {t} add(a, b)\n}}\n"
    yield Case("all-reduce", name, shape, "all-reduce(p0), replica_groups={{0}}, to_apply=@f", x, helpers=add)
    yield Case("all-gather", name, shape, "all-gather(p0), replica_groups={{0}}, dimensions={0}", x)
    yield Case("reduce-scatter", name, shape, "reduce-scatter(p0), replica_groups={{0}}, dimensions={0}, to_apply=@f", x,
               helpers=add)
    yield Case("all-to-all", name, shape, "all-to-all(p0), replica_groups={{0}}, dimensions={0}", x)
    yield Case("collective-permute", name, shape, "collective-permute(p0), source_target_pairs={{0,0}}", x)
    yield Case("collective-permute", name, shape, "collective-permute(p0), source_target_pairs={}", x, variant="no source")
    yield Case("collective-broadcast", name, shape, "collective-broadcast(p0), replica_groups={{0}}", x,
               reference=lambda a: [a.raw])
    one = "s32[1]"
    yield Case("ragged-all-to-all", name, f"{name}[5]", "ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={{0}}", x,
               (f"{name}[5]", tame(name, 5, 2)), (one, [1]), (one, [2]), (one, [3]), (one, [2]), reference=spliced)
    yield Case("all-reduce-start", name, shape, "all-reduce-done(s)", x, helpers=add,
               before=[f"s = {shape} all-reduce-start(p0), replica_groups={{{{0}}}}, to_apply=@f"])
    yield Case("all-gather-start", name, shape, "all-gather-done(s)", x,
               before=[f"s = ({shape}, {shape}) all-gather-start(p0), replica_groups={{{{0}}}}, dimensions={{0}}"])
    yield Case("collective-permute-start", name, shape, "collective-permute-done(s)", x,
               before=[f"s = ({shape}, {shape}) collective-permute-start(p0), source_target_pairs={{{{0,0}}}}"])


def tokens():
    k = ["k = token[] after-all()"]
    keep = ("f32[2]", raw("f32", [1, 2]))
    same = "@f {\n  ROOT a = token[] parameter(0)\n}\n"

    def through(row, line, helpers="", shape="token[]", more=(), arguments=()):
        return Case(row, "token", "f32[2]", "add-dependency(p0, x)" if shape == "token[]" else "add-dependency(p0, y)", keep,
                    *arguments, before=k + list(more) + [f"x = {shape} {line}"] +
                    ([] if shape == "token[]" else ["y = token[] get-tuple-element(x), index=1"]), helpers=helpers,
                    reference=lambda a, *_: [a.raw])
    yield through("after-all", "after-all(k, k)")
    yield through("add-dependency", "add-dependency(k, k)")
    yield through("tuple", "tuple(p0, k)", shape="(f32[2], token[])")
    yield through("get-tuple-element", "get-tuple-element(t), index=0", more=["t = (token[]) tuple(k)"])
    yield through("call", "call(k), to_apply=@f", helpers=same)
    yield through("fusion", "fusion(k), kind=kLoop, calls=@f", helpers=same)
    yield through("opt-barrier", "opt-barrier(t)", shape="(f32[2], token[])", more=["t = (f32[2], token[]) tuple(p0, k)"])
    yield through("conditional", "conditional(p1, k, k), true_computation=@f, false_computation=@f", helpers=same,
                  arguments=[("pred[]", [1])])
    loop = """@c {
  s = (s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
@b {
  s = (s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = token[] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  l = token[] after-all(k)
  ROOT r = (s32[], token[]) tuple(j, l)
}
"""
    yield through("while", "while(t), condition=@c, body=@b", helpers=loop, shape="(s32[], token[])",
                  more=["z = s32[] constant(0)", "t = (s32[], token[]) tuple(z, k)"])
    yield through("copy", "copy(k)")
    yield through("domain", "domain(k), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}")


def identities():
    yield Case("replica-id", "u32", "u32[]", "replica-id()")
    yield Case("partition-id", "u32", "u32[]", "partition-id()")
    yield Case("rng-get-and-update-state", "u64", "u64[2]", "rng-get-and-update-state(), delta=64", check="shape")


def randomness(name):
    low, high = raw(name, [0]), raw(name, [1])
    for kind in ("uniform", "normal"):
        yield Case(f"rng {kind}", name, f"{name}[32]", f"rng(p0, p1), distribution=rng_{kind}",
                   (f"{name}[]", low), (f"{name}[]", high), check="shape",
                   reference=(lambda *_: [[0] * 32]) if name in FLOATS or (kind == "uniform" and name not in COMPLEX) else None)
    for algorithm, words in (("three_fry", 2), ("philox", 2), ("default", 2), ("philox", 3)):
        yield Case(f"rng-bit-generator {algorithm}", name, f"(u64[{words}], {name}[33])",
                   f"rng-bit-generator(p0), algorithm=rng_{algorithm}",
                   (f"u64[{words}]", [0x123456789abcdef0, 0xfedcba9876543210, 77][:words]),
                   variant="" if words == 2 else "three words of state")


def rows():
    for name in ARRAYS:
        yield from passed(name)
        yield from collectives(name)
        yield from randomness(name)
    yield from tokens()
    yield from identities()
