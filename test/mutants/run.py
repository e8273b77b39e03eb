#!/usr/bin/env python3
"""Plants the small bugs of mutants.txt, and reports which tests find them. Run by hand; takes hours.

  run.py [--only=N,...] [--skip=N,...] [--list] [--check] [--results=FILE] [--first] [--no-build] [--jobs=N] [--cpu=N]

One build holds all mutants: a copy of the tree in build/mutants/tree, in which each place of the table is a choice by
the environment variable HLO_MUTANT at run time. The copy is mounted over the tree in a mount namespace of its own (as
root, or where users may make namespaces), so that the build, its cache and the tests find everything at the usual paths.

Each mutant runs the tests that the table names for it, then all others but random ones, until one fails twice that
passes without the mutant.

--results=FILE  a table in Markdown; mutants in it are not run again (build/mutants/results.md)
--first         only the tests that the table names
--workers=N     mutants at a time (1)
--cpu=N         the processor that tests run on
--limit=SECONDS time limit of a set of tests (1800)
The last line reads 'N passed, N failed': mutants found, and not found.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

with open("/proc/cpuinfo", encoding="utf-8") as cpus:
    CPU_FLAGS = next((line for line in cpus if line.startswith("flags")), "").split()
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, "build", "mutants")
TREE = os.path.join(WORK, "tree")
# Tests that are not random, the cheap ones first; those of tools/test.sh that measure or install are not among them.
OTHERS = ["unit-support", "unit-evaluator", "unit-parser", "unit-dialect", "unit-target", "unit-npz", "unit-program", "unit-planner",
          "unit-runtime", "unit-codegen-elementwise", "unit-codegen-conv", "unit-codegen-dot", "unit-codegen-contraction", "unit-amx", "malformed", "lowering",
          "feeds-and-calls", "entry-layouts", "lit:.", "replicated", "check", "conformance", "jax", "optable", "accuracy",
          "benchmark-modules", "runtime-asan", "runtime-tsan"]
CHOICE = r"""%s %s{ static int known; int number = __atomic_load_n(&known, __ATOMIC_RELAXED); if (number == 0) { const char *text = getenv("HLO_MUTANT"); while (text && *text >= '0' && *text <= '9') number = 10 * number + (*text++ - '0'); number = number ? number : -1; __atomic_store_n(&known, number, __ATOMIC_RELAXED); } return number == n; }
#line 1
"""
CHOICE_C = CHOICE % ("char *getenv(const char *);", "__attribute__((unused)) static int hlo_mutant(int n) ")
CHOICE_CXX = CHOICE % ('extern "C" char *getenv(const char *) noexcept;', "[[maybe_unused]] static bool hlo_mutant(int n) ")


class Mutant:
    def __init__(self, number, path, what):
        self.number, self.path, self.what = number, path, what
        self.find = self.use = ""
        self.tests = []

    def plant(self, text):
        """The text of the file with the choice in it."""
        before, old, after = re.fullmatch(r"(.*)\{\{(.*)\}\}(.*)", self.find).groups()

        def pattern(part):
            words = r"\s+".join(re.escape(word) for word in part.split())
            return (r"\s*" if part[:1] == " " else "") + words + (r"\s*" if part[-1:] == " " else "")
        found = list(re.finditer(f"({pattern(before)})({pattern(old)})({pattern(after)})", text))
        if len(found) != 1:
            raise ValueError(f"{self.path} has {len(found)} places like '{self.find}'")
        begin, end = found[0].span(2)
        if old.rstrip().endswith(";"):
            use = self.use if self.use.endswith(";") else self.use + ";"
            choice = f"if (hlo_mutant({self.number})) {{ {use} }} else {{ {text[begin:end]} }}"
        else:
            choice = f"(hlo_mutant({self.number}) ? ({self.use}) : ({text[begin:end]}))"
        return text[:begin] + choice + text[end:]


def read_table():
    mutants = []
    with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as file:
        for line in file:
            head = re.fullmatch(r"(\d+) ([^ :]+): (.*)\n", line)
            if head:
                mutants.append(Mutant(int(head[1]), head[2], head[3]))
            elif line.startswith("  "):
                key, _, value = line.strip().partition(": ")
                if key == "try":
                    # One set for each folder or file of lit.
                    mutants[-1].tests = [f"lit:{path}" if step.startswith("lit:") else step
                                         for step in value.split() for path in step.removeprefix("lit:").split(",")]
                else:
                    setattr(mutants[-1], key, value)
    return mutants


def in_copy(command, **options):
    """Runs a command with the copy mounted over the tree."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = 'mount --make-rprivate / && mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
    return subprocess.Popen(["unshare", *user, "--mount", "sh", "-c", script, TREE, ROOT, *command], start_new_session=True, **options)


