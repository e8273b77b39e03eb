"""Our side: programs as HLO text, through JAX, with weights as parameters."""
import os
import re

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

import ops

f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32


class JaxOps(ops.Ops):
    """In the first call it notes inputs and weights; in the second one they are `arguments`."""

    def __init__(self, program):
        super().__init__(program)
        self.type = bf16 if self.kind == "bf16" else f32
        self.noted, self.weights, self.donated, self.arguments = [], [], [], None

    def note(self, array, dtype=None, weight=False, donated=False):
        if self.arguments is not None:
            self.next += 1
            return self.arguments[self.next - 1]
        array = array.astype(dtype or self.type)
        if weight:
            self.weights.append(len(self.noted))
        if donated:
            self.donated.append(len(self.noted))
        self.noted.append(array)
        return jnp.zeros(array.shape, array.dtype)

    def shape(self, x):
        return x.shape

    def channels(self, x):
        return x.shape[self.channel_axis()]

    def channel_axis(self):
        return 3 if self.layout == "NHWC" else 1

    def image_input(self, array, dtype=None):
        return self.note(None if array is None else array.transpose(0, 2, 3, 1) if self.layout == "NHWC" else array, dtype)

    def input(self, array, dtype=None):
        return self.note(array, dtype)

    def integers(self, array):
        return self.note(array, s32)

    def state(self, array):
        """An input that the program returns changed, in place."""
        return self.note(array, donated=True)

    def weight(self, array, dtype=None):
        return self.note(array, dtype, weight=True)

    def kernel(self, array, dtype=None):
        return self.weight(None if array is None else array.transpose(2, 3, 1, 0) if self.layout == "NHWC" else array, dtype)

    # ---- products ----

    def matmul(self, a, b, transpose_b=False, wide=False):
        batch = tuple(range(a.ndim - 2))
        return lax.dot_general(a, b, (((a.ndim - 1,), (b.ndim - (1 if transpose_b else 2),)), (batch, batch)),
                               preferred_element_type=f32 if wide else None)

    def linear(self, x, w, b, n, act, bias):
        y = x @ self.weight(w)
        if bias:
            y = y + self.weight(b)
        return self.activate(y, act)

    def integer_matmul(self, a, w, n):
        """s8 times weights of s8, to s32."""
        return lax.dot_general(a, self.weight(w, s8), (((1,), (0,)), ((), ())), preferred_element_type=s32)

    def linear_s8(self, x, w, scale, n):
        """Weights of s8, a scale for each column."""
        return (x @ self.weight(w, s8).astype(x.dtype)) * self.weight(scale)

    def linear_s4(self, x, w, scale, group, n):
        """Weights of s4, a scale for each column and `group` rows."""
        w, scale = self.weight(w, ml_dtypes.int4), self.weight(scale)
        k, n = w.shape
        wide = w.astype(x.dtype).reshape(k // group, group, n) * scale[:, None, :]
        return x @ wide.reshape(k, n)

    # ---- convolutions ----

    def numbers(self):
        return ("NHWC", "HWIO", "NHWC") if self.layout == "NHWC" else ("NCHW", "OIHW", "NCHW")

    def apply(self, x, w, window, **more):
        return lax.conv_general_dilated(x, w, (window.stride,) * 2, [(window.pad,) * 2] * 2, rhs_dilation=(window.dilation,) * 2,
                                        dimension_numbers=self.numbers(), feature_group_count=window.groups, **more)

    def convolve(self, x, w, out, window):
        return self.apply(x, self.kernel(w), window)

    def convolve_bias(self, x, w, b, out, window):
        return self.apply(x, self.kernel(w), window) + self.per_channel(self.weight(b))

    def per_channel(self, v):
        return v if self.layout == "NHWC" else v[:, None, None]

    def convolve_norm(self, x, w, norm, out, window, act, residual):
        y = self.apply(x, self.kernel(w), window)
        gamma, beta, mean, variance = (self.weight(v, f32) for v in norm)
        factor = lax.rsqrt(variance + ops.BN_EPSILON) * gamma
        y = ((y - self.per_channel(mean)) * self.per_channel(factor) + self.per_channel(beta)).astype(self.type)
        return self.activate(y if residual is None else y + residual, act)

    def transposed(self, x, w, out, stride, pad, more):
        """The gradient of the input of a convolution with these strides and padding; `more` rows at the end."""
        w = self.weight(None if w is None else w[:, :, ::-1, ::-1].transpose(2, 3, 0, 1))
        low = w.shape[0] - 1 - pad
        return lax.conv_general_dilated(x, w, (1, 1), [(low, low + more)] * 2, lhs_dilation=(stride, stride),
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def input_gradient(self, g, w, shape, window):
        n, c, h, wide = shape
        w = self.kernel(w)
        return jax.linear_transpose(lambda x: self.apply(x, w, window), jax.ShapeDtypeStruct((n, h, wide, c), self.type))(g)[0]

    def kernel_gradient(self, g, x, shape, window):
        o, i, h, wide = shape
        return jax.linear_transpose(lambda w: self.apply(x, w, window), jax.ShapeDtypeStruct((h, wide, i, o), self.type))(g)[0]

    def max_pool(self, x):
        """3 x 3, stride 2, padding 1."""
        size, step, pad = (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
        if self.layout == "NCHW":
            size, step, pad = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
        low = -128 if x.dtype == s8 else -jnp.inf
        return lax.reduce_window(x, jnp.array(low, x.dtype), lax.max, size, step, pad)

    def global_mean(self, x):
        return x.mean((1, 2) if self.layout == "NHWC" else (2, 3))

    def tokens(self, x):
        """[n, c, h, w] to [n, h * w, c]."""
        if self.layout == "NCHW":
            x = x.transpose(0, 2, 3, 1)
        return x.reshape(x.shape[0], -1, x.shape[3])

    # ---- quantized ----

    def quantize(self, x, scale):
        return jnp.clip(jnp.round(x / f32(scale)), -128, 127).astype(s8)

    def convolve_s8(self, x, w, out, window):
        """s8 to s32, unscaled."""
        return self.apply(x, self.kernel(w, s8), window, preferred_element_type=s32)

    def convolve_quantized(self, x, x_scale, w, w_scale, bias, out, window, y_scale, act, residual, residual_scale):
        y = self.apply(x, self.kernel(w, s8), window, preferred_element_type=s32).astype(f32)
        y = y * self.per_channel(self.weight(w_scale, f32) * f32(x_scale)) + self.per_channel(self.weight(bias, f32))
        if residual is not None:
            y = y + residual.astype(f32) * f32(residual_scale)
        return self.quantize(self.activate(y, act), y_scale)

    def dequantize(self, x, scale):
        return x.astype(f32) * f32(scale)

    def linear_quantized(self, x, x_scale, w, w_scale, bias, n):
        y = lax.dot_general(x, self.weight(w, s8), (((1,), (0,)), ((), ())), preferred_element_type=s32).astype(f32)
        return y * (self.weight(w_scale, f32) * f32(x_scale)) + self.weight(bias, f32)

    # ---- rows and elements ----

    def activate(self, x, act):
        functions = {None: lambda v: v, "relu": jax.nn.relu, "relu6": jax.nn.relu6, "silu": jax.nn.silu, "tanh": jnp.tanh,
                     "gelu": lambda v: jax.nn.gelu(v, approximate=False), "gelu_tanh": lambda v: jax.nn.gelu(v, approximate=True)}
        return functions[act](x)

    def add(self, a, b):
        return a + b

    def multiply(self, a, b):
        return a * b

    def layer_norm(self, x, gamma, beta):
        y = x.astype(f32)
        mean = y.mean(-1, keepdims=True)
        variance = ((y - mean) ** 2).mean(-1, keepdims=True)
        return ((y - mean) * lax.rsqrt(variance + ops.LN_EPSILON)).astype(x.dtype) * self.weight(gamma) + self.weight(beta)

    def rms_norm(self, x, gamma):
        y = x.astype(f32)
        return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + ops.RMS_EPSILON)).astype(x.dtype) * self.weight(gamma)

    def softmax(self, x):
        return jax.nn.softmax(x.astype(f32)).astype(x.dtype)

    def reshape(self, x, *shape):
        return x.reshape(shape)

    def transpose(self, x, *order):
        return x.transpose(order)

    def concat(self, parts, axis):
        return jnp.concatenate(parts, axis)

    def slice(self, x, axis, begin, end):
        return lax.slice_in_dim(x, begin, end, axis=axis)

    def lookup(self, table, rows):
        return self.weight(table)[rows]

    def attention(self, q, k, v, causal=False):
        """[b, h, t, d] each; k and v may have fewer heads, each for as many neighbouring heads of q."""
        b, h, t, d = q.shape
        g = k.shape[1]
        q = q.reshape(b, g, h // g, t, d)
        s = jnp.einsum("bghqd,bgkd->bghqk", q, k, preferred_element_type=f32) * d ** -0.5
        if causal:
            s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
        return jnp.einsum("bghqk,bgkd->bghqd", jax.nn.softmax(s).astype(v.dtype), v).reshape(b, h, t, d)

    def attention_cached(self, q, keys, values, position):
        """One query [b, h, 1, d] on the first position + 1 of the cached keys and values [b, g, t, d]."""
        b, h, _, d = q.shape
        g, t = keys.shape[1:3]
        q = q.reshape(b, g, h // g, d)
        s = jnp.einsum("bghd,bgkd->bghk", q, keys, preferred_element_type=f32) * d ** -0.5
        s = jnp.where(jnp.arange(t) <= position, s, -1e30)
        return jnp.einsum("bghk,bgkd->bghd", jax.nn.softmax(s).astype(values.dtype), values).reshape(b, h, 1, d)

    def update_cache(self, cache, new, position):
        """The cache [b, g, t, d] with new [b, g, 1, d] at the position."""
        zero = jnp.zeros((), position.dtype)
        return lax.dynamic_update_slice(cache, new.astype(cache.dtype), (zero, zero, position, zero))

    def rotate(self, x, cosine, sine):
        """Rotary embedding of [b, h, t, d]; tables [t, d]."""
        half = x.shape[-1] // 2
        return (x * cosine + jnp.concatenate([-x[..., half:], x[..., :half]], -1) * sine).astype(x.dtype)


def ranges(numbers):
    """1,2,3,5 as 1-3,5: a list for --immutable-params."""
    out = []
    for n in numbers:
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def plain(array):
    """The array in a type that every numpy knows, as hlo-run reads it."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def export(program, folder):
    """Writes NAME.hlo, NAME.npz with its inputs, and NAME.weights, which parameters are weights."""
    first = JaxOps(program)
    jax.eval_shape(lambda: program.build(first))

    def function(*arguments):
        side = JaxOps(program)
        side.first, side.arguments = False, arguments
        return program.build(side)

    forms = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in first.noted]
    text = jax.jit(function, keep_unused=True, donate_argnums=tuple(first.donated)).lower(*forms).as_text(dialect="hlo")
    base = os.path.join(folder, program.name)
    with open(base + ".hlo", "w") as file:
        file.write(re.sub(r"^HloModule [\w.-]+", f"HloModule {program.name}", text, count=1))
    np.savez(base + ".npz", **{f"in{i}": plain(a) for i, a in enumerate(first.noted)})
    with open(base + ".weights", "w") as file:
        file.write(ranges(first.weights) + "\n")
