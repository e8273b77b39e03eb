"""A small GPT and its training step, with shardings for a mesh ("data", "model").

The batch is split along "data"; attention heads, the hidden features of the feed-forward network and the vocabulary are
split along "model", as in Megatron-LM. The residual stream is whole on all devices that share a part of the batch.
"""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 256  # tokens are bytes
    context: int = 128
    layers: int = 6
    width: int = 384
    heads: int = 8
    batch: int = 8
    rate: float = 1e-3  # of Adam, reached after `warmup` steps
    warmup: int = 20


def shapes(c):
    """Shape, sharding and deviation at the start (0: ones) of each parameter; `layers` holds all layers, stacked."""
    d, h, k, n = c.width, c.heads, c.width // c.heads, c.layers
    out = 0.02 / (2 * n) ** 0.5  # what is added to the residual stream, 2n times
    return {
        "embed": ((c.vocabulary, d), P("model", None), 0.02),
        "position": ((c.context, d), P(None, None), 0.02),
        "layers": {
            "norm1": ((n, d), P(None, None), 0),
            "qkv": ((n, d, 3, h, k), P(None, None, None, "model", None), 0.02),
            "proj": ((n, h, k, d), P(None, "model", None, None), out),
            "norm2": ((n, d), P(None, None), 0),
            "up": ((n, d, 4 * d), P(None, None, "model"), 0.02),
            "down": ((n, 4 * d, d), P(None, "model", None), out),
        },
        "norm": ((d,), P(None), 0),
    }


def batch(c, data, step):
    """The batch of a step: u8[batch, context + 1], from places in `data` that the number of the sequence determines."""
    first = np.arange(step * c.batch, (step + 1) * c.batch, dtype=np.uint32) * np.uint32(2654435761)
    return data[first[:, None] % np.uint32(len(data) - c.context) + np.arange(c.context + 1)]


def is_leaf(x):
    return isinstance(x, tuple)


def shardings(c):
    """Of the state: that of Adam's moments is that of the parameters."""
    params = jax.tree.map(lambda s: s[1], shapes(c), is_leaf=is_leaf)
    return {"params": params, "m": params, "v": params, "step": P()}


def init(c, seed):
    """The state before the first step: the same for all meshes."""
    leaves, tree = jax.tree.flatten(shapes(c), is_leaf=is_leaf)
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    params = tree.unflatten([
        deviation * jax.random.normal(key, shape) if deviation else jnp.ones(shape)
        for key, (shape, _, deviation) in zip(keys, leaves)])
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "m": zeros, "v": zeros, "step": jnp.int32(0)}


def normalize(x, scale):
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * scale


def logits(c, params, tokens):
    def residual(x):
        return jax.lax.with_sharding_constraint(x, P("data", None, None))

    past = jnp.tril(jnp.ones((c.context, c.context), bool))

    def layer(x, w):
        q, k, v = jnp.einsum("btd,dchk->cbhtk", normalize(x, w["norm1"]), w["qkv"])
        scores = jnp.einsum("bhtk,bhsk->bhts", q, k) * (c.width // c.heads) ** -0.5
        weights = jax.nn.softmax(jnp.where(past, scores, -1e9), axis=-1)
        x = residual(x + jnp.einsum("bhts,bhsk,hkd->btd", weights, v, w["proj"], optimize=[(0, 1), (0, 1)]))
        hidden = jax.nn.gelu(normalize(x, w["norm2"]) @ w["up"])
        return residual(x + hidden @ w["down"]), None

    x = residual(params["embed"][tokens] + params["position"])
    x, _ = jax.lax.scan(layer, x, params["layers"])  # one layer in the text, whatever their number
    return jnp.einsum("btd,vd->btv", normalize(x, params["norm"]), params["embed"])


def loss(c, params, text):
    """Mean cross entropy of the next byte: text is u8[batch, context + 1]."""
    y = logits(c, params, text[:, :-1])
    right = jnp.sum(jnp.where(text[:, 1:, None] == jnp.arange(c.vocabulary, dtype=jnp.uint8), y, 0), axis=-1)
    return jnp.mean(jax.nn.logsumexp(y, axis=-1) - right)


def train(c, state, text):
    """One step of Adam on clipped gradients; gives the new state and the loss before the step."""
    value, grads = jax.value_and_grad(lambda p: loss(c, p, text))(state["params"])
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1, 1 / norm), grads)
    step = state["step"] + 1
    t = step.astype(jnp.float32)
    rate = c.rate * jnp.minimum(1, t / c.warmup) * jnp.sqrt(1 - 0.99 ** t) / (1 - 0.9 ** t)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], grads)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), state["params"], m, v)
    return {"params": params, "m": m, "v": v, "step": step}, value
