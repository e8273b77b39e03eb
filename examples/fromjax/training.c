/* Trains for 200 steps with the compiled step: state in place, no Python. */
#include <stdio.h>
#include <stdlib.h>

#include "adam.h"

enum { FEATURES = 8, HIDDEN = 32, SAMPLES = 64, STEPS = 200 };

static float b1[HIDDEN], w1[FEATURES * HIDDEN], w2[HIDDEN];
static float m_b1[HIDDEN], m_w1[FEATURES * HIDDEN], m_w2[HIDDEN];
static float v_b1[HIDDEN], v_w1[FEATURES * HIDDEN], v_w2[HIDDEN];
static float x[SAMPLES * FEATURES], y[SAMPLES];

#define READ(array) (fread(array, sizeof(array), 1, file) == 1)

int main(void) {
  FILE *file = fopen("adam.bin", "rb");
  if (!file || !(READ(b1) && READ(w1) && READ(w2) && READ(x) && READ(y))) {
    return fputs("adam.bin is missing or short\n", stderr), 1;
  }
  fclose(file);

  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.arena = ADAM_ARENA_BYTES ? aligned_alloc(ADAM_ARENA_ALIGN, ADAM_ARENA_BYTES) : NULL;
  call.arena_bytes = ADAM_ARENA_BYTES;
  call.message = message, call.message_bytes = sizeof message;

  int32_t count = 0;
  float loss = 0, first = 0;
  adam_args args = ADAM_ARGS_INIT;
  /* Results in the order of the leaves: params, m, v (each b1, w1, w2), count, loss. */
  args.params__b1__ = args.out_0 = b1, args.params__w1__ = args.out_1 = w1;
  args.params__w2__ = args.out_2 = w2;
  args.m__b1__ = args.out_3 = m_b1, args.m__w1__ = args.out_4 = m_w1;
  args.m__w2__ = args.out_5 = m_w2;
  args.v__b1__ = args.out_6 = v_b1, args.v__w1__ = args.out_7 = v_w1;
  args.v__w2__ = args.out_8 = v_w2;
  args.count = args.out_9 = &count, args.out_10 = &loss;
  args.x = x, args.y = y;
  for (int step = 0; step < STEPS; ++step) {
    if (adam_run(&call, &args) != HLO_OK) {
      return fprintf(stderr, "%s\n", message), 1;
    }
    first = step == 0 ? loss : first;
  }
  printf("C: loss %.4f -> %.4f after %d steps\n", first, loss, (int)count);
  return 0;
}
