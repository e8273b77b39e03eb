/*===- threads.c - Exchanges between threads of one process ----------------------===*\
 *
 * Each ordered pair of ranks has a mailbox. The sender posts the address of its data; the receiver
 * copies the data, once, and marks the box as taken; the sender waits for that:
 *
 *   sender    Empty -> Posted                        Taken -> Empty
 *   receiver           Posted -> Copying -> Taken
 *   a sender that gives up: Posted -> Empty; it never leaves while a peer is Copying
 *
 * No lock is taken while ranks are on time: a rank polls its boxes for a while and then sleeps on
 * its bell, which every change of one of its boxes rings.
 *
 * The first error (a missing peer, ranks at different instructions, a call that ended or was
 * cancelled) is kept with its text, all ranks are woken, and every later exchange fails with it. A
 * rank returns an error only when no other rank reads its memory any more: after an exchange marked
 * reads_follow, ranks read each other's memory, and count as readers until they enter the next
 * exchange or leave.
 *
 * What a rank begins and finishes in two calls is in requests.c, apart from the boxes. Here are its
 * waits, which use the same bells, and the threads that help with it.
 *
 * Atomic operations are sequentially consistent unless they are polled. Two pairs need it: "ring,
 * then look whether the rank sleeps" against "say that it sleeps, then look whether it rang", and
 * "count as a reader, then look for a failure" against "fail, then look for readers". Elsewhere
 * acquire and release would do: Posted and Taken hand over the box and the data that it names,
 * `failed` the text.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include <hlo/pool.h>
#include <hlo/ranks.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collective.h"
#include "requests.h"
#include "runtime/core/checked.h"
#include "runtime/core/hints.h"
#include "runtime/core/text.h"

enum { Empty, Posted, Copying, Taken };

typedef struct Box {
  _Alignas(64) _Atomic uint32_t state;
  hlo_comm_part part;
  uint64_t tag;
} Box;

/* The state that a rank shows to the others. */
typedef struct Rank {
  _Alignas(64) _Atomic uint32_t events; /* counts the rings of the bell */
  _Atomic uint32_t sleeping;
  _Atomic uint64_t tag;     /* of its current exchange; 0: none */
  _Atomic(const char *) at; /* the instruction's name */
  _Atomic(const char *) opcode;
  int reading; /* true if hlo_ranks.readers counts this rank */
  pthread_mutex_t mutex;
  pthread_cond_t bell;
  hlo_comm comm;
  struct hlo_ranks *ranks;
} Rank;

