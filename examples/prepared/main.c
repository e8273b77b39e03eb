/* A network whose weights are parameters that never change. It is compiled twice from one text:
 * `plain` gets the weights in every call; `net`, with --immutable-params=all-but:x, computes
 * everything that depends only on them once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "plain.h"

static float x[8 * 256], w1[256 * 512], gamma1[512], beta[512], mean[512], variance[512];
static hlo_bf16 w2[512 * 16];
static float expected[8 * 16], out[8 * 16];

/* Numbers between -0.5 and 0.5. */
static float noise(void) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (1 << 24) - 0.5f;
}

static void fill(void) {
  for (int i = 0; i < 8 * 256; ++i) {
    x[i] = noise();
  }
  for (int i = 0; i < 256 * 512; ++i) {
    w1[i] = noise();
  }
  for (int i = 0; i < 512; ++i) {
    gamma1[i] = 1 + noise(), beta[i] = noise(), mean[i] = noise(), variance[i] = 1 + noise();
  }
  for (int i = 0; i < 512 * 16; ++i) {
    float value = noise();
    uint32_t bits;
    memcpy(&bits, &value, 4);
    w2[i].bits = (uint16_t)(bits >> 16);
  }
}

static int failed(hlo_status status, const char *what, const char *message) {
  if (status == HLO_OK) {
    return 0;
  }
  printf("%s: %s: %s\n", what, hlo_status_name(status), message);
  return 1;
}

int main(void) {
  fill();
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.message = message, call.message_bytes = sizeof message;
  /* One arena for all three functions; each size is a multiple of the alignment. */
  size_t scratch = PLAIN_ARENA_BYTES + NET_ARENA_BYTES + NET_PREPARE_ARENA_BYTES;
  call.arena = aligned_alloc(NET_ARENA_ALIGN, scratch);
  call.arena_bytes = scratch;

  plain_args all = PLAIN_ARGS_INIT;
  all.x = x, all.w1 = w1, all.gamma = gamma1, all.beta = beta, all.mean = mean,
  all.variance = variance, all.w2 = w2;
  all.out = expected;
  if (failed(plain_run(&call, &all), "plain", message)) {
    return 1;
  }

  /* Before the block is prepared, the call reports that it is missing. */
  net_args args = NET_ARGS_INIT;
  args.x = x, args.w1 = w1, args.gamma = gamma1, args.beta = beta, args.mean = mean,
  args.variance = variance, args.w2 = w2;
  args.out = out;
  failed(net_run(&call, &args), "not prepared", message);

  /* Once: the block is ours; it may be shared by threads, or stored in a file and mapped again. */
  size_t bytes = NET_PREPARED_BYTES;
  void *block = aligned_alloc(64, bytes);
  if (failed(net_prepare(&call, &args, block, bytes), "prepare", message)) {
    return 1;
  }

  /* In every call: parameters that only prepare reads (net.h says which) may be gone. */
  call.prepared = block, call.prepared_bytes = bytes;
  args.w1 = args.gamma = args.beta = args.mean = args.variance = 0;
  if (failed(net_run(&call, &args), "run", message)) {
    return 1;
  }

  float most = 0;
  for (int i = 0; i < 8 * 16; ++i) {
    most = fmaxf(most, fabsf(out[i] - expected[i]) / fmaxf(1, fabsf(expected[i])));
  }
  printf("largest difference %s 0.02\n", most < 0.02f ? "<" : ">=");
  free(block), free(call.arena);
  return most < 0.02f ? 0 : 1;
}
