/*===- pool.c - The thread pool ------------------------------------------------===*\
 *
 * One loop runs at a time. The caller publishes (fn, arg, n) and takes part itself. The loop is
 * done when no index is left and no worker is inside; workers that wake too late find the gate
 * closed and wait again. So a loop never waits for a worker that has not started, and a tiny loop
 * costs about one cache miss per side.
 *
 *   gate    OPEN | WAITING | number of workers inside. A worker enters by adding one
 *           while OPEN is set; the caller clears OPEN and waits for the number to
 *           become 0, spinning first, then asleep on the gate (WAITING set).
 *   epoch   counts loops; idle workers watch it, spinning first, then asleep on it.
 *   next    the first index that nobody has taken.
 *
 * The fields of a loop are written only while the gate is closed and empty and `busy` is held. A
 * second caller, or a nested one, finds `busy` set and runs its loop alone: the contract promises
 * no concurrency.
 *
 *===-------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <hlo/pool.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/hints.h"

#define OPEN 0x80000000u
#define WAITING 0x40000000u
#define INSIDE 0x3fffffffu

/* How long idle threads spin before they sleep: about as long as the serial code between the
 * parallel kernels of a model. Waking a sleeper costs 5 to 50 us. */
#define SPIN_NS 100000

struct hlo_pool {
  hlo_executor exec;
  uint32_t num_workers;
  int64_t spin_ns; /* 0 if there are more threads than CPUs, because spinning would take a CPU from
                      work */

  alignas(64) _Atomic uint32_t busy;
  alignas(64) _Atomic uint32_t epoch;
  _Atomic uint32_t sleepers; /* workers asleep on epoch, or about to be */
  _Atomic uint32_t ending;
  alignas(64) _Atomic uint32_t gate;
  void (*fn)(void *arg, int64_t i);
  void *arg;
  int64_t n;
  alignas(64) _Atomic int64_t next;
  alignas(64) pthread_t threads[];
};

/* Of linux/futex.h, which C libraries other than glibc do not bring. The numbers are Linux's ABI.
 */
enum { FUTEX_WAIT_PRIVATE = 0 | 128, FUTEX_WAKE_PRIVATE = 1 | 128 };

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits until the masked word equals `value` (`equal` is 1) or differs from it (0), for at most
 * `ns`. Returns 1 if it did, 0 if the time is over. */
static int spin(_Atomic uint32_t *word, uint32_t mask, uint32_t value, int equal, int64_t ns) {
  int64_t end = 0;
  for (uint32_t round = 0;; ++round) {
    if (((atomic_load_explicit(word, memory_order_acquire) & mask) == value) == equal) {
      return 1;
    }
    if (round % 32 == 0) {
      const int64_t now = ns > 0 ? now_ns() : 0;
      end = round == 0 ? now + ns : end;
      if (now >= end) {
        return 0;
      }
    }
    hlo_pause();
  }
}

/* Whoever runs indices has entered, or opened, the gate, and so knows of these fields and of `next`
 * = 0. `next` is relaxed: it only gives out numbers, each once; what the indices write goes by the
 * gate. */
