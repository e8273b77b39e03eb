#!/usr/bin/env python3
"""No function of the runtime has a frame over 16 KiB or of variable size.

  runtime.py --cc=clang [--flags=-IFOLDER...] FILE.c...

Reads the C compiler's stack usage files (-fstack-usage). The last line reads 'N functions, largest N bytes (NAME)'.
"""
import argparse
import os
import subprocess
import sys
import tempfile

MOST = 16384
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--flags", default="")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    failed, functions, largest = 0, 0, (0, "")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files:
            out = os.path.join(folder, "o.o")
            subprocess.run([options.cc, "-std=c11", "-O2", "-I" + ROOT, "-I" + os.path.join(ROOT, "runtime", "abi"),
                            *options.flags.split(), "-fstack-usage", "-c", path, "-o", out], check=True)
            with open(os.path.join(folder, "o.su")) as file:
                for line in file:
                    place, size, kind = line.rstrip("\n").split("\t")
                    name = place.split(":")[-1]
                    functions += 1
                    largest = max(largest, (int(size), name))
                    if int(size) > MOST or "dynamic" in kind:
                        print("%s: %s has a frame of %s bytes, %s" % (os.path.basename(path), name, size, kind))
                        failed += 1
    print("%d functions, largest %d bytes (%s)" % (functions, *largest))
    return failed != 0 or functions == 0


if __name__ == "__main__":
    sys.exit(main())
