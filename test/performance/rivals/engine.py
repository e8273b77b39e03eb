#!/usr/bin/env python3
"""One rival, a process of its own: prepares programs and times them when told, in the order that rivals.py gives.

  engine.py NAME      NAME: one of ENGINES

In:  {"prepare": program, "outputs": out.npz} or {"seconds": s}, which times what was prepared last
Out: {"prepare_s"} or {"run_ms_min", "runs"} or {"error"}; {"error"} with "unsupported": true where the engine lacks it
"""
import importlib
import json
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
answers = os.fdopen(os.dup(1), "w")  # engines write to the standard output
os.dup2(2, 1)

import numpy as np

import programs

ENGINES = {"oneDNN": ("torch_ops", "prepare_eager"), "inductor": ("torch_ops", "prepare_inductor"), "ONNXRuntime": ("onnx_ops", "prepare_ort"),
           "OpenVINO": ("onnx_ops", "prepare_openvino"), "MKL": ("mkl_calls", "prepare"), "ggml": ("ggml_calls", "prepare")}


def prepare(module, function, job):
    begin = time.perf_counter()
    once = function(programs.ALL[job["prepare"]])
    results = module.arrays(once())
    if job.get("outputs"):
        np.savez(job["outputs"], **{f"out{i}": r for i, r in enumerate(results)})
    return once, {"prepare_s": time.perf_counter() - begin}


def measure(once, seconds):
    """The least time of at least three calls, fewer if they take ten times as long as they may."""
    start = time.perf_counter()
    best, runs, stop, latest = float("inf"), 0, start + seconds, start + 10 * seconds
    while runs == 0 or time.perf_counter() < (latest if runs < 3 else stop):
        begin = time.perf_counter()
        once()
        best, runs = min(best, time.perf_counter() - begin), runs + 1
    return {"run_ms_min": best * 1e3, "runs": runs}


def main():
    name, function = ENGINES[sys.argv[1]]
    try:
        module = importlib.import_module(name)
    except (ImportError, OSError) as error:  # the package is not installed
        for _ in sys.stdin:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"[:300], "unsupported": True}), file=answers, flush=True)
        return
    function, once = getattr(module, function), None
    for line in sys.stdin:
        job = json.loads(line)
        try:
            if "prepare" in job:
                once = None
                once, answer = prepare(module, function, job)
            else:
                answer = measure(once, job["seconds"])
        except AttributeError as error:  # the engine's side lacks an operation
            answer = {"error": str(error)[:300], "unsupported": "object has no attribute" in str(error)}
        except Exception as error:  # an answer for every line
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