static void run_indices(hlo_pool *pool) {
  void (*fn)(void *, int64_t) = pool->fn;
  void *arg = pool->arg;
  const int64_t n = pool->n;
  int64_t i;
  while ((i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < n) {
    fn(arg, i);
  }
}

/* Acquires the caller's release of the open gate, or that of a worker's update of it: updates carry
 * on what the store before them released. */
static int enter(hlo_pool *pool) {
  uint32_t gate = atomic_load_explicit(&pool->gate, memory_order_relaxed);
  while (gate & OPEN) {
    if (atomic_compare_exchange_weak_explicit(&pool->gate, &gate, gate + 1, memory_order_acquire,
                                              memory_order_relaxed)) {
      return 1;
    }
  }
  return 0;
}

/* Releases the results; the caller acquires them when it sees that nobody is inside. */
static void leave(hlo_pool *pool) {
  const uint32_t before = atomic_fetch_sub_explicit(&pool->gate, 1, memory_order_release);
  if (before == (WAITING | 1)) {
    futex_wake(&pool->gate, 1);
  }
}

static void *work(void *arg) {
  hlo_pool *pool = arg;
  uint32_t seen = 0;
  for (;;) {
    if (!spin(&pool->epoch, ~0u, seen, 0, pool->spin_ns)) {
      /* Sequentially consistent with the caller's "advance epoch, then read sleepers": either it
       * sees this sleeper, or the wait below sees the new epoch and returns at once. */
      atomic_fetch_add(&pool->sleepers, 1);
      while (atomic_load(&pool->epoch) == seen) {
        futex_wait(&pool->epoch, seen);
      }
      /* A caller that still counts this worker wakes nobody by it. */
      atomic_fetch_sub_explicit(&pool->sleepers, 1, memory_order_relaxed);
    }
    /* Acquires what the caller did before it advanced the epoch: opened the gate, or set `ending`.
     */
    seen = atomic_load_explicit(&pool->epoch, memory_order_acquire);
    if (atomic_load_explicit(&pool->ending, memory_order_relaxed)) {
      return NULL;
    }
    if (enter(pool)) {
      run_indices(pool);
      leave(pool);
    }
  }
}

static void run_loop(hlo_pool *pool, void (*fn)(void *, int64_t), void *arg, int64_t n) {
  pool->fn = fn;
  pool->arg = arg;
  pool->n = n;
  /* No worker is inside, and the spin below has acquired what the last ones did. The gate releases
   * the fields and `next`. */
  atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
  atomic_store_explicit(&pool->gate, OPEN, memory_order_release);
  atomic_fetch_add(&pool->epoch, 1);
  const uint32_t sleepers = atomic_load(&pool->sleepers);
  if (sleepers > 0) {
    futex_wake(&pool->epoch, (int64_t)sleepers < n - 1 ? (int)sleepers : (int)(n - 1));
  }
  run_indices(pool);
  /* Relaxed, as is WAITING: the spin acquires the results, through these updates too. */
  atomic_fetch_and_explicit(&pool->gate, ~OPEN, memory_order_relaxed);
  while (!spin(&pool->gate, INSIDE, 0, 1, pool->spin_ns)) {
    const uint32_t gate =
        atomic_fetch_or_explicit(&pool->gate, WAITING, memory_order_relaxed) | WAITING;
    if ((gate & INSIDE) != 0) {
      futex_wait(&pool->gate, gate);
    }
  }
}

/* `busy` hands the loop's fields from one caller to the next. */
static void parallel_for(void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
  hlo_pool *pool = user;
  if (n > 1 && pool->num_workers > 0 &&
      !atomic_exchange_explicit(&pool->busy, 1, memory_order_acquire)) {
    run_loop(pool, fn, arg, n);
    atomic_store_explicit(&pool->busy, 0, memory_order_release);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    fn(arg, i);
  }
}

static void stop_workers(hlo_pool *pool) {
  atomic_store_explicit(&pool->ending, 1, memory_order_relaxed); /* released by the epoch */
  atomic_fetch_add_explicit(&pool->epoch, 1, memory_order_release);
  futex_wake(&pool->epoch, INT32_MAX);
  for (uint32_t i = 0; i < pool->num_workers; ++i) {
    pthread_join(pool->threads[i], NULL);
  }
}

hlo_pool *hlo_pool_create(uint32_t num_threads) {
  const uint32_t cpus = hlo_pool_cpus();
  if (num_threads == 0) {
    num_threads = cpus;
  }
  if (num_threads > INSIDE) {
    return NULL;
  }
  const size_t bytes = sizeof(hlo_pool) + (size_t)(num_threads - 1) * sizeof(pthread_t);
  hlo_pool *pool = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (pool == NULL) {
    return NULL;
  }
  pool->exec = (hlo_executor){sizeof(hlo_executor), num_threads, pool, parallel_for};
  pool->num_workers = 0;
  pool->spin_ns = num_threads > cpus ? 0 : SPIN_NS;
  atomic_init(&pool->busy, 0);
  atomic_init(&pool->epoch, 0);
  atomic_init(&pool->sleepers, 0);
  atomic_init(&pool->ending, 0);
  atomic_init(&pool->gate, 0);
  atomic_init(&pool->next, 0);
  pool->fn = NULL;
  pool->arg = NULL;
  pool->n = 0;

  sigset_t all, old;
  sigfillset(&all);
  /* Faults are delivered to the thread that causes them. If they were blocked, the program's
   * handlers would never run. */
  const int faults[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
    sigdelset(&all, faults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (pool->num_workers + 1 < num_threads &&
         pthread_create(&pool->threads[pool->num_workers], NULL, work, pool) == 0) {
    ++pool->num_workers;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (pool->num_workers + 1 < num_threads) {
    hlo_pool_destroy(pool);
    return NULL;
  }
  return pool;
}

void hlo_pool_destroy(hlo_pool *pool) {
  if (pool != NULL) {
    stop_workers(pool);
    free(pool);
  }
}

const hlo_executor *hlo_pool_executor(const hlo_pool *pool) { return &pool->exec; }
