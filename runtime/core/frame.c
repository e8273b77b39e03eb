/*===- frame.c - One call of a module, from begin to end -----------------------===*\
 *
 * The functions that generated code calls (hlo/generated.h). A frame is on the stack of the thread
 * that calls the module. Executor threads see it only during hlo_rt_parallel_for, and only read it.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "frame.h"

#include <hlo/generated.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "checks.h"
#include "fields.h"
#include "fp.h"
#include "ticks.h"

/* Chunks per thread of a parallel loop. With fewer, uneven tasks or a busy core would cost more
 * than an eighth of a two-thread loop; with more, each chunk repeats a kernel's start-up (packing,
 * hoisted loads). */
#define CHUNKS_PER_THREAD 4

/* Also finds out what the call needs of the arena. */
static hlo_status check_all(const hlo_call *call, const hlo_module_desc *desc,
                            const void *const *inputs, void *const *outputs, hlo_arena_need *need) {
  hlo_text text;
  hlo_status status = hlo_check_call(desc, call, &text);
  if (status != HLO_OK) {
    return status;
  }
  const void *const *results = (const void *const *)outputs;
  if ((status = hlo_check_buffers(desc, inputs, results, &text)) ||
      (status = hlo_check_cpu(desc, &text)) || (status = hlo_check_services(desc, call, &text)) ||
      (status = hlo_check_prepared(desc, call, &text))) {
    return status;
  }
  *need = hlo_arena_need_for(desc, call, /*prepares=*/0, inputs);
  return hlo_check_scratch(desc, call, need, &text);
}

/* Number of threads of a call. */
static uint32_t threads_of(const hlo_call *call) {
  const hlo_executor *exec = HLO_FIELD(call, exec);
  return HLO_HAS_FIELD(exec, parallel_for) && exec->num_threads > 1 ? exec->num_threads : 1;
}

static hlo_arena_need need_for(uint64_t one, uint64_t slot, uint32_t threads) {
  hlo_arena_need need = {one - slot, slot, threads > 1 ? threads : 1, UINT64_MAX};
  uint64_t slots;
  if (slot > one || __builtin_mul_overflow(slot, (uint64_t)need.threads, &slots) ||
      __builtin_add_overflow(need.plan, slots, &need.bytes)) {
    need.bytes = UINT64_MAX;
  }
  return need;
}

static hlo_arena_need need_of(const hlo_module_desc *desc, int prepares, uint32_t threads) {
  return prepares ? need_for(HLO_FIELD(desc, prepare_arena_bytes),
                             HLO_FIELD(desc, prepare_thread_arena_bytes), threads)
                  : need_for(desc->arena_bytes, HLO_FIELD(desc, thread_arena_bytes), threads);
}

static hlo_arena_need need_of_version(const hlo_size_versions *versions, uint32_t version,
                                      uint32_t threads) {
  return need_for(versions->arena_bytes[version], versions->thread_arena_bytes[version], threads);
}

hlo_arena_need hlo_arena_need_of(const hlo_module_desc *desc, const hlo_call *call, int prepares,
                                 const hlo_sizes *sizes) {
  if (!prepares && desc->arena_bytes == 0) { /* small programs, whose calls take 60 ns */
    return (hlo_arena_need){0, 0, 1, 0};
  }
  const uint32_t threads = threads_of(call);
  const hlo_size_versions *versions = prepares ? NULL : HLO_FIELD(desc, size_versions);
  if (versions == NULL) {
    return need_of(desc, prepares, threads);
  }
  if (sizes != NULL) {
    return need_of_version(versions, hlo_size_version(sizes), threads);
  }
  hlo_arena_need least = need_of_version(versions, 0, threads);
  for (uint32_t i = 1; i < versions->num_versions; ++i) {
    const hlo_arena_need other = need_of_version(versions, i, threads);
    least = other.bytes < least.bytes ? other : least;
  }
  return least;
}

hlo_arena_need hlo_arena_need_for(const hlo_module_desc *desc, const hlo_call *call, int prepares,
                                  const void *const *inputs) {
  if (prepares || HLO_FIELD(desc, size_versions) == NULL) {
    return hlo_arena_need_of(desc, call, prepares, NULL);
  }
  const hlo_sizes sizes = hlo_sizes_of_inputs(desc, inputs);
  return hlo_arena_need_of(desc, call, prepares, &sizes);
}

