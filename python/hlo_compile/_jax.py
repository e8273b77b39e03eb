"""jit: JAX lowers, hlo_compile compiles and runs."""

from __future__ import annotations

import functools
import inspect
from threading import RLock
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

import numpy as np

from . import _compile, _threads
from ._function import Function

if TYPE_CHECKING:
    import jax


_NUMBERS = (bool, int, float, complex)


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise ImportError("hlo_compile.jit and export need JAX: pip install jax") from None
    return jax


def jit(function: Callable[..., Any], *, static_argnums: int | Iterable[int] | None = None,
        static_argnames: str | Iterable[str] | None = None, donate_argnums: int | Iterable[int] | None = None,
        donate_argnames: str | Iterable[str] | None = None, threads: int | None = None, custom_calls: Any = None,
        cache_dir: Any = None, **options: Any) -> "JitFunction":
    """As jax.jit, with this compiler in the place of XLA: the function is traced and lowered by JAX once for each
    signature, compiled here, and run here. May decorate a function.

    Arguments and results are trees as for jax.jit, with numpy arrays, jax arrays, Python numbers, typed PRNG keys and
    float0. Arrays are read in place. If an argument is a jax array (or a key), results are jax arrays that share the
    module's memory; otherwise they are numpy arrays. float0 results are numpy arrays in both cases.

    Donated numpy arrays are overwritten by the results that JAX gives their place. Donated jax arrays are deleted after
    the call; their memory is not used again, because other arrays may refer to it.

    Under a transformation (jax.grad, vmap, an outer jax.jit) the function is what jax.jit would have made of it, and XLA
    runs it: apply transformations inside.

    threads, custom_calls, cache_dir and further options: as for `compile`. Targets of custom calls that are registered
    with JAX, and jaxlib's LAPACK, are found. Callbacks into Python and ordered effects are not: NotImplementedError.

    >>> import hlo_compile as hc, jax.numpy as jnp, numpy as np
    >>> @hc.jit
    ... def norm(tree):
    ...     return {"n": jnp.sqrt(sum(jnp.sum(x * x) for x in tree))}
    >>> norm([np.array([3], np.float32), np.array([4], np.float32)])
    {'n': array(5., dtype=float32)}
    """
    return JitFunction(function, dict(static_argnums=static_argnums, static_argnames=static_argnames,
                                      donate_argnums=donate_argnums, donate_argnames=donate_argnames),
                       threads, custom_calls, cache_dir, options)


class _Executable:
    """One signature of a function."""

    def __init__(self, function: Function, in_avals: tuple, out_avals: tuple, out_tree: Any, donated: tuple):
        self.function, self.in_avals, self.out_avals, self.out_tree = function, in_avals, out_avals, out_tree
        jax = _jax()

        def is_key(aval: Any) -> bool:
            return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)

        self.float0_in = tuple(aval.dtype == jax.dtypes.float0 for aval in in_avals)
        self.donated = donated
        self.out_kinds = tuple("key" if is_key(aval) else "float0" if aval.dtype == jax.dtypes.float0 else
                               "weak" if getattr(aval, "weak_type", False) else "array" for aval in out_avals)


