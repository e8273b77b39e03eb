"""Runs the StableHLO project's own programs through hlo-run and checks the values in them.

  upstream.py [--tool=build/bin/hlo-run] [--only=REGEX] [--every=N] [--jobs=2] [--json=F] [--keep=FOLDER] PATH ...

PATH: a checkout of openxla/stablehlo, whose programs are stablehlo/tests/interpret and stablehlo/testdata, or a folder or file
of such programs. A file has modules between lines `// -----`. Their checks (operations `check.*`, custom calls `@check.*`),
which are no part of StableHLO, become results of the function that has them, beside the values that they expect, and are
compared here. Programs of several devices (`interpreter.run_parallel`) run on as many ranks. Prints a line for each that
does not pass, then counts by reason; quantized programs count on their own. The last line reads 'N passed, N failed'.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

TYPE = r"tensor<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
CHECK = re.compile(rf"check\.expect_(?P<rule>eq|almost_eq|close|serialized_eq)(?P<const>_const)?\s+(?P<actual>%[\w#]+)\s*,\s*"
                   rf"(?P<expected>.*?)(?P<types>\s*:\s*{TYPE}(?:\s*,\s*{TYPE})?)(?P<more>[^\n]*)\n", re.S)
CALL = re.compile(rf"stablehlo\.custom_call\s+@check\.expect_(?P<rule>\w+?)\((?P<actual>%[\w#]+),\s*(?P<expected>%[\w#]+)\)(?P<more>[^\n:]*):\s*"
                  rf"\((?P<type>{TYPE}),\s*{TYPE}\)\s*->\s*\(\)\s*\n")
NAME = r'func\.func\s+(?:public\s+|private\s+)?@(?:\w+|"[^"]*")\s*\('
FUNCTION = re.compile(NAME)
HEADER = re.compile(NAME + r"\s*\)(\s*->\s*(?:\((?:[^()]|\([^()]*\))*\)|[^{]*?))?\s*(?:attributes\s*\{[^}]*\}\s*)?\{", re.S)
PARALLEL = re.compile(r'%\w+(?::\d+)?\s*=\s*"interpreter\.run_parallel"\((?P<operands>[^)]*)\)\s*\{(?P<attributes>.*?)\}\s*:\s*'
                      rf"\((?P<types>.*?)\)\s*->\s*(?:\([^()]*\)|{TYPE})\n", re.S)
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
NARROW = {"f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3": "float8_e4m3", "f8E3M4": "float8_e3m4",
          "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
          "f8E8M0FNU": "float8_e8m0fnu", "f4E2M1FN": "float4_e2m1fn", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn"}
Check = collections.namedtuple("Check", "rule type tolerance ulps")


class Refused(Exception):
    """The test asks for what this runner does not do."""


def chunks(text):
    return [c for c in re.split(r"^(?:// )+-----.*$", text, flags=re.M) if re.search(r"\bcheck\.expect_", c)]


def function_bounds(text, position):
    """(start, end) of the function around a position: its braces match; strings are skipped."""
    start = max(m.start() for m in FUNCTION.finditer(text) if m.start() < position)
    depth, in_string = 0, False
    for i in range(start, len(text)):
        c = text[i]
        if c == '"' and text[i - 1] != "\\":
            in_string = not in_string
        elif not in_string and c == "{":
            depth += 1
        elif not in_string and c == "}":
            depth -= 1
            if depth == 0 and i > position:
                return start, i + 1
    raise Refused("unbalanced braces")


def number(text, name, default):
    found = re.search(rf"{name}\s*=\s*([-\d.e+]+)", text)
    return float(found[1]) if found else default


def returning(text):
    """The module whose main returns actual and expected values in turn; the checks."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    start, end = function_bounds(text, re.search(r"\bcheck\.expect_", text).start())
    function, checks, values, count = text[start:end], [], [], 0

    def taken(match):
        nonlocal count
        groups = match.groupdict()
        rule, more = groups["rule"], groups["more"] + groups["expected"]
        if rule == "serialized_eq":
            raise Refused("compares with a file")
        expected, line = groups["expected"].split(",")[0], ""
        if groups.get("const"):
            type_ = re.search(TYPE, groups["types"])[0]
            expected, line, count = f"%expected_{count}", f"%expected_{count} = stablehlo.constant {groups['expected']} : {type_}\n", count + 1
        else:
            type_ = groups.get("type") or re.search(TYPE, groups["types"])[0]
        checks.append(Check(rule, type_, number(more, "tolerance", 1e-4), number(more, "max_ulp_difference", 3)))
        values.extend([(groups["actual"], type_), (expected.strip(), type_)])
        return line

    function = CALL.sub(taken, CHECK.sub(taken, function))
    if "check." in function:
        raise Refused("a check in another form")
    types = ", ".join(t for _, t in values)
    at = list(re.finditer(r"(?:func\.)?\breturn\b[^\n]*", function))[-1]
    function = function[:at.start()] + f"func.return {', '.join(v for v, _ in values)} : {types}" + function[at.end():]
    header = HEADER.match(function)
    if not header:
        raise Refused("the function has parameters")
    function = f"func.func @main() -> ({types}) {{" + function[header.end():]
    return text[:start], function, text[end:], checks


