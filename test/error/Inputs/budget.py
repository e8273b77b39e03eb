"""budget.py CASE: writes a module whose text is small but expands to much, or one that exceeds a small limit."""
import sys

F32 = "f32[] parameter(0)"


def entry(body, computations="", header=""):
    return f"HloModule m{header}\n{computations}ENTRY e {{\n{body}}}\n"


def doubled_tuples(levels):
    return entry(f"  t0 = {F32}\n" + "".join(f"  t{i} = tuple(t{i - 1}, t{i - 1})\n" for i in range(1, levels)) +
                 f"  ROOT r = tuple(t{levels - 1}, t{levels - 1})\n")


def nested_tuples(levels):
    return entry(f"  t0 = {F32}\n" + "".join(f"  t{i} = tuple(t{i - 1})\n" for i in range(1, levels)) +
                 f"  ROOT r = tuple(t{levels - 1})\n")


def listed_tuples(count):
    """Nested pairs: as many leaves as levels, each with a path as long as its depth."""
    return entry(f"  t0 = {F32}\n" + "".join(f"  t{i} = tuple(t{i - 1}, t0)\n" for i in range(1, count)) +
                 f"  ROOT r = tuple(t{count - 1}, t0)\n")


def doubled(levels, first, instruction):
    """Each computation calls the previous one twice."""
    text = first
    for i in range(1, levels):
        text += (f"c{i}_ {{\n  x = {F32}\n  a = f32[] {instruction('x', i - 1)}\n"
                 f"  ROOT b = f32[] {instruction('a', i - 1)}\n}}\n")
    return entry(f"  x = {F32}\n  ROOT r = f32[] {instruction('x', levels - 1)}\n", text)


SINE = f"c0_ {{\n  x = {F32}\n  ROOT y = f32[] sine(x)\n}}\n"
LESS = f"less {{\n  x = {F32}\n  k = f32[] constant(3)\n  ROOT c = pred[] compare(x, k), direction=LT\n}}\n"
ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"


def nested_whiles(levels):
    text = LESS + SINE
    for i in range(1, levels):
        text += f"c{i}_ {{\n  x = {F32}\n  ROOT w = f32[] while(x), condition=less, body=c{i - 1}_\n}}\n"
    return entry(f"  x = {F32}\n  ROOT r = f32[] while(x), condition=less, body=c{levels - 1}_\n", text)


def groups(form, replicas):
    return entry(f"  x = {F32}\n  ROOT r = f32[] all-reduce(x), replica_groups={form}, to_apply=add\n", ADD,
                 f", replica_count={replicas}")


def long_reducer(length):
    steps = "".join(f"  s{i}_ = f32[] sine({f's{i - 1}_' if i else 'a'})\n" for i in range(length))
    computation = (f"long {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n{steps}"
                   f"  ROOT c = f32[] add(s{length - 1}_, b)\n}}\n")
    return entry("  x = f32[64] parameter(0)\n  z = f32[] constant(0)\n"
                 "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=long\n", computation)


def wide(count):
    """A module that takes seconds to compile."""
    return entry(f"  x = {F32}\n  ROOT r = tuple({', '.join(['x'] * count)})\n")


def rank(dimensions):
    shape = "f32[" + ",".join(["1"] * dimensions) + "]"
    return entry(f"  x = f32[2] parameter(0)\n  s = {shape} parameter(1)\n  ROOT r = {shape} sine(s)\n")


CASES = {
    "rank": lambda: rank(257),
    "rank-fits": lambda: rank(256),
    "doubled-tuples": lambda: doubled_tuples(40),
    "nested-tuples": lambda: nested_tuples(20000),
    "listed-tuples": lambda: listed_tuples(5000),
    "doubled-calls": lambda: doubled(40, SINE, lambda x, i: f"call({x}), to_apply=c{i}_"),
    "doubled-whiles": lambda: doubled(40, LESS + SINE, lambda x, i: f"while({x}), condition=less, body=c{i}_"),
    "doubled-maps": lambda: doubled(40, SINE, lambda x, i: f"map({x}), dimensions={{}}, to_apply=c{i}_"),
    "nested-whiles": lambda: nested_whiles(12),
    "iota-groups": lambda: groups("[4096,4096]<=[16777216]", 1 << 24),
    "iota-huge": lambda: groups("[1048576,1048576]<=[1099511627776]", 1),
    "iota-transposed": lambda: groups("[1048576,1048576]<=[1048576,1048576]T(1,0)", 1),
    "iota-overflow": lambda: groups("[4,4]<=[4294967296,4294967296]T(1,0)", 1),
    "listed-groups": lambda: groups("{{0,1},{2,3}}", 4),
    "mesh-groups": lambda: groups("mesh['x'=1048576,'y'=1048576] {'y'}", 1),
    "sharding": lambda: entry("  ROOT x = f32[4] parameter(0), sharding={devices=[1099511627776]<=[1099511627776]}\n"),
    "operands": lambda: entry(f"  x = {F32}\n  ROOT r = tuple({', '.join(['x'] * 9)})\n"),
    "padded-literal": lambda: entry("  ROOT c = f32[1099511627776] constant(1)\n"),
    "left-out": lambda: entry("  c = f32[1099511627776] constant({...})\n  ROOT s = f32[1] slice(c), slice={[0:1]}\n"),
    "prime-fft": lambda: entry("  x = c64[1,16777259] parameter(0)\n  ROOT r = c64[1,16777259] fft(x), fft_type=FFT, "
                               "fft_length={16777259}\n"),
    "long-reducer": lambda: long_reducer(60),
    "wide": lambda: wide(50000),
}

sys.stdout.write(CASES[sys.argv[1]]())
