"""A pytest plugin: every compilation of JAX's CPU backend is made by hlo-compile.

    PYTHONPATH=python:test/jax/suite HLO_COMPILE_BUILD=build pytest -p hlo_backend JAX/tests/lax_test.py

JAX traces and lowers as always. Its MLIR module is turned into HLO text; that is compiled and called with numpy arrays
over the arrays' memory. LAPACK's functions are jaxlib's, as in hc.jit. Left to XLA, and counted: modules for several
devices, and modules with Python callbacks or tokens, which are part of JAX's own runtime. The last line of pytest's
summary has the counts. With HLO_REFUSED=FILE, messages of texts that were refused are appended to FILE.
"""
import collections
import os
import re

import numpy as np

import hlo_compile as hc
from hlo_compile._jax import registered_targets

counts = collections.Counter()
# Calls into Python, and effects in order: of JAX's runtime, not of the module.
_OF_THE_RUNTIME = re.compile(r"xla_ffi_python|xla_python_cpu_callback|xla_ffi_partitioned|stablehlo\.token|xla_buffer_python")


def install():
    import jax
    from jax._src import compiler, config, core, dtypes, literals, pjit, sharding_impls
    from jax._src.interpreters import mlir, pxla
    from jax._src.lib import _jax, xla_client

    by_xla = compiler.backend_compile_and_load

    def put(array, device):
        """An array of jaxlib; one of 64 bits stays so, whatever the setting."""
        aval = core.ShapedArray(array.shape, array.dtype)
        return xla_client.batched_device_put(aval, sharding_impls.SingleDeviceSharding(device), [array], [device], True)

    class Results:
        """The part of jaxlib's ExecuteResults that JAX uses for one device."""

        def __init__(self, arrays):
            self.arrays = arrays

        def consume_with_handlers(self, handlers, strict=True):
            results = []
            for handler, array in zip(handlers, self.arrays, strict=strict):
                try:
                    results.append(handler([array]))
                except ValueError as error:  # jaxlib's handler of float0 makes no array from Python
                    if "float0" not in str(error):
                        raise
                    aval = core.ShapedArray(array.shape, dtypes.float0)
                    results.append(literals.TypedNdArray(np.zeros(array.shape, dtypes.float0), aval=aval))
            return results

        def disassemble_into_single_device_arrays(self):
            return [[array] for array in self.arrays]

    class Executable:
        """Runs our function. What else JAX asks of an executable (costs, layouts, text) is XLA's answer."""

        def __init__(self, function, device, make_xla):
            self._function, self._device, self._make_xla, self._xla = function, device, make_xla, None
            info = function.describe()
            self._results = len(info.outputs)
            self._donated = [i for i, each in enumerate(info.inputs) if each.alias is not None]

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            if self._xla is None:
                self._xla = self._make_xla()
            return getattr(self._xla, name)

        def local_devices(self):
            return [self._device]

        def execute_sharded(self, buffers, with_tokens=False):
            arrays = [each[0] if isinstance(each, (list, tuple)) else each for each in buffers]
            with jax.transfer_guard("allow"):
                try:
                    results = self._function(*[np.asarray(array) for array in arrays])
                except hc.RunError as error:
                    raise _jax.JaxRuntimeError(str(error)) from None
                for i in self._donated:
                    arrays[i].delete()
                counts["runs"] += 1
                results = (results,) if self._results == 1 else results
                with config.enable_x64(True):
                    return Results([put(np.asarray(each), self._device) for each in results])

    def compile_module(backend, module, executable_devices, options, host_callbacks):
        def make_xla():
            return by_xla(backend, module, executable_devices, options, host_callbacks)

        devices = list(executable_devices)
        if backend.platform != "cpu" or len(devices) != 1:
            counts["left to XLA: several devices"] += 1
            return make_xla()
        if host_callbacks or _OF_THE_RUNTIME.search(str(module)):
            counts["left to XLA: callbacks and tokens"] += 1
            return make_xla()
        computation = xla_client._xla.mlir.mlir_module_to_xla_computation(
            mlir.module_to_bytecode(module), use_tuple_args=False, return_tuple=False)
        text = computation.as_hlo_text(True)
        try:
            function = hc.compile(text.encode(), threads=1, custom_calls=registered_targets())
        except hc.CompileError as error:
            counts["refused"] += 1
            if path := os.environ.get("HLO_REFUSED"):
                with open(path, "a") as file:
                    file.write(str(error)[:600].replace("\n", " | ") + "\n")
            raise _jax.JaxRuntimeError(str(error)) from None
        counts["compiled"] += 1
        return Executable(function, devices[0], make_xla)

    compiler.backend_compile_and_load = compile_module
    # Calls that do not pass through Python would need an executable of jaxlib.
    pjit._get_fastpath_data = lambda *args, **kwargs: None
    pxla.MeshExecutable.create_cpp_call = lambda self, params: None


install()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("hlo-compile: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
