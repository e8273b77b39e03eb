/* Trains with step.hlo compiled for one device, and compiled for four partitions on four threads
 * that have a quarter of the batch each. Processes with MPI go the same way: examples/transformer.
 */
#include <hlo/ranks.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"
#include "whole.h"

enum { RANKS = 4, SAMPLES = 64, FEATURES = 8, HIDDEN = 32, STEPS = 50 };

typedef struct Rank {
  pthread_t thread;
  const hlo_comm *comm;
  const float *x, *y; /* this rank's samples */
  float w1[FEATURES * HIDDEN], w2[HIDDEN], loss;
} Rank;

static void check(hlo_status status, const char *message) {
  if (status != HLO_OK) {
    exit((fprintf(stderr, "%s: %s\n", hlo_status_name(status), message), 1));
  }
}

/* Both modules are called alike, by position: params w1, params w2, x, y, which are a rank's shards
 * (part.h states their shapes). Nothing is donated: results go to buffers of their own. */
static void *train(void *arg) {
  Rank *rank = arg;
  const hlo_module_desc *module = rank->comm ? part_describe() : whole_describe();
  float w1[FEATURES * HIDDEN], w2[HIDDEN];
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.comm = rank->comm;
  call.arena = module->arena_bytes ? aligned_alloc(module->arena_align, module->arena_bytes) : NULL;
  call.arena_bytes = module->arena_bytes;
  call.message = message, call.message_bytes = sizeof message;
  for (int step = 0; step < STEPS; ++step) {
    const void *inputs[] = {rank->w1, rank->w2, rank->x, rank->y};
    void *outputs[] = {w1, w2, &rank->loss};
    check(module->run(&call, inputs, outputs), message);
    memcpy(rank->w1, w1, sizeof w1), memcpy(rank->w2, w2, sizeof w2);
  }
  free(call.arena);
  return NULL;
}

int main(void) {
  static float x[SAMPLES * FEATURES], y[SAMPLES];
  static Rank one, ranks[RANKS];
  for (int i = 0; i < SAMPLES * FEATURES; ++i) {
    x[i] = sinf((float)(i * i % 101)), y[i / FEATURES] += x[i] / 2;
  }
  one.x = x, one.y = y;
  for (int i = 0; i < FEATURES * HIDDEN; ++i) {
    one.w1[i] = cosf((float)(i * i % 97)) / 3, one.w2[i / FEATURES] = one.w1[i] / 2;
  }
  hlo_ranks *group =
      hlo_ranks_create(1, RANKS, INT64_C(60000000000)); /* partitions, not replicas */
  for (int r = 0; r < RANKS; ++r) {
    ranks[r] = one;
    ranks[r].comm = hlo_ranks_comm(group, r);
    ranks[r].x = x + r * SAMPLES / RANKS * FEATURES, ranks[r].y = y + r * SAMPLES / RANKS;
    pthread_create(&ranks[r].thread, NULL, train, &ranks[r]);
  }
  train(&one);
  int wrong = 0;
  for (int r = 0; r < RANKS; ++r) {
    pthread_join(ranks[r].thread, NULL);
    wrong |= !(fabsf(ranks[r].loss - one.loss) < 1e-5f);
  }
  hlo_ranks_destroy(group);
  printf("loss after %d steps: one device %.4f, four %.4f\n", STEPS, one.loss, ranks[0].loss);
  return wrong;
}
