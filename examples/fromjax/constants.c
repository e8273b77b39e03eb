/* Calls one network twice: with the weights in the object, and with weights.bin as its immutable
 * parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"
#include "net_constants.h"

static void *read_bytes(FILE *file, size_t bytes) {
  void *buffer = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!file || !buffer || fread(buffer, bytes, 1, file) != 1) {
    exit((fputs("a file is missing or short\n", stderr), 1));
  }
  return buffer;
}

static void check(hlo_status status, const char *message) {
  if (status != HLO_OK) {
    exit((fprintf(stderr, "%s: %s\n", hlo_status_name(status), message), 1));
  }
}

static double largest_difference(const float *a, const float *b, int n) {
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    worst = fmax(worst, fabs((double)a[i] - b[i]));
  }
  return worst;
}

int main(void) {
  FILE *file = fopen("check.bin", "rb");
  const float *x = read_bytes(file, 64 * sizeof(float));
  const float *expected = read_bytes(file, 10 * sizeof(float));
  fclose(file);
  float a[10], b[10];
  char message[256] = "";
  hlo_call call = hlo_call_init();
  size_t scratch = NET_CONSTANTS_ARENA_BYTES + NET_ARENA_BYTES + NET_PREPARE_ARENA_BYTES;
  call.arena = aligned_alloc(64, scratch), call.arena_bytes = scratch;
  call.message = message, call.message_bytes = sizeof message;

  /* Constants: nothing to load. */
  net_constants_args one = NET_CONSTANTS_ARGS_INIT;
  one.x = x, one.out = a;
  check(net_constants_run(&call, &one), message);

  /* Parameters: the description says which ones --immutable-params named, and their sizes. */
  const hlo_module_desc *net = net_describe();
  const void *inputs[NET_NUM_INPUTS];
  file = fopen("weights.bin", "rb");
  for (unsigned i = 0; i < net->num_inputs; ++i) {
    inputs[i] = net->input_use[i] & HLO_IMMUTABLE ? read_bytes(file, net->inputs[i].bytes) : x;
  }
  fclose(file);
  void *prepared = aligned_alloc(64, (NET_PREPARED_BYTES + 63) / 64 * 64), *outputs[] = {b};
  check(net->prepare(&call, inputs, prepared, NET_PREPARED_BYTES), message);
  call.prepared = prepared, call.prepared_bytes = NET_PREPARED_BYTES;
  check(net->run(&call, inputs, outputs), message);

  int right =
      largest_difference(a, expected, 10) < 1e-6 && largest_difference(b, expected, 10) < 1e-6;
  puts(right ? "constants and parameters: JAX's result" : "another result than JAX's");
  return !right;
}
