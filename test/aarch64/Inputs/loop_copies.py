"""Fails if the loop with the most multiply-adds of a module copies or spills vectors.

  loop_copies.py MODULE.hlo...     compiles each for neoverse-n1 and neoverse-v1
"""
import re
import subprocess
import sys

LABEL = re.compile(r"^(\.LBB\w+):")
BRANCH = re.compile(r"^\s+(?:b\.\w+|cbn?z|tbn?z)\s.*?(\.LBB\w+)")
PRODUCT = re.compile(r"^\s+(?:fmla|mla|[su]mlal2?|[us]*dot|u?s?mmla|bf\w+)\s")
COPY = re.compile(r"^\s+mov\s+v\d+\.16b, v\d+\.16b|^\s+(?:ldr|str|ldp|stp)\s+q.*\[sp")


def loops(lines):
    """Lines between a label and a branch back to it without another label between."""
    start = None
    for i, line in enumerate(lines):
        if label := LABEL.match(line):
            start = (label[1], i)
        elif start and (branch := BRANCH.match(line)) and branch[1] == start[0]:
            yield lines[start[1]:i]


def main():
    failed = 0
    for module in sys.argv[1:]:
        for cpu in ["neoverse-n1", "neoverse-v1"]:
            text = subprocess.run(["hlo-compile", module, "--target=aarch64-linux-gnu", "--cpu=" + cpu, "--emit=asm", "-o", "-"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            hottest = max(loops(text.splitlines()), key=lambda loop: sum(bool(PRODUCT.match(line)) for line in loop))
            products, copies = (sum(bool(which.match(line)) for line in hottest) for which in (PRODUCT, COPY))
            if products < 8 or copies:
                failed += 1
                print(f"{module} for {cpu}: {products} products, {copies} copies or spills in the inner loop")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