def write_if_changed(path, text):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def plant_all(mutants):
    """The texts of the files with choices, and what is wrong with the places of mutants."""
    planted, faults = {}, []
    for mutant in mutants:
        try:
            if mutant.path not in planted:
                with open(os.path.join(ROOT, mutant.path), encoding="utf-8") as file:
                    planted[mutant.path] = file.read()
            planted[mutant.path] = mutant.plant(planted[mutant.path])
        except (OSError, ValueError) as fault:
            faults.append(f"mutant {mutant.number}: {fault}")
    return planted, faults


def make_tree(mutants):
    """Makes the copy. Files keep their times, so that only changed files are rebuilt."""
    planted, faults = plant_all(mutants)
    if faults:
        sys.exit("\n".join(faults))
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE, text=True, check=True)
    for name in listing.stdout.splitlines():
        source, target = os.path.join(ROOT, name), os.path.join(TREE, name)
        if name in planted:
            choice = CHOICE_C if name.endswith(".c") else CHOICE_CXX
            write_if_changed(target, choice + planted[name])
        elif os.path.isfile(source) and (not os.path.exists(target) or os.stat(source).st_mtime_ns != os.stat(target).st_mtime_ns):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    with open(os.path.join(TREE, "test", "lit.cfg.py"), "r+", encoding="utf-8") as file:
        if "HLO_MUTANT" not in file.read():
            file.write('config.environment["HLO_MUTANT"] = os.environ.get("HLO_MUTANT", "0")\n')
    build = os.path.join(TREE, "build")
    if not os.path.exists(build):
        os.makedirs(build)
        for name in os.listdir(os.path.join(ROOT, "build")):
            if name != "mutants":
                subprocess.run(["cp", "-a", "--reflink=auto", os.path.join(ROOT, "build", name), build], check=True)


class Tests:
    """Runs sets of tests, with and without mutants."""

    def __init__(self, cpu, limit):
        self.prefix = ["taskset", "-c", str(cpu)] if cpu is not None else []
        self.limit = limit
        self.lit = threading.Lock()  # lit keeps what tests write at one place
        self.groups = set()

    def output_of(self, command, number, stop=None, **variables):
        """(what the command prints, exit status, whether the time limit ended it); `stop`: a line that ends it."""
        environment = dict(os.environ, HLO_MUTANT=str(number), PYTHONUNBUFFERED="1",
                           PATH=os.path.join(ROOT, "build", "bin") + os.pathsep + os.environ["PATH"], **variables)
        process = in_copy(self.prefix + ["nice", "-n", "5"] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, env=environment, text=True, errors="replace")
        self.groups.add(process.pid)
        late = threading.Event()

        def end():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)
        timer = threading.Timer(self.limit, end)
        timer.start()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if stop and re.match(stop, line):
                break
        stopped = stop and lines and re.match(stop, lines[-1])
        if not stopped:
            process.wait()
        timer.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        self.groups.discard(process.pid)
        return "".join(lines), process.returncode, late.is_set()

    def end_all(self):
        for group in list(self.groups):
            os.killpg(group, signal.SIGKILL)

    def find(self, tests, number):
        """The first test among these that fails because of the mutant; None if there is none."""
        name, _, what = tests.partition(":")
        if name == "lit" and what.split("/")[0] == "e2e":
            return self.find_in_cases(what, number)
        if name == "lit":
            with self.lit:
                return self.find_in_lit(what, number)
        if name.startswith("unit-"):
            return self.find_in_program(name, number)
        return self.find_in_suite(name, number)

    def is_mutants(self, command, number):
        """Whether a failed test fails again, and passes without the mutant. (Some tests depend on the machine's load.)"""
        return self.output_of(command, number)[1] != 0 and self.output_of(command, 0)[1] == 0

    def find_in_cases(self, what, number):
        """find() for tests that lit runs, case by case."""
        path = os.path.join(ROOT, "test", what)
        files = [path] if path.endswith(".hlo") else sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".hlo"))
        for file in files:
            with open(file, encoding="utf-8") as text:
                runs = re.findall(r"^// RUN: (?:%if (\w+) %\{ )?%e2e (.*?)(?: %\})?$", text.read(), re.M)
            for feature, arguments in runs:
                if feature and feature not in CPU_FLAGS:
                    continue
                command = [sys.executable, "test/e2e/run.py", *arguments.replace("%s", file).split()]
                said, status, late = self.output_of(command, number, stop=r".*\.hlo: ")
                failed = re.search(r"^\S+\.hlo: (\S+): ", said, re.M)
                if not failed and not status:
                    continue
                case = failed[1] if failed else ""
                if self.is_mutants([*command, f"--filter=^{re.escape(case)}$"] if case else command, number):
                    return f"{os.path.relpath(file, os.path.join(ROOT, 'test'))}: {case}" + " (time limit)" * late
        return None

    def find_in_lit(self, what, number):
        left_out = set()
        while True:
            command = ["lit-22", "-v", "-j1", "--param", f"build={ROOT}/build"]
            said, status, late = self.output_of([*command, f"{ROOT}/test/{what}"], number, stop=r"(FAIL|TIMEOUT|UNRESOLVED): ",
                                                LIT_FILTER_OUT="|".join(re.escape(name) for name in left_out) or "^$")
            failed = re.search(r"^(?:FAIL|TIMEOUT|UNRESOLVED): \S+ :: (\S+)", said, re.M)
            if not failed and (not status or not late):
                return None
            test = failed[1] if failed else what
            if self.is_mutants([*command, f"{ROOT}/test/{test}"], number):
                return test + " (time limit)" * late
            if late:
                return None
            left_out.add(test)

    def find_in_program(self, name, number):
        left_out = set()
        while True:
            program = [os.path.join(ROOT, "build", "bin", name), "--gtest_fail_fast"]
            said, status, late = self.output_of([*program, "--gtest_filter=*" + ("-" + ":".join(left_out)) * bool(left_out)], number)
            if not status:
                return None
            # One that died or hung says no more than what it began with.
            test = (re.findall(r"^\[  FAILED  \] ([\w/.]+)", said, re.M) or re.findall(r"^\[ RUN      \] (\S+)", said, re.M)[-1:] or ["*"])[0]
            if self.is_mutants([*program, f"--gtest_filter={test}"], number):
                return test + " (time limit)" * late
            if late:
                return None
            left_out.add(test)

    def find_in_suite(self, name, number):
        command = ["tools/test.sh", "--no-build", f"--only={name}"]
        with self.lit:
            said, status, late = self.output_of(command, number)
            if not status or not self.is_mutants(command, number):
                return None
            failed = re.search(r"^(?:FAILED|FAIL|failed|wrong|not ok)[: ]+(.*)", said, re.M)
            return (failed[1].strip()[:100] if failed else name) + " (time limit)" * late


