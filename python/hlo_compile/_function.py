"""A compiled module that is called with numpy arrays.

A call checks its arguments, writes their addresses into a frame (hlo_call, arena, tables of pointers: all that one call
needs), makes the outputs and enters the module without the GIL. Frames are kept in a list: as many as calls have run at
once. Modules whose buffers are not numpy's (packed types, bounded sizes, other layouts) take a slower way with copies.
"""

from __future__ import annotations

import ctypes
import math
import queue
import weakref
from ctypes import c_int32, c_void_p
from threading import Lock
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _native, _threads
from ._custom_calls import Table
from ._describe import ArrayInfo, ModuleInfo, describe_module
from ._errors import Diagnostic, RunError
from ._types import TYPES, ElementType, pack, unpack

_ALIGN = 64
_MESSAGE_BYTES = 1024
#: Work of a call that is not run on a worker, so that Ctrl-C waits for its end: about 10 ms on one core.
_SHORT_FLOPS, _SHORT_BYTES = 2e8, 5e7

_empty, _ndarray, _uint8 = np.empty, np.ndarray, np.dtype(np.uint8)


def _address_from_interface(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _choose_address() -> Callable[[np.ndarray], int]:
    """The address of an array's data: PyArrayObject has it after the object's header, which is part of numpy's ABI.
    Reading it there takes a third of the time that __array_interface__ needs; a check at import decides."""
    header = object.__basicsize__
    from_address = c_void_p.from_address

    def address(array: np.ndarray) -> int:
        return from_address(id(array) + header).value or 0

    probe = np.arange(7)[2:]
    try:
        return address if address(probe) == _address_from_interface(probe) else _address_from_interface
    except Exception:
        return _address_from_interface


if hasattr(ctypes, "pythonapi") and not hasattr(ctypes, "_is_pypy"):
    address_of = _choose_address()
else:
    address_of = _address_from_interface


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype, count: int) -> np.ndarray:
    """An array of `count` bytes that begins at a multiple of 64."""
    memory = _empty(count + _ALIGN, _uint8)
    return _ndarray(shape, dtype, memory, -address_of(memory) & (_ALIGN - 1))


class _Leaf:
    """One array of the module, as calls see it."""

    def __init__(self, index: int, info: ArrayInfo, buffer: _native.Buffer):
        self.index, self.info, self.buffer = index, info, buffer
        self.element: ElementType = TYPES[buffer.type]
        self.dtype, self.shape, self.bytes = info.dtype, info.shape, info.bytes
        self.order = tuple(reversed(info.minor_to_major))
        self.row_major = self.order == tuple(range(len(self.shape)))
        self.packed = self.element.bits < 8
        self.sizes: list[tuple[int, int]] = []  # leaf that holds the size, dimension
        self.dense = buffer.size_of == 0 and buffer.size_dim == _native.DENSE  # for the sizes of a call
        self.simple = self.row_major and not self.packed and not info.bounded

    def buffer_of(self, array: np.ndarray) -> tuple[np.ndarray, bool]:
        """The buffer of an input, and whether it is the array's own memory."""
        if self.info.bounded and array.shape != self.shape and not self.dense:
            whole = np.zeros(self.shape, self.dtype)
            whole[tuple(map(slice, array.shape))] = array
            array = whole
        if not self.row_major:
            array = array.transpose(self.order)
        if self.packed:
            return pack(array, self.element), False
        contiguous = np.ascontiguousarray(array)
        return contiguous, contiguous is array

    def new_buffer(self, dims: Sequence[int] | None) -> np.ndarray:
        """Memory of an output; `dims`: of a dense one, if they are known before the call."""
        if self.packed:
            return aligned_empty((self.bytes,), _uint8, self.bytes)
        if dims is not None:
            return aligned_empty(tuple(dims), self.dtype, math.prod(dims) * self.dtype.itemsize)
        shape = self.shape if self.row_major else tuple(self.shape[i] for i in self.order)
        return aligned_empty(shape, self.dtype, self.bytes)

    def array_of(self, buffer: np.ndarray, sizes: Sequence[int] | None) -> np.ndarray:
        """The result in the buffer of an output."""
        if self.dense and sizes is not None:
            memory_shape = tuple(sizes[i] for i in self.order)
            array = buffer.reshape(-1)[:math.prod(memory_shape)].reshape(memory_shape)
            return np.ascontiguousarray(array.transpose(np.argsort(self.order)))
        memory_shape = tuple(self.shape[i] for i in self.order)
        array = unpack(buffer, self.element, memory_shape) if self.packed else buffer
        if not self.row_major:
            array = array.transpose(np.argsort(self.order))
        if sizes is not None:
            array = array[tuple(map(slice, sizes))]
            array = array if array.flags.c_contiguous else array.copy()
        return array


