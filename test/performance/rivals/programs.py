#!/usr/bin/env python3
"""The programs that are measured, and the script that writes our side of them.

  programs.py [--list] [--folder FOLDER] [REGEX]

Writes NAME.hlo, NAME.npz (inputs) and NAME.weights (the parameters that are weights, as hlo-run's --immutable-params
takes them) of every program whose name matches. Needs the PyPI packages jax and ml_dtypes. The same each time.
"""
import argparse
import os
import re
from dataclasses import dataclass
from typing import Callable

import numpy as np

import networks
from ops import Window


@dataclass
class Program:
    """group: the table's section. tolerance: the largest distance of results from a rival's, relative to their norm."""
    name: str
    group: str
    build: Callable
    kind: str = "f32"
    layout: str = "NHWC"
    batch: int = 1
    tolerance: float = 1e-4
    moved: int | None = None  # the bytes that must be read and written, if not all of the parameters and results
    flags: tuple[str, ...] = ()  # of our prepared side


ALL = {}
TOLERANCE = {"f32": 1e-4, "bf16": 2e-2}


def add(group, name, build, kind="f32", **more):
    assert name not in ALL, name
    ALL[name] = Program(name, group, build, kind, **{"tolerance": TOLERANCE[kind], **more})


def gemm(m, k, n):
    return lambda ops: ops.dense(ops.floats(m, k), n, bias=False)


def square(n):
    return n, n, n


def label(m, k, n):
    return str(m) if m == k == n else f"{m}x{k}x{n}"


# ---- products with a weight ----

for shape in (square(512), square(1024), square(2048), (1000, 777, 640), (97, 101, 103), (2048, 64, 2048), (128, 4096, 128),
              (128, 768, 3072), (256, 1024, 1024), (384, 1024, 4096), (197, 768, 768), (64, 512, 512), (3136, 64, 256)):
    add("f32 GEMM", f"gemm_{label(*shape)}_f32", gemm(*shape))
for shape in (square(512), square(1024), square(2048), (128, 768, 3072)):
    add("bf16 GEMM", f"gemm_{label(*shape)}_bf16", gemm(*shape), "bf16")


def gemm_s8(m, k, n):
    def build(ops):
        a = ops.input(ops.draw_integers((m, k), -127, 128, np.int8), np.int8)
        return ops.integer_matmul(a, ops.draw_integers((k, n), -127, 128, np.int8), n)
    return build


for n in (512, 1024, 2048):
    add("s8 GEMM", f"gemm_{n}_s8", gemm_s8(n, n, n), tolerance=1e-6)

# ---- one row times weights ----

QUANTIZED = ("--quantize-activations",)  # as OpenVINO and ggml quantize theirs beside weights of few bits
for kind in ("f32", "bf16"):
    add("GEMV", f"gemv_2048x5632_{kind}", gemm(1, 2048, 5632), kind)
add("GEMV", "gemv_2048x5632_bf16_s8_weights", lambda ops: networks.linear_s8(ops, ops.floats(1, 2048), 5632), "bf16", flags=QUANTIZED)
for group in (32, 64, 128):
    add("GEMV", f"gemv_2048x5632_bf16_s4_weights_g{group}", lambda ops, group=group: networks.linear_s4(ops, ops.floats(1, 2048), 5632, group), "bf16", tolerance=5e-2, flags=QUANTIZED)

# ---- convolutions ----


def conv(shape, out, size, stride=1, **more):
    return lambda ops: ops.conv(ops.image(*shape), out, size, stride, **more)


# name: (channels, height, width), channels out, window, stride
CONVOLUTIONS = {
    "3x3_56x56x64": ((64, 56, 56), 64, 3), "3x3_28x28x128": ((128, 28, 28), 128, 3), "3x3_14x14x256": ((256, 14, 14), 256, 3),
    "3x3_7x7x512": ((512, 7, 7), 512, 3), "3x3_s2_56x56x128": ((128, 56, 56), 128, 3, 2), "1x1_56x56x64x256": ((64, 56, 56), 256, 1),
    "1x1_56x56x256x64": ((256, 56, 56), 64, 1), "1x1_14x14x1024x256": ((1024, 14, 14), 256, 1), "1x1_7x7x512x2048": ((512, 7, 7), 2048, 1),
    "1x1_s2_56x56x256x512": ((256, 56, 56), 512, 1, 2), "7x7_s2_224x224x3x64": ((3, 224, 224), 64, 7, 2),
    "16x16_s16_224x224x3x768": ((3, 224, 224), 768, 16, 16),
}
for kind in ("f32", "bf16"):
    group = kind + " convolution"
    for name, form in CONVOLUTIONS.items():
        add(group, f"conv_{name}_{kind}", conv(*form, **({"pad": 0} if form[2] == 16 else {})), kind)
    for name in ("3x3_56x56x64", "3x3_14x14x256"):
        add(group, f"conv_{name}_batch8_{kind}", conv(*CONVOLUTIONS[name]), kind, batch=8)

