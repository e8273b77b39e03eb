/*===- checks.h - Checks before a module runs ----------------------------------===*\
 *
 * One function per condition. Each returns HLO_OK, or an error whose text is appended to `text`.
 * hlo_rt_begin stops at the first error, hlo_check collects all.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_CHECKS_H
#define RUNTIME_CORE_CHECKS_H

#include "frame.h"
#include "text.h"

/** Checks struct_size and abi of both structs, the strides of their arrays, and that the two
 * structs match. */
hlo_status hlo_check_structs(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The same for a call about to run; also sets `text` to the call's message buffer, if the call has
 * our ABI version. */
hlo_status hlo_check_call(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** Checks the CPU's architecture and features; requests from the operating system what it grants
 * only on request, if the code uses it. */
hlo_status hlo_check_cpu(const hlo_module_desc *desc, hlo_text *text);
/** Checks feeds, comm, state and custom calls that the module needs. */
hlo_status hlo_check_services(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The entry with that name, or null; `table` may be null. */
const hlo_custom_call *hlo_find_custom_call(const hlo_custom_calls *table, const char *name);
/** The api version that a typed-FFI handler was compiled for. An error if the handler does not
 * answer, or if this runtime does not know the version. Defined in customcall/ffi.c, which is
 * linked only with modules that make custom calls: null otherwise. */
hlo_status hlo_ffi_version(void (*handler)(void), int *major, int *minor)
    __attribute__((weak, visibility("hidden")));
/** Checks the arena of a call that has this need: none, or large enough, or replaced by an
 * allocator. */
hlo_status hlo_check_scratch(const hlo_module_desc *desc, const hlo_call *call,
                             const hlo_arena_need *need, hlo_text *text);
/** Checks the prepared block that M_run reads: present, long enough, aligned, made by this module,
 * and finished. */
hlo_status hlo_check_prepared(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** hlo_check_buffers for the inputs that `reader` reads (one of HLO_READ_BY_*). */
hlo_status hlo_check_inputs(const hlo_module_desc *desc, const void *const *inputs, uint8_t reader,
                            hlo_text *text);
/** Checks the caller's buffers of all leaves that M_run uses: not null unless of 0 bytes, and
 * aligned. */
hlo_status hlo_check_buffers(const hlo_module_desc *desc, const void *const *inputs,
                             const void *const *outputs, hlo_text *text);

#endif
