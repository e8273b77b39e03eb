"""Rules of the tree that no compiler checks: allowed includes, and headers, tests and READMEs that must exist.

  layering.py ROOT

Prints one line per offence and exits with status 1 if there is any. The table is that of compiler/README.md.
"""
import os
import re
import subprocess
import sys

# For phases that pass a machine on.
TARGET = ["compiler/machine/Machine.h", "compiler/machine/Target.h"]
# Folder -> the other folders, or single headers, of this tree that it may include (it may always include its own).
# The longest entry that a path starts with counts. `folder/*`: the headers right in the folder, not those of its
# folders. Passes decide by a machine's data; only kernels emit its instructions.
BELOW_CODEGEN = ["compiler/codegen/*", "compiler/analysis", "compiler/plans", "compiler/machine/Machine.h", "compiler/machine/Costs.h",
                 "compiler/machine/Emit.h", "compiler/support", "dialect/hlo"]
ON_LOOPS = ["compiler/codegen/elementwise", "compiler/codegen/loops", *BELOW_CODEGEN]
BELOW_TRANSFORMS = ["compiler/analysis", "compiler/plans", "compiler/machine/Machine.h", "compiler/support", "dialect"]
MAY_INCLUDE = {
    "runtime": [],
    "dialect/hlo": ["compiler/support"],
    "dialect/cpurt": ["dialect/hlo"],
    "dialect/stablehlo": [],
    "compiler/support": [],
    # What LLVM is told needs the machines of all architectures; kernels and passes need none of their headers.
    "compiler/machine": ["compiler/support", "runtime/abi"],
    "compiler/parser": ["dialect/hlo", "compiler/support"],
    # Attributes that are text are read by the parser of that text.
    "compiler/stablehlo": ["dialect/hlo", "dialect/stablehlo", "compiler/parser/AttributeText.h", "compiler/support"],
    "compiler/analysis": ["compiler/support", "dialect/hlo"],
    "compiler/plans": ["compiler/analysis", "compiler/machine/Machine.h", "compiler/machine/Costs.h", "compiler/support",
                       "dialect/hlo"],
    "compiler/transforms/expanders": BELOW_TRANSFORMS,
    "compiler/transforms/layout": BELOW_TRANSFORMS,
    "compiler/transforms/simplifiers": ["compiler/transforms/expanders", "compiler/transforms/layout",
                                        *BELOW_TRANSFORMS],
    "compiler/transforms/fusion": BELOW_TRANSFORMS,
    "compiler/transforms/prepare": ["compiler/transforms/fusion", *BELOW_TRANSFORMS],
    "compiler/transforms/schedule": BELOW_TRANSFORMS,
    "compiler/transforms/spmd": BELOW_TRANSFORMS,
    "compiler/codegen": BELOW_CODEGEN,
    "compiler/codegen/elementwise": BELOW_CODEGEN,
    "compiler/codegen/loops": ["compiler/codegen/elementwise", *BELOW_CODEGEN],
    "compiler/codegen/reduce": ON_LOOPS,
    "compiler/codegen/contraction": ON_LOOPS,
    "compiler/codegen/dot": ["compiler/codegen/contraction", *ON_LOOPS],
    "compiler/codegen/conv": ["compiler/codegen/dot", "compiler/codegen/contraction", *ON_LOOPS],
    "compiler/codegen/sort": ON_LOOPS,
    "compiler/codegen/scatter": ON_LOOPS,
    "compiler/codegen/random": ON_LOOPS,
    "compiler/codegen/fft": ON_LOOPS,
    "compiler/codegen/factorize": ["compiler/codegen/contraction", *ON_LOOPS],
    "compiler/codegen/attention": ["compiler/codegen/contraction", *ON_LOOPS],
    "compiler/target": ["compiler/analysis", "compiler/plans", *TARGET, "compiler/support", "dialect", "runtime/abi"],
    "compiler/pipeline": ["compiler/transforms", "compiler/codegen", "compiler/target", "compiler/analysis", *TARGET,
                          "compiler/support", "dialect"],
    "compiler/driver": ["compiler/parser", "compiler/stablehlo", "compiler/pipeline", "compiler/target", "compiler/transforms/schedule",
                        "compiler/analysis", "compiler/plans", *TARGET, "compiler/support", "dialect"],
    # An object says by itself how it is called.
    "compiler/jit": ["runtime/abi"],
    # `compiler/api/hlo`: the public headers.
    "compiler/api": ["compiler/driver", "compiler/jit", "compiler/parser", "compiler/support", "dialect/hlo", "runtime/abi"],
    # Above the C API alone: no LLVM.
    "compiler/builder": ["compiler/api/hlo", "runtime/abi"],
    "tools/main": ["tools/*"],
    "tools/hlo-compile": ["compiler/driver", "compiler/support", "tools/*", "tools/limits"],
    "tools/hlo-run": ["compiler/driver", "compiler/jit", "compiler/support", "dialect/hlo/FloatTypes.def", "runtime/abi",
                      "tools/*", "tools/limits"],
    "tools/limits": ["compiler/support"],
    "tools/hlo-opt": ["compiler/parser", "compiler/stablehlo", "compiler/pipeline", *TARGET, "compiler/support", "dialect", "tools/*"],
}
TEXTS = (".cpp", ".h", ".c", ".td", ".def", ".md", ".hlo", ".mlir", ".test", ".py", ".sh", ".txt", ".cmake")
# Headers that are installed, included as <hlo/...>.
PUBLIC = ("runtime/abi/hlo", "compiler/api/hlo", "compiler/builder/hlo", "compiler/builder/hlo/ops")
OWN = ("compiler", "dialect", "runtime", "tools", "test")
NAMELESS = {"utils", "util", "common", "misc", "lib", "service", "helpers"}


