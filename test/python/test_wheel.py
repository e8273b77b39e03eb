"""The wheel, installed into an empty folder: what is in it, and that it works without the source tree."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import hlo_compile as hc

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HLO_COMPILE_BUILD", ROOT / "build"))


def run(*command, **kwargs):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **kwargs)
    if done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        script = (f"import sys; sys.path.insert(0, {str(ROOT / 'python/build_backend')!r}); import hlo_wheel; "
                  f"print(hlo_wheel.build_wheel({folder.name!r}, {{'compression': '1'}}))")
        python = next((name for name in (sys.executable, "python3") if subprocess.run(
            [name, "-c", "import tomllib"], capture_output=True).returncode == 0), None)
        if python is None:
            raise unittest.SkipTest("the build backend needs Python 3.11")
        cls.wheel = cls.folder / run(python, "-c", script, env={**os.environ, "HLO_COMPILE_BUILD": str(BUILD)}).strip()
        cls.site = cls.folder / "site"
        run(sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps",
            "--target", cls.site, cls.wheel)
        cls.environment = {key: value for key, value in os.environ.items() if key != "HLO_COMPILE_BUILD"}
        cls.environment["PYTHONPATH"] = str(cls.site)

    def python(self, *arguments):
        return run(sys.executable, *arguments, env=self.environment, cwd=self.folder)

    def test_contents(self):
        names = set(zipfile.ZipFile(self.wheel).namelist())
        for name in ("bin/hlo-compile", "bin/hlo-run", "include/hlo/rt.h", "include/hlo/compiler.h", "lib/libhlo_rt.a",
                     "lib/libhlo_rt.so.2", "lib/libhlo_compiler.so.1", "lib/aarch64-linux-gnu/libhlo_rt.a",
                     "lib/riscv64-linux-gnu/libhlo_rt.a", "lib/cmake/HloCompile/HloCompileConfig.cmake"):
            self.assertIn(f"hlo_compile/package/{name}", names)
        self.assertTrue({"hlo_compile/py.typed", "hlo_compile/NOTICES", "hlo_compile/LICENSE"} <= names)
        self.assertLess(self.wheel.stat().st_size, 80e6)  # at level 1; 60 MB is the limit at level 9
        self.assertRegex(self.wheel.name, r"^hlo_compile-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$")

    def test_what_the_binaries_need(self):
        allowed = {"libc.so.6", "libm.so.6", "libz.so.1", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
        for name in ("bin/hlo-compile", "lib/libhlo_compiler.so.1", "lib/libhlo_rt.so.2"):
            path = self.site / "hlo_compile/package" / name
            lines = run("readelf", "-d", path).splitlines()
            needed = {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}
            self.assertLessEqual(needed, allowed, name)
            self.assertFalse([line for line in lines if "RPATH" in line or "RUNPATH" in line], name)
            self.assertNotIn(".symtab", run("readelf", "-SW", path), name)

    def test_calls(self):
        script = """
import numpy as np
import hlo_compile as hc
f = hc.compile("HloModule m\\nENTRY e { x = f32[3] parameter(0)\\n ROOT y = f32[3] negate(x) }")
print(hc.__file__, f(np.ones(3, np.float32)))
"""
        self.assertEqual(self.python("-c", script), f"{self.site}/hlo_compile/__init__.py [-1. -1. -1.]\n")

    def test_programs(self):
        for name in ("hlo-compile", "hlo-run", "hlo-opt"):
            script, program = self.site / "bin" / name, self.site / "hlo_compile/package/bin" / name
            by_script = run(script, "--help", env=self.environment)
            self.assertEqual(by_script, run(program, "--help"))
            self.assertIn(name, by_script)
        self.assertEqual(self.python("-m", "hlo_compile", "compile", "--version"),
                         run(self.site / "bin/hlo-compile", "--version", env=self.environment))

    def test_cmake_and_c(self):
        package = self.python("-m", "hlo_compile", "--cmake-dir").strip()
        self.assertTrue(package.startswith(str(self.site)))
        build = self.folder / "cmake"
        run("cmake", "-S", ROOT / "examples/cmake", "-B", build, f"-DHloCompile_DIR={package}")
        run("cmake", "--build", build)
        example = ROOT / "examples/c"
        run(self.site / "bin/hlo-compile", example / "saxpy.hlo", "-o", "saxpy.o", "--header=saxpy.h", cwd=self.folder,
            env=self.environment)
        include = self.python("-m", "hlo_compile", "--include-dir").strip()
        archive = self.python("-m", "hlo_compile", "--runtime-archive").strip()
        run("cc", example / "main.c", "saxpy.o", "-I.", f"-I{include}", archive, "-lm", "-lpthread", "-o", "saxpy",
            cwd=self.folder)
        run(self.folder / "saxpy")

    def test_versions_agree(self):
        self.assertIn(f"hlo_compile-{hc.__version__}-", self.wheel.name)
        from hlo_compile import _native
        self.assertEqual(_native.compiler().hlo_compiler_version().decode(), hc.__version__)


if __name__ == "__main__":
    unittest.main()
