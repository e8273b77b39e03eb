"""compile, load and describe."""

from __future__ import annotations

import ctypes
import os
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

from . import _cache, _native, _threads
from ._describe import ModuleInfo
from ._elf import MACHINES, describe_object, machine_of
from ._errors import CompileError, CompileWarning, Diagnostic
from ._function import Compilation, Function

_ENTRY_LAYOUTS = {"auto": 0, "text": 2, "row-major": 4}
_DENORMALS = {"keep": 0, "flush": 1}
_QUANTIZE_ACTIVATIONS = 256


def compile(source: str | bytes | os.PathLike, *, threads: int | None = None,
            immutable_params: str | Iterable[str | int] | Mapping[str, Any] | None = None,
            donate: str | int | Iterable[str | int] = (), custom_calls: Any = None, name: str | None = None,
            cpu: str | None = None, features: str | None = None, dispatch: Iterable[str] = (), opt_level: int = 2,
            entry_layout: str = "auto", denormals: str = "keep", quantize_activations: bool = False,
            max_arena: int = 0, jobs: int = 0, rng_seed: int = 0, cache_dir: str | os.PathLike | None = None,
            bounds: Mapping[str, int] | Iterable[str] = (), specialize: str | None = None,
            dynamic_buffers: str | None = None) -> Function:
    """Compiles HLO or StableHLO for this machine and returns it as a function of numpy arrays.

    source: path of a file (a str without newline, or a PathLike), or the text itself.
    threads: threads of a call; by default the CPUs that this process may use.
    immutable_params: parameters whose arrays never change, as names or numbers, or as hlo-compile's flag
        ("all-but:x"). The result must be prepared with their arrays: `Function.prepare`. With a dict of arrays this
        happens here, and the result is a function of the other parameters.
    donate: parameters whose arrays a call may overwrite, or "all"; the module must alias them with results
        (input_output_alias). The result is then the argument's memory.
    custom_calls: a library that has the functions, or several, or a dict of addresses, ctypes functions or PyCapsules.
        Targets of JAX's linear algebra come from libhlo_lapack if it is installed.
    cpu, features, dispatch, opt_level, name, entry_layout, denormals, quantize_activations, max_arena, jobs: as the
        flags of hlo-compile, except that the code is for this machine's CPU by default.
    bounds: of the sizes that StableHLO leaves open: {"b": 64}, or texts "b<=64".
    specialize, dynamic_buffers: as the flags of hlo-compile.
    rng_seed: seed of rng instructions.
    cache_dir: folder for objects that later calls and other processes find again; default: HLO_COMPILE_CACHE.

    Raises CompileError with the located message. A warning of the compiler is a CompileWarning.

    >>> import hlo_compile as hc, numpy as np
    >>> f = hc.compile('''HloModule sum
    ... add { a = s32[] parameter(0)
    ...       b = s32[] parameter(1)
    ...       ROOT c = s32[] add(a, b) }
    ... ENTRY e { x = s32[<=8] parameter(0)
    ...           zero = s32[] constant(0)
    ...           ROOT y = s32[] reduce(x, zero), dimensions={0}, to_apply=add }
    ... ''')
    >>> int(f(np.arange(5, dtype=np.int32)))
    10
    >>> f
    <hlo_compile.Function module(x: s32[<=8]) -> out: s32[]>
    """
    text, file = _read(source)
    return build(text, file, threads=threads, immutable_params=immutable_params, donate=donate,
                 custom_calls=custom_calls, name=name, cpu=cpu, features=features, dispatch=dispatch,
                 opt_level=opt_level, entry_layout=entry_layout, denormals=denormals,
                 quantize_activations=quantize_activations, max_arena=max_arena, jobs=jobs, rng_seed=rng_seed,
                 cache_dir=cache_dir, bounds=bounds, specialize=specialize, dynamic_buffers=dynamic_buffers)


