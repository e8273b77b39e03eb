"""jit and export against JAX."""
import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import hlo_compile as hc

if importlib.util.find_spec("jax") is None:
    raise unittest.SkipTest("there is no JAX")

import jax
import jax.numpy as jnp


def assert_trees_equal(test, ours, theirs, rtol=0.0):
    test.assertEqual(jax.tree.structure(ours), jax.tree.structure(theirs))
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        test.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        if jax.dtypes.issubdtype(b.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=rtol)


class Trees(unittest.TestCase):
    def check(self, function, *args, rtol=0.0, jit_options={}, **kwargs):
        ours = hc.jit(function, **jit_options)
        expected = jax.jit(function, **jit_options)(*args, **kwargs)
        for _ in range(2):  # compiled, then found
            assert_trees_equal(self, ours(*args, **kwargs), expected, rtol)
        self.assertEqual(len(ours._executables), 1)
        return ours

    def test_trees(self):
        def f(tree, *rest, scale, **more):
            return {"sum": tree["a"][0] + tree["b"] * scale, "rest": rest[::-1], "none": None, "more": more}

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.check(f, {"a": (x, None), "b": x + 1}, x, (x, [x]), scale=np.float32(2), z=x, y=3)

    def test_classes_in_trees(self):
        @jax.tree_util.register_pytree_node_class
        class Pair:
            def __init__(self, x, y, name):
                self.x, self.y, self.name = x, y, name

            def tree_flatten(self):
                return (self.x, self.y), self.name

            @classmethod
            def tree_unflatten(cls, name, children):
                return cls(*children, name)

        result = hc.jit(lambda p: Pair(p.y, p.x + 1, p.name))(Pair(np.float32(1), np.float32(2), "p"))
        self.assertEqual((result.x, result.y, result.name), (2, 2, "p"))

    def test_numbers_and_their_types(self):
        self.check(lambda a, b, c, d: (a + b, a * c, d & True, a), 1, 2.5, 3 + 1j, True)
        f = hc.jit(lambda a: a + 1)
        self.assertEqual(f(1).dtype, np.int32)
        self.assertEqual(f(1.0).dtype, np.float32)
        self.assertEqual(f(np.int8(1)).dtype, np.int8)
        self.assertEqual(f(np.arange(3)).dtype, np.int32)  # as JAX without 64-bit types
        self.assertEqual(len(f._executables), 4)

    def test_settings_of_jax_are_part_of_the_signature(self):
        f = hc.jit(lambda a: a + 1)
        self.assertEqual(f(np.arange(3.0)).dtype, np.float32)
        with jax.enable_x64(True):
            self.assertEqual(f(np.arange(3.0)).dtype, np.float64)
        self.assertEqual(f(np.arange(3.0)).dtype, np.float32)

    def test_static_arguments(self):
        def f(n, x, mode="double", *, times=1):
            return x[:n] * (2 if mode == "double" else 3) * times

        x = np.arange(5, dtype=np.float32)
        f_static = hc.jit(f, static_argnums=0, static_argnames=("mode", "times"))
        for args, kwargs in (((3, x), {}), ((2, x), {"mode": "triple"}), ((4, x), {"times": 5})):
            np.testing.assert_array_equal(f_static(*args, **kwargs), f(*args, **kwargs))
        by_name = hc.jit(f, static_argnames=("n", "mode", "times"))
        np.testing.assert_array_equal(by_name(2, x), f(2, x))
        np.testing.assert_array_equal(by_name(x=x, n=3), f(3, x))
        by_number = hc.jit(lambda x, n: x[:n], static_argnums=(-1,))
        np.testing.assert_array_equal(by_number(x, 2), x[:2])

    def test_unused_arguments_and_constants(self):
        table = np.arange(1000, dtype=np.float32)
        self.check(lambda unused, x, also: (x + jnp.asarray(table), x), np.zeros((3, 3)), table, {"a": 1})
        self.check(lambda x: (), np.float32(1))
        self.check(lambda: jnp.arange(4), )
        self.check(lambda x: (x, x), np.float32(1))

    def test_functions_of_all_kinds(self):
        class Model:
            def __init__(self, scale):
                self.scale = scale

            @partial(hc.jit, static_argnums=0)
            def apply(self, x):
                return x * self.scale

            def __call__(self, x):
                return x - self.scale

        self.assertEqual(Model(3).apply(np.float32(2)), 6)
        self.assertEqual(hc.jit(Model(3))(np.float32(2)), -1)
        self.assertEqual(hc.jit(partial(lambda a, b: a - b, np.float32(1)))(np.float32(3)), -2)

        @hc.jit
        def named(x):
            """Doubles."""
            return 2 * x

        self.assertEqual((named.__name__, named.__doc__), ("named", "Doubles."))

    def test_control_flow_and_linear_algebra(self):
        def f(x, n):
            x = jax.lax.fori_loop(0, n, lambda i, x: jnp.sin(x) + i, x)
            y = jax.lax.cond(n > 2, lambda x: x @ x, lambda x: x, x)
            return jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), y)

        x = np.random.default_rng(0).random((4, 4), np.float32)
        self.check(f, x, 3, rtol=1e-5)

        def g(x):
            q, r = jnp.linalg.qr(x)
            return jnp.abs(q @ r - x).max() < 1e-5, jnp.linalg.eigvalsh(x + x.T), jnp.linalg.svd(x, compute_uv=False)

        self.check(g, x, rtol=1e-4)

    def test_linear_algebra_of_jaxlib(self):
        """Without libhlo_lapack, as in the wheel, handlers are those of jaxlib."""
        from hlo_compile import _custom_calls
        ours = _custom_calls._lapack
        _custom_calls._lapack = list
        self.addCleanup(setattr, _custom_calls, "_lapack", ours)

        def f(x):
            return jnp.linalg.eigvalsh(x + x.T), jnp.linalg.eig(x)[0], jnp.linalg.inv(x), jax.scipy.linalg.schur(x)[0]

        self.check(f, np.random.default_rng(0).random((5, 5), np.float32), rtol=1e-4)

    def test_gradients_inside(self):
        def loss(w, x):
            return jnp.sum(jnp.tanh(x @ w) ** 2)

        w, x = (np.random.default_rng(i).random((4, 4), np.float32) for i in range(2))
        self.check(jax.value_and_grad(loss), w, x, rtol=1e-5)
        self.check(jax.vmap(loss, in_axes=(None, 0)), w, x[None], rtol=1e-5)


