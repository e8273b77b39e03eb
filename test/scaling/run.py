#!/usr/bin/env python3
"""Compiles seventeen shapes of graph at growing sizes and prints what each size costs.

    test/scaling/run.py --tool=build/bin/hlo-compile [--sizes=1000,10000,100000] [--shapes=chain,...] [--rounds=1]
    test/scaling/run.py --tool=... --check        small sizes: right answers only, no times

For each shape and size: user and system seconds (the smallest of --rounds), peak memory, and the ratio to the size before once the start-up of
the tool is taken off. Ten times the instructions should cost at most 13 times as much; with --strict the
exit code says whether that holds. Sizes are numbers of instructions, about.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

LIMIT = 13.0
# Below this much more than the start-up, a ratio says nothing.
LEAST_SECONDS, LEAST_MEMORY = 0.02, 4 << 20


def module(entry, computations=""):
    return f"HloModule m\n\n{computations}ENTRY e {{\n{entry}}}\n"


def chain(n):
    """Each instruction uses the previous one."""
    ops = ("add", "multiply", "subtract", "maximum", "minimum")
    lines = ["  x = f32[256] parameter(0)\n  v0 = f32[256] negate(x)\n"]
    lines += [f"  v{i} = f32[256] {ops[i * i % 5]}(v{i - 1}, x)\n" for i in range(1, n)]
    return module("".join(lines) + f"  ROOT r = f32[256] negate(v{n - 1})\n")


def fan_out(n):
    """One value that all others use; a few results."""
    lines = ["  x = f32[256] parameter(0)\n  y = f32[256] sine(x)\n"]
    parts = []
    for i in range(n // 3):
        lines.append(f"  cst{i} = f32[] constant({i % 977}.5)\n  b{i} = f32[256] broadcast(cst{i}), dimensions={{}}\n"
                     f"  v{i} = f32[256] multiply(y, b{i})\n")
        parts.append(f"v{i}")
    return module("".join(lines) + f"  ROOT r = ({', '.join(['f32[256]'] * len(parts))}) tuple({', '.join(parts)})\n")


def fan_in(n):
    """A balanced tree of additions over n / 2 parameters' worth of slices."""
    count = n // 3
    lines = [f"  x = f32[{count + 64}] parameter(0)\n"]
    level = []
    for i in range(count):
        lines.append(f"  part{i} = f32[64] slice(x), slice={{[{i}:{i + 64}]}}\n")
        level.append(f"part{i}")
    number = 0
    while len(level) > 1:
        following = []
        for a, b in zip(level[::2], level[1::2]):
            lines.append(f"  t{number} = f32[64] add({a}, {b})\n")
            following.append(f"t{number}")
            number += 1
        level = following + (level[-1:] if len(level) % 2 else [])
    return module("".join(lines) + f"  ROOT r = f32[64] negate({level[0]})\n")


