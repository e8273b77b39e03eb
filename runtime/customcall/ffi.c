/*===- ffi.c - Calling typed-FFI handlers ---------------------------------------===*\
 *
 * Makes a handler's call frame from the static record of the call site (hlo/sites.h) and the
 * pointers of this call, and answers the handler's requests:
 *
 *   scratch memory   hlo_call.alloc, freed when the handler returns
 *   thread pool      tasks run at once on the calling thread, one after another: an
 *                    hlo_executor only splits loops, and a handler may wait for its tasks.
 *                    So the pool has one thread.
 *   run id, device   hlo_call.run_id; the rank in hlo_call.comm
 *   state, user      `user` of the table's entry; the stages before execution do not exist
 *   types            an id is a hash of the name, so nothing needs to be registered
 *
 * A handler that is called only for its version, and makes one of these requests, gets an error.
 *
 *===-------------------------------------------------------------------------===*/
#include <string.h>

#include "custom_call.h"
#include "ffi_error.h"
#include "runtime/core/checks.h"
#include "runtime/core/fields.h"

struct ffi_context {
  hlo_frame *frame; /* null while a handler is asked for its version */
  void *user;
};

/* The call that runs the handler; null if the handler is only asked for its version. */
static const hlo_call *call_of(const struct ffi_context *context) {
  return context != NULL && context->frame != NULL ? context->frame->call : NULL;
}

/* hlo_type -> XLA_FFI_DataType, which numbers types like XLA's PrimitiveType. */
static const uint8_t kTypes[] = {
    [HLO_PRED] = 1,
    [HLO_S1] = 30,
    [HLO_S2] = 26,
    [HLO_S4] = 21,
    [HLO_S8] = 2,
    [HLO_S16] = 3,
    [HLO_S32] = 4,
    [HLO_S64] = 5,
    [HLO_U1] = 31,
    [HLO_U2] = 27,
    [HLO_U4] = 22,
    [HLO_U8] = 6,
    [HLO_U16] = 7,
    [HLO_U32] = 8,
    [HLO_U64] = 9,
    [HLO_F16] = 10,
    [HLO_BF16] = 16,
    [HLO_F32] = 11,
    [HLO_F64] = 12,
    [HLO_C64] = 15,
    [HLO_C128] = 18,
    [HLO_F8E5M2] = 19,
    [HLO_F8E4M3] = 28,
    [HLO_F8E4M3FN] = 20,
    [HLO_F8E4M3B11FNUZ] = 23,
    [HLO_F8E5M2FNUZ] = 24,
    [HLO_F8E4M3FNUZ] = 25,
    [HLO_F8E3M4] = 29,
    [HLO_F8E8M0FNU] = 33,
    [HLO_F4E2M1FN] = 32,
};
enum { TYPE_TOKEN = 17 };

static int type_of(int32_t type) {
  if (type == HLO_SITE_TOKEN) {
    return TYPE_TOKEN;
  }
  return type > 0 && type < (int32_t)sizeof(kTypes) ? kTypes[type] : 0;
}

/*===- The functions of the api --------------------------------------------------*/

static ffi_error *error_create(ffi_error_args *args) {
  return hlo_ffi_error(args->code, args->message);
}

static void error_message(ffi_message_args *args) {
  args->message = hlo_ffi_error_message(args->error);
}

static void error_destroy(ffi_destroy_args *args) { hlo_ffi_error_free(args->error); }

static ffi_error *handler_register(void *args) {
  (void)args;
  return hlo_ffi_error(HLO_UNIMPLEMENTED,
                       "handlers are given in hlo_call.custom_calls or linked by name");
}

static ffi_error *stream_get(ffi_stream_args *args) {
  args->stream = NULL;
  return hlo_ffi_error(HLO_UNIMPLEMENTED, "there are no streams on a CPU");
}

static ffi_error *type_register(ffi_type_args *args) {
  if (*args->id == 0) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < args->name.size; ++i) {
      hash = (hash ^ (unsigned char)args->name.data[i]) * 0x100000001b3u;
    }
    *args->id = (int64_t)(hash >> 1 | 1);
  }
  return NULL;
}

static ffi_error *context_get(ffi_get_args *args) {
  args->data = args->context != NULL ? args->context->user : NULL;
  return args->data != NULL
             ? NULL
             : hlo_ffi_error(HLO_NOT_FOUND, "hlo_custom_call.user of the target is null");
}

