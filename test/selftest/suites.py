"""Breaks stub suites in every way that tools/suites.sh must notice, and checks its report.

  suites.py ROOT

The last line reads 'N passed, N failed'.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
GOOD = "suite good echo '2 passed, 0 failed'\n"
# name, text of the script between suites_begin and suites_end, arguments, exit status, last line, texts of the output
CASES = [
    ("good", GOOD, [], 0, "2 passed, 0 failed", ["good"]),
    ("two", GOOD + "suite more echo '3 passed, 0 failed'", [], 0, "5 passed, 0 failed", []),
    ("fails", GOOD + "suite bad sh -c 'echo why it failed; echo 3 passed, 1 failed; exit 1'", [], 1, "5 passed, 1 failed", ["why it failed"]),
    ("fails with status 0", GOOD + "suite bad echo '3 passed, 1 failed'", [], 1, "5 passed, 1 failed", []),
    ("runner is absent", GOOD + "suite bad ./no-such-program", [], 1, "2 passed, 1 failed", ["bad gave no result (exit status 127)"]),
    ("script is absent", GOOD + "suite bad python3 no-such-script.py", [], 1, "2 passed, 1 failed", ["bad gave no result (exit status 2)"]),
    ("list is empty", GOOD + "suite bad echo '0 passed, 0 failed'", [], 1, "2 passed, 1 failed", ["bad ran nothing"]),
    ("killed", GOOD + "suite bad sh -c 'echo start; kill -9 $$'", [], 1, "2 passed, 1 failed", ["bad gave no result (exit status 137)"]),
    ("killed after its result", GOOD + "suite bad sh -c 'echo 3 passed, 0 failed; kill -9 $$'", [], 1, "5 passed, 1 failed",
     ["bad reported no failure, but its exit status is 137"]),
    ("died after an early result", GOOD + "suite bad sh -c 'echo 3 passed, 0 failed; echo Segmentation fault'", [], 1, "2 passed, 1 failed",
     ["bad gave no result (exit status 0)"]),
    ("silent", GOOD + "suite bad true", [], 1, "2 passed, 1 failed", ["bad gave no result (exit status 0)"]),
    ("hangs", GOOD + "suite --limit=1 bad sh -c 'echo waiting; sleep 100'", [], 1, "2 passed, 1 failed", ["bad took longer than 1 s", "waiting"]),
    ("hangs and ignores signals", GOOD + "suite --limit=1 bad sh -c 'trap \"\" TERM; sleep 3; sleep 3; sleep 3; sleep 3; sleep 3'", [], 1,
     "2 passed, 1 failed", ["bad took longer than 1 s"]),
    ("child hangs after the result", GOOD + "suite --limit=2 bad sh -c 'echo 1 passed, 0 failed; sleep 100'", [], 1, "3 passed, 1 failed",
     ["bad took longer than 2 s"]),
    ("result of an earlier run", "echo '9 passed, 0 failed' > results/earlier\nsuites_begin results\nsuite bad cat results/earlier", [], 1,
     "0 passed, 1 failed", ["bad gave no result"]),
    ("by status", "suite --status demo echo hello", [], 0, "1 passed, 0 failed", ["  hello"]),
    ("by status, fails", "suite --status demo false", [], 1, "0 passed, 1 failed", ["demo exit status 1"]),
    ("by status, silent", "suite --status demo true", [], 1, "0 passed, 1 failed", ["demo printed nothing"]),
    ("skipped tests", "suite good printf 'skipped one: no lapack\\n1 passed, 0 failed\\n'", [], 0, "1 passed, 0 failed", ["skipped:", "  good: one: no lapack"]),
    ("skipped suite", GOOD + "skip_suite other 'no such data'", [], 0, "2 passed, 0 failed", ["  other: no such data"]),
    ("all are skipped", "skip_suite other 'no such data'", [], 1, "0 passed, 1 failed", ["nothing was run"]),
    ("no suites", "", [], 1, "0 passed, 1 failed", ["nothing was run"]),
    ("only", GOOD + "suite bad false", ["--only=good"], 0, "2 passed, 0 failed", []),
    ("only, of a pattern", GOOD + "suite bad false", ["--only=go*"], 0, "2 passed, 0 failed", []),
    ("only, of a name that is none", GOOD, ["--only=good,bad"], 1, "2 passed, 1 failed", ["no suite is named bad"]),
    ("script ends early", GOOD + "exit 0", [], 1, "2 passed, 1 failed", ["the tests ended before their end"]),
    ("script has an error", GOOD + "set -u; echo $nothing_like_it", [], 1, "2 passed, 1 failed", ["the tests ended before their end"]),
    ("script's option is wrong", GOOD + "suite --time=1 bad true", [], 1, "2 passed, 1 failed", ["unknown option --time=1"]),
    ("list", GOOD + "suite bad false", ["--list"], 0, "bad: false", ["good: echo"]),
]


def check(folder, text, arguments, status, last, texts):
    """What is wrong, in words; or nothing."""
    script = f'source "{ROOT}/tools/suites.sh"\nsuites_begin results "$@"\n{text}\nsuites_end\n'
    done = subprocess.run(["bash", "-c", script, "test", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)
    lines = done.stdout.splitlines()
    if done.returncode != status or not lines or lines[-1] != last or not all(t in done.stdout for t in texts):
        return f"exit status {done.returncode}, expected {status}; expected the last line '{last}' and {texts} in\n{done.stdout}"
    return None


def run(case):
    with tempfile.TemporaryDirectory() as folder:
        return check(folder, *case[1:])


def main():
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:  # most of them sleep
        answers = list(pool.map(run, CASES))
    for (name, *_), why in zip(CASES, answers):
        if why:
            failed += 1
            print(f"{name}: {why}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
