"""Runs every cell of the table of opcodes and element types, and checks the page that is made from it.

  run.py [--tool=hlo-run] [--jobs=N] [--family=NAME] [--filter=REGEX] [--page=FILE [--write]] [--keep=FOLDER]

A cell that golden/ has values for must give them; any other one must be refused with an error that has a place, or is
shown as computed without a check. The page is made from these runs alone; with --page it must equal FILE, or is
written there with --write. The last line reads `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import sys
import tempfile

import page
import table_rows
from cases import differences, from_hexadecimal
from runner import Runner

FOLDER = os.path.dirname(os.path.abspath(__file__))
BATCH = 40


def golden(family):
    """Cell's name -> (source, values of the outputs as text)."""
    values = {}
    with open(os.path.join(FOLDER, "golden", f"{family}.txt"), encoding="utf-8") as file:
        for line in file:
            key, _, rest = line.rstrip("\n").partition(" = ")
            source, *outputs = rest.split(" ")
            values[key] = (source, outputs)
    return values


def judge(cell, answer, known):
    """The cell's state on the page, and a list of errors (usually empty)."""
    if cell.key in known:
        source, texts = known[cell.key]
        if isinstance(answer, str):
            return "refused", [f"must be computed, but: {answer[:600]}"]
        if cell.check == "shape":
            return source, []
        expected = [from_hexadecimal(name, "" if text == "-" else text)
                    for (name, _), text in zip(cell.outputs(), texts, strict=True)]
        return source, differences(cell, answer, expected)
    if not isinstance(answer, str):
        return "unchecked", []
    located = re.search(r"\.hlo:\d+(:\d+)?: error: ", answer) and "internal error" not in answer
    return "refused", [] if located else [f"refused without a proper error: {answer[:600]}"]


def run_batch(options, folder, cells, known):
    runner = Runner(shlex.split(options.tool), folder)
    expected = cells[0].key in known
    answers = runner.run(cells) if expected else runner.run_refused(cells)
    return [(cell, *judge(cell, answer, known)) for cell, answer in zip(cells, answers, strict=True)]


def batches(cells, known):
    """Cells that give values, some dozens at a time; those that must be refused, some hundreds."""
    computed = [cell for cell in cells if cell.key in known]
    refused = [cell for cell in cells if cell.key not in known]
    for i in range(0, len(computed), BATCH):
        yield computed[i:i + BATCH]
    for i in range(0, len(refused), 400):
        yield refused[i:i + 400]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--family", action="append", choices=list(table_rows.FAMILIES))
    parser.add_argument("--filter", default="")
    parser.add_argument("--page")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", help="folder that receives modules and arrays")
    options = parser.parse_args()
    work, known, results = [], {}, []
    for family in options.family or table_rows.FAMILIES:
        known.update(golden(family))
        cells = [cell for cell in table_rows.cells(family) if re.search(options.filter, cell.key)]
        work += batches(cells, known)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or folder
        os.makedirs(folder, exist_ok=True)
        for result in pool.map(lambda cells: run_batch(options, folder, cells, known), work):
            results += result
    failed = 0
    for cell, _, problems in results:
        if problems:
            failed += 1
            print(f"{cell.key}: " + "\n  ".join(problems[:6] + ([f"{len(problems)} in all"] if len(problems) > 6 else [])))
    passed = len(results) - failed
    if not options.family and not options.filter:
        absent = page.missing(results, os.path.join(FOLDER, "..", "..", "compiler", "parser", "Opcodes.cpp"))
        if absent:
            print("opcodes without a cell: " + ", ".join(absent))
        passed, failed = passed + (not absent), failed + bool(absent)
    if options.page:
        text = page.render(results)
        if options.write:
            with open(options.page, "w", encoding="utf-8") as file:
                file.write(text)
        same = os.path.exists(options.page) and open(options.page, encoding="utf-8").read() == text
        if not same:
            print(f"{options.page}: not what these runs give; write it with --write")
        passed, failed = passed + same, failed + (not same)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


if __name__ == "__main__":
    main()
