"""Runs sharded modules through XLA's own partitioner: jaxlib on several devices of the host.

A process of its own does it, as XLA may abort; it reads lines of JSON and answers with lines of JSON.
"""
import json
import os
import select
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 60  # seconds
FLAGS = ("--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 "
         "--xla_cpu_collective_call_terminate_timeout_seconds=20")


class Partitioner:
    """The process, started when it is needed and again after it died."""

    def __init__(self):
        self.process = None

    def ask(self, job):
        """Runs {module, inputs, output, partitions, is_shardy}; the answer has `ok` and, if that is false, `error`."""
        if self.process is None:
            environment = {**os.environ, "XLA_FLAGS": FLAGS, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True, env=environment)
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
            line = self.process.stdout.readline() if ready else ""
        except OSError:
            ready, line = True, ""
        if line:
            return json.loads(line)
        self.process.kill()
        self.process.wait()
        self.process = None
        return {"ok": False, "error": "it died" if ready else "no answer"}


def without_shardings(text):
    """The text without `sharding=`: if XLA finds both forms, it reads that and not Shardy's."""
    out, at = [], 0
    while True:
        found = text.find(", sharding={", at)
        if found < 0:
            return "".join(out) + text[at:]
        end, depth = found + len(", sharding={"), 1
        while depth:
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        out.append(text[at:found])
        at = end


def leaves(shape):
    return [x for e in shape.tuple_shapes() for x in leaves(e)] if shape.is_tuple() else [shape]


def place(sharding, dims, device):
    """The part of an array that a device holds, as slices of the array padded to whole tiles, and the padded shape; None for no part."""
    import numpy as np
    from jaxlib import _hlo
    whole = tuple(slice(0, d) for d in dims), tuple(dims)
    if sharding is None:
        return whole
    s = sharding if isinstance(sharding, _hlo.HloSharding) else _hlo.HloSharding.from_proto(sharding)
    if s.is_replicated() or s.is_manual() or s.is_unknown():
        return whole
    if s.is_maximal():
        return whole if list(s.tile_assignment_devices())[0] == device else None
    tiles = list(s.tile_assignment_dimensions())
    at = np.unravel_index(list(s.tile_assignment_devices()).index(device), tiles)
    size = [-(-d // t) for d, t in zip(dims, tiles)]
    return tuple(slice(i * z, (i + 1) * z) for i, z in zip(at, size)), tuple(z * t for z, t in zip(size, tiles))


def partitioned(job):
    """Compiles the module for its partitions, runs it on shards of the inputs, and writes the results put together."""
    import jax
    import numpy as np
    from jaxlib import _hlo, _jax
    from generate import for_reference, to_bits
    n = job["partitions"]
    text = for_reference(open(job["module"]).read())
    if job["is_shardy"]:
        text = without_shardings(text)
    computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    parameters = [s for p in computation.program_shape().parameter_shapes() for s in leaves(p)]
    results = leaves(computation.program_shape().result_shape())
    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_replicas, options.num_partitions, build.num_replicas, build.num_partitions = 1, n, 1, n
    options.device_assignment = build.device_assignment = _jax.DeviceAssignment.create(np.arange(n, dtype=np.int32).reshape(1, n))
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, job["is_shardy"]
    devices = jax.devices("cpu")
    executable = devices[0].client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(computation), _jax.DeviceList(tuple(devices[:n])),
                                                    options)
    spec = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices[:n]), ("d",)), jax.sharding.PartitionSpec())
    npz, arguments = np.load(job["inputs"]), []
    for i, (s, sharding) in enumerate(zip(parameters, executable.get_parameter_shardings() or [None] * len(parameters))):
        dtype, shards = s.numpy_dtype(), []
        x = npz[f"in{i}"]
        x = (x if dtype.isbuiltin == 1 else np.ascontiguousarray(x).view(dtype)).reshape(s.dimensions())
        for device in range(n):
            where = place(sharding, x.shape, device)
            part = np.zeros_like(x)
            if where:
                padded = np.ones(where[1], x.dtype)  # what lies beyond the array must not matter
                padded[tuple(slice(0, d) for d in x.shape)] = x
                part = np.array(padded[where[0]])
            shards.append(jax.device_put(part, devices[device]))
        arguments.append(jax.make_array_from_single_device_arrays(shards[0].shape, spec, shards))
    found = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
    out = {}
    for i, (r, sharding, s) in enumerate(zip(found, executable.get_output_shardings() or [None] * len(found), results)):
        dims, whole = s.dimensions(), None
        for device in range(n):
            where = place(sharding, dims, device)
            if where:
                part = np.asarray(r[device])
                whole = np.zeros(where[1], part.dtype) if whole is None else whole
                whole[where[0]] = part
        out[f"out{i}"] = to_bits(np.ascontiguousarray(whole[tuple(slice(0, d) for d in dims)]).reshape(dims))
    np.savez(job["output"], **out)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, HERE)
    for line in sys.stdin:
        answer = {"ok": True}
        try:
            partitioned(json.loads(line))
        except Exception as e:  # whatever XLA refuses
            answer = {"ok": False, "error": f"{type(e).__name__}: " + " ".join(str(e).split())[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
