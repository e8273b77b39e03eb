#!/usr/bin/env python3
"""Modules run on threads of 64 KiB of stack, alone and with an executor of such threads.

  thread.py --build=build --cc=clang [--cpu=host] FILE.hlo...

Each module is compiled and linked with Inputs/thread.c and the runtime; a stack that overflows ends
the program, and so does a call that uses more than the module says of itself. Modules that ask for
feeds, several ranks or custom calls are an error here. The last line reads
'N passed, N failed; a call used N bytes of stack at most, of N'.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

STACK = 65536
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cpu", default="host")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    passed, failed, most = 0, 0, (0, 0)
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files:
            name = os.path.basename(path)
            compiled = os.path.join(folder, "m.o")
            program = os.path.join(folder, "m")
            commands = [
                [os.path.join(options.build, "bin", "hlo-compile"), path, "--cpu=" + options.cpu, "--name=m",
                 "--placeholder-constants", "-o", compiled],
                [options.cc, "-O1", "-Wall", "-Wextra", "-I" + os.path.join(ROOT, "runtime", "abi"),
                 os.path.join(HERE, "Inputs", "thread.c"), compiled,
                 os.path.join(options.build, "lib", "libhlo_rt.a"), "-lpthread", "-lm", "-o", program],
                [program, str(STACK), "1"],
                [program, str(STACK), "3"],
            ]
            for command in commands:
                run = subprocess.run(command, capture_output=True, text=True)
                told = re.search(r"stack_bytes (\d+), a call used (\d+), a task (\d+)", run.stdout)
                if run.returncode or (command[0] == program and not told):
                    print("%s: exit %d of %s: %s%s" % (name, run.returncode, os.path.basename(command[0]),
                                                       run.stdout, run.stderr[-400:]))
                    failed += 1
                    break
                if told and command[2] == "1":
                    most = max(most, (int(told.group(2)), int(told.group(1))))
            else:
                passed += 1
                print("%s: %s" % (name, run.stdout.strip()), flush=True)
    print("%d passed, %d failed; a call used %d bytes of stack at most, of %d" % (passed, failed, *most))
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