def files_of(root):
    """Files that git knows or would add."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                             stdout=subprocess.PIPE, text=True, check=False)
    if listing.returncode == 0:
        return [name for name in listing.stdout.splitlines() if os.path.exists(os.path.join(root, name))]
    return [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names
            if not os.path.relpath(folder, root).startswith(("build", ".git"))]


def owner(path):
    """The entry of the table that a path belongs to."""
    fitting = [entry for entry in MAY_INCLUDE if path.startswith(entry + "/")]
    return max(fitting, key=len, default=None)


def is_in(target, allowed):
    """Whether a header is of an entry of the table."""
    if allowed.endswith("/*"):
        return os.path.dirname(target) == allowed[:-2]
    return target == allowed or target.startswith(allowed + "/")


def check_links(files, read):
    """Reports libraries that depend on themselves through others; the linker accepts such cycles."""
    needs = {}
    for path in files:
        if os.path.basename(path) == "CMakeLists.txt" and path.startswith(("compiler/", "dialect/")):
            for name, rest in re.findall(r"hlo_compiler_library\(\s*([^\s()]+)([^()]*)\)", read(path)):
                needs[name] = (path, rest.partition("DEPS")[2].split())
    done = set()

    def visit(name, way):
        if name in way:
            yield f"{needs[name][0]}: libraries need each other: {' -> '.join([*way[way.index(name):], name])}"
        elif name in needs and name not in done:
            for other in needs[name][1]:
                yield from visit(other, [*way, name])
            done.add(name)

    for name in needs:
        yield from visit(name, [])


def check_includes(path, text):
    entry = owner(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#?\s*include\s+([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        quote, target = match.groups()
        where = f"{path}:{number}: "
        if target.startswith("../"):
            yield where + f"'{target}': includes are paths from the root"
        if path.startswith("runtime/"):
            # Adapters to other thread pools are headers for programs that link those.
            adapter = path.startswith("runtime/abi/hlo/executor_")
            if quote == "<" and not adapter and not re.fullmatch(r"(hlo/|sys/|linux/)?\w+\.h", target):
                yield where + f"<{target}>: the runtime includes libc and <hlo/...> only"
            if quote == '"' and target.split("/")[0] in ("llvm", "mlir", "compiler", "dialect", "tools"):
                yield where + f"'{target}': the runtime includes nothing of the compiler"
            continue
        if entry is None or target.split("/")[0] not in OWN:
            continue
        if not any(is_in(target, allowed) for allowed in [entry, *MAY_INCLUDE[entry]]):
            yield where + f"{entry} may not include '{target}'"


def check_source(path, text):
    name = os.path.basename(path)
    first = text.split("\n", 1)[0]
    if path.startswith(("compiler/", "dialect/", "tools/")) and name.endswith((".cpp", ".h")):
        public = path[path.index("/hlo/") + 1:] if os.path.dirname(path) in PUBLIC else ""
        title = rf"(//|/\*)===- {re.escape(public)} - " if public else f"//===- {re.escape(name)} - "
        if not re.match(title, first):
            yield f"{path}:1: the first line must begin with '//===- {public or name} - '"
        if "cl::opt" in text and not path.startswith("tools/"):
            yield f"{path}: cl::opt belongs in tools/"
    if name.endswith(".h") and not path.startswith("cmake/"):
        guard = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.MULTILINE)
        if not guard or guard[1] != guard[2]:
            yield f"{path}: no include guard"
    for word in ("TO" + "DO", "FIX" + "ME"):
        if word in text:
            yield f"{path}: {word}: write an issue instead"


def check_conflicts(path, text):
    """Reports marks that an unfinished merge left in a file."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"(<{7}|>{7}|\|{7}) ", line):
            yield f"{path}:{number}: marks of a merge"


