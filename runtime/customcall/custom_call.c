/*===- custom_call.c - Calling a handler by its api version --------------------===*\
 *
 * See hlo/sites.h. The target was found before the call began (core/checks.c); if it is missing
 * here, the caller's table changed meanwhile. Handlers run under the caller's floating-point mode,
 * and their changes to it are undone.
 *
 * Descriptions of up to FEW arrays are on the stack. A module may have any number, which take
 * memory from hlo_call.alloc, or without one from the heap.
 *
 *===-------------------------------------------------------------------------===*/
#include "custom_call.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/checked.h"
#include "runtime/core/checks.h"
#include "runtime/core/fields.h"
#include "runtime/core/fp.h"
#include "shape_assertion.h"
#include "status.h"

typedef void original_handler(void *out, const void **in);
typedef void status_handler(void *out, const void **in, XlaCustomCallStatus *status);
typedef void unified_handler(void *out, const void **in, const char *opaque, size_t opaque_len,
                             XlaCustomCallStatus *status);

static hlo_status fail(hlo_frame *frame, const hlo_call_site *site, hlo_status code,
                       const char *message) {
  hlo_text text = hlo_text_of_call(frame->call);
  hlo_text_add(&text, frame->desc->name);
  hlo_text_add(&text, ": custom call ");
  hlo_text_add(&text, site->op.name);
  hlo_text_add(&text, " (");
  hlo_text_add(&text, site->target);
  hlo_text_add(&text, "): ");
  hlo_text_add(&text, message[0] != '\0' ? message : "failed without a message");
  return code;
}

/* The untyped versions: `in` holds the operands' leaves; `out` is the result, or for a tuple the
 * array of its leaves. */
static hlo_status call_untyped(hlo_frame *frame, const hlo_call_site *site, void (*fn)(void),
                               void **pointers) {
  const void **in = (const void **)pointers;
  void **results = pointers + site->op.num_operands;
  void *out = (site->flags & HLO_SITE_TUPLE) ? (void *)results
              : site->op.num_results > 0     ? results[0]
                                             : NULL;
  XlaCustomCallStatus status;
  status.failed = 0;
  switch (site->api) {
    case HLO_API_ORIGINAL:
      ((original_handler *)fn)(out, in);
      break;
    case HLO_API_STATUS_RETURNING:
      ((status_handler *)fn)(out, in, &status);
      break;
    default:
      ((unified_handler *)fn)(out, in, site->opaque, (size_t)site->opaque_bytes, &status);
      break;
  }
  return status.failed ? fail(frame, site, HLO_INTERNAL, status.message) : HLO_OK;
}

/* Most arrays whose descriptions are on the stack: 4 KiB. */
enum { FEW = 64 };
#define BYTES_OF_ONE (sizeof(ffi_buffer) + 2 * sizeof(void *) + sizeof(int))

static hlo_status call_handler(hlo_frame *frame, const hlo_call_site *site,
                               const hlo_custom_call *handler, void *const *buffers,
                               Arrays *arrays) {
  const uint32_t count = site->op.num_operands + site->op.num_results;
  for (uint32_t i = 0, next = 0; i < count; ++i) {
    arrays->pointers[i] =
        hlo_rt_op_buffer_at(&site->op, i)->type == HLO_SITE_TOKEN ? NULL : buffers[next++];
  }
  const uint32_t inside = hlo_fp_get();
  hlo_fp_set(frame->saved_fp);
  const hlo_status status = site->api == HLO_API_TYPED_FFI
                                ? hlo_ffi_call(frame, site, handler, arrays)
                                : call_untyped(frame, site, handler->fn, arrays->pointers);
  hlo_fp_set(inside);
  return status;
}

static hlo_status call_with_few(hlo_frame *frame, const hlo_call_site *site,
                                const hlo_custom_call *handler, void *const *buffers) {
  ffi_buffer list[FEW];
  void *pointers[FEW], *values[FEW];
  int kinds[FEW];
  Arrays arrays = {pointers, list, values, kinds};
  return call_handler(frame, site, handler, buffers, &arrays);
}

static hlo_status call_with_many(hlo_frame *frame, const hlo_call_site *site,
                                 const hlo_custom_call *handler, void *const *buffers,
                                 uint64_t count) {
  const hlo_allocator *alloc = HLO_FIELD(frame->call, alloc);
  const int given = HLO_HAS_FIELD(alloc, free);
  uint64_t bytes = BYTES_OF_ONE;
  if (count > UINT32_MAX || !hlo_multiply_size(&bytes, count) || !hlo_align_size(&bytes, 64)) {
    return fail(frame, site, HLO_UNIMPLEMENTED, "too many operands and results");
  }
  char *memory = given ? alloc->alloc(alloc->user, bytes, 64) : aligned_alloc(64, bytes);
  if (memory == NULL) {
    return fail(frame, site, HLO_RESOURCE_EXHAUSTED, "no memory for the operands' descriptions");
  }
  Arrays arrays;
  arrays.buffers = (ffi_buffer *)(void *)memory;
  arrays.pointers = (void **)(void *)(arrays.buffers + count);
  arrays.values = arrays.pointers + count;
  arrays.kinds = (int *)(void *)(arrays.values + count);
  const hlo_status status = call_handler(frame, site, handler, buffers, &arrays);
  if (given) {
    alloc->free(alloc->user, memory, bytes);
  } else {
    free(memory);
  }
  return status;
}

hlo_status hlo_rt_custom_call(hlo_frame *frame, const hlo_call_site *site, void *const *buffers) {
  hlo_custom_call linked = {site->target, site->api, 0, site->symbol, NULL};
  const hlo_custom_call *handler =
      hlo_find_custom_call(HLO_FIELD(frame->call, custom_calls), site->target);
  if (handler == NULL) {
    handler = &linked;
  }
  if (handler->fn == NULL && strcmp(site->target, "shape_assertion") == 0) {
    return hlo_assert_sizes(frame, site, buffers);
  }
  if (handler->fn == NULL) {
    return fail(frame, site, HLO_ERR_MISSING, "no such target");
  }
  if (handler->api != site->api) {
    return fail(frame, site, HLO_ERR_MISSING, "the target has another api version");
  }
  const uint64_t count = (uint64_t)site->op.num_operands + site->op.num_results;
  return count <= FEW ? call_with_few(frame, site, handler, buffers)
                      : call_with_many(frame, site, handler, buffers, count);
}
