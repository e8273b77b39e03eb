#!/usr/bin/env python3
"""Sorts the results of the golden cases by what is expected of them.

  known_failures.py RESULTS.json KNOWN.txt

KNOWN.txt names the cases that do not pass yet, one a line, '#' starts a comment. Any other case that does not pass
is a failure, and so are a crash or a time-out of a known one. A known case that passes is reported, so that the
list shrinks. The last line reads 'N passed, N failed'.
"""
import json
import sys

results = json.load(open(sys.argv[1]))["results"]
known = {line.split("#")[0].strip() for line in open(sys.argv[2])} - {""}
ok = [r for r in results if r["verdict"] == "ok"]
bad = [r for r in results if r["verdict"] != "ok" and (r["name"] not in known or r["verdict"] in ("crash", "timeout"))]
for r in bad:
    print(f"{r['verdict']}: {r['name']}: {r['why'][:200]}")
for r in ok:
    if r["name"] in known:
        print(f"passes now, take it off the list: {r['name']}")
print(f"{len(results) - len(ok) - len(bad)} known not to pass yet")
print(f"{len(ok)} passed, {len(bad)} failed")