struct hlo_ranks {
  int32_t count;
  uint32_t spins;           /* polls of the boxes before sleeping */
  _Atomic uint32_t failed;  /* 1: status and text are set */
  _Atomic uint32_t claimed; /* 1: a rank is setting them */
  _Atomic uint32_t readers; /* ranks that may be reading others' memory */
  hlo_status status;
  int32_t culprit; /* rank that caused the error; -1 */
  char text[512];
  Rank *ranks;
  Box *boxes; /* [source * count + target] */
  hlo_requests *requests;
  /* Null, or of each rank a thread that executes its requests, with a bell of its own. */
  Rank *helpers;
  pthread_t *threads;
  int32_t num_threads;
  _Atomic uint32_t ended; /* 1: helpers return */
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void ring(Rank *rank) {
  atomic_fetch_add(&rank->events, 1);
  if (atomic_load(&rank->sleeping)) {
    pthread_mutex_lock(&rank->mutex);
    pthread_cond_signal(&rank->bell);
    pthread_mutex_unlock(&rank->mutex);
  }
}

/* Sleeps until the bell rings again after `seen` rings, or until the time `until`. */
static void sleep_until(Rank *rank, uint32_t seen, int64_t until) {
  const struct timespec end = {until / 1000000000, until % 1000000000};
  pthread_mutex_lock(&rank->mutex);
  atomic_store(&rank->sleeping, 1);
  while (atomic_load(&rank->events) == seen &&
         pthread_cond_timedwait(&rank->bell, &rank->mutex, &end) == 0) {
  }
  atomic_store(&rank->sleeping, 0);
  pthread_mutex_unlock(&rank->mutex);
}

/* Records the first error and wakes all ranks. */
static void fail_all(hlo_ranks *ranks, hlo_status status, int32_t culprit, const char *text) {
  uint32_t expected = 0;
  if (!atomic_compare_exchange_strong(&ranks->claimed, &expected, 1)) {
    return;
  }
  ranks->status = status;
  ranks->culprit = culprit;
  hlo_text copy = hlo_text_begin(ranks->text, sizeof ranks->text);
  hlo_text_add(&copy, text);
  atomic_store(&ranks->failed, 1);
  for (int32_t r = 0; r < ranks->count; ++r) {
    ring(&ranks->ranks[r]);
  }
}

/* Pending messages of one exchange. */
typedef struct Exchange {
  hlo_ranks *ranks;
  Rank *self;
  int32_t rank;
  const hlo_comm_step *step;
  const hlo_comm_part *send, *receive;
  unsigned char *sent, *received; /* per member: 1 once done */
  int32_t left;
} Exchange;

static Box *box_of(const Exchange *x, int32_t source, int32_t target) {
  return &x->ranks->boxes[(size_t)source * (size_t)x->ranks->count + (size_t)target];
}

static void add_instruction(hlo_text *text, const char *opcode, const char *name) {
  hlo_text_add(text, opcode ? opcode : "?");
  hlo_text_add(text, " %");
  hlo_text_add(text, name ? name : "?");
}

static void report_mismatch(Exchange *x, int32_t peer) {
  char buffer[400];
  const Rank *other = &x->ranks->ranks[peer];
  hlo_text text = hlo_text_begin(buffer, sizeof buffer);
  hlo_text_add(&text, "ranks disagree: rank ");
  hlo_text_number(&text, (uint64_t)x->rank);
  hlo_text_add(&text, " is at ");
  add_instruction(&text, x->step->opcode, x->step->name);
  hlo_text_add(&text, ", rank ");
  hlo_text_number(&text, (uint64_t)peer);
  hlo_text_add(&text, " at ");
  add_instruction(&text, atomic_load(&other->opcode), atomic_load(&other->at));
  fail_all(x->ranks, HLO_ABORTED, peer, buffer);
}

/* Receives member m's message if it is there. Returns whether anything was done. */
static int try_receive(Exchange *x, int32_t m) {
  const int32_t source = x->step->members[m];
  Box *box = box_of(x, source, x->rank);
  uint32_t posted = Posted;
  /* Polled; the exchange behind it acquires. */
  if (atomic_load_explicit(&box->state, memory_order_relaxed) != Posted ||
      !atomic_compare_exchange_strong(&box->state, &posted, Copying)) {
    return 0;
  }
  const hlo_comm_part *to = &x->receive[m];
  if (box->tag != x->step->tag || box->part.bytes != to->bytes || box->part.count != to->count) {
    atomic_store(&box->state, Posted);
    report_mismatch(x, source);
    return 0;
  }
  hlo_copy_part(to, &box->part);
  atomic_store(&box->state, Taken);
  ring(&x->ranks->ranks[source]);
  x->received[m] = 1;
  --x->left;
  return 1;
}

static int try_finish_send(Exchange *x, int32_t m) {
  Box *box = box_of(x, x->rank, x->step->members[m]);
  /* Acquires the end of the receiver's reads: the box and the data may be written again. */
  if (atomic_load_explicit(&box->state, memory_order_acquire) != Taken) {
    return 0;
  }
  /* Nobody looks for an empty box; the next message releases what it needs. */
  atomic_store_explicit(&box->state, Empty, memory_order_relaxed);
  x->sent[m] = 1;
  --x->left;
  return 1;
}

static int make_progress(Exchange *x) {
  int done = 0;
  for (int32_t m = 0; m < x->step->num_members; ++m) {
    if (!x->received[m]) {
      done |= try_receive(x, m);
    }
    if (!x->sent[m]) {
      done |= try_finish_send(x, m);
    }
  }
  return done;
}

static void post_all(Exchange *x) {
  for (int32_t m = 0; m < x->step->num_members; ++m) {
    const int other = m != x->step->self;
    x->received[m] = !other || x->receive[m].count == 0;
    x->sent[m] = !other || x->send[m].count == 0;
    x->left += !x->received[m] + !x->sent[m];
    if (!x->sent[m]) {
      const int32_t target = x->step->members[m];
      Box *box = box_of(x, x->rank, target);
      box->part = x->send[m];
      box->tag = x->step->tag;
      atomic_store(&box->state, Posted);
      ring(&x->ranks->ranks[target]);
    }
  }
}

/* Reports the members that this rank waits for: those at another instruction, or if there are none,
 * those whose message is missing. */
static void report_timeout(Exchange *x, int64_t waited_ns) {
  char buffer[400];
  hlo_text text = hlo_text_begin(buffer, sizeof buffer);
  add_instruction(&text, x->step->opcode, x->step->name);
  hlo_text_add(&text, ": waited ");
  hlo_text_number(&text, (uint64_t)(waited_ns / 1000000));
  hlo_text_add(&text, " ms for rank");
  int32_t first = -1, named = 0;
  for (int strict = 1; strict >= 0 && named == 0; --strict) {
    for (int32_t m = 0; m < x->step->num_members; ++m) {
      const int32_t peer = x->step->members[m];
      const int pending = !x->received[m] || !x->sent[m];
      if (!pending ||
          (strict && atomic_load(&x->ranks->ranks[peer].tag) >> 20 == x->step->tag >> 20)) {
        continue;
      }
      first = first < 0 ? peer : first;
      hlo_text_add(&text, named ? ", " : " ");
      hlo_text_number(&text, (uint64_t)peer);
      ++named;
    }
  }
  hlo_text_add(&text, named == 1 ? ", which is absent" : ", which are absent");
  fail_all(x->ranks, HLO_DEADLINE, named == 1 ? first : -1, buffer);
}

/* Fails all ranks if the call is cancelled; if its deadline has passed, blames the missing members.
 */
static void look_at_call(Exchange *x, int64_t now, int64_t waited_ns) {
  if (x->step->cancel != NULL && __atomic_load_n(x->step->cancel, __ATOMIC_RELAXED) != 0) {
    char buffer[400];
    hlo_text text = hlo_text_begin(buffer, sizeof buffer);
    add_instruction(&text, x->step->opcode, x->step->name);
    hlo_text_add(&text, ": the call of rank ");
    hlo_text_number(&text, (uint64_t)x->rank);
    hlo_text_add(&text, " was cancelled");
    fail_all(x->ranks, HLO_CANCELLED, x->rank, buffer);
  } else if (x->step->deadline_ns != 0 && now >= x->step->deadline_ns) {
    report_timeout(x, waited_ns);
  }
}

/* Takes back messages that no rank has begun to read, and waits for the readers of the others. */
static void withdraw(Exchange *x) {
  for (int32_t m = 0; m < x->step->num_members; ++m) {
    if (x->sent[m]) {
      continue;
    }
    Box *box = box_of(x, x->rank, x->step->members[m]);
    for (;;) {
      uint32_t posted = Posted;
      if (atomic_compare_exchange_strong(&box->state, &posted, Empty)) {
        break;
      }
      if (posted == Taken) {
        atomic_store(&box->state, Empty);
        break;
      }
      sched_yield();
    }
  }
  while (atomic_load(&x->ranks->readers) != 0) {
    sched_yield();
  }
}

static hlo_status tell_error(const Exchange *x) {
  hlo_text text = hlo_text_begin(x->step->message, x->step->message_bytes);
  hlo_text_add(&text, x->step->module);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, x->ranks->text);
  const hlo_status status = x->ranks->status;
  /* To the other ranks a cancelled call is an error of its rank. */
  const int own = status == HLO_CANCELLED && x->ranks->culprit != x->rank;
  return own ? HLO_ABORTED : status;
}