static ffi_error *state_set(ffi_state_args *args) {
  (void)args;
  return hlo_ffi_error(HLO_UNIMPLEMENTED, "state is set by the caller in hlo_custom_call.user");
}

static ffi_error *state_get(ffi_state_args *args) {
  args->state = args->context != NULL ? args->context->user : NULL;
  return args->state != NULL
             ? NULL
             : hlo_ffi_error(HLO_NOT_FOUND, "hlo_custom_call.user of the target is null");
}

static ffi_error *memory_allocate(ffi_allocate_args *args) {
  const hlo_allocator *alloc = HLO_FIELD(call_of(args->context), alloc);
  const size_t align = args->alignment > 0 ? args->alignment : 1;
  args->data = NULL;
  if ((align & (align - 1)) != 0) {
    return hlo_ffi_error(HLO_INVALID_ARGUMENT, "the alignment of memory is not a power of two");
  }
  /* The caller's allocator may round the size up. */
  if (args->size > PTRDIFF_MAX || align > PTRDIFF_MAX - args->size) {
    return hlo_ffi_error(HLO_RESOURCE_EXHAUSTED, "more memory than there are addresses");
  }
  if (!HLO_HAS_FIELD(alloc, free)) {
    return hlo_ffi_error(HLO_ERR_ALLOC & 0xff, "the handler needs memory, hlo_call has no alloc");
  }
  args->data = args->size > 0 ? alloc->alloc(alloc->user, args->size, align) : NULL;
  return args->data != NULL || args->size == 0
             ? NULL
             : hlo_ffi_error(HLO_RESOURCE_EXHAUSTED, "hlo_call.alloc gave no memory");
}

static ffi_error *memory_free(ffi_free_args *args) {
  const hlo_allocator *alloc = HLO_FIELD(call_of(args->context), alloc);
  if (args->data != NULL && HLO_HAS_FIELD(alloc, free)) {
    alloc->free(alloc->user, args->data, args->size);
  }
  return NULL;
}

static ffi_error *pool_schedule(ffi_schedule_args *args) {
  args->task(args->data);
  return NULL;
}

static ffi_error *pool_threads(ffi_threads_args *args) {
  *args->threads = 1;
  return NULL;
}

static ffi_error *future_create(ffi_future_args *args) {
  args->future = hlo_ffi_future_create();
  return args->future != NULL ? NULL : hlo_ffi_error(HLO_RESOURCE_EXHAUSTED, "no memory");
}

static ffi_error *future_available(ffi_future_args *args) {
  if (args->future == NULL) {
    return hlo_ffi_error(HLO_INVALID_ARGUMENT, "no future was given");
  }
  hlo_ffi_future_set(args->future, NULL);
  return NULL;
}

static ffi_error *future_error(ffi_future_args *args) {
  if (args->future == NULL) {
    return hlo_ffi_error(HLO_INVALID_ARGUMENT, "no future was given");
  }
  hlo_ffi_future_set(args->future, args->error != NULL
                                       ? args->error
                                       : hlo_ffi_error(HLO_UNKNOWN, "failed without an error"));
  return NULL;
}

static ffi_error *run_id_get(ffi_run_args *args) {
  args->run_id = HLO_FIELD(call_of(args->context), run_id);
  return NULL;
}

static ffi_error *device_get(ffi_device_args *args) {
  const hlo_comm *comm = HLO_FIELD(call_of(args->context), comm);
  args->device = HLO_HAS_FIELD(comm, num_partitions)
                     ? comm->replica * comm->num_partitions + comm->partition
                     : 0;
  return NULL;
}

static const ffi_api kApi = {
    .struct_size = sizeof(ffi_api),
    .version = {offsetof(ffi_version, minor) + sizeof(int), NULL, FFI_MAJOR, FFI_MINOR},
    .error_create = error_create,
    .error_message = error_message,
    .error_destroy = error_destroy,
    .handler_register = handler_register,
    .stream_get = stream_get,
    .type_register = type_register,
    .context_get = context_get,
    .state_set = state_set,
    .state_get = state_get,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .pool_schedule = pool_schedule,
    .pool_threads = pool_threads,
    .future_create = future_create,
    .future_available = future_available,
    .future_error = future_error,
    .run_id_get = run_id_get,
    .device_get = device_get,
};

