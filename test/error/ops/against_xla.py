"""Compares the modules that we refuse with those that XLA:CPU refuses. Run by hand; needs the PyPI package `jax`.

Imported by cases.py. As a program it is the worker: modules on standard input, separated by `// -----`; for each one a
line of JSON: the stage that refused it (parse, convert, compile), or null, and why.
"""
import json
import os
import subprocess
import sys


def worker():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    from jaxlib import _hlo, _jax
    jax.config.update("jax_num_cpu_devices", 8)
    client = jax.devices("cpu")[0].client
    for text in sys.stdin.read().split("// -----\n"):
        stage = "parse"
        try:
            proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
            stage = "convert"
            computation = _hlo.XlaComputation(proto)
            mlir = _jax.mlir.xla_computation_to_mlir_module(computation)
            stage = "compile"
            options = _jax.CompileOptions()
            count = 1
            for name in ("replica_count=", "num_partitions="):
                head = text.split("\n", 1)[0]
                if name in head:
                    n = int(head.split(name)[1].split(",")[0])
                    count *= n
                    setattr(options, {"r": "num_replicas", "n": "num_partitions"}[name[0]], n)
                    build = options.executable_build_options
                    setattr(build, {"r": "num_replicas", "n": "num_partitions"}[name[0]], n)
            devices = _jax.DeviceList(tuple(client.local_devices()[:count]))
            client.compile_and_load(mlir, devices, options)
            print(json.dumps([None, ""]), flush=True)
        except Exception as error:  # the line must come out whatever happens
            print(json.dumps([stage, str(error)[:300]]), flush=True)


def ask(texts):
    """XLA's answer for each text."""
    answers = []
    while len(answers) < len(texts):
        rest = "// -----\n".join(texts[len(answers):])
        python = os.environ.get("XLA_PYTHON", sys.executable)
        r = subprocess.run([python, __file__], input=rest, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        answers += [json.loads(line) for line in r.stdout.splitlines() if line.startswith("[")]
        if len(answers) < len(texts):
            answers.append(["crash", f"status {r.returncode}"])
    return answers


def compare(cases, results):
    answers = ask([case.module()[0] for case in cases])
    differing = 0
    for case, result, (stage, why) in zip(cases, results, answers):
        refused = bool(result.errors or result.crash)
        if refused == bool(stage) or (case.stricter and not stage):
            continue
        differing += 1
        ours = result.errors[0][2] if refused else "accepted"
        print(f"{case.line}: {case.source}\n    ours: {ours}\n    XLA: {stage or 'accepted'} {' '.join(why.split())[:220]}")
    return differing


if __name__ == "__main__":
    worker()
