#!/usr/bin/env python3
"""Headers of modules whose names are chosen to break C: hostile_names.py HLO-COMPILE FOLDER RT-INCLUDE COUNT

Draws COUNT names (keywords, macros of the standard headers and of our own, reserved names, names that differ only in
what C has no letter for) as parameters, and as many custom call targets of arbitrary characters. Every header of the
modules must compile as C99, C11 and C++17 with each compiler found, after all standard headers, and no text of a
module may become code: the marker INJECTED appears in every target and may appear in comments only. The C++ headers
of these modules must as well, and those of 200 modules whose own name and prefix are drawn, all in one file.
"""
import os
import random
import re
import shutil
import subprocess
import sys

tool, folder, include, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
draw = random.Random(7)
HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef
stdint stdio stdlib string time wchar wctype""".split()
POSIX_HEADERS = """aio arpa/inet dirent dlfcn fcntl ftw glob grp langinfo netdb netinet/in poll pwd regex sched search
semaphore spawn strings sys/ipc sys/mman sys/resource sys/select sys/socket sys/stat sys/time sys/types sys/uio sys/un
sys/utsname sys/wait syslog termios unistd""".split()
KEYWORDS = """_Alignas _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local alignas asm auto
bool break case catch char class concept const constexpr default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new nullptr operator private public register
requires restrict return short signature signed sizeof static struct switch template this throw true try typedef typeid
typename typeof union unsigned using virtual void volatile wchar_t while xor uint8_t int64_t size_t hlo_call hlo_status
hlo_f16 hlo_module_desc inputs outputs call args prepared m_args m_run m_describe m_run_buffers arrays view status hlo std state describe FILE stat
time_t tm sigset_t fpos_t linux unix __func__
__LINE__ __FILE__ __cplusplus __x86_64__ __GNUC__ _Z3foo __x _X""".split()


def run(command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


compilers = [c for c in ("gcc", "clang-22") if shutil.which(c)]
prelude = "".join(f"#include <{header}.h>\n" for header in HEADERS)
defined = run([compilers[0], f"-I{include}", "-dM", "-E", "-x", "c", "-"], prelude + "#include <hlo/rt.h>\n").stdout
macros = [line.split()[1].split("(")[0] for line in defined.splitlines() if line.startswith("#define")]
own = [f"M_{name}" for name in ("NUM_INPUTS", "NUM_OUTPUTS", "ARENA_BYTES", "ARENA_ALIGN", "SIGNATURE", "ARGS_INIT",
                                "STATE_BYTES", "PREPARED_BYTES", "H_", "RUN")] + ["HLO_RT_H", "HLO_ABI"]
LETTERS = "abAB01_.-"


def name():
    kind = draw.random()
    if kind < 0.4:
        return draw.choice(macros)
    if kind < 0.6:
        return draw.choice(KEYWORDS + own)
    if kind < 0.8:  # equal but for characters that become `_`, or but for the number
        return draw.choice(["x.1", "x.2", "x_1", "x-1", "x", "x_", "y.1", "out", "out_0", "in0", "in1", "args_0_.1"])
    return draw.choice("abAB_") + "".join(draw.choice(LETTERS) for _ in range(draw.randrange(1, 7)))


def target():
    parts = ["*/", "/*", "*\\\n/", "??/\n", "//", '"', "\\", "\n", "\r", "\t", "\1", "'", "%s", "a", "_", "#error ",
             "int INJECTED;", "\x1b[31m", "\x7f"]
    return "INJECTED" + "".join(draw.choice(parts) for _ in range(draw.randrange(1, 8)))


def quoted(text):
    return "".join(c if " " <= c <= "~" and c not in '\\"' else f"\\{ord(c):03o}" for c in text)


failed = 0
per_module = 100
for number in range(0, count, per_module):
    names = []
    while len(names) < per_module:
        drawn = name()
        if drawn not in names and not drawn.startswith("__"):  # HLO reserves these
            names.append(drawn)
    lines = [f"  %{n} = f32[] parameter({i})" for i, n in enumerate(names)]
    lines += [f'  call{i} = f32[] custom-call(%{n}), custom_call_target="{quoted(target())}", custom_call_has_side_effect=true'
              for i, n in enumerate(names)]
    path = os.path.join(folder, "m.hlo")
    with open(path, "w") as f:
        f.write("HloModule m\nENTRY entry {\n" + "\n".join(lines) + "\n  ROOT tuple = () tuple()\n}\n")
    header, calls, cxx = (os.path.join(folder, name) for name in ("m.h", "calls.h", "m.hpp"))
    made = run([tool, path, "--emit=none", f"--header={header}", f"--cxx-header={cxx}",
                f"--custom-call-header={calls}", "--allow-missing-custom-calls=*"])
    if made.returncode:
        failed += 1
        print(f"module {number}: hlo-compile: {made.stdout[:500]}")
        continue
    for file in (header, cxx, calls):
        with open(file) as f:
            code = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        code = re.sub(r"^void INJECTED\w*\(void \*out, const void \*\*in\);$", "", code, flags=re.M)
        if "INJECTED" in code:
            failed += 1
            print(f"module {number}: text of the module is code in {os.path.basename(file)}")
    for compiler in compilers:
        for language, standard in (("c", "c99"), ("c", "c11"), ("c++", "c++17")):
            includes = [header, calls] + [cxx] * (language == "c++")
            source = prelude + "".join(f'#include "{file}"\n' for file in includes)
            if number and (compiler != compilers[0] or standard == "c99") and number % 500:
                continue  # every module by two standards, one in five by all
            checked = run([compiler, "-x", language, f"-std={standard}", "-trigraphs", "-Wall", "-Wextra", "-pedantic",
                           "-Werror", "-Wno-unused-function", "-Wno-deprecated", "-fsyntax-only", f"-I{include}", "-"], source)
            if checked.returncode:
                failed += 1
                print(f"module {number}: {compiler} -std={standard}: {checked.stdout[:600]}")

# Names of namespaces and classes. Two prefixes that differ in case would have the same macros.
sources, prefixes = prelude + "".join(f"#include <{header}.h>\n" for header in POSIX_HEADERS), set()
while len(prefixes) < 200:
    module, prefix = name(), name()
    folded = re.sub(r"\W", "_", prefix).upper().strip("_")
    if folded in prefixes or module.startswith("__") or module in ("true", "false"):  # HLO's own words
        continue
    prefixes.add(folded)
    path, cxx = os.path.join(folder, "n.hlo"), os.path.join(folder, f"n{len(prefixes)}.hpp")
    with open(path, "w") as f:
        f.write(f"HloModule {module}\nENTRY entry {{\n  %{module} = f32[] parameter(0)\n"
                f"  ROOT %{module}_ = f32[] negate(%{module})\n}}\n")
    made = run([tool, path, f"--name={prefix}", "--emit=none", f"--cxx-header={cxx}"])
    if made.returncode:
        failed += 1
        print(f"module {module}, prefix {prefix}: {made.stdout[:500]}")
        continue
    sources += f'#include "{cxx}"\n'
for compiler in compilers:
    for standard in ("c++17", "c++20"):
        checked = run([compiler, "-x", "c++", f"-std={standard}", "-trigraphs", "-Wall", "-Wextra", "-pedantic", "-Werror",
                       "-Wno-unused-function", "-Wno-deprecated", "-fno-exceptions", "-fno-rtti", "-fsyntax-only",
                       f"-I{include}", "-"], sources)
        if checked.returncode:
            failed += 1
            print(f"namespaces: {compiler} -std={standard}: {checked.stdout[:2000]}")
print(f"{count} names, {failed} failed")
sys.exit(failed != 0)
