"""Runs tables of instructions against what the compiler makes of them.

  lower.py [--tool hlo-opt] [--update] TABLE...     each case gives its lines
  lower.py --coverage TABLE...                      fails if an opcode has no case

A table has the form of test/error/ops; the lines of a case are

  canonical: opcodes of the entry after canonicalization, those of called computations in braces; left out if it is
             the instruction as written
  kernels: what is left after fusion: strategy[opcodes of the kernel], or an op that is no kernel
  emits: float and integer arithmetic in the kernels' functions, if it is little

The last line reads 'N passed, N failed'.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "error", "ops"))
from cases import NO_TABLES, opcodes_of_the_compiler, read_table, update_table  # noqa: E402

PHASES = {
    "canonical": ["--phase-canonicalize"],
    "kernels": ["--phase-canonicalize", "--phase-layout", "--phase-fuse"],
    "emits": ["--phase-canonicalize", "--phase-layout", "--phase-fuse", "--emit-kernels", "--cpu=x86-64-v3"],
}
# More instructions than these are not listed, or each opcode once.
FEW, MANY = 6, 12
SEPARATOR = "// -----\n"


def run(tool, flags, modules):
    """The output for each module; None where there is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.hlo")
        open(path, "w").write(SEPARATOR.join(modules))
        r = subprocess.run([tool, "--hlo", "--split-input-file", *flags, path], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=600)
        pieces = r.stdout.split(SEPARATOR)
        if len(pieces) == len(modules):
            return [(p if p.strip() else None) for p in pieces], r.stderr
        if len(modules) == 1:
            return [None], r.stderr
    half = len(modules) // 2
    left, first = run(tool, flags, modules[:half])
    right, second = run(tool, flags, modules[half:])
    return left + right, first + second


def computations(text):
    """Name -> lines of its body."""
    found, name = {}, None
    for line in text.split("\n"):
        match = re.match(r"  hlo\.computation @([\w.\"-]+)\(", line)
        if match:
            name = match.group(1)
            found[name] = []
        elif line == "  }":
            name = None
        elif name:
            found[name].append(line)
    return found


def op_of(line):
    match = re.match(r"\s*(?:%[\w:]+ = )?hlo\.(\w+)", line)
    name = match.group(1).replace("_", "-") if match else None
    return None if name == "return" else name


def list_ops(lines, table):
    """Opcodes in order, each with the ops of the computations that it names."""
    ops = []
    for line in lines:
        name = op_of(line)
        if name:
            called = [list_ops(table[c], table) for c in re.findall(r"@([\w.-]+)", line) if c in table]
            ops.append(name + ("{" + " | ".join(called) + "}" if called else ""))
    return " ".join(ops)


def entry_of(text, table):
    match = re.search(r"hlo\.computation @([\w.-]+)\(.*attributes \{.*entry", text)
    return table[match.group(1)]


def canonical(text):
    table = computations(text)
    ops = list_ops(entry_of(text, table), table)
    return ops if ops.count(" ") < MANY else "each of " + " ".join(dict.fromkeys(re.findall(r"[\w-]+", ops)))


def kernels(text):
    """Strategies with their ops; other ops by name."""
    table = computations(text)
    result, inside = [], None
    for line in entry_of(text, table):
        name = op_of(line)
        strategy = re.match(r'\s*\} \{.*strategy = "([\w-]+)"', line)
        if strategy:
            ops = list_ops(inside, table)
            result.append(f"{strategy.group(1)}[{ops if ops.count(' ') < MANY else '...'}]")
            inside = None
        elif inside is not None:
            inside.append(line)
        elif name == "fusion":
            inside = []
        elif name:
            result.append(name)
    return " ".join(result)


def emits(text):
    """Arithmetic on elements, not that on indices."""
    found = []
    for op, rest in re.findall(r"((?:arith|math|llvm\.intr)\.[\w.]+) (.*)", text):
        kind = rest.rsplit(":", 1)[-1].strip()
        element = re.sub(r"vector<(?:\d+x)*(\w+)>", r"\1", kind.split(" to ")[-1])
        if op in ("arith.constant", "arith.select") or element in ("index", "i64", "i1") or "masked" in op:
            continue
        if op not in found:
            found.append(op)
    return " ".join(found) if 0 < len(found) <= FEW else ""


def describe(tool, cases):
    """The lines of each case."""
    texts = [case.module()[0] for case in cases]
    outputs = {name: run(tool, flags, texts) for name, flags in PHASES.items()}
    described = []
    for i, case in enumerate(cases):
        lines = []
        for name, summary in (("canonical", canonical), ("kernels", kernels), ("emits", emits)):
            text = outputs[name][0][i]
            if text is None:
                lines.append(f"{name}: none")
                break
            value = summary(text) or ("" if name == "emits" else "nothing")
            if value and not (name == "canonical" and value == case.opcode):
                lines.append(f"{name}: {value}")
        described.append(lines)
    return described


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="hlo-opt")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("tables", nargs="+")
    args = parser.parse_args()
    args.tables = [t for t in args.tables if os.path.basename(t) not in NO_TABLES]
    passed = failed = 0
    seen = set()
    for path in args.tables:
        lines, cases = read_table(path)
        seen.update(case.opcode for case in cases)
        if args.coverage:
            continue
        described = describe(args.tool, cases)
        if args.update:
            update_table(path, lines, cases, described)
            continue
        for case, got in zip(cases, described):
            if got == case.expected:
                passed += 1
            else:
                failed += 1
                print(f"{os.path.relpath(path)}:{case.line}: {case.text}\n    expected {case.expected}\n    got      {got}")
    if args.coverage:
        for opcode in opcodes_of_the_compiler():
            passed, failed = (passed + 1, failed) if opcode in seen else (passed, failed + 1)
            if opcode not in seen:
                print(f"{opcode}: has no case")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