static hlo_status give_error(Exchange *x) {
  withdraw(x);
  return tell_error(x);
}

/* Sleeps until the rank's bell rings again after `seen` rings, or until something may end its wait,
 * which began at `start`. */
static void doze(const Exchange *x, uint32_t seen, int64_t start, int64_t now, int64_t timeout_ns) {
  const int64_t slice = x->step->cancel != NULL ? 2000000 : 1000000000;
  int64_t until = now + slice;
  const int64_t end = hlo_deadline_after(start, timeout_ns);
  if (end != 0 && end < until) {
    until = end;
  }
  if (x->step->deadline_ns != 0 && x->step->deadline_ns < until) {
    until = x->step->deadline_ns;
  }
  sleep_until(x->self, seen, until);
}

/* Runs the exchange until no message is left. */
static hlo_status run_exchange(Exchange *x, int64_t timeout_ns) {
  const int64_t start = now_ns();
  uint32_t idle = 0;
  while (x->left > 0) {
    const uint32_t seen = atomic_load(&x->self->events);
    if (make_progress(x)) {
      idle = 0;
      continue;
    }
    if (atomic_load(&x->ranks->failed)) {
      return give_error(x);
    }
    if (++idle < x->ranks->spins) {
      hlo_pause();
      continue;
    }
    idle = 0;
    const int64_t now = now_ns();
    const int64_t waited = now - start;
    look_at_call(x, now, waited);
    if (timeout_ns > 0 && waited >= timeout_ns) {
      report_timeout(x, waited);
    }
    if (atomic_load(&x->ranks->failed)) {
      continue;
    }
    doze(x, seen, start, now, timeout_ns);
  }
  return HLO_OK;
}