class _Frame:
    """What one call needs. Belongs to one call at a time."""
    __slots__ = ("call", "call_address", "inputs", "outputs", "inputs_address", "outputs_address", "message", "memory",
                 "cancel", "__weakref__")

    def __init__(self, function: "Function", arena_bytes: int):
        module = function._module
        self.cancel = c_int32(0)
        self.message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        self.memory = aligned_empty((arena_bytes,), _uint8, arena_bytes)
        self.inputs = (c_void_p * max(1, module.num_inputs))()
        self.outputs = (c_void_p * max(1, module.num_outputs))()
        self.inputs_address, self.outputs_address = ctypes.addressof(self.inputs), ctypes.addressof(self.outputs)
        self.call = _native.Call(
            struct_size=ctypes.sizeof(_native.Call), abi=_native.ABI, arena=address_of(self.memory),
            arena_bytes=arena_bytes, exec=function._executor or None, custom_calls=function._calls.address,
            state=address_of(function._state) if function._state is not None else None,
            cancel=ctypes.addressof(self.cancel), rng_seed=function._rng_seed,
            message=ctypes.addressof(self.message), message_bytes=_MESSAGE_BYTES)
        self.call_address = ctypes.addressof(self.call)

    def error(self, status: int) -> RunError:
        return RunError(_native.status_name(status), _native.text(self.message.value))


