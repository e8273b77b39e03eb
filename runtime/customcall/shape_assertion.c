/*===- shape_assertion.c - Assertions on sizes ---------------------------------===*\
 *
 * The custom call `shape_assertion` of JAX: operand 0, a pred, must hold. If it does not, the call
 * fails with the site's text, in which {0}, {1}, ... are the operands after it, integers.
 *
 *===-------------------------------------------------------------------------===*/
#include "shape_assertion.h"

#include "runtime/core/text.h"

/* Appends operand `number` after the predicate; nothing if it is no integer scalar. */
static void add_operand(hlo_text *text, const hlo_call_site *site, void *const *buffers,
                        uint32_t number) {
  const uint32_t i = number + 1;
  if (i >= site->op.num_operands) {
    return;
  }
  const hlo_buffer_desc *desc = hlo_rt_op_buffer_at(&site->op, i);
  int64_t value;
  if (desc->bytes == sizeof(int32_t) && desc->type == HLO_S32) {
    value = *(const int32_t *)buffers[i];
  } else if (desc->bytes == sizeof(int64_t) && desc->type == HLO_S64) {
    value = *(const int64_t *)buffers[i];
  } else {
    return;
  }
  hlo_text_add(text, value < 0 ? "-" : "");
  hlo_text_number(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

hlo_status hlo_assert_sizes(hlo_frame *frame, const hlo_call_site *site, void *const *buffers) {
  if (site->op.num_operands > 0 && hlo_rt_op_buffer_at(&site->op, 0)->type == HLO_PRED &&
      hlo_rt_op_buffer_at(&site->op, 0)->bytes == 1 && *(const uint8_t *)buffers[0] != 0) {
    return HLO_OK;
  }
  hlo_text text = hlo_text_of_call(frame->call);
  hlo_text_add(&text, frame->desc->name);
  hlo_text_add(&text, ": ");
  const char *at = site->opaque;
  while (*at != '\0') {
    uint32_t number = 0;
    const char *end = at + 1;
    for (; *at == '{' && *end >= '0' && *end <= '9' && number < 1000; ++end) {
      number = number * 10 + (uint32_t)(*end - '0');
    }
    if (*at == '{' && end > at + 1 && *end == '}') {
      add_operand(&text, site, buffers, number);
      at = end + 1;
      continue;
    }
    const char one[2] = {*at++, '\0'};
    hlo_text_add(&text, one);
  }
  return HLO_ERR_SIZE;
}
