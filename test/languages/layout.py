#!/usr/bin/env python3
"""Compares the layouts of a wrapper's structs with the ABI's: layout.py TABLE < LINES

TABLE is test/abi/layout.txt. A line is "STRUCT FIELD OFFSET BYTES" or "sizeof STRUCT BYTES". Exits with status 1 if any
differs, or if there is none.
"""
import sys

fields, sizes, struct = {}, {}, None
with open(sys.argv[1]) as table:
    for line in table:
        words = line.split()
        if words[:1] == ["struct"]:
            struct, sizes[words[1]] = words[1], words[2]
        elif line.startswith("  ") and struct:
            fields[struct, words[2]] = words[:2]

lines = [line.split() for line in sys.stdin]
wrong = [words for words in lines
         if (sizes.get(words[1]) != words[2] if words[0] == "sizeof" else fields.get((words[0], words[1])) != words[2:])]
for words in wrong:
    print(" ".join(words), "- the table has", sizes.get(words[1]) or fields.get((words[0], words[1])))
print("%d fields, %d differ" % (len(lines), len(wrong)))
sys.exit(bool(wrong) or not lines)