class Function:
    """A compiled module. Made by `hc.compile`, `hc.load` and, inside, by `hc.jit`.

    Calling it takes one array for each parameter, tuples flattened, by position or by name. A parameter's dtype and
    shape must be the module's: TypeError or ValueError name the parameter otherwise. C-contiguous arrays are read in
    place, others are copied; Python numbers are converted. The results are new arrays whose memory begins at a multiple
    of 64 bytes: one array if the module has one result, else a tuple with the leaves of the root.

    Any number of threads may call at once; the GIL is released. On the main thread, Ctrl-C ends a call.

    >>> import hlo_compile as hc, numpy as np
    >>> f = hc.compile('''HloModule scale
    ... ENTRY e {
    ...   a = f32[] parameter(0)
    ...   x = f32[4] parameter(1)
    ...   b = f32[4] broadcast(a), dimensions={}
    ...   ROOT y = f32[4] multiply(b, x)
    ... }
    ... ''')
    >>> f(2, np.arange(4, dtype=np.float32))
    array([0., 2., 4., 6.], dtype=float32)
    >>> f(2, x=np.ones(3, np.float32))
    Traceback (most recent call last):
        ...
    ValueError: x: expected shape (4,), given (3,)
    """

    def __init__(self, compilation: "Compilation", *, threads: int | None = None, custom_calls: Any = None,
                 donate: Any = (), rng_seed: int = 0, custom_call_fallback: Callable[[], Mapping[str, Any]] | None = None):
        self._compilation = compilation
        self._module = module = compilation.module
        self._desc = ctypes.addressof(module)
        self._run = _native.RUN(module.run)
        self._rng_seed = rng_seed
        self._threads = threads if threads is not None else _native.rt.hlo_pool_cpus()
        if self._threads < 1:
            raise ValueError(f"threads: expected at least 1, given {threads}")
        self._executor, self._threads = _threads.pool(self._threads)
        self._calls = Table(module, custom_calls, custom_call_fallback)
        self._state = aligned_empty((module.state_bytes,), _uint8, module.state_bytes) if module.state_bytes else None
        self._state_lock = Lock()
        if self._state is not None:
            self._state[:] = 0
        self._prepared: np.ndarray | None = None
        self._bound: dict[int, np.ndarray] = {}
        self._info: ModuleInfo | None = None
        self._make_leaves()
        self._set_donated(donate)
        self._set_layout_of_calls()
        ops = _native.elements(_native.Op, module.ops, module.op_stride, module.num_ops)
        self._short = not (compilation.may_loop or module.needs or self._calls.entries) and _is_short(ops)
        self._frames: list[_Frame] = []
        _threads.holders.add(self)
        if not self._is_unprepared:
            self._frames.append(self._new_frame())

    # What the module is.

    def describe(self) -> ModuleInfo:
        """Names, types, sizes and needs of the module."""
        if self._info is None:
            self._info = describe_module(self._module)
        return self._info

    @property
    def threads(self) -> int:
        """Threads that a call may use."""
        return self._threads

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the compilation."""
        return self._compilation.diagnostics

    @property
    def object(self) -> bytes:
        """The object file, as `hlo-compile -o model.o` writes it."""
        return self._compilation.object

    @property
    def from_cache(self) -> bool:
        """True if the object came from the cache."""
        return self._compilation.from_cache

    def __repr__(self) -> str:
        info = self.describe()
        given = [str(leaf.info) for leaf in self._arguments]
        return f"<hlo_compile.Function {info.name}({', '.join(given)}) -> {', '.join(map(str, info.outputs))}>"

    # Construction.

    def _make_leaves(self) -> None:
        info, module = self.describe(), self._module

        def leaves(infos: Sequence[ArrayInfo], address: int, count: int) -> list[_Leaf]:
            buffers = list(_native.elements(_native.Buffer, address, module.buffer_stride, count))
            result = [_Leaf(i, described, buffers[i]) for i, described in enumerate(infos)]
            for i, buffer in enumerate(buffers):
                if buffer.size_of:
                    result[buffer.size_of - 1].sizes.append((i, buffer.size_dim))
            return result

        self._inputs = leaves(info.inputs, module.inputs, module.num_inputs)
        self._outputs = leaves(info.outputs, module.outputs, module.num_outputs)

    def _set_donated(self, donate: Any) -> None:
        """donate: "all", or names and numbers of parameters. Those of "all" that share no buffer are ignored."""
        self._donated: dict[int, int] = {}  # input: output
        names = {leaf.info.name: leaf for leaf in self._inputs}
        everything = donate == "all"
        if isinstance(donate, (str, int)) and not everything:
            donate = (donate,)
        for item in self._inputs if everything else donate:
            leaf = item if everything else _named(item, self._inputs, names, "donate")
            if leaf.info.alias is None:
                if everything:
                    continue
                raise ValueError(f"donate: no result may share the buffer of {leaf.info.name}: "
                                 "the module has no input_output_alias for it")
            self._donated[leaf.index] = leaf.info.alias

    def _set_layout_of_calls(self) -> None:
        """Which parameters calls give, and whether the fast way will do."""
        self._arguments = [leaf for leaf in self._inputs if leaf.index not in self._bound]
        self._positions = {leaf.info.name: i for i, leaf in enumerate(self._arguments)}
        self._num_arguments = len(self._arguments)
        self._is_tuple = len(self._outputs) != 1
        simple = all(leaf.simple for leaf in (*self._inputs, *self._outputs))
        self._fast = simple and not self._donated and self._state is None and not self._bound
        self._checks = tuple((leaf.dtype, leaf.shape) for leaf in self._inputs)
        self._results = tuple((leaf.bytes + _ALIGN, leaf.shape, leaf.dtype) for leaf in self._outputs)
        self._is_unprepared = bool(self._module.prepared_bytes) and self._prepared is None

    def _new_frame(self) -> _Frame:
        if self._is_unprepared:
            raise RunError("HLO_ERR_PREPARED", f"{self.describe().name} has immutable parameters: call prepare() with "
                           "them, and call what it returns")
        frame = _Frame(self, _native.rt.hlo_arena_bytes(self._desc, self._threads))
        if self._prepared is not None:
            frame.call.prepared = address_of(self._prepared)
            frame.call.prepared_bytes = self._module.prepared_bytes
        status = _native.rt.hlo_check(self._desc, frame.call, frame.message, _MESSAGE_BYTES)
        if status:
            raise frame.error(status)
        return frame

    def forget_calls(self) -> None:
        """In the child of a fork: the parent's threads are not there, nor the calls that they were in."""
        self._frames = []
        self._state_lock = Lock()
        self._executor, self._threads = _threads.pool(self._threads)

    # Immutable parameters.

    def prepare(self, *args: Any, **kwargs: Any) -> "Function":
        """For a module compiled with `immutable_params`: computes what depends only on them, once. The arguments are
        the immutable parameters, in the module's order or by name. Returns a function of the other parameters; it
        refers to arrays that calls still read, which must not change.

        >>> import hlo_compile as hc, numpy as np
        >>> f = hc.compile('''HloModule affine
        ... ENTRY e {
        ...   w = f32[2,2] parameter(0)
        ...   x = f32[2] parameter(1)
        ...   ROOT y = f32[2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        ... }
        ... ''', immutable_params=["w"])
        >>> g = f.prepare(np.eye(2, dtype=np.float32) * 3)
        >>> g(np.array([1, 2], np.float32))
        array([3., 6.], dtype=float32)
        """
        immutable = [leaf for leaf in self._inputs if leaf.info.immutable]
        values = self._bind(args, kwargs, immutable, f"{self.describe().name}.prepare")
        result: Function = object.__new__(Function)
        result.__dict__.update(self.__dict__)
        result._bound = {}
        views = (_native.View * max(1, self._module.num_inputs))()
        keep = []
        for i in range(self._module.num_inputs):
            views[i].struct_size = ctypes.sizeof(_native.View)
        for leaf, value in zip(immutable, values):
            array = self._array(leaf, value)
            buffer, _ = leaf.buffer_of(array)
            keep.append(buffer)
            views[leaf.index].data, views[leaf.index].bytes = address_of(buffer), leaf.bytes
            result._bound[leaf.index] = buffer
        if self._module.prepare:
            arena = _native.rt.hlo_prepare_arena_bytes(self._desc, self._threads)
            frame = _Frame(self, arena)
            result._prepared = aligned_empty((self._module.prepared_bytes,), _uint8, self._module.prepared_bytes)
            block = address_of(result._prepared)
            status = self._enter(frame, lambda: _native.rt.hlo_prepare_checked(
                self._desc, frame.call_address, views, self._module.num_inputs, block, self._module.prepared_bytes),
                False)
            if status:
                raise frame.error(status)
        result._frames = []
        result._state_lock = Lock()
        result._set_layout_of_calls()
        result._frames.append(result._new_frame())
        _threads.holders.add(result)
        return result

    # Calls.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != self._num_arguments:
            args = tuple(self._bind(args, kwargs, self._arguments, self.describe().name))
        if not self._fast:
            return self._call_general(args)
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._new_frame()
        pointers = frame.inputs
        keep = None
        i = 0
        for array, (dtype, shape) in zip(args, self._checks):
            if (type(array) is not _ndarray or array.dtype is not dtype or array.shape != shape
                    or not array.flags.c_contiguous):
                array = self._array(self._inputs[i], array)
                if not array.flags.c_contiguous:
                    array = np.ascontiguousarray(array)
                if keep is None:
                    keep = []
                keep.append(array)
            pointers[i] = address_of(array)
            i += 1
        pointers = frame.outputs
        results = []
        i = 0
        for size, shape, dtype in self._results:
            memory = _empty(size, _uint8)
            address = address_of(memory)
            offset = -address & 63
            pointers[i] = address + offset
            results.append(_ndarray(shape, dtype, memory, offset))
            i += 1
        if self._short:
            status = self._run(frame.call_address, frame.inputs_address, frame.outputs_address)
        else:
            status = self._enter(frame, lambda: self._run(frame.call_address, frame.inputs_address,
                                                          frame.outputs_address), True)
        if status:
            raise frame.error(status)
        self._frames.append(frame)
        return tuple(results) if self._is_tuple else results[0]

    def _enter(self, frame: _Frame, function: Callable[[], int], may_be_short: bool) -> int:
        return function() if may_be_short and self._short else _threads.call(function, frame.cancel)

    def _call_general(self, args: Sequence[Any]) -> Any:
        """Any module: bound, donated, packed, bounded or transposed arrays, and state."""
        module = self._module
        inputs = (_native.View * max(1, module.num_inputs))()
        outputs = (_native.View * max(1, module.num_outputs))()
        keep: list[Any] = []
        size_of_views = ctypes.sizeof(_native.View)
        for view in (*inputs, *outputs):
            view.struct_size = size_of_views

        def place(view: _native.View, buffer: np.ndarray, leaf: _Leaf) -> None:
            view.data, view.bytes, view.type = address_of(buffer), leaf.bytes, leaf.buffer.type
            if leaf.dense:
                view.bytes = buffer.nbytes
            keep.append(buffer)

        def place_size(view: _native.View, size: int) -> np.ndarray:
            number = np.array([size], np.int64)
            view.data, view.bytes = address_of(number), 8
            keep.append(number)
            return number

        shared: dict[int, np.ndarray] = {}
        for leaf, value in zip(self._arguments, args):
            array = self._array(leaf, value)
            buffer, in_place = leaf.buffer_of(array)
            if leaf.index in self._donated:
                if isinstance(value, _ndarray) and not (in_place and array.flags.writeable):
                    raise ValueError(f"{leaf.info.name} is donated: it must be C-contiguous and writeable")
                shared[self._donated[leaf.index]] = buffer
            place(inputs[leaf.index], buffer, leaf)
            for index, dim in leaf.sizes:
                place_size(inputs[index], array.shape[dim])
        for index, buffer in self._bound.items():
            place(inputs[index], buffer, self._inputs[index])
            for size_index, dim in self._inputs[index].sizes:
                place_size(inputs[size_index], self._inputs[index].shape[dim])
        given = self._sizes_of(inputs)
        for leaf, value in zip(self._arguments, args):
            self._check_shape(leaf, np.shape(value), given)
        buffers = []
        sizes: list[dict[int, np.ndarray]] = []
        for leaf in self._outputs:
            buffer = shared[leaf.index] if leaf.index in shared else leaf.new_buffer(self._dims_of(leaf, given))
            place(outputs[leaf.index], buffer, leaf)
            buffers.append(buffer)
            sizes.append({dim: place_size(outputs[index], 0) for index, dim in leaf.sizes})
        if self._state is not None:
            with self._state_lock:
                self._run_checked(inputs, outputs)
        else:
            self._run_checked(inputs, outputs)
        results = []
        for leaf, buffer, true_sizes in zip(self._outputs, buffers, sizes):
            shape = None
            if true_sizes:
                shape = [int(true_sizes[i][0]) if i in true_sizes else n for i, n in enumerate(leaf.shape)]
            array = leaf.array_of(buffer, shape)
            results.append(array if array.shape == leaf.shape or shape else array.reshape(leaf.shape))
        return tuple(results) if self._is_tuple else results[0]

    def _sizes_of(self, inputs: ctypes.Array) -> ctypes.Array | None:
        """The sizes of a call; None if the module has none."""
        views = inputs[len(self._inputs):self._module.num_inputs]
        values = [ctypes.c_int64.from_address(view.data).value for view in views]
        return (ctypes.c_int64 * len(values))(*values) if values else None

    def _check_shape(self, leaf: _Leaf, shape: tuple[int, ...], sizes: ctypes.Array | None) -> None:
        """Raises ValueError unless the shape is what the program computes from its named sizes."""
        if sizes is None or not leaf.info.sizes:
            return
        dims = (ctypes.c_int64 * len(shape))()
        _native.rt.hlo_input_dims(self._desc, leaf.index, sizes, dims)
        if tuple(dims) != shape:
            raise ValueError(f"{leaf.info.name}: expected shape {tuple(dims)}, as the program has {leaf.info.sizes}, "
                             f"given {shape}")

    def _dims_of(self, leaf: _Leaf, sizes: ctypes.Array | None) -> Sequence[int] | None:
        """The dimensions of a dense output, in the order of memory, if they are known before the call."""
        dims = (ctypes.c_int64 * len(leaf.shape))()
        if not leaf.dense or sizes is None or not _native.rt.hlo_output_dims(self._desc, leaf.index, sizes, dims):
            return None
        return [dims[i] for i in leaf.order]

    def _run_checked(self, inputs: ctypes.Array, outputs: ctypes.Array) -> None:
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._new_frame()
        module = self._module
        status = self._enter(frame, lambda: _native.rt.hlo_run_checked(
            self._desc, frame.call_address, inputs, module.num_inputs, outputs, module.num_outputs), True)
        if status:
            raise frame.error(status)
        self._frames.append(frame)

    # Arguments.

    @staticmethod
    def _bind(args: Sequence[Any], kwargs: Mapping[str, Any], leaves: Sequence[_Leaf], name: str) -> list[Any]:
        """The arguments of a call in the order of `leaves`."""
        if len(args) > len(leaves):
            raise TypeError(f"{name} takes {len(leaves)} arguments, {len(args)} were given")
        missing = object()
        values = [*args, *[missing] * (len(leaves) - len(args))]
        positions = {leaf.info.name: i for i, leaf in enumerate(leaves)}
        for key, value in kwargs.items():
            if key not in positions:
                raise TypeError(f"{name} has no parameter {key}; there are {', '.join(positions) or 'none'}")
            if values[positions[key]] is not missing:
                raise TypeError(f"{name}: {key} is given twice")
            values[positions[key]] = value
        absent = [leaf.info.name for leaf, value in zip(leaves, values) if value is missing]
        if absent:
            raise TypeError(f"{name}: {', '.join(absent)} not given")
        return values

    @staticmethod
    def _array(leaf: _Leaf, value: Any) -> np.ndarray:
        """An argument as an array of the parameter's type and shape."""
        name, dtype = leaf.info.name, leaf.dtype
        if isinstance(value, np.ndarray):
            array = value
        elif isinstance(value, np.generic):
            array = np.asarray(value)
        elif type(value) in (bool, int, float, complex):
            array = _number(value, dtype, name)
        elif hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            array = np.asarray(value)
        elif hasattr(value, "__dlpack__"):
            array = np.from_dlpack(value)
        else:
            raise TypeError(f"{name}: expected an array of {dtype}, given {type(value).__name__}")
        if array.dtype != dtype:
            raise TypeError(f"{name}: expected {dtype}, given {array.dtype}")
        if array.shape != leaf.shape:
            bounded = leaf.info.bounded
            fits = len(array.shape) == len(leaf.shape) and all(
                n <= bound if i in bounded else n == bound for i, (n, bound) in enumerate(zip(array.shape, leaf.shape)))
            if not fits:
                expected = ", ".join(f"<={n}" if i in bounded else str(n) for i, n in enumerate(leaf.shape))
                expected = f"({expected}{',' if len(leaf.shape) == 1 else ''})"
                raise ValueError(f"{name}: expected shape {expected}, given {array.shape}")
        return array