static void stop_reading(Rank *self) {
  if (self->reading) {
    self->reading = 0;
    atomic_fetch_sub(&self->ranks->readers, 1);
  }
}

static hlo_status exchange(void *user, const hlo_comm_step *step, const hlo_comm_part *send,
                           const hlo_comm_part *receive) {
  Rank *self = user;
  hlo_ranks *ranks = self->ranks;
  unsigned char sent[HLO_MOST_RANKS], received[HLO_MOST_RANKS];
  Exchange x = {ranks,    self, (int32_t)(self - ranks->ranks), step, send, receive, sent,
                received, 0};
  atomic_store(&self->opcode, step->opcode);
  atomic_store(&self->at, step->name);
  atomic_store(&self->tag, step->tag);
  stop_reading(self);
  post_all(&x);
  hlo_status status = run_exchange(&x, self->comm.timeout_ns);
  if (status == HLO_OK && step->reads_follow) {
    self->reading = 1;
    atomic_fetch_add(&ranks->readers, 1);
    if (atomic_load(&ranks->failed)) { /* a peer may have left already */
      stop_reading(self);
      status = give_error(&x);
    }
  }
  atomic_store(&self->tag, 0);
  return status;
}

static void changed(void *user, int32_t rank) {
  hlo_ranks *ranks = user;
  ring(&ranks->ranks[rank]);
  if (ranks->helpers != NULL) {
    ring(&ranks->helpers[rank]);
  }
}

static hlo_status begin(void *user, hlo_comm_request *request) {
  Rank *self = user;
  hlo_ranks *ranks = self->ranks;
  if (atomic_load(&ranks->failed)) {
    const Exchange x = {
        .ranks = ranks, .rank = (int32_t)(self - ranks->ranks), .step = request->step};
    return tell_error(&x);
  }
  hlo_requests_begin(ranks->requests, (int32_t)(self - ranks->ranks), request);
  return HLO_OK;
}

/* A rank that this one waits for, although it has posted a message of a later exchange: in the
 * program of this rank, that exchange comes after the request. -1: there is none. */
static int32_t find_ahead(const Exchange *x, const hlo_comm_request *request) {
  for (int32_t m = 0; m < x->step->num_members; ++m) {
    const int32_t peer = x->step->members[m];
    if (m != x->step->self && atomic_load(&box_of(x, peer, x->rank)->state) == Posted &&
        hlo_requests_waits_for(x->ranks->requests, request, m)) {
      return peer;
    }
  }
  return -1;
}