uint64_t hlo_arena_bytes(const hlo_module_desc *desc, uint32_t threads) {
  return need_of(desc, 0, threads).bytes;
}

uint64_t hlo_sized_arena_bytes(const hlo_module_desc *desc, uint32_t threads,
                               const int64_t *sizes) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < HLO_FIELD(desc, num_levels); ++i) {
    const uint64_t bytes = hlo_sized_arena_bytes(desc->levels[i], threads, sizes);
    most = bytes > most ? bytes : most;
  }
  if (most > 0) {
    return most;
  }
  const hlo_size_versions *versions = HLO_FIELD(desc, size_versions);
  if (versions == NULL) {
    return hlo_arena_bytes(desc, threads);
  }
  const hlo_sizes all = hlo_sizes_of_values(desc, sizes);
  return need_of_version(versions, hlo_size_version(&all), threads).bytes;
}

uint64_t hlo_prepare_arena_bytes(const hlo_module_desc *desc, uint32_t threads) {
  return need_of(desc, 1, threads).bytes;
}

/* Slots. A slot's header is the id of the thread that held it last, with the lowest bit set while
 * it is held. A chunk prefers the slot that its thread held before, because that slot's lines are
 * in the thread's caches, and takes any free one otherwise.
 */
typedef _Atomic uintptr_t Slot;

static Slot *slot_at(const hlo_frame *frame, uint64_t i) {
  return (Slot *)((char *)frame->scratch - HLO_SLOT_HEADER_BYTES + frame->slot_bytes * i);
}

static uintptr_t this_thread(void) { return (uintptr_t)pthread_self() & ~(uintptr_t)1; }

static void make_slots(hlo_frame *frame, const hlo_arena_need *need) {
  frame->slot_bytes = need->slot;
  frame->scratch = NULL;
  if (need->slot > 0) {
    frame->scratch = (char *)frame->arena + need->plan + HLO_SLOT_HEADER_BYTES;
    for (uint32_t i = 0; i < need->threads; ++i) {
      atomic_init(slot_at(frame, i), 0);
    }
  }
}

hlo_status hlo_take_arena(const hlo_call *call, const hlo_module_desc *desc,
                          const hlo_arena_need *need, hlo_frame *frame) {
  const uint64_t bytes = need->bytes;
  frame->arena = NULL;
  frame->owned = NULL;
  frame->owned_bytes = 0;
  frame->scratch = NULL;
  frame->slot_bytes = 0;
  if (bytes == 0) {
    return HLO_OK;
  }
  if (call->arena != NULL) {
    frame->arena = call->arena;
    make_slots(frame, need);
    return HLO_OK;
  }
  const hlo_allocator *alloc = call->alloc;
  void *memory = alloc->alloc(alloc->user, (size_t)bytes, desc->arena_align);
  if (memory == NULL || ((uintptr_t)memory & (desc->arena_align - 1))) {
    hlo_text text = hlo_text_of_call(call);
    hlo_text_add(&text, desc->name);
    hlo_text_add(&text, ": alloc gave ");
    hlo_text_add(&text, memory ? "misaligned memory" : "no memory");
    hlo_text_add(&text, " for an arena of ");
    hlo_text_number(&text, bytes);
    hlo_text_add(&text, " bytes (align ");
    hlo_text_number(&text, desc->arena_align);
    hlo_text_add(&text, ")");
    if (memory != NULL) {
      alloc->free(alloc->user, memory, (size_t)bytes);
    }
    return HLO_ERR_ALLOC;
  }
  frame->arena = frame->owned = memory;
  frame->owned_bytes = (size_t)bytes;
  make_slots(frame, need);
  return HLO_OK;
}

void hlo_start_frame(const hlo_call *call, const hlo_module_desc *desc, void *prepared,
                     hlo_frame *frame) {
  frame->call = call;
  frame->desc = desc;
  frame->threads = threads_of(call);
  frame->exec = frame->threads > 1 ? call->exec : NULL;
  frame->prepared = prepared;
  frame->draws = 0;
  frame->watch = HLO_FIELD(call, cancel) != NULL || HLO_FIELD(call, deadline_ns) != 0;
  frame->profile = NULL;
  frame->fp = hlo_fp_word(desc->fp_mode);
  frame->saved_fp = hlo_fp_get();
  hlo_fp_set(frame->fp);
}

