/*===- custom_call.h - Finding and calling the handlers of custom calls --------===*/
#ifndef RUNTIME_CUSTOMCALL_CUSTOM_CALL_H
#define RUNTIME_CUSTOMCALL_CUSTOM_CALL_H

#include <hlo/sites.h>

/** Calls a typed-FFI handler. `pointers` has one entry for each of the site's arrays, null for
 * tokens. An error's text is the call's message. */
hlo_status hlo_ffi_call(hlo_frame *frame, const hlo_call_site *site, const hlo_custom_call *handler,
                        void *const *pointers);

#endif