/* Looks for reasons to give up a request that waits. */
static void look_at_request(Exchange *x, const hlo_comm_request *request, int64_t now,
                            int64_t waited_ns, int64_t timeout_ns) {
  for (int32_t m = 0; m < x->step->num_members; ++m) {
    x->sent[m] = x->received[m] =
        (unsigned char)!hlo_requests_waits_for(x->ranks->requests, request, m);
  }
  const int32_t ahead = find_ahead(x, request);
  if (ahead >= 0) {
    report_mismatch(x, ahead);
    return;
  }
  look_at_call(x, now, waited_ns);
  if (timeout_ns > 0 && waited_ns >= timeout_ns) {
    report_timeout(x, waited_ns);
  }
}

static hlo_status run_request(Exchange *x, hlo_comm_request *request, int64_t timeout_ns) {
  hlo_ranks *ranks = x->ranks;
  const int64_t start = now_ns();
  for (;;) {
    const uint32_t seen = atomic_load(&x->self->events);
    int32_t peer = -1;
    const int state = hlo_requests_progress(ranks->requests, request, &peer);
    if (state == HLO_REQUEST_COMPLETE) {
      return HLO_OK;
    }
    if (state == HLO_REQUEST_MISMATCH) {
      report_mismatch(x, peer);
    }
    if (atomic_load(&ranks->failed)) {
      hlo_requests_withdraw(ranks->requests, x->rank);
      return tell_error(x);
    }
    if (state == HLO_REQUEST_PROGRESSED) {
      continue;
    }
    for (uint32_t idle = 0; idle < ranks->spins && atomic_load(&x->self->events) == seen; ++idle) {
      hlo_pause();
    }
    if (atomic_load(&x->self->events) != seen) {
      continue;
    }
    const int64_t now = now_ns();
    look_at_request(x, request, now, now - start, timeout_ns);
    if (!atomic_load(&ranks->failed)) {
      doze(x, seen, start, now, timeout_ns);
    }
  }
}

static hlo_status finish(void *user, hlo_comm_request *request) {
  Rank *self = user;
  hlo_ranks *ranks = self->ranks;
  unsigned char sent[HLO_MOST_RANKS], received[HLO_MOST_RANKS];
  Exchange x = {ranks,    self, (int32_t)(self - ranks->ranks), request->step, NULL, NULL, sent,
                received, 0};
  atomic_store(&self->opcode, request->step->opcode);
  atomic_store(&self->at, request->step->name);
  atomic_store(&self->tag, request->step->tag);
  const hlo_status status = run_request(&x, request, self->comm.timeout_ns);
  atomic_store(&self->tag, 0);
  return status;
}

static void *help(void *user) {
  Rank *helper = user;
  hlo_ranks *ranks = helper->ranks;
  const int32_t rank = (int32_t)(helper - ranks->helpers);
  while (!atomic_load(&ranks->ended)) {
    const uint32_t seen = atomic_load(&helper->events);
    if (!hlo_requests_help(ranks->requests, rank)) {
      sleep_until(helper, seen, now_ns() + 1000000000);
    }
  }
  return NULL;
}

static void init_bell(Rank *rank, hlo_ranks *ranks) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&rank->mutex, NULL);
  pthread_cond_init(&rank->bell, &attributes);
  pthread_condattr_destroy(&attributes);
  rank->ranks = ranks;
}

static void destroy_bell(Rank *rank) {
  pthread_mutex_destroy(&rank->mutex);
  pthread_cond_destroy(&rank->bell);
}

static void end_helpers(hlo_ranks *ranks) {
  if (ranks->helpers == NULL) {
    return;
  }
  atomic_store(&ranks->ended, 1);
  for (int32_t r = 0; r < ranks->num_threads; ++r) {
    ring(&ranks->helpers[r]);
    pthread_join(ranks->threads[r], NULL);
  }
  for (int32_t r = 0; r < ranks->count; ++r) {
    destroy_bell(&ranks->helpers[r]);
  }
  free(ranks->threads);
  free(ranks->helpers);
  ranks->helpers = NULL;
}

