"""The page of all operations and element types, from the results of `run.py`."""
import re

from inputs import TYPES

SHORT = {
    "f8e5m2": "e5m2", "f8e4m3": "e4m3", "f8e4m3fn": "e4fn", "f8e4m3b11fnuz": "b11", "f8e5m2fnuz": "e5nz",
    "f8e4m3fnuz": "e4nz", "f8e3m4": "e3m4", "f8e8m0fnu": "e8m0", "f4e2m1fn": "f4", "token": "tok",
}
# Of a cell's variants, the first of these states is shown.
STATES = ["wrong", "xla", "wider", "meaning", "unchecked", "refused"]
SIGNS = {"wrong": "!", "unchecked": "o", "meaning": "+", "wider": "+", "xla": "x", "refused": "."}
LEGEND = """Operations and element types: what was run, and what came of it

  x  computed; the results are XLA:CPU's (in some variants, those that the operation's meaning gives)
  +  computed; the results are those that the operation's meaning gives (XLA:CPU refuses, or is wrong)
  o  computed; there is nothing to compare the results with
  .  refused with an error, as by XLA:CPU
  !  wrong

A row is an opcode, with what is particular; a column is the element type of its first operand, or of its result if it has none.
e5m2 e4m3 e4fn b11 e5nz e4nz e3m4 e8m0 f4 stand for f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4
f8e8m0fnu f4e2m1fn. A cell stands for all its variants: ranks, layouts, empty arrays, attributes.
X-done is run with X-start. infeed, outfeed, send and recv need a host beside the program and are not run here.
This page is written by test/optable/run.py from the cells it ran; the tests compare it with a new run.
"""


# Opcodes that have no row of their own, and where they are run instead.
ELSEWHERE = {
    "all-gather-done": "all-gather-start", "all-reduce-done": "all-reduce-start", "async-done": "async-start",
    "async-update": "async-start", "collective-permute-done": "collective-permute-start", "copy-done": "copy-start",
    "infeed": "", "outfeed": "", "send": "", "send-done": "", "recv": "", "recv-done": "",
}


def missing(results, parser_table):
    """Opcodes of the parser's table that neither the results nor ELSEWHERE have."""
    with open(parser_table, encoding="utf-8") as file:
        table = file.read().partition("OpcodeInfo opcodes[] = {")[2]
    opcodes = re.findall(r'^    \{"([a-z0-9-]+)"', table, re.MULTILINE)
    rows = {word for case, _, _ in results for word in (case.row.split()[0], case.root.partition("(")[0])}
    return [opcode for opcode in opcodes if opcode not in rows and opcode not in ELSEWHERE] or ([] if opcodes else ["all"])


def render(results):
    """`results`: (case, state, problems) of every cell that was run."""
    table, counts = {}, dict.fromkeys(STATES, 0)
    for case, state, problems in results:
        state = "wrong" if problems else state
        counts[state] += 1
        row = table.setdefault(case.row, {})
        row[case.type] = min(row.get(case.type, "refused"), state, key=STATES.index)
    width = max(map(len, table))
    columns = [name for name in TYPES if any(name in row for row in table.values())]
    meaning = counts["wider"] + counts["meaning"]
    lines = [LEGEND, f"{sum(counts.values())} cells were run: {counts['xla']} as XLA:CPU, {meaning} by their meaning, "
             f"{counts['unchecked']} unchecked, {counts['refused']} refused, {counts['wrong']} wrong.\n"]
    header = " " * width + "".join(f"{SHORT.get(name, name):>5}" for name in columns)
    for number, (name, row) in enumerate(sorted(table.items(), key=lambda item: natural(item[0]))):
        if number % 40 == 0:
            lines.append(header)
        lines.append(f"{name:<{width}}" + "".join(f"{SIGNS.get(row.get(c), ' '):>5}" for c in columns).rstrip())
    return "\n".join(line.rstrip() for line in lines) + "\n"


def natural(name):
    """Opcodes by name; the types within one in the table's order."""
    words = name.split()
    return [(TYPES.index(word), "") if word in TYPES else (-1, word) for word in words]