def _number(value: Any, dtype: np.dtype, name: str) -> np.ndarray:
    """A Python number as an array of a parameter's type, if the type can be meant."""
    kinds = {bool: "buifcV", int: "uifcV", float: "fcV", complex: "c"}[type(value)]
    if dtype.kind not in kinds:
        raise TypeError(f"{name}: expected {dtype}, given {type(value).__name__}")
    try:
        return np.asarray(value, dtype)
    except OverflowError as error:
        raise ValueError(f"{name}: {error}") from None


def _named(item: Any, leaves: Sequence[_Leaf], names: Mapping[str, _Leaf], what: str) -> _Leaf:
    if isinstance(item, str) and item in names:
        return names[item]
    if isinstance(item, int) and 0 <= item < len(leaves):
        return leaves[item]
    raise ValueError(f"{what}: no parameter {item!r}; there are {', '.join(names) or 'none'}")


def _is_short(ops: Iterable[_native.Op]) -> bool:
    """True if a call of a module without loops ends within about 10 ms, as far as the operations tell."""
    flops = size = 0
    for op in ops:
        if not op.flops and not op.bytes and op.kind not in (b"entry", b"copy"):
            return False
        flops += op.flops
        size += op.bytes
    return flops <= _SHORT_FLOPS and size <= _SHORT_BYTES


