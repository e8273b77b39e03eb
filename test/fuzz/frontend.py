"""Mutates valid module texts and looks for what hlo-compile must never do: crash, hang, or accept a text that it cannot print.

  frontend.py [--tool=hlo-compile] [--seed=0] [--count=2000] [--seconds=0] [--keep=build/fuzz] [--language=hlo|mlir] [FOLDER or FILE ...]

The texts are those of this repository's tests (or of the given folders), HLO or StableHLO, cut, spliced and changed word by
word: in four of five runs HLO, unless --language says which. Each goes through one of --check=syntax, --check and a whole
compilation. The exit code must be 0 to 8, within the time limit. A text that --check accepts is printed, read and printed
again: both prints must be equal. Failures are kept in --keep and printed, one line each; exit status 1 if there were any.
The last line reads 'N passed, N failed'. Needs only Python's own library.
"""
import argparse
import glob
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_%][\w.\-]*=?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|->|<=|//[^\n]*|\s+|.', re.DOTALL)
NUMBER = re.compile(r"-?\d+")
TYPES = "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3 f8e4m3fn f8e3m4 f8e8m0fnu f4e2m1fn c64 c128 token opaque tuple".split()
NUMBERS = ["0", "1", "-1", "2", "3", "7", "64", "2147483647", "2147483648", "-2147483648", "4294967296", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "18446744073709551615", "99999999999999999999999", "1e400", "0.5", "nan", "inf", "-inf",
           "1000000", "3037000500"]
PUNCTUATION = ["(", ")", "{", "}", "[", "]", ",", "=", ":", "->", "<=", "?", "#", "*", "\"", "'", "/*", "*/", "//", "...", "\x00", "\xff", "~", "%", "$"]
# Of StableHLO texts.
MLIR_TYPES = "i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 f8E5M2 f8E4M3FN f4E2M1FN complex<f32> complex<f64> index".split()
MLIR_WORDS = ["tensor<?xf32>", "tensor<*xf32>", "tensor<4xf32>", "!stablehlo.token", "loc(unknown)", "loc(callsite(\"f\" at \"g\"))", "dense<0>", "dense<\"0x00\">",
              "dense_resource<r>", "{mhlo.sharding = \"{replicated}\"}", "{sdy.sharding = #sdy.sharding<@mesh, [{}]>}", "array<i64: 0>", "@main", "^bb0:", "%0",
              "stablehlo.return", "return", "func.func @f()", "tensor<2x!quant.uniform<i8:f32, 1.0>>", "{backend_config = {}}", "-> ()", ": () -> ()"]
WORDS = ["ROOT", "ENTRY", "HloModule", "true", "false", "nan", "dimensions={0}", "to_apply=", "calls=", "parameter(0)", "tuple()", "constant({...})",
         "window={size=1}", "dim_labels=b0f_0io->b0f", "sharding={replicated}", "metadata={op_name=\"x\"}", "control-predecessors={p}", "index=0"]


def texts(paths, suffix=".hlo", sign="ENTRY"):
    """Module texts of files and folders; a file of end-to-end cases holds several, with $T for a type."""
    found = []
    for path in paths:
        for name in sorted(glob.glob(os.path.join(path, "**", "*" + suffix), recursive=True)) if os.path.isdir(path) else [path]:
            with open(name, encoding="utf-8", errors="replace") as file:
                whole = file.read()
            for case in re.split(r"^// -----.*\n", whole, flags=re.MULTILINE):
                if len(case) < 20000 and sign in case:
                    lines = [line for line in case.splitlines() if not line.startswith("//")]
                    found.append(re.sub(r"\$\w+", "f32", "\n".join(lines) + "\n"))
    return found


class Language:
    """A language's texts, and the words that stand for each other in them."""
    def __init__(self, corpus, is_mlir):
        self.corpus = corpus
        self.types, self.words = (MLIR_TYPES, MLIR_WORDS) if is_mlir else (TYPES, WORDS)
        opcode = r"((?:stablehlo|chlo|sdy|func)\.\w+)" if is_mlir else r"[\])}] ([a-z][\w\-]*)\("
        self.opcodes = sorted({m for t in corpus for m in re.findall(opcode, t)})


