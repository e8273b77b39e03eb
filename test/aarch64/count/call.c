/* Calls the module m once, on one thread, with inputs that are neither zero nor special: what
 * instructions.py counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "m.h"

/* 0.5, 1, 1.5, 0.5, ... of each float, small numbers of each integer. */
static void fill(const hlo_buffer_desc *leaf, void *data) {
  const uint64_t size = (uint64_t)hlo_type_bytes(leaf->type);
  for (uint64_t at = 0, i = 0; size > 0 && at + size <= leaf->bytes; at += size, ++i) {
    const double value = 0.5 * (double)(1 + i % 3);
    const float single = (float)value;
    const uint64_t number = 1 + i % 3;
    uint32_t bits;
    memcpy(&bits, &single, sizeof(bits));
    const uint16_t bf16 = (uint16_t)(bits >> 16);
    const uint16_t f16 = (uint16_t)(((bits >> 23) - 112) << 10 | (bits >> 13 & 1023));
    const void *source = &number;
    switch (leaf->type) {
    case HLO_F64: source = &value; break;
    case HLO_F32: source = &single; break;
    case HLO_BF16: source = &bf16; break;
    case HLO_F16: source = &f16; break;
    case HLO_C64:
      source = &single;
      memcpy((char *)data + at + 4, &single, 4);
      break;
    case HLO_C128:
      source = &value;
      memcpy((char *)data + at + 8, &value, 8);
      break;
    default: break;
    }
    const uint64_t half = leaf->type == HLO_C64 || leaf->type == HLO_C128 ? size / 2 : size;
    memcpy((char *)data + at, source, half < 8 ? half : 8);
  }
}

static void *allocate(uint64_t bytes) {
  void *data = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
  if (!data) {
    abort();
  }
  memset(data, 0, bytes);
  return data;
}

int main(void) {
  const hlo_module_desc *desc = m_describe();
  const void **inputs = allocate(sizeof(void *) * desc->num_inputs);
  void **outputs = allocate(sizeof(void *) * desc->num_outputs);
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    void *data = allocate(hlo_input_at(desc, i)->bytes);
    fill(hlo_input_at(desc, i), data);
    inputs[i] = data;
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    outputs[i] = allocate(hlo_output_at(desc, i)->bytes);
  }
  char message[500] = "";
  hlo_call call = hlo_call_init();
  call.message = message;
  call.message_bytes = sizeof(message);
  call.arena_bytes = hlo_arena_bytes(desc, 1);
  call.arena = allocate(call.arena_bytes);
  call.state = allocate(desc->state_bytes);
  const hlo_status status = m_run_buffers(&call, inputs, outputs);
  if (status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(status), message);
  }
  return status != HLO_OK;
}
