#!/usr/bin/env python3
"""Results of an object with several CPU levels, at each level, against those of an object for this level alone.

    levels.py --bin=build/bin --levels=x86-64-v2,x86-64-v3,x86-64-v4 [--target=TRIPLE --emulator=COMMAND]
              [--threads=N] MODULE.hlo...

Inputs are random; the bytes of all results must be equal. Prints a line for each module that differs or fails, the
levels that the CPU (or the emulator) lacks, and the bytes of the objects: with all levels, and the sum of those for
one. Exit status 1 if anything differs, or if no level could be run.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import zipfile


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr.strip()


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of hlo-compile and hlo-run")
    parser.add_argument("--levels", required=True)
    parser.add_argument("--target", help="triple; default: that of hlo-run")
    parser.add_argument("--emulator")
    parser.add_argument("--threads", default="1")
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    levels = options.levels.split(",")
    compiler, runner = os.path.join(options.bin, "hlo-compile"), os.path.join(options.bin, "hlo-run")
    target = ["--target=" + options.target] if options.target else []
    remote = target + (["--emulator=" + options.emulator] if options.emulator else [])
    failed, equal, lacks, together, alone = 0, dict.fromkeys(levels, 0), dict.fromkeys(levels, 0), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        out = [os.path.join(folder, name) for name in ("all.npz", "one.npz", "m.o")]

        def size_of(flag, module):
            code, message = run([compiler, module, flag, "-o", out[2]] + target)
            if code != 0:
                sys.exit("%s %s: %s" % (flag, module, message))
            return os.path.getsize(out[2])

        for module in options.modules:
            together += size_of("--dispatch=" + options.levels, module)
            for level in levels:
                alone += size_of("--cpu=" + level, module)
                common = [runner, module, "--json", "--threads=" + options.threads] + remote
                code, message = run(common + ["--dispatch=" + options.levels, "--cpu-level=" + level,
                                              "--outputs=" + out[0]])
                if "HLO_ERR_CPU" in message:
                    lacks[level] += 1
                    continue
                if code == 0:
                    code, message = run(common + ["--cpu=" + level, "--outputs=" + out[1]])
                if code == 0 and arrays(out[0]) == arrays(out[1]):
                    equal[level] += 1
                else:
                    failed += 1
                    print("FAIL %s at %s: %s" % (module, level, message or "other results"))
    for level in levels:
        print("%s: %d equal%s" % (level, equal[level],
                                  ", %d not run: the CPU lacks it" % lacks[level] if lacks[level] else ""))
    print("bytes: %d with all levels, %d in objects for one level each" % (together, alone))
    sys.exit(1 if failed or not sum(equal.values()) else 0)


if __name__ == "__main__":
    main()
