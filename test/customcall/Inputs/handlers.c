/*===- handlers.c - Custom call targets of the tests ----------------------------===*\
 *
 * One function for each way in which a module may call; the typed ones are written
 * against the C layouts, without XLA's headers.
 *
 *===-------------------------------------------------------------------------===*/
#include "runtime/customcall/ffi_abi.h"
#include <string.h>

typedef struct XlaCustomCallStatus_ XlaCustomCallStatus;
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus *status, const char *message, size_t size);

/* f32[4] -> f32[4] */
void t_double(void *out, const void **in) {
  for (int i = 0; i < 4; ++i) {
    ((float *)out)[i] = 2 * ((const float *)in[0])[i];
  }
}

/* f32[4], (s32[2], (f32[2])) -> (f32[2], (s32[2], f32[4])): the leaves in reverse */
void t_reverse(void *out, const void **in) {
  void **leaves = out;
  memcpy(leaves[0], in[2], 8);
  memcpy(leaves[1], in[1], 8);
  memcpy(leaves[2], in[0], 16);
}

/* f32[2] -> (): nothing to read but the operand, nothing to write */
void t_nothing(void *out, const void **in) { (void)out, (void)in; }

/* f32[2], () -> (f32[2]) */
void t_one(void *out, const void **in) { memcpy(((void **)out)[0], in[0], 8); }

/* f32[2,3], any layouts -> f32[6]: the bytes as they are in memory */
void t_bytes(void *out, const void **in) { memcpy(out, in[0], 24); }

/* f32[6] -> f32[2,3], any layout: the same the other way */
void t_to_bytes(void *out, const void **in) { memcpy(out, in[0], 24); }

/* Four bytes as they are: s4[8] -> u8[4], and back. */
void t_four(void *out, const void **in) { memcpy(out, in[0], 4); }

/* () -> s32[]: how often it has been called */
void t_count(void *out, const void **in) {
  static int calls;
  (void)in;
  *(int *)out = ++calls;
}

/* token[] -> (s32[], token[]): how often it has been called */
void t_ticket(void *out, const void **in) {
  static int tickets;
  void **leaves = out;
  if (in[0] == NULL && leaves[1] == NULL) { /* tokens have no buffers */
    *(int *)leaves[0] = ++tickets;
  }
}

/* f32[4], in place: fails unless the result is where the operand is */
void t_in_place(void *out, const void **in, XlaCustomCallStatus *status) {
  if (out != in[0]) {
    XlaCustomCallStatusSetFailure(status, "not in place", 12);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    ((float *)out)[i] += 1;
  }
}

/* s32[], in place: one more */
void t_next(void *out, const void **in, XlaCustomCallStatus *status) {
  if (out != in[0]) {
    XlaCustomCallStatusSetFailure(status, "not in place", 12);
    return;
  }
  ++*(int *)out;
}

/* s32[] -> s32[] */
void t_twice(void *out, const void **in) { *(int *)out = 2 * *(const int *)in[0]; }

/* (f32[4], s32[2]), f32[4] -> (s32[2], f32[4]): both in place of the first operand's leaves,
 * crosswise; adds the second operand */
void t_cross(void *out, const void **in, XlaCustomCallStatus *status) {
  void **leaves = out;
  if (leaves[0] != in[1] || leaves[1] != in[0] || in[2] == in[0]) {
    XlaCustomCallStatusSetFailure(status, "not in place", 12);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    ((float *)leaves[1])[i] += ((const float *)in[2])[i];
  }
  ((int *)leaves[0])[0] += 1;
}

/* f32[4] -> f32[4]: fails on negative numbers */
void t_positive(void *out, const void **in, XlaCustomCallStatus *status) {
  for (int i = 0; i < 4; ++i) {
    if (((const float *)in[0])[i] < 0) {
      XlaCustomCallStatusSetFailure(status, "a number is negative", 20);
      return;
    }
    ((float *)out)[i] = ((const float *)in[0])[i];
  }
}

/* () -> u8[8]: the opaque text */
void t_opaque(void *out, const void **in, const char *opaque, size_t size, XlaCustomCallStatus *s) {
  (void)in, (void)s;
  memset(out, 0, 8);
  memcpy(out, opaque, size < 8 ? size : 8);
}

static ffi_error *refuse(ffi_frame *frame, const char *message) {
  ffi_error_args args = {sizeof(args), NULL, message, 3};
  return frame->api->error_create(&args);
}

