"""jax.random, from keys that are arguments."""
import jax
import jax.numpy as jnp
from jax import random

from programs import Program

K = "u32[2]:key"


def draw(name, *more, **options):
    return Program(name, lambda key: getattr(random, name)(key, *more, **options), (K,))


PROGRAMS = [
    draw("bits", (5,)),
    draw("uniform", (3, 4)),
    draw("normal", (3, 4)),
    draw("bernoulli", 0.3, (9,)),
    draw("categorical", jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(6,)),
    draw("choice", 7, (5,)),
    draw("permutation", 9),
    draw("randint", (6,), -3, 9),
    draw("truncated_normal", -1.0, 1.0, (5,)),
    draw("exponential", (5,)),
    draw("gumbel", (5,)),
    draw("laplace", (5,)),
    draw("logistic", (5,)),
    draw("cauchy", (5,)),
    draw("rademacher", (5,)),
    draw("split", 3),
    draw("gamma", 2.0, (4,)),
    draw("beta", 2.0, 3.0, (4,)),
    draw("dirichlet", jnp.array([1.0, 2.0, 3.0])),
    draw("poisson", 3.0, (5,)),
    draw("multivariate_normal", jnp.zeros(3), jnp.eye(3)),
    draw("orthogonal", 3),
    draw("t", 4.0, (5,)),
    draw("pareto", 2.0, (5,)),
    draw("weibull_min", 1.0, 2.0, (5,)),
    draw("rayleigh", 1.0, (5,)),
    draw("geometric", 0.3, (5,)),
    draw("maxwell", (5,)),
    draw("ball", 3, shape=(4,)),
    draw("triangular", 0.0, 0.5, 1.0, (5,)),
    draw("double_sided_maxwell", 0.0, 1.0, (5,)),
    draw("lognormal", 1.0, (5,)),
    Program("fold_in", lambda key, i: random.normal(random.fold_in(key, i), (3,)), (K, "s32[]:index")),
    Program("keys_of_loop", lambda key: jax.lax.fori_loop(0, 3, lambda i, x: x + random.normal(random.fold_in(key, i), (4,)), jnp.zeros(4)), (K,)),
    Program("typed_key", lambda key: random.uniform(random.wrap_key_data(key), (4,)), (K,)),
    Program("rbg", lambda key: random.bits(random.wrap_key_data(jnp.concatenate([key, key]), impl="rbg"), (5,)), (K,)),
    Program("normal_f64", lambda key, x: x + random.normal(key, (5,), jnp.float64), (K, "f64[]")),
    Program("normal_bf16", lambda key: random.normal(key, (5,), jnp.bfloat16), (K,)),
    Program("dropout", lambda key, x: jnp.where(random.bernoulli(key, 0.8, x.shape), x / 0.8, 0), (K, "f32[4,8]")),
    Program("batched", lambda key: jax.vmap(lambda k: random.normal(k, (2,)))(random.split(key, 3)), (K,)),
]
