#!/usr/bin/env python3
"""Writes the benchmark modules: modules/FAMILY_WHAT_TYPE.hlo, one small HLO text each.

  make_modules.py [REGEX]

Needs the PyPI package jax. The texts are checked in, so that a benchmark needs this script only to add to them: a
`case` below is a JAX function with the shapes and types of its arguments, a `text` is HLO where JAX has no way to
say it (on CPU, JAX calls LAPACK for linear algebra). Each should take XLA between 10 us and 50 ms on one core.
What precedes the first underscore is the family that the tables group by.
"""
import os
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
from jax import lax

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")
f16, f32, f64, bf16, c64 = jnp.float16, jnp.float32, jnp.float64, jnp.bfloat16, jnp.complex64
s4, s8, u8, s32, s64, u32, pred = jnp.int4, jnp.int8, jnp.uint8, jnp.int32, jnp.int64, jnp.uint32, jnp.bool_
chosen = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
names = set()


def write(name, content):
    names.add(name)
    content = re.sub(r"^HloModule [\w.-]+", f"HloModule {name}", content.strip(), count=1)
    with open(os.path.join(FOLDER, name + ".hlo"), "w") as file:
        file.write(content + "\n")


def case(name, function, *arguments):
    """Makes one module from a function; an argument is (shape, type)."""
    assert name not in names, name
    if chosen.search(name):
        lowered = jax.jit(function).lower(*[jax.ShapeDtypeStruct(s, t) for s, t in arguments])
        write(name, lowered.as_text(dialect="hlo"))


def text(name, body):
    assert name not in names, name
    if chosen.search(name):
        write(name, f"HloModule {name}\n\n" + body)


# ---- dot: matrix products, square, odd and tall, in all types; transposed; with an epilogue ----

def product(a, b, out=None):
    return lax.dot_general(a, b, (((a.ndim - 1,), (b.ndim - 2,)), (tuple(range(a.ndim - 2)),) * 2),
                           preferred_element_type=out)


def matmul(name, m, k, n, t, out=None):
    case(f"dot_{name}", lambda a, b: product(a, b, out), ((m, k), t), ((k, n), t))


matmul("512_f32", 512, 512, 512, f32)
matmul("1024_f32", 1024, 1024, 1024, f32)
matmul("1000x777x640_f32", 1000, 777, 640, f32)
matmul("97x101x103_f32", 97, 101, 103, f32)
matmul("32_f32", 32, 32, 32, f32)
matmul("2048x64x2048_f32", 2048, 64, 2048, f32)
matmul("128x4096x128_f32", 128, 4096, 128, f32)
matmul("512_f64", 512, 512, 512, f64)
matmul("333x500x777_f64", 333, 500, 777, f64)
matmul("512_bf16", 512, 512, 512, bf16)
matmul("1024_bf16", 1024, 1024, 1024, bf16)
matmul("777x1000x640_bf16", 777, 1000, 640, bf16)
matmul("1024_bf16_f32", 1024, 1024, 1024, bf16, f32)
matmul("333x501x777_bf16_f32", 333, 501, 777, bf16, f32)
matmul("16x1024x1536_bf16", 16, 1024, 1536, bf16)
matmul("1500x1000x8_f32", 1500, 1000, 8, f32)
case("dot_across_batch_40x20x200x128_s32", lambda a, b: jnp.einsum("ceba,dea->cadb", a, b), ((4, 128, 5, 40), s32), ((200, 128, 40), s32))
case("dot_across_batch_row_20x300x77_s32", lambda a, b: jnp.einsum("cba,ac->ab", a, b), ((300, 77, 20), s32), ((20, 300), s32))
case("dot_across_batch_64x50x60x36_f32", lambda a, b: jnp.einsum("bmk,knb->bmn", a, b), ((64, 50, 36), f32), ((36, 60, 64), f32))
case("dot_runs_12x200x12x140_f32", lambda a, b: jnp.einsum("ad,cdb->acb", a, b), ((12, 140), f32), ((200, 140, 12), f32))
case("dot_batch_64x33x33_f32", product, ((64, 33, 33), f32), ((64, 33, 33), f32))
matmul("512_f16", 512, 512, 512, f16)
matmul("1024_s8_s32", 1024, 1024, 1024, s8, s32)
matmul("500x777x300_s8_s32", 500, 777, 300, s8, s32)
matmul("512_u8_s32", 512, 512, 512, u8, s32)
matmul("256_s32", 256, 256, 256, s32)
matmul("256_c64", 256, 256, 256, c64)
case("dot_tn_768_f32", lambda a, b: lax.dot_general(a, b, (((0,), (0,)), ((), ()))), ((768, 768), f32), ((768, 768), f32))
case("dot_nt_768_f32", lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ()))), ((768, 768), f32), ((768, 768), f32))
case("dot_nt_768_bf16", lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ()))), ((768, 768), bf16), ((768, 768), bf16))
case("dot_bias_gelu_512x768x1024_f32", lambda a, b, c: jax.nn.gelu(product(a, b) + c),
     ((512, 768), f32), ((768, 1024), f32), ((1024,), f32))
case("dot_bias_relu_512x768x1024_bf16", lambda a, b, c: jax.nn.relu(product(a, b) + c),
     ((512, 768), bf16), ((768, 1024), bf16), ((1024,), bf16))
case("dot_s4_weights_256x1024x1024_bf16", lambda a, b, s: product(a, b.astype(bf16)) * s,
     ((256, 1024), bf16), ((1024, 1024), s4), ((1024,), bf16))
case("dot_s8_weights_256x1024x1024_f32", lambda a, b, s: product(a, b.astype(f32)) * s,
     ((256, 1024), f32), ((1024, 1024), s8), ((1024,), f32))

# ---- skinny: matrix times vector, few rows, many small products, attention ----

for t, n in ((f32, "f32"), (bf16, "bf16"), (f16, "f16")):
    case(f"skinny_1x2048x8192_{n}", product, ((1, 2048), t), ((2048, 8192), t))
case("skinny_nt_1x2048x8192_bf16", lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ()))), ((1, 2048), bf16), ((8192, 2048), bf16))
case("skinny_4096x2048_vector_f32", lambda a, b: a @ b, ((4096, 2048), f32), ((2048,), f32))
case("skinny_1500x1500_vector_f64", lambda a, b: a @ b, ((1500, 1500), f64), ((1500,), f64))
case("skinny_4x1024x4096_f32", product, ((4, 1024), f32), ((1024, 4096), f32))
case("skinny_4x1024x4096_bf16", product, ((4, 1024), bf16), ((1024, 4096), bf16))
case("skinny_16x1024x4096_bf16", product, ((16, 1024), bf16), ((1024, 4096), bf16))
case("skinny_1x4096x4096_s8_s32", lambda a, b: product(a, b, s32), ((1, 4096), s8), ((4096, 4096), s8))
case("skinny_s4_weights_1x2048x4096_bf16", lambda a, b: product(a, b.astype(bf16)), ((1, 2048), bf16), ((2048, 4096), s4))

def dequantized(w, scale, zero=None, along_k=False):
    """Integers times scales of groups along the rows of [k, n], or along the columns of [n, k]."""
    groups = scale.shape[1 if along_k else 0]
    split = (w.shape[0], groups, -1) if along_k else (groups, -1, w.shape[1])
    spread = (lambda v: v[:, :, None]) if along_k else (lambda v: v[:, None, :])
    wide = w.astype(scale.dtype).reshape(split)
    wide = wide if zero is None else wide - spread(zero.astype(scale.dtype))
    wide = (wide * spread(scale)).reshape(w.shape)
    return wide.T if along_k else wide


def from_words(w):
    """Eight integers of 4 bits from each word, side by side."""
    return ((w[:, :, None] >> (4 * jnp.arange(8, dtype=u32))) & 15).reshape(w.shape[0], -1)


for m, k, n in ((1, 2048, 5632), (1, 4096, 4096), (4, 2048, 5632)):
    case(f"skinny_s4_groups32_{m}x{k}x{n}_bf16", lambda a, b, s: product(a, dequantized(b, s)), ((m, k), bf16), ((k, n), s4), ((k // 32, n), bf16))
case("skinny_s4_groups128_1x2048x5632_bf16", lambda a, b, s: product(a, dequantized(b, s)), ((1, 2048), bf16), ((2048, 5632), s4), ((16, 5632), bf16))
case("skinny_s4_groups32_nt_1x2048x5632_bf16", lambda a, b, s: product(a, dequantized(b, s, along_k=True)), ((1, 2048), bf16), ((5632, 2048), s4), ((5632, 64), bf16))
case("skinny_s4_groups128_nt_4x2048x5632_f32", lambda a, b, s: product(a, dequantized(b, s, along_k=True)), ((4, 2048), f32), ((5632, 2048), s4), ((5632, 16), f32))
case("skinny_u4_zeros_groups64_1x2048x5632_f32", lambda a, b, s, z: product(a, dequantized(b, s, z)), ((1, 2048), f32), ((2048, 5632), jnp.uint4), ((32, 5632), f32), ((32, 5632), jnp.uint4))
case("skinny_words_groups64_1x2048x5632_bf16", lambda a, b, s: product(a, dequantized(from_words(b).astype(s32) - 8, s)), ((1, 2048), bf16), ((2048, 704), u32), ((32, 5632), bf16))
case("skinny_stacked_groups64_1x2048x5632_bf16", lambda a, b, s: product(a, dequantized(jnp.stack([b & 15, b >> 4], -1).reshape(2048, 5632), s)), ((1, 2048), bf16), ((2048, 2816), u8), ((32, 5632), bf16))
case("skinny_s8_groups32_1x2048x5632_bf16", lambda a, b, s: product(a, dequantized(b, s)), ((1, 2048), bf16), ((2048, 5632), s8), ((64, 5632), bf16))
case("skinny_s8_weights_1x2048x5632_bf16", lambda a, b, s: product(a, b.astype(bf16)) * s, ((1, 2048), bf16), ((2048, 5632), s8), ((5632,), bf16))
case("skinny_4096x1024x3_f32", product, ((4096, 1024), f32), ((1024, 3), f32))
case("skinny_1000x1000x8_s8_s32", lambda a, b: product(a, b, s32), ((1000, 1000), s8), ((1000, 8), s8))
case("skinny_24x4096x1024_f32", product, ((24, 4096), f32), ((4096, 1024), f32))
case("skinny_1000x2x1000_f32", product, ((1000, 2), f32), ((2, 1000), f32))
case("skinny_inner_100000_f32", lambda a, b: a @ b, ((100000,), f32), ((100000,), f32))
case("skinny_outer_1500_f32", lambda a, b: jnp.outer(a, b), ((1500,), f32), ((1500,), f32))
for t, n in ((f32, "f32"), (bf16, "bf16"), (f64, "f64")):
    case(f"skinny_batch_64x32x32_{n}", product, ((64, 32, 32), t), ((64, 32, 32), t))
case("skinny_batch_1000x5x7_f32", product, ((1000, 5, 6), f32), ((1000, 6, 7), f32))
case("skinny_batch_256x64_vector_f32", lambda a, b: jnp.einsum("bij,bj->bi", a, b), ((256, 64, 64), f32), ((256, 64), f32))


def attention(q, k, v, causal=False):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=f32) * (q.shape[-1] ** -0.5)
    if causal:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], pred)), s, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(v.dtype), v)


for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"attention_1x12x256x64_{n}", attention, *[((1, 256, 12, 64), t)] * 3)
case("attention_qk_12x384x64_f32", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), *[((1, 384, 12, 64), f32)] * 2)
case("attention_av_12x384x64_f32", lambda p, v: jnp.einsum("bhqk,bkhd->bqhd", p, v), ((1, 12, 384, 384), f32), ((1, 384, 12, 64), f32))
case("attention_causal_2x4x200x80_f32", lambda q, k, v: attention(q, k, v, True), *[((2, 200, 4, 80), f32)] * 3)
case("attention_decode_8x1x1024x64_bf16", attention, ((1, 1, 8, 64), bf16), ((1, 1024, 8, 64), bf16), ((1, 1024, 8, 64), bf16))

# ---- conv: forms, layouts, types, gradients ----


