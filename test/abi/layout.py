#!/usr/bin/env python3
"""The layouts of all structs and the values of all constants of the public headers, against a table.

    layout.py --cc=CC --include=runtime/abi test/abi/layout.txt             compare; exit 1 if they differ
    layout.py --cc=CC --include=runtime/abi test/abi/layout.txt --append    write what has been appended

In the table, a struct is a line `struct NAME BYTES KIND` and one line `OFFSET BYTES FIELD` per field, in order; a
constant is a line `NAME = VALUE`. KIND says what may still happen to a struct:

    sized     starts with struct_size: fields may be appended
    element   lies in arrays that have a stride: fields may be appended
    fixed     never changes; a field that is named reserved may become fields of the same bytes

--append refuses anything else: a field that moves, a constant whose value changes or that is gone.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Structs whose arrays come with a stride.
ELEMENTS = {"hlo_buffer_desc", "hlo_op_desc", "hlo_custom_call", "hlo_profile"}
# These start other structs.
EMBEDDED = {"hlo_rt_op"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def fields_of(body):
    """The names that the declarations of a struct declare."""
    names = []
    for declaration in body.split(";"):
        declaration = " ".join(declaration.split())
        if not declaration:
            continue
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        if pointer:
            names.append(pointer.group(1))
            continue
        for declarator in declaration.split(","):
            names.append(re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", declarator).group(1))
    return names


def parse(directory, headers):
    """[(struct, [field])] and [constant], in the order of the headers."""
    structs, constants = [], []
    for header in headers:
        with open(os.path.join(directory, "hlo", header)) as file:
            raw = file.read()
        text = without_comments(raw)
        for match in re.finditer(r"typedef struct (\w+) \{(.*?)\}\s*(\w+)\s*;", text, flags=re.S):
            structs.append((match.group(3), fields_of(match.group(2))))
        for match in re.finditer(r"\benum(?: \w+)? \{(.*?)\}", text, flags=re.S):
            for item in match.group(1).split(","):
                if item.strip():
                    constants.append(re.match(r"\s*(\w+)", item).group(1))
        constants += re.findall(r"^#define (HLO_\w+) -?(?:0x[0-9a-fA-F]+|[0-9]+)[uUlL]*\s*$", text, flags=re.M)
    return structs, constants


def measure(compiler, directory, headers, structs, constants):
    """The table as lines, as the compiler lays the structs out."""
    program = ["#include <stdio.h>"] + ["#include <hlo/%s>" % header for header in headers] + ["int main(void) {"]
    for name, fields in structs:
        program.append('printf("struct %s %%zu\\n", sizeof(%s));' % (name, name))
        for field in fields:
            program.append('printf("  %%zu %%zu %s\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                           % (field, name, field, name, field))
    for name in constants:
        program.append('printf("%s = %%lld\\n", (long long)%s);' % (name, name))
    program.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w") as file:
            file.write("\n".join(program) + "\n")
        subprocess.run([compiler, "-std=c11", "-I", directory, source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def read(lines):
    """{struct: (bytes, kind, [(offset, bytes, field)])} and {constant: value}."""
    structs, constants = {}, {}
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        words = line.split()
        if words[0] == "struct":
            current = []
            structs[words[1]] = (int(words[2]), words[3] if len(words) > 3 else None, current)
        elif words[1] == "=":
            constants[words[0]] = int(words[2])
        else:
            current.append((int(words[0]), int(words[1]), words[2]))
    return structs, constants


def kind_of(name, fields):
    if name in ELEMENTS:
        return "element"
    starts_sized = fields[0][2] == "struct_size" or fields[0][2] == "op"
    return "sized" if starts_sized and name not in EMBEDDED else "fixed"


def holes(name, size, fields):
    """Bytes of a struct that no field covers and that alignment does not explain: a field was overlooked."""
    found, end = [], 0
    for offset, length, field in fields + [(size, 0, "the end")]:
        if offset - end >= 8 or offset < end:
            found.append("struct %s: nothing is known of the bytes %d to %d, before %s" % (name, end, offset, field))
        end = max(end, offset + length)
    return found


def differences(old, new):
    """What breaks, and what has only been appended."""
    broken, appended = [], []
    for name, (size, kind, fields) in old[0].items():
        if name not in new[0]:
            broken.append("struct %s is gone" % name)
            continue
        now_size, _, now = new[0][name]
        kept = [f for f in fields if not f[2].startswith("reserved")]
        missing = [f for f in kept if f not in now]
        for offset, length, field in missing:
            here = [f for f in now if f[2] == field]
            broken.append("struct %s: %s was at %d with %d bytes, %s" %
                          (name, field, offset, length, "now at %d with %d" % here[0][:2] if here else "now gone"))
        added = [f for f in now if f not in fields]
        inside = [f for f in added if f[0] < size and not any(
            r[2].startswith("reserved") and r[0] <= f[0] and f[0] + f[1] <= r[0] + r[1] for r in fields)]
        if not missing:
            broken += ["struct %s: %s is new, but not at the end" % (name, f[2]) for f in inside]
        if now_size < size or (now_size > size and kind == "fixed"):
            broken.append("struct %s had %d bytes, now %d; it is '%s'" % (name, size, now_size, kind))
        appended += ["struct %s: %d %d %s" % ((name,) + f) for f in added if f not in inside]
    appended += ["struct %s" % name for name in new[0] if name not in old[0]]
    for name, value in old[1].items():
        if new[1].get(name) != value:
            broken.append("%s was %d, now %s" % (name, value, new[1].get(name, "gone")))
    appended += ["%s = %d" % item for item in new[1].items() if item[0] not in old[1]]
    return broken, appended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--include", required=True, help="the folder that has hlo/")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--append", action="store_true", help="add to the table what has been appended")
    options = parser.parse_args()
    headers = sorted(h for h in os.listdir(os.path.join(options.include, "hlo"))
                     if h.endswith(".h") and not h.startswith("executor_"))
    structs, constants = parse(options.include, headers)
    new = read(measure(options.cc, options.include, headers, structs, constants))
    wrong = [text for name, (size, _, fields) in new[0].items() for text in holes(name, size, fields)]
    if not new[0] or not new[1]:
        wrong.append("no structs or no constants found in %s/hlo" % options.include)
    old = ({}, {})
    if os.path.exists(options.table):
        with open(options.table) as file:
            old = read(file)
    elif not options.append:
        wrong.append("%s: there is no such table" % options.table)
    broken, appended = differences(old, new)
    for text in wrong + broken:
        print("BROKEN: " + text)
    if wrong or broken:
        print("The ABI is fixed: append fields to structs and constants with new values, change nothing else (layout.py).")
        return 1
    if appended and not options.append:
        for text in appended:
            print("NEW: " + text)
        print("If this is meant, run layout.py with --append and commit the table.")
        return 1
    if options.append:
        with open(options.table, "w") as file:
            file.write("# ABI %d on x86-64, written by layout.py --append: only appended to. See layout.py.\n" % new[1]["HLO_ABI"])
            for name, (size, _, fields) in new[0].items():
                file.write("struct %s %d %s\n" % (name, size, kind_of(name, fields)))
                for field in fields:
                    file.write("  %d %d %s\n" % field)
            for item in new[1].items():
                file.write("%s = %d\n" % item)
        print("%d appended" % len(appended))
    print("%d structs, %d constants" % (len(new[0]), len(new[1])))
    return 0


sys.exit(main())
