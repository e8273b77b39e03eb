#!/usr/bin/env python3
"""Checks that the links, files, flags and identifiers in READMEs exist, and that their tables list all files.

usage: names.py ROOT
       names.py --self-test

Prints one line per name that does not exist, then 'N names, M offences'; status 1 if there are any.
"""
import fnmatch
import glob
import itertools
import os
import re
import sys
import tempfile

from run import files_of

# Folders that a path in a README may start from, in addition to the README's own and the root.
BASES = ("compiler", "compiler/transforms", "compiler/codegen", "test", "runtime", "runtime/abi", "tools")
# Files that need no line in a table: what every folder has, and data of tests.
UNLISTED = ("README.md", "CMakeLists.txt", "LICENSE", "CMakePresets.json", ".*", "*.test", "*.hlo", "*.mlir", "*.txt", "__init__.py")
# Folders that need none: data.
FOLDERS = ("Inputs", "golden", "modules")
TOOLS = ("hlo-compile", "hlo-run", "hlo-opt")
# Where a name that is made up stands for many: `visitX`, `emitXKernel`, `hlo_rt_NAME`.
PLACEHOLDER = re.compile(r"[a-z]X\b|[a-z]X[A-Z]|[a-z][A-Z]{3}|\bOP\b|NAME|FOLDER|PREFIX|0123456789abcdef")


class Tree:
    """What READMEs may name: paths, all words of files that are not markdown, flags."""

    def __init__(self, root):
        self.root = root
        self.files = files_of(root)
        self.paths = set(self.files) | {f[:i] for f in self.files for i, c in enumerate(f) if c == "/"}
        self.stems = {os.path.splitext(f)[0] for f in self.files}
        self.words, self.flags, self.known = set(), set(), {}
        for path in self.files:
            self.words.update(re.findall(r"\w+", path))
            if path.endswith((".md", ".svg", ".bin", ".npz")):
                continue
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
            self.words.update(re.findall(r"[A-Za-z_]\w*", text))
            self.flags.update(re.findall(r"--([a-z][\w-]*)", text))
            self.flags.update(re.findall(r'"-?([a-z][\w-]*)"', text))

    def flags_of(self, program, here):
        """The flags of a script or of one of our tools; for any other name, the flags of all programs."""
        name = os.path.basename(program)
        if name in TOOLS:
            folders = ("tools/%s/" % name, "tools/limits/", "compiler/support/")
            # Passes are flags of hlo-opt.
            folders += ("compiler/transforms/", "compiler/pipeline/") if name == "hlo-opt" else ()
            sources = [f for f in self.files if f.startswith(folders) and f.endswith((".cpp", ".h"))]
        else:
            sources = [f for f in (os.path.join(here, program), program) if f in self.paths and f.endswith((".py", ".sh"))]
        if not sources:
            return self.flags
        key = (program, here)
        if key not in self.known:
            self.known[key] = {"help", "version"}
            if name == "hlo-opt":  # it makes these from the names of phases
                self.known[key] |= {"phase-" + word for word in self.words if word.islower()}
            for source in sources:
                with open(os.path.join(self.root, source), encoding="utf-8") as file:
                    text = file.read()
                self.known[key].update(re.findall(r"--([a-z][\w-]*)", text) + re.findall(r'"-?([a-z][\w-]*)"', text))
        return self.known[key]

    def has(self, path):
        """True if `path`, perhaps without its suffix or a glob, is in the tree."""
        path = os.path.normpath(path)
        return path in self.paths or path in self.stems or ("*" in path and any(fnmatch.fnmatch(p, path) for p in self.paths))


def is_made_up(part):
    """True if a part of a path stands for many names (or is one in capitals, such as a README): only what is before it is looked up."""
    return bool(PLACEHOLDER.search(part) or re.search(r"[A-Z]{4}", part))


def expand(name):
    """`a{b,c}` -> ab, ac."""
    found = re.match(r"(.*)\{([^}]*)\}(.*)", name)
    return [found[1] + middle + found[3] for middle in found[2].split(",")] if found else [name]


def check_spans(tree, path, number, line):
    """Checks the names in backticks."""
    here = os.path.dirname(path)
    for span in re.findall(r"`([^`]+)`", line):
        program = (span.split() or [""])[0]
        known = tree.flags_of(program, here)
        for flag in re.findall(r"(?<![\w-])--([a-z][a-z0-9_-]*)(?![A-Z])", span):
            owner = "programs have" if known is tree.flags else program + " has"
            yield flag in known, "%s:%d: %s no flag --%s" % (path, number, owner, flag)
        for token in re.findall(r"[\w./*{},-]+", span):
            token = token.rstrip(".,/")
            first = token.split("/")[0]
            if "/" in token and "..." not in token and (first in tree.paths or os.path.join(here, first) in tree.paths):
                token = "/".join(itertools.takewhile(lambda part: not is_made_up(part), token.split("/")))
                yield (any(tree.has(os.path.join(base, name)) for name in expand(token) for base in (here, "", *BASES)),
                       "%s:%d: there is no %s" % (path, number, token))
        for word in re.findall(r"(?<![\w.*])[A-Za-z_]\w+(?![\w*]|\.\.\.)", span):
            if not re.search(r"[a-z][A-Z]|^hlo_|^HLO_", word) or PLACEHOLDER.search(word) or word.endswith("_"):
                continue
            yield word in tree.words, "%s:%d: nothing is called %s" % (path, number, word)