def conv(x, w, stride=1, pad="SAME", layout="NHWC", **more):
    n = len(layout) - 2
    spatial = layout.replace("N", "").replace("C", "")
    strides = (stride,) * n
    return lax.conv_general_dilated(x, w, strides, pad, dimension_numbers=(layout, spatial + "IO" if layout[-1] == "C" else "OI" + spatial, layout), **more)


case("conv_1x1_56x56x64x256_f32", conv, ((1, 56, 56, 64), f32), ((1, 1, 64, 256), f32))
case("conv_1x1_14x14x512_nchw_f32", lambda x, w: conv(x, w, layout="NCHW"), ((1, 512, 14, 14), f32), ((512, 512, 1, 1), f32))
for t, n in ((f32, "f32"), (bf16, "bf16"), (f64, "f64"), (f16, "f16")):
    case(f"conv_3x3_56x56x64_{n}", conv, ((1, 56, 56, 64), t), ((3, 3, 64, 64), t))
case("conv_3x3_56x56x64_nchw_f32", lambda x, w: conv(x, w, layout="NCHW"), ((1, 64, 56, 56), f32), ((64, 64, 3, 3), f32))
for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"conv_3x3_14x14x256_{n}", conv, ((1, 14, 14, 256), t), ((3, 3, 256, 256), t))
case("conv_3x3_7x7x512_f32", conv, ((1, 7, 7, 512), f32), ((3, 3, 512, 512), f32))
case("conv_3x3_27x31x37x53_f32", conv, ((2, 27, 31, 37), f32), ((3, 3, 37, 53), f32))
case("conv_3x3_56x56x64_s8_s32", lambda x, w: conv(x, w, preferred_element_type=s32), ((1, 56, 56, 64), s8), ((3, 3, 64, 64), s8))
case("conv_3x3_14x14x256_s8_requant", lambda x, w: jnp.clip(jnp.round(conv(x, w, preferred_element_type=s32).astype(f32) * 0.001), -128, 127).astype(s8), ((1, 14, 14, 256), s8), ((3, 3, 256, 256), s8))
case("conv_7x7_s2_224x224x3x64_s8_s32", lambda x, w: conv(x, w, 2, preferred_element_type=s32), ((1, 224, 224, 3), s8), ((7, 7, 3, 64), s8))
case("conv_transposed_28x28x64_bf16", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), ((1, 28, 28, 64), bf16), ((3, 3, 64, 64), bf16))
case("conv_patches_16x16_224x224x3x192_bf16", lambda x, w: conv(x, w, 16), ((1, 224, 224, 3), bf16), ((16, 16, 3, 192), bf16))
case("conv_3x3_bias_relu_28x28x128_f32", lambda x, w, b: jax.nn.relu(conv(x, w) + b), ((1, 28, 28, 128), f32), ((3, 3, 128, 128), f32), ((128,), f32))
case("conv_7x7_s2_224x224x3x64_f32", lambda x, w: conv(x, w, 2), ((1, 224, 224, 3), f32), ((7, 7, 3, 64), f32))
case("conv_5x5_32x32x3x32_batch16_f32", conv, ((16, 32, 32, 3), f32), ((5, 5, 3, 32), f32))
case("conv_grouped_28x28x128g8_f32", lambda x, w: conv(x, w, feature_group_count=8), ((1, 28, 28, 128), f32), ((3, 3, 16, 128), f32))
case("conv_dilated_28x28x64_f32", lambda x, w: conv(x, w, rhs_dilation=(2, 2)), ((1, 28, 28, 64), f32), ((3, 3, 64, 64), f32))
case("conv_1d_1000x64_f32", lambda x, w: conv(x, w, layout="NWC"), ((4, 1000, 64), f32), ((5, 64, 64), f32))
case("conv_1d_causal_depthwise_2048x512_bf16", lambda x, w: conv(x, w, pad=[(3, 0)], layout="NWC", feature_group_count=512), ((1, 2048, 512), bf16), ((4, 1, 512), bf16))
case("conv_3d_16x16x16x32_f32", lambda x, w: conv(x, w, layout="NDHWC"), ((1, 16, 16, 16, 32), f32), ((3, 3, 3, 32, 32), f32))
case("conv_few_5x5_2x48x48x3x1_f32", conv, ((2, 48, 48, 3), f32), ((5, 5, 3, 1), f32))
case("conv_whole_8x7x7x64_256_f32", lambda x, w: conv(x, w, pad="VALID"), ((8, 7, 7, 64), f32), ((7, 7, 64, 256), f32))
case("conv_few_2x2_8x31x31x160x1_u8", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=s32),
     ((8, 31, 31, 160), u8), ((2, 2, 160, 1), u8))
case("conv_one_channel_512x512_5x5_f32", conv, ((1, 512, 512, 1), f32), ((5, 5, 1, 1), f32))
case("conv_3x3_28x28x100_f32", conv, ((1, 28, 28, 100), f32), ((3, 3, 100, 100), f32))
case("conv_3x3_50x50x20_f32", conv, ((1, 50, 50, 20), f32), ((3, 3, 20, 20), f32))
case("conv_3x3_16x16x640_bf16", conv, ((1, 16, 16, 640), bf16), ((3, 3, 640, 640), bf16))
case("conv_3x3_dilated4_28x28x128_f32", lambda x, w: conv(x, w, rhs_dilation=(4, 4)), ((1, 28, 28, 128), f32), ((3, 3, 128, 128), f32))
case("conv_grouped_56x56x128g32_f32", lambda x, w: conv(x, w, feature_group_count=32), ((1, 56, 56, 128), f32), ((3, 3, 4, 128), f32))
case("conv_1d_s2_80x3000x384_ncw_f32", lambda x, w: conv(x, w, 2, layout="NCW"), ((1, 80, 3000), f32), ((384, 80, 3), f32))
case("conv_transposed_2x2_28x28x256x128_f32", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), ((1, 28, 28, 256), f32), ((2, 2, 256, 128), f32))
case("conv_transposed_28x28x64_f32", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), ((1, 28, 28, 64), f32), ((3, 3, 64, 64), f32))
for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"depthwise_3x3_56x56x256_{n}", lambda x, w: conv(x, w, feature_group_count=256), ((1, 56, 56, 256), t), ((3, 3, 1, 256), t))
case("depthwise_7x7_56x56x96_f32", lambda x, w: conv(x, w, feature_group_count=96), ((1, 56, 56, 96), f32), ((7, 7, 1, 96), f32))
case("depthwise_3x3_s2_112x112x96_f32", lambda x, w: conv(x, w, 2, feature_group_count=96), ((1, 112, 112, 96), f32), ((3, 3, 1, 96), f32))
case("depthwise_5x5_28x28x120_nchw_f32", lambda x, w: conv(x, w, layout="NCHW", feature_group_count=120), ((1, 120, 28, 28), f32), ((120, 1, 5, 5), f32))
case("depthwise_5x5_s2_56x56x144_nchw_bf16", lambda x, w: conv(x, w, 2, layout="NCHW", feature_group_count=144), ((1, 144, 56, 56), bf16), ((144, 1, 5, 5), bf16))
case("depthwise_multiplier21_3x3_dilated_14x14x16_f32", lambda x, w: conv(x, w, rhs_dilation=(2, 2), feature_group_count=16), ((1, 14, 14, 16), f32), ((3, 3, 1, 336), f32))
case("depthwise_multiplier2_3x3_28x28x64_f32", lambda x, w: conv(x, w, feature_group_count=64), ((1, 28, 28, 64), f32), ((3, 3, 1, 128), f32))
for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"convgrad_input_3x3_28x28x128_{n}", lambda g, w: jax.linear_transpose(lambda x: conv(x, w), jax.ShapeDtypeStruct((1, 28, 28, 128), g.dtype))(g)[0],
         ((1, 28, 28, 128), t), ((3, 3, 128, 128), t))
    case(f"convgrad_kernel_3x3_28x28x128_{n}", lambda g, x: jax.linear_transpose(lambda w: conv(x, w), jax.ShapeDtypeStruct((3, 3, 128, 128), g.dtype))(g)[0],
         ((2, 28, 28, 128), t), ((2, 28, 28, 128), t))
case("convgrad_input_s2_56x56x64_f32", lambda g, w: jax.linear_transpose(lambda x: conv(x, w, 2), jax.ShapeDtypeStruct((1, 56, 56, 64), f32))(g)[0],
     ((1, 28, 28, 128), f32), ((3, 3, 64, 128), f32))
case("convgrad_input_7x7_s4_4x8x8x40_f32", lambda g, w: jax.linear_transpose(lambda x: conv(x, w, 4), jax.ShapeDtypeStruct((4, 8, 8, 40), f32))(g)[0],
     ((4, 2, 2, 256), f32), ((7, 7, 40, 256), f32))


case("convgrad_input_s2_2x32x32x32_nchw_f32", lambda g, w: jax.linear_transpose(lambda x: conv(x, w, 2, layout="NCHW"), jax.ShapeDtypeStruct((2, 32, 32, 32), f32))(g)[0],
     ((2, 48, 16, 16), f32), ((48, 32, 3, 3), f32))
case("convgrad_input_depthwise_s2_56x56x96_nchw_f32", lambda g, w: jax.linear_transpose(lambda x: conv(x, w, 2, layout="NCHW", feature_group_count=96), jax.ShapeDtypeStruct((1, 96, 56, 56), f32))(g)[0],
     ((1, 96, 28, 28), f32), ((96, 1, 3, 3), f32))
case("conv_transposed_few_9x65x5_nchw_f32", lambda x, w: conv(x, w, pad=[(4, 4), (4, 4)], layout="NCHW", lhs_dilation=(2, 2)), ((1, 5, 9, 65), f32), ((5, 5, 5, 5), f32))
case("conv_holes_28x28x64_s8_s32", lambda x, w: conv(x, w, 2, [(1, 1), (1, 1)], lhs_dilation=(4, 4), preferred_element_type=s32), ((1, 28, 28, 64), s8), ((1, 1, 64, 64), s8))


def kernel_gradient(name, x, w, t, *form, **more):
    y = jax.eval_shape(lambda a, b: conv(a, b, *form, **more), jax.ShapeDtypeStruct(x, t), jax.ShapeDtypeStruct(w, t))
    case(f"convgrad_kernel_{name}", lambda g, a: jax.linear_transpose(lambda b: conv(a, b, *form, **more), jax.ShapeDtypeStruct(w, t))(g)[0], (y.shape, t), (x, t))


kernel_gradient("1x1_s3_2x28x28x192_f32", (2, 28, 28, 192), (1, 1, 192, 160), f32, 3)
kernel_gradient("3x3_8x7x7x512_f32", (8, 7, 7, 512), (3, 3, 512, 512), f32)
kernel_gradient("3x3_s2_4x28x28x128_f32", (4, 28, 28, 128), (3, 3, 128, 128), f32, 2)
kernel_gradient("7x7_s2_4x112x112x3x64_f32", (4, 112, 112, 3), (7, 7, 3, 64), f32, 2)
kernel_gradient("3x3_8x64x28x28_nchw_f32", (8, 64, 28, 28), (64, 64, 3, 3), f32, layout="NCHW")
kernel_gradient("1d_8x512x64_f32", (8, 512, 64), (3, 64, 64), f32, layout="NWC")
kernel_gradient("grouped_8x14x14x128g4_f32", (8, 14, 14, 128), (3, 3, 32, 128), f32, feature_group_count=4)
case("convgrad_input_3x3_8x7x7x512_f32", lambda g, w: jax.linear_transpose(lambda x: conv(x, w), jax.ShapeDtypeStruct((8, 7, 7, 512), f32))(g)[0],
     ((8, 7, 7, 512), f32), ((3, 3, 512, 512), f32))
case("conv_batch_groups_64x14x14x2_f32", lambda x, w: conv(x, w, batch_group_count=64), ((64, 14, 14, 2), f32), ((3, 3, 2, 64), f32))
case("convgrad_kernel_depthwise_28x28x128_f32", lambda g, x: jax.linear_transpose(lambda w: conv(x, w, feature_group_count=128), jax.ShapeDtypeStruct((3, 3, 1, 128), f32))(g)[0],
     ((4, 28, 28, 128), f32), ((4, 28, 28, 128), f32))

# ---- reduce ----

for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"reduce_rows_2048x1024_{n}", lambda x: x.sum(1), ((2048, 1024), t))
    case(f"reduce_columns_2048x1024_{n}", lambda x: x.sum(0), ((2048, 1024), t))
