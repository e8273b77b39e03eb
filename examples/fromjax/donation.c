/* Feeds three batches to a state that is updated in place, then one more that keeps the old state.
 */
#include <stdio.h>
#include <stdlib.h>

#include "statistics.h"

int main(void) {
  int32_t count = 0, next_count = 0;
  float sum[3] = {0}, moments[9] = {0}, next_sum[3], next_moments[9], batch[8 * 3], distance[8];
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.arena =
      STATISTICS_ARENA_BYTES ? aligned_alloc(STATISTICS_ARENA_ALIGN, STATISTICS_ARENA_BYTES) : NULL;
  call.arena_bytes = STATISTICS_ARENA_BYTES;
  call.message = message, call.message_bytes = sizeof message;

  /* One buffer for an argument and the result that it is donated to: an update in place. */
  statistics_args args = STATISTICS_ARGS_INIT;
  args.state__count__ = args.out_0 = &count;
  args.state__moments__ = args.out_1 = moments;
  args.state__sum__ = args.out_2 = sum;
  args.batch = batch, args.out_3 = distance;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 24; ++i) {
      batch[i] = (float)(i % 3 + step);
    }
    if (statistics_run(&call, &args) != HLO_OK) {
      return fprintf(stderr, "%s\n", message), 1;
    }
  }
  printf("%d samples, sums %g %g %g\n", (int)count, sum[0], sum[1], sum[2]);

  /* Two buffers are right as well: then the argument is kept. */
  args.out_0 = &next_count, args.out_1 = next_moments, args.out_2 = next_sum;
  if (statistics_run(&call, &args) != HLO_OK) {
    return fprintf(stderr, "%s\n", message), 1;
  }
  printf("then %d, still %d\n", (int)next_count, (int)count);
  return !(count == 24 && next_count == 32 && sum[2] == 72 && next_sum[2] == 104);
}