for name, c, hw, size, stride in (("3x3", 32, 112, 3, 1), ("3x3_s2", 96, 112, 3, 2), ("3x3", 144, 56, 3, 1), ("3x3_s2", 144, 56, 3, 2),
                                  ("3x3", 192, 28, 3, 1), ("3x3_s2", 192, 28, 3, 2), ("3x3", 384, 14, 3, 1), ("3x3", 576, 14, 3, 1),
                                  ("3x3_s2", 576, 14, 3, 2), ("3x3", 960, 7, 3, 1), ("5x5", 120, 28, 5, 1), ("7x7", 96, 56, 7, 1)):
    add("f32 depthwise", f"depthwise_{name}_{hw}x{hw}x{c}_f32", conv((c, hw, hw), c, size, stride, groups=c))


def conv_s8(shape, out, size, stride=1):
    def build(ops):
        image = ops.draw_integers((ops.batch, *shape), -127, 128, np.int8)
        w = ops.draw_integers((out, shape[0], size, size), -127, 128, np.int8)
        return ops.convolve_s8(ops.image_input(image, np.int8), w, out, Window(size, stride, None, 1, 1))
    return build


for name in ("3x3_56x56x64", "3x3_14x14x256", "1x1_56x56x64x256"):
    add("s8 convolution", f"conv_{name}_s8", conv_s8(*CONVOLUTIONS[name]), tolerance=1e-6)

# ---- networks ----

for kind in ("f32", "bf16"):
    group, loose = kind + " networks", {"f32": 1e-3, "bf16": 8e-2}[kind]
    for layout in ("NHWC", "NCHW"):
        add(group, f"resnet50_{layout.lower()}_{kind}", networks.resnet50, kind, layout=layout, tolerance=loose)
        add(group, f"mobilenet_v2_{layout.lower()}_{kind}", networks.mobilenet_v2, kind, layout=layout, tolerance=loose)
    add(group, f"bert_base_128_{kind}", networks.bert_base, kind, tolerance=loose)
    add(group, f"vit_b16_{kind}", networks.vit_b16, kind, tolerance=loose)
add("bf16 networks", "resnet50_nhwc_batch8_bf16", networks.resnet50, "bf16", batch=8, tolerance=8e-2)
for layout in ("NHWC", "NCHW"):
    add("s8 networks", f"resnet50_{layout.lower()}_s8", networks.resnet50_s8, layout=layout, tolerance=2e-1)
    add("s8 networks", f"mobilenet_v2_{layout.lower()}_s8", networks.mobilenet_v2_s8, layout=layout, tolerance=2e-1)
for name, linear in (("bf16", networks.plain_linear), ("s8_weights", networks.linear_s8), ("s4_weights", networks.linear_s4)):
    add("Llama layer", f"llama_decode_{name}", networks.llama_decode(linear), "bf16", tolerance=5e-2, flags=QUANTIZED if name != "bf16" else ())
add("Llama layer", "llama_prefill_128_bf16", networks.llama_prefill, "bf16", tolerance=5e-2)
add("Llama layer", "llama_prefill_128_f32", networks.llama_prefill, "f32")

# ---- rows of our own ----


def attention(b, h, g, t, d, causal):
    return lambda ops: ops.attention(ops.floats(b, h, t, d), ops.floats(b, g, t, d), ops.floats(b, g, t, d), causal)


for kind in ("f32", "bf16"):
    for b, h, g, t, d, causal in ((1, 12, 12, 128, 64, False), (1, 12, 12, 512, 64, False), (1, 12, 12, 512, 64, True),
                                  (1, 32, 4, 1024, 64, True), (1, 8, 8, 2048, 128, True), (1, 12, 12, 197, 64, False)):
        form = f"{h}h" + (f"{g}kv" if g != h else "") + f"_{t}x{d}" + ("_causal" if causal else "")
        add("attention", f"attention_{form}_{kind}", attention(b, h, g, t, d, causal), kind)


def decode_attention(h, g, t, d):
    def build(ops):
        q, keys, values = ops.floats(1, h, 1, d), ops.floats(1, g, t, d), ops.floats(1, g, t, d)
        return ops.attention_cached(q, keys, values, ops.integers(np.array(t - 1, np.int32) if ops.first else None))
    return build


for kind in ("f32", "bf16"):
    add("attention", f"attention_decode_32h4kv_4096x64_{kind}", decode_attention(32, 4, 4096, 64), kind)
    add("attention", f"attention_decode_32h32kv_2048x128_{kind}", decode_attention(32, 32, 2048, 128), kind)

