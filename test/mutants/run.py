#!/usr/bin/env python3
"""Plants the small bugs of mutants.txt, and says which tests find them. By hand: hours.

  run.py [--only=N,...] [--skip=N,...] [--list] [--results=FILE] [--first] [--no-build] [--jobs=N] [--cpu=N]

One build holds all mutants: a copy of the tree in build/mutants/tree, in which each place of the table is a choice that the environment
variable HLO_MUTANT makes when the program runs. The copy is mounted where the tree is, in a mount namespace of its own (as root, or
where users may make namespaces), so that the build, its cache and the tests find everything at the usual paths.

Each mutant runs the tests that the table names for it, then all others but random ones; the first failure ends it. A set of tests runs
without a mutant before it counts: what fails then is left out.

--results=FILE  a table in Markdown; mutants that it has are not run again (build/mutants/results.md)
--first         only the tests that the table names
--cpu=N         the processor that tests run on
The last line reads 'N passed, N failed': mutants found, and not found.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, "build", "mutants")
TREE = os.path.join(WORK, "tree")
# Tests that are not random, the cheap ones first; those of tools/test.sh that measure or install are not among them.
OTHERS = ["unit-support", "unit-evaluator", "unit-parser", "unit-dialect", "unit-target", "unit-npz", "unit-program", "unit-planner",
          "unit-runtime", "unit-codegen-elementwise", "unit-codegen-conv", "unit-codegen-dot", "unit-amx", "malformed", "lowering",
          "feeds-and-calls", "entry-layouts", "lit:.", "replicated", "check", "conformance", "jax", "optable", "accuracy",
          "benchmark-modules", "runtime-asan", "runtime-tsan"]
# What a mutant may take longer than the tests take without it.
SLACK = 60
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
            raise ValueError(f"mutant {self.number}: {self.path} has {len(found)} places like '{self.find}'")
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
                    mutants[-1].tests = value.split()
                else:
                    setattr(mutants[-1], key, value)
    return mutants


def in_copy(command, **options):
    """Starts a command where the copy stands in the place of the tree."""
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


def make_tree(mutants):
    """The copy: files keep their times, so that only what the mutants change is built again."""
    planted = {}
    for mutant in mutants:
        if mutant.path not in planted:
            with open(os.path.join(ROOT, mutant.path), encoding="utf-8") as file:
                planted[mutant.path] = file.read()
        planted[mutant.path] = mutant.plant(planted[mutant.path])
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

    def __init__(self, cpu):
        self.prefix = ["taskset", "-c", str(cpu)] if cpu is not None else []
        self.usual = {}  # set -> (seconds, what fails without a mutant)

    def command(self, tests, failing, stops):
        bin_folder = os.path.join(ROOT, "build", "bin")
        name, _, what = tests.partition(":")
        if name == "lit":
            folders = [os.path.join(ROOT, "test", folder) for folder in what.split(",")]
            return ["lit-22", "-v", "-j1", *(["--max-failures=1"] if stops else []), "--param", f"build={ROOT}/build", *folders]
        if name.startswith("unit-"):
            kept = ":".join([what or "*"] + ["-" + ":".join(failing)] * bool(failing)) if failing else what or "*"
            return [os.path.join(bin_folder, name), f"--gtest_filter={kept}", *(["--gtest_fail_fast"] if stops else [])]
        return ["tools/test.sh", "--no-build", f"--only={name}"]

    @staticmethod
    def failures(tests, output):
        """The names of what failed."""
        if tests.startswith("lit:"):
            return re.findall(r"^(?:FAIL|TIMEOUT|UNRESOLVED|XPASS): \S+ :: (\S+)", output, re.M)
        if tests.startswith("unit-"):
            failed = re.findall(r"^\[  FAILED  \] ([\w/.]+)(?:,| \()", output, re.M)
            started = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
            return failed or started[-1:]
        found = re.findall(r"^(?:FAILED|FAIL|failed|wrong|not ok)[: ]+(.*)", output, re.M)
        return [line.strip()[:100] for line in found] or ["a suite of tools/test.sh"]

    def run(self, tests, number, failing, limit, stops):
        """(seconds, failures; a time-out is one)"""
        environment = dict(os.environ, HLO_MUTANT=str(number), LIT_FILTER_OUT="|".join(re.escape(name) for name in failing) or "^$")
        start = time.monotonic()
        log = os.path.join(WORK, "log")
        with open(log, "w", encoding="utf-8") as file:
            process = in_copy(self.prefix + ["nice", "-n", "5"] + self.command(tests, failing, stops), stdout=file,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
            late = False
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                late = True
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        with open(log, encoding="utf-8", errors="replace") as file:
            output = file.read()
        seconds = time.monotonic() - start
        if late:
            return seconds, [name + " (time limit)" for name in self.failures(tests, output)[-1:]] or [f"{tests} (time limit)"]
        return seconds, self.failures(tests, output) if process.returncode else []

    def find(self, tests, number):
        """The first failure of these tests that is not usual, or nothing."""
        if tests not in self.usual:
            seconds, failing = self.run(tests, 0, [], 3600, False)
            self.usual[tests] = seconds, failing
            print(f"  {tests}: {seconds:.0f} s" + (f", without a mutant fails {', '.join(failing)}" if failing else ""), flush=True)
        seconds, failing = self.usual[tests]
        if failing and not tests.startswith(("lit:", "unit-")):
            return None
        _, found = self.run(tests, number, failing, 2 * seconds + SLACK, True)
        return next((name for name in found if name not in failing), None)


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
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--results", default=os.path.join(WORK, "results.md"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cpu", type=int)
    options = parser.parse_args()
    table = read_table()
    chosen = [m for m in table if (not options.only or str(m.number) in options.only.split(",")) and str(m.number) not in options.skip.split(",")]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.number:4} {mutant.path}: {mutant.what}")
        return
    tests = Tests(options.cpu)
    if not options.no_build:
        os.makedirs(WORK, exist_ok=True)
        make_tree(table)
        build = tests.prefix + ["nice", "-n", "5", "sh", "-c", f"cmake build > /dev/null && ninja -C build -j{options.jobs}"]
        if in_copy(build).wait():
            sys.exit("error: the mutants do not compile")
    rows = read_results(options.results)
    for mutant in chosen:
        if mutant.number in rows and rows[mutant.number][0] != "-":
            continue
        start = time.monotonic()
        rows[mutant.number] = ["-", "-"]
        for step in mutant.tests + ([] if options.first else [other for other in OTHERS if other not in mutant.tests]):
            found = tests.find(step, mutant.number)
            if found:
                rows[mutant.number] = [step.partition(":")[0], found]
                break
        suite, found = rows[mutant.number]
        print(f"{mutant.number:4} {mutant.path}: {suite} {found} ({time.monotonic() - start:.0f} s)", flush=True)
        write_results(options.results, table, rows)
    found = sum(rows[m.number][0] != "-" for m in chosen)
    print(f"{found} passed, {len(chosen) - found} failed")
    sys.exit(0 if found == len(chosen) and found else 1)


if __name__ == "__main__":
    main()
