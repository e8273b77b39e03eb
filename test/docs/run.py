#!/usr/bin/env python3
"""Runs the commands of the READMEs, word for word, and prints 'N passed, N failed'.

usage: run.py --build=FOLDER [--jobs=N] [--verbose | --list] [README...]
       run.py --self-test

A comment above a block gives its kind; README.md in this folder lists the kinds. A block that looks
like commands and has no comment is an error. Each README gets a folder to work in, with links to what is in
a copy of the tree and to the build folder, so nothing is written into the checkout.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK_SECONDS = 120
PACKAGES = ("jax", "numpy", "ml_dtypes")

COMMENT = re.compile(r"^<!--\s*(run|not run|file|from|output)\b(?:\s*:\s*(.*?))?\s*-->\s*$")
PROGRAMS = ("cmake ctest ninja make python python3 pip lit-22 cc c++ gcc g++ clang clang-22 clang++ mpicc mpirun git "
            "sudo apt apt-get export cd cp mkdir rm ar ld nm objdump source curl cargo rustc").split()
# The first word of a command, after `$ ` and assignments: a program by name, or a file that can be executed.
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_][A-Z0-9_]*=\S* )*(?:(?:%s)(?= |$)(?! =)|hlo-(?:compile|run|opt)\b|"
                     r"\./\S|(?:[\w.-]+/)*bin/[\w.-]+|(?:[\w.-]+/)+[\w.-]+\.(?:py|sh)\b)"
                     % "|".join(re.escape(p) for p in PROGRAMS))


class Block:
    """A code block of a README: `lines` without their indentation, `line` the number of the first one."""

    def __init__(self, line, lines, language):
        self.line, self.lines, self.language = line, lines, language
        self.kind = self.argument = None

    def looks_like_commands(self):
        if self.language in ("sh", "bash", "console"):
            return True
        return not self.language and any(COMMAND.match(line) for line in self.lines)


def blocks_of(text):
    """The code blocks of a markdown text, fenced or indented by four spaces, and the errors in their comments."""
    lines = text.split("\n")
    blocks, errors = [], []
    comment = None  # (line, kind, argument), until the block that it belongs to
    previous_blank = True
    i = 0

    def add(block):
        nonlocal comment
        if comment:
            block.kind, block.argument = comment[1:]
            comment = None
        blocks.append(block)

    while i < len(lines):
        line = lines[i]
        fence = re.match(r"^(```+|~~~+)\s*(\w*)", line)
        if fence:
            end = i + 1
            while end < len(lines) and not lines[end].startswith(fence[1]):
                end += 1
            add(Block(i + 2, lines[i + 1:end], fence[2]))
            i, previous_blank = end + 1, True
            continue
        if line.startswith("    ") and previous_blank and line.strip():
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            body = [l[4:] for l in lines[i:end]]
            while not body[-1].strip():
                body.pop()
            add(Block(i + 1, body, ""))
            i, previous_blank = end, True
            continue
        if line.strip():
            if comment:
                errors.append((comment[0], "the comment '%s' stands above no block" % comment[1]))
                comment = None
            found = COMMENT.match(line)
            if found:
                comment = (i + 1, found[1], found[2] or "")
            previous_blank = bool(re.match(r"^<!--.*-->\s*$", line))
        else:
            previous_blank = True
        i += 1
    if comment:
        errors.append((comment[0], "the comment '%s' stands above no block" % comment[1]))
    return blocks, errors


def commands_of(lines):
    """The commands of a block as [(line in the block, text)]: a command ends where the shell could run it."""
    commands, text, start = [], "", 0
    for number, line in enumerate(lines):
        line = re.sub(r"^\$ ", "", line)
        if not text and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = start if text else number
        text += line + "\n"
        if line.endswith("\\"):
            continue
        check = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        if check.returncode == 0 and not check.stderr:
            commands.append((start, text))
            text = ""
    if text:
        commands.append((start, text))
    return commands


def matches(expected, printed):
    """The first expected line that `printed` lacks, or None. `...` stands for any text, alone for any lines."""
    printed = [line.rstrip() for line in printed.rstrip("\n").split("\n")]
    at, skips = 0, False
    for line in expected:
        if line.strip() == "...":
            skips = True
            continue
        pattern = re.compile("".join(".*" if part == "..." else re.escape(part)
                                     for part in re.split(r"(\.\.\.)", line.rstrip())) + "$")
        while at < len(printed) and skips and not pattern.match(printed[at]):
            at += 1
        if at == len(printed) or not pattern.match(printed[at]):
            return line
        at, skips = at + 1, False
    return None if skips or at == len(printed) else "(end of output)"


def missing(need, build):
    """Why `need` is not there: a file of the tree, a Python package of build/venv, a program; None if it is."""
    if "/" in need:
        path = os.path.join(build, need[len("build/"):]) if need.startswith("build/") else os.path.join(ROOT, need)
        return None if os.path.exists(path) else "there is no " + need
    if need in PACKAGES:
        python = os.path.join(build, "venv", "bin", "python")
        found = os.path.exists(python) and subprocess.run([python, "-c", "import " + need],
                                                          capture_output=True).returncode == 0
        return None if found else "build/venv has no " + need
    return None if shutil.which(need) else "there is no program " + need


class Report:
    """The outcome of one README: texts for the terminal, counts of commands and of other comparisons."""

    def __init__(self):
        self.lines, self.commands, self.compared, self.failed = [], 0, 0, 0
        self.blocks = []  # (line, commands, seconds) of each block that was run

    def fail(self, path, line, message, detail=""):
        self.failed += 1
        self.lines.append("%s:%d: %s" % (path, line, message))
        self.lines += ["    " + l for l in detail.rstrip().split("\n")[-25:] if detail.strip()]

    def skip(self, path, line, count, reason):
        self.lines.append("skipped %s:%d: %d commands: %s" % (path, line, count, reason))


def environment(build, needs):
    result = dict(os.environ)
    # `python3` is the one that has the packages.
    if any(need in PACKAGES for need in needs):
        result["PATH"] = os.path.join(os.path.abspath(build), "venv", "bin") + os.pathsep + result["PATH"]
    # mpirun as root in a container, with more processes than CPUs, and without looking for networks.
    result.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader")
    return result


def run_block(block, folder, variables):
    """(number of commands run, line of the failing one or None, everything printed, standard output)."""
    commands = commands_of(block.lines)
    script = "set -o pipefail\n"
    for number, (line, text) in enumerate(commands):
        script += text + "readme_status=$?; [ $readme_status = 0 ] || { echo %d $readme_status > .readme-failed; exit 1; }\n" % number
    marker = os.path.join(folder, ".readme-failed")
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            status = subprocess.run(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                    timeout=BLOCK_SECONDS, env=variables).returncode
        except subprocess.TimeoutExpired:
            status = "none after %d s" % BLOCK_SECONDS
        out.seek(0), err.seek(0)
        printed, complaints = out.read(), err.read()
    if status == 0:
        return len(commands), None, "", printed
    number = 0
    if os.path.exists(marker):
        with open(marker) as file:
            number, status = file.read().split()
        os.remove(marker)
    line, text = commands[int(number)]
    return int(number), line, "%s(exit status %s)\n%s%s" % (text, status, printed, complaints), printed


def in_order(lines, text):
    """The first of `lines` that does not follow the previous ones in `text`; comments and `...` are ignored."""
    have = [re.sub(r"\s+", " ", l.strip()) for l in text.split("\n")]
    at = 0
    for line in lines:
        wanted = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/|//.*|#(?!include|define).*", "", line).strip())
        if wanted in ("", "..."):
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("...")))
        while at < len(have) and not pattern.search(have[at]):
            at += 1
        if at == len(have):
            return line
        at += 1
    return None


def run_readme(root, path, build, tree):
    """Goes through the blocks of one README, in a folder of links into `tree` that is removed afterwards."""
    report = Report()
    with open(os.path.join(root, path), encoding="utf-8") as file:
        blocks, errors = blocks_of(file.read())
    for line, message in errors:
        report.fail(path, line, message)
    folder = None
    printed = None  # standard output of the last block that was run; None if it was skipped
    try:
        if any(block.kind in ("run", "file") for block in blocks):
            folder = tempfile.mkdtemp(prefix="readme-")
            for name in os.listdir(tree):
                os.symlink(os.path.join(tree, name), os.path.join(folder, name))
        previous = None
        for block in blocks:
            if block.kind is None:
                if block.looks_like_commands():
                    report.fail(path, block.line, "commands without a comment above them: <!-- run --> or "
                                "<!-- not run: reason -->")
            elif block.kind == "not run":
                if len(block.argument) < 5:
                    report.fail(path, block.line, "'not run' needs a reason: <!-- not run: reason -->")
            elif block.kind == "file":
                with open(os.path.join(folder, block.argument), "w", encoding="utf-8") as file:
                    file.write("\n".join(block.lines) + "\n")
            elif block.kind == "from":
                source = os.path.join(root, block.argument)
                if not os.path.isfile(source):
                    report.fail(path, block.line, "there is no file " + block.argument)
                else:
                    with open(source, encoding="utf-8") as file:
                        line = in_order(block.lines, file.read())
                    if line is None:
                        report.compared += 1
                    else:
                        report.fail(path, block.line, "%s does not have this line there: %s" % (block.argument, line.strip()))
            elif block.kind == "run":
                needs = re.findall(r"[\w./-]+", re.sub(r"^needs\b", "", block.argument))
                if block.argument and not block.argument.startswith("needs "):
                    report.fail(path, block.line, "'run: %s': expected needs NAME..." % block.argument)
                    continue
                reasons = [reason for reason in (missing(need, build) for need in needs) if reason]
                if reasons:
                    report.skip(path, block.line, len(commands_of(block.lines)), "; ".join(reasons))
                    printed = None
                else:
                    start = time.monotonic()
                    count, line, message, printed = run_block(block, folder, environment(build, needs))
                    report.commands += count
                    report.blocks.append((block.line, count, time.monotonic() - start))
                    if line is not None:
                        report.fail(path, block.line + line, "the command fails", message)
                        printed = None
                    elif not count:
                        report.fail(path, block.line, "the block has no command")
            elif block.kind == "output":
                if previous is None or previous.kind != "run":
                    report.fail(path, block.line, "'output' needs a block above it that is run")
                elif printed is not None:
                    line = matches(block.lines, printed)
                    if line is None:
                        report.compared += 1
                    else:
                        report.fail(path, block.line, "the commands above do not print: " + line, printed)
            previous = block
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    return report


def files_of(root):
    """The files of the checkout that git does not ignore; without git, all but build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return sorted({f for f in listed.stdout.split("\0") if f and os.path.isfile(os.path.join(root, f))})
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".git", "build"))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def run_all(root, build, readmes, jobs, verbose=False, out=sys.stdout):
    """Runs the READMEs (all if none are named) and returns the exit code."""
    files = files_of(root)
    readmes = readmes or [f for f in files if f.endswith(".md")]
    with tempfile.TemporaryDirectory(prefix="readme-tree-") as tree:
        for file in files:
            target = os.path.join(tree, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(root, file), target)
            shutil.copymode(os.path.join(root, file), target)
        os.symlink(os.path.abspath(build), os.path.join(tree, "build"))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            reports = list(pool.map(lambda path: run_readme(root, path, build, tree), readmes))
    for path, report in zip(readmes, reports):
        for line, count, seconds in report.blocks if verbose else []:
            print("%s:%d: %d commands, %.1f s" % (path, line, count, seconds), file=out)
        for line in report.lines:
            print(line, file=out)
    commands = sum(r.commands for r in reports)
    compared = sum(r.compared for r in reports)
    failed = sum(r.failed for r in reports)
    if not commands:
        print("no command was run", file=out)
        failed += 1
    print("%d commands of %d READMEs run, %d outputs and excerpts compared"
          % (commands, sum(1 for r in reports if r.commands), compared), file=out)
    print("%d passed, %d failed" % (commands + compared, failed), file=out)
    return 1 if failed else 0