class JitFunction:
    """What `jit` returns. `lower(*args)` gives JAX's Lowered, `compiled(*args)` the Function of a signature."""

    def __init__(self, function: Callable[..., Any], jit_options: Mapping[str, Any], threads: int | None,
                 custom_calls: Any, cache_dir: Any, options: Mapping[str, Any]):
        jax = _jax()
        functools.update_wrapper(self, function)
        given = {key: value for key, value in jit_options.items() if value is not None}
        self._jitted = jax.jit(function, **given)
        self._lowered_with = jax.jit(function, keep_unused=True, **given)
        self._static_nums, self._static_names = _static(function, jit_options["static_argnums"],
                                                        jit_options["static_argnames"])
        self._threads, self._custom_calls, self._cache_dir, self._options = threads, custom_calls, cache_dir, options
        self._executables: dict[Any, _Executable] = {}
        self._lock = RLock()
        _threads.holders.add(self)
        self._tree = jax.tree_util
        self._array, self._tracer = jax.Array, jax.core.Tracer
        self._prng_key = jax.dtypes.prng_key
        self._issubdtype = jax.dtypes.issubdtype

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        executable, leaves = self._find(args, kwargs)
        if executable is None:
            return self._jitted(*args, **kwargs)
        return self._run(executable, leaves)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """JAX's jax.stages.Lowered for the CPU, with one parameter for each leaf of the arguments."""
        return self._lowered_with.trace(*args, **kwargs).lower(lowering_platforms=("cpu",))

    def compiled(self, *args: Any, **kwargs: Any) -> Function:
        """The function that a call with these arguments runs."""
        executable, _ = self._find(args, kwargs)
        if executable is None:
            raise TypeError("compiled() was given tracers")
        return executable.function

    def forget_calls(self) -> None:
        """In the child of a fork: another thread of the parent may have held the lock."""
        self._lock = RLock()

    # Signatures.

    def _find(self, args: tuple, kwargs: dict) -> tuple[_Executable | None, list]:
        if self._static_nums or self._static_names:
            static_args = tuple(value for i, value in enumerate(args) if self._is_static(i, len(args)))
            static_kwargs = tuple((key, kwargs[key]) for key in sorted(kwargs) if key in self._static_names)
            dynamic = (tuple(value for i, value in enumerate(args) if not self._is_static(i, len(args))),
                       {key: value for key, value in kwargs.items() if key not in self._static_names})
            static: Any = (len(args), static_args, tuple(map(type, static_args)), static_kwargs)
        else:
            dynamic, static = (args, kwargs), None
        leaves, tree = self._tree.tree_flatten(dynamic)
        types: list[Any] = []
        for leaf in leaves:
            if type(leaf) is np.ndarray:
                types.append((leaf.shape, leaf.dtype))
            elif isinstance(leaf, self._tracer):
                return None, leaves
            elif isinstance(leaf, self._array):
                types.append(leaf.aval)
            else:
                types.append((type(leaf), getattr(leaf, "shape", ()), getattr(leaf, "dtype", None)))
        key = (tree, tuple(types), static, _trace_context())
        executable = self._executables.get(key)
        if executable is None:
            with self._lock:
                executable = self._executables.get(key)
                if executable is None:
                    executable = self._executables[key] = self._compile(args, kwargs)
        return executable, leaves

    def _is_static(self, i: int, count: int) -> bool:
        return i in self._static_nums or i - count in self._static_nums

    def _compile(self, args: tuple, kwargs: dict) -> _Executable:
        traced = self._lowered_with.trace(*args, **kwargs)
        lowered = traced.lower(lowering_platforms=("cpu",))
        text = lowered.compiler_ir(dialect="hlo").as_hlo_text(True)
        donated = tuple(info.donated for info in self._tree.tree_leaves(lowered.args_info))
        in_avals = tuple(traced.jaxpr.in_avals)
        function = _compile.build(text.encode(), "module.hlo", threads=self._threads, cache_dir=self._cache_dir,
                                  donate="all" if any(donated) else (), custom_calls=self._custom_calls,
                                  fallback=registered_targets, **self._options)
        num_inputs = len(function.describe().inputs)
        if num_inputs != len(in_avals) or len(function.describe().outputs) != len(traced.jaxpr.out_avals):
            raise NotImplementedError(f"{getattr(self, '__name__', 'function')}: effects {traced.jaxpr.effects} are not supported")
        return _Executable(function, in_avals, tuple(traced.jaxpr.out_avals),
                           self._tree.tree_structure(traced.out_info), donated)

    # Calls.

    def _run(self, executable: _Executable, leaves: list) -> Any:
        arrays = []
        any_jax = False
        to_delete: list = []
        for leaf, aval, float0, donated in zip(leaves, executable.in_avals, executable.float0_in, executable.donated):
            if type(leaf) is np.ndarray and not float0:
                array = leaf if leaf.dtype == aval.dtype else leaf.astype(aval.dtype)
            elif float0:
                array = np.zeros(aval.shape, np.bool_)
            elif isinstance(leaf, self._array):
                any_jax = True
                if donated:
                    to_delete.append(leaf)
                if self._issubdtype(leaf.dtype, self._prng_key):
                    leaf = _jax().random.key_data(leaf)
                array = np.asarray(leaf)
                if donated:
                    array = np.array(array)  # what is aliased must be writeable
            else:
                array = np.asarray(leaf, aval.dtype) if type(leaf) in _NUMBERS else np.asarray(leaf).astype(aval.dtype)
            arrays.append(array)
        results = executable.function(*arrays)
        if len(executable.out_kinds) == 1:
            results = (results,)
        for array in to_delete:
            array.delete()
        as_jax = any_jax or "key" in executable.out_kinds
        if as_jax or "float0" in executable.out_kinds:
            results = [_to_jax(value, kind, aval, as_jax)
                       for value, kind, aval in zip(results, executable.out_kinds, executable.out_avals)]
        return self._tree.tree_unflatten(executable.out_tree, results)


