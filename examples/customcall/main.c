/* A compiled module that calls functions of this program: one found by its name when the program is
 * linked, one given in the call's table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"

/* API_VERSION_ORIGINAL: the result's buffer and the operands' buffers. The object refers to this
 * function by name. */
void median_of_three(void *out, const void **in) {
  const float *x = in[0];
  float *y = out;
  for (int i = 0; i < 8; ++i) {
    float a = x[i > 0 ? i - 1 : i], b = x[i], c = x[i < 7 ? i + 1 : i];
    y[i] = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
  }
}

/* API_VERSION_STATUS_RETURNING: the same with a status. */
typedef struct XlaCustomCallStatus_ XlaCustomCallStatus;
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus *status, const char *message, size_t size);

static void log_or_fail(void *out, const void **in, XlaCustomCallStatus *status) {
  const float *x = in[0];
  float *y = out;
  char text[64];
  for (int i = 0; i < 8; ++i) {
    if (x[i] <= 0) {
      snprintf(text, sizeof text, "no logarithm of %g at %d", x[i], i);
      XlaCustomCallStatusSetFailure(status, text, strlen(text));
      return;
    }
    y[i] = log10f(x[i]);
  }
}

int main(void) {
  float signal[8] = {1, 10, 1000, 10, 10, 100, 100, 10}, out[8];
  filter_args args = FILTER_ARGS_INIT;
  args.signal = signal, args.out = out;
  char message[256] = "", arena[FILTER_ARENA_BYTES + 64];
  hlo_call call = hlo_call_init();
  call.message = message, call.message_bytes = sizeof message;
  call.arena = (void *)(((size_t)arena + 63) / 64 * 64), call.arena_bytes = FILTER_ARENA_BYTES;

  /* Without a table one target is missing: the call names it and does nothing. */
  if (filter_run(&call, &args) != HLO_OK) {
    printf("%s\n", message);
  }

  hlo_custom_call entry = {"checked_log", HLO_API_STATUS_RETURNING, 0, (void (*)(void))log_or_fail,
                           NULL};
  hlo_custom_calls table = {sizeof table, 1, sizeof entry, 0, &entry}; /* sorted by name */
  call.custom_calls = &table;
  if (filter_run(&call, &args) != HLO_OK) {
    return printf("%s\n", message), 1;
  }
  for (int i = 0; i < 8; ++i) {
    printf("%g ", out[i]);
  }
  printf("\n");

  /* A failing handler ends the call with its message; the next call is not affected. */
  signal[3] = signal[4] = -1;
  if (filter_run(&call, &args) != HLO_OK) {
    printf("%s\n", message);
  }
  signal[3] = signal[4] = 10;
  if (filter_run(&call, &args) != HLO_OK) {
    return printf("%s\n", message), 1;
  }
  printf("again %g\n", out[2]);
  return 0;
}