def list_blocks(root, readmes):
    for path in readmes or [f for f in files_of(root) if f.endswith(".md")]:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for block in blocks_of(file.read())[0]:
                if block.kind or block.looks_like_commands():
                    print("%s:%d: %s%s" % (path, block.line, block.kind or "NOT MARKED",
                                           ": " + block.argument if block.argument else ""))
    return 0


# For --self-test: the text of a README.md and the expected message; an empty message: the README passes.
GOOD = "Run\n\n<!-- run -->\n    echo one > a.txt   # a file\n    cat a.txt\n"
CASES = [
    (GOOD, ""),
    (GOOD + "\nwhich prints\n\n<!-- output -->\n    one\n", ""),
    ("<!-- run -->\n```sh\ncat <<END\ntwo\nEND\nfor i in 1 2\ndo echo $i\ndone\n```\n\n<!-- output -->\n    two\n    ...\n    2\n", ""),
    ("<!-- file: b.txt -->\n    three\n\n<!-- run -->\n    grep three b.txt && test -d build\n", ""),
    (GOOD + "\n<!-- from: source.c -->\n    int x;    /* the first */\n    ...\n    int z...;\n", ""),
    (GOOD + "\n<!-- not run: takes an hour -->\n    ./configure\n", ""),
    (GOOD + "\n<!-- run: needs no-such-program -->\n    no-such-program\n", "skipped README.md:8: 1 commands: there is no program no-such-program"),
    (GOOD.replace("cat a.txt", "cat c.txt"), "README.md:5: the command fails"),
    (GOOD.replace("cat a.txt", "true\n    false | true && true"), "README.md:6: the command fails"),
    (GOOD + "\n<!-- output -->\n    two\n", "README.md:8: the commands above do not print: two"),
    (GOOD + "\n<!-- output -->\n    one\n    two\n", "the commands above do not print: two"),
    ("<!-- run -->\n    printf '1\\n2\\n'\n\n<!-- output -->\n    1\n", "do not print: (end of output)"),
    (GOOD + "\nText.\n\n    build/bin/hlo-run x.hlo\n", "README.md:9: commands without a comment"),
    (GOOD + "\nText.\n\n    A=1 python3 x.py\n", "commands without a comment"),
    (GOOD + "\n```sh\nanything\n```\n", "commands without a comment"),
    (GOOD + "\n<!-- not run -->\n    ./configure\n", "'not run' needs a reason"),
    (GOOD + "\n<!-- run -->\nText.\n", "README.md:7: the comment 'run' stands above no block"),
    (GOOD + "\n<!-- from: source.c -->\n    int z...;\n    int x;\n", "source.c does not have this line there: int x;"),
    (GOOD + "\n<!-- from: nowhere.c -->\n    int z;\n", "there is no file nowhere.c"),
    (GOOD + "\n<!-- run: jax -->\n    true\n", "expected needs NAME..."),
    (GOOD + "\n<!-- run -->\n    # nothing\n", "the block has no command"),
    (GOOD + "\n<!-- output -->\n    one\n\n<!-- output -->\n    one\n", "'output' needs a block above it"),
    ("Text alone: `cmake --build x`.\n", "no command was run"),
]


