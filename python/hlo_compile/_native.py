"""The two C libraries and their structs, as ctypes sees them.

The structs are those of hlo/rt.h and hlo/compiler.h, up to the last field that this package uses. Fields are only
appended to them, so a library that is newer than this file still fits.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_uint64, c_void_p, sizeof
from typing import Any, Iterator

from . import _paths

ABI = 2
OK, CANCELLED, FAILED_PRECONDITION = 0, 1, 9
EMIT_OBJECT, EMIT_HEADER, EMIT_SIGNATURE = 1, 64, 512
DENSE = 1  # HLO_DENSE
ENTRY_LAYOUT_ROW_MAJOR = 4
SEVERITIES = ("note", "remark", "warning", "error")
NEEDS = ("infeed", "outfeed", "comm", "state", "host_send", "host_recv")
READ_BY_RUN, READ_BY_PREPARE, IMMUTABLE = 1, 2, 4


class Buffer(Structure):
    """hlo_buffer_desc"""
    _fields_ = [("name", c_char_p), ("dims", POINTER(c_int64)), ("minor_to_major", POINTER(c_int64)),
                ("bytes", c_uint64), ("type", c_int32), ("rank", c_int32), ("align", c_uint32), ("alias", c_int32),
                ("size_of", c_int32), ("size_dim", c_int32), ("layout", c_char_p)]


class Sharding(Structure):
    """hlo_sharding"""
    _fields_ = [("struct_size", c_uint32), ("rank", c_int32), ("dims", POINTER(c_int64)),
                ("mesh_sizes", POINTER(c_int64)), ("mesh_names", POINTER(c_char_p)), ("num_axes", c_int32),
                ("num_partitions", c_int32), ("axes", POINTER(c_int64)), ("devices", POINTER(c_int64))]


def sharding_address(address: int, stride: int) -> int:
    """hlo_buffer_desc.sharding of the buffer at `address`; 0: none. Objects of older compilers lack the field."""
    place = sizeof(Buffer)
    return c_uint64.from_address(address + place).value if stride >= place + 8 else 0


def sizes_address(address: int, stride: int) -> int:
    """hlo_buffer_desc.sizes of the buffer at `address`, the address of "[b, 2*b + 1]"; 0: none."""
    place = sizeof(Buffer) + 8
    return c_uint64.from_address(address + place).value if stride >= place + 8 else 0


class Op(Structure):
    """hlo_op_desc"""
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("file", c_char_p), ("line", c_int32), ("column", c_int32),
                ("op_name", c_char_p), ("source_file", c_char_p), ("source_line", c_int32), ("reserved", c_int32),
                ("flops", c_uint64), ("bytes", c_uint64)]


class CustomCall(Structure):
    """hlo_custom_call"""
    _fields_ = [("name", c_char_p), ("api", c_int32), ("reserved", c_int32), ("fn", c_void_p), ("user", c_void_p)]


class CustomCalls(Structure):
    """hlo_custom_calls"""
    _fields_ = [("struct_size", c_uint32), ("count", c_uint32), ("entry_stride", c_uint32), ("reserved", c_uint32),
                ("entries", c_void_p)]


class Module(Structure):
    """hlo_module_desc"""


Module._fields_ = [
    ("struct_size", c_uint32), ("abi", c_uint32), ("name", c_char_p), ("compiler_version", c_char_p),
    ("flags", c_char_p), ("target", c_char_p), ("source_sha256", c_char_p), ("signature", c_uint64),
    ("arena_bytes", c_uint64), ("state_bytes", c_uint64), ("cpu_features", c_uint64), ("arch", c_uint32),
    ("fp_mode", c_uint32), ("arena_align", c_uint32), ("needs", c_uint32), ("num_inputs", c_uint32),
    ("num_outputs", c_uint32), ("num_ops", c_uint32), ("buffer_stride", c_uint32), ("op_stride", c_uint32),
    ("custom_call_stride", c_uint32), ("inputs", c_void_p), ("outputs", c_void_p), ("ops", c_void_p),
    ("custom_calls", c_void_p), ("custom_call_targets", c_void_p), ("run", c_void_p), ("num_replicas", c_uint32),
    ("num_partitions", c_uint32), ("prepared_bytes", c_uint64), ("prepare_arena_bytes", c_uint64),
    ("prepared_id", c_uint64), ("input_use", POINTER(c_uint8)), ("prepare", c_void_p),
    ("thread_arena_bytes", c_uint64), ("prepare_thread_arena_bytes", c_uint64), ("stack_bytes", c_uint64),
    ("num_levels", c_uint32), ("level_number", c_uint32), ("levels", POINTER(POINTER(Module))),
    ("level_name", c_char_p)]


class Call(Structure):
    """hlo_call"""
    _fields_ = [("struct_size", c_uint32), ("abi", c_uint32), ("arena", c_void_p), ("arena_bytes", c_size_t),
                ("alloc", c_void_p), ("exec", c_void_p), ("custom_calls", c_void_p), ("infeed", c_void_p),
                ("outfeed", c_void_p), ("comm", c_void_p), ("state", c_void_p), ("cancel", c_void_p),
                ("deadline_ns", c_int64), ("profile", c_void_p), ("profile_count", c_uint32),
                ("profile_stride", c_uint32), ("rng_seed", c_uint64), ("run_id", c_int64), ("message", c_void_p),
                ("message_bytes", c_size_t), ("host_send", c_void_p), ("host_recv", c_void_p),
                ("prepared", c_void_p), ("prepared_bytes", c_size_t), ("cpu_level", c_int32), ("reserved", c_int32)]


class View(Structure):
    """hlo_view"""
    _fields_ = [("struct_size", c_uint32), ("type", c_int32), ("data", c_void_p), ("bytes", c_uint64),
                ("dims", POINTER(c_int64)), ("minor_to_major", POINTER(c_int64)), ("rank", c_int32),
                ("reserved", c_int32)]


class Options(Structure):
    """hlo_compile_options"""
    _fields_ = [("struct_size", c_uint32), ("emit", c_uint32), ("file", c_char_p), ("name", c_char_p),
                ("target", c_char_p), ("cpu", c_char_p), ("features", c_char_p), ("dispatch", POINTER(c_char_p)),
                ("num_dispatch", c_size_t), ("immutable_params", c_char_p), ("flags", c_uint32), ("jobs", c_uint32),
                ("opt_level", c_int32), ("replicas", c_uint32), ("partitions", c_uint32), ("reserved", c_uint32),
                ("max_arena_bytes", c_uint64), ("max_stack_bytes", c_uint64), ("cancel", c_void_p),
                ("progress", c_void_p), ("user", c_void_p), ("cxx_namespace", c_char_p),
                ("bounds", POINTER(c_char_p)), ("num_bounds", c_size_t), ("specialize", c_char_p),
                ("dynamic_buffers", c_char_p)]


class Diagnostic(Structure):
    """hlo_diagnostic"""
    _fields_ = [("struct_size", c_uint32), ("severity", c_uint32), ("code", c_char_p), ("message", c_char_p),
                ("file", c_char_p), ("line", c_uint32), ("column", c_uint32)]


class Bytes(Structure):
    """hlo_bytes"""
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


#: hlo_status (*)(const hlo_call *, const void *const *inputs, void *const *outputs); releases the GIL.
RUN = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


def _declare(library: ctypes.CDLL, functions: dict[str, tuple[object, list]]) -> ctypes.CDLL:
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


rt = _declare(ctypes.CDLL(str(_paths.library("libhlo_rt.so.2"))), {
    "hlo_status_name": (c_char_p, [c_int32]),
    "hlo_type_name": (c_char_p, [c_int32]),
    "hlo_type_bits": (c_int32, [c_int32]),
    "hlo_arena_bytes": (c_uint64, [c_void_p, c_uint32]),
    "hlo_prepare_arena_bytes": (c_uint64, [c_void_p, c_uint32]),
    "hlo_input_dims": (None, [c_void_p, c_uint32, POINTER(c_int64), POINTER(c_int64)]),
    "hlo_output_dims": (c_int32, [c_void_p, c_uint32, POINTER(c_int64), POINTER(c_int64)]),
    "hlo_check": (c_int32, [c_void_p, POINTER(Call), c_void_p, c_size_t]),
    "hlo_run_checked": (c_int32, [c_void_p, c_void_p, POINTER(View), c_uint32, POINTER(View), c_uint32]),
    "hlo_prepare_checked": (c_int32, [c_void_p, c_void_p, POINTER(View), c_uint32, c_void_p, c_size_t]),
    "hlo_pool_cpus": (c_uint32, []),
    "hlo_pool_create": (c_void_p, [c_uint32]),
    "hlo_pool_destroy": (None, [c_void_p]),
    "hlo_pool_executor": (c_void_p, [c_void_p]),
    "hlo_cpu_detect": (c_uint64, []),
})

_compiler: ctypes.CDLL | None = None


def compiler() -> ctypes.CDLL:
    """libhlo_compiler.so, loaded when it is first used: a function from the cache does without its 20 ms."""
    global _compiler
    if _compiler is None:
        _compiler = _declare(ctypes.CDLL(str(_paths.library("libhlo_compiler.so.1"))), {
            "hlo_compiler_version": (c_char_p, []),
            "hlo_compile_text": (c_int32, [c_char_p, c_size_t, POINTER(Options), POINTER(c_void_p)]),
            "hlo_jit_text": (c_int32, [c_char_p, c_size_t, POINTER(Options), POINTER(c_void_p)]),
            "hlo_jit_object": (c_int32, [c_char_p, c_size_t, c_char_p, POINTER(c_void_p)]),
            "hlo_compilation_free": (None, [c_void_p]),
            "hlo_compilation_module": (POINTER(Module), [c_void_p]),
            "hlo_compilation_artifact": (Bytes, [c_void_p, c_uint32]),
            "hlo_compilation_prefix": (c_char_p, [c_void_p]),
            "hlo_compilation_num_diagnostics": (c_size_t, [c_void_p]),
            "hlo_compilation_diagnostic": (POINTER(Diagnostic), [c_void_p, c_size_t]),
            "hlo_compilation_log": (c_char_p, [c_void_p]),
        })
    return _compiler


def text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")


def elements(kind: Any, address: int | None, stride: int, count: int) -> Iterator[Any]:
    """The structs of an array whose elements are `stride` bytes apart."""
    for i in range(count if address else 0):
        yield kind.from_address((address or 0) + i * stride)


def status_name(status: int) -> str:
    return text(rt.hlo_status_name(status))
