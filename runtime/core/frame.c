/*===- frame.c - One call of a module, from begin to end -----------------------===*\
 *
 * What generated code calls (hlo/generated.h). A frame lives on the stack of the
 * thread that calls the module; executor threads see it during hlo_rt_parallel_for
 * only, and only read it.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "frame.h"

#include <hlo/generated.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "checks.h"
#include "fields.h"
#include "fp.h"

/* Chunks per thread of a parallel loop: enough that uneven tasks or a busy core cost at most an
 * eighth of a two-thread loop, few enough that a kernel's start-up (packing, hoisted loads) stays
 * small. */
#define CHUNKS_PER_THREAD 4

static hlo_status check_all(const hlo_call *call, const hlo_module_desc *desc,
                            const void *const *inputs, void *const *outputs) {
  hlo_text text;
  hlo_status status = hlo_check_call(desc, call, &text);
  if (status != HLO_OK) {
    return status;
  }
  const void *const *results = (const void *const *)outputs;
  if ((status = hlo_check_buffers(desc, inputs, results, &text)) ||
      (status = hlo_check_cpu(desc, &text)) || (status = hlo_check_services(desc, call, &text)) ||
      (status = hlo_check_prepared(desc, call, &text)) ||
      (status = hlo_check_scratch(desc, call, desc->arena_bytes, &text))) {
    return status;
  }
  return HLO_OK;
}

hlo_status hlo_take_arena(const hlo_call *call, const hlo_module_desc *desc, uint64_t bytes,
                          hlo_frame *frame) {
  frame->arena = NULL;
  frame->owned = NULL;
  frame->owned_bytes = 0;
  if (bytes == 0) {
    return HLO_OK;
  }
  if (call->arena != NULL) {
    frame->arena = call->arena;
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
  return HLO_OK;
}

void hlo_start_frame(const hlo_call *call, const hlo_module_desc *desc, void *prepared,
                     hlo_frame *frame) {
  const hlo_executor *exec = HLO_FIELD(call, exec);
  const int parallel = HLO_HAS_FIELD(exec, parallel_for) && exec->num_threads > 1;
  frame->call = call;
  frame->desc = desc;
  frame->exec = parallel ? exec : NULL;
  frame->threads = parallel ? exec->num_threads : 1;
  frame->prepared = prepared;
  frame->draws = 0;
  frame->watch = HLO_FIELD(call, cancel) != NULL || HLO_FIELD(call, deadline_ns) != 0;
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

void hlo_tell_peers(const hlo_call *call, hlo_status status) {
  const hlo_comm *comm = HLO_FIELD(call, comm);
  if (HLO_HAS_FIELD(comm, leave) && comm->leave != NULL) {
    const char *message = HLO_FIELD(call, message);
    const int hasMessage = message != NULL && HLO_FIELD(call, message_bytes) > 0;
    comm->leave(comm->user, status, hasMessage ? message : "");
  }
}

hlo_status hlo_rt_begin(const hlo_call *call, const hlo_module_desc *desc,
                        const void *const *inputs, void *const *outputs, hlo_frame *frame) {
  hlo_status status = check_all(call, desc, inputs, outputs);
  if (status == HLO_OK) {
    status = hlo_take_arena(call, desc, desc->arena_bytes, frame);
  }
  if (status != HLO_OK) {
    /* A call of another version has no comm that can be trusted. */
    if (call != NULL && call->abi == HLO_ABI) {
      hlo_tell_peers(call, status);
    }
    return status;
  }
  const void *prepared = HLO_FIELD(desc, prepared_bytes) ? HLO_FIELD(call, prepared) : NULL;
  hlo_start_frame(call, desc, (void *)prepared, frame);
  return HLO_OK;
}

hlo_status hlo_rt_end(hlo_frame *frame, hlo_status status) {
  if (status != HLO_OK) {
    hlo_tell_peers(frame->call, status);
  }
  hlo_leave_frame(frame);
  return status;
}

static hlo_status stop_requested(const hlo_call *call) {
  const int32_t *cancel = HLO_FIELD(call, cancel);
  if (cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0) {
    return HLO_CANCELLED;
  }
  const int64_t deadline = HLO_FIELD(call, deadline_ns);
  if (deadline != 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= deadline) {
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

hlo_status hlo_bad_signature(const hlo_call *call, const hlo_module_desc *desc, uint64_t given) {
  hlo_text text = hlo_text_of_call(call);
  hlo_text_add(&text, desc->name);
  hlo_text_add(&text, ": header and object do not belong together: args have signature ");
  hlo_text_hex(&text, given);
  hlo_text_add(&text, ", the object has ");
  hlo_text_hex(&text, desc->signature);
  return HLO_ERR_SIGNATURE;
}

/* A loop in progress, shared by the threads that take part. */
typedef struct Loop {
  hlo_task *task;
  void *args;
  int64_t tasks, chunks;
  const hlo_call *watched; /* null: nothing can stop the loop */
  uint32_t fp;
  _Atomic int32_t stopped; /* HLO_CANCELLED or HLO_DEADLINE once seen */
} Loop;

/* Where chunk `i` starts: the first tasks % chunks chunks are one task longer. */
static int64_t chunk_start(const Loop *loop, int64_t i) {
  const int64_t longer = loop->tasks % loop->chunks;
  return loop->tasks / loop->chunks * i + (i < longer ? i : longer);
}

static void run_chunk(void *arg, int64_t i) {
  Loop *loop = arg;
  if (loop->watched != NULL) {
    if (atomic_load_explicit(&loop->stopped, memory_order_relaxed) != HLO_OK) {
      return;
    }
    const hlo_status stop = stop_requested(loop->watched);
    if (stop != HLO_OK) {
      atomic_store_explicit(&loop->stopped, stop, memory_order_relaxed);
      return;
    }
  }
  const uint32_t saved = hlo_fp_get();
  hlo_fp_set(loop->fp);
  loop->task(loop->args, chunk_start(loop, i), chunk_start(loop, i + 1));
  hlo_fp_set(saved);
}

hlo_status hlo_rt_parallel_for(hlo_frame *frame, hlo_task *task, void *args, int64_t tasks) {
  if (frame->watch) {
    const hlo_status status = hlo_rt_poll(frame);
    if (status != HLO_OK) {
      return status;
    }
  }
  if (tasks <= 1 || frame->exec == NULL) {
    if (tasks > 0) {
      task(args, 0, tasks);
    }
    return HLO_OK;
  }
  const int64_t most = (int64_t)frame->threads * CHUNKS_PER_THREAD;
  Loop loop = {
      task,      args,  tasks, tasks < most ? tasks : most, frame->watch ? frame->call : NULL,
      frame->fp, HLO_OK};
  frame->exec->parallel_for(frame->exec->user, run_chunk, &loop, loop.chunks);
  return report_stop(frame, atomic_load_explicit(&loop.stopped, memory_order_relaxed));
}
