"""Runs the StableHLO project's own programs and checks the values in them.

  upstream.py [--tool=build/bin/hlo-run] [--filter=REGEX] [--every=N] [--verbose] FOLDER

FOLDER: a checkout of openxla/stablehlo. Its programs are stablehlo/tests/interpret/*.mlir and stablehlo/testdata/*.mlir. They
check results by `check.*` ops, which are no part of StableHLO: here the values that they compare become results of the entry,
and numpy compares them. A program is one function with checks. Prints a line for each that does not pass, then counts by reason;
the last line reads 'N passed, N failed'. Failed are crashes, wrong values and errors that name no feature; programs of features
that are refused by name are counted as such: quantized types, dimensions `?`, ops of the interpreter alone.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Types that are not numpy's own are bits in the files of hlo-run.
NARROW = {"bf16": ml_dtypes.bfloat16, "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "ui2": ml_dtypes.uint2,
          **{f"f{name}": getattr(ml_dtypes, f"float{name.lower().replace('e', '_e', 1)}") for name in
             ("8E3M4", "8E4M3", "8E4M3B11FNUZ", "8E4M3FN", "8E4M3FNUZ", "8E5M2", "8E5M2FNUZ", "8E8M0FNU", "4E2M1FN", "6E2M3FN", "6E3M2FN")}}

FUNCTION = re.compile(r'^( *)func\.func\s+(?:public |private )?@("[^"]*"|[\w.$-]+)\s*\(', re.MULTILINE)
CONST = re.compile(r"check\.expect_(almost_eq|eq)_const\s+(%[\w#]+)\s*,\s*(.*?)(?:,\s*tolerance\s*=\s*([\d.e+-]+)(?:\s*:\s*f64)?)?\s*$", re.DOTALL)
PAIR = re.compile(r"check\.expect_(eq|almost_eq|close)\s+(%[\w#]+)\s*,\s*(%[\w#]+)(.*?):\s*([^:]*?)\s*$", re.DOTALL)
CALL = re.compile(r"stablehlo\.custom_call\s+@check\.(?:expect_)?(eq|almost_eq|close)\s*\(\s*(%[\w#]+)\s*,\s*(%[\w#]+)\s*\).*?:\s*\((.*?)\)\s*->.*$", re.DOTALL)
REFUSED = {"quantized": r"quant|uniform_(de)?quantize", "dimension `?`": r"dimension `\?`|\?|dynamic_|real_dynamic",
           "interpreter's own": r"interpreter\.|check\.expect_serialized", "several processes": r"run_parallel"}


class Skip(Exception):
    pass


def body_end(text, start):
    """The position behind the brace that closes the one at or after `start`."""
    depth, at, quoted = 0, text.index("{", start), False
    while True:
        char = text[at]
        if char == '"':
            quoted = not quoted
        elif not quoted and char == "{":
            depth += 1
        elif not quoted and char == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


def open_brace(text, start):
    """The brace that opens the body of the function at `start`, behind its signature and attributes."""
    depth = 0
    for at in range(text.index("(", start), len(text)):
        if text[at] in "(<[":
            depth += 1
        elif text[at] in ")]" or (text[at] == ">" and text[at - 1] != "-"):
            depth -= 1
        elif text[at] == "{" and depth == 0:
            line = text[at:text.index("\n", at) if "\n" in text[at:] else len(text)]
            if line.strip() == "{":
                return at
    raise Skip("no body")


def statements(body):
    """The body's top-level statements, which may go over lines."""
    found, current, depth = [], "", 0
    for line in body.splitlines():
        code = re.sub(r'"[^"]*"', '""', re.sub(r"//.*", "", line))
        current += line + "\n"
        depth += sum(code.count(c) for c in "({[") - sum(code.count(c) for c in ")}]")
        if depth <= 0 and current.strip() and not code.rstrip().endswith((",", ":", "->")):
            found.append(current)
            current = ""
    return found + ([current] if current.strip() else [])


def split_types(text):
    """`T` or `T, T`."""
    parts, depth, current = [], 0, ""
    for i, char in enumerate(text):
        depth += char in "<(" or 0
        depth -= (char in ")") or (char == ">" and text[i - 1] != "-")
        if char == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return parts + [current.strip()]


def programs(chunk):
    """(name, text with an entry @main that returns what the checks compare, checks) for each function with checks."""
    functions = []
    for match in FUNCTION.finditer(chunk):
        opening = open_brace(chunk, match.end() - 1)
        functions.append((match.group(2), match.start(), opening, body_end(chunk, opening)))
    for name, start, opening, end in functions:
        body = chunk[opening + 1:end - 1]
        if "check." not in body:
            continue
        if "interpreter." in body or "check.expect_serialized" in body:
            yield name, None, ["interpreter's own" if "run_parallel" not in body else "several processes"]
            continue
        kept, results, checks = "", [], []
        for statement in statements(body):
            code = re.sub(r"//[^\n]*", "", statement).strip()
            if re.match(r"(func\.)?return\b", code):
                continue
            const, pair, call = CONST.match(code), PAIR.match(code), CALL.match(code)
            if const:
                kind, value, literal, tolerance = const.groups()
                type_text = literal[literal.rindex(":") + 1:].strip()
                kept += f"    %checked_{len(checks)} = stablehlo.constant {literal}\n"
                results += [(value, type_text), (f"%checked_{len(checks)}", type_text)]
                checks.append((kind, float(tolerance or 1e-4)))
            elif call or pair:
                kind, got, want = (call or pair).groups()[:3]
                types = split_types(call.group(4) if call else pair.group(5))
                options = "" if call else pair.group(4)
                limit = re.search(r"max_ulp_difference\s*=\s*(\d+)", options)
                tolerance = re.search(r"tolerance\s*=\s*([\d.e+-]+)", options)
                checks.append((kind, int(limit.group(1)) if limit else 3 if kind == "close" else float(tolerance.group(1)) if tolerance else 1e-3 if call else 1e-4))
                results += [(got, types[0]), (want, types[-1])]
            elif code.startswith("check."):
                yield name, None, ["interpreter's own"]
                break
            else:
                kept += statement
        else:
            # Others with checks cannot be kept: their checks are no StableHLO.
            others = "".join("  " + chunk[s:e].strip() + "\n" for n, s, _, e in functions if n != name and "check." not in chunk[s:e])
            others = re.sub(r"func\.func\s+(?:public\s+)?@", "func.func private @", others)
            main = f"  func.func @main() -> ({', '.join(t for _, t in results)}) {{\n{kept}    return {', '.join(v for v, _ in results)} : {', '.join(t for _, t in results)}\n  }}\n"
            yield name, "module @test {\n" + main + others + "}\n", [(*check, results[2 * i][1]) for i, check in enumerate(checks)]


