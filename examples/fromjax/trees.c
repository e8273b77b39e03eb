/* Calls detect, which has a dictionary of arguments and one of results. */
#include <stdio.h>
#include <stdlib.h>

#include "detect.h"

int main(void) {
  static float image[12 * 12], map[6 * 6];
  for (int i = 0; i < 12 * 12; ++i) {
    image[i] = (float)(i / 12 + i % 12); /* element (row, column) is at row * 12 + column */
  }
  float scale = 2, least = 25, best = 0;
  uint8_t debug = 0, found[6]; /* pred: a byte, 0 or 1 */
  int32_t boxes[6 * 2];

  detect_args args = DETECT_ARGS_INIT;
  args.options__debug__ = &debug, args.options__least__ = &least, args.options__scale__ = &scale;
  args.image = image;
  args.out_0 = &best, args.out_1 = boxes, args.out_2 = found, args.out_3 = map;
  hlo_call call = hlo_call_init();
  call.arena = DETECT_ARENA_BYTES ? aligned_alloc(DETECT_ARENA_ALIGN, DETECT_ARENA_BYTES) : NULL;
  call.arena_bytes = DETECT_ARENA_BYTES;
  if (detect_run(&call, &args) != HLO_OK) {
    return 1;
  }
  printf("best %g, first box %d %d, found", best, (int)boxes[0], (int)boxes[1]);
  for (int i = 0; i < 6; ++i) {
    printf(" %d", found[i]);
  }
  puts("");
  return 0;
}
