"""Writes golden/FAMILY.txt: the values that each cell must have, from XLA:CPU, or from what the operation means where
XLA:CPU refuses or is wrong. Run by hand, with a Python that has the packages jax and ml_dtypes:

  golden.py [--python=PYTHON] [--filter=REGEX] [FAMILY]...

A line is `ROW / TYPE / VARIANT = SOURCE VALUES...`, SOURCE one of

  xla      XLA:CPU's result
  wider    XLA:CPU's result on the same operation with 8-bit integers, cut to the narrow type
  meaning  the case's reference in Python

and VALUES the raw bits of an output in hexadecimal, element after element. Cells that nothing gives values for are
not listed: they must be refused.
"""
import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import threading

import table_rows
from cases import differences, hexadecimal
from inputs import element
from known import NOT_WIDER, XLA_IS_WRONG

FOLDER = os.path.dirname(os.path.abspath(__file__))


def on_xla(python, cells):
    """One answer a cell, {"outputs": ...} or {"error": ...}; what crashes XLA is an error."""
    answers = []
    while len(answers) < len(cells):
        todo = cells[len(answers):]
        process = subprocess.Popen([python, os.path.join(FOLDER, "xla_worker.py")], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        data = pickle.dumps([(c.module(), [a.raw for a in c.arguments]) for c in todo])

        def feed(process=process, data=data):
            try:
                process.stdin.write(data)
                process.stdin.close()
            except BrokenPipeError:
                pass
        threading.Thread(target=feed, daemon=True).start()
        began, before = False, len(answers)
        for line in process.stdout:
            if line.strip() == b".":
                began = True
                continue
            answers.append(json.loads(line))
            began = False
        process.wait()
        if began:
            answers.append({"error": f"crash {process.returncode}"})
        elif len(answers) == before:
            raise SystemExit("error: the worker does not start; see xla_worker.py")
    return answers


def cut(cell, outputs):
    """Raw outputs, cut to the widths of the cell's types."""
    return [[x & (1 << max(1, element(name).bits)) - 1 for x in bits]
            for (name, _), bits in zip(cell.outputs(), outputs)]


def matches(table, key):
    return next((why for pattern, why in table.items() if re.search(pattern, key)), None)


def sources(cells, python):
    """(cell, source, outputs) of every cell that has values."""
    answers = on_xla(python, cells)
    wider = [(i, cell.sibling()) for i, cell in enumerate(cells)]
    wider = [(i, sibling) for i, sibling in wider if sibling and not matches(NOT_WIDER, cells[i].key)]
    siblings = dict(zip([i for i, _ in wider], on_xla(python, [s for _, s in wider])))
    for i, (cell, answer) in enumerate(zip(cells, answers)):
        wrong = matches(XLA_IS_WRONG, cell.key)
        one_bit = re.search(r"\b[su]1\[", cell.module())  # XLA's own importer makes pred of these
        complete = "outputs" in answer and all(
            len(bits) == len_of(cell, n) for n, bits in enumerate(answer["outputs"]))
        reference = None
        if cell.reference:
            try:
                reference = cut(cell, cell.reference(*cell.arguments))
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                pass
        if complete and not one_bit and not wrong:
            outputs = cut(cell, answer["outputs"])
            if reference is not None and cell.check == "bits" and differences(cell, reference, outputs):
                print(f"{cell.key}: XLA:CPU differs from the reference: {differences(cell, outputs, reference)[:2]}")
            yield cell, "xla", outputs
        elif reference is not None:
            yield cell, "meaning", reference
        elif "outputs" in siblings.get(i, {}):
            yield cell, "wider", cut(cell, siblings[i]["outputs"])


def len_of(cell, number):
    name, dims = cell.outputs()[number]
    count = 1
    for d in dims:
        count *= d
    return count * (2 if name in ("c64", "c128") else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--filter", default="", help="only the cells that match; the others stay as they are")
    options = parser.parse_args()
    os.makedirs(os.path.join(FOLDER, "golden"), exist_ok=True)
    for family in options.families or table_rows.FAMILIES:
        path, known = os.path.join(FOLDER, "golden", f"{family}.txt"), {}
        if options.filter and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                known = dict(line.rstrip("\n").split(" = ", 1) for line in file)
        cells = table_rows.cells(family)
        asked = [cell for cell in cells if re.search(options.filter, cell.key)]
        for cell in asked:
            known.pop(cell.key, None)
        for cell, source, outputs in sources(asked, options.python):
            if cell.check == "shape":
                outputs = [[] for _ in outputs]
            values = " ".join(hexadecimal(name, bits) or "-" for (name, _), bits in zip(cell.outputs(), outputs))
            known[cell.key] = f"{source} {values}"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{cell.key} = {known[cell.key]}\n" for cell in cells if cell.key in known)
        print(family, len(known))


if __name__ == "__main__":
    main()
