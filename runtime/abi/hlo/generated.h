/*===- hlo/generated.h - What generated code calls ----------------------------===*\
 *
 * The other half of the ABI: the functions of libhlo_rt.a that the object of a
 * compiled module refers to, and nothing else. Not for callers of modules.
 *
 * The shape of M_run_buffers (the one exported function that does work):
 *
 *   hlo_status M_run_buffers(const hlo_call *call, const void *const *inputs,
 *                            void *const *outputs) {
 *     hlo_frame frame;                        // 256 bytes on the stack, aligned to 16
 *     hlo_status s = hlo_rt_begin(call, &M_desc, inputs, outputs, &frame);
 *     if (s) return s;                        // nothing to end: begin has cleaned up
 *     char *arena = frame.arena;              // offset 0; null if arena_bytes is 0
 *     k0(inputs[0], outputs[0], 0, 1);        // a kernel too small to split: direct call
 *     struct { ... } args = {arena, ...};     // a kernel to split: a task function unpacks
 *     s = hlo_rt_parallel_for(&frame, k1_task, &args, k1_tasks);
 *     if (s) goto end;
 *     k2(outputs[0], 0, 1, frame.scratch);    // a kernel with large variables gets scratch memory
 *     s = hlo_rt_parallel_scratch(&frame, k3_task, &args, k3_tasks);  // one slot per chunk of tasks
 *     if (s) goto end;
 *     while (...) {                           // loops and long sequences: poll
 *       if (frame.watch && (s = hlo_rt_poll(&frame))) goto end;
 *       ...
 *     }
 *   end:
 *     return hlo_rt_end(&frame, s);
 *   }
 *
 * In LLVM IR the descriptions are constant structs of the layouts asserted below
 * (LP64: pointers and int64 are 8 bytes; members are aligned to their size).
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_GENERATED_H
#define HLO_GENERATED_H

#include <hlo/rt.h>
#include <hlo/shard.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One call in progress. Generated code reserves HLO_FRAME_BYTES, aligned to 16 and uninitialized,
 * and reads only `arena`, `watch`, `threads`, `prepared`, `scratch` and `profile`. */
typedef struct hlo_frame {
  void *arena; /**< offset 0: arena_bytes bytes aligned to arena_align; null if none are needed */
  uint32_t watch;       /**< offset 8: non-zero if the call can be cancelled or has a deadline */
  uint32_t threads;     /**< offset 12: >= 1; with 1, parallel loops run on the calling thread */
  const hlo_call *call; /**< offset 16: the caller's; null if it gave none */
  void *prepared;       /**< offset 24: the prepared block; null if there is none */
  /* Private to the runtime: */
  const hlo_module_desc *desc;
  const hlo_executor *exec; /* null: serial */
  void *owned;              /* arena that came from call->alloc */
  size_t owned_bytes;
  uint32_t saved_fp; /* the CPU's control word: the caller's, and the module's */
  uint32_t fp;
  uint64_t draws; /* number of hlo_rt_draw calls so far */
  void *scratch;  /**< offset 80: thread_arena_bytes - HLO_SLOT_HEADER_BYTES bytes of the arena,
                     aligned to 64, for what runs on the calling thread; null if none are needed */
  uint64_t slot_bytes; /* thread_arena_bytes */
  uint64_t reserved[16];
  int64_t start_ns; /* with a profile: when the call began, by both clocks */
  uint64_t start_ticks;
  hlo_profile *profile; /**< offset 240: where hlo_rt_count adds to; null: nowhere */
  uint64_t counted;     /* ticks at the last count */
} hlo_frame;

#define HLO_FRAME_BYTES 256

/** The arena: the plan's bytes, then `threads` slots of thread_arena_bytes each. A slot starts with
 * a header of this size, private to the runtime, which records its holder. */
#define HLO_SLOT_HEADER_BYTES 64

/** A kernel over tasks first <= t < last. `args` is what generated code passed to
 * hlo_rt_parallel_for. */
typedef void hlo_task(void *args, int64_t first, int64_t last);

