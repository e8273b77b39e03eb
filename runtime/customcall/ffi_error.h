/*===- ffi_error.h - Errors and futures of typed-FFI handlers ------------------===*/
#ifndef RUNTIME_CUSTOMCALL_FFI_ERROR_H
#define RUNTIME_CUSTOMCALL_FFI_ERROR_H

#include "ffi_abi.h"

/** An error with a copy of the message; never null. */
ffi_error *hlo_ffi_error(int code, const char *message);
int hlo_ffi_error_code(const ffi_error *error);
const char *hlo_ffi_error_message(const ffi_error *error);
void hlo_ffi_error_free(ffi_error *error);

/** Null if there is no memory. */
ffi_future *hlo_ffi_future_create(void);
/** Completes the future, with an error (which it then owns) or without. */
void hlo_ffi_future_set(ffi_future *future, ffi_error *error);
/** Waits until the future is complete, frees it, and returns its error or null. */
ffi_error *hlo_ffi_future_wait(ffi_future *future);

#endif
