"""Checks that every line of every README, and of the files in docs/, has at most 120 columns.

  readmes.py ROOT
  readmes.py --self-test

Lines in code blocks count too: break a command by a backslash, and continue a table's row in a row whose first cell is
empty. A line that cannot be broken, such as a single link, is exempt. Prints each offence with its position; status 1
if there is any.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
from run import files_of  # noqa: E402

COLUMNS = 120
# What may stand in front of a word that is too long for any line: the marks of a list, a quote, an image.
MARKS = re.compile(r"^[\s>]*(?:[-*] |\d+\. )?")


def long_lines(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS and len(MARKS.sub("", line).split()) > 1:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS} are allowed"


def check(root):
    """The number of READMEs, and the offences in them."""
    readmes = [path for path in files_of(root)
               if os.path.basename(path) == "README.md" or (path.startswith("docs/") and path.endswith(".md"))]
    problems = []
    for path in readmes:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            problems += long_lines(path, file.read())
    return len(readmes), problems


def self_test():
    """Each text with the lines that must be reported, in a separate tree, so that finding READMEs is tested as well."""
    word = "a" * 60
    cases = [
        ("x" * 59 + " " + word + "\n", []),
        ("x" * 60 + " " + word + "\n", [1]),
        ("short\n\n    " + word + " " + word + "\n", [3]),
        ("| " + word + " | " + word + " |\n", [1]),
        ("- https://" + "b" * 200 + "\n", []),
        ("see https://" + "b" * 200 + "\n", [1]),
    ]
    failed = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "folder"))
            with open(os.path.join(root, "folder", "README.md"), "w", encoding="utf-8") as file:
                file.write(text)
            with open(os.path.join(root, "NOTES.md"), "w", encoding="utf-8") as file:
                file.write(text)  # not a README
            count, problems = check(root)
        found = [int(problem.split(":")[1]) for problem in problems]
        if (count, found) != (1, expected):
            failed += 1
            print(f"{text!r}: {count} READMEs, lines {found} reported instead of {expected}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[1] == "--self-test":
        sys.exit(bool(self_test()))
    count, problems = check(sys.argv[1])
    print("\n".join(problems + [f"{count} READMEs, {len(problems)} offences"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
