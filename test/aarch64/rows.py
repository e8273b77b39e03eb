"""Compares the rows of compiler/machine/aarch64/Cpus.cpp that say `llvm` with llvm-mca's figures for these cores.

  rows.py CPUS.cpp

A rate must be llvm-mca's, rounded as the row has it; chains must not be slower than llvm-mca's. The last line reads
`N passed, N failed`.
"""
import re
import subprocess
import sys

INSTRUCTIONS = {
    "fma": "fmla v0.4s, v1.4s, v2.4s", "load": "ldr q0, [x0]", "store": "str q0, [x1]", "shuffle": "zip1 v0.4s, v1.4s, v2.4s",
    "integer": "add x0, x1, x2", "widen": "sxtl v0.8h, v1.8b", "multiplyAdd": "mla v0.4s, v1.4s, v2.4s",
    "dot": "sdot v0.4s, v1.16b, v2.16b", "matrix": "smmla v0.4s, v1.16b, v2.16b",
}
NUMBER = r"([\d.]+)"
ROW = re.compile(r'\{"([\w-]+)",\s*\{' + r",\s*".join([NUMBER] * 5) + r"\},\s*" + r",\s*".join([NUMBER] * 5) + r",.*// llvm$", re.M)
# Arm's guides say 2, at which late forwarding of the addend runs a chain; LLVM's models of these lack it.
NO_FORWARDING = {"neoverse-n1", "neoverse-n2", "cortex-a710", "cortex-a715", "cortex-a720"}


def mca(cpu, text):
    command = ["llvm-mca", "-mtriple=aarch64", f"-mcpu={cpu}", "-mattr=+dotprod,+i8mm", "-iterations=1000", "-instruction-info"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def figures(cpu):
    """How many of each instruction start in a cycle, and the cycles of a chain's link."""
    out = mca(cpu, "\n".join(INSTRUCTIONS.values()))
    rates = [1 / float(rate) for rate in re.findall(r"^ +\d+ +\d+ +([\d.]+) ", out, re.M)]
    chain = re.search(r"Total Cycles: +(\d+)", mca(cpu, INSTRUCTIONS["fma"]))
    return dict(zip(INSTRUCTIONS, rates, strict=True)), float(chain[1]) / 1000


def problems(name, row):
    fma, load, store, shuffle, integer, chain, widen, multiply_add, dot, matrix = map(float, row)
    rates, link = figures(name)
    given = {"fma": fma, "load": load, "store": store, "shuffle": shuffle, "integer": integer, "widen": 1 / widen,
             "multiplyAdd": fma / multiply_add, "dot": fma / dot, "matrix": fma / matrix}
    for key, value in given.items():
        # llvm-mca rounds a reciprocal to two digits: 0.33 is a third, 0.17 a sixth, 0.13 an eighth.
        if abs(rates[key] - value) > 0.05 * value:
            yield f"{name}: {key}: {value:g} a cycle, llvm-mca has {rates[key]:.2f}"
    expected = 2 if name in NO_FORWARDING else round(link)
    if chain != expected:
        yield f"{name}: chain: {chain:g} cycles, expected {expected}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [match.groups() for match in ROW.finditer(file.read())]
    found = [list(problems(name, row)) for name, *row in rows]
    for line in (line for lines in found for line in lines):
        print(line)
    failed = sum(map(bool, found))
    print(f"{len(rows) - failed} passed, {failed} failed")
    sys.exit(failed or len(rows) < 10)


main()
