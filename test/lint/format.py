"""Checks that C and C++ files are formatted by their folder's .clang-format.

  format.py CLANG_FORMAT ROOT [--fix]

Prints the first difference of each file and exits with status 1 if there is any; with --fix, formats the files instead.
"""
import os
import subprocess
import sys

FOLDERS = ["compiler", "dialect", "examples", "runtime", "test", "tools"]
SUFFIXES = (".c", ".cpp", ".h", ".hpp")


def sources(root):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    yield os.path.join(path, name)


def main():
    tool, root = sys.argv[1:3]
    arguments = ["-i"] if "--fix" in sys.argv[3:] else ["--dry-run", "--ferror-limit=1", "-Werror"]
    files = list(sources(root))
    done = subprocess.run([tool, "--style=file", *arguments, *files], text=True, capture_output=True)
    sys.stdout.write(done.stderr)
    print("%d files" % len(files))
    return done.returncode


sys.exit(main())
