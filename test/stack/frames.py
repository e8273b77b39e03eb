#!/usr/bin/env python3
"""No function of an object has a frame of more than 16 KiB.

  frames.py --tool=build/bin/hlo-compile --objdump=llvm-objdump [--all] [--cpus=A,B] [--jobs=N] [FILE.hlo...]

Compiles modules for four CPUs and reads the frames in two ways: those that the compiler tells
(--time-report=json), and those in the machine code: what a function pushes and subtracts from the
stack pointer. Neither may be larger, no function may subtract what is not a constant, and the
compiler may not tell less than the code has. Without files: the modules of test/performance with
the largest frames or the most scratch memory of each family (Inputs/subset.txt), or --all.
The last line reads 'N frames, largest N bytes (FUNCTION of MODULE for CPU)'.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

CPUS = ["x86-64", "haswell", "skylake-avx512", "sapphirerapids"]
MOST = 16384
HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(HERE, "..", "performance", "modules")
# What aligning a frame may skip is in neither number.
SLACK = 64


def frames_in(objdump, path):
    """Function -> bytes, of the machine code of an object; raises ValueError for a variable frame."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", "--no-leading-addr", path], check=True,
                          capture_output=True, text=True).stdout
    frames, name = {}, None
    for line in text.splitlines():
        start = re.match(r"<(.*)>:$", line)
        if start:
            name, pushed, most = start.group(1), 0, 0
            frames[name] = 0
            continue
        words = line.split(None, 1)
        if not words or name is None:
            continue
        operands = words[1] if len(words) > 1 else ""
        if words[0].startswith("push"):
            pushed += 8
        elif words[0] in ("subq", "addq") and re.search(r",\s*%rsp\b", operands):
            amount = re.match(r"\$(-?0x[0-9a-f]+)", operands)
            if not amount:
                raise ValueError("%s has a frame of variable size: %s" % (name, line.strip()))
            bytes_ = int(amount.group(1), 16)
            bytes_ = bytes_ if words[0] == "subq" else -bytes_
            most = max(most, bytes_ if bytes_ < 1 << 62 else 0)
        frames[name] = pushed + most
    return frames


def check(options, module, cpu):
    """Errors as texts; and (bytes, function) of the largest frame, and how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.o")
        run = subprocess.run([options.tool, module, "--cpu=" + cpu, "--jobs=1", "--name=m", "-o", path,
                              "--time-report=json"], capture_output=True, text=True)
        if run.returncode:
            return ["exit %d: %s" % (run.returncode, run.stderr[-400:])], (0, ""), 0
        told = json.loads(run.stderr.strip().splitlines()[-1])
        try:
            frames = frames_in(options.objdump, path)
        except ValueError as error:
            return [str(error)], (0, ""), 0
    if not frames:
        return ["the object has no functions"], (0, ""), 0
    largest = max((size, name) for name, size in frames.items())
    errors = []
    if largest[0] > MOST:
        errors.append("%s has a frame of %d bytes" % (largest[1], largest[0]))
    if told["largest_frame_bytes"] > MOST:
        errors.append("the compiler tells of a frame of %d bytes" % told["largest_frame_bytes"])
    if largest[0] > told["largest_frame_bytes"] + SLACK:
        errors.append("%s has a frame of %d bytes, the compiler tells of %d at most" %
                      (largest[1], largest[0], told["largest_frame_bytes"]))
    if told["stack_bytes"] < told["largest_frame_bytes"]:
        errors.append("stack_bytes is %d, less than a frame" % told["stack_bytes"])
    return errors, max(largest, (told["largest_frame_bytes"], told["largest_frame"])), len(frames)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--objdump", default="llvm-objdump")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cpus", default=",".join(CPUS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    modules = options.files
    if not modules and options.all:
        modules = [os.path.join(MODULES, name) for name in sorted(os.listdir(MODULES)) if name.endswith(".hlo")]
    elif not modules:
        with open(os.path.join(HERE, "Inputs", "subset.txt")) as file:
            modules = [os.path.join(MODULES, name + ".hlo") for name in file.read().split()]
    cases = [(module, cpu) for module in modules for cpu in options.cpus.split(",")]
    failed, functions, largest = 0, 0, (0, "", "", "")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda case: check(options, *case), cases)
        for (module, cpu), (errors, frame, count) in zip(cases, results):
            name = os.path.basename(module)
            for error in errors:
                print("%s for %s: %s" % (name, cpu, error))
            failed += bool(errors)
            functions += count
            largest = max(largest, (*frame, name, cpu))
    print("%d of %d objects are wrong" % (failed, len(cases)))
    print("%d frames, largest %d bytes (%s of %s for %s)" % (functions, *largest))
    return failed != 0 or not cases


if __name__ == "__main__":
    sys.exit(main())
