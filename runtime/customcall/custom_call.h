/*===- custom_call.h - Finding and calling the handlers of custom calls --------===*/
#ifndef RUNTIME_CUSTOMCALL_CUSTOM_CALL_H
#define RUNTIME_CUSTOMCALL_CUSTOM_CALL_H

#include <hlo/sites.h>

#include "ffi_abi.h"

/** Tables for the site's arrays. */
typedef struct Arrays {
  void **pointers;     /* operands, then results; null for tokens */
  ffi_buffer *buffers; /* from here on: only for typed handlers, filled in by hlo_ffi_call */
  void **values;
  int *kinds;
} Arrays;

/** Calls a typed-FFI handler. The text of its error becomes the call's message. */
hlo_status hlo_ffi_call(hlo_frame *frame, const hlo_call_site *site, const hlo_custom_call *handler,
                        Arrays *arrays);

#endif