class JaxArrays(unittest.TestCase):
    def test_in_and_out(self):
        f = hc.jit(lambda x, y: (x * 2, y + 1))
        x = jnp.arange(4096, dtype=jnp.float32)
        results = f(x, np.float32(3))
        self.assertTrue(all(isinstance(result, jax.Array) for result in results))
        assert_trees_equal(self, results, (x * 2, np.float32(4)))
        self.assertTrue(all(isinstance(r, np.ndarray) for r in f(np.asarray(x), np.float32(3))))

    def test_no_copies(self):
        f = hc.jit(lambda x: x * 2)
        x = jnp.arange(4096, dtype=jnp.float32)
        function = f.compiled(x)
        seen = []
        call = function.__call__
        f._executables[next(iter(f._executables))].function = lambda *args: seen.append(args) or seen.append(
            call(*args)) or seen[-1]
        result = f(x)
        self.assertEqual(seen[0][0].ctypes.data, x.unsafe_buffer_pointer())
        self.assertEqual(seen[1].ctypes.data, result.unsafe_buffer_pointer())
        del seen
        gc.collect()
        np.testing.assert_array_equal(np.asarray(result), np.arange(4096) * 2)

    def test_narrow_types(self):
        for dtype in (jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn, jnp.int4, jnp.uint4, jnp.bool_, jnp.complex64):
            with self.subTest(dtype.__name__):
                x = jnp.asarray(np.array([0, 1, 1, 0, 1]), dtype)
                f = hc.jit(lambda x: jnp.concatenate([x, x[::-1]]))
                assert_trees_equal(self, f(x), jax.jit(lambda x: jnp.concatenate([x, x[::-1]]))(x))
                assert_trees_equal(self, f(np.asarray(x)), np.concatenate([x, x[::-1]]))

    def test_weak_types(self):
        result = hc.jit(lambda x, n: n + 1)(jnp.zeros(3), 2)
        self.assertEqual(result.weak_type, jax.jit(lambda x, n: n + 1)(jnp.zeros(3), 2).weak_type)
        self.assertEqual((result * jnp.float16(2)).dtype, jnp.float16)

    def test_keys(self):
        def f(key, n):
            a, b = jax.random.split(key)
            return {"key": a, "keys": jax.random.split(b, 3), "normal": jax.random.normal(b, (5,)), "n": n}

        for implementation in ("threefry2x32", "rbg"):
            key = jax.random.key(7, impl=implementation)
            ours, theirs = hc.jit(f)(key, 1), jax.jit(f)(key, 1)
            assert_trees_equal(self, ours, theirs, 1e-6)
            self.assertEqual(ours["key"].dtype, key.dtype)
        old = jax.random.PRNGKey(3)
        assert_trees_equal(self, hc.jit(lambda k: jax.random.bits(k, (7,)))(old), jax.random.bits(old, (7,)))
        self.assertEqual(hc.jit(lambda: jax.random.key(1))().dtype, jax.random.key(1).dtype)

    def test_float0(self):
        zero = np.zeros((2, 3), jax.dtypes.float0)
        result = hc.jit(lambda z, x: (z, x * 2))(zero, np.float32(2))
        self.assertEqual((result[0].dtype, result[0].shape, result[1]), (jax.dtypes.float0, (2, 3), 4))
        _, gradient = hc.jit(lambda n, x: jax.vjp(lambda n, x: n * x, n, x)[1](x))(2, np.float32(3))
        self.assertEqual(gradient, 6)

    def test_donation(self):
        f = hc.jit(lambda s, d: (s + d, d), donate_argnums=0)
        state, delta = np.ones(100, np.float32), np.ones(100, np.float32)
        new, _ = f(state, delta)
        self.assertEqual(new.ctypes.data, state.ctypes.data)
        self.assertTrue((state == 2).all())
        state, other = jnp.ones(100), jnp.ones(100)
        new, _ = f(state, other)
        self.assertTrue(state.is_deleted() and not other.is_deleted())
        np.testing.assert_array_equal(new, np.full(100, 2, np.float32))
        named = hc.jit(lambda state: {"s": state["s"] + 1}, donate_argnames="state")
        array = np.zeros(8, np.float32)
        self.assertIs(named(state={"s": array})["s"], array)

    def test_transformations_of_the_result(self):
        f = hc.jit(lambda x: jnp.sin(x) * x)
        x = jnp.float32(2)
        assert_trees_equal(self, jax.grad(f)(x), jax.grad(lambda x: jnp.sin(x) * x)(x), 1e-6)
        assert_trees_equal(self, jax.vmap(f)(jnp.arange(3.0)), jnp.sin(jnp.arange(3.0)) * jnp.arange(3.0), 1e-6)
        assert_trees_equal(self, jax.jit(lambda x: f(x) + 1)(x), jnp.sin(x) * x + 1, 1e-6)
        assert_trees_equal(self, hc.jit(lambda x: f(x) + 1)(x), jnp.sin(x) * x + 1, 1e-6)

    def test_what_is_refused(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaisesRegex((hc.RunError, NotImplementedError), "callback|effects"):
                hc.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x))(np.float32(1))
            with self.assertRaisesRegex((hc.Error, NotImplementedError), "callback|effects|token"):
                hc.jit(lambda x: jax.debug.print("{}", x, ordered=True) or x)(np.float32(1))
        with self.assertRaises(TypeError):
            hc.jit(lambda x: x)("text")
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            @hc.jit
            def fails(x):
                raise ZeroDivisionError("mine")
            fails(np.float32(1))

    def test_threads_and_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            f = hc.jit(lambda x: jnp.sort(x), cache_dir=folder)
            x = np.random.default_rng(0).random(5000, np.float32)
            expected = np.sort(x)
            wrong = []

            def work():
                for _ in range(20):
                    if not np.array_equal(f(x), expected):
                        wrong.append(1)

            workers = [threading.Thread(target=work) for _ in range(6)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.assertEqual(wrong, [])
            self.assertEqual(len(f._executables), 1)
            self.assertTrue(hc.jit(lambda x: jnp.sort(x), cache_dir=folder).compiled(x).from_cache)

    def test_without_jax(self):
        script = ("import sys\nsys.modules['jax'] = None\nimport hlo_compile as hc\n"
                  "try:\n    hc.jit(abs)\nexcept ImportError as error:\n    print(error)\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "hlo_compile.jit and export need JAX: pip install jax\n")


class Export(unittest.TestCase):
    def build_and_run(self, folder, name, compiler="cc", emulator=()):
        command = [line.strip() for line in (folder / "README.md").read_text().splitlines()
                   if line.strip().startswith(compiler)][0]
        subprocess.run(command.replace("-o", "-Wall -Wextra -Werror -o"), shell=True, cwd=folder, check=True)
        return subprocess.run([*emulator, f"./{name}"], cwd=folder, check=True, capture_output=True, text=True).stdout

    def export(self, function, *args, **kwargs):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return hc.export(function, *args, out=Path(folder.name) / "out", **kwargs)

    def test_with_cc_and_cmake(self):
        def f(params, x, n):
            return {"y": x @ params["w"] + params["b"], "n": n + 1, "half": x.astype(jnp.bfloat16), "z": x > 0.5}

        args = ({"w": np.ones((3, 2), np.float32), "b": np.ones(2, np.float32)}, np.ones((2, 3), np.float32),
                np.int32(4))
        folder = self.export(f, *args, name="affine")
        output = self.build_and_run(folder, "affine")
        iota = [np.arange(n, dtype=np.float32) % 17 / 16 for n in (6, 2, 6)]
        y = iota[2].reshape(2, 3) @ iota[0].reshape(3, 2) + iota[1]
        lines = dict(line.split(":") for line in output.splitlines())
        y_printed = next(values for values in lines.values() if len(values.split()) == 4)
        self.assertEqual(y_printed.split(), [f"{value:g}" for value in y.reshape(-1)])
        self.assertIn(" 3d80 3e00", output.replace("0000 ", " "))
        build = folder / "build"
        subprocess.run(["cmake", "-S", folder, "-B", build], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
        self.assertEqual(subprocess.run([build / "affine_main"], check=True, capture_output=True, text=True).stdout,
                         output)
        info = hc.describe(folder / "affine.o")
        self.assertEqual(info.name, "affine")
        self.assertEqual([array.type for array in info.inputs], ["f32", "f32", "f32", "s32"])

    def test_prepared(self):
        folder = self.export(lambda w, x: x @ (w * 2), np.ones((64, 64), np.float32), np.ones((8, 64), np.float32),
                             immutable_params="w")
        plain = self.export(lambda w, x: x @ (w * 2), np.ones((64, 64), np.float32), np.ones((8, 64), np.float32))
        self.assertEqual(self.build_and_run(folder, "model"), self.build_and_run(plain, "model"))

    def test_shapes_without_arrays(self):
        shape = jax.ShapeDtypeStruct((5,), np.float32)
        folder = self.export(jax.jit(lambda x: jnp.cumsum(x)), shape, name="sums")
        self.assertEqual(self.build_and_run(folder, "sums"), "out: 0 0.0625 0.1875 0.375 0.625\n")

    def test_other_targets(self):
        for machine in ("aarch64", "riscv64"):
            with self.subTest(machine):
                compiler, emulator = f"{machine}-linux-gnu-gcc", f"qemu-{machine}"
                folder = self.export(lambda x: x + 1, np.zeros(3, np.float32), target=f"{machine}-linux-gnu")
                root = f"/usr/{machine}-linux-gnu"
                self.assertEqual(self.build_and_run(folder, "model", compiler, (emulator, "-L", root)),
                                 "out: 1 1.0625 1.125\n")

    def test_names(self):
        with self.assertRaisesRegex(ValueError, "name: expected a C identifier, given 'my model'"):
            self.export(lambda x: x, np.float32(1), name="my model")


if __name__ == "__main__":
    unittest.main()
