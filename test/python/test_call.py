"""Calls of compiled modules: types, shapes, memory, threads, errors."""
import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import hlo_compile as hc
from hlo_compile._elf import describe_object
from modules import COUNT, SAXPY, STEP, unary


def saxpy_arguments(seed=0):
    random = np.random.default_rng(seed)
    return np.float32(2), random.random(1000, np.float32), random.random(1000, np.float32)


class Arguments(unittest.TestCase):
    def test_results_are_new_aligned_and_right(self):
        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        first, second = f(a, x, y), f(a, y, x)
        np.testing.assert_array_equal(first, a * x + y)
        np.testing.assert_array_equal(second, a * y + x)
        for result in (first, second):
            self.assertEqual(result.ctypes.data % 64, 0)
            self.assertTrue(result.flags.writeable and result.flags.c_contiguous)
        self.assertFalse(np.shares_memory(first, second))

    def test_inputs_are_read_in_place(self):
        f = hc.compile(SAXPY, threads=1)
        seen = []
        original = f._run
        f._run = lambda call, inputs, outputs: (
            seen.extend((ctypes.c_void_p * 3).from_address(inputs)), original(call, inputs, outputs))[1]
        a, x, y = saxpy_arguments()
        odd = np.zeros(1001, np.float32)[1:]  # aligned to 4 bytes only
        f(a, x, odd)
        self.assertEqual(seen[1:], [x.ctypes.data, odd.ctypes.data])

    def test_by_name(self):
        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        np.testing.assert_array_equal(f(y=y, x=x, a=a), f(a, x, y))
        for args, kwargs, text in (((a, x), {}, "y not given"), ((a, x, y, y), {}, "takes 3 arguments, 4"),
                                   ((a, x, y), {"x": x}, "x is given twice"), ((a, x), {"z": y}, "no parameter z")):
            with self.assertRaisesRegex(TypeError, text):
                f(*args, **kwargs)

    def test_wrong_arguments(self):
        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        for args, kind, text in (((a, x.astype(np.float64), y), TypeError, "x: expected float32, given float64"),
                                 ((a, x, y[:-1]), ValueError, r"y: expected shape \(1000,\), given \(999,\)"),
                                 ((a, x[None], y), ValueError, r"x: expected shape \(1000,\), given \(1, 1000\)"),
                                 (("a", x, y), TypeError, "a: expected an array of float32, given str"),
                                 ((1j, x, y), TypeError, "a: expected float32, given complex"),
                                 ((a, x.astype(">f4"), y), TypeError, "x: expected float32, given >f4"),
                                 ((a, None, y), TypeError, "x: expected an array")):
            with self.assertRaisesRegex(kind, text):
                f(*args)

    def test_what_is_not_contiguous_is_copied(self):
        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        strided = np.repeat(x, 2)[::2]
        np.testing.assert_array_equal(f(a, strided, y), f(a, x, y))
        self.assertTrue(np.array_equal(f(a, x[::-1], y), a * x[::-1] + y))

    def test_read_only_and_numbers(self):
        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        x.flags.writeable = False
        np.testing.assert_array_equal(f(2, x, y), f(2.0, x, y))
        with self.assertRaisesRegex(ValueError, "x: "):
            hc.compile(unary("negate", "u8[]"))(300)

    def test_other_arrays(self):
        class Exporter:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        f = hc.compile(SAXPY)
        a, x, y = saxpy_arguments()
        np.testing.assert_array_equal(f(a, Exporter(x), y), f(a, x, y))

    def test_tuples(self):
        f = hc.compile("""HloModule m
ENTRY e {
  p = (f32[2], (s32[3], pred[])) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  b = (s32[3], pred[]) get-tuple-element(p), index=1
  ROOT r = ((s32[3], pred[]), f32[2]) tuple(b, a)
}
""")
        given = np.ones(2, np.float32), np.arange(3, dtype=np.int32), np.bool_(True)
        results = f(*given)
        self.assertIsInstance(results, tuple)
        for result, expected in zip(results, (given[1], given[2], given[0])):
            np.testing.assert_array_equal(result, expected)
        self.assertEqual([i.name for i in f.describe().inputs], ["p_0", "p_1_0", "p_1_1"])

    def test_empty_and_no_arguments(self):
        f = hc.compile(unary("negate", "f32[0,3]"))
        self.assertEqual(f(np.zeros((0, 3), np.float32)).shape, (0, 3))
        g = hc.compile("HloModule m\nENTRY e {\n  ROOT c = s32[] constant(7)\n}\n")
        self.assertEqual(int(g()), 7)
        h = hc.compile("HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT t = () tuple()\n}\n")
        self.assertEqual(h(1.0), ())

    def test_layouts(self):
        text = unary("negate", "f32[3,5]{0,1}")
        f = hc.compile(text, entry_layout="text")
        x = np.arange(15, dtype=np.float32).reshape(3, 5)
        self.assertIn("column-major", f.describe().inputs[0].layout)
        np.testing.assert_array_equal(f(x), -x)
        np.testing.assert_array_equal(f(np.asfortranarray(x)), -x)
        np.testing.assert_array_equal(hc.compile(text)(x), -x)

    def test_a_text_of_one_line(self):
        f = hc.compile("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
        self.assertEqual(f(np.float32([1, 2])).tolist(), [2, 4])
        with self.assertRaises(FileNotFoundError):
            hc.compile("no such file")

    def test_path_bytes_and_repr(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saxpy.hlo"
            path.write_text(SAXPY)
            a, x, y = saxpy_arguments()
            for source in (path, str(path), SAXPY.encode()):
                np.testing.assert_array_equal(hc.compile(source)(a, x, y), a * x + y)
        f = hc.compile(SAXPY, name="axpy")
        self.assertEqual(repr(f), "<hlo_compile.Function axpy(a: f32[], x: f32[1000], y: f32[1000]) -> out: f32[1000]>")


class Types(unittest.TestCase):
    def test_every_type_keeps_its_bits(self):
        from hlo_compile._types import TYPES, ml_dtypes
        random = np.random.default_rng(1)
        for element in filter(None, TYPES):
            with self.subTest(element.name):
                f = hc.compile(unary("reverse", f"{element.name}[3,7]").replace("reverse(x)", "reverse(x), dimensions={0}"))
                raw = random.integers(0, 2 if element.name == "pred" else 256, (3, 7, element.dtype.itemsize), np.uint8)
                digits = 6 if element.name.startswith("f6") else element.bits
                if digits < 8:
                    raw &= (1 << digits) - 1
                if element.name[0] in "su" and digits < 8 and element.dtype != np.uint8:
                    x = raw[..., 0].astype(np.int8)
                    if element.signed:
                        x = (x ^ (1 << digits - 1)) - (1 << digits - 1)
                    x = x.astype(element.dtype)
                else:
                    x = raw.reshape(3, -1).view(element.dtype)
                result = f(x)
                self.assertEqual(result.dtype, element.dtype)
                self.assertEqual(result.tobytes(), np.ascontiguousarray(x[::-1]).tobytes())
                if ml_dtypes:
                    self.assertEqual(element.dtype.kind == "u", element.name[0] == "u" and element.bits >= 8)

    def test_without_ml_dtypes(self):
        script = """
import sys
sys.modules["ml_dtypes"] = None
import hlo_compile as hc, numpy as np
f = hc.compile("HloModule m\\nENTRY e { x = bf16[2] parameter(0)\\n ROOT y = bf16[2] negate(x) }")
print(f(np.array([0x3f80, 0x4000], np.uint16)).tolist())
g = hc.compile("HloModule m\\nENTRY e { x = s4[3] parameter(0)\\n ROOT y = s4[3] negate(x) }")
print(g(np.array([1, 2, 15], np.uint8)).tolist())
"""
        self.assertEqual(python(script).split("\n")[:2], ["[49024, 49152]", "[15, 14, 1]"])


class Memory(unittest.TestCase):
    def test_donated_arrays_are_reused(self):
        state, delta = np.ones((64, 8), np.float32), np.full((64, 8), 2, np.float32)
        kept = hc.compile(STEP)
        new, old = kept(state, delta)
        self.assertFalse(np.shares_memory(new, state))
        self.assertTrue((state == 1).all())
        f = hc.compile(STEP, donate="state")
        before = state.ctypes.data
        new, old = f(state, delta)
        self.assertEqual(new.ctypes.data, before)
        self.assertTrue((new == 3).all() and (old == -1).all())
        for donate in ("all", [0]):
            self.assertIs(hc.compile(STEP, donate=donate)(state, delta)[0], state)

    def test_donations_that_cannot_be(self):
        with self.assertRaisesRegex(ValueError, "no result may share the buffer of delta"):
            hc.compile(STEP, donate=["delta"])
        with self.assertRaisesRegex(ValueError, "no parameter 'z'; there are state, delta"):
            hc.compile(STEP, donate=["z"])
        f = hc.compile(STEP, donate="all")
        state = np.ones((64, 8), np.float32)
        with self.assertRaisesRegex(hc.RunError, "HLO_ERR_OVERLAP"):
            f(state, state)
        state.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "state is donated"):
            f(state, np.ones((64, 8), np.float32))
        with self.assertRaisesRegex(ValueError, "state is donated"):
            f(np.ones((8, 64), np.float32).T, np.ones((64, 8), np.float32))

    def test_bounded_sizes(self):
        f = hc.compile("""HloModule m
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[<=6,<=4] parameter(0)
  zero = f32[] constant(0)
  y = f32[<=6,<=4] negate(x)
  s = f32[<=6] reduce(x, zero), dimensions={1}, to_apply=add
  ROOT r = (f32[<=6,<=4], f32[<=6]) tuple(y, s)
}
""")
        self.assertEqual(f.describe().inputs[0].bounded, (0, 1))
        for shape in ((6, 4), (3, 4), (6, 1), (2, 3), (0, 2)):
            x = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
            y, s = f(x)
            np.testing.assert_array_equal(y, -x)
            np.testing.assert_array_equal(s, x.sum(1))
            self.assertTrue(y.flags.c_contiguous)
        with self.assertRaisesRegex(ValueError, r"x: expected shape \(<=6, <=4\), given \(7, 4\)"):
            f(np.zeros((7, 4), np.float32))

    def test_named_sizes(self):
        text = """module @rows {
  func.func public @main(%x: tensor<?x2xf32>, %y: tensor<?xf32>) -> tensor<2x?xf32> {
    %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %by = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %b2 = stablehlo.add %b, %b : tensor<i32>
    %same = stablehlo.compare EQ, %by, %b2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%same, %by, %b2) {api_version = 2 : i32, error_message = "{0} is not {1}", \
has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %r = call @inner(%b, %x, %y) : (tensor<i32>, tensor<?x2xf32>, tensor<?xf32>) -> tensor<2x?xf32>
    return %r : tensor<2x?xf32>
  }
  func.func private @inner(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x2xf32>, %y: tensor<?xf32>)
      -> tensor<2x?xf32> {
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %row = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %row, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %z = stablehlo.dynamic_reshape %y, %shape : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %s = stablehlo.add %x, %z : tensor<?x2xf32>
    %r = stablehlo.transpose %s, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
    return %r : tensor<2x?xf32>
  }
}
"""
        for options in ({}, {"dynamic_buffers": "bound"}, {"specialize": "b=3,b=40"}):
            f = hc.compile(text, bounds={"b": 40}, **options)
            info = f.describe()
            self.assertEqual([array.bounded for array in info.inputs], [(0,), (0,)])
            self.assertEqual([array.sizes for array in (*info.inputs, *info.outputs)], ["[b, 2]", "[2*b]", "[2, b]"])
            for b in (0, 1, 3, 39, 40):
                x, y = np.random.default_rng(b).integers(0, 9, (2, b, 2)).astype(np.float32)
                np.testing.assert_array_equal(f(x, y.reshape(-1)), (x + y).T)
            with self.assertRaisesRegex(ValueError, r"expected shape \(6,\), as the program has \[2\*b\], given \(8,\)"):
                f(np.zeros((3, 2), np.float32), np.zeros(8, np.float32))
            with self.assertRaisesRegex(ValueError, r"expected shape \(<=40, 2\), given \(41, 2\)"):
                f(np.zeros((41, 2), np.float32), np.zeros(82, np.float32))
        with self.assertRaisesRegex(hc.CompileError, "bounds are missing"):
            hc.compile(text)
        with self.assertRaisesRegex(hc.CompileError, "size 'b' would be 41, it is bounded by 40"):
            hc.compile(text, bounds="b<=40", specialize="b=41")

    def test_immutable_parameters(self):
        text = """HloModule m
ENTRY e {
  w = f32[64,64] parameter(0)
  b = f32[64] parameter(1)
  x = f32[8,64] parameter(2)
  two = f32[] constant(2)
  t = f32[64,64] broadcast(two), dimensions={}
  v = f32[64,64] multiply(w, t)
  d = f32[8,64] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[8,64] broadcast(b), dimensions={1}
  ROOT y = f32[8,64] add(d, c)
}
"""
        random = np.random.default_rng(3)
        w, b, x = (random.integers(-4, 4, shape).astype(np.float32) for shape in ((64, 64), (64,), (8, 64)))
        expected = x @ (2 * w) + b
        np.testing.assert_array_equal(hc.compile(text, immutable_params={"w": w, "b": b})(x), expected)
        f = hc.compile(text, immutable_params="all-but:x")
        self.assertEqual([array.immutable for array in f.describe().inputs], [True, True, False])
        with self.assertRaisesRegex(hc.RunError, "call prepare"):
            f(w, b, x)
        g, h = f.prepare(w, b=b), f.prepare(w * 2, b)
        del f
        gc.collect()
        np.testing.assert_array_equal(g(x=x), expected)
        np.testing.assert_array_equal(h(x), x @ (4 * w) + b)
        with self.assertRaisesRegex(TypeError, "no parameter w; there are x"):
            g(w=w)

    def test_state_and_seed(self):
        text = """HloModule m
ENTRY e {
  zero = f32[] constant(0)
  one = f32[] constant(1)
  ROOT r = f32[8] rng(zero, one), distribution=rng_uniform
}
"""
        first, again, other = (hc.compile(text, rng_seed=seed)() for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        self.assertFalse(np.array_equal(first, other))
        counter = hc.compile("HloModule m\nENTRY e {\n  ROOT r = u64[2] rng-get-and-update-state(), delta=5\n}\n")
        before, after = counter(), counter()
        self.assertEqual(int(after[0]) - int(before[0]), 5)

    def test_memory_is_freed(self):
        f = hc.compile(unary("negate", "f32[1000000]"))
        x = np.zeros(1000000, np.float32)

        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

        f(x)
        before = resident()
        for _ in range(50):
            f(x)
        self.assertLess(resident() - before, 40e6)
        for i in range(30):  # 100 MB if the code stayed
            hc.compile(SAXPY.replace("out", f"out{i}"))
        gc.collect()
        self.assertLess(resident() - before, 150e6)


class Threads(unittest.TestCase):
    def test_many_threads_call_one_function(self):
        for threads in (1, 2):
            f = hc.compile(unary("sort", "f32[20000]").replace("sort(x)", "sort(x), dimensions={0}, to_apply=less").replace(
                "ENTRY", "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                " ROOT c = pred[] compare(a, b), direction=LT }\nENTRY"), threads=threads)
            self.assertEqual(f.threads, threads)
            wrong = []

            def work(seed):
                x = np.random.default_rng(seed).random(20000, np.float32)
                expected = np.sort(x)
                for _ in range(20):
                    if not np.array_equal(f(x), expected):
                        wrong.append(seed)

            workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.assertEqual(wrong, [])
            self.assertLessEqual(len(f._frames), 9)

    def test_the_gil_is_released(self):
        f = hc.compile(COUNT, threads=1)
        x = np.zeros(4096)
        worker = threading.Thread(target=f, args=(np.int64(-4000), x))
        worker.start()
        rounds = 0
        while worker.is_alive():
            rounds += 1
            time.sleep(0)
        worker.join()
        self.assertGreater(rounds, 10)

    def test_compiling_on_threads(self):
        results = [None] * 6

        def work(i):
            results[i] = hc.compile(SAXPY).object

        workers = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(len(set(results)), 1)

    def test_wrong_number_of_threads(self):
        with self.assertRaisesRegex(ValueError, "threads: expected at least 1, given 0"):
            hc.compile(SAXPY, threads=0)


def python(script, status=0, **kwargs):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, **kwargs)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Interrupts(unittest.TestCase):
    def interrupted(self, what, text="KeyboardInterrupt", first=0.3):
        """Runs `what` in a process that gets SIGINT shortly after it begins; it must end soon, and go on."""
        script = f"""
import os, signal, sys, threading, time
import numpy as np
import hlo_compile as hc
from modules import COUNT, SAXPY
f = hc.compile(COUNT)
x = np.zeros(4096)
threading.Timer({first}, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.time()
try:
    {what}
    print("ended")
except KeyboardInterrupt:
    print("KeyboardInterrupt", time.time() - start < 30)
print(f(np.int64(-1), x)[0], hc.compile(SAXPY)(1, np.ones(1000, np.float32), np.ones(1000, np.float32))[0])
"""
        self.assertEqual(python(script).splitlines(), [f"{text} True", "1.0 2.0"])

    def test_a_run(self):
        self.interrupted("f(np.int64(-(1 << 40)), x)")

    def test_a_compilation(self):
        self.interrupted("""text = "HloModule m\\nENTRY e {\\n  v0 = f32[65,65] parameter(0)\\n" + "".join(
        f"  t{i} = f32[65,65] dot(v{i - 1}, v{i - 1}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\\n"
        f"  v{i} = f32[65,65] {op}(t{i})\\n" for i, op in zip(range(1, 60001), ["tanh", "sine", "exponential", "floor"] * 15000)
    ) + "}\\n"
    hc.compile(text)""", first=1.5)

    def test_many_interrupts(self):
        """Ctrl-C at any time leaves no call that still writes to memory, and no fork that waits for ever."""
        script = """
import os, signal, threading, time
import numpy as np
import hlo_compile as hc
from modules import COUNT, SAXPY
f = hc.compile(COUNT)
x = np.zeros(4096)
seen = 0
for i in range(60):
    timer = threading.Timer(0.0002 * i, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            f(np.int64(-20), x)
            hc.compile(SAXPY)
    except KeyboardInterrupt:
        seen += 1
    timer.join()
child = os.fork()
if child == 0:
    os._exit(int(f(np.int64(-1), x)[0] != 1))
print(seen, os.waitpid(child, 0)[1], f(np.int64(-1), x)[0])
"""
        self.assertEqual(python(script), "60 0 1.0\n")

    def test_handlers_of_other_signals_run(self):
        script = """
import signal, numpy as np, hlo_compile as hc
from modules import COUNT
f = hc.compile(COUNT)
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05)
y = f(np.int64(-60000), np.zeros(4096))
print(seen, 0.7 < y[0] < 0.8)
"""
        self.assertEqual(python(script), "[1] True\n")


class Processes(unittest.TestCase):
    def test_fork(self):
        f = hc.compile(unary("exponential", "f32[300000]"), threads=2)
        g = hc.compile(COUNT)
        x = np.ones(300000, np.float32)
        expected, counted = f(x), g(np.int64(-3), np.zeros(4096))
        stop = threading.Event()

        def work():  # calls and compilations in flight while the process forks
            while not stop.is_set():
                f(x)
                hc.compile(SAXPY)

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    status = 1
                    try:
                        signal.alarm(60)
                        ok = np.array_equal(f(x), expected) and np.array_equal(g(np.int64(-3), np.zeros(4096)), counted)
                        a, u, v = saxpy_arguments()
                        ok = ok and np.array_equal(hc.compile(SAXPY, threads=2)(a, u, v), a * u + v)
                        status = 0 if ok else 2
                    finally:
                        os._exit(status)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        finally:
            stop.set()
            for worker in workers:
                worker.join()
        np.testing.assert_array_equal(f(x), expected)

    def test_subinterpreters(self):
        script = f"""
import sys, warnings
sys.path[:] = {sys.path!r}
warnings.simplefilter("ignore")
import numpy as np
import hlo_compile as hc
from modules import COUNT, SAXPY
for threads in (1, 2):
    y = hc.compile(SAXPY, threads=threads)(2, np.ones(1000, np.float32), np.ones(1000, np.float32))
    assert y[0] == 3 and y[999] == 3
assert hc.compile(COUNT)(np.int64(-1), np.zeros(4096))[0] == 1
"""
        begin = """
try:
    import _xxsubinterpreters as interpreters
    create, failure = interpreters.create, interpreters.RunFailedError
except ImportError:
    import _interpreters as interpreters
    create, failure = lambda: interpreters.create("legacy"), RuntimeError
interpreter = create()
def run(script):
    error = interpreters.run_string(interpreter, script)
    if error is not None:
        raise RuntimeError(error.formatted)
"""
        # numpy 2.4 can be loaded once in a process: here in a subinterpreter ...
        self.assertEqual(python(f"{begin}\nrun({script!r})\ninterpreters.destroy(interpreter)\nprint('done')"), "done\n")
        # ... and here in the main one, where it says so and nothing else happens.
        outer = f"""{begin}
import hlo_compile
try:
    run({script!r})
except failure as error:
    assert "ImportError" in str(error) and "more than once" in str(error), error
interpreters.destroy(interpreter)
exec({script!r})
print("done")
"""
        self.assertEqual(python(outer), "done\n")

    def test_at_exit(self):
        script = """
import atexit
import numpy as np
import hlo_compile as hc
from modules import COUNT
def last():
    print(hc.compile(COUNT)(np.int64(-1), np.zeros(4096))[0])
atexit.register(last)
"""
        self.assertEqual(python(script), "1.0\n")

    def test_pickled_errors(self):
        try:
            hc.compile("nothing\n")
        except hc.CompileError as error:
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((str(copy), copy.diagnostics), (str(error), error.diagnostics))


class Errors(unittest.TestCase):
    def test_compile_errors_have_places(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.hlo"
            path.write_text(SAXPY.replace("add(ax, y)", "dot(ax, y), lhs_contracting_dims={3}, rhs_contracting_dims={0}"))
            with self.assertRaises(hc.CompileError) as caught:
                hc.compile(path)
        error = caught.exception
        self.assertEqual(error.status, "HLO_INVALID_ARGUMENT")
        first = error.diagnostics[0]
        self.assertEqual((first.severity, first.file, first.line), ("error", str(path), 8))
        self.assertGreater(first.column, 1)
        self.assertTrue(first.code.startswith("dot_c"), first)
        self.assertIn(f"bad.hlo:8:{first.column}: error: {first.message}", str(error))
        self.assertIn("^", str(error))

    def test_other_errors(self):
        with self.assertRaises(FileNotFoundError):
            hc.compile("no_such_file.hlo")
        with self.assertRaisesRegex(hc.CompileError, "sharded over several devices") as caught:
            hc.compile("""HloModule shard
                ENTRY main {
                  x = f32[4] parameter(0)
                  ROOT r = f32[2] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
                }""")
        self.assertEqual(caught.exception.status, "HLO_UNIMPLEMENTED")
        with self.assertRaisesRegex(hc.CompileError, "no-such-cpu"):
            hc.compile(SAXPY, cpu="no-such-cpu")
        with self.assertRaisesRegex(ValueError, "entry_layout: expected one of auto, text, row-major"):
            hc.compile(SAXPY, entry_layout="best")
        with self.assertRaises(hc.CompileError) as caught:
            hc.compile(COUNT, max_arena=16)
        self.assertEqual(caught.exception.status, "HLO_RESOURCE_EXHAUSTED")

    def test_missing_parts_are_named(self):
        text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="no_such_function"
}
"""
        with self.assertRaisesRegex(hc.RunError, "no_such_function") as caught:
            hc.compile(text)
        self.assertEqual(caught.exception.status, "HLO_ERR_MISSING")


class CustomCalls(unittest.TestCase):
    TEXT = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="twice"
}
"""

    def test_from_a_library(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "twice.c", Path(folder) / "libtwice.so"
            source.write_text("void twice(float *out, const float **in) {\n"
                              "  for (int i = 0; i < 4; ++i) out[i] = 2 * in[0][i];\n}\nfloat data[4];\n")
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
            x = np.arange(4, dtype=np.float32)
            for given in (library, str(library), [library]):
                np.testing.assert_array_equal(hc.compile(self.TEXT, custom_calls=given)(x), 2 * x)
            # Data of the library, and functions of the libraries that it needs.
            for target in ("data", "gnu_get_libc_release", "system"):
                with self.assertRaisesRegex((hc.RunError, hc.CompileError), target):
                    hc.compile(self.TEXT.replace("twice", target), custom_calls=library)

    def test_from_a_function(self):
        kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))

        @kind
        def twice(out, inputs):
            for i in range(4):
                out[i] = 2 * inputs[0][i]

        x = np.arange(4, dtype=np.float32)
        address = ctypes.cast(twice, ctypes.c_void_p).value
        for given in (twice, address):
            np.testing.assert_array_equal(hc.compile(self.TEXT, custom_calls={"twice": given})(x), 2 * x)
        with self.assertRaisesRegex(TypeError, r"custom_calls\['twice'\] is str"):
            hc.compile(self.TEXT, custom_calls={"twice": "twice"})


class Descriptions(unittest.TestCase):
    def test_of_a_function_and_of_an_object(self):
        f = hc.compile(STEP, name="step")
        info = hc.describe(f)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "step.o"
            path.write_bytes(f.object)
            self.assertEqual(hc.describe(path), info)
            g = hc.load(path, donate="state")
            state = np.ones((64, 8), np.float32)
            self.assertIs(g(state, np.ones((64, 8), np.float32))[0], state)
        self.assertEqual((info.name, info.inputs[0].alias, info.outputs[0].alias, info.inputs[1].alias),
                         ("step", 0, 0, None))
        self.assertIn("in 0  state: f32[64,8], 2048 bytes, may share the buffer of out 0", str(info))
        self.assertEqual(info.compiler_version, hc.__version__)
        self.assertGreater(info.stack_bytes, 0)
        self.assertTrue(info.ops)

    def compiled(self, folder, *flags, text=SAXPY):
        """saxpy.o by hlo-compile."""
        (Path(folder) / "saxpy.hlo").write_text(text)
        from hlo_compile import _paths
        subprocess.run([_paths.tool(), "saxpy.hlo", "-o", "saxpy.o", *flags], cwd=folder, check=True, capture_output=True)
        return Path(folder) / "saxpy.o"

    def test_of_other_architectures(self):
        for machine in ("x86_64", "aarch64", "riscv64"):
            with tempfile.TemporaryDirectory() as folder:
                path = self.compiled(folder, f"--target={machine}-linux-gnu")
                info = hc.describe(path)
                self.assertTrue(info.target.startswith(machine), info.target)
                self.assertEqual([str(array) for array in info.inputs], ["a: f32[]", "x: f32[1000]", "y: f32[1000]"])
                self.assertEqual(info, hc.describe(path, name="saxpy"))
                if machine != os.uname().machine:
                    with self.assertRaisesRegex(ValueError, f"not an object file for {os.uname().machine}"):
                        hc.load(path)

    def test_levels(self):
        import platform
        if platform.machine() != "x86_64":
            self.skipTest("the names of the levels are those of x86-64")
        levels = ["x86-64-v2", "x86-64-v3"]
        f = hc.compile(SAXPY, dispatch=levels)
        a, x, y = saxpy_arguments()
        np.testing.assert_allclose(f(a, x, y), a * x + y, rtol=1e-6)
        with tempfile.TemporaryDirectory() as folder:
            info = hc.describe(self.compiled(folder, f"--dispatch={','.join(levels)}"))
        self.assertEqual(info.cpu_levels, tuple(levels))
        self.assertIn(f"levels: {', '.join(levels)}", str(info))

    def test_shards(self):
        text = """HloModule saxpy
        ENTRY main {
          x = f32[4,5] parameter(0), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
          b = f32[] parameter(1), sharding={replicated}
          bs = f32[4,5] broadcast(b), dimensions={}
          ROOT y = f32[4,5] add(x, bs), sharding={devices=[2,2]<=[4]}
        }"""
        with tempfile.TemporaryDirectory() as folder:
            path = self.compiled(folder, "--partitions=4", text=text)
            info, whole = hc.describe(path), path.read_bytes()
        x, b = info.inputs
        self.assertIsNone(b.sharding)
        self.assertEqual((x.shape, x.sharding.shape, x.sharding.devices), ((4, 3), (4, 5), None))
        (first, second), y = x.sharding.mesh, info.outputs[0]
        self.assertEqual((first[1], second[1]), (2, 2))
        self.assertEqual(x.sharding.axes, ((), (second[0],)))
        self.assertEqual((y.shape, y.sharding.axes), ((2, 3), ((first[0],), (second[0],))))
        self.assertIn(f"in 0  x: f32[4,3], 48 bytes, shard of [4,5] by [{{}}, {{{second[0]}}}]", str(info))
        self.mutate(whole, 1500)

    def mutate(self, whole, count):
        """Bytes at random: an error or a description, but no crash."""
        random = np.random.default_rng(5)
        for _ in range(count):
            data = bytearray(whole)
            for place in random.integers(0, len(whole), random.integers(1, 6)):
                data[place] = random.integers(0, 256)
            try:
                str(describe_object(bytes(data)))
            except ValueError:
                pass

    def test_what_is_no_object(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.compiled(folder)
            whole = path.read_bytes()
            with self.assertRaisesRegex(ValueError, "name: expected one of saxpy, given other"):
                hc.describe(path, name="other")
            for data in (b"", b"\x7fELF nonsense", whole[:100], whole[:len(whole) // 2], whole[:-10], b"\0" * 4096):
                path.write_bytes(data)
                with self.assertRaises(ValueError):
                    hc.describe(path)
            path.write_bytes(whole[:len(whole) // 2])
            with self.assertRaises((ValueError, hc.CompileError)):
                hc.load(path)
            self.mutate(whole, 1500)
            subprocess.run(["cc", "-c", "-x", "c", "-", "-o", path], input=b"int describe_nothing;", check=True)
            with self.assertRaisesRegex(ValueError, "not an object of hlo-compile"):
                hc.describe(path)

    def test_benchmark(self):
        timing = hc.benchmark(hc.compile(SAXPY), *saxpy_arguments(), seconds=0.02)
        self.assertTrue(0 < timing.minimum <= timing.median <= timing.p90)
        self.assertGreaterEqual(timing.runs, 3)
        self.assertRegex(str(timing), r"^min .* us, median .*, \d+ runs$")


if __name__ == "__main__":
    unittest.main()