void hlo_leave_frame(hlo_frame *frame) {
  hlo_fp_set(frame->saved_fp);
  if (frame->owned != NULL) {
    const hlo_allocator *alloc = frame->call->alloc;
    alloc->free(alloc->user, frame->owned, frame->owned_bytes);
  }
}

__attribute__((cold)) void hlo_tell_peers(const hlo_call *call, hlo_status status) {
  const hlo_comm *comm = HLO_FIELD(call, comm);
  if (HLO_HAS_FIELD(comm, leave) && comm->leave != NULL) {
    const char *message = HLO_FIELD(call, message);
    const int hasMessage = message != NULL && HLO_FIELD(call, message_bytes) > 0;
    comm->leave(comm->user, status, hasMessage ? message : "");
  }
}

__attribute__((cold)) hlo_status hlo_refuse(const hlo_call *call, hlo_status status) {
  /* In a call of another version the comm cannot be trusted. */
  if (call != NULL && call->abi == HLO_ABI) {
    hlo_tell_peers(call, status);
  }
  return status;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static hlo_profile *profile_at(const hlo_frame *frame, uint32_t op) {
  return (hlo_profile *)((char *)frame->profile + (size_t)frame->call->profile_stride * op);
}

/* Adds the time since the last count to the operation's. */
static hlo_profile *count_time(hlo_frame *frame, uint32_t op) {
  hlo_profile *profile = profile_at(frame, op);
  const uint64_t now = hlo_ticks();
  profile->ticks += now - frame->counted;
  frame->counted = now;
  return profile;
}

void hlo_rt_count(hlo_frame *frame, uint32_t op, uint64_t bytes) {
  if (frame->profile != NULL) {
    hlo_profile *profile = count_time(frame, op);
    ++profile->calls;
    profile->bytes += bytes;
  }
}

/* Reads both clocks. Profiles are rare: their code stands apart from that of every call, as do the
 * texts of errors. */
static __attribute__((cold, noinline)) void start_profile(int64_t *ns, uint64_t *ticks) {
  *ns = now_ns();
  *ticks = hlo_ticks();
}

/* Counts the remaining time, and converts the call's ticks to nanoseconds. */
static __attribute__((cold, noinline)) void end_profile(hlo_frame *frame) {
  hlo_rt_count(frame, 0, 0);
  const double ticks = (double)(frame->counted - frame->start_ticks);
  const double rate = ticks > 0 ? (double)(now_ns() - frame->start_ns) / ticks : 0;
  for (uint32_t i = 0; i < frame->desc->num_ops; ++i) {
    hlo_profile *profile = profile_at(frame, i);
    if (profile->ticks != 0) {
      profile->ns += (uint64_t)((double)profile->ticks * rate + 0.5);
      profile->ticks = 0;
    }
  }
}

hlo_status hlo_rt_begin(const hlo_call *call, const hlo_module_desc *desc,
                        const void *const *inputs, void *const *outputs, hlo_frame *frame) {
  const int counts = HLO_FIELD(call, profile) != NULL;
  int64_t start_ns = 0;
  uint64_t start_ticks = 0;
  if (counts) {
    start_profile(&start_ns, &start_ticks);
  }
  hlo_arena_need need;
  hlo_status status = check_all(call, desc, inputs, outputs, &need);
  if (status == HLO_OK) {
    status = hlo_take_arena(call, desc, &need, frame);
  }
  if (status != HLO_OK) {
    return hlo_refuse(call, status);
  }
  const void *prepared = HLO_FIELD(desc, prepared_bytes) ? HLO_FIELD(call, prepared) : NULL;
  hlo_start_frame(call, desc, (void *)prepared, frame);
  if (counts && desc->num_ops > 0) {
    frame->profile = call->profile;
    frame->start_ns = start_ns;
    frame->start_ticks = frame->counted = start_ticks;
    count_time(frame, 0);
  }
  return HLO_OK;
}

hlo_status hlo_rt_end(hlo_frame *frame, hlo_status status) {
  if (status != HLO_OK) {
    hlo_tell_peers(frame->call, status);
  }
  hlo_leave_frame(frame);
  if (frame->profile != NULL) {
    end_profile(frame);
  }
  return status;
}

static hlo_status stop_requested(const hlo_call *call) {
  /* Relaxed: a request to stop hands nothing over, and is seen soon. */
  const int32_t *cancel = HLO_FIELD(call, cancel);
  if (cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0) {
    return HLO_CANCELLED;
  }
  const int64_t deadline = HLO_FIELD(call, deadline_ns);
  if (deadline != 0) {
    if (now_ns() >= deadline) {
      return HLO_DEADLINE;
    }
  }
  return HLO_OK;
}

static hlo_status report_stop(hlo_frame *frame, hlo_status status) {
  if (status != HLO_OK) {
    hlo_text text = hlo_text_of_call(frame->call);
    hlo_text_add(&text, frame->desc->name);
    hlo_text_add(&text, status == HLO_CANCELLED ? ": cancelled" : ": deadline passed");
  }
  return status;
}

hlo_status hlo_rt_poll(hlo_frame *frame) {
  return frame->watch ? report_stop(frame, stop_requested(frame->call)) : HLO_OK;
}

hlo_status hlo_rt_fail(hlo_frame *frame, int32_t code, const char *message) {
  hlo_text text = hlo_text_of_call(frame->call);
  hlo_text_add(&text, frame->desc->name);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, message);
  return code;
}