/** Starts a call. Checks, in this order: desc and call (struct_size, abi), the pointers (not null
 * except for leaves of 0 bytes; aligned to hlo_buffer_desc.align), CPU features, feeds, comm,
 * state, and the arena, which it takes from the caller or from call->alloc. Sets the CPU's
 * floating-point mode to desc->fp_mode and saves the old one in the frame. On an error the text is
 * in call->message, the mode is unchanged, nothing is allocated, and the frame must not be used. Of
 * inputs and outputs it reads only the sizes of bounded dimensions. */
HLO_NODISCARD hlo_status hlo_rt_begin(const hlo_call *call, const hlo_module_desc *desc,
                                      const void *const *inputs, void *const *outputs,
                                      hlo_frame *frame);

/** Ends a call that hlo_rt_begin has started: frees what it allocated, restores the caller's
 * floating-point mode, returns `status`. */
hlo_status hlo_rt_end(hlo_frame *frame, hlo_status status);

/** The start of a prepared block. `complete` is written last: an unfinished block is invalid. */
typedef struct hlo_prepared_header {
  uint64_t magic; /**< HLO_PREPARED_MAGIC */
  uint32_t abi;
  uint32_t complete;
  uint64_t bytes; /**< hlo_module_desc.prepared_bytes */
  uint64_t id;    /**< hlo_module_desc.prepared_id */
  char level[32]; /**< hlo_module_desc.level_name, ending in NUL, perhaps cut; empty: none */
} hlo_prepared_header;

#define HLO_PREPARED_MAGIC 0x0a31504552504c48ull /* "HLPREP1\n" */
#define HLO_PREPARED_HEADER_BYTES 64

/** The same two functions for M_prepare_buffers. Checks desc and call, the inputs that it reads,
 * the block's size and alignment, CPU features and the arena (prepare_arena_bytes). The block's
 * header says unfinished from hlo_rt_prepare_begin until hlo_rt_prepare_end gets HLO_OK. */
HLO_NODISCARD hlo_status hlo_rt_prepare_begin(const hlo_call *call, const hlo_module_desc *desc,
                                              const void *const *inputs, void *prepared,
                                              size_t bytes, hlo_frame *frame);
hlo_status hlo_rt_prepare_end(hlo_frame *frame, hlo_status status);

/** The code of M_run_buffers and M_prepare_buffers of an object with several CPU levels: calls the
 * function of the level that hlo_level returns; HLO_ERR_CPU if there is none. */
HLO_NODISCARD hlo_status hlo_rt_run_level(const hlo_call *call, const hlo_module_desc *desc,
                                          const void *const *inputs, void *const *outputs);
HLO_NODISCARD hlo_status hlo_rt_prepare_level(const hlo_call *call, const hlo_module_desc *desc,
                                              const void *const *inputs, void *prepared,
                                              size_t bytes);

/** Runs task over contiguous, disjoint ranges that cover 0 <= t < tasks, each t once, and returns
 * when all are done. Ranges run in any order, on the caller's executor if it has more than one
 * thread, under desc->fp_mode. If the call is cancelled or its deadline passes, ranges that have
 * not started are skipped and an error is returned; the results are then unspecified. */
HLO_NODISCARD hlo_status hlo_rt_parallel_for(hlo_frame *frame, hlo_task *task, void *args,
                                             int64_t tasks);

/** A task with scratch memory, which is like hlo_frame's `scratch`. */
typedef void hlo_scratch_task(void *args, int64_t first, int64_t last, void *scratch);

/** hlo_rt_parallel_for for tasks with scratch memory. Each range holds a slot of the arena while it
 * runs. If the executor runs more than `threads` ranges at once, those without a slot are skipped,
 * and the error is HLO_ERR_ARENA. */
HLO_NODISCARD hlo_status hlo_rt_parallel_scratch(hlo_frame *frame, hlo_scratch_task *task,
                                                 void *args, int64_t tasks);

/** HLO_CANCELLED or HLO_DEADLINE, with the message written, if the call must stop; else HLO_OK. */
HLO_NODISCARD hlo_status hlo_rt_poll(hlo_frame *frame);