def diamond(n):
    """Two paths from each value that join again."""
    lines = ["  v0 = f32[256] parameter(0)\n"]
    for i in range(n // 3):
        lines.append(f"  a{i} = f32[256] reverse(v{i}), dimensions={{0}}\n  b{i} = f32[256] negate(v{i})\n"
                     f"  v{i + 1} = f32[256] add(a{i}, b{i})\n")
    return module("".join(lines) + f"  ROOT r = f32[256] negate(v{n // 3})\n")


def wide_tuple(n):
    """A parameter of n / 3 arrays, each read, changed and put into the result."""
    count = n // 3
    shape = f"({', '.join(['f32[8]'] * count)})"
    lines = [f"  p = {shape} parameter(0)\n"]
    for i in range(count):
        lines.append(f"  g{i} = f32[8] get-tuple-element(p), index={i}\n  v{i} = f32[8] negate(g{i})\n")
    parts = ", ".join(f"v{i}" for i in range(count))
    return module("".join(lines) + f"  ROOT r = {shape} tuple({parts})\n")


def deep_calls(n):
    """Each computation calls the previous one."""
    text = ["fn0 {\n  x = f32[64] parameter(0)\n  ROOT y = f32[64] negate(x)\n}\n\n"]
    for i in range(1, n // 3):
        text.append(f"fn{i} {{\n  x = f32[64] parameter(0)\n  y = f32[64] call(x), to_apply=fn{i - 1}\n"
                    f"  ROOT z = f32[64] {'add' if i % 2 else 'multiply'}(y, x)\n}}\n\n")
    return module(f"  x = f32[64] parameter(0)\n  ROOT r = f32[64] call(x), to_apply=fn{n // 3 - 1}\n", "".join(text))


def nested_whiles(n):
    """Nests of 8 loops inside each other, one nest after the other."""
    depth, text, lines = 8, [], ["  v0 = s32[] parameter(0)\n"]
    nests = max(1, n // (7 * depth))
    for k in range(nests):
        for d in range(depth):
            inner = f"  w = s32[] while(x), condition=cond{k}_{d - 1}, body=body{k}_{d - 1}\n" if d else \
                "  w = s32[] multiply(x, x)\n"
            text.append(f"cond{k}_{d} {{\n  x = s32[] parameter(0)\n  k = s32[] constant({k % 97 + d + 2})\n"
                        f"  ROOT c = pred[] compare(x, k), direction=LT\n}}\n\n"
                        f"body{k}_{d} {{\n  x = s32[] parameter(0)\n  k = s32[] constant(1)\n{inner}"
                        f"  ROOT y = s32[] add(w, k)\n}}\n\n")
        lines.append(f"  v{k + 1} = s32[] while(v{k}), condition=cond{k}_{depth - 1}, body=body{k}_{depth - 1}\n")
    return module("".join(lines) + f"  ROOT r = s32[] negate(v{nests})\n", "".join(text))


def many_constants(n):
    """An array constant for every other instruction."""
    lines = ["  v0 = f32[8] parameter(0)\n"]
    for i in range(n // 2):
        values = ",".join(str((i * 7 + j * 13) % 1009 + 0.5) for j in range(8))
        lines.append(f"  cst{i} = f32[8] constant({{{values}}})\n  v{i + 1} = f32[8] add(v{i}, cst{i})\n")
    return module("".join(lines) + f"  ROOT r = f32[8] negate(v{n // 2})\n")


def many_custom_calls(n):
    """Custom calls in a chain."""
    lines = ["  v0 = f32[8] parameter(0)\n"]
    lines += [f"  v{i + 1} = f32[8] custom-call(v{i}), custom_call_target=\"scaling_test_{i % 7}\"\n" for i in range(n)]
    return module("".join(lines) + f"  ROOT r = f32[8] negate(v{n})\n")


def equal_layers(n):
    """The same small layer with a dot, repeated."""
    add = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
    lines = ["  v0 = f32[4,16] parameter(0)\n  w = f32[16,16] parameter(1)\n  zero = f32[] constant(0)\n"]
    for i in range(n // 8):
        lines.append(f"  d{i} = f32[4,16] dot(v{i}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
                     f"  t{i} = f32[4,16] tanh(d{i})\n  sum{i} = f32[4] reduce(t{i}, zero), dimensions={{1}}, to_apply=add\n"
                     f"  b{i} = f32[4,16] broadcast(sum{i}), dimensions={{0}}\n  diff{i} = f32[4,16] subtract(t{i}, b{i})\n"
                     f"  m{i} = f32[4,16] multiply(diff{i}, diff{i})\n  a{i} = f32[4,16] add(m{i}, v{i})\n"
                     f"  v{i + 1} = f32[4,16] negate(a{i})\n")
    return module("".join(lines) + f"  ROOT r = f32[4,16] negate(v{n // 8})\n", add)


def updates(n):
    """A chain of dynamic-update-slices of a small array, each of a dynamic-slice of the one before."""
    lines = ["  v0 = f32[64] parameter(0)\n  i = s32[] parameter(1)\n"]
    for i in range(n // 2):
        lines.append(f"  part{i} = f32[4] dynamic-slice(v{i}, i), dynamic_slice_sizes={{4}}\n"
                     f"  v{i + 1} = f32[64] dynamic-update-slice(v{i}, part{i}, i)\n")
    return module("".join(lines) + f"  ROOT r = f32[64] negate(v{n // 2})\n")


def conversions(n):
    """A chain of conversions between seven types."""
    types = ("f32", "f64", "s32", "bf16", "s8", "u64", "f16")
    lines = ["  v0 = f32[64] parameter(0)\n"]
    lines += [f"  v{i + 1} = {types[(i + 1) % 7]}[64] convert(v{i})\n" for i in range(n)]
    return module("".join(lines) + f"  ROOT r = f32[64] convert(v{n})\n")


def wide_concatenate(n):
    """One concatenate of n / 2 parameters of two sizes."""
    count = n // 2
    parts = [f"p{i}" for i in range(count)]
    lines = [f"  p{i} = f32[{3 + i % 2}] parameter({i})\n" for i in range(count)]
    size = sum(3 + i % 2 for i in range(count))
    return module("".join(lines) + f"  ROOT r = f32[{size}] concatenate({', '.join(parts)}), dimensions={{0}}\n")


def nested_tuples(n):
    """A tuple of the tuple before; shapes are left out, so that the text stays short."""
    lines = ["  v0 = f32[] parameter(0)\n"] + [f"  v{i + 1} = tuple(v{i})\n" for i in range(n)]
    return module("".join(lines) + f"  ROOT r = tuple(v{n})\n")


def growing_concatenate(n):
    """A concatenate of the one before and one more element."""
    lines = ["  v0 = f32[8] parameter(0)\n  w = f32[1] parameter(1)\n"]
    lines += [f"  v{i + 1} = f32[{9 + i}] concatenate(v{i}, w), dimensions={{0}}\n" for i in range(n)]
    return module("".join(lines) + f"  ROOT r = f32[{8 + n}] negate(v{n})\n")


def async_updates(n):
    """An asynchronous call with many updates between its start and its end."""
    text = "fn {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] negate(x)\n}\n\n"
    state = "((f32[8]), f32[8], s32[])"
    lines = [f"  v = f32[8] parameter(0)\n  a0 = {state} async-start(v), calls=fn\n"]
    lines += [f"  a{i + 1} = {state} async-update(a{i})\n" for i in range(n)]
    return module("".join(lines) + f"  ROOT r = f32[8] async-done(a{n})\n", text)


def aliases(n):
    """A result for each parameter, which may be in its buffer."""
    count = n // 2
    pairs = ", ".join(f"{{{i}}}: ({i}, {{}}, may-alias)" for i in range(count))
    lines = [f"  p{i} = f32[8] parameter({i})\n  v{i} = f32[8] negate(p{i})\n" for i in range(count)]
    shape, parts = ", ".join(["f32[8]"] * count), ", ".join(f"v{i}" for i in range(count))
    text = module("".join(lines) + f"  ROOT r = ({shape}) tuple({parts})\n")
    return text.replace("HloModule m", f"HloModule m, input_output_alias={{ {pairs} }}", 1)


SHAPES = {f.__name__.replace("_", "-"): f
          for f in (chain, fan_out, fan_in, diamond, wide_tuple, deep_calls, nested_whiles, many_constants,
                    many_custom_calls, equal_layers, updates, conversions, wide_concatenate, nested_tuples,
                    growing_concatenate, async_updates, aliases)}


def compile_once(tool, text, folder, timeout):
    """(user seconds, peak bytes, exit code) of one compilation; the code is None after the time limit."""
    path = os.path.join(folder, "m.hlo")
    with open(path, "w") as f:
        f.write(text)
    command = [tool, path, "-o", os.path.join(folder, "m.o"), "--allow-missing-custom-calls=*"]
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.path.join(folder, "said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(null, 1)
            os.dup2(null, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(timeout), int(timeout) + 1))
            os.execv(tool, command)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, code


def said(folder):
    with open(os.path.join(folder, "said"), errors="replace") as f:
        return f.read(300).strip()


def check(tool, folder, shapes, sizes):
    """Whether every shape compiles at the small sizes."""
    good = True
    for name in shapes:
        for n in sizes:
            _, _, code = compile_once(tool, SHAPES[name](n), folder, timeout=120)
            if code != 0:
                good = False
                print(f"{name} {n}: exit code {code}: {said(folder)}")
    print("all shapes compile" if good else "FAILED")
    return good


def measure(tool, folder, shapes, sizes, timeout, rounds):
    """Prints the table; whether all ratios are within the limit."""
    tiny = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] negate(x)\n}\n"
    start = [compile_once(tool, tiny, folder, timeout) for _ in range(5)]
    start_seconds, start_memory = min(s for s, _, _ in start), min(m for _, m, _ in start)
    print(f"start-up: {start_seconds:.3f} s, {start_memory >> 20} MB")
    print("| shape | " + " | ".join(f"{n}: s | MB | ratio s | ratio MB" for n in sizes) + " |")
    print("|---|" + "--:|" * (4 * len(sizes)))
    good = True
    for name in shapes:
        row, before = [], None
        for n in sizes:
            text = SHAPES[name](n)
            seconds, memory, code = min(compile_once(tool, text, folder, timeout) for _ in range(rounds))
            if code != 0:
                row.append(f"exit {code} after {seconds:.1f} | | | ")
                good = False
                print(f"{name} {n}: {said(folder)}", file=sys.stderr)
                break
            own = max(seconds - start_seconds, LEAST_SECONDS), max(memory - start_memory, LEAST_MEMORY)
            ratios = ["", ""]
            if before:
                step = n / before[0]
                limit = LIMIT * step / 10
                for i in range(2):
                    ratio = own[i] / before[1][i]
                    ratios[i] = f"{ratio:.1f}" + (" !" if ratio > limit else "")
                    good &= ratio <= limit
            row.append(f"{seconds:.2f} | {memory >> 20} | {ratios[0]} | {ratios[1]}")
            before = n, own
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--sizes")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--timeout", type=float, default=300, help="CPU seconds of one compilation")
    parser.add_argument("--rounds", type=int, default=1, help="compilations of each module; the fastest counts")
    parser.add_argument("--check", action="store_true", help="small sizes; right answers only")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a ratio is too large")
    parser.add_argument("--print", metavar="SHAPE:N", help="print one module and stop")
    args = parser.parse_args()
    if args.print:
        name, _, n = args.print.partition(":")
        print(SHAPES[name](int(n)), end="")
        return 0
    shapes = args.shapes.split(",")
    sizes = [int(n) for n in (args.sizes or ("50,500" if args.check else "1000,10000,100000")).split(",")]
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.abspath(args.tool)
        if args.check:
            return 0 if check(tool, folder, shapes, sizes) else 1
        good = measure(tool, folder, shapes, sizes, args.timeout, args.rounds)
        return 0 if good or not args.strict else 1


if __name__ == "__main__":
    sys.exit(main())
