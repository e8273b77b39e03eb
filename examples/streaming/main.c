/* Inference on a stream: one thread runs the module, the other one feeds it points and takes its
 * answers. The queues hold a few items: the faster thread waits. */
#include <hlo/feed.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

enum { BATCHES = 1000, POINTS = 4, QUEUED = 3 };

typedef struct {
  hlo_feed_queue *in, *out;
  hlo_status status;
  char message[256];
} worker;

/* Runs the module once: it consumes BATCHES items and produces as many. */
static void *infer(void *user) {
  worker *w = user;
  int32_t batches = BATCHES, left = -1;
  stream_args args = STREAM_ARGS_INIT;
  args.batches = &batches, args.out = &left;
  void *arena = aligned_alloc(STREAM_ARENA_ALIGN, STREAM_ARENA_BYTES);
  hlo_call call = hlo_call_init();
  call.message = w->message, call.message_bytes = sizeof w->message;
  call.arena = arena, call.arena_bytes = STREAM_ARENA_BYTES;
  call.infeed = hlo_feed_queue_source(w->in), call.outfeed = hlo_feed_queue_sink(w->out);
  w->status = stream_run(&call, &args);
  hlo_feed_queue_close(w->out); /* whatever happened, nobody waits for more */
  free(arena);
  return NULL;
}

/* Starts with points on the circle's axis, then everywhere. */
static void make_points(int batch, float points[POINTS][2]) {
  for (int i = 0; i < POINTS; ++i) {
    unsigned number = 4u * (unsigned)batch + (unsigned)i;
    points[i][0] = (float)(number * 7919 % 4001) / 2000 - 1;
    points[i][1] = (float)(number * 104729 % 3001) / 1500 - 1;
  }
}

int main(void) {
  worker w = {hlo_feed_queue_create(QUEUED), hlo_feed_queue_create(QUEUED), HLO_OK, ""};
  pthread_t thread;
  if (!w.in || !w.out || pthread_create(&thread, NULL, infer, &w)) {
    return 1;
  }

  int right = 0, answers = 0, given = 0;
  while (answers < BATCHES) {
    /* Keep a few batches in flight, then take an answer. */
    float points[POINTS][2], inside[POINTS];
    if (given < BATCHES && given - answers < QUEUED) {
      make_points(given, points);
      const void *leaves[] = {points};
      const uint64_t bytes[] = {sizeof points};
      if (hlo_feed_queue_push(w.in, leaves, bytes, 1, 0) != HLO_OK) {
        break;
      }
      ++given;
      continue;
    }
    void *leaves[] = {inside};
    const uint64_t bytes[] = {sizeof inside};
    if (hlo_feed_queue_pop(w.out, leaves, bytes, 1, 0) != HLO_OK) {
      break;
    }
    make_points(answers++, points);
    for (int i = 0; i < POINTS; ++i) {
      float square = points[i][0] * points[i][0] + points[i][1] * points[i][1];
      right += (inside[i] > 0.5f) == (square < 1);
    }
  }
  hlo_feed_queue_close(w.in);
  pthread_join(thread, NULL);
  if (w.status != HLO_OK) {
    printf("%s: %s\n", hlo_status_name(w.status), w.message);
  }
  printf("%d batches, %d of %d points right\n", answers, right, answers * POINTS);
  hlo_feed_queue_destroy(w.in);
  hlo_feed_queue_destroy(w.out);
  return w.status != HLO_OK || right < answers * POINTS * 99 / 100;
}
