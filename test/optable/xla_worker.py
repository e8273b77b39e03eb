"""Runs cases on XLA:CPU, for golden.py.

Reads a pickled list of (module text, [(dims, raw bits)]) from standard input and writes one JSON line per case: the raw
bits of each output, or the error. Needs the packages jax and ml_dtypes."""
import json
import os
import pickle
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import jax  # noqa: E402
import ml_dtypes  # noqa: E402,F401
import numpy as np  # noqa: E402
from jaxlib import _hlo, _jax  # noqa: E402

CODES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def leaves(shape):
    if shape.is_tuple():
        for part in shape.tuple_shapes():
            yield from leaves(part)
    else:
        yield shape


def to_array(shape, raw):
    dtype = shape.numpy_dtype()
    if dtype.name in ("int1", "int2", "int4"):  # held sign-extended
        sign = 1 << int(dtype.name[3:]) - 1
        return np.array([(x ^ sign) - sign for x in raw], np.int8).astype(dtype).reshape(shape.dimensions())
    part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    bits = np.array(raw, dtype=np.uint64).astype(CODES[part])
    return bits.view(dtype).reshape(shape.dimensions())


def to_raw(array):
    array = np.ascontiguousarray(array)
    part = array.dtype.itemsize // 2 if array.dtype.kind == "c" else array.dtype.itemsize
    return [int(x) for x in array.reshape(-1).view(CODES[part])]


def run(client, text, inputs):
    computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    shapes = [leaf for p in computation.program_shape().parameter_shapes() for leaf in leaves(p)]
    mlir = _jax.mlir.xla_computation_to_mlir_module(computation)
    executable = client.compile_and_load(mlir, _jax.DeviceList(tuple(client.local_devices()[:1])), _jax.CompileOptions())
    arguments = [jax.device_put(to_array(s, raw)) for s, raw in zip(shapes, inputs, strict=True)]
    return [to_raw(np.asarray(r)) for r in executable.execute(arguments)]


def main():
    client = jax.devices("cpu")[0].client
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for text, inputs in pickle.load(sys.stdin.buffer):
        print(".", file=answers, flush=True)  # a case begins: if the process dies now, this case killed it
        try:
            answer = {"outputs": run(client, text, inputs)}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
