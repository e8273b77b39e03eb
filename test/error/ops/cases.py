"""Runs tables of malformed instructions, and checks that every opcode has some.

  cases.py [--tool hlo-opt] [--update] TABLE...      each case gives its messages, at its place
  cases.py [--tool hlo-opt] --coverage TABLE...      errors per opcode; fails if an opcode has too few
  cases.py [--tool hlo-opt] --mutate [--update] TABLE...   systematic mistakes, made from the valid cases
  cases.py [--tool hlo-opt] --against-xla [--mutate] TABLE...   what we refuse and XLA takes, and the reverse

The last line reads 'N passed, N failed'. README.md has the form of a table.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPUTATIONS = os.path.join(HERE, "computations.txt")
OPEN, CLOSE = "([{", ")]}"
# Tests in the folder of the tables.
NO_TABLES = ("coverage.test", "labels.test")
# Error cases that every opcode has.
LEAST = 5


class Case:
    """One module: the instructions of its entry, and the messages that are expected (none: it is valid)."""

    def __init__(self, line, opcodes, opcode, header, text, computations):
        self.line, self.opcode, self.header = line, opcode, header
        # Whether other opcodes have the same cases, and whether this one comes first.
        self.shared, self.first = len(opcodes) > 1, opcode == opcodes[0]
        self.source = self.text = self.fill(text)
        self.valid = text.startswith("ok: ")
        # `stricter`: XLA takes it, and the README says why we do not.
        self.stricter = text.startswith("stricter: ")
        for prefix in ("ok: ", "stricter: "):
            self.text = self.text.removeprefix(prefix)
        self.expected = []
        self.computations = computations

    def fill(self, text):
        """Replaces the opcode's placeholder in a text that several opcodes share."""
        return text.replace("$label", self.opcode.replace("-", "_")).replace("$op", self.opcode)

    def empty(self, text):
        """The reverse of fill."""
        text = text.replace(f"[{self.opcode.replace('-', '_')}_c", "[$label_c")
        return re.sub(rf"(?<![\w-]){re.escape(self.opcode)}(?![\w-])", "$op", text)

    def module(self):
        """The module's text and the number of its last instruction's line."""
        statements = [s.strip() for s in split_top(self.text, ";")]
        parameters, body = [], []
        for statement in statements:
            body.append(declare_parameters(statement, parameters))
        last = body.pop()
        lines = ["HloModule m" + (", " + self.header if self.header else "")]
        for name in needed(self.computations, " ".join(body + [last])):
            lines += self.computations[name]
        lines.append("ENTRY e {")
        for i, (name, shape) in enumerate(parameters):
            lines.append(f"  {name} = {shape} parameter({i})")
        lines += ["  " + b for b in body]
        lines.append("  ROOT " + (last if re.match(r"\w[\w.-]* = ", last) else "r = " + last))
        lines.append("}")
        return "\n".join(lines) + "\n", len(lines) - 1


def split_top(text, separator):
    """Splits where no bracket or string is open."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        if quoted:
            continue
        depth += (c in OPEN) - (c in CLOSE)
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def declare_parameters(text, parameters):
    """Replaces each `SHAPE %name` by `name`, after noting that it is a parameter."""
    out, new = text, []
    # From the right, so that places to the left stay.
    for match in reversed(list(re.finditer(r" ?%(\w+)", text))):
        start = end = match.start()
        depth = 0
        while start > 0 and (depth or text[start - 1] not in " ,({"):
            depth += (text[start - 1] in CLOSE) - (text[start - 1] in OPEN)
            start -= 1
        if start < end:
            new.insert(0, (match.group(1), text[start:end]))
        blank = " " if start == end and match.group().startswith(" ") else ""
        out = out[:start] + blank + match.group(1) + out[match.end():]
    parameters += new
    return out


def needed(computations, text):
    """Names of the computations that a text refers to, callees first."""
    found, entered = [], set()

    def visit(text):
        for name in re.findall(r"(?:=\{?|[{,] ?)([A-Za-z_][\w.-]*)(?=[,}]|\s|$)", text):
            if name in computations and name not in entered:
                entered.add(name)
                visit("\n".join(computations[name][1:]))
                found.append(name)

    visit(text)
    return found


def read_computations(lines):
    table, name = {}, None
    for line in lines:
        match = re.match(r"([A-Za-z_][\w.-]*) .*\{$", line)
        if match:
            name = match.group(1)
            table[name] = []
        if name:
            table[name].append(line.rstrip("\n"))
        if line.startswith("}"):
            name = None
    return table


def read_table(path):
    shared = read_computations(open(COMPUTATIONS))
    lines = open(path).read().split("\n")
    own = read_computations(lines)
    shared.update(own)
    cases, opcodes, header, first, in_computation = [], [], "", 0, False
    for number, line in enumerate(lines, 1):
        if re.match(r"([A-Za-z_][\w.-]*) .*\{$", line) and line.split()[0] in own:
            in_computation = True
        if in_computation:
            in_computation = not line.startswith("}")
        elif line.startswith("== "):
            opcodes, header = line[3:].split(), ""
        elif line.startswith("header "):
            header = line[7:].strip()
        elif line.startswith("  ") and cases:
            for case in cases[first:]:
                case.expected.append(case.fill(line.strip()))
        elif line and not line.startswith("#"):
            cases += [Case(number, opcodes, opcode, header, line, shared) for opcode in opcodes]
            first = len(cases) - len(opcodes)
    return lines, cases


# What a run of the tool says about each module.
class Result:
    def __init__(self):
        self.errors = []  # (line, column, message)
        self.crash = None


def run_batch(tool, cases):
    """Runs the tool once for all modules; if it dies, once per module."""
    modules = [c.module() for c in cases]
    results = [Result() for _ in cases]
    starts, lines = [], 0
    for module, _ in modules:
        starts.append(lines)
        lines += module.count("\n") + 1
    text = "// -----\n".join(module for module, _ in modules)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.hlo")
        open(path, "w").write(text)
        r = subprocess.run([tool, "--hlo", "--split-input-file", "-o", "/dev/null", path], stderr=subprocess.PIPE,
                           text=True, errors="replace", timeout=600)
        if r.returncode in (0, 1):
            collect(r.stderr, starts, results)
            return results
        for module, result in zip(modules, results):
            open(path, "w").write(module[0])
            r = subprocess.run([tool, "--hlo", "--split-input-file", "-o", "/dev/null", path], stderr=subprocess.PIPE,
                               text=True, errors="replace", timeout=600)
            if r.returncode not in (0, 1):
                result.crash = f"status {r.returncode}: " + r.stderr[-300:]
            collect(r.stderr, [0], [result])
    return results


def collect(stderr, starts, results):
    by_start = {start: i for i, start in enumerate(starts)}
    for line in stderr.split("\n"):
        match = re.match(r"within split at [^:]*:(\d+) offset :(\d+):(\d+): error: (.*)", line)
        if match:
            start, at, column, message = match.groups()
            start = int(start)
            # Pieces are named by the line of the marker before them, the first by line 1.
            index = 0 if start == 1 else by_start[start]
            shift = 0 if index == 0 else 1
            results[index].errors.append((int(at) - shift, int(column), message))
        elif re.match(r".*error: ", line):
            for result in results[:1]:
                result.errors.append((0, 0, line))


def describe(case, result):
    """A result's messages in the form of a table, with `@N` for a message N lines before the last instruction."""
    _, last = case.module()
    described = []
    for line, _, message in result.errors:
        described.append(message if line == last else f"@{last - line} {message}")
    return described