void hlo_rt_next_state(hlo_frame *frame, uint64_t offset, int64_t delta, void *state) {
  char *memory = (char *)frame->call->state + offset;
  const uint64_t initial[2] = {0x7012395, HLO_FIELD(frame->call, rng_seed)};
  uint64_t advanced[2], value[2];
  memcpy(advanced, memory, sizeof advanced);
  value[0] = initial[0] + advanced[0];
  value[1] = initial[1] + advanced[1] + (value[0] < advanced[0]);
  memcpy(state, value, sizeof value);
  const uint64_t low = advanced[0] + (uint64_t)delta;
  advanced[1] += (delta < 0 ? UINT64_MAX : 0) + (low < advanced[0]);
  advanced[0] = low;
  memcpy(memory, advanced, sizeof advanced);
}

void hlo_rt_draw(hlo_frame *frame, void *state) {
  const uint64_t value[2] = {HLO_FIELD(frame->call, rng_seed), frame->draws++};
  memcpy(state, value, sizeof value);
}

void hlo_call_clear(hlo_call *call, uint32_t struct_size) {
  memset(call, 0, struct_size);
  call->struct_size = struct_size;
  call->abi = HLO_ABI;
}

hlo_status hlo_bad_signature(const hlo_call *call, const hlo_module_desc *desc, uint64_t given) {
  hlo_text text = hlo_text_of_call(call);
  hlo_text_add(&text, desc->name);
  hlo_text_add(&text, ": header and object do not belong together: args have signature ");
  hlo_text_hex(&text, given);
  hlo_text_add(&text, ", the object has ");
  hlo_text_hex(&text, desc->signature);
  return HLO_ERR_SIGNATURE;
}

/* A loop in progress, shared by its threads. */
typedef struct Loop {
  hlo_frame *frame;
  hlo_task *task;                /* exactly one of task and */
  hlo_scratch_task *scratchTask; /* scratchTask is not null */
  void *args;
  int64_t tasks, chunks;
  const hlo_call *watched;  /* null: it cannot be cancelled and has no deadline */
  _Atomic uint32_t holders; /* chunks that hold a slot or look for one */
  _Atomic int32_t stopped;  /* reason why no further chunk starts; relaxed: read for good after the
                               loop, whose end orders it */
} Loop;

/* First task of chunk `i`: the first tasks % chunks chunks have one task more. */
static int64_t chunk_start(const Loop *loop, int64_t i) {
  const int64_t longer = loop->tasks % loop->chunks;
  return loop->tasks / loop->chunks * i + (i < longer ? i : longer);
}

/* Takes a free slot that this thread held before; with `any`, any free slot. Null if there is
 * none. Acquires what its last holder did in it and released by giving it back. */
