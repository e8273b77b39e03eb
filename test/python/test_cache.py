"""The cache of objects: hits, damaged entries, many processes."""
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import hlo_compile as hc
from modules import SAXPY

A, X, Y = np.float32(2), np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)


class Cache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "cache"

    def compile(self, text=SAXPY, **options):
        f = hc.compile(text, cache_dir=self.folder, **options)
        np.testing.assert_array_equal(f(A, X, Y), A * X + Y)
        return f

    def entries(self):
        return sorted(self.folder.glob("*.hloc"))

    def test_hits_are_byte_equal(self):
        first, second = self.compile(), self.compile()
        self.assertEqual((first.from_cache, second.from_cache), (False, True))
        self.assertEqual(first.object, second.object)
        self.assertEqual(first.object, hc.compile(SAXPY).object)
        self.assertEqual(hc.describe(first), hc.describe(second))
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(stat.S_IMODE(self.folder.stat().st_mode) & 0o077, 0)

    def test_what_an_entry_depends_on(self):
        self.compile()
        for options in ({"opt_level": 1}, {"name": "other"}, {"denormals": "flush"}, {"quantize_activations": True},
                        {"max_arena": 1 << 40}):
            self.assertFalse(self.compile(**options).from_cache, options)
            self.assertTrue(self.compile(**options).from_cache, options)
        self.assertFalse(self.compile(SAXPY + "\n").from_cache)
        self.assertTrue(self.compile(threads=1, jobs=1, rng_seed=3).from_cache)  # of the call, not of the object

    def test_damaged_entries_are_ignored(self):
        self.compile()
        entry, = self.entries()
        whole = entry.read_bytes()
        middle = len(whole) // 2
        for damaged in (b"", whole[:10], whole[:-1], whole + b"x", b"x" + whole[1:],
                        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], b"\0" * len(whole)):
            entry.write_bytes(damaged)
            self.assertFalse(self.compile().from_cache)
            self.assertEqual(entry.read_bytes(), whole)  # and repaired
        self.assertTrue(self.compile().from_cache)

    def test_an_object_that_does_not_load_is_compiled_again(self):
        from hlo_compile import _cache
        self.compile()
        entry, = self.entries()
        facts, _ = _cache.read(self.folder, entry.stem)
        _cache.write(self.folder, entry.stem, facts, b"\x7fELF but no object")
        self.assertFalse(self.compile().from_cache)
        self.assertTrue(self.compile().from_cache)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of other users")
    def test_entries_of_other_users_are_ignored(self):
        self.compile()
        os.chown(self.entries()[0], 12345, 12345)
        self.assertFalse(self.compile().from_cache)

    def test_folders_that_cannot_be_written(self):
        self.folder.write_text("a file")
        self.assertFalse(self.compile().from_cache)
        self.assertEqual(self.folder.read_text(), "a file")

    def test_errors_are_not_kept(self):
        for _ in range(2):
            with self.assertRaises(hc.CompileError):
                self.compile(SAXPY.replace("add(ax, y)", "add(ax)"))
        self.assertFalse(self.folder.exists())

    def test_environment(self):
        script = ("import hlo_compile as hc\nfrom modules import SAXPY\n"
                  "print(hc.compile(SAXPY).from_cache, hc.compile(SAXPY, cache_dir='').from_cache)")
        environment = {**os.environ, "HLO_COMPILE_CACHE": str(self.folder)}
        results = [subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True,
                                  check=True).stdout for _ in range(2)]
        self.assertEqual(results, ["False False\n", "True False\n"])

    def test_many_processes_and_threads(self):
        script = f"""
import sys, threading
import numpy as np
import hlo_compile as hc
from modules import SAXPY
def work():
    for i in range(6):
        text = SAXPY.replace("out", f"out{{i}}")
        f = hc.compile(text, cache_dir={str(self.folder)!r})
        assert (f(2, np.ones(1000, np.float32), np.ones(1000, np.float32)) == 3).all()
        seen.add((i, f.object))
seen = set()
workers = [threading.Thread(target=work) for _ in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert len(seen) == 6, len(seen)
"""
        processes = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
                     for _ in range(4)]
        for process in processes:
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(len(self.entries()), 6)
        self.assertEqual([path for path in self.folder.iterdir() if path.suffix != ".hloc"], [])


if __name__ == "__main__":
    unittest.main()
