"""The description in an object file of any architecture, without running or linking it.

An object's description (hlo_module_desc and what it refers to) is data: its pointers are relocations of 64 bits. Here
the data sections are copied to memory, and each such relocation becomes an address in the copies. Addresses of
functions become null.
"""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any, Iterable

from . import _native
from ._describe import ModuleInfo, describe_module
from ._types import TYPES

#: e_machine: the relocation that is a 64-bit address.
_ADDRESS_RELOCATION = {62: 1, 183: 257, 243: 2}
MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_SHF_ALLOC, _SHF_EXECINSTR = 2, 4


def machine_of(data: bytes) -> int:
    """e_machine of an ELF relocatable for 64 bits and little-endian; 0 for anything else."""
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 16)[0] != 1:
        return 0
    return struct.unpack_from("<H", data, 18)[0]


def describe_object(data: bytes, name: str | None = None) -> ModuleInfo:
    """The description of the module whose symbols begin with `name`, or of the only one. ValueError if there is none."""
    try:
        return _describe(data, name)
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"damaged object: {error}") from None


def _string(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset)
    if end < 0:
        raise ValueError("damaged object: a name without end")
    return data[offset:end].decode("utf-8", "replace")


def _describe(data: bytes, name: str | None) -> ModuleInfo:
    wanted = _ADDRESS_RELOCATION.get(machine_of(data))
    if wanted is None:
        raise ValueError("not an object file of a supported architecture")
    offset, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(count)]
    images: dict[int, Any] = {}
    for i, (_, kind, flags, _, begin, size, *_) in enumerate(sections):
        if flags & _SHF_ALLOC and not flags & _SHF_EXECINSTR and size and kind != _SHT_NOBITS:
            if begin + size > len(data):
                raise ValueError("damaged object: a section reaches beyond the file")
            images[i] = ctypes.create_string_buffer(data[begin:begin + size] + bytes(15))
    symbols = []
    for _, kind, _, _, begin, size, link, *_ in sections:
        if kind == _SHT_SYMTAB:
            names = sections[link][4]
            for at in range(begin, begin + size, 24):
                text, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
                symbols.append((_string(data, names + text), section, value))
    for _, kind, _, _, begin, size, _, target, *_ in sections:
        if kind != _SHT_RELA or target not in images:
            continue
        for at in range(begin, begin + size, 24):
            place, info, addend = struct.unpack_from("<QQq", data, at)
            _, section, value = symbols[info >> 32]
            if info & 0xffffffff == wanted and place + 8 <= len(images[target]):
                inside = section in images and 0 <= value + addend < len(images[section])
                address = ctypes.addressof(images[section]) + value + addend if inside else 0
                struct.pack_into("<Q", images[target], place, address)
    modules = sorted({found[1] for symbol, *_ in symbols if (found := re.fullmatch(r"(.+)_describe", symbol))})
    if name is None and len(modules) == 1:
        name = modules[0]
    if name not in modules:
        if not modules:
            raise ValueError("not an object of hlo-compile")
        raise ValueError(f"name: expected one of {', '.join(modules)}, given {name}")
    for symbol, section, value in symbols:
        if symbol == f"{name}.desc" and section in images and value + ctypes.sizeof(_native.Module) < len(images[section]):
            memory = _Memory(images.values())
            module = memory.module(ctypes.addressof(images[section]) + value)
            return describe_module(module)
    raise ValueError(f"the description of {name} was stripped")