/** Writes `message` (NUL-terminated, not kept) as the call's error text and returns `code`. Only
 * for the thread that called hlo_rt_begin. Pass the result to hlo_rt_end. */
hlo_status hlo_rt_fail(hlo_frame *frame, int32_t code, const char *message);

/** If frame->profile is not null: records the end of one execution of operation `op` (of
 * hlo_module_desc.ops), which reads and writes `bytes` bytes. The time since the previous such call
 * is attributed to it. The rest of a call, counted by hlo_rt_begin and hlo_rt_end, is operation 0:
 * the program itself.
 */
void hlo_rt_count(hlo_frame *frame, uint32_t op, uint64_t bytes);

/** rng-get-and-update-state: writes the 128-bit state at `offset` of hlo_call.state to `state` (low
 * word first) and advances it by `delta`. The memory holds the total advance; the initial state is
 * 0x7012395 + (hlo_call.rng_seed << 64). */
void hlo_rt_next_state(hlo_frame *frame, uint64_t offset, int64_t delta, void *state);

/** rng: writes hlo_call.rng_seed and the number of earlier draws of this call to `state`. */
void hlo_rt_draw(hlo_frame *frame, void *state);

/*===- Operations that the runtime executes ---------------------------------------*\
 *
 * Each is one call: the frame, a static read-only description that starts with an hlo_rt_op, and an
 * array of pointers (to the operands, then the results, then the scratch memory if there is any).
 * If the status is not HLO_OK, the function has written the message, and generated code ends the
 * call with it.
 *
 *===-------------------------------------------------------------------------===*/

/** Common header of their descriptions. */
typedef struct hlo_rt_op {
  uint32_t struct_size; /**< of the whole description, which may grow at its end */
  uint32_t num_operands, num_results;
  uint32_t buffer_stride; /**< of `buffers` */
  const char *opcode;     /**< "all-reduce" */
  const char *name;       /**< of the HLO instruction */
  /** Operands, then results; leaves of tuples. For a result, `alias` is the operand whose buffer it
   * shares, and the reverse; -1: none */
  const hlo_buffer_desc *buffers;
  uint64_t scratch_bytes; /**< of one more buffer; 0: there is none */
} hlo_rt_op;

/** Operand or result `i`; results follow the operands. */
HLO_INLINE const hlo_buffer_desc *hlo_rt_op_buffer_at(const hlo_rt_op *op, uint32_t i) {
  return (const hlo_buffer_desc *)hlo_element_at(op->buffers, op->buffer_stride, i);
}

/** result[i] = f(a[i], b[i]) for first <= i < last; the result may be a or b. */
typedef void hlo_range_kernel(const void *a, const void *b, void *result, int64_t first,
                              int64_t last);

/** Collectives, replica-id and partition-id. */
enum {
  HLO_ALL_REDUCE = 1,
  HLO_ALL_GATHER = 2,
  HLO_REDUCE_SCATTER = 3,
  HLO_ALL_TO_ALL = 4,
  HLO_RAGGED_ALL_TO_ALL = 5,
  HLO_COLLECTIVE_BROADCAST = 6,
  HLO_COLLECTIVE_PERMUTE = 7,
  HLO_REPLICA_ID = 8,
  HLO_PARTITION_ID = 9
};

/** Meaning of the numbers in a collective's groups. */
enum {
  HLO_GROUPS_OF_REPLICAS = 1,                /**< replicas, of this rank's partition */
  HLO_GROUPS_OF_REPLICAS_AND_PARTITIONS = 2, /**< replicas, each with all its partitions */
  HLO_GROUPS_OF_PARTITIONS = 3,              /**< partitions, of this rank's replica */
  HLO_GROUPS_OF_RANKS = 4                    /**< replica * num_partitions + partition */
};

