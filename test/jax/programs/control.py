"""Loops, branches, scans, calls; values captured from outside."""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from programs import Program

A = "f32[3,4]"


def newton(x):
    def step(state):
        y, i = state
        return 0.5 * (y + x / y), i + 1
    return lax.while_loop(lambda s: (s[1] < 20) & (jnp.abs(s[0] * s[0] - x).max() > 1e-5), step, (x, 0))


def scanned(x, w):
    def step(h, row):
        h = jnp.tanh(h @ w + row)
        return h, h.sum()
    return lax.scan(step, jnp.zeros(4), x)


def bubble(x):
    def outer(i, v):
        def inner(j, u):
            a, b = u[j], u[j + 1]
            return u.at[j].set(jnp.minimum(a, b)).at[j + 1].set(jnp.maximum(a, b))
        return lax.fori_loop(0, v.shape[0] - 1, inner, v)
    return lax.fori_loop(0, x.shape[0], outer, x)


@jax.custom_jvp
def clipped(x):
    return jnp.clip(x, -1, 1)


clipped.defjvp(lambda primals, tangents: (clipped(primals[0]), tangents[0] * 2))


@functools.partial(jax.checkpoint, static_argnums=(1,))
def rematerialized(x, n):
    for _ in range(n):
        x = jnp.sin(x)
    return x


def rk4(f, y, h):
    a = f(y)
    b = f(y + 0.5 * h * a)
    c = f(y + 0.5 * h * b)
    return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))


def square_root(x):
    def solve(f, start):
        return lax.fori_loop(0, 8, lambda i, y: 0.5 * (y + x / y), start)
    return lax.custom_root(lambda y: y * y - x, x, solve, lambda g, y: y / g(1.0))


PROGRAMS = [
    Program("while_loop", newton, (A + ":positive",)),
    Program("while_captured", lambda x, n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5 + x), (0, x))[1], (A, "s32[]:index")),
    Program("fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, y: y * 0.5 + i, x), (A,)),
    Program("fori_dynamic", lambda x, n: lax.fori_loop(0, n, lambda i, y: y + x * i, x), (A, "s32[]:index")),
    Program("fori_nested", bubble, ("f32[6]",)),
    Program("fori_unrolled", lambda x: lax.fori_loop(0, 6, lambda i, y: y + jnp.sin(y), x, unroll=2), (A,)),
    Program("scan", scanned, ("f32[5,4]", "f32[4,4]")),
    Program("scan_reverse", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.float32(1), x, reverse=True), ("f32[7]",)),
    Program("scan_no_inputs", lambda x: lax.scan(lambda c, _: (c * 0.9, c), x, None, length=4), (A,)),
    Program("scan_unroll", lambda x: lax.scan(lambda c, v: (c + v, c), jnp.float32(0), x, unroll=3), ("f32[7]",)),
    Program("scan_many", lambda x, y: lax.scan(lambda c, v: ((c[0] + v[0], c[1] * v[1]), v[0] - v[1]), (0.0, 1.0), (x, y)), ("f32[5]", "f32[5]")),
    Program("map", lambda x: lax.map(lambda row: jnp.sort(row) * 2, x), (A,)),
    Program("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), ("pred[]", A)),
    Program("cond_captured", lambda p, x, y: lax.cond(p, lambda: x + y, lambda: x * y), ("pred[]", A, A)),
    Program("cond_pair", lambda p, x: lax.cond(p, lambda v: (v, v.sum()), lambda v: (v * 2, v.max()), x), ("pred[]", A)),
    Program("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * v], x), ("s32[]:index", A)),
    Program("switch_clamped", lambda i, x: lax.switch(i + 5, [jnp.sin, jnp.cos], x), ("s32[]:index", A)),
    Program("cond_in_while", lambda x: lax.fori_loop(0, 4, lambda i, y: lax.cond(i % 2 == 0, lambda v: v + x, lambda v: v * 0.5, y), x), (A,)),
    Program("while_in_cond", lambda p, x: lax.cond(p, lambda v: lax.fori_loop(0, 3, lambda i, u: u + v, v), lambda v: v, x), ("pred[]", A)),
    Program("while_of_pairs", lambda x: lax.while_loop(lambda s: s["n"] < 3, lambda s: {"n": s["n"] + 1, "x": s["x"] @ s["x"].T @ s["x"]},
                                                       {"n": 0, "x": x}), (A,)),
    Program("associative_pairs", lambda x, y: lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, y)), ("f32[8]", "f32[8]")),
    Program("custom_jvp", lambda x: jax.jvp(clipped, (x,), (x,)), (A,)),
    Program("checkpoint", jax.grad(lambda x: rematerialized(x, 3).sum()), (A,)),
    Program("calls", lambda x: sum(jax.jit(lambda v, k=k: jnp.sin(v) * k)(x) for k in range(3)), (A,)),
    Program("same_call_twice", lambda x, y, f=jax.jit(lambda v: jnp.tanh(v) @ v.T): f(x) + f(y), (A, A)),
    Program("barrier", lambda x: lax.optimization_barrier((x + 1, x * 2)), (A,)),
    Program("custom_root", square_root, ("f32[]:positive",)),
    Program("linear_solve", lambda a, b: lax.custom_linear_solve(lambda v: a @ v, b, lambda mv, r: jnp.linalg.solve(a, r)), ("f32[4,4]:spd", "f32[4]")),
    Program("cg", lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a @ v, b, maxiter=5)[0], ("f32[4,4]:spd", "f32[4]")),
    Program("bfgs_step", lambda x: x - 0.1 * jax.grad(lambda v: (v**4).sum() - v.sum())(x), ("f32[4]",)),
    Program("ode_rk4", lambda x: lax.fori_loop(0, 3, lambda i, y: rk4(lambda v: -v * v, y, 0.1), x), (A,)),
    Program("fibonacci", lambda n: lax.fori_loop(0, n, lambda i, s: (s[1], s[0] + s[1]), (jnp.int32(0), jnp.int32(1)))[0], ("s32[]:index",)),
    Program("collatz", lambda n: lax.while_loop(lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n + 5, 0))[1],
            ("s32[]:index",)),
    Program("batched_while", jax.vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1))[1]), ("s32[5]:index",)),
    Program("batched_cond", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), ("pred[5]", "f32[5]")),
]