def check_links(tree, path, number, line):
    for link in re.findall(r"\]\(([^)#:]+)\)", line):
        yield (tree.has(os.path.join(os.path.dirname(path), link)), "%s:%d: the link leads nowhere: %s" % (path, number, link))


def check_tables(tree, path, text):
    """Checks tables of files: every row exists; if a folder has a table, each of its sources has a row."""
    here = os.path.dirname(path)
    rows, header = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = line.split("|")[1].strip()
        elif header in ("file", "file or folder", "folder"):
            rows.append((number, header, line.split("|")[1]))
    for number, kind, cell in rows:
        for name in re.findall(r"`([^`]+)`", cell):
            if re.fullmatch(r"[\w.*/{},-]+", name) and not re.search(r"[A-Z]{4}", name) and not name.startswith("hlo-"):
                names = expand(name.rstrip("/"))
                yield (all(tree.has(os.path.join(here, n)) or tree.has(os.path.join(here, n + "*")) for n in names),
                       "%s:%d: the folder has no %s" % (path, number, name))
    if not rows:
        return
    tokens = set(re.findall(r"[\w.*-]+", re.sub(r"(\w+)\{([^}]*)\}", r"\1*", text)))
    tokens |= {token.split(".")[0] for token in tokens}
    if any(kind != "file" for _, kind, _ in rows):
        below = {file[len(here) + 1 if here else 0:] for file in tree.files if file.startswith(here + "/" if here else "")}
        for folder in sorted({file.split("/")[0] for file in below if "/" in file}):
            if folder[0] != "." and folder not in FOLDERS:
                yield folder in tokens, "%s: the table of folders leaves out %s" % (path, folder)
    if not any(kind != "folder" for _, kind, _ in rows):
        return
    for file in tree.files:
        folder, name = os.path.split(file)
        if folder != here or any(fnmatch.fnmatch(name, p) for p in UNLISTED):
            continue
        stem = name.split(".")[0]
        dashed = "hlo-" + re.sub(r"(?<!^)([A-Z])", r"-\1", stem).lower()
        globs = [t for t in tokens if "*" in t and len(t) > 3]
        named = {name, stem, dashed} & tokens or any(fnmatch.fnmatch(n, g) for g in globs for n in (name, stem))
        yield bool(named), "%s: the table of files leaves out %s" % (path, name)


def check(root):
    tree = Tree(root)
    names, offences = 0, []
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        results = list(check_tables(tree, path, text))
        for number, line in enumerate(text.split("\n"), 1):
            results += [*check_spans(tree, path, number, line), *check_links(tree, path, number, line)]
        names += len(results)
        offences += [message for right, message in results if not right]
    return names, offences


# A README and the expected message ("": none), in a tree with a.cpp (a flag `verbose`, a function someName), b.cpp, sub/c.py.
TABLE = "| file | what |\n|---|---|\n| `a.cpp` | |\n| `b` | |\n"
CASES = [
    ("`someName`, `--verbose`, `sub/c.py`, `sub/`, [c](sub/c.py), `visitX`, `sub/*.py`\n\n" + TABLE, ""),
    ("`otherName`", "README.md:1: nothing is called otherName"),
    ("\n`tool --quiet=1`", "README.md:2: programs have no flag --quiet"),
    ("`sub/c.py --verbose`", "README.md:1: sub/c.py has no flag --verbose"),
    ("`sub/d.py`", "README.md:1: there is no sub/d.py"),
    ("`sub/NAME.py`, `sub/FOLDER/d.py`", ""),
    ("`sub/d/NAME.py`", "README.md:1: there is no sub/d"),
    ("[c](sub/d.py)", "the link leads nowhere: sub/d.py"),
    (TABLE.replace("| `b` | |\n", ""), "the table of files leaves out b.cpp"),
    (TABLE + "| `c.cpp` | |\n", "README.md:5: the folder has no c.cpp"),
    ("| folder | what |\n|---|---|\n| `sub/` | |\n", ""),
    ("sources\n\n" + TABLE.replace("| file |", "| file or folder |"), "the table of folders leaves out sub"),
]


def self_test():
    failed = 0
    for text, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "sub"))
            tree = {"a.cpp": 'int someName; Flag verbose{"verbose"};', "b.cpp": "", "sub/c.py": "", "README.md": text}
            for name, content in tree.items():
                with open(os.path.join(root, name), "w") as file:
                    file.write(content)
            names, offences = check(root)
            if len(offences) != bool(expected) or not names or (expected and expected not in offences[0]):
                failed += 1
                print("for\n%s\nexpected %r, got %r" % (text, expected, offences))
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    names, offences = check(sys.argv[1])
    print("\n".join(offences + ["%d names, %d offences" % (names, len(offences))]))
    return 1 if offences or not names else 0


if __name__ == "__main__":
    sys.exit(main())
