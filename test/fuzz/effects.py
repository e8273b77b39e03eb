"""Random programs of effects: feeds and custom calls in nested loops and branches, against a direct interpretation.

  effects.py --tool=HLO-RUN --handlers=LIB.so [--seed=1] [--count=40] [--keep=FOLDER]

A program has one number and a token. It feeds the number out, adds what is fed in, has a custom call add one to it in place, doubles it in
another one, and does so in loops (of known and unknown trip counts) and branches. What it feeds out, in which order, and its result
must be what this script finds by executing the same tree. LIB.so is made of test/customcall/Inputs/handlers.c. Needs Python alone.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from values import Array, read_npz, write_npz  # noqa: E402

DEEPEST = 3
IN_PLACE = ("custom_call_target=\"t_next\", output_to_operand_aliasing={{}: (0, {})}, "
            "api_version=API_VERSION_STATUS_RETURNING")


class Program:
    """The text of a seed's program, and what executes it: run(number, outfeed list, infeed iterator) -> number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names, self.computations = 0, []
        lines = ["zero = s32[] parameter(0)", "k = token[] after-all()"]
        number, token, self.run = self.block(0, "zero", "k", lines)
        lines += [f"ROOT r = s32[] add({number}, zero)"]
        del token
        self.text = "HloModule effects\n" + "".join(self.computations) + self.computation("ENTRY main", lines)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    @staticmethod
    def computation(name, lines):
        return name + " {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"

    def block(self, depth, number, token, lines):
        """Appends statements to `lines`; returns the number and the token after them, and the functions that execute them."""
        steps = []
        for _ in range(self.random.randint(1, 4)):
            kinds = [self.outfeed, self.infeed, self.add, self.in_place, self.double]
            if depth < DEEPEST:
                kinds += [self.loop, self.branch] * 2
            number, token, step = self.random.choice(kinds)(depth, number, token, lines)
            steps.append(step)

        def run(value, out, items):
            for step in steps:
                value = step(value, out, items)
            return value
        return number, token, run

    def outfeed(self, _, number, token, lines):
        after = self.name()
        lines.append(f"{after} = token[] outfeed({number}, {token})")
        return number, after, lambda value, out, items: (out.append(value), value)[1]

    def infeed(self, _, number, token, lines):
        item, data, after, total = self.name(), self.name(), self.name(), self.name()
        lines += [f"{item} = (s32[], token[]) infeed({token})", f"{data} = s32[] get-tuple-element({item}), index=0",
                  f"{after} = token[] get-tuple-element({item}), index=1", f"{total} = s32[] add({number}, {data})"]
        return total, after, lambda value, out, items: value + next(items)

    def add(self, _, number, token, lines):
        amount, constant, total = self.random.randint(-3, 3), self.name(), self.name()
        lines += [f"{constant} = s32[] constant({amount})", f"{total} = s32[] add({number}, {constant})"]
        return total, token, lambda value, out, items: value + amount

    def in_place(self, _, number, token, lines):
        result = self.name()
        lines.append(f"{result} = s32[] custom-call({number}), {IN_PLACE}")
        return result, token, lambda value, out, items: value + 1

    def double(self, _, number, token, lines):
        doubled, bound, result = self.name(), self.name(), self.name()
        lines += [f"{doubled} = s32[] custom-call({number}), custom_call_target=\"t_twice\"",
                  f"{bound} = s32[] constant(1000)", f"{result} = s32[] remainder({doubled}, {bound})"]

        def run(value, out, items):
            return abs(2 * value) % 1000 * (1 if value >= 0 else -1)
        return result, token, run

    def loop(self, depth, number, token, lines):
        name, trips, known = self.name(), self.random.randint(0, 4), self.random.random() < 0.5
        take = ["p = (s32[], s32[], token[]) parameter(0)", "left = s32[] get-tuple-element(p), index=0"]
        self.computations.append(self.computation(f"more.{name}", take + [
            "none = s32[] constant(0)", "ROOT any = pred[] compare(left, none), direction=GT"]))
        body = take + ["n = s32[] get-tuple-element(p), index=1", "k = token[] get-tuple-element(p), index=2",
                       "zero = s32[] constant(0)"]
        after, last, inner = self.block(depth + 1, "n", "k", body)
        self.computations.append(self.computation(f"body.{name}", body + [
            "step = s32[] constant(1)", "next = s32[] subtract(left, step)",
            f"ROOT state = (s32[], s32[], token[]) tuple(next, {after}, {last})"]))
        lines += [f"c.{name} = s32[] constant({trips})", f"u.{name} = s32[] add(c.{name}, zero)",
                  f"t.{name} = (s32[], s32[], token[]) tuple({'c' if known else 'u'}.{name}, {number}, {token})",
                  f"w.{name} = (s32[], s32[], token[]) while(t.{name}), condition=more.{name}, body=body.{name}",
                  f"n.{name} = s32[] get-tuple-element(w.{name}), index=1",
                  f"k.{name} = token[] get-tuple-element(w.{name}), index=2"]

        def run(value, out, items):
            for _ in range(trips):
                value = inner(value, out, items)
            return value
        return f"n.{name}", f"k.{name}", run

    def branch(self, depth, number, token, lines):
        name, bound, parts = self.name(), self.random.randint(-2, 12), []
        for part in ("yes", "no"):
            body = ["p = (s32[], token[]) parameter(0)", "n = s32[] get-tuple-element(p), index=0",
                    "k = token[] get-tuple-element(p), index=1", "zero = s32[] constant(0)"]
            after, last, inner = self.block(depth + 1, "n", "k", body)
            self.computations.append(self.computation(f"{part}.{name}", body + [
                f"ROOT state = (s32[], token[]) tuple({after}, {last})"]))
            parts.append(inner)
        lines += [f"b.{name} = s32[] constant({bound})", f"q.{name} = pred[] compare({number}, b.{name}), direction=LT",
                  f"t.{name} = (s32[], token[]) tuple({number}, {token})",
                  f"w.{name} = (s32[], token[]) conditional(q.{name}, t.{name}, t.{name}), "
                  f"true_computation=yes.{name}, false_computation=no.{name}",
                  f"n.{name} = s32[] get-tuple-element(w.{name}), index=0",
                  f"k.{name} = token[] get-tuple-element(w.{name}), index=1"]
        return (f"n.{name}", f"k.{name}",
                lambda value, out, items: parts[0 if value < bound else 1](value, out, items))


