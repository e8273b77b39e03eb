"""Two training steps in plain jax.numpy, exported with donated state: Adam, and SGD with momentum."""
import collections

import jax
import jax.numpy as jnp
import numpy as np

STEPS, BATCHES = 200, 4
# step(*state, x, y) gives a tree whose last leaf is the loss; `state` is its initial state.
Training = collections.namedtuple("Training", "name step state batches in_place")


def loss_of(params, x, y):
    """A network of three layers; one has its weights as [out, in], so that their gradient is a transposed product."""
    h = jnp.tanh(x @ params["in"]["kernel"] + params["in"]["bias"])
    h = h + jax.nn.gelu(jnp.einsum("bi,oi->bo", h, params["middle"]["kernel"]) + params["middle"]["bias"])
    return jnp.mean((h @ params["out"].T - y) ** 2)


def adam(params, moments, x, y):
    """Adam; the moments are two trees like the parameters, and the number of steps."""
    first, second, count = moments
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.1 * g + 0.9 * m, first, gradients)
    second = jax.tree.map(lambda v, g: 0.001 * g * g + 0.999 * v, second, gradients)
    rate = 0.01 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, (first, second, count), loss


def momentum(params, velocity, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    velocity = jax.tree.map(lambda v, g: -0.02 * g + 0.9 * v, velocity, gradients)
    return jax.tree.map(jnp.add, params, velocity), velocity, loss


def trainings():
    random = np.random.default_rng(17)

    def normal(*shape):
        return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    params = {"in": {"kernel": normal(10, 24), "bias": normal(24)}, "middle": {"kernel": normal(24, 24), "bias": normal(24)},
              "out": normal(3, 24)}
    zeros = jax.tree.map(np.zeros_like, params)
    target = normal(10, 3)
    batches = []
    for _ in range(BATCHES):
        x = random.standard_normal((32, 10)).astype(np.float32)
        batches.append((x, np.sin(x @ target).astype(np.float32)))
    return [Training("adam_step", adam, (params, (zeros, zeros, np.int32(0))), batches, True),
            Training("momentum_step", momentum, (params, zeros), batches, False)]
