"""python -m hlo_compile: where the files are, and the programs."""

from __future__ import annotations

import os
import sys

from . import _paths, __version__

_USAGE = """usage: python -m hlo_compile OPTION | PROGRAM [ARGUMENT...]

  --cmake-dir               folder for -DHloCompile_DIR
  --include-dir             folders of <hlo/rt.h> and <hlo/compiler.h>, one a line
  --runtime-archive[=TRIPLE]  libhlo_rt.a of this machine or of another target
  --licenses                licence and third-party notices
  --version                 version of the package
  compile | run | opt       hlo-compile, hlo-run, hlo-opt with the arguments that follow
"""


def _program(name: str, arguments: list[str]) -> int:
    """Replaces this process by a program. All programs are one file, which looks at the name it is started with."""
    path = _paths.tool()
    if not path.exists():
        print(f"error: {path} does not exist", file=sys.stderr)
        return 3
    os.execv(path, [name, *arguments])


def main(arguments: list[str]) -> int:
    option, _, value = arguments[0].partition("=") if arguments else ("", "", "")
    if option in ("compile", "run", "opt"):
        return _program(f"hlo-{option}", arguments[1:])
    if len(arguments) != 1 or (value and option != "--runtime-archive"):
        print(_USAGE, end="", file=sys.stderr)
        return 2
    if option == "--cmake-dir":
        print(_paths.cmake_dir())
    elif option == "--include-dir":
        print(*_paths.include_dirs(), sep="\n")
    elif option == "--runtime-archive":
        try:
            print(_paths.runtime_archive(value))
        except FileNotFoundError as error:
            print(f"error: {error}", file=sys.stderr)
            return 3
    elif option == "--licenses":
        print(_paths.notices(), end="")
    elif option == "--version":
        print(f"hlo_compile {__version__}")
    elif option in ("--help", "-h"):
        print(_USAGE, end="")
    else:
        print(f"error: unknown option {arguments[0]}\n{_USAGE}", end="", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
