"""Only compiler/machine may name an instruction set, a vendor, a core or an intrinsic.

  machines.py ROOT      every file that git knows; prints one line per offence, and exits with status 1 if there is any
  machines.py --self    shows that names are found, and that words which only look like names are not

Kernels ask a Machine by meaning (compiler/machine/README.md). A name elsewhere, even in a comment, is a place that has
to be found when a CPU is added. Tests may name what they test.
"""
import os
import re
import subprocess
import sys

# Where names belong: folders, and files with the reason.
HOME = (
    "compiler/machine/", "compiler/target/", "test/", "examples/",
    "runtime/abi/hlo/cpu.h", "runtime/abi/hlo/rt.h",  # architectures and features as bits of the ABI
    "runtime/core/cpu.c",  # detects what the CPU has
    "runtime/core/fp.h", "runtime/core/ticks.h",  # registers for flush-to-zero and for time
    "runtime/core/hints.h",  # pauses, stores past the caches
    "tools/hlo-compile/CommandLine.cpp", "tools/hlo-run/CommandLine.cpp",  # the help names the defaults
    "tools/setup.sh", "tools/test.sh",  # cross compilers and emulators by the names of their packages
)
# User documentation outside of the compiler names the CPUs that it speaks of.
DOCUMENTS = re.compile(r"(^|/)README\.md$|^cmake/")

# The tables of CPUs. The names of their rows are looked for, beside those below.
ROWS = ("compiler/machine/x86/Cpus.cpp", "compiler/machine/aarch64/Cpus.cpp")

NAMES = [re.compile(pattern) for pattern in (
    r"(?i)(?<![a-z0-9])(x86|avx|vnni|amx|f16c|mxcsr|aarch64|riscv|neoverse|cortex-|znver|xeon|epyc|skylake|cascadelake|haswell|broadwell)",
    r"(?i)\b(sse[0-9](\.[0-9])?|armv[0-9]|apple-m[0-9])\b",
    r"(?i)\b(sapphire|emerald|granite|diamond|ice|rocket|cooper|raptor|alder)[ -]?(rapids|lake)\b",
    r"\b(Intel|AMD|ARM|NEON|SVE2?|SME|RVV|Zen( ?[0-9])?)\b",
    r"\b[xyzt]mm[0-9]*\b",
    r"\bllvm\.(x86|aarch64|arm|riscv)\b",
    r"(?i)\bv(p?dp|pmadd|pmull|perm|pgather|gather|cvt|fmadd|range|scalef|getexp|getmant|rcp|rsqrt|pmask|mask)[a-z0-9]+",
    r"(?i)\b(tdp[bf][a-z0-9]+|(ld|st)tilecfg|tile(load|store|zero|release)d?[a-z0-9]*|[fb]?[su]?mmla|p?madd\.?wd|pshufb)\b",
)]


def row_names(root):
    """A pattern of the names of all rows."""
    names = []
    for path in ROWS:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            found = re.findall(r'^\s*\{"([\w.-]+)", ', file.read(), re.M)
        if not found:
            raise SystemExit(f"{path}: no rows found")
        names += found
    return re.compile(r"(?i)(?<![\w-])(" + "|".join(map(re.escape, names)) + r")(?![\w-])")


def offences(path, text, names):
    for number, line in enumerate(text.splitlines(), 1):
        found = next((match for name in names if (match := name.search(line))), None)
        if found:
            yield f"{path}:{number}: names '{found[0]}': ask the Machine by meaning, or say it in compiler/machine"


def is_home(path):
    if path.startswith(HOME):
        return True
    return DOCUMENTS.search(path) and not path.startswith(("compiler/", "dialect/"))


def check(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                             stdout=subprocess.PIPE, text=True, check=True)
    problems, looked, names = [], 0, [*NAMES, row_names(root)]
    for path in listing.stdout.splitlines():
        top = path.split("/")[0]
        if top not in ("compiler", "dialect", "tools", "runtime", "cmake") or is_home(path) or not os.path.exists(os.path.join(root, path)):
            continue
        looked += 1
        with open(os.path.join(root, path), encoding="utf-8") as file:
            problems += offences(path, file.read(), names)
    print("\n".join(problems + [f"{looked} files, {len(problems)} offences"]))
    return bool(problems)


def self_test():
    named = ["// AVX-512 has masks", "if (target.avx512)", '"llvm.x86.tdpbf16ps"', "vpdpbusd", "on Zen 4", "Intel's cores", "VNNI", "tileloadd64",
             "x86-64-v3", "takes vdpbf16ps", "Sapphire Rapids", "armv8.2-a", "smmla", "usesAmx()  // amx", "F16C", "sse2", "zmm3", "vcvtneps2bf16",
             "as on tigerlake", "ampere1a has it"]
    plain = ["DenseIntElementsAttr", "a dozen kilobytes", "printElement", "maximum, minimum", "vector registers", "tile of sums", "permutes lanes",
             "frozen", "the other arm of a branch", "exact2", "various widths", "conversion", "range analysis", "inverse", "gathered", "tiles"]
    names = [*NAMES, row_names(os.path.join(os.path.dirname(__file__), "..", ".."))]
    missed = [line for line in named if not list(offences("f", line, names))]
    wrong = [line for line in plain if list(offences("f", line, names))]
    for line in missed:
        print(f"not found: {line}")
    for line in wrong:
        print(f"found in: {line}")
    print(f"{len(named) + len(plain)} lines, {len(missed) + len(wrong)} wrong")
    return bool(missed or wrong)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self" else check(sys.argv[1]))
