"""Where the compiler's files are: in the wheel, or in a build folder.

A wheel has them in hlo_compile/package, laid out as `cmake --install` does. Otherwise they come from the build folder
that HLO_COMPILE_BUILD names, or from build/ of the source tree that this file is in.
"""

from __future__ import annotations

import os
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PACKAGE = _HERE / "package"
_SOURCE = _HERE.parents[1]


def build_folder() -> Path | None:
    """The build folder in use; None for an installed package."""
    named = os.environ.get("HLO_COMPILE_BUILD")
    if named:
        return Path(named)
    return None if _PACKAGE.is_dir() else _SOURCE / "build"


def library(name: str) -> Path:
    """A shared library."""
    path = (build_folder() or _PACKAGE) / "lib" / name
    if not path.exists():
        raise ImportError(f"{path} does not exist: install the wheel, or let HLO_COMPILE_BUILD name a build folder")
    return path


def tool(name: str = "hlo-compile") -> Path:
    """The program, which is hlo-compile, hlo-run and hlo-opt by the name it is started with."""
    return (build_folder() or _PACKAGE) / "bin" / name


def include_dirs() -> list[Path]:
    """The folders of <hlo/rt.h> and <hlo/compiler.h>; one in an installed package."""
    if build_folder() is None:
        return [_PACKAGE / "include"]
    return [_SOURCE / "runtime" / "abi", _SOURCE / "compiler" / "api"]


def cmake_dir() -> Path:
    """For -DHloCompile_DIR."""
    return build_folder() or _PACKAGE / "lib" / "cmake" / "HloCompile"


def runtime_archive(triple: str = "") -> Path:
    """libhlo_rt.a of a target. Raises FileNotFoundError, with the targets that there are."""
    libraries = (build_folder() or _PACKAGE) / "lib"
    name = triple.replace("-unknown-", "-").replace("-pc-", "-")
    path = libraries / name / "libhlo_rt.a" if name else libraries / "libhlo_rt.a"
    if name and not path.exists() and name.split("-")[0] == os.uname().machine:
        path = libraries / "libhlo_rt.a"
    if not path.exists():
        there = sorted(archive.parent.name for archive in libraries.glob("*/libhlo_rt.a"))
        raise FileNotFoundError(f"no runtime for {triple}; there are {', '.join([os.uname().machine, *there])}")
    return path


def notices() -> str:
    """The licence and the notices of what the binaries contain."""
    licence = _HERE / "LICENSE" if (_HERE / "LICENSE").exists() else _SOURCE / "LICENSE"
    return licence.read_text() + "\n" + (_HERE / "NOTICES").read_text()
