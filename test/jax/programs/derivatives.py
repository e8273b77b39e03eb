"""jvp, vjp, grad, hessians, vmap, and their combinations."""
import jax
import jax.numpy as jnp
from jax import lax

from programs import Program

A = "f32[3,4]"


def gradient(name, function, *arguments):
    return Program(f"gradient_{name}", jax.grad(lambda *a: jnp.sum(function(*a) ** 2), tuple(range(len(arguments)))), arguments)


def tangent(name, function, argument):
    return Program(f"tangent_{name}", lambda x, t: jax.jvp(function, (x,), (t,)), (argument, argument))


def mapped(name, function, *arguments, axes=0):
    return Program(f"mapped_{name}", jax.vmap(function, in_axes=axes), arguments)


PROGRAMS = [
    *[gradient(n, getattr(jnp, n), A) for n in "sin tanh exp cumsum sort max prod var".split()],
    gradient("log", jnp.log, A + ":positive"),
    gradient("matmul", jnp.matmul, A, "f32[4,5]"),
    gradient("gather", lambda x: x[jnp.array([0, 2, 0])], A),
    gradient("scatter", lambda x, y: x.at[jnp.array([0, 2, 0])].add(y), A, A),
    gradient("slice", lambda x: x[1:, ::2], A),
    gradient("reshape", lambda x: x.reshape(2, 6).T, A),
    gradient("concatenate", lambda x, y: jnp.concatenate([x, y * 2], 1), A, A),
    gradient("where", lambda x: jnp.where(x > 0, x, jnp.expm1(x)), A),
    gradient("softmax", jax.nn.softmax, A),
    gradient("gelu", jax.nn.gelu, A),
    gradient("logsumexp", lambda x: jax.nn.logsumexp(x, 1), A),
    gradient("erf", jax.scipy.special.erf, A),
    gradient("gammaln", jax.scipy.special.gammaln, A + ":positive"),
    gradient("solve", jnp.linalg.solve, "f32[4,4]:spd", "f32[4,2]"),
    gradient("cholesky", jnp.linalg.cholesky, "f32[4,4]:spd"),
    gradient("det", jnp.linalg.det, "f32[4,4]:spd"),
    gradient("fft", lambda x: jnp.abs(jnp.fft.fft(x)), A),
    gradient("pad", lambda x: jnp.pad(x, 1, mode="edge"), A),
    gradient("dynamic_slice", lambda x, i=1: lax.dynamic_slice(x, (jnp.int32(i), 0), (2, 3)), A),
    gradient("scan", lambda x: lax.scan(lambda c, v: (jnp.sin(c + v), c), jnp.zeros(4), x)[1], A),
    gradient("fori", lambda x: lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) * x, x), A),
    gradient("cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), A),
    gradient("einsum", lambda x, y: jnp.einsum("bij,bkj->bik", x, y), "f32[2,3,4]", "f32[2,5,4]"),
    gradient("layer_norm", lambda x: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), A),
    *[tangent(n, getattr(jnp, n), A) for n in "sin tanh exp abs cumsum sort max prod arctan square".split()],
    tangent("erfinv", jax.scipy.special.erfinv, A + ":unit"),
    tangent("igamma", lambda x: jax.scipy.special.gammainc(2.0, x), A + ":positive"),
    tangent("while", lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, x))[1], A),
    tangent("qr", lambda x: jnp.linalg.qr(x)[1], "f32[4,4]"),
    mapped("dot", jnp.dot, A, A),
    mapped("matvec", jnp.matmul, "f32[3,4,5]", "f32[3,5]"),
    mapped("columns", jnp.sort, A, axes=1),
    mapped("shared", lambda x, y: x @ y, A, "f32[4,5]", axes=(0, None)),
    mapped("slice", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), "f32[3,6]", "s32[3]:index"),
    mapped("update", lambda x, i: x.at[i].set(0), "f32[3,6]", "s32[3]:index"),
    mapped("solve", jnp.linalg.solve, "f32[2,4,4]:spd", "f32[2,4]"),
    mapped("cholesky", jnp.linalg.cholesky, "f32[2,4,4]:spd"),
    mapped("fft", jnp.fft.fft, "c64[3,8]"),
    mapped("scan", lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x), A),
    mapped("convolution", lambda x, w: jnp.convolve(x, w), "f32[3,8]", "f32[3,3]"),
    mapped("gradient", jax.grad(lambda x: jnp.sin(x).prod()), A), mapped("nested", jax.vmap(lambda x, y: x * y + 1), A, A),
    Program("hessian", jax.hessian(lambda x: jnp.sin(x).prod()), ("f32[4]",)),
    Program("jacobian_forward", jax.jacfwd(lambda x: jnp.tanh(x) * x.sum()), ("f32[4]",)),
    Program("jacobian_reverse", jax.jacrev(lambda x: jnp.tanh(x) * x.sum()), ("f32[4]",)),
    Program("second_derivative", jax.grad(jax.grad(lambda x: jnp.sin(x) * x**3)), ("f32[]",)),
    Program("vector_jacobian", lambda x, t: jax.vjp(jnp.sin, x)[1](t), (A, A)),
    Program("hessian_vector", lambda x, v: jax.jvp(jax.grad(lambda y: (y**4).sum()), (x,), (v,))[1], ("f32[4]", "f32[4]")),
    Program("linearize", lambda x, t: jax.linearize(jnp.tanh, x)[1](t), (A, A)),
    Program("stop_gradient", jax.grad(lambda x: (lax.stop_gradient(x) * x).sum()), (A,)),
    Program("complex_gradient", jax.grad(lambda x: jnp.abs(x * x).sum()), ("c64[4]",)),
    Program("value_and_gradient", jax.value_and_grad(lambda x: (x**2).sum()), (A,)),
]