def difference(check, x, y):
    """Why x is not the expected y; None if it is."""
    element = re.fullmatch(r"tensor<(?:.*x)?(.*)>", check.type, re.S)[1]
    if x.dtype != y.dtype or x.shape != y.shape:
        return f"{x.dtype}{list(x.shape)} instead of {y.dtype}{list(y.shape)}"
    if element in FLOATS and x.dtype != FLOATS[element]:
        x, y = x.view(FLOATS[element]), y.view(FLOATS[element])
    if element in NARROW:
        x, y = (v.view(getattr(ml_dtypes, NARROW[element])).astype(np.float32) for v in (x, y))
    if x.dtype.kind == "c":
        x, y = (np.stack([v.real, v.imag]) for v in (x, y))
    same = (x == y) | ((x != x) & (y != y))
    if check.rule == "almost_eq":
        with np.errstate(all="ignore"):
            same |= np.abs(x.astype(np.float64) - y.astype(np.float64)) <= check.tolerance
    elif check.rule == "close":
        same |= np.isfinite(x.astype(np.float64)) & np.isfinite(y.astype(np.float64)) & (ulps(x, y) <= check.ulps)
    if same.all():
        return None
    where = tuple(np.argwhere(~same)[0])
    return f"{check.rule}: {(~same).sum()} of {same.size} differ, first at {list(map(int, where))}: {x[where]} instead of {y[where]}"


def ulps(x, y):
    """How many values of the type are between two of them."""
    if x.dtype.kind not in "fV":
        return np.abs(x.astype(np.int64) - y.astype(np.int64))

    def rank(v):
        bits = v.view(f"i{v.dtype.itemsize}").astype(object)
        top = 1 << (8 * v.dtype.itemsize - 1)
        return np.vectorize(lambda b: b if b >= 0 else -(b + top), otypes=[object])(bits)
    return np.abs(rank(x) - rank(y)).astype(np.float64)


def run(tool, module, *flags):
    done = subprocess.run([tool, module, *flags], capture_output=True, text=True, timeout=120, errors="replace")
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip()[:200])
        raise RuntimeError(f"exit {done.returncode}: {first.split('error:')[-1].strip()[:160]}")


