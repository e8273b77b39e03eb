"""Random programs with collectives that begin and end apart, against the same programs with them at once.

  pairs.py [--replicas=4] [--programs=20] [--seed=1] [--tool=hlo-run] [--keep=FOLDER]

A program has pairs of -start and -done, several under way at once, with dots, element-wise ops, reductions and other
collectives in between, in the entry and in the body of a loop. The other program has each collective in place of its
-done. Elements are s32, so the results of both must be equal, on each rank. The last line reads 'N passed, N failed'.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from values import Array, read_npz, write_npz  # noqa: E402

ROWS = 24  # can be split by every number of ranks up to 4, and by 6, 8 and 12


class Block:
    """A sequence of instructions in two versions: with pairs, and with each collective at once."""

    def __init__(self, module, prefix, values):
        self.module, self.random, self.prefix = module, module.random, prefix
        self.values = list(values)  # names of s32[ROWS,8] that both versions have
        self.pairs, self.once, self.open, self.count = [], [], [], 0

    def name(self):
        self.count += 1
        return f"{self.prefix}{self.count}"

    def both(self, text):
        self.pairs.append(text)
        self.once.append(text)

    def value(self):
        return self.random.choice(self.values[-6:])

    def compute(self):
        r, n, x, y = self.random, self.name(), self.value(), self.value()
        kind = r.randrange(5)
        if kind == 0:
            self.both(f"{n} = s32[{ROWS},8] {r.choice(['add', 'subtract', 'multiply', 'xor'])}({x}, {y})")
        elif kind == 1:
            self.both(f"{n}t = s32[8,8] dot({x}, {y}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}")
            self.both(f"{n} = s32[{ROWS},8] dot({x}, {n}t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
        elif kind == 2:
            self.both(f"{n}z = s32[] constant(0)")
            self.both(f"{n}s = s32[8] reduce({x}, {n}z), dimensions={{0}}, to_apply=add")
            self.both(f"{n}b = s32[{ROWS},8] broadcast({n}s), dimensions={{1}}")
            self.both(f"{n} = s32[{ROWS},8] add({n}b, {y})")
        elif kind == 3:
            self.both(f"{n} = s32[{ROWS},8] reverse({x}), dimensions={{{r.randrange(2)}}}")
        else:
            self.both(f"{n}i = s32[] constant({r.randrange(ROWS - 3)})")
            self.both(f"{n}j = s32[] constant({r.randrange(4)})")
            self.both(f"{n}u = s32[4,4] slice({y}), slice={{[2:6], [1:5]}}")
            self.both(f"{n} = s32[{ROWS},8] dynamic-update-slice({x}, {n}u, {n}i, {n}j)")
        self.values.append(n)

    def collective(self, x):
        """(opcode, operands, attributes, result type, function from the result's name to the lines that use it)."""
        r, n = self.random, self.module.ranks
        groups, size = r.choice([("{}", n), ("{%s}" % ",".join("{%d}" % i for i in range(n)), 1)] + (
            [(f"[{n // 2},2]<=[{n}]", 2)] if n % 2 == 0 else []))
        if groups == "{}":
            groups = "{{%s}}" % ",".join(map(str, range(n)))
        whole = f"s32[{ROWS},8]"
        kind = r.choice(["all-reduce", "all-reduce", "all-gather", "collective-permute", "reduce-scatter", "all-to-all",
                         "collective-broadcast"])
        if kind == "all-reduce":
            return kind, f"replica_groups={groups}, to_apply={r.choice(['add', 'steep'])}", whole, lambda y: []
        if kind == "all-gather":
            return kind, f"replica_groups={groups}, dimensions={{0}}", f"s32[{ROWS * size},8]", lambda y: [
                f"{y}w = {whole} slice({y}v), slice={{[{ROWS * size - ROWS}:{ROWS * size}], [0:8]}}"]
        if kind == "collective-permute":
            shift = r.randrange(n)
            pairs = ",".join("{%d,%d}" % (i, (i + shift) % n) for i in range(n) if r.random() < 0.8)
            return kind, f"source_target_pairs={{{pairs}}}", whole, lambda y: []
        if kind == "reduce-scatter":
            return kind, f"replica_groups={groups}, dimensions={{0}}, to_apply=steep", f"s32[{ROWS // size},8]", lambda y: [
                f"{y}c = {whole} concatenate({', '.join([f'{y}v'] * size)}), dimensions={{0}}"]
        if kind == "all-to-all":
            return kind, f"replica_groups={groups}, dimensions={{0}}", whole, lambda y: []
        return kind, f"replica_groups={groups}", whole, lambda y: []

    def begin(self):
        x, n, whole = self.value(), self.name(), f"s32[{ROWS},8]"
        kind, attributes, result, rest = self.collective(x)
        lines = rest(n)
        once = f"{n}v = {result} {kind}({x}), {attributes}"
        if kind == "all-reduce":
            start = f"{n}s = {result} {kind}-start({x}), {attributes}"
        elif kind in ("all-gather", "collective-permute"):
            start = f"{n}s = ({whole}, {result}) {kind}-start({x}), {attributes}"
        elif self.random.random() < 0.5:
            start = f"{n}s = (({whole}), {result}) {kind}-start({x}), {attributes}"
        else:
            f = f"wrapped_{n}"
            self.module.computations.append(
                f"{f} {{\n  p = {whole} parameter(0)\n  ROOT r = {result} {kind}(p), {attributes}\n}}\n")
            start = f"{n}s = (({whole}), {result}) async-start({x}), calls={f}"
            kind = "async"
        final = lines[-1].split(" = ")[0] if lines else f"{n}v"
        self.pairs.append(start)
        self.open.append((n, once, f"{n}v = {result} {kind}-done({n}s)", lines, final))

    def end(self):
        _, once, done, lines, final = self.open.pop(self.random.randrange(len(self.open)))
        self.pairs.append(done)
        self.once.append(once)
        for line in lines:
            self.both(line)
        self.values.append(final)

    def at_once(self):
        n, x = self.name(), self.value()
        kind, attributes, result, rest = self.collective(x)
        self.both(f"{n}v = {result} {kind}({x}), {attributes}")
        lines = rest(n)
        for line in lines:
            self.both(line)
        self.values.append(lines[-1].split(" = ")[0] if lines else f"{n}v")

    def fill(self, steps):
        for _ in range(steps):
            action = self.random.random()
            if action < 0.3 and len(self.open) < 4:
                self.begin()
            elif action < 0.5 and self.open:
                self.end()
            elif action < 0.58:
                self.at_once()
            else:
                self.compute()
        while self.open:
            self.end()


class Module:
    def __init__(self, ranks, seed):
        self.ranks, self.random, self.computations = ranks, random.Random(seed), []
        whole = f"s32[{ROWS},8]"
        r = self.random
        loop = Block(self, "l", ["la", "lb"])
        loop.fill(r.randint(4, 12))
        entry = Block(self, "e", ["x0", "x1", "x2"])
        entry.fill(r.randint(3, 10))
        entry.both(f"zero = s32[] constant(0)")
        entry.both(f"init = (s32[], {whole}, {whole}) tuple(zero, {entry.value()}, {entry.value()})")
        entry.both(f"loop = (s32[], {whole}, {whole}) while(init), condition=condition, body=body")
        entry.both(f"w1 = {whole} get-tuple-element(loop), index=1")
        entry.both(f"w2 = {whole} get-tuple-element(loop), index=2")
        entry.values += ["w1", "w2"]
        entry.fill(r.randint(3, 10))
        a, b = loop.values[-1], loop.value()
        results = [entry.values[-1], entry.value(), "w2"]
        trips = r.randint(1, 5)
        self.texts = []
        for lines, loop_lines in ((entry.pairs, loop.pairs), (entry.once, loop.once)):
            body = "\n".join(f"  {line}" for line in loop_lines)
            main = "\n".join(f"  {line}" for line in lines)
            self.texts.append(f"""HloModule pairs, replica_count={ranks}

add {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}}
steep {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  three = s32[] constant(3)
  c = s32[] multiply(a, three)
  ROOT r = s32[] add(c, b)
}}
{"".join(self.computations)}condition {{
  p = (s32[], {whole}, {whole}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({trips})
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  p = (s32[], {whole}, {whole}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  la = {whole} get-tuple-element(p), index=1
  lb = {whole} get-tuple-element(p), index=2
{body}
  ROOT r = (s32[], {whole}, {whole}) tuple(next, {a}, {b})
}}
ENTRY main {{
  x0 = {whole} parameter(0)
  x1 = {whole} parameter(1)
  x2 = {whole} parameter(2)
{main}
  ROOT r = ({whole}, {whole}, {whole}) tuple({', '.join(results)})
}}
""")


def run(options, folder, number):
    module = Module(options.replicas, options.seed * 1000003 + number)
    values = random.Random(number)
    for rank in range(options.replicas):
        write_npz(os.path.join(folder, f"in.r{rank}.npz"), {
            f"in{i}": Array("s32", (ROWS, 8), [values.randrange(-9, 9) for _ in range(ROWS * 8)]) for i in range(3)})
    results = []
    for version, text in zip(("pairs", "once"), module.texts):
        path = os.path.join(folder, f"{version}.hlo")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([options.tool, path, f"--replicas={options.replicas}", f"--inputs={folder}/in.r%r.npz",
                               f"--outputs={folder}/{version}.r%r.npz", *options.flags], capture_output=True, text=True,
                              timeout=120)
        if done.returncode != 0:
            return f"{version}: exit code {done.returncode}\n{done.stderr[:1000]}"
        results.append([{name: list(array[2]) for name, array in
                         read_npz(os.path.join(folder, f"{version}.r{rank}.npz")).items()}
                        for rank in range(options.replicas)])
    for rank, (got, wanted) in enumerate(zip(*results)):
        for name in wanted:
            if got[name] != wanted[name]:
                return f"rank {rank}: {name} differs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--keep")
    parser.add_argument("flags", nargs="*", help="further flags of the tool")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = options.keep
            os.makedirs(folder, exist_ok=True)
        for number in range(options.programs):
            problem = run(options, folder, number)
            passed, failed = passed + (problem is None), failed + (problem is not None)
            if problem:
                print(f"program {number} of seed {options.seed}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
