#!/usr/bin/env python3
"""Instructions that modules execute on aarch64, and how well their inner loops use the core.

    instructions.py [--build=build] [--cpus=neoverse-n1,neoverse-v1] [--json=FILE] [--table=FILE] [MODULE.hlo...]

Each module is compiled for each CPU, linked with call.c, and run once under qemu-aarch64 with plugin.c, which counts how
often each instruction was executed. Without modules: MODULES, from test/performance/modules. Columns:

    instructions  executed in the module's own functions, in thousands
    vector        share of vector arithmetic in them (not loads, stores, moves)
    loop          share of all that is executed in the hottest innermost loop
    fma           share of multiply-adds (of lanes, groups or matrices) in that loop; an exponential has none
    lanes         of these: by lane (`v2.s[1]`)
    spills        loads and stores of vectors on the stack in that loop
    mca, port     cycles of a trip by llvm-mca, and the bound by its busiest port
    ratio         of the two

An innermost loop is the code between a backward branch and its target, without another such branch in it.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MODULES = """attention_1x12x256x64_f32 attention_av_12x384x64_f32 attention_decode_8x1x1024x64_bf16 attention_qk_12x384x64_f32
cholesky_200_f64 conv_3x3_14x14x256_bf16 conv_3x3_14x14x256_f32 conv_3x3_14x14x256_s8_requant conv_3x3_56x56x64_bf16
conv_3x3_56x56x64_f16 conv_3x3_56x56x64_f32 conv_3x3_56x56x64_s8_s32 conv_3x3_dilated4_28x28x128_f32
conv_grouped_56x56x128g32_f32 convgrad_input_7x7_s4_4x8x8x40_f32 convgrad_kernel_depthwise_28x28x128_f32
depthwise_3x3_56x56x256_bf16 depthwise_3x3_56x56x256_f32 depthwise_3x3_s2_112x112x96_f32 depthwise_7x7_56x56x96_f32
dot_128x4096x128_f32 dot_256_c64 dot_256_s32 dot_500x777x300_s8_s32 dot_512_bf16 dot_512_f16 dot_512_f32 dot_512_f64
dot_512_u8_s32 elementwise_axpy_50000_f32 elementwise_exp_f16 elementwise_exp_f32 elementwise_exp_f64
elementwise_log_f32 elementwise_rsqrt_f32 elementwise_sin_f32 elementwise_tanh_f32 fft_1024x64_c64
fft_real_4096x32_f32 gather_windows_200x32x32_f32 movement_pad_1000x1000_f32 reduce_count_1000000_s32
reduce_moments_rows_2048x1024_f32 rows_layer_norm_1024x768_bf16 rows_layer_norm_1024x768_f32
rows_log_softmax_512x777_f64 rows_rms_norm_512x2048_f32 rows_softmax_1024x1000_bf16 rows_softmax_1024x1000_f32
scan_cumsum_512x1000_f32 scatter_segment_max_20000x8_f32 skinny_1x2048x8192_bf16 skinny_1x2048x8192_f32
skinny_1x4096x4096_s8_s32 skinny_batch_64x32x32_f32 skinny_s4_weights_1x2048x4096_bf16 sort_key_value_30000_s32_f32
transpose_2048_f32 window_max_3x3_s2_112x112x64_f32 window_max_gradient_56x56x64_f32"""

HEAD = """# Instructions on aarch64

Written by `test/aarch64/count/instructions.py --table`, whose head explains the columns: instructions (thousands)
counted under qemu, cycles of the hottest inner loop by llvm-mca. No time is from a machine. What is above 1.15 in the
last column is bound by chains: sums of a scan, a power series per vector, sums of few columns.

"""

BASE = re.compile(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s+(\S+)\s*(.*)$")
SYMBOL = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
MULTIPLY_ADDS = re.compile(r"^(fmla|fmls|fmlal2?|mla|mls|smlal2?|umlal2?|sdot|udot|usdot|sudot|smmla|ummla|usmmla|bfmmla"
                           r"|bfdot|bfmlal[bt]|fcmla|fmadd|fmsub|fnmsub|fnmadd)$")
MOVES = re.compile(r"^(mov|movi|mvni|fmov|dup|ins|umov|smov|ldr|ldp|ldur|str|stp|stur|ld[1-4]r?|st[1-4]|prfm|prfum)$")


def command(*words, **kwargs):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(words)[:200], done.stderr.strip()[-400:]))
    return done.stdout


def isVector(operands):
    return re.search(r"\bv\d+\.|\bq\d+\b", operands) is not None


class Function:
    """Addresses, mnemonics, operands and counts of a function's instructions, in order."""

    def __init__(self, name):
        self.name, self.lines = name, []


def functions(program, counts):
    """The module's own functions: their names have a dot, or are m_run_buffers."""
    found, current = [], None
    for line in command("aarch64-linux-gnu-objdump", "-d", program).splitlines():
        if symbol := SYMBOL.match(line):
            own = symbol[1].startswith("m.") or symbol[1].startswith("m_run_buffers")
            current = Function(symbol[1]) if own else None
            if current:
                found.append(current)
        elif current and (instruction := BASE.match(line)):
            address = int(instruction[1], 16)
            text = re.sub(r"\s*(//|<).*$", "", instruction[4])
            current.lines.append((address, instruction[3], text, counts.get(address, 0)))
    return found