def check_tree(files):
    folders = {os.path.dirname(path) for path in files}
    folders |= {folder[:i] for folder in folders for i in range(len(folder)) if folder[i] == "/"}
    for folder in sorted(folders):
        parts = folder.split("/")
        if NAMELESS & set(parts):
            yield f"{folder}: a folder is called after what lives there"
        is_test_data = parts[0] == "test" and (len(parts) > 2 or "Inputs" in parts)
        if folder and not is_test_data and folder != "runtime/abi" and f"{folder}/README.md" not in files:
            if folder not in PUBLIC and not (parts[0] == "runtime" and len(parts) > 1):
                yield f"{folder}: no README.md"


def check_passes(files, read):
    """A pass hlo-x-y of a folder is in XY.cpp, or the folder's README says where, and its test is called hlo-x-y.

    Only simplifiers/Passes.cpp may register passes of other folders."""
    for path in files:
        if not path.startswith("compiler/transforms/") or not path.endswith((".cpp", ".h")):
            continue
        folder = os.path.dirname(path)
        for name in re.findall(r'getArgument\(\) const \w+ \{ return "([\w-]+)"', read(path)):
            test = f"{folder.replace('compiler', 'test', 1)}/{name}"
            if not any(file.startswith(test) for file in files):
                yield f"{path}: pass {name} has no test {test}.hlo"
            stem, expected = os.path.splitext(os.path.basename(path))[0], "".join(word.capitalize() for word in name.split("-")[1:])
            readme = read(f"{folder}/README.md")
            if stem != expected and not (name in readme and stem in readme):
                yield f"{path}: pass {name} belongs in {expected}.cpp"
        if path == "compiler/transforms/simplifiers/Passes.cpp":
            continue
        for header in re.findall(r'#include "(compiler/transforms/[^"]+)"', read(path)):
            if os.path.dirname(header) != folder and header in files and "std::unique_ptr<mlir::Pass>" in read(header):
                yield f"{path}: '{header}' makes passes of another folder"


def check_sets(path, text):
    """Reports DenseSets of integers: two values are reserved as markers, and cannot be members."""
    if path.startswith(("dialect/hlo/", "compiler/parser/")):
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"Dense(Set|Map)<u?int\d*(_t)?\b", line):
                yield f"{path}:{number}: numbers of the input in a DenseSet or DenseMap"


def main():
    root = sys.argv[1]
    files = files_of(root)
    texts = {}

    def read(path):
        if path not in texts:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                texts[path] = file.read()
        return texts[path]

    problems = [*check_tree(set(files)), *check_passes(files, read), *check_links(files, read)]
    for path in files:
        if path.endswith(TEXTS):
            problems += check_conflicts(path, read(path))
        if path.endswith((".cpp", ".h", ".c", ".td")):
            problems += [*check_includes(path, read(path)), *check_source(path, read(path)), *check_sets(path, read(path))]
    print("\n".join(problems + [f"{len(files)} files, {len(problems)} offences"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
