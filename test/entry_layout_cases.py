"""Prints a regular expression of the golden cases whose entry has a layout in the text that is not row-major.

  entry_layout_cases.py FOLDER

By default hlo-run takes and gives row-major arrays whatever the text says, so a case alone does not run the code that
obeys the text. test.sh runs these a second time with --entry-layout=text; arrays in .npz files are logical, so both
runs are held to the same golden values.
"""
import os
import re
import sys


def has_layouts(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        head = f.readline()
    layouts = re.findall(r"\]\{([\d,]+)[:}]", head[head.find("entry_computation_layout"):])
    orders = [[int(d) for d in text.split(",") if d] for text in layouts]
    return any(order != sorted(order, reverse=True) for order in orders)


names = sorted(name[:-4] for folder, _, files in os.walk(sys.argv[1]) if "parser" not in folder
               for name in files if name.endswith(".hlo") and has_layouts(os.path.join(folder, name)))
print("^(" + "|".join(map(re.escape, names)) + ")$")