case("reduce_all_2000000_f32", lambda x: x.sum(), ((2000000,), f32))
case("reduce_all_1000003_f32", lambda x: x.sum(), ((1000003,), f32))
case("reduce_std_1000000_f32", jnp.std, ((1000000,), f32))
case("reduce_all_1000000_f64", lambda x: x.sum(), ((1000000,), f64))
case("reduce_middle_64x128x200_f32", lambda x: x.max(1), ((64, 128, 200), f32))
case("reduce_rows_10000x17_f32", lambda x: x.sum(1), ((10000, 17), f32))
case("reduce_outer_inner_64x100x128_f32", lambda x: x.sum((0, 2)), ((64, 100, 128), f32))
case("reduce_max_rows_1000x777_s32", lambda x: x.max(1), ((1000, 777), s32))
case("reduce_max_rows_1000x1333_f16", lambda x: x.max(1), ((1000, 1333), f16))
case("reduce_min_columns_1000x1333_bf16", lambda x: x.min(0), ((1000, 1333), bf16))
case("reduce_argmax_rows_512x1000_f32", lambda x: jnp.argmax(x, 1), ((512, 1000), f32))
case("reduce_argmax_columns_1000x512_f32", lambda x: jnp.argmax(x, 0), ((1000, 512), f32))
case("reduce_any_1000x1000_pred", lambda x: (x > 0.2).any(1), ((1000, 1000), f32))
case("reduce_mean_variance_columns_4096x256_f32", lambda x: (x.mean(0), x.var(0)), ((4096, 256), f32))
case("reduce_moments_columns_4096x512_f32", lambda x: (x.sum(0), (x * x).sum(0), x.max(0)), ((4096, 512), f32))
case("reduce_moments_rows_2048x1024_f32", lambda x: (x.sum(1), (x * x).sum(1), x.max(1)), ((2048, 1024), f32))
case("reduce_norm_1000x777_f64", lambda x: jnp.sqrt((x * x).sum(1)), ((1000, 777), f64))
case("reduce_hypot_rows_1000x777_f32", lambda x: lax.reduce(x, f32(0), lambda a, b: lax.sqrt(a * a + b * b), (1,)), ((1000, 777), f32))
case("reduce_log_add_exp_300x777_f32", lambda x: lax.reduce(x, f32(-jnp.inf), jnp.logaddexp, (0, 1)), ((300, 777), f32))
case("reduce_min_max_pair_1000x777_f32", lambda x, y: lax.reduce((x, y), (f32(jnp.inf), f32(-jnp.inf)), lambda a, b: (lax.min(a[0], b[0]), lax.max(a[1], lax.abs(b[1]))), (1,)), ((1000, 777), f32), ((1000, 777), f32))
case("reduce_pack_bits_800000_u8", lambda x: jnp.packbits(x), ((800000,), u8))
case("reduce_product_sum_1000x1000_c64", lambda x, y: (x * y).sum(1), ((1000, 1000), c64), ((1000, 1000), c64))
case("reduce_count_1000000_s32", lambda x: (x == 1).sum(), ((1000000,), s32))

case("reduce_count_short_rows_50000x6_pred", lambda x: x.sum(1), ((50000, 6), pred))
case("reduce_argmax_gathered_30000x10_f32", lambda x, i: jnp.argmax(x[i], 1), ((5000, 10), f32), ((30000,), s32))
case("reduce_argmax_gathered_30000x16_u8", lambda x, i: jnp.argmax(x[i], 1), ((5000, 16), u8), ((30000,), s32))
case("reduce_argmax_gathered_10000x4x10_f32", lambda x, i: jnp.argmax(x[i], 2), ((5000, 4, 10), f32), ((10000,), s32))
case("reduce_and_concat_60000x11_pred", lambda x, y, z: jnp.concatenate([x, y, z], 1).all(1), ((60000, 3), pred), ((60000, 4), pred), ((60000, 4), pred))
case("reduce_packbits_columns_800x300_pred", lambda x: jnp.packbits(x, axis=0), ((800, 300), pred))
case("reduce_argmax_transposed_50x21x300_f32", lambda x: x.transpose(0, 2, 1).argmax(2), ((50, 21, 300), f32))
case("reduce_argmax_stacked_4x200x300_f16", lambda *a: jnp.stack(a, -1).argmax(-1), *[((200, 300), f16)] * 4)
case("reduce_concat_8x400x100_f32", lambda x, y: jnp.concatenate([x, y.transpose(0, 2, 1)], 2).sum((1, 2)), ((8, 100, 200), f32), ((8, 200, 100), f32))
case("reduce_kept_turned_3x224x224_s64", lambda x: x[:, 47:210, 1:].min(1).T * 2, ((3, 224, 224), s64))

# ---- rows: softmax and the norms ----


def layer_norm(x, g, b):
    y = x.astype(f32)
    m = y.mean(-1, keepdims=True)
    v = ((y - m) ** 2).mean(-1, keepdims=True)
    return ((y - m) * lax.rsqrt(v + 1e-5)).astype(x.dtype) * g + b


def rms_norm(x, g):
    y = x.astype(f32)
    return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * g


for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"rows_softmax_1024x1000_{n}", jax.nn.softmax, ((1024, 1000), t))
    case(f"rows_layer_norm_1024x768_{n}", layer_norm, ((1024, 768), t), ((768,), t), ((768,), t))
    case(f"rows_rms_norm_512x2048_{n}", rms_norm, ((512, 2048), t), ((2048,), t))
case("rows_min_max_sum_512x1000_bf16", lambda x: (x.max(-1), x.min(-1), x.sum(-1)), ((512, 1000), bf16))
case("rows_softmax_20000x10_f32", jax.nn.softmax, ((20000, 10), f32))
case("rows_softmax_axis0_256x512_f32", lambda x: jax.nn.softmax(x, 0), ((256, 512), f32))
case("rows_log_softmax_512x777_f64", jax.nn.log_softmax, ((512, 777), f64))
case("rows_logsumexp_1000x1000_f32", lambda x: jax.nn.logsumexp(x, 1), ((1000, 1000), f32))
case("rows_layer_norm_gradient_512x768_f32", lambda x, g, b, d: jax.vjp(layer_norm, x, g, b)[1](d),
     ((512, 768), f32), ((768,), f32), ((768,), f32), ((512, 768), f32))
case("rows_huber_300000_f32", lambda x, y: jnp.mean(jnp.where(jnp.abs(x - y) < 1, 0.5 * (x - y) ** 2, jnp.abs(x - y) - 0.5)),
     ((300000,), f32), ((300000,), f32))
case("rows_cross_entropy_512x1000_f32", lambda x, y: jax.value_and_grad(lambda x: -(jax.nn.log_softmax(x) * y).sum(1).mean())(x),
     ((512, 1000), f32), ((512, 1000), f32))


def batch_norm(x, g, b):
    m, v = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b, m, v


case("rows_batch_norm_training_8x28x28x128_f32", batch_norm, ((8, 28, 28, 128), f32), ((128,), f32), ((128,), f32))
text("rows_batch_norm_op_4x64x28x28_f32", """ENTRY main {
  x = f32[4,64,28,28]{3,2,1,0} parameter(0)
  scale = f32[64]{0} parameter(1)
  offset = f32[64]{0} parameter(2)
  ROOT norm = (f32[4,64,28,28]{3,2,1,0}, f32[64]{0}, f32[64]{0}) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1
}""")
case("rows_batch_norm_training_4x14x14x256_f32", batch_norm, ((4, 14, 14, 256), f32), ((256,), f32), ((256,), f32))
case("rows_group_norm_4x32x32x64_f32", lambda x: (lambda y: ((y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)))(x.reshape(4, 32, 32, 8, 8)), ((4, 32, 32, 64), f32))

case("rows_softmax_all_few_columns_50000x2_f16", lambda x: jax.nn.softmax(x[:50000, 1:].astype(f32), (0, 1)), ((100000, 3), f16))
case("rows_softmax_all_few_columns_20000x3_f32", lambda x: jax.nn.softmax(x[:, 1:4], (0, 1)), ((20000, 5), f32))

# ---- elementwise ----


def elementwise(name, function, t, tn, n=1 << 20, count=1):
    case(f"elementwise_{name}_{tn}", function, *[((n,), t)] * count)


for op, function in {"exp": lambda x: jnp.exp(x * 20), "log": lambda x: jnp.log(jnp.abs(x) + 0.1), "tanh": lambda x: jnp.tanh(x * 20),
                     "erf": lambda x: lax.erf(x * 20), "sin": lambda x: jnp.sin(x * 100), "rsqrt": lambda x: lax.rsqrt(jnp.abs(x) + 0.1),
                     "pow": lambda x, y: jnp.power(jnp.abs(x) + 0.1, y), "gelu": lambda x: jax.nn.gelu(x * 20),
                     "sigmoid": lambda x: jax.nn.sigmoid(x * 20), "log1p": lambda x: jnp.log1p(jnp.abs(x)),
                     "expm1": lambda x: jnp.expm1(x * 20), "atan2": jnp.arctan2, "cbrt": lambda x: jnp.cbrt(x)}.items():
    elementwise(op, function, f32, "f32", count=2 if op in ("pow", "atan2") else 1)