typedef struct hlo_rt_collective {
  hlo_rt_op op;
  int32_t kind;      /**< HLO_ALL_REDUCE, ... */
  int32_t mode;      /**< HLO_GROUPS_OF_... */
  int64_t channel;   /**< -1 if the text has none */
  int64_t dimension; /**< gathered, scattered or split; -1 none */
  /** For each group its size and its members, in order. No groups: one group of all ranks. For
   * collective-permute the groups are the pairs of source and target. */
  const int64_t *groups;
  uint32_t num_groups;
  uint32_t dynamic_root;      /**< collective-broadcast: the last operand names the sender */
  const int64_t *slice_sizes; /**< collective-permute in place: sizes, in the form of `groups` */
  uint64_t num_slices;
  hlo_range_kernel *const *kernels; /**< of a reduction: one kernel per operand */
} hlo_rt_collective;

/** Scratch memory (hlo_frame.scratch) for the tables of a collective over more ranks than this;
 * those of fewer ranks are on the stack. */
#define HLO_COLLECTIVE_STACK_RANKS 16
#define HLO_COLLECTIVE_SCRATCH_BYTES(ranks) \
  ((ranks) <= HLO_COLLECTIVE_STACK_RANKS ? 0 : (ranks) * UINT64_C(128) + 4096)

/** Executes a collective, replica-id or partition-id. */
HLO_NODISCARD hlo_status hlo_rt_collective_run(hlo_frame *frame, const hlo_rt_collective *desc,
                                               void *const *buffers);

/** Scratch memory of a collective that is executed in two parts: its tables, for the module's ranks
 * and the op's operands. A reduction has more, for what it receives (any number of bytes). */
#define HLO_COLLECTIVE_MOST_PARTS 4096
#define HLO_COLLECTIVE_STATE_BYTES(ranks, operands)                           \
  (UINT64_C(1536) + UINT64_C(64) * (ranks) + UINT64_C(32) * (operands) +      \
   UINT64_C(96) * ((uint64_t)(ranks) * (operands) < HLO_COLLECTIVE_MOST_PARTS \
                       ? (uint64_t)(ranks) * (operands)                       \
                       : HLO_COLLECTIVE_MOST_PARTS))

/** Begins a collective of one of the kinds up to HLO_COLLECTIVE_PERMUTE. Until it is finished, its
 * operands must not be written, its results neither read nor written, and its scratch memory not
 * touched. Several may have begun. All are finished, or the call ends with an error. */
HLO_NODISCARD hlo_status hlo_rt_collective_start(hlo_frame *frame, const hlo_rt_collective *desc,
                                                 void *const *buffers);
/** Finishes it: waits until its results are there and its operands have been read. `desc` has the
 * same scratch memory. */
HLO_NODISCARD hlo_status hlo_rt_collective_done(hlo_frame *frame, const hlo_rt_op *desc,
                                                void *const *buffers);

#ifdef __cplusplus
} /* extern "C" */
#endif

/*===- Layouts that the compiler relies on ----------------------------------------*/

#if defined(__LP64__)
#if defined(__cplusplus) && __cplusplus >= 201103L
#define HLO_ASSERT_LAYOUT(condition) static_assert(condition, #condition)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define HLO_ASSERT_LAYOUT(condition) _Static_assert(condition, #condition)
#endif
#endif

#ifdef HLO_ASSERT_LAYOUT
HLO_ASSERT_LAYOUT(sizeof(hlo_frame) == HLO_FRAME_BYTES);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, arena) == 0);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, watch) == 8);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, threads) == 12);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, call) == 16);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, prepared) == 24);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, scratch) == 80);
HLO_ASSERT_LAYOUT(offsetof(hlo_frame, profile) == 240);
HLO_ASSERT_LAYOUT(sizeof(hlo_prepared_header) == HLO_PREPARED_HEADER_BYTES);

/* { ptr name, ptr dims, ptr minor_to_major, i64 bytes, i32 type, i32 rank, i32 align, i32 alias,
 * i32 size_of, i32 size_dim, ptr layout, ptr sharding, ptr sizes } */
HLO_ASSERT_LAYOUT(sizeof(hlo_buffer_desc) == 80);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, bytes) == 24);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, type) == 32);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, rank) == 36);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, align) == 40);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, alias) == 44);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, size_of) == 48);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, layout) == 56);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, sharding) == 64);
HLO_ASSERT_LAYOUT(offsetof(hlo_buffer_desc, sizes) == 72);

