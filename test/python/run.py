"""Runs the tests of this folder; the last line reads 'N passed, N failed'. See run.sh."""
import faulthandler
import fnmatch
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def main(patterns):
    faulthandler.dump_traceback_later(240, exit=True)
    chosen = [test for test in tests_of(unittest.defaultTestLoader.discover(str(HERE)))
              if not patterns or any(fnmatch.fnmatch(test.id(), f"{pattern}*") for pattern in patterns)]
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, buffer=True).run(unittest.TestSuite(chosen))
    for test, reason in result.skipped:
        print(f"skipped {test.id()}: {reason}")
    failed = len({test.id() for test, _ in [*result.failures, *result.errors]})
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
