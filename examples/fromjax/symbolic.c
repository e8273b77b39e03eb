/* Calls rows with 600 of at most 1024 rows, in buffers of 600 rows, and compares with JAX's
 * results.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static float x[600 * 16], w[16 * 10], probabilities[600 * 10], mean[10];
static int32_t best[600];
static float expected[600 * 10], expected_mean[10];
static int32_t expected_best[600];

static double largest_difference(const float *a, const float *b, int n) {
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    worst = fmax(worst, fabs((double)a[i] - b[i]));
  }
  return worst;
}

int main(void) {
  FILE *file = fopen("rows.bin", "rb");
  if (!file || !fread(x, sizeof x, 1, file) || !fread(w, sizeof w, 1, file) ||
      !fread(expected, sizeof expected, 1, file) ||
      !fread(expected_mean, sizeof expected_mean, 1, file) ||
      !fread(expected_best, sizeof expected_best, 1, file)) {
    return fputs("rows.bin is missing or short\n", stderr), 1;
  }
  fclose(file);
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.arena_bytes = rows_arena_bytes(1, 600);
  call.arena = call.arena_bytes ? aligned_alloc(ROWS_ARENA_ALIGN, call.arena_bytes) : NULL;
  call.message = message, call.message_bytes = sizeof message;

  int64_t rows = 0, rows_of_best = 0;
  rows_args args = ROWS_ARGS_INIT;
  args.x = x, args.w = w;
  args.b = 600; /* the symbol of the export: the true number of rows */
  args.out_0 = probabilities, args.out_1 = mean, args.out_2 = best;
  args.out_0_size0 = &rows, args.out_2_size0 = &rows_of_best;
  if (rows_run(&call, &args) != HLO_OK) {
    return fprintf(stderr, "%s\n", message), 1;
  }
  int right = rows == 600 && rows_of_best == 600 &&
              !memcmp(best, expected_best, sizeof expected_best) &&
              largest_difference(probabilities, expected, 600 * 10) < 1e-6 &&
              largest_difference(mean, expected_mean, 10) < 1e-5;
  printf("%d rows: %s\n", (int)rows, right ? "JAX's results" : "not JAX's results");
  return !right;
}