elementwise("add", lambda x, y: x + y, f32, "f32", count=2)
elementwise("axpy_50000", lambda a, x, y: a * x + y, f32, "f32", n=50000, count=3)
elementwise("exp", lambda x: jnp.exp(x * 20), f64, "f64")
elementwise("log", lambda x: jnp.log(jnp.abs(x) + 0.1), f64, "f64")
elementwise("tanh", lambda x: jnp.tanh(x * 20), f64, "f64")
elementwise("pow", lambda x, y: lax.pow(jnp.abs(x) + 0.1, y), f64, "f64", n=1 << 19, count=2)
elementwise("cube", lambda x: lax.pow(x, jnp.full(x.shape, 3.0, f64)), f64, "f64", n=1 << 19)
elementwise("logistic", jax.nn.sigmoid, f16, "f16")
elementwise("sin_cos", lambda x: jnp.sin(x) * jnp.cos(x), f64, "f64")
elementwise("chain", lambda x, y: jnp.maximum(x * y + x, 0) * jax.nn.sigmoid(y), bf16, "bf16", count=2)
elementwise("silu", jax.nn.silu, bf16, "bf16")
elementwise("add", lambda x, y: x + y, bf16, "bf16", count=2)
elementwise("exp", lambda x: jnp.exp(x), f16, "f16")
elementwise("divide", lambda x, y: lax.div(x, y | 1), s32, "s32", count=2)
elementwise("remainder", lambda x, y: lax.rem(x, y | 1), s64, "s64", count=2)
elementwise("hash", lambda x: (x ^ (x >> 16)) * u32(0x85EBCA6B) ^ (x << 3), u32, "u32")
elementwise("popcount", lambda x: lax.population_count(x) + lax.clz(x), u32, "u32")
elementwise("multiply", lambda x, y: x * y, c64, "c64", count=2)
elementwise("divide_exp", lambda x, y: jnp.exp(x) / (y + 1), c64, "c64", n=1 << 18, count=2)
elementwise("select", lambda x, y: jnp.where(x > y, x * 2, y - 1), f32, "f32", count=2)
elementwise("clip_round", lambda x: jnp.clip(jnp.round(x * 100), -128, 127).astype(s8), f32, "f32_s8")
elementwise("dequantize", lambda x: x.astype(f32) * 0.02 - 1, s8, "s8_f32")
elementwise("convert", lambda x: x.astype(bf16), f32, "f32_bf16")
elementwise("convert_s64", lambda x: x.astype(f32), s64, "s64_f32")
elementwise("is_finite_logic", lambda x, y: jnp.isfinite(x) & (y > 0) | (x < y), f32, "f32_pred", count=2)
elementwise("sin_large", lambda x: jnp.sin(x * 1e6), f32, "f32")
elementwise("cos", lambda x: jnp.cos(x * 100), f32, "f32")
elementwise("abs", jnp.abs, c64, "c64", n=1 << 18)
elementwise("tanh", jnp.tanh, c64, "c64", n=200003)
elementwise("sqrt", jnp.sqrt, c64, "c64", n=1 << 18)
elementwise("erf", lambda x: lax.erf(x * 20), f16, "f16")
case("elementwise_polynomial_f16", lambda x, y: ((((x * 0.1 + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * x + y, ((200003,), f16), ((200003,), f16))
case("elementwise_hard_swish_f16", lambda x: x * jnp.clip(x + 3, 0, 6) / 6, ((200003,), f16))
case("elementwise_add_f8e5m2", lambda x, y: x + y, ((200003,), jnp.float8_e5m2), ((200003,), jnp.float8_e5m2))
case("elementwise_absolute_f8e4m3fn", lambda x: jnp.abs(x), ((200003,), jnp.float8_e4m3fn))
elementwise("digits", lambda x: lax.rem(x, s64(10)), s64, "s64")
elementwise("convert_f64", lambda x: x.astype(bf16), f64, "f64_bf16")
elementwise("convert_words", lambda x: (x * u32(2654435761)).astype(bf16), u32, "u32_bf16")
case("elementwise_broadcast_rows_columns_1000x1000_f32", lambda x, r, c: (x + r[:, None]) * c, ((1000, 1000), f32), ((1000,), f32), ((1000,), f32))
case("elementwise_adam_500000_f32", lambda p, g, m, v: (lambda m2, v2: (p - 1e-3 * m2 / (jnp.sqrt(v2) + 1e-8), m2, v2))(0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g), *[((500000,), f32)] * 4)
case("elementwise_sgd_momentum_500000_f32", lambda p, g, m: (lambda n: (p - 0.01 * n, n))(0.9 * m + g), *[((500000,), f32)] * 3)
case("elementwise_gelu_and_slope_500000_f32", lambda x: (lambda t: (0.5 * x * (1 + t), 0.5 * (1 + t) + 0.4 * x * (1 - t * t)))(jnp.tanh(0.8 * x * (1 + 0.045 * x * x))), ((500000,), f32))
case("elementwise_small_100_f32", lambda x, y: jnp.tanh(x * y) + x, ((100,), f32), ((100,), f32))

# ---- window: pooling, running sums by reduce-window; scan: cumulative operations ----

for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"window_max_3x3_s2_112x112x64_{n}", lambda x: lax.reduce_window(x, jnp.array(-jnp.inf, x.dtype), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), ((1, 112, 112, 64), t))
case("window_average_2x2_56x56x128_f32", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4, ((1, 56, 56, 128), f32))
case("window_max_2x2_nchw_4x64x56x56_f32", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), ((4, 64, 56, 56), f32))
case("window_average_3x3_same_56x56x64_f32", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), ((1, 56, 56, 64), f32))
case("window_max_8_400x1000_s32", lambda x: lax.reduce_window(x, s32(-2**31), lax.max, (1, 8), (1, 8), "VALID"), ((400, 1000), s32))
case("window_moving_sum_100000w16_f32", lambda x: lax.reduce_window(x, 0.0, lax.add, (16,), (1,), "VALID"), ((100000,), f32))
case("window_global_average_7x7x512_f32", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 7, 7, 1), (1, 1, 1, 1), "VALID"), ((8, 7, 7, 512), f32))
case("window_average_gradient_2x2_56x56x64_f32", lambda x, g: jax.vjp(lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), x)[1](g)[0],
     ((4, 56, 56, 64), f32), ((4, 28, 28, 64), f32))
case("window_max_gradient_56x56x64_f32", lambda x, g: jax.vjp(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), x)[1](g)[0],
     ((1, 56, 56, 64), f32), ((1, 28, 28, 64), f32))
def line_gradient(size, stride, pad):
    return lambda x, g: jax.vjp(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, size, stride, pad), x)[1](g)[0]


case("window_max_gradient_line_100000w4_f32", line_gradient((4,), (4,), "VALID"), ((100000,), f32), ((25000,), f32))
case("window_max_gradient_lines_32x1000w5_f32", line_gradient((1, 5), (1, 1), "SAME"), ((32, 1000), f32), ((32, 1000), f32))
case("window_max_gradient_3x3_s2_nchw_2x16x64x64_f32", line_gradient((1, 1, 3, 3), (1, 1, 2, 2), "SAME"), ((2, 16, 64, 64), f32), ((2, 16, 32, 32), f32))
case("window_sum_few_columns_50000x3_f32", lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "SAME"), ((50000, 3), f32))
case("window_sum_lines_40x20x333w7_s3_f32", lambda x: lax.reduce_window(x, f32(0), lax.add, (1, 1, 7), (1, 1, 3), ((0, 0), (0, 0), (3, 3))), ((40, 20, 333), f32))
case("window_sum_lines_40x20x333w7_s3_s8", lambda x: lax.reduce_window(x, s8(0), lax.add, (1, 1, 7), (1, 1, 3), ((0, 0), (0, 0), (3, 3))), ((40, 20, 333), s8))
case("window_max_3x3_s2_nchw_4x20x33x35_s8", lambda x: lax.reduce_window(x, s8(-128), lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))), ((4, 20, 33, 35), s8))
case("window_sum_3x2_same_300x400_f16", lambda x: lax.reduce_window(x, f16(0), lax.add, (3, 2), (1, 1), "SAME"), ((300, 400), f16))
case("window_max_all_7x7_8x100_f32", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 7, 7), (1, 1, 1, 1), "VALID"), ((8, 100, 7, 7), f32))
case("window_max_pixels_300x300x3_u8", lambda x: lax.reduce_window(x, u8(0), lax.max, (3, 3, 1), (1, 1, 1), "SAME"), ((300, 300, 3), u8))
text("window_cumsum_200x500_f32", """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[200,500]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[200,500]{1,0} reduce-window(x, zero), window={size=1x500 pad=0_0x499_0}, to_apply=add
}""")
case("scan_cumsum_512x1000_f32", lambda x: jnp.cumsum(x, 1), ((512, 1000), f32))
case("scan_cumsum_axis0_1000x512_f32", lambda x: jnp.cumsum(x, 0), ((1000, 512), f32))
case("scan_cumsum_100000_s32", lambda x: jnp.cumsum(x), ((100000,), s32))
case("scan_cummax_512x1000_f32", lambda x: lax.cummax(x, 1), ((512, 1000), f32))
case("scan_cumlogsumexp_256x512_f32", lambda x: lax.cumlogsumexp(x, 1), ((256, 512), f32))
case("scan_associative_affine_1024x64_f32", lambda a, b: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b)), ((1024, 64), f32), ((1024, 64), f32))
case("scan_associative_ema_8x4000_f32", lambda x: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (jnp.full(x.shape, 0.9, f32), x), axis=1)[1], ((8, 4000), f32))
case("scan_cumprod_65536_f64", lambda x: jnp.cumprod(x + 1), ((65536,), f64))

# ---- transpose, movement ----

for t, n in ((f32, "f32"), (bf16, "bf16"), (s8, "s8"), (f64, "f64")):
    case(f"transpose_2048_{n}", lambda x: x.T, ((2048, 2048), t))
case("transpose_1000x777_f32", lambda x: x.T, ((1000, 777), f32))
case("transpose_nchw_nhwc_8x64x56x56_f32", lambda x: x.transpose(0, 2, 3, 1), ((8, 64, 56, 56), f32))
case("transpose_nhwc_nchw_8x56x56x3_f32", lambda x: x.transpose(0, 3, 1, 2), ((8, 224, 224, 3), f32))
case("transpose_heads_4x256x12x64_bf16", lambda x: x.transpose(0, 2, 1, 3), ((4, 256, 12, 64), bf16))
case("transpose_batch_64x100x120_f32", lambda x: x.transpose(0, 2, 1), ((64, 100, 120), f32))
case("transpose_reverse_dims_40x50x60x10_f32", lambda x: x.transpose(3, 2, 1, 0), ((40, 50, 60, 10), f32))
case("transpose_add_1024_f32", lambda x: x + x.T, ((1024, 1024), f32))
case("movement_pad_1000x1000_f32", lambda x: jnp.pad(x, ((3, 4), (5, 6))), ((1000, 1000), f32))
case("movement_pad_interior_500x500_f32", lambda x: lax.pad(x, jnp.float32(0), ((0, 0, 1), (0, 0, 1))), ((500, 500), f32))
case("movement_pad_interior_150x150_s8", lambda x: lax.pad(x, jnp.int8(0), ((1, 1, 1), (2, 2, 2))), ((150, 150), s8))
case("movement_pad_interior_rows_300x501_bf16", lambda x: lax.pad(x, jnp.bfloat16(0), ((0, 0, 0), (1, 2, 1))), ((300, 501), bf16))
case("movement_concat_columns_1000x300_f32", lambda x, y, z: jnp.concatenate([x, y, z], 1), *[((1000, 300), f32)] * 3)
case("movement_concat_many_40x3001_f32", lambda *x: jnp.concatenate(x), *[((3001,), f32)] * 40)
case("movement_concat_many_300_unequal_f32", lambda *x: jnp.concatenate(x), *[((500 + i % 7,), f32) for i in range(300)])
case("movement_concat_many_16x1000x40_u8", lambda *x: jnp.concatenate(x, 1), *[((1000, 40), u8)] * 16)
case("movement_concat_few_columns_50000_u8", lambda x, y, z: jnp.concatenate([x, y, z], 1), ((50000, 3), u8), ((50000, 1), u8), ((50000, 5), u8))
case("movement_unstack_50000x4_f32", lambda x: tuple(x[:, i] for i in range(4)), ((50000, 4), f32))
case("movement_roll_500000_u8", lambda x: jnp.roll(x, -1), ((500000,), u8))
case("movement_roll_500000_bf16", lambda x: jnp.roll(x, -1), ((500000,), bf16))
case("movement_flip_channels_300x300x3_u8", lambda x: x[:, :, ::-1], ((300, 300, 3), u8))
case("movement_shuffle_channels_8x28x28x60_f32", lambda x: x.reshape(8, 28, 28, 3, 20).transpose(0, 1, 2, 4, 3).reshape(8, 28, 28, 60), ((8, 28, 28, 60), f32))
case("movement_one_hot_600x1000_bf16", lambda i: jax.nn.one_hot(i, 1000, dtype=bf16), ((600,), s32))
case("movement_linspace_300000_f32", lambda a, b: jnp.linspace(a, b, 300000, dtype=f32), ((), f32), ((), f32))
case("movement_concat_rows_1000x500_bf16", lambda x, y: jnp.concatenate([x, y], 0), *[((1000, 500), bf16)] * 2)
case("movement_slice_strided_2000x2000_f32", lambda x: x[::2, 1::3], ((2000, 2000), f32))
case("movement_slice_1000x1000_s8", lambda x: x[10:900, 20:930], ((1000, 1000), s8))
case("movement_reverse_1000x1000_f32", lambda x: x[::-1, ::-1], ((1000, 1000), f32))
case("movement_dynamic_slice_800x777_u8", lambda x, i, j: lax.dynamic_slice(x, (i, j), (800, 777)), ((1000, 999), u8), ((), s32), ((), s32))
case("movement_slice_strided_750x578_c64", lambda x: x[::2, ::3], ((1500, 1733), c64))
case("movement_broadcast_middle_64x100x128_f32", lambda x: jnp.broadcast_to(x[:, None, :], (64, 100, 128)), ((64, 128), f32))
case("movement_repeat_upsample_64x64x64_f32", lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), ((1, 64, 64, 64), f32))
case("movement_roll_1000x1000_f32", lambda x: jnp.roll(x, 17, 1), ((1000, 1000), f32))
case("movement_iota_grid_1000x1000_f32", lambda a: lax.broadcasted_iota(f32, (1000, 1000), 0) * a + lax.broadcasted_iota(f32, (1000, 1000), 1), ((), f32))
case("movement_rope_1x512x16x64_bf16", lambda x, c, s: x * c + jnp.concatenate([-x[..., 32:], x[..., :32]], -1) * s, ((1, 512, 16, 64), bf16), ((512, 1, 64), bf16), ((512, 1, 64), bf16))
case("movement_patches_16x16_224x224x3_f32", lambda x: x.reshape(14, 16, 14, 16, 3).transpose(0, 2, 1, 3, 4).reshape(196, 768), ((224, 224, 3), f32))
case("movement_tril_mask_1000x1000_f32", lambda x: jnp.tril(x), ((1000, 1000), f32))

