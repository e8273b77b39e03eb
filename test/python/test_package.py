"""The command line, the examples in docstrings, and the types."""
import doctest
import importlib
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

import hlo_compile as hc

HAS_JAX = importlib.util.find_spec("jax") is not None
MODULES = ("_benchmark", "_cache", "_compile", "_custom_calls", "_describe", "_errors", "_export", "_function", "_jax",
           "_native", "_paths", "_threads", "_types")


def command(*arguments, status=0, **kwargs):
    done = subprocess.run([sys.executable, "-m", "hlo_compile", *arguments], capture_output=True, text=True, **kwargs)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout if status == 0 else done.stderr


class Docstrings(unittest.TestCase):
    def test_examples(self):
        attempted = 0
        for name in MODULES:
            if name in ("_jax", "_export") and not HAS_JAX:
                continue
            module = importlib.import_module(f"hlo_compile.{name}")
            result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
            self.assertEqual(result.failed, 0, name)
            attempted += result.attempted
        self.assertGreater(attempted, 15)

    def test_every_public_name_has_one(self):
        for name in hc.__all__:
            if name != "__version__":
                self.assertTrue(getattr(hc, name).__doc__, name)


class Types(unittest.TestCase):
    def test_annotations(self):
        import inspect
        self.assertTrue((Path(hc.__file__).parent / "py.typed").exists())
        for name in hc.__all__:
            value = getattr(hc, name)
            if inspect.isfunction(value):
                signature = inspect.signature(value)
                self.assertIsNot(signature.return_annotation, inspect.Signature.empty, name)
                for parameter in signature.parameters.values():
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty, f"{name}({parameter.name})")


class CommandLine(unittest.TestCase):
    def test_paths(self):
        self.assertTrue((Path(command("--cmake-dir").strip()) / "HloCompileConfig.cmake").exists())
        folders = [Path(line) for line in command("--include-dir").splitlines()]
        for header in ("rt.h", "compiler.h"):
            self.assertTrue(any((folder / "hlo" / header).exists() for folder in folders), header)
        self.assertEqual(command("--version"), f"hlo_compile {hc.__version__}\n")

    def test_runtime_archives(self):
        own = command("--runtime-archive").strip()
        self.assertTrue(Path(own).exists())
        self.assertEqual(command(f"--runtime-archive={os.uname().machine}-unknown-linux-gnu").strip().split("/")[-1],
                         "libhlo_rt.a")
        for triple in ("aarch64-linux-gnu", "riscv64-unknown-linux-gnu"):
            path = Path(command(f"--runtime-archive={triple}").strip())
            self.assertEqual(path.parent.name, triple.replace("-unknown", ""))
        self.assertIn("no runtime for sparc-linux-gnu; there are", command("--runtime-archive=sparc-linux-gnu", status=3))

    def test_licences(self):
        text = command("--licenses")
        for part in ("Apache License", "LLVM", "zlib", "Zstandard", "GCC Runtime Library Exception"):
            self.assertIn(part, text)

    def test_programs(self):
        self.assertIn(hc.__version__, command("compile", "--version"))
        self.assertIn("--bench", command("run", "--help"))
        self.assertIn("--list-passes", command("opt", "--help"))

    def test_usage(self):
        self.assertIn("usage:", command(status=2))
        self.assertIn("usage:", command("--help"))
        self.assertIn("unknown option --nothing", command("--nothing", status=2))


if __name__ == "__main__":
    unittest.main()