/* { i32 struct_size, i32 rank, ptr dims, ptr mesh_sizes, ptr mesh_names, i32 num_axes, i32
 * num_partitions, ptr axes, ptr devices } */
HLO_ASSERT_LAYOUT(sizeof(hlo_sharding) == 56);
HLO_ASSERT_LAYOUT(offsetof(hlo_sharding, rank) == 4);
HLO_ASSERT_LAYOUT(offsetof(hlo_sharding, num_axes) == 32);
HLO_ASSERT_LAYOUT(offsetof(hlo_sharding, axes) == 40);

/* { i32 struct_size, i32 num_operands, i32 num_results, i32 buffer_stride, ptr opcode, ptr name,
 * ptr buffers, i64 scratch_bytes } */
HLO_ASSERT_LAYOUT(sizeof(hlo_rt_op) == 48);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_op, opcode) == 16);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_op, scratch_bytes) == 40);

/* { hlo_rt_op, i32 kind, i32 mode, i64 channel, i64 dimension, ptr groups, i32 num_groups, i32
 * dynamic_root, ptr slice_sizes, i64 num_slices, ptr kernels } */
HLO_ASSERT_LAYOUT(sizeof(hlo_rt_collective) == 112);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_collective, channel) == 56);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_collective, groups) == 72);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_collective, slice_sizes) == 88);
HLO_ASSERT_LAYOUT(offsetof(hlo_rt_collective, kernels) == 104);

/* { ptr name, ptr kind, ptr file, i32 line, i32 column, ptr op_name, ptr source_file, i32
 * source_line, i32 0, i64 flops, i64 bytes } */
HLO_ASSERT_LAYOUT(sizeof(hlo_op_desc) == 72);
HLO_ASSERT_LAYOUT(offsetof(hlo_op_desc, line) == 24);
HLO_ASSERT_LAYOUT(offsetof(hlo_op_desc, flops) == 56);

/* { i32 struct_size, i32 abi, ptr name, ptr compiler_version, ptr flags, ptr target, ptr
 * source_sha256, i64 signature, i64 arena_bytes, i64 state_bytes, i64 cpu_features, i32 arch, i32
 * fp_mode, i32 arena_align, i32 needs, i32 num_inputs, i32 num_outputs, i32 num_ops, i32
 * buffer_stride, i32 op_stride, i32 custom_call_stride, ptr inputs, ptr outputs, ptr ops, ptr
 * custom_calls, ptr custom_call_targets, ptr run, i32 num_replicas, i32 num_partitions, i64
 * prepared_bytes, i64 prepare_arena_bytes, i64 prepared_id, ptr input_use, ptr prepare, i64
 * thread_arena_bytes, i64 prepare_thread_arena_bytes, i64 stack_bytes, i32 num_levels, i32
 * level_number, ptr levels, ptr level_name, ptr size_versions }; without size_versions in modules
 * that have none */
HLO_ASSERT_LAYOUT(sizeof(hlo_module_desc) == 272);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, name) == 8);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, signature) == 48);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, arena_bytes) == 56);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, cpu_features) == 72);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, arena_align) == 88);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, num_inputs) == 96);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, buffer_stride) == 108);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, inputs) == 120);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, run) == 160);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, prepared_bytes) == 176);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, prepare) == 208);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, thread_arena_bytes) == 216);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, stack_bytes) == 232);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, levels) == 248);
HLO_ASSERT_LAYOUT(offsetof(hlo_module_desc, size_versions) == 264);

/* { i32 struct_size, i32 num_versions, ptr arena_bytes, ptr thread_arena_bytes, ptr choices, i32
 * num_choices, i32 0 } */
HLO_ASSERT_LAYOUT(sizeof(hlo_size_versions) == 40);
HLO_ASSERT_LAYOUT(offsetof(hlo_size_versions, arena_bytes) == 8);
HLO_ASSERT_LAYOUT(offsetof(hlo_size_versions, num_choices) == 32);
#endif

#endif /* HLO_GENERATED_H */