for kind in ("f32", "bf16"):
    add("rows", f"softmax_1024x1000_{kind}", lambda ops: ops.softmax(ops.floats(1024, 1000)), kind)
    add("rows", f"layer_norm_512x768_{kind}", lambda ops: ops.norm(ops.floats(512, 768)), kind)
    add("rows", f"rms_norm_512x2048_{kind}", lambda ops: ops.rms(ops.floats(512, 2048)), kind)
    add("rows", f"gelu_512x3072_{kind}", lambda ops: ops.activate(ops.floats(512, 3072), "gelu"), kind)
    add("rows", f"embedding_30522x768_512_{kind}",
        lambda ops: ops.lookup(ops.draw((30522, 768)), ops.integers(ops.draw_integers((512,), 0, 30522, np.int32))), kind,
        moved=512 * 768 * 2 * {"f32": 4, "bf16": 2}[kind])


def batched(b, m, k, n, nt=False):
    return lambda ops: ops.matmul(ops.floats(b, m, k), ops.floats(b, n, k) if nt else ops.floats(b, k, n), nt)


def mlp(ops):
    return ops.dense(ops.dense(ops.floats(128, 768), 3072, act="gelu"), 768)


for kind in ("f32", "bf16"):
    group = kind + " products of other forms"
    add(group, f"batched_12x512x64x512_nt_{kind}", batched(12, 512, 64, 512, True), kind)
    add(group, f"batched_12x512x512x64_{kind}", batched(12, 512, 512, 64), kind)
    add(group, f"batched_64x32x32x32_{kind}", batched(64, 32, 32, 32), kind)
    add(group, f"skinny_4x2048x5632_{kind}", gemm(4, 2048, 5632), kind)
    add(group, f"skinny_16x1024x4096_{kind}", gemm(16, 1024, 4096), kind)
    add(group, f"mlp_128x768x3072_gelu_{kind}", mlp, kind)


def transposed(shape, out, size, stride, pad, more):
    def build(ops):
        x = ops.image(*shape)
        return ops.transposed(x, ops.draw((shape[0], out, size, size), (shape[0] * size) ** -0.5), out, stride, pad, more)
    return build


def input_gradient(shape, out, size, stride=1):
    """shape: of the input, whose gradient is the result."""
    def build(ops):
        window, (c, h, w) = Window(size, stride, None, 1, 1), shape
        g = ops.image(out, window.extent(h), window.extent(w))
        return ops.input_gradient(g, ops.draw((out, c, size, size), (c * size * size) ** -0.5), (ops.batch, c, h, w), window)
    return build


def kernel_gradient(shape, out, size, stride=1):
    def build(ops):
        window, (c, h, w) = Window(size, stride, None, 1, 1), shape
        g = ops.image(out, window.extent(h), window.extent(w))
        return ops.kernel_gradient(g, ops.image(c, h, w), (out, c, size, size), window)
    return build


for kind in ("f32", "bf16"):
    group = kind + " convolutions of other forms"
    add(group, f"conv_3x3_groups8_28x28x256_{kind}", conv((256, 28, 28), 256, 3, groups=8), kind)
    add(group, f"conv_3x3_groups32_56x56x128_{kind}", conv((128, 56, 56), 128, 3, groups=32), kind)
    add(group, f"conv_3x3_dilated2_28x28x128_{kind}", conv((128, 28, 28), 128, 3, dilation=2), kind)
    add(group, f"conv_transposed_3x3_s2_28x28x64_{kind}", transposed((64, 28, 28), 64, 3, 2, 1, 1), kind)
    add(group, f"conv_transposed_2x2_s2_28x28x256x128_{kind}", transposed((256, 28, 28), 128, 2, 2, 0, 0), kind)
    add(group, f"conv_input_gradient_3x3_28x28x128_{kind}", input_gradient((128, 28, 28), 128, 3), kind)
    add(group, f"conv_input_gradient_3x3_s2_56x56x64x128_{kind}", input_gradient((64, 56, 56), 128, 3, 2), kind)
    add(group, f"conv_kernel_gradient_3x3_28x28x128_batch4_{kind}", kernel_gradient((128, 28, 28), 128, 3), kind, batch=4)
for kind in ("bf16",):
    add(kind + " convolutions of other forms", "depthwise_3x3_56x56x144_bf16", conv((144, 56, 56), 144, 3, groups=144), kind)


def chosen(pattern):
    return [p for p in ALL.values() if re.search(pattern, p.name) or re.search(pattern, p.group)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--folder", default="/tmp/rivals")
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    if options.list:
        for p in chosen(options.filter):
            print(f"{p.group:34s} {p.name}")
        return
    import jax_ops
    os.makedirs(options.folder, exist_ok=True)
    for p in chosen(options.filter):
        jax_ops.export(p, options.folder)
        print(p.name, flush=True)


if __name__ == "__main__":
    main()
