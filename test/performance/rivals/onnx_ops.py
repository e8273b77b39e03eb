"""The sides of ONNX Runtime and OpenVINO: one ONNX graph for both, with weights as constants."""
import os
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import ops

FLOAT = TensorProto.FLOAT


class Value:
    """A result in the graph, or an input or a constant of it."""

    def __init__(self, name, shape, kind=FLOAT):
        self.name, self.shape, self.kind = name, tuple(shape), kind


class OnnxOps(ops.Ops):
    """Floats are f32, of values rounded to bf16 if the program is of bf16: which type computes is the engine's option."""

    def __init__(self, program):
        super().__init__(program)
        self.nodes, self.inputs, self.constants, self.values = [], [], [], []

    def node(self, kind, operands, shape, type=FLOAT, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [o if isinstance(o, str) else o.name for o in operands], [name], **attributes))
        return Value(name, shape, type)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return Value(name, array.shape)

    def shape(self, x):
        return x.shape

    def channels(self, x):
        return x.shape[1]

    def input(self, array, dtype=None):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(Value(f"in{len(self.inputs)}", array.shape, kind))
        self.values.append(array)
        return self.inputs[-1]

    image_input = integers = input
    weight = constant

    # ---- products ----

    def matmul(self, a, b, transpose_b=False):
        if transpose_b:
            b = self.transpose(b, *range(len(b.shape) - 2), len(b.shape) - 1, len(b.shape) - 2)
        return self.node("MatMul", [a, b], (*a.shape[:-1], b.shape[-1]))

    def linear(self, x, w, b, n, act, bias):
        y = self.node("MatMul", [x, self.constant(w)], (*x.shape[:-1], n))
        return self.activate(self.add(y, self.constant(b)) if bias else y, act)

    def integer_matmul(self, a, w, n):
        return self.node("MatMulInteger", [a, self.constant(w)], (a.shape[0], n), TensorProto.INT32)

    def linear_s8(self, x, w, scale, n):
        wide = self.node("DequantizeLinear", [self.constant(w), self.constant(scale)], w.shape, axis=1)
        return self.node("MatMul", [x, wide], (*x.shape[:-1], n))

    def linear_s4(self, x, w, scale, group, n):
        wide = self.node("DequantizeLinear", [self.constant(w.astype(ml_dtypes.int4)), self.constant(scale)], w.shape, axis=0, block_size=group)
        return self.node("MatMul", [x, wide], (*x.shape[:-1], n))

    # ---- convolutions ----

    def form(self, window):
        return dict(kernel_shape=[window.size] * 2, strides=[window.stride] * 2, pads=[window.pad] * 4, dilations=[window.dilation] * 2, group=window.groups)

    def apply(self, x, out, window, *weights):
        n, _, h, w = x.shape
        return self.node("Conv", [x, *weights], (n, out, window.extent(h), window.extent(w)), **self.form(window))

    def convolve(self, x, w, out, window):
        return self.apply(x, out, window, self.constant(w))

    def convolve_bias(self, x, w, b, out, window):
        return self.apply(x, out, window, self.constant(w), self.constant(b))

    def convolve_norm(self, x, w, norm, out, window, act, residual):
        folded, bias = ops.fold(w, norm)
        y = self.apply(x, out, window, self.constant(folded), self.constant(bias))
        return self.activate(y if residual is None else self.add(y, residual), act)

    def transposed(self, x, w, out, stride, pad, more):
        n, _, h, wide = x.shape
        extent = lambda v: (v - 1) * stride - 2 * pad + w.shape[2] + more
        return self.node("ConvTranspose", [x, self.constant(w)], (n, out, extent(h), extent(wide)), strides=[stride] * 2, pads=[pad] * 4, output_padding=[more] * 2)

    def max_pool(self, x):
        n, c, h, w = x.shape
        return self.node("MaxPool", [x], (n, c, (h + 1) // 2, (w + 1) // 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    def global_mean(self, x):
        return self.reshape(self.node("GlobalAveragePool", [x], (*x.shape[:2], 1, 1)), *x.shape[:2])

    def tokens(self, x):
        n, c, h, w = x.shape
        return self.transpose(self.reshape(x, n, c, h * w), 0, 2, 1)

    # ---- quantized: a value of s8 is a DequantizeLinear of a QuantizeLinear ----

    def quantize(self, x, scale):
        form = [self.constant(np.float32(scale)), self.constant(np.int8(0))]
        q = self.node("QuantizeLinear", [x, *form], x.shape, TensorProto.INT8)
        return self.node("DequantizeLinear", [q, *form], x.shape)

    def dequantize(self, x, scale):
        return x

    def dequantized_weight(self, w, scale, axis):
        return self.node("DequantizeLinear", [self.constant(w), self.constant(scale), self.constant(np.zeros(scale.shape, np.int8))], w.shape, axis=axis)

    def convolve_quantized(self, x, x_scale, w, w_scale, bias, out, window, y_scale, act, residual, residual_scale):
        scale = w_scale * np.float32(x_scale)
        bias = self.node("DequantizeLinear", [self.constant(np.round(bias / scale).astype(np.int32)), self.constant(scale), self.constant(np.zeros(out, np.int32))], (out,), axis=0)
        y = self.apply(x, out, window, self.dequantized_weight(w, w_scale, 0), bias)
        return self.quantize(self.activate(y if residual is None else self.add(y, residual), act), y_scale)

    def linear_quantized(self, x, x_scale, w, w_scale, bias, n):
        y = self.node("MatMul", [x, self.dequantized_weight(w, w_scale, 1)], (*x.shape[:-1], n))
        return self.add(y, self.constant(bias))

    # ---- rows and elements ----

    def activate(self, x, act):
        if act == "relu6":
            return self.node("Clip", [x, self.constant(np.float32(0)), self.constant(np.float32(6))], x.shape)
        if act == "silu":
            return self.multiply(x, self.node("Sigmoid", [x], x.shape))
        if act in ("gelu", "gelu_tanh"):
            return self.node("Gelu", [x], x.shape, approximate="none" if act == "gelu" else "tanh")
        return self.node({"relu": "Relu", "tanh": "Tanh"}[act], [x], x.shape) if act else x

    def add(self, a, b):
        return self.node("Add", [a, b], np.broadcast_shapes(a.shape, b.shape))

    def multiply(self, a, b):
        return self.node("Mul", [a, b], np.broadcast_shapes(a.shape, b.shape))

    def layer_norm(self, x, gamma, beta):
        return self.node("LayerNormalization", [x, self.constant(gamma), self.constant(beta)], x.shape, axis=-1, epsilon=ops.LN_EPSILON)

    def rms_norm(self, x, gamma):
        square = self.node("ReduceMean", [self.multiply(x, x), self.constant(np.array([-1]))], (*x.shape[:-1], 1), keepdims=1)
        root = self.node("Sqrt", [self.add(square, self.constant(np.float32(ops.RMS_EPSILON)))], square.shape)
        return self.multiply(self.node("Div", [x, root], x.shape), self.constant(gamma))

    def softmax(self, x):
        return self.node("Softmax", [x], x.shape, axis=-1)

    def reshape(self, x, *shape):
        return self.node("Reshape", [x, self.constant(np.array(shape))], shape)

    def transpose(self, x, *order):
        return self.node("Transpose", [x], [x.shape[o] for o in order], perm=list(order))

    def concat(self, parts, axis):
        shape = list(parts[0].shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        return self.node("Concat", parts, shape, axis=axis)

    def slice(self, x, axis, begin, end):
        shape = list(x.shape)
        shape[axis] = end - begin
        return self.node("Slice", [x, *(self.constant(np.array([v])) for v in (begin, end, axis))], shape)

    def lookup(self, table, rows):
        return self.node("Gather", [self.constant(table), rows], (*rows.shape, table.shape[1]), axis=0)

    def attention(self, q, k, v, causal=False):
        b, h, t, d = q.shape
        k, v = (self.repeated(x, h) for x in (k, v))
        s = self.multiply(self.matmul(q, k, True), self.constant(np.float32(d ** -0.5)))
        if causal:
            s = self.add(s, self.constant(np.triu(np.full((t, t), -1e30, np.float32), 1)))
        return self.matmul(self.softmax(s), v)

    def repeated(self, x, heads):
        """[b, g, t, d] with each head as often as there are heads of q for it."""
        b, g, t, d = x.shape
        if g == heads:
            return x
        x = self.reshape(x, b, g, 1, t, d)
        x = self.node("Expand", [x, self.constant(np.array((b, g, heads // g, t, d)))], (b, g, heads // g, t, d))
        return self.reshape(x, b, heads, t, d)

    def rotate(self, x, cosine, sine):
        half = x.shape[-1] // 2
        left, right = self.slice(x, 3, 0, half), self.slice(x, 3, half, 2 * half)
        turned = self.concat([self.node("Neg", [right], right.shape), left], 3)
        return self.add(self.multiply(x, cosine), self.multiply(turned, sine))


def graph(program):
    side = OnnxOps(program)
    results = program.build(side)
    results = results if isinstance(results, tuple) else (results,)
    describe = lambda values: [helper.make_tensor_value_info(v.name, v.kind, v.shape) for v in values]
    made = helper.make_graph(side.nodes, program.name, describe(side.inputs), describe(results), side.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, {v.name: a for v, a in zip(side.inputs, side.values)}


def as_bytes(model, folder):
    """The model, as a file if it is too large for one message."""
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path, save_as_external_data=model.ByteSize() > 1 << 30)
    return path


def prepare_ort(program):
    import onnxruntime
    if program.kind == "bf16":
        raise AttributeError("object has no attribute: ONNX Runtime computes no bf16 on CPUs")
    model, values = graph(program)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        session = onnxruntime.InferenceSession(as_bytes(model, folder), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for result in session.get_outputs():
        binding.bind_output(result.name, "cpu")

    def once():
        session.run_with_iobinding(binding)
        return binding
    return once


def with_bf16_edges(network):
    """The network with inputs and results of bf16, as ours has."""
    from openvino import Type
    from openvino.preprocess import PrePostProcessor
    edges = PrePostProcessor(network)
    for i, value in enumerate(network.inputs):
        if value.element_type == Type.f32:
            edges.input(i).tensor().set_element_type(Type.bf16)
    for i in range(len(network.outputs)):
        edges.output(i).tensor().set_element_type(Type.bf16)
    return edges.build()


def prepare_openvino(program):
    import openvino
    model, values = graph(program)
    core, narrow = openvino.Core(), program.kind == "bf16"
    with tempfile.TemporaryDirectory() as folder:
        network = core.read_model(as_bytes(model, folder))
        options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False,
                   "INFERENCE_PRECISION_HINT": "bf16" if narrow else "f32"}
        request = core.compile_model(with_bf16_edges(network) if narrow else network, "CPU", options).create_infer_request()
    for i, value in enumerate(values.values()):
        tensor = openvino.Tensor(value)
        if narrow and value.dtype == np.float32:
            tensor = openvino.Tensor(openvino.Type.bf16, openvino.Shape(value.shape))
            tensor.data.view(np.uint16)[...] = value.astype(ml_dtypes.bfloat16).view(np.uint16)
        request.set_input_tensor(i, tensor)

    def once():
        request.infer()
        return request
    return once


def as_array(tensor):
    """A result of OpenVINO; numpy lacks bf16."""
    data = tensor.data.copy()
    return data.view(ml_dtypes.bfloat16) if tensor.element_type.get_type_name() == "bf16" else data


def arrays(result):
    """Results as arrays of f32, images as [n, c, h, w]."""
    if hasattr(result, "copy_outputs_to_cpu"):
        found = result.copy_outputs_to_cpu()
    else:
        found = [as_array(t) for t in result.output_tensors]
    return [np.asarray(a).astype(np.float32) for a in found]