text("transpose_residual_8x56x56x64_bf16", """ENTRY main {
  x = bf16[8,56,56,64] parameter(0)
  y = bf16[8,56,56,64] parameter(1)
  bias = bf16[64] parameter(2)
  biases = bf16[8,56,56,64] broadcast(bias), dimensions={3}
  sum = bf16[8,56,56,64] add(x, y)
  biased = bf16[8,56,56,64] add(sum, biases)
  ROOT turned = bf16[8,64,56,56] transpose(biased), dimensions={0,3,1,2}
}
""")
text("transpose_concat_7x180x130_s8", """ENTRY main {
  x = s8[7,90,130] parameter(0)
  y = s8[7,180,130] parameter(1)
  twice = s8[7,180,130] concatenate(x, x), dimensions={1}
  sum = s8[7,180,130] add(twice, y)
  ROOT turned = s8[180,130,7] transpose(sum), dimensions={1,2,0}
}""")
case("transpose_slice_4x46000_f32", lambda x, z: x[:4, 13442:59442].T + z, ((5, 60000), f32), ((46000, 4), f32))
case("transpose_window_60x64x64_f16", lambda x, z: lax.reduce_window(x, f16(0), lax.add, (5, 1, 1), (1, 1, 1), "VALID")[:, ::-1].transpose(0, 2, 1) + z, ((64, 64, 64), f16), ((60, 64, 64), f16))
text("transpose_update_300x400_f64", """ENTRY main {
  x = f64[400,300] parameter(0)
  y = f64[400,37] parameter(1)
  i = s32[] parameter(2)
  new = f64[400,300] dynamic-update-slice(x, y, i, i)
  ROOT turned = f64[300,400] transpose(new), dimensions={1,0}
}""")
case("movement_concat_pixels_below_150000x3_u8", lambda x, y, z: jnp.concatenate([x, x, y, jnp.broadcast_to(z[:, None], (2, 3))]), ((50000, 3), u8), ((50000, 3), u8), ((2,), u8))
case("movement_concat_flat_reversed_11x60000_f64", lambda x, y: jnp.floor(jnp.concatenate([x, x, y]).reshape(-1)[::-1]), ((5, 60000), f64), ((1, 60000), f64))
case("movement_window_of_slice_10000x6_s8", lambda x, i: lax.reduce_window(lax.dynamic_slice(jnp.broadcast_to(x[:, :, None], (20000, 12, 2)), (i, i, i), (10000, 6, 1)), s8(-128), lax.max, (3, 1, 1), (1, 1, 1), "VALID"),
     ((20000, 12), s8), ((), s32))
case("update_read_in_part_40x30x50x6_f64", lambda x, y, i: lax.dynamic_slice(lax.dynamic_update_slice(x, y, (i, i, i, i)), (i, i, i, i), (20, 15, 50, 3)), ((40, 30, 50, 6), f64), ((20, 15, 50, 6), f64), ((), s32))

# ---- gather, scatter, updates, sorts ----

case("gather_constant_columns_20000x3_f32", lambda x: x[:, jnp.array([1, 2, 0])] * x[:, jnp.array([2, 0, 1])] - x[:, jnp.array([2, 0, 1])], ((20000, 3), f32))
case("gather_embedding_5000x512_512_f32", lambda t, i: jnp.take(t, i, axis=0, mode="clip"), ((5000, 512), f32), ((512,), s32))
case("gather_embedding_5000x512_512_bf16", lambda t, i: jnp.take(t, i, axis=0), ((5000, 512), bf16), ((512,), s32))
case("gather_scalars_500000_bf16", lambda t, i: t[i], ((1000,), bf16), ((500000,), s32))
case("gather_scalars_300000_c64", lambda t, i: t[i], ((5000,), c64), ((300000,), s32))
case("gather_scalars_100000_f32", lambda t, i: t[i], ((10000,), f32), ((100000,), s32))
case("gather_columns_1000x1000_f32", lambda t, i: t[:, i], ((1000, 1000), f32), ((300,), s32))
case("gather_along_axis_1000x100_f32", lambda t, i: jnp.take_along_axis(t, i, 1), ((1000, 1000), f32), ((1000, 100), s32))
case("gather_frames_500x400_f32", lambda x: x[jnp.arange(500)[:, None] * 160 + jnp.arange(400)[None]], ((80400,), f32))
case("gather_pairs_20000_f32", lambda t, i, j: t[i, j], ((1000, 1000), f32), ((20000,), s32), ((20000,), s32))
case("gather_windows_200x32x32_f32", lambda t, i: jax.vmap(lambda k: lax.dynamic_slice(t, (k, k), (32, 32)))(i), ((1000, 1000), f32), ((200,), s32))
case("scatter_embedding_gradient_5000x256_2000_f32", lambda t, i, u: t.at[i].add(u), ((5000, 256), f32), ((2000,), s32), ((2000, 256), f32))
case("scatter_max_50000_f16", lambda x, i, u: x.at[i].max(u), ((1000,), f16), ((50000,), s32), ((50000,), f16))
case("scatter_embedding_gradient_5000x256_2000_bf16", lambda t, i, u: t.at[i].add(u), ((5000, 256), bf16), ((2000,), s32), ((2000, 256), bf16))
case("scatter_histogram_100000_s32", lambda i: jnp.zeros(1024, s32).at[i].add(1), ((100000,), s32))
case("scatter_scalars_100000_f32", lambda t, i, u: t.at[i].add(u), ((10000,), f32), ((100000,), s32), ((100000,), f32))
case("scatter_unique_set_5000_f32", lambda t, i, u: t.at[(jnp.arange(1000) * 7 + i) % 5000].set(u, unique_indices=True), ((5000, 64), f32), ((), s32), ((1000, 64), f32))
case("scatter_out_of_bounds_100000_f32", lambda i, u: jnp.zeros(500, f32).at[i].add(u), ((100000,), s32), ((100000,), f32))
case("scatter_segment_max_50000x8_f32", lambda x, i: jax.ops.segment_max(x, i, 500), ((50000, 8), f32), ((50000,), s32))
case("scatter_max_20000_f32", lambda t, i, u: t.at[i].max(u), ((5000,), f32), ((20000,), s32), ((20000,), f32))
case("scatter_segment_sum_20000x32_f32", lambda x, i: jax.ops.segment_sum(x, i, 1000), ((20000, 32), f32), ((20000,), s32))
case("update_slice_1000x1000_f32", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), ((1000, 1000), f32), ((100, 100), f32), ((), s32))
case("update_loop_in_place_1000x1024_f32", lambda x: lax.fori_loop(0, 1000, lambda i, x: x.at[i].set(x[i] * 2 + 1), x), ((1000, 1024), f32))
case("update_loop_collect_500x64x64_f32", lambda x: lax.scan(lambda c, _: (c * 0.9 + 0.1, c[:, 0]), x, None, 500), ((64, 64), f32))
case("update_kv_cache_8x1024x64_bf16", lambda c, k, i: lax.dynamic_update_slice(c, k, (s32(0), i, s32(0))), ((8, 1024, 64), bf16), ((8, 1, 64), bf16), ((), s32))
case("update_dynamic_slice_2000x2000_f32", lambda x, i, j: lax.dynamic_slice(x, (i, j), (500, 500)) * 2, ((2000, 2000), f32), ((), s32), ((), s32))
case("update_ring_stencil_200_f32", lambda x: lax.fori_loop(0, 200, lambda i, x: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0 * i), (2, 4096)) * 0.5 + 1, (i + 1, 0 * i)), x), ((300, 4096), f32))

case("sort_100000_f32", jnp.sort, ((100000,), f32))
case("sort_100000_s32", jnp.sort, ((100000,), s32))
case("sort_30000_f64", jnp.sort, ((30000,), f64))
case("sort_rows_256x1024_bf16", lambda x: jnp.sort(x, 1), ((256, 1024), bf16))
case("sort_rows_10000x16_f32", lambda x: jnp.sort(x, 1), ((10000, 16), f32))
case("sort_columns_1000x64_f32", lambda x: jnp.sort(x, 0), ((1000, 64), f32))
case("sort_argsort_50000_f32", jnp.argsort, ((50000,), f32))
case("sort_argsort_rows_64x1000_f32", lambda x: jnp.argsort(x, 1), ((64, 1000), f32))
case("sort_key_value_30000_s32_f32", lambda k, v: lax.sort((k, v), num_keys=1), ((30000,), s32), ((30000,), f32))
case("sort_two_keys_30000_s32_f32", lambda k, v, w: lax.sort((k, v, w), num_keys=2), ((30000,), s32), ((30000,), f32), ((30000,), s32))
case("sort_stable_descending_30000_f32", lambda x: -jnp.sort(-x, stable=True), ((30000,), f32))
case("sort_1000000_f32", jnp.sort, ((1000000,), f32))
case("sort_argsort_200000_f64", jnp.argsort, ((200000,), f64))
case("sort_u8_100000_u8", jnp.sort, ((100000,), u8))
case("topk_5_256x5000_f32", lambda x: lax.top_k(x, 5), ((256, 5000), f32))
case("topk_50_32000_f32", lambda x: lax.top_k(x, 50), ((1, 32000), f32))
case("topk_100_64x2000_bf16", lambda x: lax.top_k(x, 100), ((64, 2000), bf16))
case("topk_1000_100000_f32", lambda x: lax.top_k(x, 1000), ((100000,), f32))

# ---- control: while loops, conditionals ----

case("loop_scalar_100000_f32", lambda x: lax.fori_loop(0, 100000, lambda i, x: x * 0.999 + 0.001, x), ((), f32))
case("loop_scalar_20000_s64", lambda x: lax.fori_loop(0, 20000, lambda i, x: (x * 6364136223846793005 + i) ^ (x >> 7), x), ((), s64))
case("loop_newton_100000_f32", lambda a: lax.while_loop(lambda c: c[1] < 20, lambda c: (0.5 * (c[0] + (a + 1) / c[0]), c[1] + 1), (jnp.ones_like(a), 0))[0], ((100000,), f32))
case("loop_power_iteration_64_f32", lambda a, v: lax.fori_loop(0, 200, lambda i, v: (lambda w: w / jnp.sqrt((w * w).sum()))(a @ v), v), ((64, 64), f32), ((64,), f32))
case("loop_vector_1000x64_f32", lambda x, y: lax.fori_loop(0, 1000, lambda i, x: jnp.tanh(x * y) + y, x), ((64,), f32), ((64,), f32))
case("loop_rnn_128x8x64_f32", lambda xs, w, u, h: lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u),) * 2, h, xs), ((128, 8, 64), f32), ((64, 64), f32), ((64, 64), f32), ((8, 64), f32))
case("loop_rk4_1000_f64", lambda y: lax.fori_loop(0, 1000, lambda i, y: (lambda f: (lambda k1: (lambda k2: (lambda k3: y + 0.001 / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + 0.001 * k3)))(f(y + 0.0005 * k2)))(f(y + 0.0005 * k1)))(f(y)))(lambda y: jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])), y), ((3,), f64))
case("loop_sine_10000_f32", lambda y: lax.fori_loop(0, 10000, lambda i, y: y + 0.001 * jnp.sin(y) + 0.0005, y), ((), f32))
case("loop_rk4_cosine_3000_f64", lambda y: lax.fori_loop(0, 3000, lambda i, y: (lambda f: (lambda k1: (lambda k2: (lambda k3: y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + 0.01 * k3)))(f(y + 0.005 * k2)))(f(y + 0.005 * k1)))(f(y)))(lambda y: jnp.cos(y) + 0.5), y), ((), f64))
case("loop_softplus_10000_f32", lambda y: lax.fori_loop(0, 10000, lambda i, y: jnp.log(1 + jnp.exp(y)) * 0.7, y), ((), f32))
case("loop_power_3000_f64", lambda y: lax.fori_loop(0, 3000, lambda i, y: 0.5 * lax.pow(jnp.abs(y) + 0.1, y.dtype.type(1.3)) + 0.7, y), ((), f64))
case("loop_power_3000_f32", lambda y: lax.fori_loop(0, 3000, lambda i, y: 0.5 * lax.pow(jnp.abs(y) + 0.1, y.dtype.type(1.3)) + 0.7, y), ((), f32))
case("loop_functions_3000_f64", lambda y: lax.fori_loop(0, 3000, lambda i, y: 0.4 * lax.erf(jnp.tan(jnp.log(y + 2) * 0.5)) + 0.3 * jnp.log1p(y), y), ((), f64))
case("loop_angle_10000_f32", lambda y: lax.fori_loop(0, 10000, lambda i, y: lax.rem(y + 0.37, y.dtype.type(6.2831855)), y), ((), f32))
case("loop_gru_100x4x192_f32", lambda xs, w, u, b, h: lax.scan(lambda h, x: (lambda a, c: (lambda r, z: (lambda h: (h, h))((1 - z) * jnp.tanh(a[:, 384:] + r * c[:, 384:]) + z * h))(jax.nn.sigmoid(a[:, :192] + c[:, :192]), jax.nn.sigmoid(a[:, 192:384] + c[:, 192:384])))(x @ w + b, h @ u), h, xs),
     ((100, 4, 192), f32), ((192, 576), f32), ((192, 576), f32), ((576,), f32), ((4, 192), f32))