def number_array(value):
    return Array("s32", [], [value])


def signed(raw):
    return raw - (1 << 32) if raw >= 1 << 31 else raw


def check(seed, options, folder):
    """The reason why the program of this seed fails; empty if it does not."""
    program, out, used = Program(seed), [], []

    def items():
        while True:
            used.append(7 * len(used) % 5)
            yield used[-1]
    result = program.run(0, out, items())
    module = os.path.join(folder, f"effects{seed}.hlo")
    with open(module, "w") as file:
        file.write(program.text)
    write_npz(f"{folder}/in.npz", {"in0": number_array(0)})
    write_npz(f"{folder}/infeed.npz", {f"feed{i}": number_array(value) for i, value in enumerate(used)})
    done = subprocess.run([options.tool, module, f"--inputs={folder}/in.npz", f"--outputs={folder}/out.npz",
                           f"--infeed={folder}/infeed.npz", f"--outfeed={folder}/outfeed.npz",
                           f"--custom-calls={options.handlers}"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    feeds = read_npz(f"{folder}/outfeed.npz")
    actual = [signed(feeds[f"feed{i}"][2][0]) for i in range(len(feeds))]
    if actual != out:
        return f"feeds out {actual}, expected {out}"
    value = signed(read_npz(f"{folder}/out.npz")["out0"][2][0])
    return "" if value == result else f"gives {value}, expected {result}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--handlers", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--keep", help="folder that receives modules and arrays")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for seed in range(options.seed, options.seed + options.count):
            why = check(seed, options, folder)
            failed += bool(why)
            if why:
                print(f"seed {seed}: {why}")
    print(f"{options.count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