/*===- Calls -----------------------------------------------------------------------*/

static void begin_text(hlo_frame *frame, const hlo_call_site *site, hlo_text *text) {
  *text = hlo_text_of_call(frame->call);
  hlo_text_add(text, frame->desc->name);
  hlo_text_add(text, ": custom call ");
  hlo_text_add(text, site->op.name);
  hlo_text_add(text, " (");
  hlo_text_add(text, site->target);
  hlo_text_add(text, "): ");
}

static hlo_status report(hlo_frame *frame, const hlo_call_site *site, ffi_error *error) {
  hlo_text text;
  begin_text(frame, site, &text);
  const char *message = hlo_ffi_error_message(error);
  hlo_text_add(&text, message[0] != '\0' ? message : "failed without a message");
  const int code = hlo_ffi_error_code(error);
  hlo_ffi_error_free(error);
  return code > 0 && code < 0x80 ? code : HLO_UNKNOWN;
}

hlo_status hlo_ffi_call(hlo_frame *frame, const hlo_call_site *site, const hlo_custom_call *handler,
                        Arrays *arrays) {
  const uint32_t operands = site->op.num_operands, count = operands + site->op.num_results;
  ffi_buffer *buffers = arrays->buffers;
  void **pointers = arrays->pointers, **values = arrays->values;
  int *kinds = arrays->kinds;
  for (uint32_t i = 0; i < count; ++i) {
    const hlo_buffer_desc *array = hlo_rt_op_buffer_at(&site->op, i);
    buffers[i].struct_size = sizeof(ffi_buffer);
    buffers[i].extensions = NULL;
    buffers[i].type = type_of(array->type);
    buffers[i].data = pointers[i];
    buffers[i].rank = array->rank;
    buffers[i].dims = (int64_t *)(uintptr_t)array->dims;
    values[i] = &buffers[i];
    kinds[i] = FFI_KIND_BUFFER;
  }
  struct ffi_context context = {frame, handler->user};
  ffi_frame call = {
      .struct_size = offsetof(ffi_frame, future), /* as in the C API */
      .api = &kApi,
      .context = &context,
      .stage = FFI_STAGE_EXECUTE,
      .operands = {sizeof(ffi_list), NULL, operands, kinds, values},
      .results = {sizeof(ffi_list), NULL, site->op.num_results, kinds + operands,
                  values + operands},
      .attributes = {.struct_size = sizeof(ffi_attributes)},
  };
  if (site->attributes != NULL) {
    call.attributes = *(const ffi_attributes *)site->attributes;
  }
  ffi_error *error = ((ffi_handler *)handler->fn)(&call);
  if (error == NULL && call.future != NULL) {
    error = hlo_ffi_future_wait(call.future);
  }
  return error == NULL ? HLO_OK : report(frame, site, error);
}

hlo_status hlo_ffi_version(void (*handler)(void), int *major, int *minor) {
  ffi_metadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.struct_size = sizeof(metadata);
  metadata.version.struct_size = offsetof(ffi_version, minor) + sizeof(int);
  ffi_metadata_extension extension = {
      {sizeof(ffi_metadata_extension), FFI_EXTENSION_METADATA, NULL}, &metadata};
  struct ffi_context nobody = {NULL, NULL};
  ffi_frame call = {
      .struct_size = offsetof(ffi_frame, future),
      .extensions = &extension.base,
      .api = &kApi,
      .context = &nobody,
      .stage = FFI_STAGE_EXECUTE,
      .operands = {.struct_size = sizeof(ffi_list)},
      .results = {.struct_size = sizeof(ffi_list)},
      .attributes = {.struct_size = sizeof(ffi_attributes)},
  };
  ffi_error *error = ((ffi_handler *)handler)(&call);
  if (error != NULL) {
    hlo_ffi_error_free(error);
    return HLO_INVALID_ARGUMENT;
  }
  *major = metadata.version.major;
  *minor = metadata.version.minor;
  return *major == FFI_MAJOR && *minor >= 0 && *minor <= FFI_LAST_MINOR ? HLO_OK
                                                                        : HLO_UNIMPLEMENTED;
}