def ulps(got, want):
    """Distances in units in the last place."""
    if got.dtype.kind == "c":
        part = np.float32 if got.dtype == np.complex64 else np.float64
        return np.maximum(ulps(np.ascontiguousarray(got).view(part), np.ascontiguousarray(want).view(part)), 0)
    if got.dtype.kind in "iub":
        return np.abs(got.astype(np.int64) - want.astype(np.int64))
    integers = np.dtype(f"i{got.dtype.itemsize}")
    a, b = (np.atleast_1d(x).view(integers).astype(object) for x in (np.ascontiguousarray(got), np.ascontiguousarray(want)))
    least = -(1 << (8 * got.dtype.itemsize - 1))
    order = np.vectorize(lambda v: v if v >= 0 else least - v, otypes=[object])
    distance = np.abs(order(a) - order(b)) if a.size else np.zeros(0)
    same = np.atleast_1d((got == want) | (np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))))
    return np.where(same.reshape(distance.shape), 0, distance)


def agree(kind, limit, got, want):
    if got.dtype.kind == "b" or got.dtype.kind in "iu" or kind == "eq":
        wide = got if got.dtype.kind in "iubc" else got.astype(np.float64)
        other = want if want.dtype.kind in "iubc" else want.astype(np.float64)
        return np.array_equal(wide, other, equal_nan=wide.dtype.kind in "fc")
    if kind == "close":
        return bool((ulps(got, want) <= limit).all())
    a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (got, want))
    with np.errstate(all="ignore"):
        return bool(((np.abs(a - b) <= limit * np.maximum(1, np.abs(b))) | (a == b) | (np.isnan(a) & np.isnan(b))).all())


def decoded(array, type_text):
    element = re.sub(r"^(\d+x)*", "", type_text.partition("<")[2].rstrip(">"))
    narrow = NARROW.get(element)
    if narrow is None or array.dtype == narrow:
        return array
    return array.astype(narrow) if element.lstrip("u")[0] == "i" else array.view(narrow)


def run(tool, folder, text, checks):
    """None, or (reason, message)."""
    path, out = folder / "test.mlir", folder / "out.npz"
    path.write_text(text)
    done = subprocess.run([tool, path, f"--outputs={out}"], capture_output=True, text=True, timeout=120, errors="replace", check=False)
    if done.returncode:
        message = next((line for line in done.stderr.splitlines() if "error:" in line), f"exit {done.returncode}").partition("error: ")[2]
        if not 1 <= done.returncode <= 8:
            return "crash", f"exit {done.returncode}"
        for reason, pattern in REFUSED.items():
            if re.search(pattern, message) or (reason == "dimension `?`" and "?" in re.sub(r'"[^"]*"', "", text)):
                return reason, message
        return "error", message
    results = np.load(out)
    for i, (kind, limit, type_text) in enumerate(checks):
        got, want = (decoded(results[f"out{k}"], type_text) for k in (2 * i, 2 * i + 1))
        if not agree(kind, limit, got, want):
            worst = "" if kind != "close" else f", {ulps(got, want).max()} ulps where {limit} are allowed"
            return "wrong", f"check {i} ({kind}) of {got.dtype}{list(got.shape)}{worst}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", default=str(ROOT / "build/bin/hlo-run"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    counts = collections.Counter()
    base = options.folder / "stablehlo"
    files = sorted([*(base / "tests/interpret").rglob("*.mlir"), *(base / "testdata").glob("*.mlir")])
    temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
    for path in [path for path in files if re.search(options.filter, str(path))][::options.every]:
        for chunk in re.split(r"^\s*// -----.*\n", path.read_text(), flags=re.MULTILINE):
            if "check." not in chunk:
                continue
            try:
                found = list(programs(chunk))
            except (Skip, ValueError) as error:
                found = [("?", None, [f"not read by this script: {error}"])]
            for name, text, checks in found:
                wrong = run(os.path.abspath(options.tool), pathlib.Path(temporary.name), text, checks) if text else (checks[0], "")
                counts[wrong[0] if wrong else "passed"] += 1
                if wrong and (options.verbose or wrong[0] in ("crash", "error", "wrong")):
                    print(f"{path.relative_to(base)} @{name}: {wrong[0]}: {wrong[1]}", flush=True)
    for reason, count in sorted(counts.items()):
        print(f"{count:5} {reason}")
    temporary.cleanup()
    failed = counts["crash"] + counts["error"] + counts["wrong"]
    print(f"{counts['passed']} passed, {failed} failed")
    return failed > 0 or counts["passed"] == 0


if __name__ == "__main__":
    sys.exit(main())