case("loop_rnn_reverse_100x2x256_f32", lambda xs, w, u, h: lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u),) * 2, h, xs, reverse=True), ((100, 2, 256), f32), ((256, 256), f32), ((256, 256), f32), ((2, 256), f32))
case("loop_bisect_1000_f32", lambda t: lax.while_loop(lambda c: (c[1] - c[0]).max() > 1e-6, lambda c: (lambda m: (jnp.where(m * m < t, m, c[0]), jnp.where(m * m < t, c[1], m)))((c[0] + c[1]) / 2), (jnp.zeros_like(t), jnp.ones_like(t))), ((1000,), f32))
case("loop_collatz_s32", lambda n: lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1), (jnp.abs(n) + 837799, 0))[1], ((), s32))
case("conditional_heavy_512_f32", lambda p, x: lax.cond(p > 0, lambda x: jnp.sin(x) * 2, lambda x: x + 1, x), ((), f32), ((512, 512), f32))
case("conditional_switch_in_loop_f32", lambda x: lax.fori_loop(0, 3000, lambda i, x: lax.switch(i % 3, [lambda x: x + 1, lambda x: x * 0.5, lambda x: x - 2], x), x), ((16,), f32))
case("conditional_switch_functions_f32", lambda x: lax.fori_loop(0, 10000, lambda i, x: lax.switch(i % 4, [lambda x: x + 0.1, lambda x: x * 0.9, jnp.sin, lambda x: jnp.exp(-x)], x), x), ((), f32))

# ---- fft, linear algebra, random numbers ----

case("fft_1024x64_c64", jnp.fft.fft, ((64, 1024), c64))
case("fft_1000x64_c64", jnp.fft.fft, ((64, 1000), c64))
case("fft_65536_c64", jnp.fft.fft, ((65536,), c64))
case("fft_997x16_c64", jnp.fft.fft, ((16, 997), c64))
case("fft_2d_256x256_c64", jnp.fft.fft2, ((256, 256), c64))
case("fft_2d_1000x1000_c64", jnp.fft.fft2, ((1000, 1000), c64))
case("fft_2d_real_inverse_500x600_f32", jnp.fft.irfft2, ((500, 301), c64))
case("fft_262144_c64", jnp.fft.fft, ((262144,), c64))
case("fft_inverse_512x64_c128", jnp.fft.ifft, ((64, 512), jnp.complex128))
case("fft_real_4096x32_f32", jnp.fft.rfft, ((32, 4096), f32))
case("fft_real_inverse_2048x32_f32", lambda x: jnp.fft.irfft(x), ((32, 1025), c64))
case("fft_3d_32x32x32_c64", jnp.fft.fftn, ((32, 32, 32), c64))


def cholesky(name, batch, n, t):
    shape, plain = f"{t}[{batch},{n},{n}]", f"{t}[{batch},{n}]"
    text(name, f"""ENTRY main {{
  x = {shape} parameter(0)
  y = {shape} transpose(x), dimensions={{0,2,1}}
  s = {shape} add(x, y)
  i = s32[{n},{n}] iota(), iota_dimension=0
  j = s32[{n},{n}] iota(), iota_dimension=1
  d = pred[{n},{n}] compare(i, j), direction=EQ
  c = {t}[] constant({n})
  w = {t}[{n},{n}] broadcast(c), dimensions={{}}
  z = {t}[] constant(0)
  o = {t}[{n},{n}] broadcast(z), dimensions={{}}
  e = {t}[{n},{n}] select(d, w, o)
  b = {shape} broadcast(e), dimensions={{1,2}}
  a = {shape} add(s, b)
  ROOT l = {shape} cholesky(a), lower=true
}}""")


def triangular(name, batch, n, m, t, left=True, lower=True, transpose="NO_TRANSPOSE"):
    a, b = f"{t}[{batch},{n},{n}]", f"{t}[{batch},{n},{m}]" if left else f"{t}[{batch},{m},{n}]"
    flag = lambda v: "true" if v else "false"
    text(name, f"""ENTRY main {{
  x = {a} parameter(0)
  b = {b} parameter(1)
  i = s32[{n},{n}] iota(), iota_dimension=0
  j = s32[{n},{n}] iota(), iota_dimension=1
  d = pred[{n},{n}] compare(i, j), direction=EQ
  c = {t}[] constant(2)
  w = {t}[{n},{n}] broadcast(c), dimensions={{}}
  z = {t}[] constant(0)
  o = {t}[{n},{n}] broadcast(z), dimensions={{}}
  e = {t}[{n},{n}] select(d, w, o)
  f = {a} broadcast(e), dimensions={{1,2}}
  a = {a} add(x, f)
  ROOT s = {b} triangular-solve(a, b), left_side={flag(left)}, lower={flag(lower)}, unit_diagonal=false, transpose_a={transpose}
}}""")


cholesky("cholesky_512_f32", 1, 512, "f32")
cholesky("cholesky_1024_f32", 1, 1024, "f32")
cholesky("cholesky_200_f64", 1, 200, "f64")
cholesky("cholesky_batch_64x32_f32", 64, 32, "f32")
cholesky("cholesky_batch_1000x6_f64", 1000, 6, "f64")
triangular("triangular_512x512_f32", 1, 512, 512, "f32")
triangular("triangular_1024x1024_f32", 1, 1024, 1024, "f32")
triangular("triangular_256x1_f64", 1, 256, 1, "f64")
triangular("triangular_right_transposed_300x200_f32", 1, 300, 200, "f32", left=False, transpose="TRANSPOSE")
triangular("triangular_upper_batch_64x32x8_f32", 64, 32, 8, "f32", lower=False)
for algorithm, words in (("rng_philox", 3), ("rng_three_fry", 2)):
    text(f"random_{algorithm[4:]}_1000000_u32", f"""ENTRY main {{
  s = u64[{words}] parameter(0)
  r = (u64[{words}], u32[1000000]) rng-bit-generator(s), algorithm={algorithm}
  ROOT bits = u32[1000000] get-tuple-element(r), index=1
}}""")
case("random_uniform_500000_f32", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (500000,), f32), ((2,), u32))
case("random_normal_300000_f32", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (300000,), f32), ((2,), u32))
case("random_dropout_512x1024_f32", lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, x.shape), x / 0.9, 0), ((2,), u32), ((512, 1024), f32))
for t, n in ((f64, "f64"), (bf16, "bf16")):
    case(f"random_normal_300x1000_{n}", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (300, 1000), t), ((2,), u32))
case("random_bernoulli_400000_pred", lambda k: jax.random.bernoulli(jax.random.wrap_key_data(k), 0.3, (400000,)), ((2,), u32))
case("random_randint_300000_s32", lambda k: jax.random.randint(jax.random.wrap_key_data(k), (300000,), 0, 1000, s32), ((2,), u32))
case("random_truncated_normal_100000_f32", lambda k: jax.random.truncated_normal(jax.random.wrap_key_data(k), -2, 2, (100000,), f32), ((2,), u32))
case("random_gamma_10000_f32", lambda k: jax.random.gamma(jax.random.wrap_key_data(k), 2.5, (10000,), f32), ((2,), u32))
# Both words of a count, one behind the other, as JAX's arrays were made before they could be partitioned.
with jax.threefry_partitionable(False):
    case("random_words_uniform_300x1000_f32", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (300, 1000), f32), ((2,), u32))
    case("random_words_dropout_512x1024_f32", lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, x.shape), x / 0.9, 0), ((2,), u32), ((512, 1024), f32))
case("random_permutation_5000_s32", lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 5000), ((2,), u32))
case("random_categorical_64x1000_f32", lambda k, x: jax.random.categorical(jax.random.wrap_key_data(k), x), ((2,), u32), ((64, 1000), f32))

# ---- model: small programs as a whole ----


def mlp(x, *w):
    for i in range(0, len(w), 2):
        x = product(x, w[i]) + w[i + 1]
        x = jax.nn.relu(x) if i + 2 < len(w) else x
    return x


def mlp_arguments(batch, sizes, t):
    return [((batch, sizes[0]), t)] + [a for m, n in zip(sizes, sizes[1:]) for a in (((m, n), t), ((n,), t))]


case("model_mlp_128x784x512x256x10_f32", mlp, *mlp_arguments(128, (784, 512, 256, 10), f32))
case("model_mlp_1x64x64x64x8_f32", mlp, *mlp_arguments(1, (64, 64, 64, 8), f32))


def mlp_step(x, y, *w):
    loss = lambda w: -(jax.nn.log_softmax(mlp(x, *w)) * y).sum(1).mean()
    l, g = jax.value_and_grad(loss)(w)
    return l, [p - 0.1 * d for p, d in zip(w, g)]


case("model_mlp_training_128x784x256x10_f32", mlp_step, ((128, 784), f32), ((128, 10), f32), *mlp_arguments(128, (784, 256, 10), f32)[1:])


