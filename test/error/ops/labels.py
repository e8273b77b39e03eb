"""Checks that a test breaks every constraint of the verifier: each label `[op_cN]` that dialect/hlo can give.

  labels.py TEST_FOLDER...      all labels that occur in files of these folders count as tested
  labels.py --write FILE TEST_FOLDER...   writes what `hlo-compile --explain` says of each label
  labels.py --check FILE TEST_FOLDER...   fails if FILE lacks a label, too

A rule's labels are the strings "cN" in its function and in the functions of its file that it calls; the tables at the
end of the files say which opcodes have which rule. Labels that all opcodes share (c0) are not asked for. The last line reads 'N passed, N failed'.
"""
import glob
import os
import re
import sys

from cases import HERE, read_table

DIALECT = os.path.join(HERE, "..", "..", "..", "dialect", "hlo")
SHARED = {"c0"}
# Labels in a function that several opcodes share, but which these opcodes never reach.
UNREACHABLE = {
    # Only `complex` has parts.
    "c4": "add and atan2 divide maximum minimum mulhi multiply or power remainder shift_left shift_right_arithmetic "
          "shift_right_logical subtract xor",
    # They take every element type.
    "c1": "add maximum minimum multiply",
    # Only a reduce-scatter has a computation; a start is never flattened.
    "c3": "all_gather all_gather_start collective_permute_start",
}


def functions(text):
    """Name -> body of each function of a file."""
    found = {}
    for match in re.finditer(r"^(?:static )?[\w:<>,\s*&]+?\b(\w+)\((?:[^;{}()]|\([^)]*\))*\)\s*\{$(.*?)^\}$", text, re.M | re.S):
        found[match.group(1)] = match.group(2)
    return found


def labels_of(name, bodies, seen=None):
    seen = seen if seen is not None else set()
    if name in seen or name not in bodies:
        return set()
    seen.add(name)
    labels = set(re.findall(r'"(c\d+)"', bodies[name]))
    for called in re.findall(r"\b(\w+)\(", bodies[name]):
        labels |= labels_of(called, bodies, seen)
    return labels


def rules(text):
    """Opcode -> the name of its rule."""
    found = {}
    for cases, rule in re.findall(r'\.Cases?\(\{?((?:"hlo\.\w+",?\s*)+)\}?,?\s*(\w+)\)', text):
        for op in re.findall(r'"hlo\.(\w+)"', cases):
            found[op] = rule
    return found


def all_labels():
    expected = set()
    for path in sorted(glob.glob(os.path.join(DIALECT, "Infer*.cpp"))):
        text = open(path).read()
        bodies, table = functions(text), rules(text)
        if "unaryKinds" in bodies:
            table.update({op: "unary" for op in re.findall(r'"hlo\.(\w+)"', bodies["unaryKinds"])})
            table.update({op: "binary" for op in re.findall(r'"hlo\.(\w+)"', bodies["binaryKinds"])})
        for op, rule in table.items():
            expected |= {f"{op}_{label}" for label in labels_of(rule, bodies) - SHARED}
    for path in glob.glob(os.path.join(DIALECT, "Verify*.cpp")):
        expected |= set(re.findall(r"\[(module_c\d+)\]", open(path).read()))
    return expected


LABELLED = re.compile(r"(?:^|\{\{)(.*) \[(\w+_c\d+)\]")


def tested(folders):
    """Label -> the shortest message that tests expect with it, and the instruction that gives it, if it is in a table."""
    found = {}

    def add(message, text):
        match = LABELLED.search(message)
        if match:
            message = match.group(1).strip(' "')
            label, entry = match.group(2), (text == "", len(text) + len(message), message, text)
            found[label] = min(found.get(label, entry), entry)

    for folder in folders:
        for path in glob.glob(os.path.join(folder, "**", "*.*"), recursive=True):
            if path.endswith((".hlo", ".mlir", ".test", ".cpp")) and os.path.dirname(path) != HERE:
                for line in open(path, errors="replace"):
                    # Drop the text before the message: a place, or FileCheck's or a unit test's own marks.
                    add(re.sub(r"^.*(?:error: |\{\{)", "", line.rstrip()), "")
    for path in glob.glob(os.path.join(HERE, "*.test")):
        if "cases.py %s" in open(path).read():
            for case in read_table(path)[1]:
                for message in case.expected:
                    text = case.text.replace("%", "")
                    if case.header:
                        text = f"HloModule m, {case.header}; " + text
                    add(re.sub(r"^@-?\d+ ", "", message), text)
    return found


def valid_cases():
    """Opcode -> its first valid case."""
    found = {}
    for path in glob.glob(os.path.join(HERE, "*.test")):
        if "cases.py %s" in open(path).read() and not path.endswith("attributes.test"):
            for case in read_table(path)[1]:
                if case.valid:
                    found.setdefault(case.opcode.replace("-", "_"), case.text.replace("%", ""))
    return found


def explain(found):
    """Per opcode a valid instruction, if there is one, then per label the message and the instruction that gives it."""
    valid, lines, last = valid_cases(), [], None
    for label in sorted(found, key=lambda l: (l.rsplit("_c", 1)[0], int(l.rsplit("_c", 1)[1]))):
        _, _, message, text = found[label]
        opcode = label.rsplit("_c", 1)[0]
        if opcode != last:
            lines.append("== " + valid.get(opcode, ""))
            last = opcode
        lines += [label, "  " + message]
        if text:
            lines.append("  " + text)
    return "\n".join(lines) + "\n"


def main():
    arguments, write, page = sys.argv[1:], False, None
    if arguments[0] in ("--write", "--check"):
        write, page, arguments = arguments[0] == "--write", arguments[1], arguments[2:]
    expected, found = all_labels(), tested(arguments)
    expected -= {f"{op}_{label}" for label, ops in UNREACHABLE.items() for op in ops.split()}
    missing = sorted(expected - set(found))
    for label in missing:
        print(f"[{label}] is in no test")
    if write:
        with open(page, "w") as file:
            file.write(explain(found))
    elif page:
        lost = sorted(expected - set(re.findall(r"^(\w+)$", open(page).read(), re.M)))
        for label in lost:
            print(f"[{label}] is not in {page}; labels.py --write puts it there")
        missing += lost
    print(f"{len(expected) - len(missing)} passed, {len(missing)} failed")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
