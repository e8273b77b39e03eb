#!/usr/bin/env python3
"""Writes tables of names that C gives a meaning: c_names.py functions LIBRARY... | c_names.py macros|posix-macros|types

  functions   what the libraries export, and what programs have besides, for LibcNames.inc; names
              that C reserves by their form are left out (ReservedTargets.cpp knows them)
  macros      object-like macros of the standard headers, for CMacros.inc
  posix-macros  macros of C's and POSIX's headers that are not in CMacros.inc, with and without parameters
  types       what C++ has at file scope besides functions after the headers of C and POSIX, for CTypes.inc

The tables that are checked in were made from glibc 2.36 (libc.so.6, libm.so.6, ld-linux-x86-64.so.2, libcrypt.so.1,
libresolv.so.2), gcc 12, and for the types clang 22.
"""
import json
import re
import subprocess
import sys

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math pthread setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time uchar unistd wchar wctype""".split()
POSIX_HEADERS = """aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue
net/if netdb netinet/in netinet/tcp nl_types poll pwd regex sched search semaphore spawn strings sys/ipc sys/mman sys/msg
sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times sys/types sys/uio sys/un
sys/utsname sys/wait syslog tar termios ucontext ulimit utime utmpx wordexp""".split()

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


def defined_by(headers):
    text = "".join(f"#include <{header}.h>\n" for header in headers)
    lines = output_of("gcc", "-D_GNU_SOURCE", "-dM", "-E", "-x", "c", "-", text=text).splitlines()
    return {line.split()[1] for line in lines if not line.split()[1].startswith("_")}


def macros():
    return {n for n in defined_by(HEADERS) if "(" not in n}


def posix_macros():
    return {n.split("(")[0] for n in defined_by(HEADERS + POSIX_HEADERS)} - macros()


def types():
    headers = [h for h in HEADERS if h not in ("complex", "stdatomic", "stdnoreturn", "threads")] + POSIX_HEADERS
    text = "".join(f"#include <{header}.h>\n" for header in headers)
    dump = output_of("clang++-22", "-xc++", "-D_GNU_SOURCE", "-Xclang", "-ast-dump=json", "-fsyntax-only", "-", text=text)
    names = set()

    def add(nodes):
        for node in nodes:
            if node["kind"] == "LinkageSpecDecl":
                add(node.get("inner", []))
            elif node["kind"] == "EnumDecl":
                names.update(each["name"] for each in node.get("inner", []) if "name" in each)
            if node["kind"] in ("TypedefDecl", "CXXRecordDecl", "EnumDecl", "VarDecl") and "name" in node:
                names.add(node["name"])

    add(json.loads(dump)["inner"])
    return {n for n in names if not n.startswith("_")} - defined_by(HEADERS + POSIX_HEADERS)


print("// Made by c_names.py. Sorted.")
line = ""
for name in sorted({"macros": macros, "posix-macros": posix_macros, "types": types}.get(sys.argv[1], lambda: functions(sys.argv[2:]))()):
    item = f'"{name}",'
    if len(line) + len(item) > 98:
        print(line.rstrip())
        line = ""
    line += item + " "
print(line.rstrip())
