"""Whole networks, as functions of an `Ops`."""
import numpy as np

# ---- convolution networks ----


def resnet50(ops):
    x = ops.conv_bn(ops.image(3, 224, 224), 64, 7, 2)
    x = ops.max_pool(x)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = ops.conv_bn(x, inner, 1)
            y = ops.conv_bn(y, inner, 3, stride)
            shortcut = x if block else ops.conv_bn(x, 4 * inner, 1, stride, act=None, gain=0.7)
            x = ops.conv_bn(y, 4 * inner, 1, residual=shortcut, gain=0.3)
    return ops.dense(ops.global_mean(x), 1000)


# (factor of expansion, channels, blocks, stride)
MOBILE_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def mobile_blocks():
    """(channels in, wide channels, channels out, stride) of each block of MobileNetV2."""
    c = 32
    for factor, out, blocks, stride in MOBILE_STAGES:
        for block in range(blocks):
            yield c, c * factor, out, stride if block == 0 else 1
            c = out


def mobilenet_v2(ops):
    x = ops.conv_bn(ops.image(3, 224, 224), 32, 3, 2, act="relu6")
    for c, wide, out, stride in mobile_blocks():
        y = x if wide == c else ops.conv_bn(x, wide, 1, act="relu6")
        y = ops.conv_bn(y, wide, 3, stride, groups=wide, act="relu6")
        keeps = stride == 1 and c == out
        x = ops.conv_bn(y, out, 1, act=None, residual=x if keeps else None, gain=0.5 if keeps else 1.0)
    x = ops.conv_bn(x, 1280, 1, act="relu6")
    return ops.dense(ops.global_mean(x), 1000)


# ---- the same in int8: symmetric, a scale for each channel of weights and one for each activation ----

ACTIVATION_SCALE = 5.0 / 127  # activations have a deviation of about 1


def quantized_conv(ops, x, x_scale, out, size, stride=1, groups=1, act="relu", residual=None, gain=1.0):
    """(activations of s8, their scale)."""
    inner = ops.channels(x) // groups
    w = ops.draw((out, inner, size, size), gain * (2.0 / (inner * size * size)) ** 0.5, kind="f32")
    bias, scale = ops.draw((out,), 0.1, kind="f32"), None
    if w is not None:
        scale = np.abs(w).max((1, 2, 3)) / np.float32(127)
        w = np.round(w / scale[:, None, None, None]).astype(np.int8)
    from ops import Window
    residual, residual_scale = residual or (None, None)
    y_scale = ACTIVATION_SCALE
    return ops.convolve_quantized(x, x_scale, w, scale, bias, out, Window(size, stride, None, groups, 1), y_scale, act, residual, residual_scale), y_scale


def quantized_dense(ops, x, x_scale, n):
    k = ops.shape(x)[-1]
    w, bias, scale = ops.draw((k, n), k ** -0.5, kind="f32"), ops.draw((n,), 0.1, kind="f32"), None
    if w is not None:
        scale = np.abs(w).max(0) / np.float32(127)
        w = np.round(w / scale).astype(np.int8)
    return ops.linear_quantized(x, x_scale, w, scale, bias, n)


def quantized_head(ops, x, scale):
    mean = ops.global_mean(ops.dequantize(x, scale))
    return quantized_dense(ops, ops.quantize(mean, 2.0 / 127), 2.0 / 127, 1000)


def resnet50_s8(ops):
    scale = 4.0 / 127
    x = quantized_conv(ops, ops.quantize(ops.image(3, 224, 224), scale), scale, 64, 7, 2)
    x = ops.max_pool(x[0]), x[1]
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = quantized_conv(ops, *x, inner, 1)
            y = quantized_conv(ops, *y, inner, 3, stride)
            shortcut = x if block else quantized_conv(ops, *x, 4 * inner, 1, stride, act=None, gain=0.7)
            x = quantized_conv(ops, *y, 4 * inner, 1, residual=shortcut, gain=0.3)
    return quantized_head(ops, *x)


def mobilenet_v2_s8(ops):
    scale = 4.0 / 127
    x = quantized_conv(ops, ops.quantize(ops.image(3, 224, 224), scale), scale, 32, 3, 2, act="relu6")
    for c, wide, out, stride in mobile_blocks():
        y = x if wide == c else quantized_conv(ops, *x, wide, 1, act="relu6")
        y = quantized_conv(ops, *y, wide, 3, stride, groups=wide, act="relu6")
        keeps = stride == 1 and c == out
        x = quantized_conv(ops, *y, out, 1, act=None, residual=x if keeps else None, gain=0.5 if keeps else 1.0)
    x = quantized_conv(ops, *x, 1280, 1, act="relu6")
    return quantized_head(ops, *x)


# ---- transformers ----


