#!/usr/bin/env python3
"""What libhlo_compiler.so exports is what its headers declare, and nothing of LLVM.

    symbols.py --nm=NM --include=compiler/api build/lib/libhlo_compiler.so
"""
import argparse
import glob
import os
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--include", required=True)
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args()
    wanted = set()
    for header in glob.glob(os.path.join(options.include, "hlo", "*.h")):
        with open(header) as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        wanted |= set(re.findall(r"\bHLO_EXPORT\b[^;]*?\b(hlo_\w+)\(", text))
    output = subprocess.run([options.nm, "-D", "--defined-only", options.library], check=True, stdout=subprocess.PIPE, text=True).stdout
    exported = {line.split()[2].partition("@")[0] for line in output.splitlines() if line.split()[1] != "A"}
    for name in sorted(wanted - exported):
        print(f"MISSING: {name} is declared and not exported")
    for name in sorted(exported - wanted):
        print(f"EXTRA: {name} is exported and not declared")
    print(f"{len(exported)} functions")
    return wanted != exported


sys.exit(main())