def check(case, result):
    if result.crash:
        return result.crash
    got = describe(case, result)
    if any(line < 1 or column < 1 for line, column, _ in result.errors):
        return "an error has no place: " + str(got)
    if case.valid:
        return None if not got else "is valid, but: " + "; ".join(got)
    if not got:
        return "is accepted"
    if not case.expected:
        return "the table has no message; got: " + "; ".join(got)
    missing = [e for e in case.expected if e not in got]
    return None if not missing else f"lacks '{missing[0]}'; got: " + "; ".join(got)


def opcodes_of_the_compiler():
    path = os.path.join(HERE, "..", "..", "..", "compiler", "parser", "Opcodes.cpp")
    return re.findall(r'^    \{"([a-z0-9-]+)", -?\w+, ', open(path).read(), re.M)


def update_table(path, lines, cases, described):
    """Writes the tool's current messages below each case. Review them before committing."""
    heads = {}
    for case, texts in zip(cases, described):
        heads.setdefault(case.line, (case, texts))
    out = []
    for number, line in enumerate(lines, 1):
        if line.startswith("  ") and out and not any(l <= number <= e for l, e in ranges(lines)):
            continue
        out.append(line)
        if number in heads:
            case, texts = heads[number]
            for text in dict.fromkeys(texts):
                out.append("  " + (case.empty(text) if case.shared else text))
    open(path, "w").write("\n".join(out))


def ranges(lines):
    """The line ranges of the computations that a table defines."""
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if re.match(r"([A-Za-z_][\w.-]*) .*\{$", line) and start is None:
            start = number
        if start and line.startswith("}"):
            found.append((start, number))
            start = None
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="hlo-opt")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--mutate", action="store_true")
    parser.add_argument("--against-xla", action="store_true")
    parser.add_argument("--opcode", default="")
    parser.add_argument("tables", nargs="+")
    args = parser.parse_args()
    args.tables = [t for t in args.tables if os.path.basename(t) not in NO_TABLES]

    passed = failed = 0
    counts = {}
    for path in args.tables:
        lines, cases = read_table(path)
        if args.mutate:
            import mutate
            cases = mutate.mutants(cases)
        if args.opcode:
            cases = [c for c in cases if c.opcode == args.opcode]
        if args.coverage:
            for case in cases:
                counts[case.opcode] = counts.get(case.opcode, 0) + (not case.valid)
            continue
        results = run_batch(args.tool, cases)
        if args.against_xla:
            import against_xla
            failed += against_xla.compare(cases, results)
            continue
        if args.update and args.mutate:
            mutate.list_accepted(cases, results)
        elif args.update:
            update_table(path, lines, cases, [[] if c.valid else describe(c, r) for c, r in zip(cases, results)])
        for case, result in zip(cases, results):
            if args.mutate:
                problem = mutate.check(case, result)
            else:
                problem = check(case, result)
            if problem and not (args.update and not result.crash and not case.valid):
                failed += 1
                print(f"{os.path.relpath(path)}:{case.line}: {case.source}\n    {problem}")
            else:
                passed += 1
    if args.coverage:
        for opcode in opcodes_of_the_compiler():
            print(f"{opcode:28} {counts.get(opcode, 0)}")
            enough = counts.get(opcode, 0) >= LEAST
            passed, failed = passed + enough, failed + (not enough)
            if not enough:
                print(f"{opcode}: has {counts.get(opcode, 0)} error cases, expected at least {LEAST}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
