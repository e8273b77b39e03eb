"""Where the functions of custom calls come from."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

from . import _native, _paths

_STT_FUNC, _STT_GNU_IFUNC = 2, 10
_FUNCTION: Any = type(ctypes.pythonapi.PyCapsule_GetPointer).__mro__[1]  # what all of ctypes' functions are


class _Info(ctypes.Structure):
    """Dl_info"""
    _fields_ = [("fname", ctypes.c_char_p), ("fbase", ctypes.c_void_p), ("sname", ctypes.c_char_p),
                ("saddr", ctypes.c_void_p)]


def _function_of(library: ctypes.CDLL, name: str) -> int:
    """Address of a function that the library itself defines, or 0. Symbols of the libraries that it needs do not count:
    a text must not reach the C library's `system`."""
    try:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0
    process = ctypes.CDLL(None)
    info, entry = _Info(), ctypes.c_void_p()
    process.dladdr1.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Info), ctypes.POINTER(ctypes.c_void_p), ctypes.c_int]
    if not process.dladdr1(address, info, entry, 1):  # RTLD_DL_SYMENT
        return 0
    base = ctypes.c_size_t.from_address(library._handle).value  # link_map.l_addr
    if (info.fbase or 0) != base:
        return 0
    if entry.value:
        kind = ctypes.c_uint8.from_address(entry.value + 4).value & 15  # Elf64_Sym.st_info
        return address if kind in (_STT_FUNC, _STT_GNU_IFUNC) or info.saddr != address else 0
    return address


def _address(name: str, value: Any) -> int:
    """The address in an int, a ctypes function, or a PyCapsule such as jax.ffi.pycapsule makes."""
    if isinstance(value, int):
        return value
    if type(value).__name__ == "PyCapsule":
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        return api.PyCapsule_GetPointer(value, api.PyCapsule_GetName(value))
    if isinstance(value, _FUNCTION):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    raise TypeError(f"custom_calls[{name!r}] is {type(value).__name__}; expected an address, a ctypes function or a "
                    "PyCapsule")


class Table:
    """The hlo_custom_calls of a module: for each target the function of the first source that has one."""

    def __init__(self, module: _native.Module, sources: Any, fallback: Callable[[], Mapping[str, Any]] | None = None):
        self.libraries: list[ctypes.CDLL] = []
        given: dict[str, Any] = {}
        if sources is None:
            sources = ()
        elif isinstance(sources, Mapping):
            given = dict(sources)
            sources = ()
        elif isinstance(sources, (str, os.PathLike)):
            sources = (sources,)
        for path in sources:
            self.libraries.append(ctypes.CDLL(str(Path(path).resolve())))
        others: Mapping[str, Any] | None = None
        entries: list[_native.CustomCall] = []
        lapack: list[ctypes.CDLL] | None = None
        targets = self._targets(module)
        for target in targets:
            name = _native.text(target.name)
            address = _address(name, given[name]) if name in given else self._find(self.libraries, name)
            if not address and not target.fn:
                if lapack is None:
                    lapack = _lapack()
                    self.libraries.extend(lapack)
                address = self._find(lapack, name)
            if not address and not target.fn and fallback:
                others = fallback() if others is None else others
                address = _address(name, others[name]) if name in others else 0
            if address and not (entries and entries[-1].name == target.name):
                entries.append(_native.CustomCall(target.name, target.api, 0, address, None))
        self.keep = (given, others)
        self.entries = (_native.CustomCall * len(entries))(*entries)
        self.calls = _native.CustomCalls(ctypes.sizeof(_native.CustomCalls), len(entries),
                                         ctypes.sizeof(_native.CustomCall), 0, ctypes.addressof(self.entries))
        self.address = ctypes.addressof(self.calls) if targets else None

    @staticmethod
    def _targets(module: _native.Module) -> list[_native.CustomCall]:
        result: list[_native.CustomCall] = []
        while module.custom_call_targets:
            target = _native.CustomCall.from_address(module.custom_call_targets + len(result) * module.custom_call_stride)
            if not target.name:
                break
            result.append(target)
        return result

    @staticmethod
    def _find(libraries: Iterable[ctypes.CDLL], name: str) -> int:
        return next(filter(None, (_function_of(library, name) for library in libraries)), 0)


def _lapack() -> list[ctypes.CDLL]:
    """libhlo_lapack beside the compiler; it needs the system's LAPACK."""
    try:
        return [ctypes.CDLL(str(_paths.library("libhlo_lapack.so")))]
    except (ImportError, OSError):
        return []
