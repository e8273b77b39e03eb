"""Runs the commands of examples/fromjax/README.md as they are, in the README's order.

Commands are the indented lines that begin with a program; the paragraph behind a block says what its last command prints.
"""
import os
import pathlib
import re
import subprocess
import sys

PROGRAMS = ("python3 ", "build/", "cc ", "./")


def blocks(text):
    """The commands of each block, and what follows `prints` behind it."""
    found = []
    for match in re.finditer(r"(?m)((?:^    .*\n)+)\n?(.*)", text):
        lines = [line[4:] for line in match[1].splitlines()]
        if lines[0].startswith(PROGRAMS):
            said = re.match(r"prints `([^`]+)`", match[2])
            found.append((lines, said and said[1]))
    return found


def check(readme, build, folder):
    """Yields (command, what is wrong or None). The commands see the tree's folders in `folder`, where their files go."""
    for name, place in (("build", build), ("examples", readme.parents[1]), ("runtime", readme.parents[2] / "runtime")):
        (folder / name).symlink_to(pathlib.Path(place).resolve())
    path = os.path.dirname(os.path.abspath(sys.executable)) + os.pathsep + os.environ["PATH"]
    all_blocks = blocks(readme.read_text())
    if not all_blocks:
        yield str(readme), "no commands"
    for commands, said in all_blocks:
        for i, command in enumerate(commands):
            try:
                done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, timeout=120, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                yield command, "takes more than two minutes"
                continue
            wrong = None
            if done.returncode:
                wrong = f"ends with {done.returncode}: {done.stdout.strip()[-600:]}"
            elif command == commands[-1] and not (said and said in done.stdout):
                wrong = f"prints {done.stdout.strip()[-300:]!r}, the README says {said!r}"
            yield command, wrong