def self_test():
    """Breaks READMEs (those above, and that of examples/c) and checks that the breakage is reported."""
    failed = 0
    for text, expected in CASES:
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryFile("w+") as out:
            os.makedirs(os.path.join(root, "build"))
            for name, content in (("README.md", text), ("source.c", "int x;\nint y;\nint z = 1;\n")):
                with open(os.path.join(root, name), "w") as file:
                    file.write(content)
            before = sorted(os.listdir(root))
            code = run_all(root, os.path.join(root, "build"), [], 1, out=out)
            out.seek(0)
            said = out.read()
            right = expected in said and (code != 0) == (bool(expected) and not expected.startswith("skipped"))
            if not expected:
                right = right and re.search(r"^[1-9]\d* passed, 0 failed$", said, re.M)
            if not right or sorted(os.listdir(root)) != before:
                failed += 1
                print("for\n%s\nexpected %r, got\n%s" % (text, expected, said))
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder (default: build)")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="READMEs at a time")
    parser.add_argument("--list", action="store_true", help="print the blocks that are marked, and run nothing")
    parser.add_argument("--verbose", action="store_true", help="print every block that is run, and its time")
    parser.add_argument("--self-test", action="store_true", help="see that broken READMEs fail")
    parser.add_argument("readmes", nargs="*", help="paths relative to the repository's root (default: all)")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.list:
        return list_blocks(ROOT, options.readmes)
    return run_all(ROOT, options.build, options.readmes, options.jobs, options.verbose)


if __name__ == "__main__":
    sys.exit(main())
