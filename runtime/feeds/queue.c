/*===- queue.c - A queue of feed items with back-pressure -----------------------===*\
 *
 * A ring of items under one lock; each item is one block of memory with its sizes and its leaves.
 * If the reader's sizes differ, the item stays, so that nothing is lost or overwritten.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include <hlo/feed.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/core/checked.h"
#include "runtime/core/text.h"

/* bytes[count], then the leaves without gaps. */
typedef struct Item {
  int32_t count;
  uint64_t bytes[];
} Item;

struct hlo_feed_queue {
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* on CLOCK_MONOTONIC */
  hlo_feed source, sink;
  int64_t timeout_ns;
  int closed;
  uint32_t capacity, first, size;
  Item *items[];
};

/* Null, also if the size exceeds the address space. */
static void *take(uint64_t bytes) {
  return hlo_align_size(&bytes, 16) && bytes <= PTRDIFF_MAX ? aligned_alloc(16, bytes) : NULL;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* When a waiting thread gives up. */
typedef struct Patience {
  int64_t deadline_ns;   /* 0: none */
  const int32_t *cancel; /* null: none; polled every kLook */
} Patience;

static const int64_t kLook = 10 * 1000000;

static int64_t sooner(int64_t a, int64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

/* Waits for a change. */
static hlo_status wait_change(hlo_feed_queue *queue, Patience patience) {
  if (patience.cancel != NULL && __atomic_load_n(patience.cancel, __ATOMIC_RELAXED) != 0) {
    return HLO_CANCELLED;
  }
  if (patience.deadline_ns == 0 && patience.cancel == NULL) {
    pthread_cond_wait(&queue->changed, &queue->mutex);
    return HLO_OK;
  }
  const int64_t now = now_ns();
  if (patience.deadline_ns != 0 && now >= patience.deadline_ns) {
    return HLO_DEADLINE;
  }
  const int64_t end =
      sooner(patience.deadline_ns, patience.cancel != NULL ? hlo_deadline_after(now, kLook) : 0);
  const struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
  pthread_cond_timedwait(&queue->changed, &queue->mutex, &until);
  return HLO_OK;
}

static Item *make_item(const void *const *leaves, const uint64_t *bytes, int32_t n) {
  uint64_t total = sizeof(Item) + (uint64_t)n * sizeof(uint64_t);
  for (int32_t i = 0; i < n; ++i) {
    if (!hlo_add_size(&total, bytes[i])) {
      return NULL;
    }
  }
  Item *item = take(total);
  if (item == NULL) {
    return NULL;
  }
  item->count = n;
  char *to = (char *)(item->bytes + n);
  for (int32_t i = 0; i < n; ++i) {
    item->bytes[i] = bytes[i];
    if (bytes[i] > 0) {
      memcpy(to, leaves[i], bytes[i]);
    }
    to += bytes[i];
  }
  return item;
}

/* Writes to `text` why the item cannot be read as n leaves of these sizes; 0 if it can. */
static int mismatch(const Item *item, const uint64_t *bytes, int32_t n, hlo_text *text) {
  if (item->count != n) {
    hlo_text_add(text, "the item has ");
    hlo_text_number(text, (uint64_t)item->count);
    hlo_text_add(text, " arrays, expected ");
    hlo_text_number(text, (uint64_t)n);
    return 1;
  }
  for (int32_t i = 0; i < n; ++i) {
    if (item->bytes[i] != bytes[i]) {
      hlo_text_add(text, "array ");
      hlo_text_number(text, (uint64_t)i);
      hlo_text_add(text, " of the item has ");
      hlo_text_number(text, item->bytes[i]);
      hlo_text_add(text, " bytes, expected ");
      hlo_text_number(text, bytes[i]);
      return 1;
    }
  }
  return 0;
}

static hlo_status push(hlo_feed_queue *queue, const void *const *leaves, const uint64_t *bytes,
                       int32_t n, Patience patience, hlo_text *text) {
  if (n < 0) {
    hlo_text_add(text, "an item cannot have fewer than 0 arrays");
    return HLO_INVALID_ARGUMENT;
  }
  Item *item = make_item(leaves, bytes, n);
  if (item == NULL) {
    hlo_text_add(text, "no memory for the item");
    return HLO_RESOURCE_EXHAUSTED;
  }
  hlo_status status = HLO_OK;
  pthread_mutex_lock(&queue->mutex);
  while (status == HLO_OK && !queue->closed && queue->size == queue->capacity) {
    status = wait_change(queue, patience);
    if (status != HLO_OK) {
      hlo_text_add(text, status == HLO_CANCELLED ? "cancelled while the queue was full"
                                                 : "the queue stayed full for too long");
    }
  }
  if (status == HLO_OK && queue->closed) {
    hlo_text_add(text, "the queue is closed");
    status = HLO_UNAVAILABLE;
  }
  if (status == HLO_OK) {
    queue->items[((uint64_t)queue->first + queue->size++) % queue->capacity] = item;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->mutex);
  if (status != HLO_OK) {
    free(item);
  }
  return status;
}

static hlo_status pop(hlo_feed_queue *queue, void *const *leaves, const uint64_t *bytes, int32_t n,
                      Patience patience, hlo_text *text) {
  Item *item = NULL;
  hlo_status status = HLO_OK;
  pthread_mutex_lock(&queue->mutex);
  while (status == HLO_OK && !queue->closed && queue->size == 0) {
    status = wait_change(queue, patience);
    if (status != HLO_OK) {
      hlo_text_add(text, status == HLO_CANCELLED ? "cancelled while the queue was empty"
                                                 : "the queue stayed empty for too long");
    }
  }
  if (status == HLO_OK && queue->size > 0) {
    item = queue->items[queue->first];
    if (mismatch(item, bytes, n, text)) {
      item = NULL;
      status = HLO_INVALID_ARGUMENT;
    } else {
      queue->first = (uint32_t)(((uint64_t)queue->first + 1) % queue->capacity);
      --queue->size;
      status = HLO_OK;
      pthread_cond_broadcast(&queue->changed);
    }
  } else if (status == HLO_OK) {
    hlo_text_add(text, "the queue is closed and empty");
    status = HLO_OUT_OF_RANGE;
  }
  pthread_mutex_unlock(&queue->mutex);
  if (item == NULL) {
    return status;
  }
  const char *from = (const char *)(item->bytes + item->count);
  for (int32_t i = 0; i < n; ++i) {
    if (bytes[i] > 0) {
      memcpy(leaves[i], from, bytes[i]);
    }
    from += bytes[i];
  }
  free(item);
  return status;
}

static Patience of_module(hlo_feed_queue *queue, const hlo_feed_item *item) {
  pthread_mutex_lock(&queue->mutex);
  const int64_t timeout = queue->timeout_ns;
  pthread_mutex_unlock(&queue->mutex);
  const Patience patience = {sooner(item->deadline_ns, hlo_deadline_after(now_ns(), timeout)),
                             item->cancel};
  return patience;
}

static hlo_status pop_item(void *user, const hlo_feed_item *item) {
  hlo_text text = hlo_text_begin(item->message, item->message_bytes);
  return pop(user, item->leaves, item->bytes, item->count, of_module(user, item), &text);
}

static hlo_status push_item(void *user, const hlo_feed_item *item) {
  hlo_text text = hlo_text_begin(item->message, item->message_bytes);
  return push(user, (const void *const *)item->leaves, item->bytes, item->count,
              of_module(user, item), &text);
}

hlo_feed_queue *hlo_feed_queue_create(uint32_t capacity) {
  capacity = capacity > 0 ? capacity : 1;
  /* Unused entries of a large queue are never touched. */
  hlo_feed_queue *queue = calloc(1, sizeof(hlo_feed_queue) + (size_t)capacity * sizeof(Item *));
  if (queue == NULL) {
    return NULL;
  }
  queue->capacity = capacity;
  queue->source.struct_size = queue->sink.struct_size = sizeof(hlo_feed);
  queue->source.user = queue->sink.user = queue;
  queue->source.move_item = pop_item;
  queue->sink.move_item = push_item;
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) {
    free(queue);
    return NULL;
  }
  const int made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(&queue->changed, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  if (!made) {
    free(queue);
    return NULL;
  }
  if (pthread_mutex_init(&queue->mutex, NULL) != 0) {
    pthread_cond_destroy(&queue->changed);
    free(queue);
    return NULL;
  }
  return queue;
}

void hlo_feed_queue_destroy(hlo_feed_queue *queue) {
  if (queue == NULL) {
    return;
  }
  for (uint32_t i = 0; i < queue->size; ++i) {
    free(queue->items[((uint64_t)queue->first + i) % queue->capacity]);
  }
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->mutex);
  free(queue);
}

void hlo_feed_queue_close(hlo_feed_queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  queue->closed = 1;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
}

hlo_status hlo_feed_queue_push(hlo_feed_queue *queue, const void *const *leaves,
                               const uint64_t *bytes, int32_t n, int64_t deadline_ns) {
  hlo_text none = hlo_text_begin(NULL, 0);
  const Patience patience = {deadline_ns, NULL};
  return push(queue, leaves, bytes, n, patience, &none);
}

hlo_status hlo_feed_queue_pop(hlo_feed_queue *queue, void *const *leaves, const uint64_t *bytes,
                              int32_t n, int64_t deadline_ns) {
  hlo_text none = hlo_text_begin(NULL, 0);
  const Patience patience = {deadline_ns, NULL};
  return pop(queue, leaves, bytes, n, patience, &none);
}

uint32_t hlo_feed_queue_size(hlo_feed_queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  const uint32_t size = queue->size;
  pthread_mutex_unlock(&queue->mutex);
  return size;
}

const hlo_feed *hlo_feed_queue_source(const hlo_feed_queue *queue) { return &queue->source; }

const hlo_feed *hlo_feed_queue_sink(const hlo_feed_queue *queue) { return &queue->sink; }

void hlo_feed_queue_set_timeout(hlo_feed_queue *queue, int64_t timeout_ns) {
  pthread_mutex_lock(&queue->mutex);
  queue->timeout_ns = timeout_ns;
  pthread_mutex_unlock(&queue->mutex);
}
