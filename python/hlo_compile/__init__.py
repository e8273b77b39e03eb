"""Compiles HLO, the graph language of XLA and JAX, to native code, and calls it with numpy arrays.

    import hlo_compile as hc

    f = hc.compile("model.hlo"); y = f(x, w)
    g = hc.jit(jax_function)
    hc.export(jax_function, x, out="model/", name="model")
    hc.describe("model.o"); hc.benchmark(f, x, w)

The compiler and the runtime are C libraries, called through ctypes; numpy is the only dependency. `jit` and `export`
need JAX.
"""

from ._benchmark import Timing, benchmark
from ._compile import compile, describe, load
from ._describe import ArrayInfo, ModuleInfo, OpInfo, Sharding
from ._errors import CompileError, CompileWarning, Diagnostic, Error, RunError
from ._export import export
from ._function import Function
from ._jax import JitFunction, jit
from ._version import __version__

__all__ = ["compile", "load", "jit", "export", "describe", "benchmark", "Function", "JitFunction", "ModuleInfo",
           "ArrayInfo", "OpInfo", "Sharding", "Timing", "Diagnostic", "Error", "CompileError", "RunError", "CompileWarning",
           "__version__"]
