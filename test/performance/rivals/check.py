#!/usr/bin/env python3
"""Exports some programs, runs them plain and prepared, and compares their results with JAX's; checks the tables' arithmetic.

  check.py --tool=build/bin/hlo-run

Needs the PyPI packages jax and ml_dtypes, and none of the rivals. Nothing is timed. The last line reads 'N passed, N failed'.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import jax
import numpy as np

import jax_ops
import programs
import tables
from rivals import distance, result_of
from hlo_text import Module

# Together these use every operation of jax_ops.py but those of the large networks.
CHOSEN = ("gemm_97x101x103_f32", "gemm_512_s8", "gemv_2048x5632_bf16_s8_weights", "conv_3x3_7x7x512_bf16", "depthwise_3x3_s2_14x14x576_f32",
          "conv_3x3_56x56x64_s8", "mobilenet_v2_nhwc_f32", "mobilenet_v2_nchw_f32", "mobilenet_v2_nchw_s8", "llama_decode_s4_weights",
          "attention_12h_197x64_f32", "attention_decode_32h4kv_4096x64_bf16", "softmax_1024x1000_f32", "batched_64x32x32x32_f32",
          "mlp_128x768x3072_gelu_f32", "conv_transposed_3x3_s2_28x28x64_f32", "conv_transposed_2x2_s2_28x28x256x128_f32",
          "conv_input_gradient_3x3_s2_56x56x64x128_f32", "conv_kernel_gradient_3x3_28x28x128_batch4_f32", "conv_3x3_groups8_28x28x256_f32")


def expected(program):
    """The results of JAX, as f32."""
    side = jax_ops.JaxOps(program)
    jax.eval_shape(lambda: program.build(side))

    def function(*arguments):
        again = jax_ops.JaxOps(program)
        again.first, again.arguments = False, arguments
        return program.build(again)
    results = jax.jit(function)(*side.noted)
    return [np.asarray(r).astype(np.float32) for r in (results if isinstance(results, tuple) else (results,))]


def check_program(tool, program, folder):
    """The reason why a program failed; None if it did not."""
    jax_ops.export(program, folder)
    base = os.path.join(folder, program.name)
    with open(base + ".weights") as file:
        weights = file.read().strip()
    right, kinds = expected(program), [a.type for a in Module(base + ".hlo").results]
    for flags in [[]] + ([[f"--immutable-params={weights}", *program.flags]] if weights else []):
        done = subprocess.run([tool, base + ".hlo", f"--inputs={base}.npz", f"--outputs={base}.out.npz", "--json", *flags], capture_output=True, text=True, errors="replace", timeout=300, check=False)
        if done.returncode:
            return f"exit {done.returncode} {flags}: " + " ".join(done.stderr.split())[:200]
        with np.load(base + ".out.npz") as found:
            worst = max(distance(result_of(found[f"out{i}"], kind), y) for i, (kind, y) in enumerate(zip(kinds, right)))
        if not worst <= program.tolerance:
            return f"differs from JAX by {worst:.1e} {flags}"
    return None


def check_tables():
    """A rival with other results does not count, the fastest of the others does, and prepared weights take precedence."""
    row = {"program": "p", "group": "g", "ours": {"run_ms_min": 2.0}, "prepared": {"run_ms_min": 1.0}, "tolerance": 1e-3, "bytes": 1, "result_bytes": 1, "work": None,
           "rivals": {"a": {"run_ms_min": 3.0}, "b": {"run_ms_min": 0.5}, "c": {"run_ms_min": 4.0}, "d": {"error": "none"}}, "difference": {"a": 1e-5, "b": 1.0}}
    found = tables.best_rival(row), tables.ratio(row), tables.best_ratio(row), tables.remarks(row)
    right = ("a", 3.0), 1.5, 3.0, "b differs by 1.0e+00; d: none"
    nan = tables.wrong({"difference": {"a": float("nan")}, "tolerance": 1}, "a")
    return None if found == right and nan and "| g | 1 | 1.50 | 3.00 |" in tables.document([row], {}) else f"tables: {found}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    failures = {"tables": check_tables()}
    with tempfile.TemporaryDirectory() as folder:
        for name in CHOSEN:
            failures[name] = check_program(options.tool, programs.ALL[name], folder)
    for name, failure in failures.items():
        if failure:
            print(f"{name}: {failure}")
    failed = sum(f is not None for f in failures.values())
    print(f"{len(failures) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
