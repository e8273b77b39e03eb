"""What a module says of itself, as Python objects."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np

from . import _native
from ._types import TYPES


@dataclass(frozen=True)
class Sharding:
    """How an array is split among the partitions of a module."""
    shape: tuple[int, ...]  #: of the whole array; `ArrayInfo.shape` is that of a shard
    mesh: tuple[tuple[str, int], ...]  #: axes and their sizes, the slowest varying first
    axes: tuple[tuple[str, ...], ...]  #: for each dimension the axes that split it
    devices: tuple[int, ...] | None  #: the partition at each place of the mesh; None: place p has partition p

    def __str__(self) -> str:
        split = ", ".join("{" + ", ".join(axes) + "}" for axes in self.axes)
        return f"shard of [{','.join(map(str, self.shape))}] by [{split}]"


@dataclass(frozen=True)
class ArrayInfo:
    """A parameter or result of a module; tuples are flattened, depth first."""
    name: str
    type: str  #: HLO's name of the element type, as "bf16"
    dtype: np.dtype  #: of the numpy arrays
    shape: tuple[int, ...]  #: for bounded dimensions the bounds
    bounded: tuple[int, ...]  #: dimensions whose size may be smaller in a call
    bytes: int  #: of the module's buffer
    layout: str  #: order of the elements in words
    minor_to_major: tuple[int, ...]
    alias: int | None  #: of a parameter: the result that may have its buffer; of a result: the parameter
    immutable: bool  #: named by immutable_params
    read: bool  #: False if calls do not look at the parameter
    sharding: Sharding | None = None  #: None: every partition has the whole array
    sizes: str = ""  #: dimensions as functions of the program's named sizes, "[b, 2*b + 1, 16]"

    def __str__(self) -> str:
        sizes = ",".join(("<=" if i in self.bounded else "") + str(n) for i, n in enumerate(self.shape))
        return f"{self.name}: {self.type}[{sizes}]"


@dataclass(frozen=True)
class OpInfo:
    """An operation of the compiled module, for profiles: often several instructions in one kernel."""
    name: str
    kind: str
    line: int  #: of the HLO text
    flops: int  #: 0: unknown
    bytes: int  #: 0: unknown


@dataclass(frozen=True)
class ModuleInfo:
    """The description of a compiled module. Its string is a table for people."""
    name: str
    inputs: tuple[ArrayInfo, ...]
    outputs: tuple[ArrayInfo, ...]
    arena_bytes: int  #: scratch of a call on one thread
    thread_arena_bytes: int  #: and of each further thread
    stack_bytes: int  #: 0: unknown
    state_bytes: int
    prepared_bytes: int
    target: str  #: triple and CPU
    cpu_levels: tuple[str, ...]  #: of an object with `dispatch`
    custom_calls: tuple[str, ...]  #: targets that a call needs
    needs: tuple[str, ...]  #: of "infeed", "outfeed", "comm", "state", "host_send", "host_recv"
    num_replicas: int
    num_partitions: int
    compiler_version: str
    flags: str
    source_sha256: str
    signature: int
    ops: tuple[OpInfo, ...] = field(repr=False)

    def __str__(self) -> str:
        lines = [f"{self.name}: for {self.target}, by hlo-compile {self.compiler_version} {self.flags}".rstrip()]
        for title, arrays in (("in", self.inputs), ("out", self.outputs)):
            for i, array in enumerate(arrays):
                facts = [str(array), f"{array.bytes} bytes"]
                if array.layout not in ("row-major", "scalar"):
                    facts.append(array.layout)
                if array.alias is not None:
                    facts.append(f"may share the buffer of {'out' if title == 'in' else 'in'} {array.alias}")
                if array.sharding is not None:
                    facts.append(str(array.sharding))
                if array.immutable:
                    facts.append("immutable")
                lines.append(f"  {title} {i}  " + ", ".join(facts))
        lines.append(f"  arena {self.arena_bytes} bytes, {self.thread_arena_bytes} for each further thread; "
                     f"stack {self.stack_bytes or 'of unknown size'}")
        for title, value in (("prepared block", self.prepared_bytes), ("state", self.state_bytes)):
            if value:
                lines.append(f"  {title} {value} bytes")
        for title, values in (("custom calls", self.custom_calls), ("needs", self.needs), ("levels", self.cpu_levels)):
            if values:
                lines.append(f"  {title}: {', '.join(values)}")
        lines.append(f"  {len(self.ops)} operations")
        return "\n".join(lines)


def _sharding(address: int) -> Sharding | None:
    if not address:
        return None
    found = _native.Sharding.from_address(address)
    mesh = tuple((_native.text(found.mesh_names[i]), found.mesh_sizes[i]) for i in range(found.num_axes))
    axes, at = [], 0
    for _ in range(found.rank):
        axes.append(tuple(mesh[found.axes[at + 1 + i]][0] for i in range(found.axes[at])))
        at += 1 + len(axes[-1])
    devices = tuple(found.devices[:found.num_partitions]) if found.devices else None
    return Sharding(tuple(found.dims[:found.rank]) if found.rank else (), mesh, tuple(axes), devices)


def _split(sizes: str) -> list[str]:
    """The dimensions in "[b, max(b, s), 16]"."""
    result, depth = [""], 0
    for char in sizes[1:-1]:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            result.append("")
        else:
            result[-1] += char
    return [size.strip() for size in result]


def _arrays(address: int, stride: int, count: int, use: list[int]) -> tuple[ArrayInfo, ...]:
    leaves = list(_native.elements(_native.Buffer, address, stride, count))
    bounded: dict[int, list[int]] = {}
    for leaf in leaves:
        if leaf.size_of:
            bounded.setdefault(leaf.size_of - 1, []).append(leaf.size_dim)
    result = []
    for i, leaf in enumerate(leaves):
        if leaf.size_of:
            continue
        rank = leaf.rank
        order = tuple(leaf.minor_to_major[:rank]) if leaf.minor_to_major else tuple(reversed(range(rank)))
        element = TYPES[leaf.type]
        sizes = _native.text(ctypes.c_char_p(_native.sizes_address(address + i * stride, stride)).value)
        named = [] if not sizes else [d for d, size in enumerate(_split(sizes)) if not size.isdigit()]
        result.append(ArrayInfo(
            name=_native.text(leaf.name), type=element.name, dtype=element.dtype,
            shape=tuple(leaf.dims[:rank]) if rank else (), bounded=tuple(sorted({*bounded.get(i, ()), *named})), sizes=sizes, bytes=leaf.bytes,
            layout=_native.text(leaf.layout), minor_to_major=order, alias=leaf.alias if leaf.alias >= 0 else None,
            immutable=bool(use[i] & _native.IMMUTABLE), read=bool(use[i] & _native.READ_BY_RUN),
            sharding=_sharding(_native.sharding_address(address + i * stride, stride))))
    return tuple(result)


def describe_module(module: _native.Module) -> ModuleInfo:
    """Copies a description out of the library's memory."""
    use = list(module.input_use[:module.num_inputs]) if module.input_use else [_native.READ_BY_RUN] * module.num_inputs
    calls = []
    if module.custom_calls:
        i = 0
        while name := ctypes.c_char_p.from_address(module.custom_calls + 8 * i).value:
            calls.append(_native.text(name))
            i += 1
    ops = _native.elements(_native.Op, module.ops, module.op_stride, module.num_ops)
    return ModuleInfo(
        name=_native.text(module.name),
        inputs=_arrays(module.inputs, module.buffer_stride, module.num_inputs, use),
        outputs=_arrays(module.outputs, module.buffer_stride, module.num_outputs,
                        [_native.READ_BY_RUN] * module.num_outputs),
        arena_bytes=module.arena_bytes, thread_arena_bytes=module.thread_arena_bytes, stack_bytes=module.stack_bytes,
        state_bytes=module.state_bytes, prepared_bytes=module.prepared_bytes, target=_native.text(module.target),
        cpu_levels=tuple(_native.text(module.levels[i].contents.level_name) for i in range(module.num_levels)),
        custom_calls=tuple(dict.fromkeys(calls)),
        needs=tuple(name for i, name in enumerate(_native.NEEDS) if module.needs >> i & 1),
        num_replicas=module.num_replicas, num_partitions=module.num_partitions,
        compiler_version=_native.text(module.compiler_version), flags=_native.text(module.flags),
        source_sha256=_native.text(module.source_sha256), signature=module.signature,
        ops=tuple(OpInfo(_native.text(op.name), _native.text(op.kind), op.line, op.flops, op.bytes) for op in ops))
