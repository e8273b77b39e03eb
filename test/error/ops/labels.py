"""Checks that a test breaks every constraint of the verifier: each label `[op_cN]` that dialect/hlo can give.

  labels.py TEST_FOLDER...      all labels that occur in files of these folders count as tested

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


def tested(folders):
    found = set()
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "**", "*.*"), recursive=True):
            if path.endswith((".hlo", ".mlir", ".test", ".cpp")):
                found |= set(re.findall(r"\[(\w+_c\d+)\]", open(path, errors="replace").read()))
    for path in glob.glob(os.path.join(HERE, "*.test")):
        if "cases.py %s" in open(path).read():
            for case in read_table(path)[1]:
                found |= set(re.findall(r"\[(\w+_c\d+)\]", " ".join(case.expected)))
    return found


def main():
    expected, found = all_labels(), tested(sys.argv[1:])
    expected -= {f"{op}_{label}" for label, ops in UNREACHABLE.items() for op in ops.split()}
    missing = sorted(expected - found)
    for label in missing:
        print(f"[{label}] is in no test")
    print(f"{len(expected) - len(missing)} passed, {len(missing)} failed")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
