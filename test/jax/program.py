"""C programs that call compiled modules through the struct of their headers.

The buffers of a call are arrays of exactly the size and the C type that the header says; the program reads inputs from
files and writes results to files, raw.
"""
import collections
import re

import numpy as np

# A member of the struct: its C type, name, shape in HLO, and with which buffer of the other kind it may be one.
Member = collections.namedtuple("Member", "is_input ctype name shape bytes alias")
C_TYPES = {"bool": "uint8_t", "float32": "float", "float64": "double", "complex64": "hlo_c64", "complex128": "hlo_c128",
           "float16": "hlo_f16", "bfloat16": "hlo_bf16", "int4": "uint8_t", "float8_e4m3fn": "hlo_f8"}


def members_of(header):
    """The arrays of a module's struct, in order."""
    struct = re.search(r"typedef struct \w+_args \{\n(.*?)\n\} \w+_args;", header, re.DOTALL)[1]
    found = []
    for line in struct.splitlines():
        line = re.sub(r"HLO_EITHER\(([^,]*), (\w+), \w+\)", r"\1\2", line)
        match = re.fullmatch(r"  (const )?(\w+) \*(\w+); /\*\*< (\w+\[[\d,]*\])(?:\{[\d,]*(?::E\(4\))?\})?(, row-major)?, (\d+) bytes"
                             r"(?:, overwritten if it is the same buffer as (\w+)|, may be the same buffer as (\w+))? \*/", line)
        if match:
            found.append(Member(bool(match[1]), match[2], match[3], match[4], int(match[6]), match[7] or match[8]))
        elif "uint64_t signature;" not in line:
            raise ValueError(f"a member that is no row-major array: {line.strip()}")
    return [m for m in found if m.is_input], [m for m in found if not m.is_input]


def raw(array):
    """The bytes of a buffer that holds the array in row-major order; two elements of 4 bits share a byte."""
    array = np.ascontiguousarray(array)
    if array.dtype.name == "int4":
        bits = np.append(array.view(np.uint8).ravel() & 15, np.zeros(array.size % 2, np.uint8))
        return (bits[::2] | bits[1::2] << 4).tobytes()
    return array.tobytes()


def mismatch(member, array):
    """How the member's declaration differs from the array's; empty if it does not."""
    ctype = C_TYPES.get(array.dtype.name, array.dtype.name + "_t")
    shape = "[" + ",".join(map(str, array.shape)) + "]"
    if member.ctype != ctype or member.bytes != len(raw(array)) or not member.shape.endswith(shape):
        return f"{member.name} is {member.ctype}, {member.shape}, {member.bytes} bytes; expected {ctype}, {shape}, {len(raw(array))} bytes"
    return None


PRELUDE = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char message[400];

/* A call with enough scratch; the allocation is never freed. */
static hlo_call make_call(uint64_t bytes, unsigned align) {
  hlo_call call = hlo_call_init();
  call.arena = bytes ? aligned_alloc(align, bytes) : NULL, call.arena_bytes = bytes;
  call.message = message, call.message_bytes = sizeof message;
  return call;
}

static FILE *file_of(const char *name, const char *suffix, const char *mode) {
  char path[300];
  snprintf(path, sizeof path, "%s.%s", name, suffix);
  FILE *file = fopen(path, mode);
  if (!file) exit((perror(path), 3));
  return file;
}

static void get(FILE *file, void *buffer, size_t bytes) {
  if (bytes && fread(buffer, bytes, 1, file) != 1) exit((fputs("short file\\n", stderr), 3));
}

static void put(FILE *file, const void *buffer, size_t bytes) {
  if (bytes && fwrite(buffer, bytes, 1, file) != 1) exit((perror("fwrite"), 3));
}
"""


def declare(name, member):
    """A declaration of a buffer of the member's type. An array without elements gets one, since C has no empty arrays."""
    return (f"  static _Alignas(64) {member.ctype} {name}[{member.bytes} / sizeof({member.ctype}) + "
            f"({member.bytes} == 0)];\n")