def _to_jax(value: np.ndarray, kind: str, aval: Any, as_jax: bool) -> Any:
    jax = _jax()
    if kind == "float0":
        return np.zeros(aval.shape, jax.dtypes.float0)
    if not as_jax:
        return value
    array = _put(value)
    if kind == "key":
        return jax.random.wrap_key_data(array, impl=aval.dtype._impl.name)
    if kind == "weak":
        from jax._src.lax import lax
        array = lax._convert_element_type(array, weak_type=True)
    return array


def _put_with_checks(value: np.ndarray) -> Any:
    jax = _jax()
    return jax.device_put(value, jax.devices("cpu")[0], may_alias=True)


@functools.lru_cache(maxsize=None)
def _device() -> tuple[Any, Any, Any, Any]:
    jax = _jax()
    from jax._src.lib import xla_client
    device = jax.devices("cpu")[0]
    return xla_client.batched_device_put, jax.core.ShapedArray, jax.sharding.SingleDeviceSharding(device), [device]


def _put(value: np.ndarray) -> Any:
    """A jax array that shares the memory of a numpy array, which is aligned to 64 bytes. jax.device_put is ten times as
    slow as what it calls in the end."""
    try:
        put, aval, sharding, devices = _device()
        return put(aval(value.shape, value.dtype), sharding, [value], devices, False)
    except (ImportError, AttributeError, TypeError):
        return _put_with_checks(value)


def _trace_context() -> Any:
    """All settings that tracing depends on: jax_enable_x64, the precision of products, ..."""
    jax = _jax()
    try:
        from jax._src.config import trace_context
        return trace_context()
    except ImportError:
        return (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision, jax.config.jax_numpy_dtype_promotion)


def _static(function: Callable, nums: Any, names: Any) -> tuple[frozenset[int], frozenset[str]]:
    """Static arguments by position and by name; as in jax.jit, one determines the other unless both are given."""
    nums = (nums,) if isinstance(nums, int) else tuple(nums or ())
    names = (names,) if isinstance(names, str) else tuple(names or ())
    if bool(nums) != bool(names):
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (ValueError, TypeError):
            parameters = []
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if names:
            nums = tuple(i for i, name in enumerate(positional) if name in names)
        else:
            by_keyword = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
            chosen = [positional[i] for i in nums if -len(positional) <= i < len(positional)]
            names = tuple(name for name in chosen if name in by_keyword)
            nums = tuple(i % len(positional) if positional and i < 0 else i for i in nums)
    return frozenset(nums), frozenset(names)


def registered_targets() -> dict[str, Any]:
    """Custom call targets that are registered with JAX for the CPU, and jaxlib's LAPACK."""
    result: dict[str, Any] = {}
    try:
        from jaxlib import lapack
        lapack._lapack.initialize()
        for name, target, *_ in lapack.registrations()["cpu"]:
            result[name] = target
    except (ImportError, AttributeError, KeyError):
        pass
    try:
        from jaxlib import xla_client
        for name, target in xla_client.custom_call_targets("cpu").items():
            result.setdefault(name, target)
    except (ImportError, AttributeError):
        pass
    # Callbacks into Python need what only XLA passes to them.
    return {name: target["execute"] if isinstance(target, dict) and "execute" in target else target
            for name, target in result.items() if "python" not in name}