def read_results(path):
    rows = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
                if len(cells) == 5 and cells[0].isdigit():
                    rows[int(cells[0])] = cells[3:]
    return rows


def write_results(path, mutants, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("| | file | bug | found by | test |\n|--:|---|---|---|---|\n")
        for mutant in mutants:
            if mutant.number in rows:
                file.write(f"| {mutant.number} | {mutant.path} | {mutant.what} | {' | '.join(rows[mutant.number])} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--results", default=os.path.join(WORK, "results.md"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cpu", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=int, default=1800)
    options = parser.parse_args()
    table = read_table()
    chosen = [m for m in table if (not options.only or str(m.number) in options.only.split(",")) and str(m.number) not in options.skip.split(",")]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.number:4} {mutant.path}: {mutant.what}")
        return
    if options.check:
        faults = plant_all(chosen)[1]
        sys.exit("\n".join(faults + [f"{len(chosen)} mutants, {len(faults)} without a place"]) if faults else 0)
    tests = Tests(options.cpu, options.limit)
    if not options.no_build:
        os.makedirs(WORK, exist_ok=True)
        make_tree(table)
        build = tests.prefix + ["nice", "-n", "5", "sh", "-c", f"cmake build > /dev/null && ninja -C build -j{options.jobs}"]
        if in_copy(build).wait():
            sys.exit("error: the mutants do not compile")
    rows = read_results(options.results)

    def measure(mutant):
        start = time.monotonic()
        row = ["-", "-"]
        for step in mutant.tests + ([] if options.first else [other for other in OTHERS if other not in mutant.tests]):
            found = tests.find(step, mutant.number)
            if found:
                row = [step.partition(":")[0], found]
                break
        rows[mutant.number] = row
        print(f"{mutant.number:4} {mutant.path}: {' '.join(row)} ({time.monotonic() - start:.0f} s)", flush=True)
        write_results(options.results, table, rows)

    signal.signal(signal.SIGTERM, lambda *_: (tests.end_all(), os._exit(1)))
    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(measure, [m for m in chosen if rows.get(m.number, ["-"])[0] == "-"]))
    found = sum(rows[m.number][0] != "-" for m in chosen)
    print(f"{found} passed, {len(chosen) - found} failed")
    sys.exit(0 if found == len(chosen) and found else 1)


if __name__ == "__main__":
    main()
