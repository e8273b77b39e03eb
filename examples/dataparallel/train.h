/* Training on a made-up problem, for any number of parts of the batch. */
#ifndef TRAIN_H
#define TRAIN_H

#include <hlo/rt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 256, FEATURES = 8, HIDDEN = 32, STEPS = 200 };

/* A number from -1 to 1. */
static float pseudo_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

/* Trains on part `part` of `parts` of the batch; `losses` gets the loss of each step. All parts of
 * one training run at the same time, each with a comm. */
static hlo_status train(const hlo_module_desc *step, const hlo_comm *comm, int part, int parts,
                        float *losses) {
  static const char *const names[] = {"w1", "b1", "w2", "b2"};
  float w1[FEATURES * HIDDEN], b1[HIDDEN], w2[HIDDEN], b2[1], x[SAMPLES * FEATURES], y[SAMPLES];
  float *const parameters[] = {w1, b1, w2, b2};
  uint32_t seed = 1;
  for (int i = 0; i < SAMPLES; ++i) {
    float sum = 0;
    for (int k = 0; k < FEATURES; ++k) {
      x[i * FEATURES + k] = pseudo_random(&seed);
      sum += x[i * FEATURES + k] * (float)(k - 3);
    }
    y[i] = sinf(sum);
  }
  for (size_t p = 0; p < sizeof names / sizeof *names; ++p) {
    const size_t count = hlo_input_at(step, (uint32_t)p)->bytes / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
      parameters[p][i] = 0.5f * pseudo_random(&seed);
    }
  }
  const int first = SAMPLES / parts * part;
  const void *inputs[] = {w1, b1, w2, b2, x + first * FEATURES, y + first};
  void *outputs[] = {losses, w1, b1, w2, b2}; /* parameters are updated in place */

  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.arena_bytes = step->arena_bytes;
  call.arena = step->arena_bytes ? aligned_alloc(64, (step->arena_bytes + 63) / 64 * 64) : NULL;
  call.comm = comm;
  call.message = message;
  call.message_bytes = sizeof message;
  hlo_status status = HLO_OK;
  for (int i = 0; i < STEPS && status == HLO_OK; ++i) {
    outputs[0] = &losses[i];
    status = step->run(&call, inputs, outputs);
  }
  if (status != HLO_OK) {
    fprintf(stderr, "part %d: %s: %s\n", part, hlo_status_name(status), message);
  }
  free(call.arena);
  return status;
}

/* Prints both curves' ends and the largest relative difference; 0 if that is small. */
static int compare(const char *what, const float *one, const float *many) {
  double worst = 0;
  for (int i = 0; i < STEPS; ++i) {
    const double difference = fabs((double)one[i] - many[i]) / fabs(one[i]);
    worst = difference > worst ? difference : worst;
  }
  printf("one device: loss %.4f -> %.4f; %s: %.4f -> %.4f; largest relative difference %.1e\n",
         one[0], one[STEPS - 1], what, many[0], many[STEPS - 1], worst);
  return !(worst <= 1e-5);
}

#endif