def heads(ops, x, count):
    """[b, t, count * d] to [b, count, t, d]."""
    b, t, n = ops.shape(x)
    return ops.transpose(ops.reshape(x, b, t, count, n // count), 0, 2, 1, 3)


def joined(ops, x):
    b, h, t, d = ops.shape(x)
    return ops.reshape(ops.transpose(x, 0, 2, 1, 3), b, t, h * d)


def self_attention(ops, x, count):
    q, k, v = (heads(ops, ops.dense(x, ops.shape(x)[-1]), count) for _ in range(3))
    return ops.dense(joined(ops, ops.attention(q, k, v)), ops.shape(x)[-1])


def bert_base(ops, length=128):
    rows = ops.integers(ops.draw_integers((length,), 0, 30522, np.int32))
    x = ops.add(ops.lookup(ops.draw((30522, 768)), rows), ops.table(length, 768))
    x = ops.norm(ops.reshape(x, 1, length, 768))
    for _ in range(12):
        x = ops.norm(ops.add(x, self_attention(ops, x, 12)))
        x = ops.norm(ops.add(x, ops.dense(ops.dense(x, 3072, act="gelu"), 768)))
    return x


def vit_b16(ops):
    x = ops.tokens(ops.conv_bias(ops.image(3, 224, 224), 768, 16, 16, 0))
    x = ops.add(ops.concat([ops.table(1, 1, 768), x], 1), ops.table(1, 197, 768))
    for _ in range(12):
        x = ops.add(x, self_attention(ops, ops.norm(x), 12))
        x = ops.add(x, ops.dense(ops.dense(ops.norm(x), 3072, act="gelu"), 768))
    x = ops.norm(x)
    return ops.dense(ops.reshape(ops.slice(x, 1, 0, 1), 1, 768), 1000)


# ---- a layer of a Llama-like decoder: 2048 wide, 32 heads, 4 of keys and values, 5632 in the middle ----

WIDTH, MIDDLE, HEADS, KV_HEADS, HEAD, CACHE, POSITION = 2048, 5632, 32, 4, 64, 1024, 1000


def rotary(position):
    """cos and sin tables of the positions."""
    angles = np.outer(position, 10000.0 ** (-np.arange(0, HEAD, 2) / HEAD))
    angles = np.concatenate([angles, angles], -1)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def llama_layer(ops, linear, attend, x, positions):
    """linear(x, n): a product with weights in the form of the row; attend(q, k, v) -> (result, more results)."""
    cosine, sine = (ops.input(t) for t in rotary(positions))
    y = ops.rms(x)
    q, k, v = (heads(ops, linear(y, n * HEAD), n) for n in (HEADS, KV_HEADS, KV_HEADS))
    z, more = attend(ops.rotate(q, cosine, sine), ops.rotate(k, cosine, sine), v)
    x = ops.add(x, linear(joined(ops, z), WIDTH))
    y = ops.rms(x)
    y = ops.multiply(ops.activate(linear(y, MIDDLE), "silu"), linear(y, MIDDLE))
    return (ops.add(x, linear(y, WIDTH)), *more)


def llama_prefill(ops, length=128):
    x = ops.floats(1, length, WIDTH)
    return llama_layer(ops, lambda y, n: ops.dense(y, n, False), lambda q, k, v: (ops.attention(q, k, v, True), (k, v)), x, np.arange(length))


def plain_linear(ops, x, n):
    return ops.dense(x, n, False)


def linear_s8(ops, x, n):
    """Weights of s8 with a scale for each column."""
    k = ops.shape(x)[-1]
    w = ops.draw_integers((k, n), -127, 128, np.int8)
    scale = ops.draw((n,), 0.1 * k ** -0.5 / 64, k ** -0.5 / 64)
    return ops.linear_s8(x, w, scale, n)


def linear_s4(ops, x, n, group=32):
    """Weights of s4 with a scale for each column and group of rows."""
    k = ops.shape(x)[-1]
    w = ops.draw_integers((k, n), -8, 8, np.int8)
    scale = ops.draw((k // group, n), 0.1 * k ** -0.5 / 4, k ** -0.5 / 4)
    return ops.linear_s4(x, w, scale, group, n)


def llama_decode(linear):
    """One position beside a cache of earlier keys and values, which is returned with the new ones in place."""
    def layer(ops):
        x = ops.floats(1, 1, WIDTH)
        position = ops.integers(np.array(POSITION, np.int32) if ops.first else None)
        keys, values = (ops.state(ops.draw((1, KV_HEADS, CACHE, HEAD))) for _ in range(2))

        def attend(q, k, v):
            both = ops.update_cache(keys, k, position), ops.update_cache(values, v, position)
            return ops.attention_cached(q, *both, position), both

        return llama_layer(ops, lambda y, n: linear(ops, y, n), attend, x, [POSITION])
    return layer