def innermostLoops(function):
    """Pairs of first and last index of innermost loops."""
    at = {line[0]: i for i, line in enumerate(function.lines)}
    loops = []
    for i, (address, name, operands, count) in enumerate(function.lines):
        if not re.match(r"^(b\.\w+|b|cbn?z|tbn?z)$", name):
            continue
        target = operands.split(",")[-1].strip()
        first = at.get(int(target, 16)) if re.fullmatch(r"[0-9a-f]+", target) else None
        if first is not None and first <= i:
            loops.append((first, i))
    return [loop for loop in loops
            if not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in loops)]


def mca(cpu, lines, folder):
    """Cycles of a trip, and the bound by the busiest port."""
    path = os.path.join(folder, "loop.s")
    with open(path, "w") as file:
        for _, name, operands, _ in lines:
            branches = re.match(r"^(b\.\w+|b|cbn?z|tbn?z)$", name)
            words = [word.strip() for word in operands.split(",")]
            file.write("%s %s\n" % (name, ", ".join(words[:-1] + [".+4"]) if branches else operands))
    text = command("llvm-mca-22", "-mtriple=aarch64", "-mcpu=" + cpu, "-iterations=200", path)
    cycles = float(re.search(r"Total Cycles: +(\d+)", text)[1]) / 200
    return cycles, float(re.search(r"Block RThroughput: +([\d.]+)", text)[1])


def measure(module, cpu, build, plugin):
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.normpath(os.path.join(here, "../../.."))
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        command(os.path.join(build, "bin/hlo-compile"), module, "--target=aarch64-linux-gnu", "--cpu=" + cpu, "--name=m",
                "-o", path("m.o"), "--header=" + path("m.h"), "--jobs=1")
        command("aarch64-linux-gnu-gcc", "-O2", "-static", "-I" + folder, "-I" + os.path.join(root, "runtime/abi"),
                os.path.join(here, "call.c"), path("m.o"), os.path.join(build, "lib/aarch64-linux-gnu/libhlo_rt.a"),
                "-lm", "-lpthread", "-o", path("m"))
        command("qemu-aarch64", "-cpu", "max", "-plugin", "%s,out=%s" % (plugin, path("counts")), path("m"))
        with open(path("counts")) as file:
            counts = {int(address, 16): int(count) for address, count in map(str.split, file)}
        own = functions(path("m"), counts)
        total = sum(line[3] for function in own for line in function.lines)
        vector = sum(line[3] for function in own for line in function.lines
                     if isVector(line[2]) and not MOVES.match(line[1]))
        hottest, work = [], -1
        for function in own:
            for first, last in innermostLoops(function):
                lines = function.lines[first:last + 1]
                executed = sum(line[3] for line in lines)
                if executed > work:
                    hottest, work = lines, executed
        row = {"module": os.path.basename(module)[:-4], "cpu": cpu, "instructions": total, "vector": vector / max(1, total)}
        if hottest:
            executed = max(1, work)
            adds = [line for line in hottest if MULTIPLY_ADDS.match(line[1])]
            row["loop"] = work / max(1, total)
            row["fma"] = sum(line[3] for line in adds) / executed
            row["lanes"] = sum(line[3] for line in adds if re.search(r"\]\s*$", line[2])) / executed
            row["spills"] = sum(1 for line in hottest if re.match(r"^(ldr|str|ldp|stp|ldur|stur)$", line[1])
                                and re.search(r"\b[qd]\d+\b", line[2]) and "[sp" in line[2])
            row["mca"], row["port"] = mca(cpu, hottest, folder)
        return row


def table(rows):
    columns = ["instructions", "vector", "loop", "fma", "lanes", "spills", "mca", "port"]
    lines = ["| module | cpu | " + " | ".join(columns) + " | ratio |", "|---|---|" + "--:|" * (len(columns) + 1)]
    for row in rows:
        if "error" in row:
            lines.append("| %s | %s | %s |" % (row["module"], row["cpu"], row["error"]))
            continue
        cells = ["%d" % (row["instructions"] / 1000)]
        cells += ["%.0f %%" % (100 * row[c]) if c in row else "" for c in ["vector", "loop", "fma", "lanes"]]
        cells += ["%d" % row["spills"], "%.1f" % row["mca"], "%.1f" % row["port"],
                  "%.2f" % (row["mca"] / row["port"])] if "mca" in row else [""] * 4
        lines.append("| %s | %s | %s |" % (row["module"], row["cpu"], " | ".join(cells)))
    return "\n".join(lines) + "\n"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.normpath(os.path.join(here, "../../.."))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(root, "build"))
    parser.add_argument("--cpus", default="neoverse-n1,neoverse-v1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json")
    parser.add_argument("--table")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    modules = options.modules or [os.path.join(root, "test/performance/modules", name + ".hlo") for name in MODULES.split()]
    with tempfile.TemporaryDirectory() as folder:
        plugin = os.path.join(folder, "libcount.so")
        command("cc", "-O2", "-fPIC", "-shared", os.path.join(here, "plugin.c"), "-o", plugin)

        def one(work):
            module, cpu = work
            try:
                return measure(module, cpu, options.build, plugin)
            except RuntimeError as error:
                return {"module": os.path.basename(module)[:-4], "cpu": cpu, "error": str(error)}

        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(one, [(module, cpu) for module in modules for cpu in options.cpus.split(",")]))
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    text = table(rows)
    if options.table:
        with open(options.table, "w") as file:
            file.write(HEAD + text)
    print(text, end="")
    sys.exit(1 if any("error" in row for row in rows) else 0)


if __name__ == "__main__":
    main()
