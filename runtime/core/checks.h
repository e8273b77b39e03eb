/*===- checks.h - What must hold before a module runs --------------------------===*\
 *
 * One function per condition: HLO_OK, or an error whose text is appended to `text`.
 * hlo_rt_begin stops at the first error, hlo_check collects them all.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_CHECKS_H
#define RUNTIME_CORE_CHECKS_H

#include "text.h"

/** struct_size and abi of both and the strides of their arrays, and whether they fit each other. */
hlo_status hlo_check_structs(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The same for a call about to run; `text` becomes the call's message, if the call is of our
 * version and so has one that can be trusted. */
hlo_status hlo_check_call(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The CPU is of the architecture and has every feature the code uses; asks for AMX if it is among
 * them. */
hlo_status hlo_check_cpu(const hlo_module_desc *desc, hlo_text *text);
/** Feeds, comm, state and custom calls that the module needs. */
hlo_status hlo_check_services(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The entry of that name, or null; `table` may be null. */
const hlo_custom_call *hlo_find_custom_call(const hlo_custom_calls *table, const char *name);
/** The api version that a typed-FFI handler was compiled for; an error if it refuses to say, or if
 * this runtime does not know the version. In customcall/ffi.c, which is linked only with modules
 * that make custom calls: null otherwise. */
hlo_status hlo_ffi_version(void (*handler)(void), int *major, int *minor)
    __attribute__((weak, visibility("hidden")));
/** The arena of a call of M_run, or of M_prepare: none needed, or given in full, or an allocator in
 * its place. */
hlo_status hlo_check_scratch(const hlo_module_desc *desc, const hlo_call *call, int prepares,
                             hlo_text *text);
/** The prepared block that M_run reads: there, long enough, aligned, this module's, finished. */
hlo_status hlo_check_prepared(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text);
/** The inputs that `reader` reads (one of HLO_READ_BY_*), as hlo_check_buffers. */
hlo_status hlo_check_inputs(const hlo_module_desc *desc, const void *const *inputs, uint8_t reader,
                            hlo_text *text);
/** The caller's buffers of all leaves that M_run uses: none null but those of 0 bytes, each
 * aligned. */
hlo_status hlo_check_buffers(const hlo_module_desc *desc, const void *const *inputs,
                             const void *const *outputs, hlo_text *text);

#endif
