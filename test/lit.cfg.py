"""lit configuration: FileCheck tests of every folder of the tree.

Run with `ninja check-lit`, or one test with
  lit-22 -sv --param build=build test/target/some-test.mlir
"""
import glob
import os
import shutil
import subprocess
import sys

import lit.formats
import lit.util

config.name = "hlo-compile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".hlo", ".test"]
config.excludes = ["unit", "CMakeLists.txt", "Inputs", "golden", "performance"]
config.test_source_root = os.path.dirname(__file__)

root = os.path.dirname(config.test_source_root)
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build")))
# Under sanitizers (test/sanitizers/run.sh): another build of the runtime, and the flags of programs that are linked with it.
runtime = os.path.abspath(lit_config.params.get("runtime", build))
sanitizer_flags = lit_config.params.get("flags", "")
if "-fsanitize=thread" in sanitizer_flags:
    config.available_features.add("tsan")
config.test_exec_root = os.path.join(runtime, "test", "lit")
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
llvm_bin = lit_config.params.get("llvm_bin", "/usr/lib/llvm-22/bin")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm_bin, config.environment["PATH"]])

# Replace names only as whole words, so that `hlo-opt` in a message or a path stays unchanged.
for tool in ["hlo-opt", "hlo-compile", "hlo-run"]:
    path = os.path.join(build, "bin", tool)
    if os.path.exists(path):
        config.available_features.add(tool)
config.substitutions.append(("%{python}", sys.executable))
# A file's lines for several CPUs share the values that they expect.
config.substitutions.append(("%e2e", f"{sys.executable} {root}/test/e2e/run.py --cache={config.test_exec_root}/e2e-cache"))
config.substitutions.append(("%root", root))
config.substitutions.append(("%build", build))
config.substitutions.append(("%runtime", runtime))
# A shared library that leaves nothing undefined; a sanitizer's functions come from the program.
config.substitutions.append(("%z-defs", "" if sanitizer_flags else "-Wl,-z,defs"))
config.substitutions.append(("%cc", (shutil.which("clang-22") or "cc") + " " * bool(sanitizer_flags) + sanitizer_flags))
config.substitutions.append((r"%cxx(?!-)", (shutil.which("clang++-22") or "c++") + " " * bool(sanitizer_flags) + sanitizer_flags))
# A compiler that has the libraries of AddressSanitizer and UndefinedBehaviorSanitizer.
for compiler, archive in [("clang++-22", "libclang_rt.asan-x86_64.a"), ("g++", "libasan.so")]:
    path = shutil.which(compiler) and subprocess.run(
        [compiler, "-print-file-name=" + archive], capture_output=True, text=True).stdout.strip()
    if path and os.path.exists(path):
        config.available_features.add("asan")
        flags = " -fsanitize=address,undefined -fno-sanitize-recover=all "
        config.substitutions.append(("%cxx-asan", compiler + flags))
        break
# Other versions format a little differently.
if shutil.which("clang-format-22"):
    config.available_features.add("clang-format")
    config.substitutions.append(("%clang-format", "clang-format-22"))
# How a C program is linked with an object.
config.substitutions.append(("%rt-include", "-I%s/runtime/abi" % root))
config.substitutions.append(("%rt", "-I%s/runtime/abi %s/lib/libhlo_rt.a -lpthread -lm" % (root, runtime)))

if os.path.exists(os.path.join(build, "lib", "libhlo_comm_mpi.a")) and shutil.which("mpirun"):
    config.available_features.add("mpi")
    # Several processes on few CPUs, as any user, without looking for networks.
    config.substitutions.append(("%mpirun", "mpirun --oversubscribe --allow-run-as-root --mca btl self,vader"))
if os.path.exists(os.path.join(build, "lib", "libhlo_lapack.so")):
    config.available_features.add("lapack")
# Pools of others that modules run on. A compiler has OpenMP if it links a program with it.
if os.path.exists("/usr/include/tbb/task_arena.h"):
    config.available_features.add("tbb")
for cc, cxx in [("clang-22", "clang++-22"), ("gcc", "g++")]:
    probe = [shutil.which(cxx) or "false", "-fopenmp", "-x", "c++", "-", "-o", os.devnull]
    source = b"#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"
    if subprocess.run(probe, input=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add("openmp")
        config.substitutions.append(("%openmp-cc", "%s -fopenmp" % shutil.which(cc)))
        config.substitutions.append(("%openmp-cxx", "%s -fopenmp" % shutil.which(cxx)))
        break
# The runtime for another architecture, its compiler and its emulator.
for arch in ["aarch64", "riscv64"]:
    cross = os.path.join(build, "lib", arch + "-linux-gnu")
    if os.path.exists(os.path.join(cross, "hlo-run-guest")) and shutil.which(arch + "-linux-gnu-gcc") and shutil.which("qemu-" + arch):
        config.available_features.add(arch)
        config.substitutions.append(("%" + arch + "-cc", arch + "-linux-gnu-gcc"))
        config.substitutions.append(("%" + arch + "-rt", "-I%s/runtime/abi %s/libhlo_rt.a -pthread -lm" % (root, cross)))
        config.substitutions.append(("%" + arch + "-run", "qemu-%s -L /usr/%s-linux-gnu" % (arch, arch)))
# Programs of this architecture on other CPUs of it. Sanitizers reserve more memory than the emulator has.
if shutil.which("qemu-x86_64") and not sanitizer_flags:
    config.available_features.add("qemu-x86_64")
    config.substitutions.append(("%qemu-x86_64", "qemu-x86_64"))
# Of what installations are used and packages made with.
for name in ["make", "pkg-config", "dpkg-deb", "dpkg-shlibdeps"]:
    if shutil.which(name):
        config.available_features.add(name)
if shutil.which("musl-gcc"):
    config.available_features.add("musl")
rustc = shutil.which("rustc")
if rustc:
    config.available_features.add("rustc")
    config.substitutions.append(("%rustc", rustc))
    for name in ["RUSTUP_HOME", "CARGO_HOME", "HOME"]:
        if name in os.environ:
            config.environment[name] = os.environ[name]
# XLA's headers for typed custom calls, from a jaxlib wheel: in build/venv where tools/test.sh has put it.
headers = glob.glob(lit_config.params.get("venv", os.path.join(build, "venv")) + "/lib/python3*/site-packages/jaxlib/include")
if headers:
    config.available_features.add("xla-ffi-headers")
    config.substitutions.append(("%xla-ffi-headers", headers[0]))

with open("/proc/cpuinfo") as file:
    flags = next((line for line in file if line.startswith("flags")), "").split()
for feature in ["avx2", "fma", "avx512f", "avx512_bf16"]:
    if feature in flags:
        config.available_features.add(feature)
