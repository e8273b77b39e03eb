/*===- hlo/compiler.h - The compiler as a C library ---------------------------===*\
 *
 * HLO text to object files, headers and callable modules, in this process. Plain C99; also valid as
 * C++11 or later. Link libhlo_compiler.so (CMake: Hlo::compiler; pkg-config: hlo-compiler). It
 * contains LLVM and exports only the functions of this header and of hlo/builder_c.h, so it can be
 * used beside another LLVM. Licensed under Apache-2.0 WITH LLVM-exception.
 *
 *   hlo_compilation *compilation;
 *   hlo_compile_options options = hlo_compile_options_init();
 *   hlo_status status = hlo_jit_text(text, strlen(text), &options, &compilation);
 *   if (status == HLO_OK) {
 *     const hlo_module_desc *module = hlo_compilation_module(compilation);
 *     ... module->run(&call, inputs, outputs) ...
 *   }
 *   hlo_compilation_free(compilation);
 *
 * Threads: every function may be called from any number of threads at once. One hlo_compilation is
 * only read after it has been made, and may be shared. A compilation runs on a thread of its own
 * with a stack of 256 MiB of address space, and starts up to `jobs` more; all have ended when the
 * function returns. There is no state between calls.
 *
 * Nothing here prints, exits, or changes signal handlers. Errors of the text are diagnostics. When
 * memory runs out inside LLVM the process aborts, as LLVM has no other way.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_COMPILER_H
#define HLO_COMPILER_H

#include <hlo/rt.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The functions that libhlo_compiler.so exports. */
#if defined(__GNUC__)
#define HLO_EXPORT __attribute__((visibility("default")))
#else
#define HLO_EXPORT
#endif

/** What to make; hlo_compile_options.emit is the sum of some. The numbers never change. */
/* clang-format off */
enum {
  HLO_EMIT_OBJECT = 1,        /**< ELF relocatable */
  HLO_EMIT_ASSEMBLY = 2,
  HLO_EMIT_LLVM = 4,          /**< LLVM IR as text, optimized */
  HLO_EMIT_BITCODE = 8,       /**< the same as bitcode */
  HLO_EMIT_HLO = 32,          /**< the module as HLO text, verified */
  HLO_EMIT_HEADER = 64,       /**< C header of the object */
  HLO_EMIT_SIGNATURE = 512,   /**< names, types, layouts and aliases of the arrays, as text */
  HLO_EMIT_CXX_HEADER = 1024  /**< C++17 header of the object */
};

/** hlo_compile_options.flags. */
enum {
  HLO_COMPILE_FLUSH_DENORMALS = 1,      /**< subnormal numbers are treated as zero */
  HLO_COMPILE_ENTRY_LAYOUT_TEXT = 2,    /**< parameters and results in the layouts of the text */
  HLO_COMPILE_ENTRY_LAYOUT_ROW_MAJOR = 4, /**< row-major, also where the text says it is scheduled */
  HLO_COMPILE_NAME_FROM_MODULE = 8,     /**< the module's name is the prefix of the symbols */
  HLO_COMPILE_PLACEHOLDER_CONSTANTS = 16, /**< elided constants `{...}` get placeholder values */
  HLO_COMPILE_REMARKS = 32,             /**< remarks are among the diagnostics */
  HLO_COMPILE_CHECK_ONLY = 64,          /**< parse and verify; makes nothing */
  HLO_COMPILE_DISPATCH_ALL_KERNELS = 128, /**< as --dispatch-all-kernels */
  HLO_COMPILE_QUANTIZE_ACTIVATIONS = 256  /**< as --quantize-activations */
};
/* clang-format on */

/** Options of a compilation. Zero and null are the defaults of hlo-compile, except that
 * hlo_jit_text compiles for the host's CPU. Strings are read during the call only. */
typedef struct hlo_compile_options {
  uint32_t struct_size; /**< sizeof(hlo_compile_options) of the caller */
  uint32_t emit;        /**< sum of HLO_EMIT_*; 0: object and header */
  const char *file;     /**< name of the text in diagnostics; its stem is the prefix of the symbols
                             unless `name` is given; null: "module.hlo" */
  const char *name;     /**< prefix of the exported symbols */
  const char *target;   /**< triple, as for --target */
  const char *cpu;      /**< name as for --cpu, or "host" */
  const char *features; /**< "+a,-b" */
  const char *const *dispatch; /**< `num_dispatch` CPU levels, as for --dispatch */
  size_t num_dispatch;
  const char *immutable_params; /**< as for --immutable-params; null: the object has no prepare */
  uint32_t flags;               /**< sum of HLO_COMPILE_* */
  uint32_t jobs;                /**< threads of the compiler; 0: one for each CPU. The results do
                                     not depend on it */
  int32_t opt_level;            /**< 0 to 3; hlo_compile_options_init sets 2 */
  uint32_t replicas;            /**< 0: what the module says */
  uint32_t partitions;          /**< 0: what the module says */
  uint32_t reserved;            /**< 0 */
  uint64_t max_arena_bytes;     /**< 0: no limit */
  uint64_t max_stack_bytes;     /**< 0: no limit */
  /** If not null, read between and during the phases; once it is not 0, the call ends soon with
   * HLO_CANCELLED. Another thread may set it, atomically. */
  const int32_t *cancel;
  /** If not null, called when a phase begins and after each group of kernels of phase "optimize".
   * `done` of `total` groups have machine code; both are 0 when a phase begins. Calls come one at a
   * time, from threads of the compiler. */
  void (*progress)(void *user, const char *phase, uint32_t done, uint32_t total);
  void *user;
  const char *cxx_namespace; /**< of HLO_EMIT_CXX_HEADER, "a::b"; null: the module's name */
  const char *const *bounds; /**< `num_bounds` bounds of sizes that StableHLO leaves open, as for
                                  --bound: "b<=64" */
  size_t num_bounds;
  const char *specialize;      /**< as for --specialize: "b=1,b=8"; null: none */
  const char *dynamic_buffers; /**< as for --dynamic-buffers: "dense" or "bound"; null: "dense" for
                                    the symbols of StableHLO, "bound" for HLO's `<=N` */
} hlo_compile_options;