def build(text: bytes, file: str, *, threads: int | None = None, immutable_params: Any = None, donate: Any = (),
          custom_calls: Any = None, name: str | None = None, cpu: str | None = None, features: str | None = None,
          dispatch: Iterable[str] = (), opt_level: int = 2, entry_layout: str = "auto", denormals: str = "keep",
          quantize_activations: bool = False, max_arena: int = 0, jobs: int = 0, rng_seed: int = 0, cache_dir: Any = None,
          bounds: Any = (), specialize: str | None = None, dynamic_buffers: str | None = None,
          fallback: Callable[[], Mapping[str, Any]] | None = None) -> Function:
    """compile() of a text. `fallback`: custom call targets for what no other source has."""
    prepared: Mapping[str, Any] | None = None
    if isinstance(immutable_params, Mapping):
        prepared, immutable_params = immutable_params, list(immutable_params)
    if immutable_params is not None and not isinstance(immutable_params, str):
        immutable_params = ",".join(map(str, immutable_params))
    options = {
        "file": file, "name": name, "cpu": cpu, "features": features, "dispatch": list(dispatch),
        "immutable_params": immutable_params or None, "opt_level": opt_level, "max_arena_bytes": max_arena,
        "flags": _choice("entry_layout", entry_layout, _ENTRY_LAYOUTS) | _choice("denormals", denormals, _DENORMALS)
                 | (_QUANTIZE_ACTIVATIONS if quantize_activations else 0)}
    # Not among the options of other programs, whose keys in caches do not change.
    if isinstance(bounds, Mapping):
        bounds = [f"{size}<={bound}" for size, bound in bounds.items()]
    for key, value in (("bounds", [bounds] if isinstance(bounds, str) else list(bounds)), ("specialize", specialize),
                       ("dynamic_buffers", dynamic_buffers)):
        if value:
            options[key] = value
    compilation = jit(text, options, jobs, cache_dir)
    for diagnostic in compilation.diagnostics:
        if diagnostic.severity == "warning":
            warnings.warn(f"{diagnostic.file}:{diagnostic.line}: {diagnostic.message}", CompileWarning, stacklevel=3)
    function = Function(compilation, threads=threads, custom_calls=custom_calls, donate=donate, rng_seed=rng_seed,
                        custom_call_fallback=fallback)
    return function.prepare(**prepared) if prepared else function


def load(path: str | os.PathLike, *, name: str | None = None, threads: int | None = None,
         donate: str | int | Iterable[str | int] = (), custom_calls: Any = None, rng_seed: int = 0) -> Function:
    """The function in an object that hlo-compile or `export` made for this machine's architecture. `name`: the prefix
    of its symbols, if the object has several modules. The object is trusted as a program is."""
    data = Path(path).read_bytes()
    return Function(_load_object(data, name), threads=threads, donate=donate, custom_calls=custom_calls,
                    rng_seed=rng_seed)


def describe(what: str | os.PathLike | Function, *, name: str | None = None) -> ModuleInfo:
    """The description of an object file of any architecture, or of a function. `name`: as for `load`. ValueError for
    what is no object of hlo-compile.

    >>> import hlo_compile as hc
    >>> f = hc.compile("HloModule m\\nENTRY e { x = bf16[2,3] parameter(0)\\n ROOT y = bf16[2,3] negate(x) }")
    >>> info = hc.describe(f)
    >>> info.inputs[0].type, info.inputs[0].shape, info.outputs[0].bytes
    ('bf16', (2, 3), 12)
    """
    if isinstance(what, Function):
        return what.describe()
    return describe_object(Path(what).read_bytes(), name)


def _read(source: str | bytes | os.PathLike) -> tuple[bytes, str]:
    """The text and the file's name."""
    if isinstance(source, (bytes, bytearray)):
        return bytes(source), "module.hlo"
    if isinstance(source, str):
        is_text = "\n" in source or source.lstrip().startswith("HloModule")
        if is_text or ("{" in source and not os.path.exists(source)):
            return source.encode(), "module.hlo"
    return Path(source).read_bytes(), os.fspath(source)


def _choice(what: str, value: str, values: Mapping[str, int]) -> int:
    if value not in values:
        raise ValueError(f"{what}: expected one of {', '.join(values)}, given {value!r}")
    return values[value]


def _load_object(data: bytes, name: str | None) -> Compilation:
    if machine_of(data) != MACHINES.get(os.uname().machine):
        raise ValueError(f"not an object file for {os.uname().machine}")
    handle, status = _jit_object(data, name)
    return _result(handle, status, may_loop=True, obj=data)


