/* Calls newton with a double. Without jax_enable_x64 the header would have `const float *a`. */
#include <stdio.h>
#include <stdlib.h>

#include "newton.h"

int main(void) {
  double a = 2, x = 0;
  int64_t steps = 0;
  newton_args args = NEWTON_ARGS_INIT;
  args.a = &a, args.out_0 = &x, args.out_1 = &steps;
  hlo_call call = hlo_call_init();
  call.arena = NEWTON_ARENA_BYTES ? aligned_alloc(NEWTON_ARENA_ALIGN, NEWTON_ARENA_BYTES) : NULL;
  call.arena_bytes = NEWTON_ARENA_BYTES;
  if (newton_run(&call, &args) != HLO_OK) {
    return 1;
  }
  printf("C: %.16g after %d steps\n", x, (int)steps);
  return 0;
}