static Slot *try_slots(const hlo_frame *frame, uintptr_t self, int any) {
  const uint32_t threads = frame->threads;
  /* Thread ids differ by multiples of a stack size, a power of two, so they are hashed. */
  const uint32_t start = (uint32_t)((self >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % threads;
  for (uint32_t k = 0; k < threads; ++k) {
    Slot *slot = slot_at(frame, start + k < threads ? start + k : start + k - threads);
    uintptr_t owner = atomic_load_explicit(slot, memory_order_relaxed);
    if ((owner == self || (any && !(owner & 1))) &&
        atomic_compare_exchange_strong_explicit(slot, &owner, self | 1, memory_order_acquire,
                                                memory_order_relaxed)) {
      return slot;
    }
  }
  return NULL;
}

/* A slot for a chunk; null if there are already as many holders as slots. Otherwise the search
 * ends: fewer holders than slots means that some slot is free at any time, though slots may change
 * hands while they are scanned. */
static Slot *take_slot(Loop *loop) {
  const hlo_frame *frame = loop->frame;
  /* Acquires the updates of chunks that have given their slots back, so that these are seen free;
   * through the updates of others too, be they relaxed. */
  if (atomic_fetch_add_explicit(&loop->holders, 1, memory_order_acquire) >= frame->threads) {
    atomic_fetch_sub_explicit(&loop->holders, 1, memory_order_relaxed);
    return NULL;
  }
  const uintptr_t self = this_thread();
  Slot *slot = try_slots(frame, self, /*any=*/0);
  while (slot == NULL) {
    slot = try_slots(frame, self, /*any=*/1);
  }
  return slot;
}

static void give_back_slot(Loop *loop, Slot *slot) {
  const uintptr_t owner = atomic_load_explicit(slot, memory_order_relaxed);
  atomic_store_explicit(slot, owner & ~(uintptr_t)1, memory_order_release);
  atomic_fetch_sub_explicit(&loop->holders, 1, memory_order_release);
}

static void run_tasks(Loop *loop, int64_t first, int64_t last) {
  if (loop->task != NULL) {
    loop->task(loop->args, first, last);
    return;
  }
  Slot *slot = take_slot(loop);
  if (slot == NULL) {
    atomic_store_explicit(&loop->stopped, HLO_ERR_ARENA, memory_order_relaxed);
    return;
  }
  loop->scratchTask(loop->args, first, last, (char *)slot + HLO_SLOT_HEADER_BYTES);
  give_back_slot(loop, slot);
}

static void run_chunk(void *arg, int64_t i) {
  Loop *loop = arg;
  if (atomic_load_explicit(&loop->stopped, memory_order_relaxed) != HLO_OK) {
    return;
  }
  if (loop->watched != NULL) {
    const hlo_status stop = stop_requested(loop->watched);
    if (stop != HLO_OK) {
      atomic_store_explicit(&loop->stopped, stop, memory_order_relaxed);
      return;
    }
  }
  const uint32_t saved = hlo_fp_get();
  hlo_fp_set(loop->frame->fp);
  run_tasks(loop, chunk_start(loop, i), chunk_start(loop, i + 1));
  hlo_fp_set(saved);
}

static hlo_status report_loop(hlo_frame *frame, hlo_status status) {
  if (status != HLO_ERR_ARENA) {
    return report_stop(frame, status);
  }
  hlo_text text = hlo_text_of_call(frame->call);
  hlo_text_add(&text, frame->desc->name);
  hlo_text_add(&text, ": the executor has num_threads ");
  hlo_text_number(&text, frame->threads);
  hlo_text_add(&text, ", and ran more chunks at once; the arena has no scratch memory for them");
  return status;
}

static hlo_status run_loop(Loop *loop) {
  hlo_frame *frame = loop->frame;
  if (frame->watch) {
    const hlo_status status = hlo_rt_poll(frame);
    if (status != HLO_OK) {
      return status;
    }
  }
  if (loop->tasks <= 1 || frame->exec == NULL) {
    if (loop->tasks > 0 && loop->task != NULL) {
      loop->task(loop->args, 0, loop->tasks);
    } else if (loop->tasks > 0) {
      loop->scratchTask(loop->args, 0, loop->tasks, frame->scratch);
    }
    return HLO_OK;
  }
  const int64_t most = (int64_t)frame->threads * CHUNKS_PER_THREAD;
  loop->chunks = loop->tasks < most ? loop->tasks : most;
  loop->watched = frame->watch ? frame->call : NULL;
  frame->exec->parallel_for(frame->exec->user, run_chunk, loop, loop->chunks);
  return report_loop(frame, atomic_load_explicit(&loop->stopped, memory_order_relaxed));
}

hlo_status hlo_rt_parallel_for(hlo_frame *frame, hlo_task *task, void *args, int64_t tasks) {
  Loop loop = {.frame = frame, .task = task, .args = args, .tasks = tasks};
  return run_loop(&loop);
}

hlo_status hlo_rt_parallel_scratch(hlo_frame *frame, hlo_scratch_task *task, void *args,
                                   int64_t tasks) {
  Loop loop = {.frame = frame, .scratchTask = task, .args = args, .tasks = tasks};
  return run_loop(&loop);
}
