#!/usr/bin/env python3
"""Runs the golden cases and compares the results with a list of known failures.

  known_failures.py [--some] RESULTS.json KNOWN.txt COMMAND...

COMMAND runs the cases and writes RESULTS.json, which is deleted first. KNOWN.txt names the cases that do not pass yet,
one a line; '#' starts a comment. Failures are: any other case that does not pass, a known case that crashes or times
out, and a known case that does not exist, unless --some says that COMMAND runs a part of the cases. A known case that
passes is reported, so that it can leave the list. The last line reads 'N passed, N failed'.
"""
import json
import os
import subprocess
import sys

arguments = sys.argv[1:]
some = arguments[0] == "--some"
path, listed, *command = arguments[some:]
if os.path.exists(path):
    os.remove(path)
subprocess.run(command, check=False)
with open(path, encoding="utf-8") as file:
    results = json.load(file)["results"]
with open(listed, encoding="utf-8") as file:
    known = {line.split("#")[0].strip() for line in file} - {""}
absent = [] if some else sorted(known - {r["name"] for r in results})
for name in absent:
    print(f"no such case, take it off the list: {name}")
ok = [r for r in results if r["verdict"] == "ok"]
bad = [r for r in results if r["verdict"] != "ok" and (r["name"] not in known or r["verdict"] in ("crash", "timeout"))]
for r in bad:
    print(f"{r['verdict']}: {r['name']}: {r['why'][:200]}")
for r in ok:
    if r["name"] in known:
        print(f"passes now, take it off the list: {r['name']}")
print(f"{len(results) - len(ok) - len(bad)} known not to pass yet")
print(f"{len(ok)} passed, {len(bad) + len(absent)} failed")
sys.exit(1 if bad or absent or not ok else 0)
