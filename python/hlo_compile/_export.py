"""export: a JAX function as a folder that a C program is built from."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any, Callable, Iterable, NamedTuple, Sequence

from . import _compile, _native, _paths
from ._jax import JitFunction, jit

#: The C type of an element, its bytes, and whether C's floating-point numbers convert to it. Others: bytes.
_C_TYPES = {"s8": ("int8_t", 1, False), "s16": ("int16_t", 2, False), "s32": ("int32_t", 4, False),
            "s64": ("int64_t", 8, False), "u16": ("uint16_t", 2, False), "u32": ("uint32_t", 4, False),
            "u64": ("uint64_t", 8, False), "f16": ("hlo_f16", 2, False), "bf16": ("hlo_bf16", 2, False),
            "f32": ("float", 4, True), "f64": ("double", 8, True), "c64": ("hlo_c64", 8, False),
            "c128": ("hlo_c128", 16, False)}


def export(function: Callable[..., Any], *args: Any, out: str | os.PathLike, name: str = "model",
           static_argnums: int | Iterable[int] | None = None, static_argnames: str | Iterable[str] | None = None,
           donate_argnums: int | Iterable[int] | None = None, cpu: str | None = None, target: str | None = None,
           dispatch: Iterable[str] = (), immutable_params: str | None = None, **kwargs: Any) -> Path:
    """Compiles a JAX function for arguments of these types to a folder `out` with an object, its header, the runtime, a C
    program that calls it, a CMakeLists.txt and a README. Needs a C compiler to build, and nothing else.

    *args and **kwargs: arrays, or jax.ShapeDtypeStruct; closed-over arrays become constants. `name` is the prefix of the
    C names. `cpu`: as hlo-compile's flag; the default runs on every machine of the last decade. `dispatch`: code for
    several CPU levels. `target`: a triple, for another architecture. `immutable_params`: as hlo-compile's flag; main.c
    then calls NAME_prepare as well.

    >>> import hlo_compile as hc, jax.numpy as jnp, numpy as np, os, tempfile
    >>> folder = hc.export(lambda x: jnp.tanh(x), np.zeros(4, np.float32), out=tempfile.mkdtemp(), name="tanh4")
    >>> sorted(os.listdir(folder))
    ['CMakeLists.txt', 'README.md', 'hlo', 'libhlo_rt.a', 'main.c', 'tanh4.h', 'tanh4.hlo', 'tanh4.o']
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name: expected a C identifier, given {name!r}")
    jitted = function if isinstance(function, JitFunction) else jit(
        function, static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums)
    text = jitted.lower(*args, **kwargs).compiler_ir(dialect="hlo").as_hlo_text(True).encode()
    options = {"file": f"{name}.hlo", "name": name, "cpu": cpu, "target": target, "dispatch": list(dispatch),
               "immutable_params": immutable_params, "opt_level": 2}
    emit = (_native.EMIT_OBJECT, _native.EMIT_HEADER, _native.EMIT_SIGNATURE)
    (obj, header, signature), _ = _compile.artifacts(text, options, emit)
    arrays = _arrays(signature.decode())
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.hlo").write_bytes(text)
    (folder / f"{name}.o").write_bytes(obj)
    (folder / f"{name}.h").write_bytes(header)
    for source in _paths.include_dirs():
        if (source / "hlo" / "rt.h").exists():
            shutil.copytree(source / "hlo", folder / "hlo", dirs_exist_ok=True)
    shutil.copyfile(_paths.runtime_archive(target or ""), folder / "libhlo_rt.a")
    (folder / "main.c").write_text(_main(name, arrays, bool(immutable_params)))
    (folder / "CMakeLists.txt").write_text(_CMAKE.replace("@", name))
    compiler = f"{target.split('-')[0]}-linux-gnu-gcc" if target else "cc"
    (folder / "README.md").write_text(_readme(name, signature.decode(), compiler))
    return folder


class _Array(NamedTuple):
    """A line of the signature."""
    is_input: bool
    name: str
    c_type: str
    length: int  # of c_type
    is_float: bool


