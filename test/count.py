#!/usr/bin/env python3
"""Runs tests of GoogleTest, lit or CTest and counts them as a suite of tools/test.sh does.

  count.py gtest PROGRAM        a program of unit tests
  count.py lit BUILD [ARG...]   the FileCheck tests, or the ones that the arguments select
  count.py ctest BUILD          the tests registered with CTest that are not programs of unit tests

Results come from the XML file that each framework writes, which is deleted first. Prints failures, then one line
'skipped NAME: REASON' for each test that did not run. The last line reads 'N passed, N failed'.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, results):
    """(exit status, test cases of the XML file); no cases if there is no complete file."""
    status = subprocess.run(command, check=False).returncode
    try:
        return status, list(ElementTree.parse(results).iter("testcase"))
    except (OSError, ElementTree.ParseError) as e:
        print(f"no results: {e}")
        return status, []


def finish(status, cases, name, skipped_of):
    """Prints the failures, the skipped cases and the counts, and exits."""
    passed = failed = 0
    for case in cases:
        reason = skipped_of(case)
        if reason is not None:
            print(f"skipped {name(case)}: {' '.join(reason.split())}")
        elif case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"FAILED {name(case)}")
        else:
            passed += 1
    if status and not failed:
        failed = 1
        print(f"exit status {status}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def gtest(program, folder):
    results = os.path.join(folder, "results.xml")
    status, cases = run([program, f"--gtest_output=xml:{results}"], results)

    def skipped(case):
        if case.get("status") == "notrun":
            return "disabled"
        element = case.find("skipped")
        return None if element is None else element.get("message") or "no reason given"

    finish(status, cases, lambda case: f"{case.get('classname')}.{case.get('name')}", skipped)


def lit(build, folder, arguments):
    results, program = os.path.join(folder, "results.xml"), shutil.which("lit-22") or shutil.which("llvm-lit")
    program = program or "/usr/lib/llvm-22/build/utils/lit/lit.py"
    # What an earlier run has left must not make a test pass; the times of the tests only order them.
    runtime = [a.partition("runtime=")[2] for a in arguments if "runtime=" in a] or [build]
    for path in glob.glob(os.path.join(runtime[0], "test", "lit", "*")):
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    command = [program, "-sv", "--param", f"build={build}", f"--xunit-xml-output={results}", *(arguments or [os.path.join(ROOT, "test")])]
    status, cases = run(command, results)

    def skipped(case):
        element = case.find("skipped")
        return None if element is None else element.get("message") or "no reason given"

    finish(status, cases, lambda case: f"{case.get('classname').removeprefix('hlo-compile.')}/{case.get('name')}", skipped)


def ctest(build, folder):
    results = os.path.join(folder, "results.xml")
    status, cases = run(["ctest", "--test-dir", build, "-LE", "unit", "--output-on-failure", "--no-tests=error", "--output-junit", results], results)

    def skipped(case):
        element = case.find("skipped")
        return None if element is None and case.get("status") not in ("notrun", "disabled") else "CTest did not run it"

    finish(status, cases, lambda case: case.get("name"), skipped)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("gtest", "lit", "ctest"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "gtest":
            gtest(sys.argv[2], folder)
        elif sys.argv[1] == "lit":
            lit(sys.argv[2], folder, sys.argv[3:])
        else:
            ctest(sys.argv[2], folder)


if __name__ == "__main__":
    main()
