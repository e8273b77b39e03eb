/*===- ffi_abi.h - The layouts of XLA's typed FFI -------------------------------===*\
 *
 * Our own declarations of the C structs that handlers compiled with xla/ffi/api/c_api.h read and
 * write (api versions 0.1 to 0.4). Each starts with its size and a list of extensions. Later
 * versions append fields, so a reader uses only fields within the size.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CUSTOMCALL_FFI_ABI_H
#define RUNTIME_CUSTOMCALL_FFI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { FFI_MAJOR = 0, FFI_MINOR = 3, FFI_LAST_MINOR = 4 };

/** Optional further information; the only kind so far asks a handler for its version. */
typedef struct ffi_extension {
  size_t struct_size;
  int type; /* FFI_EXTENSION_METADATA */
  struct ffi_extension *next;
} ffi_extension;

enum { FFI_EXTENSION_METADATA = 1 };

typedef struct ffi_version {
  size_t struct_size;
  ffi_extension *extensions;
  int major, minor;
} ffi_version;

typedef struct ffi_metadata {
  size_t struct_size;
  ffi_version version;
  uint32_t traits;
  int64_t state_type;
} ffi_metadata;

typedef struct ffi_metadata_extension {
  ffi_extension base;
  ffi_metadata *metadata;
} ffi_metadata_extension;

/** How handlers and the runtime report errors. The one creates it, the other destroys it. */
typedef struct ffi_error ffi_error;
typedef struct ffi_future ffi_future;
typedef struct ffi_context ffi_context;
typedef struct ffi_api ffi_api;

/** A string that need not be NUL-terminated. */
typedef struct ffi_span {
  const char *data;
  size_t size;
} ffi_span;

/** An array given to a handler; `dims` are logical. */
typedef struct ffi_buffer {
  size_t struct_size;
  ffi_extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *dims;
} ffi_buffer;

enum { FFI_KIND_BUFFER = 1 };

/** A list of operands, results or attributes: kinds, names (attributes only), and values. */
typedef struct ffi_list {
  size_t struct_size;
  ffi_extension *extensions;
  int64_t size;
  int *kinds;
  void **values;
} ffi_list;

typedef struct ffi_attributes {
  size_t struct_size;
  ffi_extension *extensions;
  int64_t size;
  int *kinds;
  ffi_span **names; /* sorted */
  void **values;
} ffi_attributes;

enum { FFI_STAGE_EXECUTE = 3 };

/** One call of a handler. */
typedef struct ffi_frame {
  size_t struct_size;
  ffi_extension *extensions;
  const ffi_api *api;
  ffi_context *context;
  int stage;
  ffi_list operands, results;
  ffi_attributes attributes;
  ffi_future *future; /* out: not null if the handler is still running when it returns */
} ffi_frame;

typedef ffi_error *ffi_handler(ffi_frame *frame);

/* Arguments of the api's functions. */
typedef struct ffi_error_args { /* create */
  size_t struct_size;
  ffi_extension *extensions;
  const char *message;
  int code;
} ffi_error_args;

typedef struct ffi_message_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_error *error;
  const char *message; /* out */
} ffi_message_args;

typedef struct ffi_destroy_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_error *error;
} ffi_destroy_args;

typedef struct ffi_type_args { /* register */
  size_t struct_size;
  ffi_extension *extensions;
  ffi_span name;
  int64_t *id; /* in and out; 0 asks for one */
  const void *info;
} ffi_type_args;

typedef struct ffi_get_args { /* execution context, by type */
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  int64_t *type;
  void *data; /* out */
} ffi_get_args;

typedef struct ffi_state_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  int stage;
  int64_t *type;
  void *state; /* in or out */
} ffi_state_args;

typedef struct ffi_stream_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  void *stream; /* out */
} ffi_stream_args;

typedef struct ffi_allocate_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  size_t size, alignment;
  void *data; /* out */
} ffi_allocate_args;

typedef struct ffi_free_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  size_t size;
  void *data;
} ffi_free_args;

typedef struct ffi_schedule_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  void (*task)(void *data);
  void *data;
} ffi_schedule_args;

typedef struct ffi_threads_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  int64_t *threads; /* out */
} ffi_threads_args;

typedef struct ffi_future_args { /* create, set available, set error */
  size_t struct_size;
  ffi_extension *extensions;
  ffi_future *future; /* out of create */
  ffi_error *error;   /* of set error only */
} ffi_future_args;

typedef struct ffi_run_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  int64_t run_id; /* out */
} ffi_run_args;

typedef struct ffi_device_args {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_context *context;
  int32_t device; /* out */
} ffi_device_args;

/** The functions that a handler may call, in the order of the C API. */
struct ffi_api {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_version version;
  const void *internal;
  ffi_error *(*error_create)(ffi_error_args *args);
  void (*error_message)(ffi_message_args *args);
  void (*error_destroy)(ffi_destroy_args *args);
  ffi_error *(*handler_register)(void *args);
  ffi_error *(*stream_get)(ffi_stream_args *args);
  ffi_error *(*type_register)(ffi_type_args *args);
  ffi_error *(*context_get)(ffi_get_args *args);
  ffi_error *(*state_set)(ffi_state_args *args);
  ffi_error *(*state_get)(ffi_state_args *args);
  ffi_error *(*memory_allocate)(ffi_allocate_args *args);
  ffi_error *(*memory_free)(ffi_free_args *args);
  ffi_error *(*pool_schedule)(ffi_schedule_args *args);
  ffi_error *(*pool_threads)(ffi_threads_args *args);
  ffi_error *(*future_create)(ffi_future_args *args);
  ffi_error *(*future_available)(ffi_future_args *args);
  ffi_error *(*future_error)(ffi_future_args *args);
  ffi_error *(*run_id_get)(ffi_run_args *args);
  ffi_error *(*device_get)(ffi_device_args *args);
};

#endif
