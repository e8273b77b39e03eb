#!/usr/bin/env python3
"""Writes tables of names that C gives a meaning: c_names.py functions LIBRARY... | c_names.py macros

  functions   what the libraries export, and what programs have besides, for LibcNames.inc; names
              that C reserves by their form are left out (ReservedTargets.cpp knows them)
  macros      object-like macros of the standard headers, for CMacros.inc

The tables that are checked in were made from glibc 2.36 (libc.so.6, libm.so.6, ld-linux-x86-64.so.2, libcrypt.so.1,
libresolv.so.2) and gcc 12.
"""
import re
import subprocess
import sys

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math pthread setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time uchar unistd wchar wctype""".split()


# In every program, though no library exports them: the start-up code, the linker's own symbols, libc_nonshared.a.
OF_PROGRAMS = """main _start _init _fini environ end _end edata _edata etext _etext
atexit at_quick_exit pthread_atfork sigsetjmp""".split()

# Exported since glibc 2.37 and later.
OF_LATER_VERSIONS = """acospi acospif asinpi asinpif atan2pi atan2pif atanpi atanpif compoundn compoundnf cospi cospif
exp10m1 exp10m1f exp2m1 exp2m1f log10p1 log10p1f log2p1 log2p1f logp1 logp1f pown pownf powr powrf pidfd_getpid
pidfd_spawn pidfd_spawnp posix_spawnattr_getcgroup_np posix_spawnattr_setcgroup_np pthread_gettid_np rootn rootnf rsqrt
rsqrtf sched_getattr sched_setattr sinpi sinpif strlcat strlcpy tanpi tanpif uabs uimaxabs ulabs ullabs wcslcat
wcslcpy""".split()


def output_of(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def functions(libraries):
    names = set(OF_PROGRAMS + OF_LATER_VERSIONS)
    for library in libraries:
        listing = output_of("llvm-nm-22", "-D", "--defined-only", "--format=just-symbols", library)
        names.update(line.split("@")[0] for line in listing.split())
    return [n for n in names if n and not re.match("GLIBC|XCRYPT_|_[A-Z_]|_nl_|_dl_", n)]


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
