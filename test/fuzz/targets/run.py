#!/usr/bin/env python3
"""Builds and runs the programs of libFuzzer.

  run.py [--build=build] [--seconds=20] [--jobs=N] [--corpus=FOLDER] [TARGET...]

Each target starts from the files of corpus/TARGET and from what the tests of this repository hold of its kind, and runs for --seconds. Prints
executions and edges of each. With --corpus, what is found is kept in FOLDER/TARGET for the next run. A crash, a hang of 10 s or 2 GiB of memory is a
failure; the input is kept in BUILD/fuzz. The last line reads 'N passed, N failed', a target counting as one.
"""
import argparse
import concurrent.futures
import glob
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from frontend import texts  # noqa: E402

LONGEST = {"parse": 4096, "mlir": 4096, "ffi": 512, "npz": 4096}


def strings_of(pattern, suffixes):
    """What the groups of a pattern match in the tests' files."""
    for path in glob.glob(os.path.join(TESTS, "**", "*"), recursive=True):
        if path.endswith(suffixes):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield from re.findall(pattern, file.read())


def npy(descr, shape, data, fortran=False, version=1):
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 9 + 2 * version) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2 * version, "little") + header + data


def archives():
    """Files .npz and .npy with the arrays that fuzz-npz reads, stored and deflated, whole and not."""
    arrays = {"x": npy("<f4", (2, 3), bytes(24)), "in1": npy("<i2", (2, 3), bytes(range(12)), True), "z": npy("<c16", (2,), bytes(32), version=2),
              "p": npy("|b1", (), b"\1"), "in4": npy("|i1", (2, 3), bytes(6)), "b": npy("<V2", (2, 3), bytes(12)), "more/x.1": npy(">f4", (2, 3), bytes(24))}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for names in (["x"], ["x", "in1"], list(arrays)):
            data = io.BytesIO()
            with zipfile.ZipFile(data, "w", method) as archive:
                for name in names:
                    archive.writestr(name + ".npy", arrays[name])
            yield data.getvalue()
    with_sizes = io.BytesIO()
    with zipfile.ZipFile(with_sizes, "w") as archive, archive.open("x.npy", "w", force_zip64=True) as member:
        member.write(arrays["x"])
    yield with_sizes.getvalue()
    yield from arrays.values()


def seeds(target):
    """Inputs of a target, from the tests or made here."""
    if target == "parse":
        return texts([TESTS])
    if target == "mlir":
        found = []
        for path in glob.glob(os.path.join(TESTS, "**", "*.mlir"), recursive=True):
            with open(path, encoding="utf-8", errors="replace") as file:
                found += re.split(r"^// -----.*\n", file.read(), flags=re.MULTILINE)
        return found
    if target == "ffi":
        return [text.replace('\\"', '"') for text in strings_of(r'backend_config="?((?:[^"\\\n]|\\.)*\})', (".hlo", ".test"))]
    return list(archives())


def dictionary(path):
    """The words of the texts, as libFuzzer reads them."""
    words = {word for text in seeds("parse") for word in re.findall(r"[a-z][a-z0-9_\-]{2,}=?", text)}
    words |= set(strings_of(r'"([a-z_]{3,})"', (os.path.join("parser", "Opcodes.cpp"),)))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f'"{word}"\n' for word in sorted(words))


def run(target, options, folder):
    """(what is wrong, or nothing; a line about the run)"""
    corpus = os.path.join(options.corpus or folder, target)
    start = os.path.join(folder, target + ".seeds")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(start)
    for i, text in enumerate(sorted(set(seeds(target)))):
        data = text if isinstance(text, bytes) else text.encode(errors="replace")
        if len(data) <= LONGEST[target]:
            with open(os.path.join(start, str(i)), "wb") as file:
                file.write(data)
    folders = [corpus, start, os.path.join(HERE, "corpus", target)]
    words = os.path.join(folder, target + ".words")
    dictionary(words)
    kept = os.path.join(options.build, "fuzz", target + "-")
    command = [os.path.join(options.build, "bin", "fuzz-" + target), f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=2048",
               f"-max_len={LONGEST[target]}", "-print_final_stats=1", f"-dict={words}", f"-artifact_prefix={kept}", "-seed=1", *filter(os.path.isdir, folders)]
    # LLVM's libraries are not instrumented, but share containers and allocators with what is.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, check=False)
    edges, executions = re.findall(r"cov: (\d+)", done.stdout), re.findall(r"number_of_executed_units: *(\d+)", done.stdout)
    line = f"{target}: {executions[-1] if executions else 0} executions, {edges[-1] if edges else 0} edges"
    if done.returncode or not executions or not int(executions[-1]) or not edges:
        report = [text for text in done.stdout.splitlines() if not re.match(r"#\d+\s|stat::", text)]
        return "\n".join([f"exit status {done.returncode}", *report[-60:]]), line
    return None, line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=sorted(LONGEST))
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--corpus")
    options = parser.parse_args()
    subprocess.run(["ninja", "-C", options.build, *["fuzz-" + target for target in options.targets]], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(os.path.join(options.build, "fuzz"), exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for target, (why, line) in zip(options.targets, pool.map(lambda t: run(t, options, folder), options.targets)):
            print(line + (f": {why}" if why else ""), flush=True)
            failed += why is not None
    print(f"{len(options.targets) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
