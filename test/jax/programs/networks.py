"""jax.nn, and layers and models written by hand."""
import jax
import jax.numpy as jnp
from jax import lax

from programs import Program, each

A = "f32[4,8]"


def dense(x, w, b):
    return jax.nn.relu(x @ w + b)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def attention(q, k, v, mask=None):
    scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores, -1), v)


def causal(q, k, v):
    return attention(q, k, v, jnp.tril(jnp.ones((q.shape[0], k.shape[0]), bool)))


def rotary(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[0])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def lstm(x, w, u):
    def step(state, row):
        h, c = state
        i, f, g, o = jnp.split(row @ w + h @ u, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (jnp.zeros(4), jnp.zeros(4)), x)


def cnn(x, w, v):
    x = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ v)


def batch_norm(x, scale, bias):
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) / jnp.sqrt(var + 1e-5) * scale + bias


def block(x, wq, wo, w1, w2):
    h = rms_norm(x, jnp.ones(8))
    q, k, v = jnp.split((h @ wq).reshape(4, 2, 12), 3, -1)
    x = x + causal(q, k, v).reshape(4, 8) @ wo
    return x + jax.nn.silu(rms_norm(x, jnp.ones(8)) @ w1) @ w2


def quantized(x, w):
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8)
    return lax.dot(q, w, preferred_element_type=jnp.int32).astype(jnp.float32) * scale


def low_bit(x, w, s):
    return x @ (w.astype(jnp.int4).astype(jnp.float32).reshape(2, 4, 6) * s[:, None]).reshape(8, 6)


def moe(x, gate, experts):
    probability, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
    return jnp.einsum("tk,tkd->td", probability, jnp.einsum("td,tkde->tke", x, experts[chosen]))


def adam(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / (1 - 0.9)) / (jnp.sqrt(v / (1 - 0.999)) + 1e-8), m, v


Q = "f32[6,2,8]"

PROGRAMS = [
    *each(jax.nn, "relu relu6 sigmoid softplus soft_sign silu log_sigmoid elu leaky_relu hard_tanh celu selu gelu hard_sigmoid hard_silu softmax "
                  "log_softmax logsumexp standardize mish squareplus sparse_plus identity", A),
    Program("gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), (A,)),
    Program("gelu_bf16", jax.nn.gelu, ("bf16[4,8]",)),
    Program("glu", jax.nn.glu, (A,)),
    Program("one_hot", lambda i: jax.nn.one_hot(i, 5), ("s32[4]:index",)),
    Program("softmax_where", lambda x, p: jax.nn.softmax(x, where=p), (A, "pred[4,8]")),
    Program("dense", dense, (A, "f32[8,5]", "f32[5]")),
    Program("layer_norm", layer_norm, (A, "f32[8]", "f32[8]")),
    Program("rms_norm", rms_norm, ("bf16[4,8]", "bf16[8]")),
    Program("batch_norm", batch_norm, ("f32[2,4,4,3]", "f32[3]", "f32[3]")),
    Program("attention", attention, (Q, Q, Q)),
    Program("attention_causal", causal, (Q, Q, Q)),
    Program("attention_library", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), ("f32[1,6,2,8]",) * 3),
    Program("rotary", rotary, (A,)),
    Program("lstm", lstm, ("f32[5,3]", "f32[3,16]", "f32[4,16]")),
    Program("cnn", cnn, ("f32[2,6,6,3]", "f32[3,3,3,4]", "f32[36,5]")),
    Program("transformer_block", block, ("f32[4,8]", "f32[8,24]", "f32[8,8]", "f32[8,16]", "f32[16,8]")),
    Program("transformer_gradient", jax.grad(lambda *a: (block(*a) ** 2).sum(), (1, 3)), ("f32[4,8]", "f32[8,24]", "f32[8,8]", "f32[8,16]", "f32[16,8]")),
    Program("quantized", quantized, (A, "s8[8,5]")),
    Program("low_bit", low_bit, (A, "s8[8,6]:small", "f32[2,6]")),
    Program("mixture_of_experts", moe, (A, "f32[8,3]", "f32[3,8,5]")),
    Program("adam", adam, (A, A, A, A + ":positive")),
    Program("cross_entropy", lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean(), (A, "s32[4]:index")),
    Program("cross_entropy_gradient", jax.grad(lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()), (A, "s32[4]:index")),
    Program("sgd", lambda w, x, y: w - 0.1 * jax.grad(lambda v: ((x @ v - y) ** 2).mean())(w), ("f32[8]", A, "f32[4]")),
    Program("resize", lambda x: jax.image.resize(x, (6, 8), "bilinear"), ("f32[3,4]",)),
    Program("resize_nearest", lambda x: jax.image.resize(x, (6, 8), "nearest"), ("f32[3,4]",)),
    Program("cosine_similarity", lambda x, y: (x * y).sum(-1) / (jnp.linalg.norm(x, axis=-1) * jnp.linalg.norm(y, axis=-1)), (A, A)),
    Program("unet_step", lambda x, w: jnp.concatenate([x, jax.image.resize(jax.nn.relu(x[:, ::2, ::2] @ w), x.shape, "nearest")], -1),
            ("f32[1,4,4,3]", "f32[3,3]")),
    Program("tree_of_weights", lambda p, x: jax.nn.relu(x @ p["a"]) @ p["b"]["c"], ({"a": "f32[8,6]", "b": {"c": "f32[6,2]"}}, A)),
]
