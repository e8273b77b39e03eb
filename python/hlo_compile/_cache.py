"""Objects by content, in a folder that processes may share.

The name of an entry is the SHA-256 of all that determines the object: text, options, the compiler library, and the CPU
where the options leave it open. An entry is

    magic, SHA-256 of the rest, length of the facts (8 bytes, little-endian), facts (JSON), object

A file is written under another name and renamed, so that readers see all of it or nothing. An entry that is damaged, or
that belongs to another user, is as good as absent: its code would run here.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from . import _native, _paths

_MAGIC = b"hlo_compile 1\n"


def folder(cache_dir: str | os.PathLike | None) -> Path | None:
    """The cache's folder: the argument, or HLO_COMPILE_CACHE, or none."""
    chosen = os.environ.get("HLO_COMPILE_CACHE") if cache_dir is None else cache_dir
    return Path(chosen) if chosen else None


@functools.lru_cache(maxsize=None)
def _library() -> str:
    """Identifies the compiler library: its hash in a wheel, else its size and time."""
    path = _paths.library("libhlo_compiler.so.1")
    recorded = path.parent.parent / "libhlo_compiler.sha256"
    if recorded.exists():
        return recorded.read_text().strip()
    facts = path.stat()
    return f"{facts.st_size} {facts.st_mtime_ns}"


@functools.lru_cache(maxsize=None)
def _cpu() -> str:
    """What code for this machine's CPU depends on."""
    keys = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU implementer",
            "CPU part", "isa", "uarch")
    lines = set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = {line for line in file if line.split("\t")[0].split(":")[0].strip() in keys}
    except OSError:
        pass
    return "".join(sorted(lines)) + f"{os.uname().machine} {_native.rt.hlo_cpu_detect():x}"


def key(text: bytes, options: dict[str, Any]) -> str:
    """The name of the entry of a text with options."""
    about = {"library": _library(), "options": options, "cpu": "" if options.get("dispatch") else _cpu()}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(b"\0" + text)
    return digest.hexdigest()


def read(where: Path, name: str) -> tuple[dict[str, Any], bytes] | None:
    """The facts and the object of an entry; None if there is none that can be trusted."""
    try:
        with open(where / f"{name}.hloc", "rb") as file:
            if os.fstat(file.fileno()).st_uid not in (os.geteuid(), 0):
                return None
            data = file.read()
        begin = len(_MAGIC) + 32
        if data[:len(_MAGIC)] != _MAGIC or hashlib.sha256(data[begin:]).digest() != data[len(_MAGIC):begin]:
            return None
        size = int.from_bytes(data[begin:begin + 8], "little")
        return json.loads(data[begin + 8:begin + 8 + size]), data[begin + 8 + size:]
    except (OSError, ValueError):
        return None


def write(where: Path, name: str, facts: dict[str, Any], obj: bytes) -> None:
    """Adds an entry. A folder that cannot be written is no error: the next process compiles again."""
    encoded = json.dumps(facts).encode()
    rest = len(encoded).to_bytes(8, "little") + encoded + obj
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=where, prefix=".new-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(rest).digest() + rest)
        os.replace(temporary, where / f"{name}.hloc")
    except OSError:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                pass
