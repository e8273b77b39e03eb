"""ggml's side, from the package llama-cpp-python: products with weights of bf16, s8 and s4.

Its low-bit weights are blocks of 32 along k with an f16 scale each, which ours fit exactly; it quantizes the activations
to s8 in the same blocks. Weights are tried in each order that its CPU backend offers, and the fastest one is timed.
"""
import ctypes
import importlib.util
import os
import time

import ml_dtypes
import numpy as np

import ops

FOLDER = os.path.join(importlib.util.find_spec("llama_cpp").submodule_search_locations[0], "lib")
BASE, CPU = (ctypes.CDLL(os.path.join(FOLDER, f"lib{name}.so"), mode=ctypes.RTLD_GLOBAL) for name in ("ggml-base", "ggml-cpu"))
F32, Q4, Q8, BF16 = 0, 2, 8, 30  # enum ggml_type
BLOCK = 32
POINTER = ctypes.c_void_p


class InitParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("buffer", POINTER), ("no_alloc", ctypes.c_bool)]


def function(library, name, *arguments, result=POINTER):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


init = function(BASE, "ggml_init", InitParams)
new_matrix = function(BASE, "ggml_new_tensor_2d", POINTER, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
multiply = function(BASE, "ggml_mul_mat", POINTER, POINTER, POINTER)
new_graph = function(BASE, "ggml_new_graph", POINTER)
expand = function(BASE, "ggml_build_forward_expand", POINTER, POINTER, result=None)
allocate = function(BASE, "ggml_backend_alloc_ctx_tensors_from_buft", POINTER, POINTER)
default_order = function(BASE, "ggml_backend_get_default_buffer_type", POINTER)
store = function(BASE, "ggml_backend_tensor_set", POINTER, POINTER, ctypes.c_size_t, ctypes.c_size_t, result=None)
load = function(BASE, "ggml_backend_tensor_get", POINTER, POINTER, ctypes.c_size_t, ctypes.c_size_t, result=None)
compute = function(BASE, "ggml_backend_graph_compute", POINTER, POINTER, result=ctypes.c_int)
device_of = function(BASE, "ggml_backend_reg_dev_get", POINTER, ctypes.c_size_t)
address_of = function(BASE, "ggml_backend_reg_get_proc_address", POINTER, ctypes.c_char_p)
supports = function(BASE, "ggml_backend_dev_supports_op", POINTER, POINTER, result=ctypes.c_bool)
start = function(CPU, "ggml_backend_cpu_init")
set_threads = function(CPU, "ggml_backend_cpu_set_n_threads", POINTER, ctypes.c_int, result=None)
registered = function(CPU, "ggml_backend_cpu_reg")


def orders(backend):
    """The buffer types that weights may have: plain rows, then the packed ones."""
    yield default_order(backend)
    address = address_of(registered(), b"ggml_backend_dev_get_extra_bufts")
    if address:
        found = ctypes.CFUNCTYPE(ctypes.POINTER(POINTER), POINTER)(address)(device_of(registered(), 0))
        i = 0
        while found[i]:
            yield found[i]
            i += 1


def blocks(w, scale, bits):
    """The bytes of weights [n, k] of integers, with scales [n, k / 32]."""
    n, k = w.shape
    w = w.reshape(n, k // BLOCK, BLOCK)
    if bits == 4:
        u = (w + 8).astype(np.uint8)
        w = u[..., :16] | u[..., 16:] << 4
    return np.ascontiguousarray(np.concatenate([scale[..., None].astype(np.float16).view(np.uint8).reshape(n, k // BLOCK, 2), w.view(np.uint8)], -1))


class Product:
    """x times weights in one order."""

    def __init__(self, backend, order, kind, x, data, n):
        m, k = x.shape
        self.backend = backend
        fresh = lambda: init(InitParams(1 << 20, None, True))
        weights, values = fresh(), fresh()
        w = new_matrix(weights, kind, k, n)
        self.buffers = [allocate(weights, order)]
        operand = new_matrix(values, F32, k, m)
        self.y, self.shape = multiply(values, w, operand), (m, n)
        if not supports(device_of(registered(), 0), self.y):
            raise ValueError("not in this order")
        self.graph = new_graph(values)
        expand(self.graph, self.y)
        self.buffers.append(allocate(values, default_order(backend)))
        store(w, data.ctypes.data, 0, data.nbytes)
        store(operand, x.ctypes.data, 0, x.nbytes)

    def __call__(self):
        if compute(self.backend, self.graph):
            raise RuntimeError("not computed")
        return self

    def result(self):
        y = np.zeros(self.shape, np.float32)
        load(self.y, y.ctypes.data, 0, y.nbytes)
        return y


class GgmlOps(ops.Ops):
    def shape(self, x):
        return x.shape

    def input(self, array, dtype=None):
        return array

    def product(self, kind, x, data, n):
        if not isinstance(x, np.ndarray):
            raise AttributeError("object has no attribute: only products alone")
        x, backend, found = np.ascontiguousarray(x.reshape(-1, x.shape[-1])), start(), []
        set_threads(backend, 1)
        for order in orders(backend):
            try:
                found.append(Product(backend, order, kind, x, data, n))
            except ValueError:
                continue
        return min(found, key=time_of)

    def linear(self, x, w, b, n, act, bias):
        if bias or act:
            raise AttributeError("object has no attribute: only products alone")
        w = np.ascontiguousarray(w.T)
        return self.product(BF16, x, w.astype(ml_dtypes.bfloat16), n) if self.kind == "bf16" else self.product(F32, x, w, n)

    def linear_s8(self, x, w, scale, n):
        return self.product(Q8, x, blocks(w.T, np.repeat(scale[:, None], w.shape[0] // BLOCK, 1), 8), n)

    def linear_s4(self, x, w, scale, group, n):
        return self.product(Q4, x, blocks(w.T, np.repeat(scale.T, group // BLOCK, 1), 4), n)


def time_of(call):
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def prepare(program):
    product = program.build(GgmlOps(program))
    if not isinstance(product, Product):
        raise AttributeError("object has no attribute: only products")
    return product


def arrays(result):
    return [result.result()]
