#!/usr/bin/env python3
"""What libhlo_rt.so exports is what the public headers declare.

    exports.py --nm=NM --include=runtime/abi build/lib/libhlo_rt.so [--map]

Every function of the headers, those that they define inline as well, is a symbol of the library under a version HLO_*,
and nothing else is, but the two functions that handlers of custom calls expect. --map prints the names for
runtime/shared/hlo_rt.map.
"""
import argparse
import os
import re
import subprocess
import sys

# Of libraries of their own, and adapters that are C++.
OTHERS = re.compile(r"lapack\.h|comm_mpi\.h|executor_")
HANDLERS = {"XlaCustomCallStatusSetFailure", "XlaCustomCallStatusSetSuccess"}


def declared(directory):
    names = set()
    for header in sorted(os.listdir(os.path.join(directory, "hlo"))):
        if OTHERS.match(header):
            continue
        with open(os.path.join(directory, "hlo", header)) as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        for line in text.splitlines():
            if line[:1] in " #}" or line.startswith("typedef"):
                continue
            match = re.search(r"\b(hlo_\w+)\(", line)
            if match:
                names.add(match.group(1))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--include", required=True)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--map", action="store_true")
    options = parser.parse_args()
    wanted = declared(options.include) | HANDLERS
    if options.map:
        print("\n".join("    %s;" % name for name in sorted(wanted)))
        return 0
    output = subprocess.run([options.nm, "-D", "--defined-only", options.library],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    exported, failed = {}, 0
    for line in output.splitlines():
        _, kind, name = line.split()
        name, _, version = name.partition("@@")
        if kind != "A":
            exported[name] = version
    for name in sorted(wanted - set(exported)):
        print("MISSING: %s is declared and not exported; add it to runtime/shared/hlo_rt.map" % name)
        failed = 1
    for name in sorted(set(exported) - wanted):
        print("EXTRA: %s is exported and not declared" % name)
        failed = 1
    for name, version in sorted(exported.items()):
        if not re.fullmatch(r"HLO_[0-9]+(\.[0-9]+)?", version):
            print("UNVERSIONED: %s has version '%s'" % (name, version))
            failed = 1
    print("%d functions" % len(exported))
    return failed


sys.exit(main())
