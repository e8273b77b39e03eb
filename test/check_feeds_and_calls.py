"""Runs the shared cases of feeds, host transfers and custom calls through hlo-run.

  check_feeds_and_calls.py HLO-RUN SHARED [FLAG of hlo-run]...

SHARED/replicated/README.md describes the cases. Handlers are compiled with cc and c++, or, with --target=TRIPLE, by the cross
compiler of that name; those in C++ need the headers of an installed jaxlib. Needs numpy. Prints one line per failure, then 'N passed, N failed'.
"""
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"pred": np.bool_, "bf16": np.uint16, "f16": np.float16, "c64": np.complex64, "c128": np.complex128}


def array_of(value):
    """The numpy array that a .json file describes."""
    dtype, data = value["dtype"], value["data"]
    letters = {"s": "int", "u": "uint", "f": "float"}
    if dtype in ("c64", "c128"):
        data = [complex(*pair) for pair in data]
    kind = TYPES.get(dtype) or np.dtype(letters[dtype[0]] + dtype[1:])
    return np.array(data).astype(kind).reshape(value["shape"])


def same(actual, expected):
    return actual.dtype == expected.dtype and np.array_equal(actual, expected, equal_nan=actual.dtype.kind in "fc")


def check_items(path, items, name):
    """How the arrays in a file differ from the expected items; "" if they are equal.

    `name` returns the name of the next array of an item."""
    with np.load(path) as file:
        expected = {}
        for item in items:
            for value in item["arrays"]:
                expected[name(item)] = array_of(value)
        if set(file.files) != set(expected):
            return f"{os.path.basename(path)} has {sorted(file.files)}"
        return next((f"{key} is {file[key]}" for key in expected if not same(file[key], expected[key])), "")


def run_feeds(tool, path, folder):
    with open(path) as file:
        case = json.load(file)
    base, ranks = path[:-len(".json")], case["replicas"] * case["partitions"]
    command = [*tool, base + ".hlo", f"--outputs={folder}/out.r%r.npz"]
    if ranks > 1:
        command.append(f"--replicas={case['replicas']}")
    if os.path.exists(base + ".r0.npz"):
        command.append(f"--inputs={base}.r%r.npz")
    if any(case["infeed"]):
        command.append(f"--infeed={base}.infeed.r%r.npz")
    if any(case["outfeed"]):
        command.append(f"--outfeed={folder}/outfeed.r%r.npz")
    if any(case["host_send"]):
        command.append(f"--host-send={folder}/send.r%r.npz")
    if any(case["host_recv"]):
        for rank, items in enumerate(case["host_recv"]):
            name = channel_names()
            np.savez(f"{folder}/recv.r{rank}.npz", **{name(i): array_of(a) for i in items for a in i["arrays"]})
        command.append(f"--host-recv={folder}/recv.r%r.npz")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if case["expect"] == "error":
        return "" if 0 < done.returncode < 70 else f"exit code {done.returncode}"
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    for rank in range(ranks):
        for i, value in enumerate(case["outputs"][rank]):
            with np.load(f"{folder}/out.r{rank}.npz") as file:
                if not same(file[f"out{i}"], array_of(value)):
                    return f"rank {rank}: out{i} is {file[f'out{i}']}"
        if any(case["outfeed"]):
            numbers = iter(range(10**6))
            why = check_items(f"{folder}/outfeed.r{rank}.npz", case["outfeed"][rank], lambda _, n=numbers: f"feed{next(n)}")
            if why:
                return f"rank {rank}: {why}"
        if any(case["host_send"]):
            why = check_items(f"{folder}/send.r{rank}.npz", case["host_send"][rank], channel_names())
            if why:
                return f"rank {rank}: {why}"
    return ""


def channel_names():
    """Names of arrays, numbered per channel."""
    counts = {}

    def name(item):
        channel = item["channel"]
        counts[channel] = counts.get(channel, -1) + 1
        return f"channel{channel}_{counts[channel]}"
    return name


def build_handlers(source, folder, prefix):
    libraries = [f"{folder}/targets.so"]
    subprocess.run([f"{prefix}gcc" if prefix else "cc", "-O1", "-shared", "-fPIC", f"{source}/targets.c", "-lm", "-o", libraries[0]], check=True)
    jaxlib = importlib.util.find_spec("jaxlib")
    if jaxlib and jaxlib.submodule_search_locations:
        headers = os.path.join(jaxlib.submodule_search_locations[0], "include")
        libraries.append(f"{folder}/targets_ffi.so")
        subprocess.run([f"{prefix}g++" if prefix else "c++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", f"-I{headers}",
                        f"{source}/targets_ffi.cc", "-o", libraries[1]], check=True)
    return libraries


def run_call(tool, case, source, libraries, folder):
    base = f"{source}/{case['name']}"
    done = subprocess.run([*tool, base + ".hlo", f"--inputs={base}.r0.npz", f"--outputs={folder}/out.npz",
                           "--custom-calls=" + ",".join(libraries)], capture_output=True, text=True, timeout=60, check=False)
    if case["expect"] == "error":
        told = all(text in done.stderr for text in case["error_mentions"])
        return "" if 0 < done.returncode < 70 and told else f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    with np.load(f"{folder}/out.npz") as actual, np.load(f"{base}.r0.npz") as golden:
        names = [f"out{i}" for i in range(len(case["outputs"]))]
        return next((f"{name} is {actual[name]}" for name in names if not same(actual[name], golden[name])), "")


def main():
    tool, shared = [sys.argv[1], *sys.argv[3:]], os.path.join(sys.argv[2], "replicated")
    target = next((flag.partition("=")[2] + "-" for flag in tool if flag.startswith("--target=")), "")
    passed = failed = 0

    def count(name, why):
        nonlocal passed, failed
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"{name}: {why}")

    with tempfile.TemporaryDirectory() as folder:
        feeds = sorted(glob.glob(f"{shared}/feeds/*.json"))
        for path in feeds:
            count(os.path.basename(path), run_feeds(tool, path, folder))
        source = f"{shared}/custom_calls"
        libraries = build_handlers(source, folder, target)
        with open(f"{source}/index.json") as file:
            index = json.load(file)
        for cases, what in ((feeds, "feeds"), (index["cases"], "custom calls"), (index["errors"], "custom calls that fail")):
            if not cases:
                count(what, "there are no cases")
        for case in index["cases"] + index["errors"]:
            if len(libraries) < 2 and any("TYPED_FFI" in target["api_version"] for target in case["targets"]):
                print(f"skipped {case['name']}: there is no jaxlib with headers")
                continue
            count(case["name"], run_call(tool, case, source, libraries, folder))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