class Mutator:
    def __init__(self, seed, language):
        self.random = random.Random(seed)
        self.corpus, self.types, self.words, self.opcodes = language.corpus, language.types, language.words, language.opcodes

    def change_word(self, tokens):
        r = self.random
        i = r.randrange(len(tokens))
        for _ in range(8):
            if not tokens[i].isspace():
                break
            i = r.randrange(len(tokens))
        old = tokens[i]
        choice = r.random()
        if NUMBER.fullmatch(old) and choice < 0.8:
            tokens[i] = r.choice(NUMBERS + [str(int(old) + 1), str(int(old) - 1)] * 5)
        elif old in self.types and choice < 0.8:
            tokens[i] = r.choice(self.types)
        elif old in self.opcodes and choice < 0.8:
            tokens[i] = r.choice(self.opcodes)
        elif choice < 0.3:
            del tokens[i]
        elif choice < 0.45:
            tokens.insert(i, old)
        elif choice < 0.6:
            j = r.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif choice < 0.8:
            same = [t for t in tokens if t[0].isalpha() == old[0].isalpha() and not t.isspace()]
            tokens[i] = r.choice(same or tokens)
        elif choice < 0.9:
            tokens.insert(i, r.choice(PUNCTUATION))
        else:
            tokens.insert(i, " " + r.choice(self.words) + " ")

    def change_lines(self, lines):
        r = self.random
        i = r.randrange(len(lines))
        choice = r.random()
        if choice < 0.3:
            del lines[i]
        elif choice < 0.5:
            lines.insert(i, r.choice(lines))
        elif choice < 0.7:
            j = r.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        elif choice < 0.8:
            lines.insert(i, r.choice(r.choice(self.corpus).splitlines() or [""]))
        elif choice < 0.9:  # the attributes of another line
            other = r.choice(lines)
            lines[i] = lines[i] + ", " + other.rsplit("), ", 1)[-1]
        else:  # another operand
            names = re.findall(r"^\s*(?:ROOT )?(%?[\w.\-]+) = ", "\n".join(lines), re.MULTILINE) or ["x"]
            lines[i] = re.sub(r"\((%?[\w.\-]+)([,)])", lambda m: f"({r.choice(names)}{m[2]}", lines[i])

    def module(self):
        r = self.random
        text = r.choice(self.corpus)
        choice = r.random()
        if choice < 0.03:
            depth = r.choice([10, 1000, 100000])
            i, c = r.randrange(len(text) + 1), r.choice(["(", "{", "[", "negate(", "f32[]{"])
            return text[:i] + c * depth + text[i:]
        if choice < 0.06:
            return text[:r.randrange(len(text) + 1)]
        if choice < 0.09:
            other = r.choice(self.corpus)
            return text[:r.randrange(len(text) + 1)] + other[r.randrange(len(other) + 1):]
        if choice < 0.12:
            changed = list(text)
            for _ in range(r.randint(1, 4)):
                changed[r.randrange(len(changed))] = chr(r.randrange(256))
            return "".join(changed)
        for _ in range(r.choice([0, 0, 1, 2])):
            lines = text.splitlines()
            if lines:
                self.change_lines(lines)
            text = "\n".join(lines) + "\n"
        tokens = TOKEN.findall(text)
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            if tokens:
                self.change_word(tokens)
        return "".join(tokens)


def limit():
    if "ASAN_OPTIONS" not in os.environ:  # AddressSanitizer reserves terabytes
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(command, timeout=20):
    """(exit code or 'timeout', standard output, standard error)"""
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", b"", b""
    return done.returncode, done.stdout, done.stderr


def check(tool, path, mode, folder):
    """What is wrong, as a message; empty if nothing is."""
    flags = {"syntax": ["--check=syntax"], "check": ["--check"], "compile": ["-o", os.path.join(folder, "m.o")]}[mode]
    code, _, err = call([*tool, path, *flags])
    if code == "timeout" or not 0 <= code <= 8:
        return f"{mode}: exit {code}: {err.decode(errors='replace')[-300:]}"
    if code == 1 and b"error: " not in err:
        return f"{mode}: exit 1 without an error"
    if mode == "check" and code == 0:
        prints = [path]
        for name in ("first.hlo", "second.hlo"):
            prints.append(os.path.join(folder, name))
            code, _, err = call([*tool, prints[-2], "--compile-to=parse", "--emit=hlo", "-o", prints[-1]])
            if code != 0:
                return f"print to {name}: exit {code}: {err.decode(errors='replace')[-300:]}"
        with open(prints[1], "rb") as first, open(prints[2], "rb") as second:
            if first.read() != second.read():
                return "printed, read and printed again it is another text"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=[os.path.dirname(HERE)])
    parser.add_argument("--tool", default="hlo-compile")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--keep", default="build/fuzz")
    parser.add_argument("--language", choices=["hlo", "mlir"])
    options = parser.parse_args()
    tool, end = options.tool.split(), time.time() + (options.seconds or 1e9)
    hlo = Language(texts(options.paths, ".hlo", "ENTRY"), is_mlir=False)
    mlir = Language(texts(options.paths, ".mlir", "func.func"), is_mlir=True)
    passed = failed = 0
    os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            if time.time() > end:
                break
            wants_mlir = options.language == "mlir" or (options.language != "hlo" and (not hlo.corpus or seed % 5 == 0))
            is_mlir = bool(mlir.corpus) and wants_mlir
            mutator = Mutator(seed, mlir if is_mlir else hlo)
            path = os.path.join(folder, "m.mlir" if is_mlir else "m.hlo")
            text = mutator.module()
            with open(path, "w", encoding="latin-1", errors="replace") as file:
                file.write(text)
            mode = mutator.random.choice(["syntax", "check", "check", "compile"])
            wrong = check(tool, path, mode, folder)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                kept = os.path.join(options.keep, f"text{seed}{os.path.splitext(path)[1]}")
                os.replace(path, kept)
                print(f"{kept}: {' '.join(wrong.split())}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
