"""A training step with its optimizer's state (adam.hlo), and what 200 steps of it give in JAX.

The update is written out; with optax it is the same: `tx.update` inside the function, its state among the arguments.
"""
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, HIDDEN, SAMPLES, STEPS = 8, 32, 64, 200


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] - y) ** 2)


def adam(params, m, v, count, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    count = count + 1
    m = jax.tree.map(lambda m, g: 0.1 * g + 0.9 * m, m, gradients)
    v = jax.tree.map(lambda v, g: 0.001 * g * g + 0.999 * v, v, gradients)
    rate = 0.01 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return params, m, v, count, loss


random = np.random.default_rng(0)
params = {"b1": np.zeros(HIDDEN, np.float32),
          "w1": (random.standard_normal((FEATURES, HIDDEN)) / 3).astype(np.float32),
          "w2": (random.standard_normal((HIDDEN, 1)) / 6).astype(np.float32)}
zeros = jax.tree.map(np.zeros_like, params)
x = random.standard_normal((SAMPLES, FEATURES)).astype(np.float32)
y = np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32)

# All state is donated: the C program updates it in place.
step = jax.jit(adam, donate_argnums=(0, 1, 2, 3))
state = (params, zeros, zeros, np.int32(0))
open("adam.hlo", "w").write(step.lower(*state, x, y).as_text(dialect="hlo"))

# The initial parameters and the samples: the arguments' leaves in order, without the zeros.
with open("adam.bin", "wb") as out:
    for leaf in [*jax.tree.leaves(params), x, y]:
        out.write(np.ascontiguousarray(leaf).tobytes())

losses = []
state = jax.tree.map(jnp.asarray, (params, jax.tree.map(jnp.copy, zeros), jax.tree.map(jnp.copy, zeros), np.int32(0)))
for _ in range(STEPS):
    *state, loss = step(*state, x, y)
    losses.append(float(loss))
print(f"JAX: loss {losses[0]:.4f} -> {losses[-1]:.4f}")
