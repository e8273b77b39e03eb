/*===- hlo/feed.h - A queue to feed modules from, or into ----------------------===*\
 *
 * A first-in first-out queue of items between the thread that calls a module and another one, with
 * back-pressure: a full queue makes the writer wait, an empty one the reader. One end is the
 * module's (hlo_feed_queue_source for infeed and received data, hlo_feed_queue_sink for outfeed and
 * sent data), the other the program's (push, pop). Any number of threads may push and pop. Nothing
 * here starts a thread.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_FEED_H
#define HLO_FEED_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hlo_feed_queue hlo_feed_queue;

/** A queue for at most `capacity` items (at least 1). Null if memory is exhausted. */
hlo_feed_queue *hlo_feed_queue_create(uint32_t capacity);

/** Frees the queue and its items; no thread may be using it. Null is allowed. */
void hlo_feed_queue_destroy(hlo_feed_queue *queue);

/** Declares that no more items will be pushed: readers get the remaining items, then
 * HLO_OUT_OF_RANGE; writers, also waiting ones, get HLO_UNAVAILABLE. */
void hlo_feed_queue_close(hlo_feed_queue *queue);

/** Appends an item, a copy of the n leaves. Waits while the queue is full, until the absolute time
 * `deadline_ns` on CLOCK_MONOTONIC (0: for ever), then returns HLO_DEADLINE. */
HLO_NODISCARD hlo_status hlo_feed_queue_push(hlo_feed_queue *queue, const void *const *leaves,
                                             const uint64_t *bytes, int32_t n, int64_t deadline_ns);

/** Copies the oldest item into the n leaves and removes it; waits while the queue is empty. If the
 * item has another number of leaves, or a leaf has another size, it stays in the queue, nothing is
 * written, and HLO_INVALID_ARGUMENT is returned. */
HLO_NODISCARD hlo_status hlo_feed_queue_pop(hlo_feed_queue *queue, void *const *leaves,
                                            const uint64_t *bytes, int32_t n, int64_t deadline_ns);

/** Number of items in the queue now. */
uint32_t hlo_feed_queue_size(hlo_feed_queue *queue);

/** For hlo_call.infeed or host_recv: each item is popped. Lives as long as the queue. */
const hlo_feed *hlo_feed_queue_source(const hlo_feed_queue *queue);

/** For hlo_call.outfeed or host_send: each item is pushed. Lives as long as the queue. */
const hlo_feed *hlo_feed_queue_sink(const hlo_feed_queue *queue);

/** How long the module's end waits for the other one, in nanoseconds; 0, the default: for ever.
 * hlo_call.cancel and hlo_call.deadline_ns end the wait as well. */
void hlo_feed_queue_set_timeout(hlo_feed_queue *queue, int64_t timeout_ns);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_FEED_H */
