#!/usr/bin/env python3
"""Writes tables of names that C gives a meaning: c_names.py functions LIBRARY... | c_names.py macros

  functions   what the libraries export, for LibcNames.inc
  macros      object-like macros of the standard headers, for CMacros.inc

The tables that are checked in were made from glibc 2.36 (libc.so.6, libm.so.6, ld-linux-x86-64.so.2) and gcc 12.
"""
import subprocess
import sys

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math pthread setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time uchar unistd wchar wctype""".split()


def output_of(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def functions(libraries):
    names = {"main", "_start", "_init", "_fini", "environ"}
    for library in libraries:
        listing = output_of("llvm-nm-22", "-D", "--defined-only", "--format=just-symbols", library)
        names.update(line.split("@")[0] for line in listing.split())
    return [n for n in names if n and not n.startswith(("GLIBC", "_nl_", "_dl_", "__nss_", "__res"))]


def macros():
    text = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    lines = output_of("gcc", "-D_GNU_SOURCE", "-dM", "-E", "-x", "c", "-", text=text).splitlines()
    names = [line.split()[1] for line in lines]
    return {n for n in names if "(" not in n and not n.startswith("_")}


print("// Made by c_names.py. Sorted.")
line = ""
for name in sorted(macros() if sys.argv[1] == "macros" else functions(sys.argv[2:])):
    item = f'"{name}",'
    if len(line) + len(item) > 98:
        print(line.rstrip())
        line = ""
    line += item + " "
print(line.rstrip())