hlo_status hlo_ranks_start_helpers(hlo_ranks *ranks) {
  const size_t n = (size_t)ranks->count;
  Rank *helpers = aligned_alloc(64, n * sizeof(Rank));
  pthread_t *threads = calloc(n, sizeof(pthread_t));
  if (helpers == NULL || threads == NULL) {
    free(helpers);
    free(threads);
    return HLO_RESOURCE_EXHAUSTED;
  }
  memset(helpers, 0, n * sizeof(Rank));
  for (size_t r = 0; r < n; ++r) {
    init_bell(&helpers[r], ranks);
  }
  ranks->helpers = helpers;
  ranks->threads = threads;
  ranks->num_threads = 0;
  for (int32_t r = 0; r < ranks->count; ++r) {
    if (pthread_create(&threads[r], NULL, help, &helpers[r]) != 0) {
      end_helpers(ranks);
      return HLO_RESOURCE_EXHAUSTED;
    }
    ++ranks->num_threads;
  }
  return HLO_OK;
}

static void leave(void *user, hlo_status status, const char *message) {
  Rank *self = user;
  stop_reading(self);
  char buffer[480];
  hlo_text text = hlo_text_begin(buffer, sizeof buffer);
  hlo_text_add(&text, "rank ");
  hlo_text_number(&text, (uint64_t)(self - self->ranks->ranks));
  hlo_text_add(&text, " failed with ");
  hlo_text_add(&text, hlo_status_name(status));
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, message);
  const int32_t rank = (int32_t)(self - self->ranks->ranks);
  fail_all(self->ranks, HLO_ABORTED, rank, buffer);
  hlo_requests_withdraw(self->ranks->requests, rank);
}

hlo_ranks *hlo_ranks_create(int32_t num_replicas, int32_t num_partitions, int64_t timeout_ns) {
  const int64_t count = (int64_t)num_replicas * num_partitions;
  if (num_replicas < 1 || num_partitions < 1 || count > HLO_MOST_RANKS) {
    return NULL;
  }
  const size_t n = (size_t)count;
  hlo_ranks *ranks = calloc(1, sizeof *ranks);
  Rank *list = ranks ? aligned_alloc(64, n * sizeof(Rank)) : NULL;
  Box *boxes = list ? aligned_alloc(64, n * n * sizeof(Box)) : NULL;
  if (boxes != NULL) {
    ranks->requests = calloc(1, hlo_requests_bytes((int32_t)count));
  }
  if (boxes == NULL || ranks->requests == NULL) {
    free(boxes);
    free(list);
    free(ranks);
    return NULL;
  }
  memset(list, 0, n * sizeof(Rank));
  memset(boxes, 0, n * n * sizeof(Box));
  hlo_requests_init(ranks->requests, changed, ranks);
  ranks->count = (int32_t)count;
  ranks->ranks = list;
  ranks->boxes = boxes;
  /* With a CPU for each rank, poll for as long as it takes to fall asleep and wake up (some tens of
   * microseconds) before sleeping. */
  ranks->spins = hlo_pool_cpus() >= (uint32_t)count ? 400 : 32;
  for (int32_t r = 0; r < ranks->count; ++r) {
    Rank *rank = &list[r];
    init_bell(rank, ranks);
    rank->comm = (hlo_comm){.struct_size = sizeof(hlo_comm),
                            .shared_memory = 1,
                            .user = rank,
                            .replica = r / num_partitions,
                            .partition = r % num_partitions,
                            .num_replicas = num_replicas,
                            .num_partitions = num_partitions,
                            .timeout_ns = timeout_ns,
                            .exchange = exchange,
                            .leave = leave,
                            .begin = begin,
                            .finish = finish};
  }
  return ranks;
}

void hlo_ranks_destroy(hlo_ranks *ranks) {
  if (ranks == NULL) {
    return;
  }
  end_helpers(ranks);
  for (int32_t r = 0; r < ranks->count; ++r) {
    destroy_bell(&ranks->ranks[r]);
  }
  hlo_requests_destroy(ranks->requests);
  free(ranks->requests);
  free(ranks->boxes);
  free(ranks->ranks);
  free(ranks);
}

const hlo_comm *hlo_ranks_comm(const hlo_ranks *ranks, int32_t rank) {
  return ranks != NULL && rank >= 0 && rank < ranks->count ? &ranks->ranks[rank].comm : NULL;
}

void hlo_ranks_reset(hlo_ranks *ranks) {
  atomic_store(&ranks->failed, 0);
  atomic_store(&ranks->claimed, 0);
}
