"""The sides of PyTorch: operations called one by one with packed weights (oneDNN), and compiled by Inductor."""
import math

import numpy as np
import torch
import torch.nn.functional as F

import ops

torch.set_num_threads(1)
torch.set_grad_enabled(False)
CHANNELS_LAST = torch.channels_last


class TorchOps(ops.Ops):
    """Plain PyTorch. In the first call it makes its inputs, which later calls get as `arguments`."""

    def __init__(self, program):
        super().__init__(program)
        self.type = torch.bfloat16 if self.kind == "bf16" else torch.float32
        self.inputs, self.arguments, self.taken = [], None, 0

    def begin(self, arguments=None):
        super().begin()
        self.arguments, self.taken = arguments, 0

    def take(self, make):
        if self.first:
            self.inputs.append(make())
            return self.inputs[-1]
        self.taken += 1
        return self.arguments[self.taken - 1]

    def tensor(self, array, kind=None):
        t = torch.from_numpy(np.ascontiguousarray(array))
        return t.to(kind or (self.type if t.dtype == torch.float32 else t.dtype))

    def shape(self, x):
        return tuple(x.shape)

    def channels(self, x):
        return x.shape[1]

    def image_input(self, array, dtype=None):
        return self.take(lambda: self.tensor(array).to(memory_format=CHANNELS_LAST if self.layout == "NHWC" else torch.contiguous_format))

    def input(self, array, dtype=None):
        return self.take(lambda: self.tensor(array))

    def integers(self, array):
        return self.take(lambda: self.tensor(array))

    state = input

    def weight(self, array):
        return self.keep(lambda: self.tensor(array))

    # ---- products ----

    def matmul(self, a, b, transpose_b=False):
        return a @ (b.mT if transpose_b else b)

    def linear(self, x, w, b, n, act, bias):
        w, b = self.keep(lambda: (self.tensor(w.T), self.tensor(b) if bias else None))
        return self.activate(F.linear(x, w, b), act)

    def integer_matmul(self, a, w, n):
        return torch._int_mm(a, self.keep(lambda: self.tensor(w)))

    def linear_s8(self, x, w, scale, n):
        w, scale = self.keep(lambda: (self.tensor(w.T), self.tensor(scale)))
        return torch._weight_int8pack_mm(x.reshape(-1, x.shape[-1]), w, scale).reshape(*x.shape[:-1], n)

    def linear_s4(self, x, w, scale, group, n):
        def pack():
            packed = torch._convert_weight_to_int4pack_for_cpu(torch.from_numpy(np.ascontiguousarray(w.T.astype(np.int32) + 8)), 1)
            scale_and_zero = self.tensor(np.stack([scale, np.zeros_like(scale)], -1))
            return packed, scale_and_zero
        packed, scales = self.keep(pack)
        return torch._weight_int4pack_mm_for_cpu(x.reshape(-1, x.shape[-1]), packed, group, scales).reshape(*x.shape[:-1], n)

    # ---- convolutions ----

    def kernel(self, array):
        return self.tensor(array).to(memory_format=CHANNELS_LAST)

    def form(self, window):
        return dict(stride=window.stride, padding=window.pad, dilation=window.dilation, groups=window.groups)

    def convolve(self, x, w, out, window):
        return F.conv2d(x, self.keep(lambda: self.kernel(w)), None, **self.form(window))

    def convolve_bias(self, x, w, b, out, window):
        w, b = self.keep(lambda: (self.kernel(w), self.tensor(b)))
        return F.conv2d(x, w, b, **self.form(window))

    def convolve_norm(self, x, w, norm, out, window, act, residual):
        def make():
            folded, bias = ops.fold(w, norm)
            return self.kernel(folded), self.tensor(bias)
        w, b = self.keep(make)
        y = F.conv2d(x, w, b, **self.form(window))
        return self.activate(y if residual is None else y + residual, act)

    def transposed(self, x, w, out, stride, pad, more):
        return F.conv_transpose2d(x, self.keep(lambda: self.kernel(w)), None, stride, pad, more)

    def gradient(self, g, x, w, window, mask):
        return torch.ops.aten.convolution_backward(g, x, w, None, (window.stride,) * 2, (window.pad,) * 2, (window.dilation,) * 2, False, (0, 0), window.groups, mask)

    def input_gradient(self, g, w, shape, window):
        x = torch.empty(shape, dtype=self.type, memory_format=CHANNELS_LAST)
        return self.gradient(g, x, self.keep(lambda: self.kernel(w)), window, [True, False, False])[0]

    def kernel_gradient(self, g, x, shape, window):
        w = torch.empty(shape, dtype=self.type, memory_format=CHANNELS_LAST)
        return self.gradient(g, x, w, window, [False, True, False])[1]

    def max_pool(self, x):
        return F.max_pool2d(x, 3, 2, 1)

    def global_mean(self, x):
        return x.mean((2, 3))

    def tokens(self, x):
        return x.flatten(2).transpose(1, 2)

    # ---- rows and elements ----

    def activate(self, x, act):
        functions = {None: lambda v: v, "relu": F.relu, "relu6": F.relu6, "silu": F.silu, "tanh": torch.tanh,
                     "gelu": F.gelu, "gelu_tanh": lambda v: F.gelu(v, approximate="tanh")}
        return functions[act](x)

    def add(self, a, b):
        return a + b

    def multiply(self, a, b):
        return a * b

    def layer_norm(self, x, gamma, beta):
        gamma, beta = self.keep(lambda: (self.tensor(gamma), self.tensor(beta)))
        return F.layer_norm(x, (x.shape[-1],), gamma, beta, ops.LN_EPSILON)

    def rms_norm(self, x, gamma):
        return F.rms_norm(x, (x.shape[-1],), self.keep(lambda: self.tensor(gamma)), ops.RMS_EPSILON)

    def softmax(self, x):
        return F.softmax(x, -1)

    def reshape(self, x, *shape):
        return x.reshape(shape)

    def transpose(self, x, *order):
        return x.permute(order)

    def concat(self, parts, axis):
        return torch.cat(parts, axis)

    def slice(self, x, axis, begin, end):
        return x.narrow(axis, begin, end - begin)

    def lookup(self, table, rows):
        return F.embedding(rows, self.keep(lambda: self.tensor(table)))

    def attention(self, q, k, v, causal=False):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    def attention_cached(self, q, keys, values, position):
        """The position is known here, which only helps."""
        filled = self.keep(lambda: int(position)) + 1
        return F.scaled_dot_product_attention(q, keys[:, :, :filled], values[:, :, :filled], enable_gqa=q.shape[1] != keys.shape[1])

    def update_cache(self, cache, new, position):
        return cache.index_copy_(2, position.reshape(1).long(), new)

    def rotate(self, x, cosine, sine):
        half = x.shape[-1] // 2
        return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


