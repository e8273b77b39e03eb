#!/usr/bin/env python3
"""Breaks each suite of tools/test.sh in turn, in a copy of the tree, and checks that test.sh reports it. Run by hand; takes some minutes.

  break.py [--only=SUITE,...] [--ways=rename,empty,kill]

rename  the program or script that the suite starts does not exist
empty   the suite's list of cases is empty
kill    the suite's process is killed (SIGKILL) while it runs

The build must be up to date: nothing is built. Prints test.sh's report on each suite; the last line reads 'N passed, N failed'.
"""
import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Suite -> a shell command, run in the copy, that empties the suite's list of cases.
EMPTY = {
    "unit-*": 'printf "#!/bin/sh\\nexec %s --gtest_filter=-* \\"\\$@\\"\\n" "$(readlink -f build/bin/$SUITE)" > x && rm build/bin/$SUITE && mv x build/bin/$SUITE && chmod +x build/bin/$SUITE',
    "ctest": ": > build/CTestTestfile.cmake",
    "lit": "find test -name '*.test' -o -name '*.hlo' -o -name '*.mlir' | xargs rm",
    "malformed": "for f in test/error/ops/*.test; do : > $f; done",
    "lowering": "for f in test/transforms/lowering/*.test; do : > $f; done",
    "accuracy": "sed -i 's/filter=\"\"/filter=none/' test/accuracy/run.sh",
    "optable": "for f in test/optable/rows_*.py; do sed -i 's/^ROWS *=.*/ROWS = []/' $f; done; for f in test/optable/golden/*; do : > $f; done",
    "benchmark-modules": "rm test/performance/modules/*.hlo",
    "demo": ": > examples/digits/digits_test.bin",
    "frontend": "find test -name '*.hlo' -o -name '*.mlir' | xargs rm",
    "bounds": "sed -i 's/def test_/def check_/' test/fuzz/bounds/test.py",
    "fuzz": "sed -i 's/--count=300/--count=0/' tools/test.sh",
    "sharded-ops": "sed -i 's/^    family()/    pass/' test/spmd/cases.py",
    "dynamic": "sed -i 's/--count=60/--count=0/' tools/test.sh",
    "coverage": "sed -i 's/^LONGEST = .*/LONGEST = {}/' test/fuzz/targets/run.py",
    "feeds-and-calls": "rm ../shared/replicated/feeds",
    "entry-layouts": ": > test/entry_layout_cases.py",
    "conformance": "echo '{\"cases\": []}' > ../shared/conformance/index.json",
    "replicated": "echo '{\"cases\": []}' > ../shared/replicated/corpus/index.json",
    "spmd": "rm ../shared/spmd/cases",
    "check": "rm -r ../shared/models",
}


def copy_tree(folder):
    """Copies the tree's files; build refers to the real build folder, and shared data is linked."""
    tree, build, shared = os.path.join(folder, "tree"), os.path.join(folder, "tree", "build"), os.path.join(ROOT, "..", "shared")
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    for name in names:
        os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), os.path.join(tree, name))
    for part in ("", "bin", "test"):
        os.makedirs(os.path.join(build, part), exist_ok=True)
        for name in os.listdir(os.path.join(ROOT, "build", part)):
            if name not in ("bin", "test", "build.ninja", "results", "lit", "CTestTestfile.cmake"):
                os.symlink(os.path.join(ROOT, "build", part, name), os.path.join(build, part, name))
        if part != "bin" and os.path.exists(os.path.join(ROOT, "build", part, "CTestTestfile.cmake")):
            shutil.copy2(os.path.join(ROOT, "build", part, "CTestTestfile.cmake"), os.path.join(build, part))
    if os.path.isdir(shared):
        for part in ("", "conformance", "replicated", "replicated/corpus", "spmd"):
            os.makedirs(os.path.join(folder, "shared", part), exist_ok=True)
            for name in os.listdir(os.path.join(shared, part)):
                path = os.path.join(folder, "shared", part, name)
                if name == "index.json":
                    shutil.copy2(os.path.join(shared, part, name), path)
                elif name not in ("conformance", "replicated", "corpus", "spmd"):
                    os.symlink(os.path.realpath(os.path.join(shared, part, name)), path)
    return tree


def runner(tree, words):
    """The file that a suite starts: a program of the build, else the first script in its command."""
    files = [w if os.path.isabs(w) else os.path.join(tree, w) for w in words if "/" in w and not w.startswith("-")]
    files = [f for f in files if os.path.isfile(f) and "/venv/" not in f]
    return next((f for f in files if "/build/bin/unit-" in f), files[0])


def kill_suite(process):
    """Kills the process that `timeout` started below `process`."""
    def children(pid):
        return subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()

    def below(pid):
        for child in children(pid):
            try:
                with open(f"/proc/{child}/comm", encoding="utf-8") as file:
                    found = children(child) if file.read().strip() == "timeout" else below(child)
            except FileNotFoundError:  # it has ended
                continue
            if found:
                return found
        return []
    while process.poll() is None:
        found = below(process.pid)
        if found:
            time.sleep(0.05)
            for pid in found:
                subprocess.run(["kill", "-KILL", pid], check=False)
            return
        time.sleep(0.002)


def broken(way, suite, words):
    """test.sh's report on the broken suite."""
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(folder)
        words = [w.replace(ROOT, tree) for w in words]
        if way == "rename":
            path = runner(tree, words)
            os.rename(path, path + ".renamed")
        if way == "empty":
            command = next(c for p, c in EMPTY.items() if fnmatch.fnmatch(suite, p))
            subprocess.run(["bash", "-c", command], cwd=tree, env={**os.environ, "SUITE": suite}, check=True)
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen([os.path.join(tree, "tools/test.sh"), "--no-build", f"--only={suite}"], stdout=log, stderr=subprocess.DEVNULL)
            if way == "kill":
                kill_suite(process)
            process.wait()
            log.seek(0)
            return process.returncode, log.read().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--ways", default="rename,empty,kill")
    options = parser.parse_args()
    listing = subprocess.run([os.path.join(ROOT, "tools/test.sh"), "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    passed = failed = 0
    for line in listing.splitlines():
        suite, _, command = line.partition(": ")
        if command.startswith("skipped:") or not any(fnmatch.fnmatch(suite, p) for p in options.only.split(",")):
            continue
        for way in options.ways.split(","):
            if way == "empty" and not any(fnmatch.fnmatch(suite, p) for p in EMPTY):
                continue
            status, said = broken(way, suite, command.split())
            noticed = status == 1 and said and re.fullmatch(r"\d+ passed, [1-9]\d* failed", said[-1])
            passed, failed = passed + bool(noticed), failed + (not noticed)
            about = next((text for text in said if text.startswith(suite + " ")), "")
            print(f"{'ok' if noticed else 'NOT NOTICED'}: {way} {suite}: {' '.join(about.split())}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