def in_parallel(tool, folder, before, main, after, checks):
    """Values of ranks: what main computes before and after its parallel programs runs on its own, the programs as ranks."""
    op = PARALLEL.search(main)
    if not op:
        raise Refused("a parallel program in another form")
    if "infeed" in op["attributes"] or "send" in op["attributes"]:
        raise Refused("feeds or different programs")
    grid = [re.findall(r"@(\w+)", row) for row in re.findall(r"\[([^\[\]]*)\]", op["attributes"])]
    names = {n for row in grid for n in row}
    if len(names) != 1:
        raise Refused("different programs")
    name, replicas, partitions = names.pop(), len(grid), len(grid[0])
    ranks, operands = replicas * partitions, [o.strip() for o in op["operands"].split(",") if o.strip()]
    types = re.findall(TYPE, op["types"])
    # First the constants: operands, and what is expected.
    expected = re.findall(r"(%expected_\d+|%[\w#]+)", re.findall(r"func\.return ([^:]*):", main)[-1])
    constants = [(o, t) for o, t in zip(operands, types)] + [(e, checks[i // 2].type) for i, e in enumerate(expected) if i % 2]
    body = main[:op.start()] + main[op.end():]
    body = re.sub(r"func\.return[^\n]*", f"func.return {', '.join(v for v, _ in constants)} : {', '.join(t for _, t in constants)}", body)
    body = re.sub(r"@main\(\) -> \(.*?\) \{", f"@main() -> ({', '.join(t for _, t in constants)}) {{", body, count=1, flags=re.S)
    (folder / "constants.mlir").write_text(f"module {{\n{body}\n}}\n")
    run(tool, folder / "constants.mlir", f"--outputs={folder}/constants.npz")
    known = np.load(folder / "constants.npz")
    each = len(operands) // ranks
    for rank in range(ranks):
        np.savez(folder / f"in.{rank}.npz", **{f"in{i}": known[f"out{rank * each + i}"] for i in range(each)})
    programs = re.sub(rf"@{name}\b", "@main", before + after)
    if not re.search(r"^\s*module", programs, re.M):
        programs = f"module {{\n{programs}\n}}\n"
    (folder / "program.mlir").write_text(programs)
    flags = [f"--replicas={replicas}"] * (replicas > 1 or partitions == 1) + [f"--partitions={partitions}"] * (partitions > 1)
    run(tool, folder / "program.mlir", *flags, *[f"--inputs={folder}/in.%r.npz"] * bool(each), f"--outputs={folder}/out.%r.npz")
    results = [np.load(folder / f"out.{rank}.npz") for rank in range(ranks)]
    flat = [r[f"out{i}"] for r in results for i in range(len(r.files))]
    actual = [flat[int(v.partition("#")[2] or 0)] for v in expected[::2]]
    return [(c, x, known[f"out{len(operands) + i}"]) for i, (c, x) in enumerate(zip(checks, actual))]


def check_chunk(tool, text):
    """None, or why it failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        before, main, after, checks = returning(text)
        if "run_parallel" in main:
            values = in_parallel(tool, folder, before, main, after, checks)
        else:
            (folder / "module.mlir").write_text(before + main + after)
            run(tool, folder / "module.mlir", f"--outputs={folder}/out.npz")
            found = np.load(folder / "out.npz")
            values = [(c, found[f"out{2 * i}"], found[f"out{2 * i + 1}"]) for i, c in enumerate(checks)]
        return next((why for why in (difference(*v) for v in values) if why), None)


def kind_of(text):
    return "quantized" if "!quant." in text else "other"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/bin/hlo-run")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    programs = ("stablehlo/tests/interpret", "stablehlo/testdata")
    paths = [q for p in options.paths for q in ([p / n for n in programs] if (p / programs[0]).is_dir() else [p])]
    files = [f for p in paths for f in (sorted(p.rglob("*.mlir")) if p.is_dir() else [p])]
    files = [f for f in files if re.search(options.only, f.name)][::options.every]
    tool, tally, reasons, rows = os.path.abspath(options.tool), collections.Counter(), collections.Counter(), []

    def one(case):
        name, text = case
        try:
            return name, text, check_chunk(tool, text), False
        except Refused as e:
            return name, text, str(e), True
        except Exception as e:
            return name, text, f"{'' if isinstance(e, RuntimeError) else type(e).__name__ + ': '}{e}"[:240], False
    cases = [(f"{f.stem}.{i}", c) for f in files for i, c in enumerate(chunks(f.read_text()))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, text, why, is_refused in pool.map(one, cases):
            kind = kind_of(text) if not is_refused else "not of this runner"
            tally[kind, why is None] += 1
            rows.append({"name": name, "kind": kind, "why": why})
            if why:
                reasons[kind, re.sub(r"\d+", "N", why)[:100]] += 1
                print(f"{name}: {why}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{name}.mlir").write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=0))
    for (kind, why), count in reasons.most_common(30):
        print(f"{count:5} {kind}: {why}")
    for kind in ("quantized", "not of this runner"):
        print(f"{kind}: {tally[kind, True]} passed, {tally[kind, False]} failed")
    passed, failed = tally["other", True], tally["other", False]
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or not passed)


if __name__ == "__main__":
    main()