# What oneDNN calls the functions behind a product: name, scalars, algorithm.
POST = {None: ("none", [], ""), "relu": ("relu", [], ""), "relu6": ("hardtanh", [0.0, 6.0], ""), "silu": ("swish", [], ""),
        "tanh": ("tanh", [], ""), "gelu": ("gelu", [], "none"), "gelu_tanh": ("gelu", [], "tanh")}


class PackedOps(TorchOps):
    """Weights in the order that oneDNN asks for, with bias, activation and residual in its kernels."""

    def linear(self, x, w, b, n, act, bias):
        def pack():
            rows = math.prod(x.shape[:-1])
            return torch.ops.mkldnn._reorder_linear_weight(self.tensor(w.T), rows), self.tensor(b) if bias else None
        w, b = self.keep(pack)
        return torch.ops.mkldnn._linear_pointwise(x, w, b, *POST[act])

    def image_input(self, array, dtype=None):
        """Quantized images as u8 with zero point 128, the only form that its convolutions take."""
        if dtype == np.int8 and array is not None:
            array = (array.astype(np.int16) + 128).astype(np.uint8)
        return super().image_input(array, dtype)

    def pack_kernel(self, w, window, shape):
        return torch.ops.mkldnn._reorder_convolution_weight(self.tensor(w), [window.pad] * 2, [window.stride] * 2,
                                                            [window.dilation] * 2, window.groups, list(shape))

    def call(self, x, w, b, window, act, residual=None):
        form = [window.pad] * 2, [window.stride] * 2, [window.dilation] * 2, window.groups
        name, scalars, algorithm = POST[act]
        if residual is None:
            return torch.ops.mkldnn._convolution_pointwise(x, w, b, *form, name, scalars, algorithm)
        return torch.ops.mkldnn._convolution_pointwise.binary(x, residual, w, b, *form, "add", 1.0, None if act is None else name, scalars, algorithm)

    def convolve(self, x, w, out, window):
        return self.call(x, self.keep(lambda: self.pack_kernel(w, window, x.shape)), None, window, None)

    def convolve_bias(self, x, w, b, out, window):
        w, b = self.keep(lambda: (self.pack_kernel(w, window, x.shape), self.tensor(b)))
        return self.call(x, w, b, window, None)

    def convolve_norm(self, x, w, norm, out, window, act, residual):
        def pack():
            folded, bias = ops.fold(w, norm)
            return self.pack_kernel(folded, window, x.shape), self.tensor(bias)
        w, b = self.keep(pack)
        return self.call(x, w, b, window, act, residual)

    def integer_matmul(self, a, w, n):
        def pack():
            packed = torch.ops.onednn.qlinear_prepack(self.tensor(w.T), list(a.shape))
            return packed, torch.ones(n), torch.zeros(n, dtype=torch.int32)
        packed, scale, zero = self.keep(pack)
        return torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, packed, scale, zero, None, 1.0, 0, torch.float32, "none", [], "")

    def convolve_s8(self, x, w, out, window):
        form = [window.stride] * 2, [window.pad] * 2, [window.dilation] * 2, window.groups
        def pack():
            packed = torch.ops.onednn.qconv_prepack(self.tensor(w), torch.ones(out), 1.0, 128, *form, list(x.shape))
            return packed, torch.ones(out), torch.zeros(out, dtype=torch.int32)
        packed, scale, zero = self.keep(pack)
        return torch.ops.onednn.qconv2d_pointwise(x, 1.0, 128, packed, scale, zero, None, *form, 1.0, 0, torch.float32, "none", [], "")


def prepare_eager(program):
    side = PackedOps(program)
    side.begin()
    program.build(side)
    arguments = side.inputs

    def once():
        side.begin(arguments)
        return program.build(side)
    return once


def prepare_inductor(program):
    """Traces the plain program, makes its weights parameters, which freezing then takes for constants, and compiles that."""
    import torch._inductor.config as config
    from torch.fx.experimental.proxy_tensor import make_fx
    config.freezing = True
    torch._dynamo.reset()
    side = TorchOps(program)
    side.begin()
    program.build(side)

    def call(*arguments):
        side.begin(arguments)
        return program.build(side)
    traced = make_fx(call)(*side.inputs)
    for node in traced.graph.nodes:
        if node.op == "get_attr":
            value = getattr(traced, node.target)
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                delattr(traced, node.target)
                traced.register_parameter(node.target, torch.nn.Parameter(value, requires_grad=False))
    compiled = torch.compile(traced.eval())
    return lambda: compiled(*side.inputs)


def arrays(result):
    """Results as arrays of f32, images as [n, c, h, w]."""
    return [r.to(torch.float32).numpy() for r in (result if isinstance(result, (tuple, list)) else [result])]