def transformer(x, g1, b1, wq, wk, wv, wo, g2, b2, w1, c1, w2, c2, heads=8):
    n, s, d = x.shape
    y = layer_norm(x, g1, b1)
    q, k, v = ((y @ w).reshape(n, s, heads, d // heads) for w in (wq, wk, wv))
    x = x + attention(q, k, v).reshape(n, s, d) @ wo
    return x + jax.nn.gelu(layer_norm(x, g2, b2) @ w1 + c1) @ w2 + c2


def transformer_arguments(n, s, d, t):
    return [((n, s, d), t), ((d,), t), ((d,), t), *[((d, d), t)] * 4, ((d,), t), ((d,), t), ((d, 4 * d), t), ((4 * d,), t), ((4 * d, d), t), ((d,), t)]


case("model_transformer_1x128x512_f32", transformer, *transformer_arguments(1, 128, 512, f32))
case("model_transformer_1x128x512_bf16", transformer, *transformer_arguments(1, 128, 512, bf16))
case("model_transformer_training_1x64x256_f32", lambda *a: jax.grad(lambda a: (transformer(*a) ** 2).sum())(a), *transformer_arguments(1, 64, 256, f32))
case("model_transformer_decode_1x1x1024_bf16", transformer, *transformer_arguments(1, 1, 1024, bf16))


def lstm(xs, w, u, b, h, c):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (h, c), xs)


case("model_lstm_64x8x128_f32", lstm, ((64, 8, 128), f32), ((128, 512), f32), ((128, 512), f32), ((512,), f32), ((8, 128), f32), ((8, 128), f32))


def resnet_block(x, w1, g1, b1, w2, g2, b2):
    y = jax.nn.relu(batch_norm(conv(x, w1), g1, b1)[0])
    return jax.nn.relu(batch_norm(conv(y, w2), g2, b2)[0] + x)


resnet_arguments = [((4, 28, 28, 64), f32), *[((3, 3, 64, 64), f32), ((64,), f32), ((64,), f32)] * 2]
case("model_resnet_block_4x28x28x64_f32", resnet_block, *resnet_arguments)
case("model_resnet_block_training_4x28x28x64_f32", lambda x, *w: [p - 0.1 * g for p, g in zip(w, jax.grad(lambda w: (resnet_block(x, *w) ** 2).mean())(w))], *resnet_arguments)


def unet(x, w1, w2, w3, w4):
    a = jax.nn.silu(conv(x, w1))
    b = jax.nn.silu(conv(a, w2, 2))
    b = jax.nn.silu(conv(b, w3))
    up = jnp.repeat(jnp.repeat(b, 2, 1), 2, 2)
    return conv(jnp.concatenate([a, up], -1), w4)


case("model_unet_64x64x32_f32", unet, ((1, 64, 64, 3), f32), ((3, 3, 3, 32), f32), ((3, 3, 32, 64), f32), ((3, 3, 64, 64), f32), ((3, 3, 96, 3), f32))
case("model_mobile_block_28x28x64_f32", lambda x, w1, d, w2: x + conv(jax.nn.relu6(conv(jax.nn.relu6(conv(x, w1)), d, feature_group_count=256)), w2),
     ((1, 28, 28, 64), f32), ((1, 1, 64, 256), f32), ((3, 3, 1, 256), f32), ((1, 1, 256, 64), f32))


def nchw(x, w, groups=1):
    return conv(x, w, layout="NCHW", feature_group_count=groups)


case("model_resnet_block_56x56x64_nchw_f32", lambda x, w1, w2: jax.nn.relu(nchw(jax.nn.relu(nchw(x, w1)), w2) + x), ((1, 64, 56, 56), f32), *[((64, 64, 3, 3), f32)] * 2)
case("model_mobile_block_28x28x64_nchw_f32", lambda x, w1, d, w2: x + nchw(jax.nn.relu6(nchw(jax.nn.relu6(nchw(x, w1)), d, 256)), w2),
     ((1, 64, 28, 28), f32), ((256, 64, 1, 1), f32), ((256, 1, 3, 3), f32), ((64, 256, 1, 1), f32))
case("model_lenet_16x28x28_f32", lambda x, w1, w2, w3, b3: (lambda pool: product(pool(jax.nn.relu(conv(pool(jax.nn.relu(conv(x, w1))), w2))).reshape(16, -1), w3) + b3)(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")),
     ((16, 28, 28, 1), f32), ((5, 5, 1, 16), f32), ((5, 5, 16, 32), f32), ((1568, 10), f32), ((10,), f32))


def k_means(x, c):
    d = (x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)
    one = jax.nn.one_hot(jnp.argmin(d, 1), c.shape[0], dtype=x.dtype)
    return one.T @ x / jnp.maximum(one.sum(0), 1)[:, None]


case("model_k_means_5000x16_20_f32", k_means, ((5000, 16), f32), ((20, 16), f32))


def n_body(p, v, m):
    d = p[None] - p[:, None]
    r = lax.rsqrt((d * d).sum(-1) + 1e-3)
    a = (d * (m * r ** 3)[..., None]).sum(1)
    return p + 0.01 * v, v + 0.01 * a


for t, n in ((f32, "f32"), (f64, "f64")):
    case(f"model_n_body_512_{n}", n_body, ((512, 3), t), ((512, 3), t), ((512,), t))


def black_scholes(s, k, t, r, v):
    s, k, t, v = jnp.abs(s) + 1, jnp.abs(k) + 1, jnp.abs(t) + 0.1, jnp.abs(v) + 0.1
    d1 = (jnp.log(s / k) + (r + v * v / 2) * t) / (v * jnp.sqrt(t))
    d2 = d1 - v * jnp.sqrt(t)
    n = lambda x: 0.5 * (1 + lax.erf(x * 0.7071067811865475))
    return s * n(d1) - k * jnp.exp(-r * t) * n(d2)


case("model_black_scholes_200000_f32", black_scholes, *[((200000,), f32)] * 5)
case("model_black_scholes_100000_f64", black_scholes, *[((100000,), f64)] * 5)


def mandelbrot(c):
    c = c * 20 - 0.5
    def body(s):
        z, n, i = s
        z2 = z * z + c
        inside = jnp.real(z2) ** 2 + jnp.imag(z2) ** 2 < 4
        return jnp.where(inside, z2, z), n + inside, i + 1
    return lax.while_loop(lambda s: s[2] < 50, body, (jnp.zeros_like(c), jnp.zeros(c.shape, s32), 0))[1]


case("model_mandelbrot_128x128_c64", mandelbrot, ((128, 128), c64))


def mandelbrot_real(x, y):
    x, y = x * 20 - 0.5, y * 20
    def body(s):
        a, b, n, i = s
        inside = a * a + b * b < 4
        return jnp.where(inside, a * a - b * b + x, a), jnp.where(inside, 2 * a * b + y, b), n + inside, i + 1
    return lax.while_loop(lambda s: s[3] < 50, body, (jnp.zeros_like(x), jnp.zeros_like(x), jnp.zeros(x.shape, s32), 0))[2]


case("model_mandelbrot_256x256_f32", mandelbrot_real, ((256, 256), f32), ((256, 256), f32))
case("model_jacobi_512x512_20_f32", lambda u: lax.fori_loop(0, 20, lambda i, u: u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])), u), ((512, 512), f32))


def conjugate_gradient(a, b):
    a = a + a.T + 10 * jnp.eye(a.shape[0], dtype=a.dtype)
    def body(i, s):
        x, r, p, rr = s
        q = a @ p
        k = rr / (p @ q)
        x, r = x + k * p, r - k * q
        new = r @ r
        return x, r, r + new / rr * p, new
    return lax.fori_loop(0, 20, body, (jnp.zeros_like(b), b, b, b @ b))[0]


case("model_conjugate_gradient_512_f32", conjugate_gradient, ((512, 512), f32), ((512,), f32))
case("model_conjugate_gradient_300_f64", conjugate_gradient, ((300, 300), f64), ((300,), f64))
case("model_kalman_12_f64", lambda f, p, h, r, x, z: lax.fori_loop(0, 100, lambda i, s: (lambda x, p: (lambda k: (x + k * (z - h @ x), p - jnp.outer(k, h @ p)))(p @ h / (h @ p @ h + r)))(f @ s[0], f @ s[1] @ f.T + jnp.eye(12)), (x, p)),
     ((12, 12), f64), ((12, 12), f64), ((12,), f64), ((), f64), ((12,), f64), ((), f64))
case("model_heat_3d_64_10_f32", lambda u: lax.fori_loop(0, 10, lambda i, u: u + 0.1 * sum(jnp.roll(u, s, a) - u for a in range(3) for s in (1, -1)), u), ((64, 64, 64), f32))
case("model_gru_decoder_softmax_32x64x1000_f32", lambda x, e, w: jax.nn.softmax(jnp.tanh(jnp.take(e, x, axis=0)) @ w), ((32,), s32), ((5000, 64), f32), ((64, 1000), f32))
case("model_swiglu_128x512x1408_bf16", lambda x, g, u, d: (jax.nn.silu(x @ g) * (x @ u)) @ d, ((128, 512), bf16), ((512, 1408), bf16), ((512, 1408), bf16), ((1408, 512), bf16))
case("model_mixture_of_experts_64x256x8_f32", lambda x, r, w: jnp.einsum("te,ted->td", jax.nn.softmax(x @ r), jnp.einsum("td,edf->tef", x, w)), ((64, 256), f32), ((256, 8), f32), ((8, 256, 256), f32))
case("model_diffusion_scan_ssm_256x128x16_f32", lambda x, a, b: lax.scan(lambda h, s: (h * a + s[:, None] * b, (h * b).sum(1)), jnp.zeros((128, 16), f32), x)[1], ((256, 128), f32), ((128, 16), f32), ((128, 16), f32))

# ---- program: what people export, as a whole; image: pixels of three channels ----


def blur(x):
    k = [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05]
    n, m, _ = x.shape
    x = sum(w * jnp.pad(x, ((3, 3), (0, 0), (0, 0)))[i:i + n] for i, w in enumerate(k))
    return sum(w * jnp.pad(x, ((0, 0), (3, 3), (0, 0)))[:, i:i + m] for i, w in enumerate(k))


case("image_blur_256x256x3_f32", blur, ((256, 256, 3), f32))
case("image_normalize_4x224x224x3_u8_f32", lambda x: (x.astype(f32) / 255 - jnp.array([.485, .456, .406], f32)) / jnp.array([.229, .224, .225], f32), ((4, 224, 224, 3), u8))
case("image_gray_480x640_u8", lambda x: ((x[..., 0].astype(u32) * 77 + x[..., 1].astype(u32) * 150 + x[..., 2].astype(u32) * 29) >> 8).astype(u8), ((480, 640, 3), u8))
case("image_gray_weights_480x640_u8", lambda x: jnp.clip(x.astype(f32) @ jnp.array([.299, .587, .114], f32) + 0.5, 0, 255).astype(u8), ((480, 640, 3), u8))
case("image_yuv_480x640_u8", lambda x: (lambda r, g, b: jnp.clip(jnp.stack([0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.169 * r - 0.331 * g + 0.5 * b, 128 + 0.5 * r - 0.419 * g - 0.081 * b], -1) + 0.5, 0, 255).astype(u8))
     (*(x[..., i].astype(f32) for i in range(3))), ((480, 640, 3), u8))
case("image_resize_bilinear_2x224x224x3_f32", lambda x: jax.image.resize(x, (2, 112, 112, 3), "bilinear"), ((2, 224, 224, 3), f32))
case("image_haar_512x512_f32", lambda x: [(p[:, ::2] + s * p[:, 1::2]) * 0.5 for p in (x[::2] + x[1::2], x[::2] - x[1::2]) for s in (1, -1)], ((512, 512), f32))
case("image_erode_5x5_512x512_u8", lambda x: lax.reduce_window(x, u8(255), lax.min, (5, 5), (1, 1), "SAME"), ((512, 512), u8))