def _arrays(signature: str) -> list[_Array]:
    """The arrays in the order of the module: `in0  x  f32[2,3]{1,0}  row-major, 24 bytes`."""
    result = []
    for line in signature.splitlines():
        found = re.match(r"(in|out)\d+ +(\w+) +(\w+)\[.*?, (\d+) bytes?\b", line)
        if not found:
            raise NotImplementedError(f"main.c cannot be written for `{line}`")
        c_type, size, is_float = _C_TYPES.get(found[3], ("uint8_t", 1, False))
        result.append(_Array(found[1] == "in", found[2], c_type, max(1, int(found[4]) // size), is_float))
    return result


def _main(name: str, arrays: Sequence[_Array], is_prepared: bool) -> str:
    """main.c: each array is static, and the output is the first elements of each result."""
    declarations, fill, print_lines = [], [], []
    for array in arrays:
        declarations.append(f"static _Alignas(64) {array.c_type} {array.name}[{array.length}];")
        if array.is_input and array.is_float:
            fill.append(f"  for (size_t i = 0; i < {array.length}; ++i) {array.name}[i] = ({array.c_type})(i % 17) / 16;")
    for i, array in enumerate(a for a in arrays if not a.is_input):
        print_lines.append(f"  print_first(hlo_output_at(description, {i}), {array.name});")
    members = "\n".join(f"  args.{array.name} = {array.name};" for array in arrays)
    prepare = _PREPARE if is_prepared else ""
    return (_MAIN.replace("@DECLARATIONS@", "\n".join(declarations)).replace("@FILL@", "\n".join(fill) + "\n")
            .replace("@MEMBERS@", members).replace("@PREPARE@", prepare).replace("@PRINT@", "\n".join(print_lines))
            .replace("@NAME@", name).replace("@UPPER@", name.upper()))


_MAIN = r"""/* Calls @NAME@ once. Float inputs count up in sixteenths, all others are zero; prints the first elements of each
 * result. The struct of arguments and its comments are in @NAME@.h. */
#include "@NAME@.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

@DECLARATIONS@

/* Up to eight elements; types that C has no name for as bytes in hexadecimal. */
static void print_first(const hlo_buffer_desc *array, const void *data) {
  const size_t size = hlo_type_bytes(array->type);
  const size_t count = array->bytes / size < 8 ? array->bytes / size : 8;
  printf("%s:", array->name);
  for (size_t i = 0; i < count; ++i) {
    switch (array->type) {
    case HLO_F32: printf(" %g", ((const float *)data)[i]); break;
    case HLO_F64: printf(" %g", ((const double *)data)[i]); break;
    case HLO_C64: printf(" (%g,%g)", ((const hlo_c64 *)data)[i].re, ((const hlo_c64 *)data)[i].im); break;
    case HLO_C128: printf(" (%g,%g)", ((const hlo_c128 *)data)[i].re, ((const hlo_c128 *)data)[i].im); break;
    case HLO_S8: printf(" %d", ((const int8_t *)data)[i]); break;
    case HLO_S16: printf(" %d", ((const int16_t *)data)[i]); break;
    case HLO_S32: printf(" %" PRId32, ((const int32_t *)data)[i]); break;
    case HLO_S64: printf(" %" PRId64, ((const int64_t *)data)[i]); break;
    case HLO_PRED:
    case HLO_U8: printf(" %u", ((const uint8_t *)data)[i]); break;
    case HLO_U16: printf(" %u", ((const uint16_t *)data)[i]); break;
    case HLO_U32: printf(" %" PRIu32, ((const uint32_t *)data)[i]); break;
    case HLO_U64: printf(" %" PRIu64, ((const uint64_t *)data)[i]); break;
    default:
      printf(" ");
      for (size_t k = size; k-- > 0;) {
        printf("%02x", ((const unsigned char *)data)[i * size + k]);
      }
    }
  }
  printf("\n");
}

/* Scratch memory, or nothing if none is needed. */
static void *scratch(uint64_t bytes) { return bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL; }

int main(void) {
  const hlo_module_desc *description = @NAME@_describe();
  char message[512] = "";
  hlo_call call = hlo_call_init();
  hlo_status status;
  call.message = message;
  call.message_bytes = sizeof message;
@FILL@
  @NAME@_args args = @UPPER@_ARGS_INIT;
@MEMBERS@
@PREPARE@
  call.arena_bytes = hlo_arena_bytes(description, 1);
  call.arena = scratch(call.arena_bytes);
  status = @NAME@_run(&call, &args);
  if (status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(status), message);
    return 1;
  }
@PRINT@
  free(call.arena);
  return 0;
}
"""

_PREPARE = r"""
  /* Once; the block may be shared by threads and stored. */
  static _Alignas(64) unsigned char prepared[@UPPER@_PREPARED_BYTES];
  call.arena_bytes = hlo_prepare_arena_bytes(description, 1);
  call.arena = scratch(call.arena_bytes);
  status = @NAME@_prepare(&call, &args, prepared, sizeof prepared);
  if (status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(status), message);
    return 1;
  }
  free(call.arena);
  call.prepared = prepared;
  call.prepared_bytes = sizeof prepared;
"""

_CMAKE = """# Builds main.c with the compiled model. In a larger project: add_subdirectory, and link @::@.
cmake_minimum_required(VERSION 3.16)
project(@_example C)
find_package(Threads REQUIRED)
add_library(@ INTERFACE)
add_library(@::@ ALIAS @)
target_include_directories(@ INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(@ INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/@.o" "${CMAKE_CURRENT_SOURCE_DIR}/libhlo_rt.a" Threads::Threads m)
add_executable(@_main main.c)
set_target_properties(@_main PROPERTIES C_STANDARD 11)
target_link_libraries(@_main PRIVATE @)
"""


def _readme(name: str, signature: str, compiler: str) -> str:
    listing = "".join(f"    {line}\n" for line in signature.splitlines())
    return f"""# {name}

A compiled function: no Python, framework or C++ library is needed to run it.

    {compiler} main.c {name}.o libhlo_rt.a -I. -lm -lpthread -o {name}
    ./{name}

or `cmake -B build && cmake --build build && build/{name}_main`.

| file | what |
|---|---|
| `{name}.o`, `{name}.h` | the function and its declaration |
| `{name}.hlo` | the text that it was compiled from |
| `libhlo_rt.a`, `hlo/` | the runtime and its headers |
| `main.c` | one call, with the first elements of each result |

Arrays, in the order of `{name}_args`:

{listing}"""