class _Owner(weakref.ref):
    """Refers to a Compilation, and knows what it owns."""
    __slots__ = ("handle",)


_owners: dict[int, _Owner] = {}
#: Owners whose Compilation is gone. They get here by a function in C, and are freed before the next Compilation is
#: made: in a finalizer in Python the exception of a signal handler would be lost.
_unused: queue.SimpleQueue = queue.SimpleQueue()


def _free_unused(library: Any) -> None:
    while True:
        try:
            owner = _unused.get_nowait()
        except queue.Empty:
            return
        del _owners[owner.handle]
        library.hlo_compilation_free(owner.handle)


class Compilation:
    """Owns the library's result: the code lives as long as this."""

    def __init__(self, handle: int, diagnostics: tuple[Diagnostic, ...], *, may_loop: bool, from_cache: bool = False,
                 obj: bytes | None = None):
        library = _native.compiler()
        self.module = library.hlo_compilation_module(handle).contents
        self.handle, self.diagnostics, self.from_cache = handle, diagnostics, from_cache
        self.may_loop = may_loop  #: the time of a call does not follow from the shapes
        self._object = obj
        _free_unused(library)
        _owners[handle] = owner = _Owner(self, _unused.put)
        owner.handle = handle

    @property
    def object(self) -> bytes:
        if self._object is None:
            data = _native.compiler().hlo_compilation_artifact(self.handle, _native.EMIT_OBJECT)
            self._object = ctypes.string_at(data.data, data.size) if data.size else b""
        return self._object
