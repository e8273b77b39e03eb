"""The build backend of the wheel: PEP 517 and PEP 660. See README.md."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent
COMPONENTS = ("Runtime", "Compiler", "Library", "Lapack")
#: What is built if it is missing, and the targets for it.
NEEDED = {"bin/hlo-compile": "hlo-compile", "lib/libhlo_compiler.so.1": "hlo_compiler", "lib/libhlo_rt.a": "hlo_rt",
          "lib/libhlo_rt.so.2": "hlo_rt_shared", "lib/libhlo_lapack.a": "hlo_lapack",
          "lib/aarch64-linux-gnu/libhlo_rt.a": "runtime-aarch64-linux-gnu",
          "lib/riscv64-linux-gnu/libhlo_rt.a": "runtime-riscv64-linux-gnu"}
#: Runtimes of other targets are archives: their shared libraries and programs are not for this machine.
LEFT_OUT = re.compile(r"share/doc/|lib/libhlo_lapack\.so|lib/[^/]+-[^/]+/(?!libhlo_rt\.a$)")

_WRAPPER = """#!/bin/bash
exec -a "$0" "$(dirname "$(readlink -f "$0")")/hlo-compile" "$@"
"""
_SCRIPT = """#!python
# Starts the program of the package. The package is not imported, for numpy takes longer than many compilations.
import importlib.util
import os
import sys
path = os.path.join(os.path.dirname(importlib.util.find_spec("hlo_compile").origin), "package", "bin", "hlo-compile")
os.execv(path, [{name!r}, *sys.argv[1:]])
"""


def version() -> str:
    return re.search(r"project\(HloCompile VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def _build_folder() -> Path:
    """The folder with everything in it, after a build if need be."""
    named = os.environ.get("HLO_COMPILE_BUILD")
    folder = Path(named).resolve() if named else ROOT / "build"
    missing = [target for file, target in NEEDED.items() if not (folder / file).exists()]
    if not missing:
        return folder
    if named:
        raise SystemExit(f"error: HLO_COMPILE_BUILD={named}: not built: {', '.join(missing)}")
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", *missing], check=True)
    return folder


def _installed(folder: Path, stage: Path) -> dict[str, tuple[bytes, bool]]:
    """What `cmake --install` gives, without links: {path: (bytes, is executable)}."""
    for component in COMPONENTS:
        subprocess.run(["cmake", "--install", str(folder), "--prefix", str(stage), "--component", component, "--strip"],
                       check=True, stdout=subprocess.DEVNULL)
    files: dict[str, tuple[bytes, bool]] = {}
    for path in sorted(stage.rglob("*")):
        name = path.relative_to(stage).as_posix()
        if path.is_dir() or LEFT_OUT.match(name):
            continue
        if path.is_symlink():
            target = os.readlink(path)
            if name.startswith("bin/"):
                files[name] = _WRAPPER.encode(), True
            elif not re.fullmatch(re.escape(path.name) + r"\.\d+", target):
                continue  # libx.so.1 -> libx.so.1.2.3 does not occur
            else:
                files[name] = f"INPUT({target})\n".encode(), False
            continue
        files[name] = path.read_bytes(), os.access(path, os.X_OK) and not name.endswith((".a", ".cmake", ".h", ".pc"))
    compiler = next((data for name, (data, _) in files.items() if name == "lib/libhlo_compiler.so.1"), None)
    if compiler is None:
        raise SystemExit("error: `cmake --install` gave no libhlo_compiler.so.1")
    files["libhlo_compiler.sha256"] = hashlib.sha256(compiler).hexdigest().encode(), False
    return files


def _metadata() -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}",
             f"Summary: {project['description']}", f"License: {project['license']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += [f"Requires-Dist: {dependency}" for dependency in project["dependencies"]]
    for extra, dependencies in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {dependency} ; extra == '{extra}'" for dependency in dependencies]
    lines += ["License-File: LICENSE", "License-File: NOTICES", "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


class _Wheel:
    """A wheel that is being written."""

    def __init__(self, folder: str, tag: str, level: int = 9):
        self.info = f"hlo_compile-{version()}.dist-info"
        self.name = f"hlo_compile-{version()}-{tag}.whl"
        self.archive = zipfile.ZipFile(Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED)
        self.level = level
        self.records: list[tuple[str, str, str]] = []
        self.tag = tag

    def add(self, name: str, data: bytes, is_executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, data, compresslevel=self.level)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append((name, f"sha256={digest}", str(len(data))))

    def close(self) -> str:
        self.add(f"{self.info}/METADATA", _metadata().encode())
        pure = "true" if self.tag.endswith("-any") else "false"
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: hlo_wheel {version()}\nRoot-Is-Purelib: {pure}\n"
                                       f"Tag: {self.tag}\n".encode())
        self.add(f"{self.info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        self.add(f"{self.info}/licenses/NOTICES", (HERE / "hlo_compile" / "NOTICES").read_bytes())
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*self.records, (f"{self.info}/RECORD", "", "")])
        self.archive.writestr(zipfile.ZipInfo(f"{self.info}/RECORD", (1980, 1, 1, 0, 0, 0)), text.getvalue())
        self.archive.close()
        return self.name


def build_wheel(wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None) -> str:
    """PEP 517. The tag is that of the machine's C library: an older one need not have the symbols. The setting
    `compression` (pip's --config-settings) is a level of deflate, 9 if not given: 16 s of CPU time, half the size."""
    folder = _build_folder()
    libc = platform.libc_ver()[1].replace(".", "_")
    wheel = _Wheel(wheel_directory, f"py3-none-manylinux_{libc}_{platform.machine()}",
                   int((config_settings or {}).get("compression", 9)))
    for path in sorted((HERE / "hlo_compile").iterdir()):
        if path.is_file():
            wheel.add(f"hlo_compile/{path.name}", path.read_bytes())
    wheel.add("hlo_compile/LICENSE", (ROOT / "LICENSE").read_bytes())
    stage = Path(tempfile.mkdtemp(prefix="hlo_wheel"))
    try:
        for name, (data, is_executable) in _installed(folder, stage).items():
            wheel.add(f"hlo_compile/package/{name}", data, is_executable)
    finally:
        shutil.rmtree(stage)
    for name in ("hlo-compile", "hlo-run", "hlo-opt"):
        wheel.add(f"hlo_compile-{version()}.data/scripts/{name}", _SCRIPT.format(name=name).encode(), True)
    return wheel.close()


def build_editable(wheel_directory: str, config_settings: dict | None = None,
                   metadata_directory: str | None = None) -> str:
    """PEP 660: Python finds the package in the source tree, and the package the libraries in build/."""
    _build_folder()
    wheel = _Wheel(wheel_directory, "py3-none-any")
    wheel.add("hlo_compile.pth", f"{HERE}\n".encode())
    return wheel.close()


def build_sdist(sdist_directory: str, config_settings: dict | None = None) -> str:
    raise SystemExit("error: there is no source distribution of the package alone; use the source tree")


def get_requires_for_build_wheel(config_settings: dict | None = None) -> list[str]:
    return []


get_requires_for_build_editable = get_requires_for_build_wheel

if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
