/* Classifies the test images of digits_test.bin with the compiled network and compares each answer
 * with the true digit and with JAX's. Exit status 0 if the accuracy equals JAX's. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "digits.h"

enum { PIXELS = 64, CLASSES = 10, RECORD = PIXELS + 2 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  static _Alignas(64) unsigned char arena[DIGITS_ARENA_BYTES + 1];
  char message[256] = "";
  FILE *file = fopen(argc > 1 ? argv[1] : "digits_test.bin", "rb");
  if (!file) {
    return perror("digits_test.bin"), 2;
  }

  hlo_call call = hlo_call_init();
  call.arena = arena, call.arena_bytes = sizeof arena;
  call.message = message, call.message_bytes = sizeof message;

  unsigned char record[RECORD];
  int images = 0, right = 0, jax_right = 0, differ = 0;
  double time = 0;
  while (fread(record, RECORD, 1, file) == 1) {
    float image[PIXELS], logits[CLASSES];
    for (int i = 0; i < PIXELS; ++i) {
      image[i] = record[i];
    }
    const void *inputs[] = {image};
    void *outputs[] = {logits};
    double start = seconds();
    if (digits_run_buffers(&call, inputs, outputs)) {
      return fprintf(stderr, "%s\n", message), 1;
    }
    time += seconds() - start;
    int best = 0;
    for (int i = 1; i < CLASSES; ++i) {
      best = logits[i] > logits[best] ? i : best;
    }
    ++images, right += best == record[PIXELS], jax_right += record[PIXELS + 1] == record[PIXELS];
    differ += best != record[PIXELS + 1];
  }
  fclose(file);
  if (!images) {
    return fprintf(stderr, "no images\n"), 2;
  }
  printf("%d images: accuracy %.4f, JAX's %.4f, %d answers differ, %.2f us per image\n", images,
         (double)right / images, (double)jax_right / images, differ, 1e6 * time / images);
  return right != jax_right;
}