static int asks_for_version(ffi_frame *frame) {
  if (frame->extensions == NULL || frame->extensions->type != FFI_EXTENSION_METADATA) {
    return 0;
  }
  ((ffi_metadata_extension *)frame->extensions)->metadata->version.minor = 1;
  return 1;
}

static const void *find(const ffi_attributes *list, const char *name, int *kind) {
  for (int64_t i = 0; i < list->size; ++i) {
    const ffi_span *span = list->names[i];
    if (i > 0 && (span->size == 0 || span->data[0] < list->names[i - 1]->data[0])) {
      return NULL; /* not sorted */
    }
    if (span->size == strlen(name) && memcmp(span->data, name, span->size) == 0) {
      *kind = list->kinds[i];
      return list->values[i];
    }
  }
  return NULL;
}

typedef struct {
  int type;
  const void *value;
} scalar;
typedef struct {
  int type;
  size_t size;
  const void *data;
} array;

/* () -> f64[16]: what the attributes are, see calls.hlo */
ffi_error *t_attributes(ffi_frame *frame) {
  if (asks_for_version(frame)) {
    return NULL;
  }
  const ffi_attributes *list = &frame->attributes;
  double *out = ((ffi_buffer *)frame->results.values[0])->data;
  static const char *const scalars[] = {"a", "b", "c", "d", "e"};
  int kind = 0, n = 0;
  for (int i = 0; i < 5; ++i) {
    const scalar *x = find(list, scalars[i], &kind);
    if (x == NULL || kind != 3) {
      return refuse(frame, "a scalar is missing");
    }
    out[n++] = x->type;
    out[n++] = x->type == 1    ? *(const uint8_t *)x->value
               : x->type == 2  ? *(const int8_t *)x->value
               : x->type == 7  ? *(const uint16_t *)x->value
               : x->type == 5  ? (double)*(const int64_t *)x->value
               : x->type == 11 ? *(const float *)x->value
                               : -1;
  }
  const array *list_of = find(list, "f", &kind);
  if (list_of == NULL || kind != 1) {
    return refuse(frame, "the array is missing");
  }
  out[n++] = list_of->type;
  out[n++] = (double)list_of->size;
  out[n++] = ((const int32_t *)list_of->data)[2];
  const ffi_span *text = find(list, "g", &kind);
  if (text == NULL || kind != 4 || memcmp(text->data, "a\"b", 3) != 0) {
    return refuse(frame, "the string is missing");
  }
  out[n++] = (double)text->size;
  const ffi_attributes *inner = find(list, "h", &kind);
  if (inner == NULL || kind != 2) {
    return refuse(frame, "the dictionary is missing");
  }
  out[n++] = (double)inner->size;
  const array *dense = find(inner, "y", &kind);
  out[n++] = dense != NULL && kind == 1 ? ((const double *)dense->data)[1] : -1;
  return NULL;
}

/* any arrays and tokens -> s64[12]: type, rank and dimensions of each */
ffi_error *t_describe(ffi_frame *frame) {
  if (asks_for_version(frame)) {
    return NULL;
  }
  int64_t *out = ((ffi_buffer *)frame->results.values[0])->data;
  int n = 0;
  for (int64_t i = 0; i < frame->operands.size; ++i) {
    const ffi_buffer *buffer = frame->operands.values[i];
    out[n++] = buffer->type;
    out[n++] = buffer->rank;
    for (int64_t d = 0; d < buffer->rank; ++d) {
      out[n++] = buffer->dims[d];
    }
  }
  while (n < 12) {
    out[n++] = -1;
  }
  return NULL;
}

/* f32[4] -> f32[4]: through scratch memory */
ffi_error *t_scratch(ffi_frame *frame) {
  if (asks_for_version(frame)) {
    return NULL;
  }
  ffi_allocate_args memory = {sizeof(memory), NULL, frame->context, 16, 32, NULL};
  ffi_error *error = frame->api->memory_allocate(&memory);
  if (error != NULL) {
    return error;
  }
  memcpy(memory.data, ((ffi_buffer *)frame->operands.values[0])->data, 16);
  memcpy(((ffi_buffer *)frame->results.values[0])->data, memory.data, 16);
  ffi_free_args back = {sizeof(back), NULL, frame->context, 16, memory.data};
  return frame->api->memory_free(&back);
}