def calls_program(modules):
    """A program that calls each module once: NAME.in -> NAME.out, a line `NAME ok` or `NAME status message`.

    Arguments: the number of the first module to call. modules: (name, inputs, outputs) in order.
    """
    text = "".join(f'#include "{name}.h"\n' for name, _, _ in modules) + PRELUDE
    for name, inputs, outputs in modules:
        upper, reads, writes = name.upper(), "", ""
        text += f"\nstatic void call_{name}(void) {{\n"
        text += "".join(declare(m.name + "_buffer", m) for m in inputs)
        text += "".join(declare(m.name + "_buffer", m) for m in outputs if not m.alias)
        text += f"  {name}_args args = {upper}_ARGS_INIT;\n"
        for m in inputs:
            text += f"  args.{m.name} = {m.name}_buffer;\n"
            reads += f"  get(in, {m.name}_buffer, {m.bytes});\n"
        for m in outputs:
            text += f"  args.{m.name} = {m.alias or m.name}_buffer;\n"
            writes += f"  put(out, args.{m.name}, {m.bytes});\n"
        text += (f'  FILE *in = file_of("{name}", "in", "rb");\n{reads}  fclose(in);\n'
                 f"  hlo_call call = make_call({upper}_ARENA_BYTES, {upper}_ARENA_ALIGN);\n"
                 f"  hlo_status status = {name}_run(&call, &args);\n"
                 f'  FILE *out = file_of("{name}", "out", "wb");\n{writes}  fclose(out);\n'
                 f'  if (status == HLO_OK) puts("{name} ok");\n'
                 f'  else printf("{name} %s %s\\n", hlo_status_name(status), message);\n  fflush(stdout);\n}}\n')
    table = "".join(f"call_{name}, " for name, _, _ in modules)
    return text + f"""
int main(int argc, char **argv) {{
  static void (*const calls[])(void) = {{{table}}};
  for (int i = argc > 1 ? atoi(argv[1]) : 0; i < {len(modules)}; ++i) calls[i]();
  return 0;
}}
"""


def loop_program(name, inputs, outputs, steps, batches, in_place):
    """A program that calls a training step `steps` times and feeds its state back: NAME.in -> NAME.out.

    The state are the inputs that an output may share its buffer with. NAME.in: the initial state, then `batches` times the
    other inputs, which the steps take in turn. NAME.out: the outputs without state (the loss) of every step, then the state.
    With in_place, state has one buffer; otherwise two that change places, and each step keeps its inputs.
    """
    upper = name.upper()
    state, data = [m for m in inputs if m.alias], [m for m in inputs if not m.alias]
    text = f'#include "{name}.h"\n' + PRELUDE + "\nint main(void) {\n"
    for m in state:
        text += declare(m.name + "_0", m) + ("" if in_place else declare(m.name + "_1", m))
    for m in data:
        text += declare(m.name + "_buffer", m).replace(f"{m.name}_buffer[", f"{m.name}_buffer[{batches}][")
    text += "".join(declare(m.name + "_buffer", m) for m in outputs if not m.alias)
    text += f'  FILE *in = file_of("{name}", "in", "rb"), *out = file_of("{name}", "out", "wb");\n'
    text += "".join(f"  get(in, {m.name}_0, {m.bytes});\n" for m in state)
    text += f"  for (int b = 0; b < {batches}; ++b) {{\n"
    text += "".join(f"    get(in, {m.name}_buffer[b], {m.bytes});\n" for m in data) + "  }\n"
    text += (f"  hlo_call call = make_call({upper}_ARENA_BYTES, {upper}_ARENA_ALIGN);\n"
             f"  for (int step = 0; step < {steps}; ++step) {{\n    {name}_args args = {upper}_ARGS_INIT;\n")
    old, new = ("_0", "_0") if in_place else ("_0 : {0}_1", "_1 : {0}_0")

    def pick(member, which):
        return member + which if in_place else f"step % 2 == 0 ? {member}" + which.format(member)

    text += "".join(f"    args.{m.name} = {pick(m.name, old)};\n" for m in state)
    text += "".join(f"    args.{m.name} = {m.name}_buffer[step % {batches}];\n" for m in data)
    text += "".join(f"    args.{m.name} = {pick(m.alias, new) if m.alias else m.name + '_buffer'};\n" for m in outputs)
    text += (f"    hlo_status status = {name}_run(&call, &args);\n"
             f'    if (status != HLO_OK) return printf("%s: %s\\n", hlo_status_name(status), message), 1;\n')
    text += "".join(f"    put(out, {m.name}_buffer, {m.bytes});\n" for m in outputs if not m.alias) + "  }\n"
    last = "_0" if in_place or steps % 2 == 0 else "_1"
    text += "".join(f"  put(out, {m.alias}{last}, {m.bytes});\n" for m in outputs if m.alias)
    return text + "  return fclose(in) | fclose(out);\n}\n"