/** Options with all defaults. */
HLO_INLINE hlo_compile_options hlo_compile_options_init(void) {
  hlo_compile_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = (uint32_t)sizeof options;
  options.opt_level = 2;
  return options;
}

/** How severe a diagnostic is. */
/* clang-format off */
enum { HLO_NOTE = 0, HLO_REMARK = 1, HLO_WARNING = 2, HLO_ERROR = 3 };
/* clang-format on */

/** A message about the text. A note belongs to the diagnostic before it that is not a note. */
typedef struct hlo_diagnostic {
  uint32_t struct_size;
  uint32_t severity; /**< HLO_NOTE .. HLO_ERROR */
  const char *code;  /**< label of the violated rule, as "dot_c3" (`hlo-compile --explain=dot_c3`);
                          "" if there is none */
  const char *message;   /**< one line, without place and code */
  const char *file;      /**< "" if the message has no place */
  uint32_t line, column; /**< from 1; 0 if the message has no place */
} hlo_diagnostic;

/** Bytes that belong to the object they were taken from. Texts end in a NUL that is not counted. */
typedef struct hlo_bytes {
  const void *data;
  size_t size;
} hlo_bytes;

/** The results of one compilation: artifacts, diagnostics, and a module that can be called. */
typedef struct hlo_compilation hlo_compilation;

/** Version of the library, as "0.1.0"; static. */
HLO_EXPORT const char *hlo_compiler_version(void);

/** Compiles `bytes` bytes of HLO text. `*result` is set in every case, also after an error, when it
 * has the diagnostics; free it. `options` may be null.
 *
 * HLO_OK; HLO_INVALID_ARGUMENT: the text has errors, or the options do; HLO_UNIMPLEMENTED: valid
 * HLO that this version does not compile; HLO_RESOURCE_EXHAUSTED: a limit or a bound is exceeded;
 * HLO_CANCELLED; HLO_INTERNAL: a fault of the compiler; HLO_ERR_STRUCT: `struct_size` is too small;
 * HLO_ERR_NULL. */
HLO_EXPORT HLO_NODISCARD hlo_status hlo_compile_text(const char *text, size_t bytes,
                                                     const hlo_compile_options *options,
                                                     hlo_compilation **result);

/** Compiles for this machine and makes the module callable: hlo_compilation_module. `emit` adds
 * artifacts; the object is always there. `*result` and errors as hlo_compile_text's;
 * HLO_INVALID_ARGUMENT also if `target` or `cpu` is another machine's, or with
 * HLO_COMPILE_CHECK_ONLY. */
HLO_EXPORT HLO_NODISCARD hlo_status hlo_jit_text(const char *text, size_t bytes,
                                                 const hlo_compile_options *options,
                                                 hlo_compilation **result);

/** Makes the module of an object callable that hlo-compile or this library has made for this
 * machine's architecture. `prefix`: that of its symbols; null if the object has one module. The
 * object's bytes are not needed afterwards. They are trusted as code is. `*result` as
 * hlo_compile_text's, without artifacts.
 *
 * HLO_OK; HLO_INVALID_ARGUMENT: no such object, or it cannot be linked; HLO_ERR_NULL;
 * HLO_RESOURCE_EXHAUSTED. */
HLO_EXPORT HLO_NODISCARD hlo_status hlo_jit_object(const void *object, size_t bytes,
                                                   const char *prefix, hlo_compilation **result);

/** Frees the results. The module and every pointer taken from `compilation` end here; no call of
 * the module may run. Null is ignored. */
HLO_EXPORT void hlo_compilation_free(hlo_compilation *compilation);

/* What the functions below return belongs to the compilation. Of a null compilation there is
 * nothing: null, 0 or "". */

/** The description of the module, whose `run` can be called until hlo_compilation_free; null after
 * hlo_compile_text and after an error. Custom calls need hlo_call.custom_calls. */
HLO_EXPORT const hlo_module_desc *hlo_compilation_module(const hlo_compilation *compilation);

/** An artifact that was asked for: `which` is one HLO_EMIT_*. {NULL, 0} if there is none. */
HLO_EXPORT hlo_bytes hlo_compilation_artifact(const hlo_compilation *compilation, uint32_t which);

/** The prefix of the object's symbols; "" if an error came before it was chosen. */
HLO_EXPORT const char *hlo_compilation_prefix(const hlo_compilation *compilation);

/** How many diagnostics there are, notes included. */
HLO_EXPORT size_t hlo_compilation_num_diagnostics(const hlo_compilation *compilation);

/** Diagnostic `i` in the order in which they were reported; null if there are not so many. */
HLO_EXPORT const hlo_diagnostic *hlo_compilation_diagnostic(const hlo_compilation *compilation,
                                                            size_t i);

/** All diagnostics as hlo-compile prints them: `file:line:col: error: ...`, source line, caret. */
HLO_EXPORT const char *hlo_compilation_log(const hlo_compilation *compilation);

#ifdef __cplusplus
}
#endif

#endif