class _Memory:
    """Checks that a description refers to nothing outside of the copied sections, whatever the file says."""

    def __init__(self, images: Iterable[Any]):
        # A section is followed by a NUL and more zeros, which end strings and lists.
        self.ranges = [(ctypes.addressof(image), ctypes.addressof(image) + len(image) - 8) for image in images]

    def need(self, address: int | None, size: int) -> None:
        if size and not any(begin <= (address or 0) and (address or 0) + size <= end for begin, end in self.ranges):
            raise ValueError("damaged object: a description that reaches beyond its section")

    def struct(self, kind: Any, address: int | None) -> Any:
        """The struct at an address, all of whose pointers are null or right."""
        self.need(address, ctypes.sizeof(kind))
        for name, field in kind._fields_:
            if field in (ctypes.c_char_p, ctypes.c_void_p) or hasattr(field, "contents"):
                pointer = ctypes.c_uint64.from_address((address or 0) + getattr(kind, name).offset).value
                self.need(pointer, 1 if pointer else 0)
        return kind.from_address(address)

    def sharding(self, address: int) -> None:
        if not address:
            return
        found = self.struct(_native.Sharding, address)
        if found.rank < 0 or found.num_axes < 0 or found.num_partitions < 0:
            raise ValueError("damaged object: a sharding of negative size")
        lists = {name: ctypes.cast(getattr(found, name), ctypes.c_void_p).value
                 for name in ("dims", "mesh_sizes", "mesh_names", "axes", "devices")}
        self.need(lists["dims"], 8 * found.rank)
        self.need(lists["mesh_sizes"], 8 * found.num_axes)
        self.need(lists["mesh_names"], 8 * found.num_axes)
        for i in range(found.num_axes):
            self.need(ctypes.c_uint64.from_address((lists["mesh_names"] or 0) + 8 * i).value, 1)
        if lists["devices"]:
            self.need(lists["devices"], 8 * found.num_partitions)
        at = lists["axes"] or 0
        for _ in range(found.rank):
            self.need(at, 8)
            count = ctypes.c_int64.from_address(at).value
            if not 0 <= count <= found.num_axes:
                raise ValueError(f"damaged object: {count} axes of a dimension")
            self.need(at, 8 * (1 + count))
            if any(not 0 <= ctypes.c_int64.from_address(at + 8 * (1 + i)).value < found.num_axes for i in range(count)):
                raise ValueError("damaged object: an axis that the mesh does not have")
            at += 8 * (1 + count)

    def module(self, address: int | None, depth: int = 0) -> _native.Module:
        module = self.struct(_native.Module, address)
        if module.abi != _native.ABI or module.struct_size < ctypes.sizeof(_native.Module):
            raise ValueError(f"a description of ABI {module.abi}; expected {_native.ABI}")
        for first, stride, count, kind in (
                (module.inputs, module.buffer_stride, module.num_inputs, _native.Buffer),
                (module.outputs, module.buffer_stride, module.num_outputs, _native.Buffer),
                (module.ops, module.op_stride, module.num_ops, _native.Op)):
            self.need(first, max(stride, ctypes.sizeof(kind)) * count)
            for i in range(count):
                element = self.struct(kind, (first or 0) + i * stride)
                if kind is _native.Buffer:
                    if not 0 < element.type < len(TYPES) or not 0 <= element.rank <= 1 << 20:
                        raise ValueError(f"damaged object: an array of type {element.type} and rank {element.rank}")
                    if element.size_of < 0 or element.size_of > count:
                        raise ValueError("damaged object: the size of no array")
                    self.need(ctypes.cast(element.dims, ctypes.c_void_p).value, 8 * element.rank)
                    order = ctypes.cast(element.minor_to_major, ctypes.c_void_p).value
                    self.need(order, 8 * element.rank if order else 0)
                    self.sharding(_native.sharding_address((first or 0) + i * stride, stride))
                    sizes = _native.sizes_address((first or 0) + i * stride, stride)
                    self.need(sizes, 1 if sizes else 0)
        self.need(ctypes.cast(module.input_use, ctypes.c_void_p).value, module.num_inputs if module.input_use else 0)
        at = module.custom_calls
        while at:
            self.need(at, 8)
            target = ctypes.c_uint64.from_address(at).value
            self.need(target, 1 if target else 0)
            at = at + 8 if target else None
        self.need(ctypes.cast(module.levels, ctypes.c_void_p).value, 8 * module.num_levels)
        if module.num_levels and depth:
            raise ValueError("damaged object: levels of a level")
        for i in range(module.num_levels):
            self.module(ctypes.cast(module.levels[i], ctypes.c_void_p).value, depth + 1)
        return module
