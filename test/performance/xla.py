#!/usr/bin/env python3
"""Compiles and times HLO texts with XLA:CPU through jaxlib: one JSON line in for each module, one out.

In:  {"module": path, "inputs": in.npz, "outputs": out.npz or null, "seconds": s, "stablehlo": path or null}
Out: {"compile_s", "run_ms_min", "runs", "temp_bytes", "compile_rss_bytes"} or {"error"}

Arrays of inputs and outputs are in0, in1, ... and out0, out1, ..., types that numpy lacks as their bits. With
"stablehlo" the module is written there, converted, and not run. XLA takes as many threads as processors it may use.
"""
import json
import os
import resource
import sys
import time

os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")

import jax
import ml_dtypes  # noqa: F401  numpy learns bf16, s4 and the like
import numpy as np
from jaxlib import _hlo, _jax


def without_aliases(text):
    """The text without input-output aliases, by which XLA would overwrite inputs that are used again."""
    head, newline, rest = text.partition("\n")
    for name in ("input_output_alias", "buffer_donor"):
        begin = head.find(", " + name + "={")
        if begin >= 0:
            depth, end = 1, begin + len(name) + 4
            while depth:
                depth += {"{": 1, "}": -1}.get(head[end], 0)
                end += 1
            head = head[:begin] + head[end:]
    return head + newline + rest


def flat(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in flat(part)] if shape.is_tuple() else [shape]


def plain(array):
    """The array in a type that every numpy knows."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def measure(job):
    with open(job["module"]) as file:
        computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(without_aliases(file.read())).as_serialized_hlo_module_proto())
    module = _jax.mlir.xla_computation_to_mlir_module(computation)
    if job.get("stablehlo"):
        with open(job["stablehlo"], "wb") as file:
            file.write(module.encode() if isinstance(module, str) else module)
        return {}
    client = jax.devices("cpu")[0].client
    begin = time.perf_counter()
    program = client.compile_and_load(module, _jax.DeviceList((client.local_devices()[0],)), _jax.CompileOptions())
    out = {"compile_s": time.perf_counter() - begin, "temp_bytes": program.get_compiled_memory_stats().temp_size_in_bytes,
           "compile_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    shapes = [s for p in computation.program_shape().parameter_shapes() for s in flat(p)]
    with np.load(job["inputs"]) as saved:
        arrays = [saved[f"in{i}"] for i in range(len(shapes))]
    arguments = [jax.device_put(a if a.dtype == s.numpy_dtype() else a.view(s.numpy_dtype())) for a, s in zip(arrays, shapes)]

    def once():
        results = program.execute(arguments)
        for r in results:
            r.block_until_ready()
        return results

    results = once()
    if job.get("outputs"):
        np.savez(job["outputs"], **{f"out{i}": plain(np.asarray(r)) for i, r in enumerate(results)})
    del results
    best, runs, stop = float("inf"), 0, time.perf_counter() + job["seconds"]
    while runs < 3 or time.perf_counter() < stop:
        begin = time.perf_counter()
        once()
        best, runs = min(best, time.perf_counter() - begin), runs + 1
    return {**out, "run_ms_min": best * 1e3, "runs": runs}


for line in sys.stdin:
    jax.config.update("jax_enable_x64", True)
    try:
        answer = measure(json.loads(line))
    except Exception as error:  # an answer for every line
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    print(json.dumps(answer), flush=True)
