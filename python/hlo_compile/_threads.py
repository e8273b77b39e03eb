"""Thread pools, calls that Ctrl-C ends, and what a fork needs.

Python runs signal handlers on the main thread between two of its instructions, so not while the main thread is in C. A
long call of the main thread therefore runs on a worker thread while the main thread waits for a lock, which signals
interrupt. Calls on other threads run where they are.

After a fork the child has only the thread that forked. Pools, workers and locks of the parent are forgotten there, and
made again when they are needed.
"""

from __future__ import annotations

import ctypes
import os
import queue
import threading
import weakref
from typing import Any, Callable

from . import _native


def _in_main_interpreter() -> bool:
    """Only the main interpreter gets signals."""
    try:
        api = ctypes.pythonapi
        api.PyInterpreterState_Get.restype = ctypes.c_void_p
        api.PyInterpreterState_GetID.restype = ctypes.c_int64
        api.PyInterpreterState_GetID.argtypes = [ctypes.c_void_p]
        return api.PyInterpreterState_GetID(api.PyInterpreterState_Get()) == 0
    except AttributeError:
        return True


_signals = _in_main_interpreter()


class _Worker(threading.Thread):
    """Runs one job after another. A job is a function, and a lock that is released when it has returned."""

    def __init__(self) -> None:
        super().__init__(name="hlo_compile", daemon=True)
        self.jobs: queue.SimpleQueue = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            function, result, done = self.jobs.get()
            try:
                result.append(function())
            except BaseException as error:  # raised in the caller's thread
                result.extend((None, error))
            del function, result
            done.release()
            del done


_workers: list[_Worker] = []
_pools: dict[int, tuple[int, int]] = {}
_lock = threading.Lock()
_compiling = threading.Condition()
_num_compiling = 0


class _Holders:
    """Weak references to what holds threads or memory of calls, with a method `forget_calls`. Not a WeakSet, whose
    callbacks are in Python: the exception of a signal handler that runs in one is lost."""

    def __init__(self) -> None:
        self._references: list[weakref.ref] = []
        self._most = 64

    def add(self, holder: Any) -> None:
        with _lock:
            if len(self._references) >= self._most:
                self._references = [each for each in self._references if each() is not None]
                self._most = max(64, 2 * len(self._references))
            self._references.append(weakref.ref(holder))

    def forget_calls(self) -> None:
        for each in self._references:
            holder = each()
            if holder is not None:
                holder.forget_calls()


holders = _Holders()


def is_interruptible() -> bool:
    """True on the thread that gets KeyboardInterrupt."""
    return _signals and threading.current_thread() is threading.main_thread()


def interruptible(function: Callable[[], Any], cancel: ctypes.c_int32) -> Any:
    """function(), on a worker while this thread waits. If an exception of a signal handler arrives, sets `cancel`,
    waits until the function has returned, and raises the exception."""
    try:
        worker = _workers.pop()
    except IndexError:
        try:
            worker = _Worker()
        except RuntimeError:  # no threads any more: the interpreter is ending
            return function()
    result: list = []
    done = threading.Lock()
    done.acquire()
    try:
        worker.jobs.put((function, result, done))
        done.acquire()
    except BaseException:
        cancel.value = 1
        _drain(worker)
        _workers.append(worker)
        raise
    _workers.append(worker)
    if len(result) > 1:
        raise result[1]
    return result[0]


def _drain(worker: _Worker) -> None:
    """Returns when the worker has done all that it was given; further exceptions of signal handlers are dropped. It is
    not known whether the last job was given, so an empty one follows it."""
    while True:
        try:
            done = threading.Lock()
            done.acquire()
            worker.jobs.put((lambda: None, [], done))
            done.acquire()
            return
        except BaseException:
            pass


def call(function: Callable[[], Any], cancel: ctypes.c_int32 | None = None) -> Any:
    """function(), which Ctrl-C ends if this is the main thread."""
    if is_interruptible():
        return interruptible(function, ctypes.c_int32(0) if cancel is None else cancel)
    return function()


def pool(threads: int) -> tuple[int, int]:
    """The executor (hlo_executor *, or 0 for the calling thread alone) and its number of threads. Executors are shared
    by all functions with the same number."""
    if threads == 1:
        return 0, 1
    with _lock:
        found = _pools.get(threads)
        if found is None:
            address = _native.rt.hlo_pool_create(threads)
            if not address:
                raise MemoryError(f"cannot start {threads} threads")
            executor = _native.rt.hlo_pool_executor(address)
            found = executor, ctypes.c_uint32.from_address(executor + 4).value
            _pools[threads] = found
    return found


class compiling:
    """While a compilation runs, os.fork() of another thread waits: the child would inherit LLVM's locks as they are.
    Entered on threads only that signal handlers do not interrupt, so that the count is right."""

    def __enter__(self) -> None:
        global _num_compiling
        with _compiling:
            _num_compiling += 1

    def __exit__(self, *_: object) -> None:
        global _num_compiling
        with _compiling:
            _num_compiling -= 1
            _compiling.notify_all()


def _before_fork() -> None:
    _compiling.acquire()
    while _num_compiling:
        _compiling.wait()
    _lock.acquire()


def _after_fork_in_parent() -> None:
    _lock.release()
    _compiling.release()


def _after_fork_in_child() -> None:
    global _lock, _compiling, _num_compiling
    _lock = threading.Lock()
    _compiling = threading.Condition()
    _num_compiling = 0
    _workers.clear()
    _pools.clear()
    holders.forget_calls()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                        after_in_child=_after_fork_in_child)