def vit_block(x, g1, b1, wqkv, wo, g2, b2, w1, c1, w2, c2, heads=6):
    n, s, d = x.shape
    q, k, v = jnp.split((layer_norm(x, g1, b1) @ wqkv).reshape(n, s, 3 * heads, d // heads), 3, 2)
    x = x + attention(q, k, v).reshape(n, s, d) @ wo
    return x + jax.nn.gelu(layer_norm(x, g2, b2) @ w1 + c1) @ w2 + c2


for t, n in ((f32, "f32"), (bf16, "bf16")):
    case(f"program_vit_block_1x197x384_{n}", vit_block, ((1, 197, 384), t), ((384,), t), ((384,), t), ((384, 1152), t), ((384, 384), t), ((384,), t), ((384,), t),
         ((384, 1536), t), ((1536,), t), ((1536, 384), t), ((384,), t))


def grouped_attention(q, k, v, mask):
    n, s, h, d = q.shape
    q = q.reshape(n, s, k.shape[2], -1, d)
    a = jnp.einsum("bsgrd,btgd->bgrst", q, k, preferred_element_type=f32) * (d ** -0.5)
    p = jax.nn.softmax(jnp.where(mask, a, f32(-1e30))).astype(v.dtype)
    return jnp.einsum("bgrst,btgd->bsgrd", p, v).reshape(n, s, h * d)


def rms_norm(x, g):
    y = x.astype(f32)
    return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * g


def rope(x, position):
    d = x.shape[-1]
    f = position.astype(f32) * f32(10000) ** (-jnp.arange(0, d, 2, dtype=f32) / d)
    a, b = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate([a * jnp.cos(f) - b * jnp.sin(f), a * jnp.sin(f) + b * jnp.cos(f)], -1).astype(x.dtype)


def decode(x, position, keys, values, g1, wq, wk, wv, wo, g2, w1, w3, w2, d=64):
    n, at = x.shape[0], (s32(0), position, s32(0), s32(0))
    y = rms_norm(x, g1)
    q, k, v = ((y @ w).reshape(n, 1, -1, d) for w in (wq, wk, wv))
    keys = lax.dynamic_update_slice(keys, rope(k, position), at)
    values = lax.dynamic_update_slice(values, v, at)
    x = x + grouped_attention(rope(q, position), keys, values, jnp.arange(keys.shape[1]) <= position) @ wo
    y = rms_norm(x, g2)
    return x + (jax.nn.silu(y @ w1) * (y @ w3)) @ w2, keys, values


for n, t, m in ((1, bf16, "bf16"), (4, f32, "f32")):
    case(f"program_decode_{n}x512x512_{m}", decode, ((n, 1, 512), t), ((), s32), ((n, 512, 2, 64), t), ((n, 512, 2, 64), t), ((512,), t), ((512, 512), t),
         ((512, 128), t), ((512, 128), t), ((512, 512), t), ((512,), t), ((512, 1408), t), ((512, 1408), t), ((1408, 512), t))
    case(f"attention_grouped_causal_1x256x8x64_{m}", lambda q, k, v: grouped_attention(q, k, v, jnp.tril(jnp.ones((256, 256), pred))),
         ((1, 256, 8, 64), t), ((1, 256, 2, 64), t), ((1, 256, 2, 64), t))
case("attention_gradient_1x128x8x64_f32", lambda *a: jax.grad(lambda a: attention(*a, True).astype(f32).sum())(a), *[((1, 128, 8, 64), f32)] * 3)


def squeeze_block(x, w1, d, r1, r2, w2):
    y = jax.nn.silu(conv(x, w1))
    y = jax.nn.silu(conv(y, d, feature_group_count=y.shape[-1]))
    s = jax.nn.sigmoid(jax.nn.silu(y.mean((1, 2), keepdims=True) @ r1) @ r2)
    return conv(y * s, w2) + x


squeeze_arguments = [((2, 28, 28, 40), f32), ((1, 1, 40, 240), f32), ((5, 5, 1, 240), f32), ((240, 10), f32), ((10, 240), f32), ((1, 1, 240, 40), f32)]
case("program_squeeze_block_2x28x28x40_f32", squeeze_block, *squeeze_arguments)
case("program_squeeze_block_training_2x28x28x40_f32", lambda x, *w: jax.grad(lambda w: (squeeze_block(x, *w) ** 2).mean())(w), *squeeze_arguments)
case("program_convnext_1x28x28x96_f32", lambda x, d, g, b, w1, c1, w2, c2: x + jax.nn.gelu(layer_norm(conv(x, d, feature_group_count=96), g, b) @ w1 + c1) @ w2 + c2,
     ((1, 28, 28, 96), f32), ((7, 7, 1, 96), f32), ((96,), f32), ((96,), f32), ((96, 384), f32), ((384,), f32), ((384, 96), f32), ((96,), f32))
case("program_lstm_50x1x256_f32", lstm, ((50, 1, 256), f32), ((256, 1024), f32), ((256, 1024), f32), ((1024,), f32), ((1, 256), f32), ((1, 256), f32))
case("program_quaternion_rotate_20000_f32", lambda q, v: (lambda u, w: v + 2 * jnp.cross(u, jnp.cross(u, v) + w * v))(q[:, :3], q[:, 3:]), ((20000, 4), f32), ((20000, 3), f32))
case("program_normals_20000_f32", lambda a, b, c: (lambda n: n / jnp.linalg.norm(n, axis=-1, keepdims=True))(jnp.cross(b - a, c - a)), ((20000, 3), f32), ((20000, 3), f32), ((20000, 3), f32))
case("program_cross_gradient_20000_f32", lambda a, b: jax.grad(lambda u, w: (jnp.cross(u, w) ** 2).sum(), argnums=(0, 1))(a, b), ((20000, 3), f32), ((20000, 3), f32))
case("program_distances_500x600x3_f32", lambda a, b: jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)), ((500, 3), f32), ((600, 3), f32))
case("program_boxes_20000_bf16", lambda b: jnp.concatenate([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], -1), ((20000, 4), bf16))
case("program_complex_product_20000_f64", lambda a, b: jnp.stack([a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1], a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0]], -1), ((20000, 2), f64), ((20000, 2), f64))
case("program_monte_carlo_16x10000_f32", lambda k, s, v: jnp.maximum((s + 1) * jnp.exp(jnp.cumsum(v * jax.random.normal(jax.random.wrap_key_data(k), (16, 10000), f32), 0)).mean(0) - 1, 0).mean(),
     ((2,), u32), ((), f32), ((), f32))
case("program_lennard_jones_256_f32", lambda p: jax.grad(lambda p: (lambda d: jnp.where(jnp.eye(256, dtype=pred), 0, 1 / d ** 6 - 1 / d ** 3).sum())(((p[:, None] - p[None]) ** 2).sum(-1) + 1))(p), ((256, 3), f32))


def boltzmann(f):
    cx, cy = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
    w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    def step(i, f):
        f = jnp.stack([jnp.roll(f[k], (cx[k], cy[k]), (0, 1)) for k in range(9)])
        rho = f.sum(0)
        u, v = (sum(c[k] * f[k] for k in range(9)) / rho for c in (cx, cy))
        dot = [cx[k] * u + cy[k] * v for k in range(9)]
        return f + 0.6 * (jnp.stack([w[k] * rho * (1 + 3 * dot[k] + 4.5 * dot[k] ** 2 - 1.5 * (u * u + v * v)) for k in range(9)]) - f)
    return lax.fori_loop(0, 10, step, jnp.abs(f) + 0.1)


case("program_boltzmann_128x128_10_f32", boltzmann, ((9, 128, 128), f32))


def life(x):
    def step(i, x):
        n = sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
        return ((n == 3) | ((x == 1) & (n == 2))).astype(x.dtype)
    return lax.fori_loop(0, 20, step, x & 1)


case("program_life_256x256_20_u8", life, ((256, 256), u8))
case("program_nearest_1000x200x16_f32", lambda x, q: lax.top_k(2 * q @ x.T - (x * x).sum(1), 10), ((1000, 16), f32), ((200, 16), f32))
case("program_viterbi_200x32_f32", lambda e, t: lax.scan(lambda s, b: (b[s], s), 0, lax.scan(lambda c, x: (lambda s: (s.max(0) + x, s.argmax(0)))(c[:, None] + t), e[0], e)[1], reverse=True)[1],
     ((200, 32), f32), ((32, 32), f32))


def joint_lstm(xs, w, b, h, c):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (h, c), xs)


case("program_lstm_joint_40x4x300_f32", joint_lstm, ((40, 4, 300), f32), ((600, 1200), f32), ((1200,), f32), ((4, 300), f32), ((4, 300), f32))


def lorenz_steps(y):
    """Runge-Kutta steps of one point; vmap stacks the columns outermost and transposes them."""
    slope = lambda y: jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]).astype(y.dtype)

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + y.dtype.type(0.005) * k1)
        k3 = slope(y + y.dtype.type(0.005) * k2)
        k4 = slope(y + y.dtype.type(0.01) * k3)
        y = y + y.dtype.type(0.01 / 6) * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y
    return lax.scan(step, y, None, length=100)[1]


def ratings(i, j, s):
    """Two updates of one small array per iteration, which depend on the stores of the previous iteration."""
    def step(r, x):
        i, j, s = x
        expected = 1 / (1 + jnp.exp((r[j] - r[i]) / 170))
        return r.at[i].add(32 * (s - expected)).at[j].add(-32 * (s - expected)), expected
    return lax.scan(step, jnp.full(40, 1500, f32), (i % 40, j % 40, s))[0]


case("loop_updates_ratings_500_f32", ratings, ((500,), s32), ((500,), s32), ((500,), f32))
case("loop_update_perhaps_1000x2000_s32", lambda x, r: lax.fori_loop(0, 1000, lambda i, r: jnp.where(x[i] % 2 == 0, r.at[x[i]].set(i.astype(s32)), r), r), ((1000,), s32), ((2000,), s32))
case("program_lorenz_100x100_f32", jax.vmap(lorenz_steps), ((100, 3), f32))
case("program_lorenz_1000x100_f64", jax.vmap(lorenz_steps), ((1000, 3), f64))
case("program_advantages_256x64_f32", lambda r, v: lax.scan(lambda c, i: (lambda c: (c, c))(i[0] + 0.99 * i[1] + 0.94 * c), jnp.zeros(64, f32), (r, v), reverse=True)[1], *[((256, 64), f32)] * 2)
case("fft_convolution_16x2048_f32", lambda x, h: jnp.fft.irfft(jnp.fft.rfft(x, 4096) * jnp.fft.rfft(h, 4096), 4096)[:, :2048], *[((16, 2048), f32)] * 2)
case("dot_trace_64x40x40_f32", lambda x, y: jnp.einsum("bij,bji->b", x, y), *[((64, 40, 40), f32)] * 2)
case("dot_bilinear_64x32x32x16_f32", lambda x, w, y: jnp.einsum("bi,ijk,bj->bk", x, w, y), ((64, 32), f32), ((32, 32, 16), f32), ((64, 32), f32))
case("dot_trace_7x300x201_bf16", lambda x, y: jnp.einsum("bij,bji->b", x, y), ((7, 300, 201), bf16), ((7, 201, 300), bf16))
case("dot_pairs_200x512_f32", lambda x, y: jnp.einsum("ib,ib->b", x, y), *[((200, 512), f32)] * 2)
case("dot_crossed_pairs_300x700_f32", lambda x, y: jnp.einsum("bi,ib->b", x, y), ((300, 700), f32), ((700, 300), f32))
case("dot_vectors_batch_inside_33x47x100_f32", lambda x, y: jnp.einsum("ijb,bj->bi", x, y), ((33, 47, 100), f32), ((100, 47), f32))
case("dot_tn_16x48x768x2048_f32", lambda x, y: jnp.einsum("bkm,bkn->bmn", x, y), ((16, 2048, 48), f32), ((16, 2048, 768), f32))
case("dot_vectors_500x33x24_f32", lambda x, y: jnp.einsum("bij,bj->bi", x, y), ((500, 33, 24), f32), ((500, 24), f32))
case("dot_s8_requantized_64x512x512_s8", lambda x, w, m: jnp.clip(jnp.round(product(x, w, s32).astype(f32) * m), -128, 127).astype(s8), ((64, 512), s8), ((512, 512), s8), ((512,), f32))


def quantized(x, scale=20.0):
    return jnp.clip(jnp.round(x * scale), -128, 127).astype(s8)


for size, channels, stride in ((112, 32, 1), (56, 144, 1), (112, 96, 2), (7, 960, 1)):
    case(f"conv_depthwise_3x3_{size}x{size}x{channels}{'_s2' * (stride > 1)}_s8_requant",
         lambda x, w, m, b, stride=stride, channels=channels: quantized(jnp.clip(conv(x, w, stride, feature_group_count=channels, preferred_element_type=s32).astype(f32) * m + b, 0, 6)),
         ((1, size, size, channels), s8), ((3, 3, 1, channels), s8), ((channels,), f32), ((channels,), f32))
case("conv_1x1_56x56x64x256_residual_s8_requant", lambda x, w, m, b, r: quantized(jax.nn.relu(conv(x, w, preferred_element_type=s32).astype(f32) * m + b + r.astype(f32) * 0.04)),
     ((1, 56, 56, 64), s8), ((1, 1, 64, 256), s8), ((256,), f32), ((256,), f32), ((1, 56, 56, 256), s8))
case("elementwise_residual_400000_s8", lambda x, y: quantized(x.astype(f32) * 0.03 + y.astype(f32) * 0.04), *[((400000,), s8)] * 2)
case("elementwise_quantize_zero_point_400000_f32_u8", lambda x: jnp.clip(jnp.round(x * 20) + 3, 0, 255).astype(u8), ((400000,), f32))
case("scatter_segment_max_20000x8_f32", lambda x, i: jax.ops.segment_max(x, i, 1000), ((20000, 8), f32), ((20000,), s32))
case("scatter_set_100000_f32", lambda t, i, u: t.at[i].set(u), ((10000,), f32), ((100000,), s32), ((100000,), f32))
case("scatter_pairs_100000_f32", lambda t, i, j, u: t.at[i % 300, j % 200].add(u), ((300, 200), f32), ((100000,), s32), ((100000,), s32), ((100000,), f32))
case("scatter_segment_sum_sorted_50000x4_f32", lambda x: jax.ops.segment_sum(x, jnp.arange(50000, dtype=s32) // 50, 1000, indices_are_sorted=True), ((50000, 4), f32))
case("scatter_lookups_gradient_8192x2_8000_f32", lambda t, i, w: jax.grad(lambda t: sum(jnp.sum((t[(i * k) % 8192] * w) ** 2) for k in (1, 3, 5, 7, 11, 13, 17, 19)))(t),
     ((8192, 2), f32), ((1000,), s32), ((1000, 1), f32))
case("scatter_messages_20000x64_f32", lambda x, i, j: jnp.zeros((1000, 64), f32).at[j].add(x[i]), ((1000, 64), f32), ((20000,), s32), ((20000,), s32))

if not chosen.pattern:
    for stale in set(os.listdir(FOLDER)) - {n + ".hlo" for n in names}:
        os.remove(os.path.join(FOLDER, stale))
print(f"{len(names)} modules")