def _jit_object(data: bytes, prefix: str | None) -> tuple[int, int]:
    """hlo_jit_object: the hlo_compilation and the status."""
    library = _native.compiler()
    handle = ctypes.c_void_p()

    def run() -> int:
        with _threads.compiling():
            return library.hlo_jit_object(data, len(data), prefix.encode() if prefix else None, handle)

    status = _threads.call(run)
    return handle.value or 0, status


def jit(text: bytes, options: dict[str, Any], jobs: int, cache_dir: str | os.PathLike | None) -> Compilation:
    """hlo_jit_text, or the cache. `options` are fields of hlo_compile_options."""
    where = _cache.folder(cache_dir)
    key = _cache.key(text, options) if where else ""
    if where and (entry := _cache.read(where, key)):
        facts, data = entry
        handle, status = _jit_object(data, facts["prefix"])
        if status == _native.OK:
            diagnostics = tuple(Diagnostic(**fields) for fields in facts["diagnostics"])
            return Compilation(handle, diagnostics, may_loop=_may_loop(text), from_cache=True, obj=data)
        _native.compiler().hlo_compilation_free(handle)
    handle, status = _compile("hlo_jit_text", text, options, jobs, _native.EMIT_OBJECT)
    compilation = _result(handle, status, may_loop=_may_loop(text))
    if where:
        facts = {"prefix": _native.text(_native.compiler().hlo_compilation_prefix(handle)),
                 "diagnostics": [asdict(diagnostic) for diagnostic in compilation.diagnostics]}
        _cache.write(where, key, facts, compilation.object)
    return compilation


def artifacts(text: bytes, options: dict[str, Any], emit: Iterable[int]) -> tuple[list[bytes], str]:
    """hlo_compile_text: the artifacts, and the prefix of the symbols."""
    emit = list(emit)
    handle, status = _compile("hlo_compile_text", text, options, 0, sum(emit))
    library = _native.compiler()
    try:
        if status:
            raise CompileError(_native.status_name(status), _native.text(library.hlo_compilation_log(handle)),
                               _diagnostics(handle))
        data = [library.hlo_compilation_artifact(handle, which) for which in emit]
        return ([ctypes.string_at(part.data, part.size) for part in data],
                _native.text(library.hlo_compilation_prefix(handle)))
    finally:
        library.hlo_compilation_free(handle)


def _compile(entry: str, text: bytes, fields: Mapping[str, Any], jobs: int, emit: int) -> tuple[int, int]:
    """Runs a function of the library so that Ctrl-C cancels it. Returns the hlo_compilation and the status."""
    library = _native.compiler()
    cancel = ctypes.c_int32(0)
    handle = ctypes.c_void_p()
    options = _native.Options(struct_size=ctypes.sizeof(_native.Options), emit=emit, jobs=jobs,
                              cancel=ctypes.addressof(cancel))
    for key, value in fields.items():
        if key in ("dispatch", "bounds"):
            setattr(options, key, (ctypes.c_char_p * max(1, len(value)))(*(item.encode() for item in value)))
            setattr(options, f"num_{key}", len(value))
        elif value is not None:
            setattr(options, key, value.encode() if isinstance(value, str) else value)

    def run() -> int:
        with _threads.compiling():
            return getattr(library, entry)(text, len(text), options, handle)

    try:
        status = _threads.call(run, cancel)
    except BaseException:
        library.hlo_compilation_free(handle)
        raise
    return handle.value or 0, status


def _may_loop(text: bytes) -> bool:
    return b" while(" in text


def _result(handle: int, status: int, *, may_loop: bool, obj: bytes | None = None) -> Compilation:
    library = _native.compiler()
    diagnostics = _diagnostics(handle)
    if status != _native.OK:
        log = _native.text(library.hlo_compilation_log(handle))
        library.hlo_compilation_free(handle)
        raise CompileError(_native.status_name(status), log, diagnostics)
    return Compilation(handle, diagnostics, may_loop=may_loop, obj=obj)


def _diagnostics(handle: int) -> tuple[Diagnostic, ...]:
    library = _native.compiler()
    result = []
    for i in range(library.hlo_compilation_num_diagnostics(handle)):
        found = library.hlo_compilation_diagnostic(handle, i).contents
        result.append(Diagnostic(_native.SEVERITIES[min(found.severity, 3)], _native.text(found.code),
                                 _native.text(found.message), _native.text(found.file), found.line, found.column))
    return tuple(result)
