#!/usr/bin/env python3
"""Builds and runs the programs of libFuzzer.

  run.py [--build=build] [--no-build] [--seconds=20] [--executions=N] [--jobs=N] [--fork=N] [--corpus=FOLDER] [TARGET...]
  run.py --minimize=FOLDER [--bytes=200000] [TARGET...]

Each target starts from the files of corpus/TARGET and from seeds.py, and runs for --seconds, or --executions if they come first. Prints executions
and edges of each, and when the last new edge was found. With --corpus, what is found is kept in FOLDER/TARGET for the next run. --jobs targets run
at once, each in one process, or with --fork in N that go on after a crash. A crash, a hang of 10 s or 2 GiB of memory is a failure; the input is
kept in BUILD/fuzz. The last line reads 'N passed, N failed', a target counting as one.

--minimize makes corpus/TARGET anew of what FOLDER/TARGET has beyond seeds.py: few inputs that reach all its edges, up to --bytes in total. Files
there that libFuzzer has not named stay.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from seeds import seeds, strings_of  # noqa: E402

LONGEST = {"parse": 4096, "mlir": 4096, "ffi": 512, "npz": 4096, "call": 512}
# LLVM's libraries are not instrumented, but share containers and allocators with what is. Freed memory is kept for a while only: to take fresh pages
# for each execution costs more than the execution.
SETTINGS = {"ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:quarantine_size_mb=8"}


def dictionary(path):
    """The words of the texts as a dictionary for libFuzzer."""
    words = {word for text in seeds("parse") for word in re.findall(r"[a-z][a-z0-9_\-]{2,}=?", text)}
    words |= set(strings_of(r'"([a-z_]{3,})"', (os.path.join("parser", "Opcodes.cpp"),)))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f'"{word}"\n' for word in sorted(words))


def write_seeds(target, folder):
    """The seeds of a target that are not too long, as files."""
    os.makedirs(folder)
    for i, text in enumerate(sorted(set(seeds(target)))):
        data = text if isinstance(text, bytes) else text.encode(errors="replace")
        if len(data) <= LONGEST[target]:
            with open(os.path.join(folder, str(i)), "wb") as file:
                file.write(data)
    return folder


def program(options, target):
    return os.path.join(options.build, "bin", "fuzz-" + target)


def watch(process):
    """Parses the output of a libFuzzer process: executions, edges, and the second and execution of the last new edge."""
    start, lines = time.monotonic(), []
    executions = edges = last = at = 0
    for line in process.stdout:
        found = re.match(r"#(\d+):?\s.*\bcov: (\d+)", line)
        if found:
            executions = int(found[1])
            if int(found[2]) > edges:
                edges, last, at = int(found[2]), time.monotonic() - start, executions
        else:
            found = re.match(r"stat::number_of_executed_units: *(\d+)", line)
            executions = int(found[1]) if found else executions
            lines.append(line)
    process.wait()
    return lines, executions, edges, last, at


def run(target, options, folder):
    """(what is wrong, or empty; a line about the run)"""
    corpus = os.path.join(options.corpus or folder, target)
    os.makedirs(corpus, exist_ok=True)
    folders = [corpus, write_seeds(target, os.path.join(folder, target + ".seeds")), os.path.join(HERE, "corpus", target)]
    words = os.path.join(folder, target + ".words")
    dictionary(words)
    kept = os.path.join(options.build, "fuzz", target + "-")
    command = [program(options, target), f"-max_total_time={options.seconds}", f"-runs={options.executions}", "-timeout=10", "-rss_limit_mb=2048",
               "-detect_leaks=0", f"-max_len={LONGEST[target]}", "-print_final_stats=1", f"-artifact_prefix={kept}", "-seed=1"]
    command += [f"-dict={words}"] if target in ("parse", "mlir") else []
    command += [f"-fork={options.fork}", "-ignore_crashes=1"] if options.fork else []
    with subprocess.Popen([*command, *filter(os.path.isdir, folders)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **SETTINGS}) as process:
        lines, executions, edges, last, at = watch(process)
    line = f"{target}: {executions} executions, {edges} edges, the last new one after {last:.0f} s (execution {at})"
    crashes = [text for text in lines if "Test unit written to" in text]
    if process.returncode or crashes or not executions or not edges:
        report = [text.rstrip("\n") for text in lines if not text.startswith("stat::")]
        return "\n".join([f"exit status {process.returncode}", *report[-60:]]), line
    return None, line


def minimize(target, options, folder):
    """Makes corpus/TARGET anew; returns a line about it."""
    own = os.path.join(HERE, "corpus", target)
    start, all_edges = write_seeds(target, os.path.join(folder, target + ".seeds")), os.path.join(folder, target + ".merged")
    shutil.copytree(start, all_edges)
    # As few as reach all edges that the seeds do not.
    command = [program(options, target), "-set_cover_merge=1", "-use_counters=0", "-timeout=10", "-rss_limit_mb=2048", "-detect_leaks=0",
               f"-max_len={LONGEST[target]}", all_edges, os.path.join(options.minimize, target), *filter(os.path.isdir, [own])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env={**os.environ, **SETTINGS}, check=True)
    added = set(os.listdir(all_edges)) - set(os.listdir(start))
    total = count = 0
    os.makedirs(own, exist_ok=True)
    for name in os.listdir(own):
        if re.fullmatch(r"[0-9a-f]{40}", name):  # by libFuzzer; other names are of inputs that once failed
            os.remove(os.path.join(own, name))
    for name in sorted(added, key=lambda name: os.path.getsize(os.path.join(all_edges, name))):
        size = os.path.getsize(os.path.join(all_edges, name))
        if total + size <= options.bytes:
            shutil.copy(os.path.join(all_edges, name), own)
            total, count = total + size, count + 1
    edges = re.findall(r"cov: (\d+)", done.stdout)
    return f"{target}: {count} of {len(added)} files, {total} bytes; {edges[-1] if edges else 0} edges with the seeds"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=sorted(LONGEST))
    parser.add_argument("--build", default="build")
    parser.add_argument("--no-build", action="store_true", help="run the programs that are there")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--executions", type=int, default=-1)
    parser.add_argument("--fork", type=int, default=0)
    parser.add_argument("--corpus")
    parser.add_argument("--minimize")
    parser.add_argument("--bytes", type=int, default=200000)
    options = parser.parse_args()
    if not options.no_build:
        subprocess.run(["ninja", "-C", options.build, *["fuzz-" + target for target in options.targets]], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(os.path.join(options.build, "fuzz"), exist_ok=True)
    failed = 0
    if options.minimize:
        for target in options.targets:
            with tempfile.TemporaryDirectory() as folder:
                print(minimize(target, options, folder), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for target, (why, line) in zip(options.targets, pool.map(lambda t: run(t, options, folder), options.targets)):
            print(line + (f": {why}" if why else ""), flush=True)
            failed += why is not None
    print(f"{len(options.targets) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
