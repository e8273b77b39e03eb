/*===- hlo/rt.h - The interface between a compiled module and its caller -----===*\
 *
 * The interface between a compiled module and its caller. Module headers include it. Plain C99;
 * also valid as C11 and as C++11 or later. Licensed under Apache-2.0 WITH LLVM-exception.
 *
 * A module M exports
 *   hlo_status M_run(const hlo_call *call, const M_args *args);   (inline, in M.h)
 *   hlo_status M_run_buffers(const hlo_call *call, const void *const *inputs,
 *                            void *const *outputs);
 *   const hlo_module_desc *M_describe(void);
 * and with --immutable-params
 *   hlo_status M_prepare(const hlo_call *call, const M_args *args, void *prepared, size_t bytes);
 *
 * There are no globals: any number of calls of a module may run at once, each with its own hlo_call
 * and its own arena. Nothing here ends the process, writes to a stream, reads the environment or
 * starts a thread (except hlo/pool.h and hlo/ranks.h, on request).
 *
 * Versions: a struct that may grow starts with `struct_size`, set by its writer; the reader uses
 * only the fields within that size and takes the others as zero. Elements of an array may grow as
 * well: a stride next to the array gives their distance, and functions such as hlo_input_at() apply
 * it. Fields are only appended; any other change changes `abi`. A struct with neither size nor
 * stride never changes.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_RT_H
#define HLO_RT_H

#include <stddef.h>
#include <stdint.h>

/** The version of every struct below; hlo_call.abi and hlo_module_desc.abi. */
#define HLO_ABI 2

#if defined(__cplusplus) && __cplusplus >= 201703L
#define HLO_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HLO_NODISCARD __attribute__((warn_unused_result))
#else
#define HLO_NODISCARD
#endif

/** The symbol of a declared function in the object. Module headers use it to refer to exactly their
 * module's function: saxpy_describe is saxpy_describe_0123456789abcdef. */
#if defined(__GNUC__)
#define HLO_SYMBOL(name) __asm__(name)
#else
#define HLO_SYMBOL(name)
#endif

/** One field under two names. JAX and XLA append numbers to names: the array `x.1` of a text is
 * both `x` and `x_1` in the argument struct. With HLO_PLAIN_FIELDS, for bindings of languages
 * without anonymous unions (bindgen, cgo), only the first name exists. HLO_EITHER_NULL initializes
 * the field. */
#if defined(HLO_PLAIN_FIELDS)
#define HLO_EITHER(type, name, other) type name
#define HLO_EITHER_NULL 0
#elif defined(__GNUC__)
#define HLO_EITHER(type, name, other) \
  __extension__ union {               \
    type name;                        \
    type other;                       \
  }
#else
#define HLO_EITHER(type, name, other) \
  union {                             \
    type name;                        \
    type other;                       \
  }
#endif
#ifndef HLO_EITHER_NULL
#define HLO_EITHER_NULL {0}
#endif

/** Storage class of the functions defined in these headers. One file of libhlo_rt.so defines it as
 * nothing, which exports them. */
#ifndef HLO_INLINE
#define HLO_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===- Status ------------------------------------------------------------------*/

/** 0, or an error: the low byte is one of the codes HLO_OK .. HLO_UNAVAILABLE, numbered like
 * absl::StatusCode; the bits above give details (HLO_ERR_*). */
typedef int32_t hlo_status;

/* clang-format off */
enum {
  HLO_OK = 0,
  HLO_CANCELLED = 1,           /**< *hlo_call.cancel became non-zero */
  HLO_UNKNOWN = 2,             /**< a callback failed without a reason */
  HLO_INVALID_ARGUMENT = 3,    /**< the call is wrong */
  HLO_DEADLINE = 4,            /**< hlo_call.deadline_ns passed */
  HLO_NOT_FOUND = 5,           /**< e.g. no such custom call */
  HLO_RESOURCE_EXHAUSTED = 8,  /**< memory */
  HLO_FAILED_PRECONDITION = 9, /**< this machine, or this call, cannot run the module */
  HLO_ABORTED = 10,            /**< a peer gave up */
  HLO_OUT_OF_RANGE = 11,
  HLO_UNIMPLEMENTED = 12,
  HLO_INTERNAL = 13,
  HLO_UNAVAILABLE = 14,        /**< a peer or a feed is gone */

  HLO_ERR_NULL = HLO_INVALID_ARGUMENT | (1 << 8),      /**< a required pointer is null */
  HLO_ERR_STRUCT = HLO_INVALID_ARGUMENT | (2 << 8),    /**< struct_size or abi not understood */
  HLO_ERR_ALIGN = HLO_INVALID_ARGUMENT | (3 << 8),     /**< a buffer is misaligned */
  HLO_ERR_SIGNATURE = HLO_INVALID_ARGUMENT | (4 << 8), /**< header and object differ */
  HLO_ERR_ARENA = HLO_RESOURCE_EXHAUSTED | (6 << 8),   /**< scratch: too little, misaligned; more
                                                           chunks at once than threads */
  HLO_ERR_SIZE = HLO_OUT_OF_RANGE | (10 << 8),         /**< the size of a bounded dimension */
  HLO_ERR_ALLOC = HLO_RESOURCE_EXHAUSTED | (7 << 8),   /**< hlo_call.alloc gave nothing */
  HLO_ERR_CPU = HLO_FAILED_PRECONDITION | (8 << 8),    /**< the CPU lacks a feature the code uses */
  HLO_ERR_MISSING = HLO_FAILED_PRECONDITION | (9 << 8), /**< no feed, comm or custom call */
  HLO_ERR_PREPARED = HLO_FAILED_PRECONDITION | (11 << 8), /**< prepared block: missing, of another module, unfinished */
  HLO_ERR_VIEW = HLO_INVALID_ARGUMENT | (12 << 8),   /**< views: number, bytes, type, shape or layout */
  HLO_ERR_OVERLAP = HLO_INVALID_ARGUMENT | (13 << 8) /**< buffers that must not share memory do */
};
/* clang-format on */

/** The low byte: one of HLO_OK .. HLO_UNAVAILABLE. */
HLO_INLINE hlo_status hlo_status_code(hlo_status status) { return status & 0xff; }

/** A short name of a status, e.g. "HLO_ERR_ARENA"; never null, static. */
const char *hlo_status_name(hlo_status status);

/*===- Element types -------------------------------------------------------------*/

/** f16, bf16 and the 8-bit floats as bits, independent of compiler types. */
/* clang-format off */
typedef struct hlo_f16 { uint16_t bits; } hlo_f16;
typedef struct hlo_bf16 { uint16_t bits; } hlo_bf16;
typedef struct hlo_f8 { uint8_t bits; } hlo_f8;
/** Complex numbers, with the layout of C's and C++'s own types. */
typedef struct hlo_c64 { float re, im; } hlo_c64;
typedef struct hlo_c128 { double re, im; } hlo_c128;

/** Element types. The numbers are part of the ABI: append only. In buffers of callers, feeds and
 * custom calls, elements of 1, 2 and 4 bits (except pred) are packed as in XLA:CPU, the first one
 * in the lowest bits of the first byte; hlo/index.h reads and writes them. Elements of 6 bits take
 * a byte. */
typedef enum hlo_type {
  HLO_INVALID_TYPE = 0,
  HLO_PRED = 1, /**< one byte, 0 or 1 */
  HLO_S1 = 2, HLO_S2 = 3, HLO_S4 = 4, HLO_S8 = 5, HLO_S16 = 6, HLO_S32 = 7, HLO_S64 = 8,
  HLO_U1 = 9, HLO_U2 = 10, HLO_U4 = 11, HLO_U8 = 12, HLO_U16 = 13, HLO_U32 = 14, HLO_U64 = 15,
  HLO_F16 = 16, HLO_BF16 = 17, HLO_F32 = 18, HLO_F64 = 19,
  HLO_C64 = 20, HLO_C128 = 21, /**< real part, imaginary part */
  HLO_F8E5M2 = 22, HLO_F8E4M3 = 23, HLO_F8E4M3FN = 24, HLO_F8E4M3B11FNUZ = 25,
  HLO_F8E5M2FNUZ = 26, HLO_F8E4M3FNUZ = 27, HLO_F8E3M4 = 28, HLO_F8E8M0FNU = 29,
  HLO_F4E2M1FN = 30, HLO_F6E2M3FN = 31, HLO_F6E3M2FN = 32
} hlo_type;
/* clang-format on */

/** Bytes of one element in memory (both parts of a complex one); 1 for packed types, see
 * hlo_type_bits; 0 for an unknown type. */
size_t hlo_type_bytes(int32_t type);
/** Bits of one element in a buffer of a caller, a feed or a custom call: 8 times its bytes, or less
 * if elements are packed; 0 for an unknown type. */
int32_t hlo_type_bits(int32_t type);
/** HLO's spelling, e.g. "bf16"; "invalid" for an unknown type. */
const char *hlo_type_name(int32_t type);

/*===- What a caller may supply ----------------------------------------------------*/

/** Memory for the arena. Both functions may be called from the calling thread only. */
typedef struct hlo_allocator {
  uint32_t struct_size, reserved;
  void *user; /**< passed to both functions */
  /** Returns `bytes` bytes aligned to `align` (a power of two), or null. */
  void *(*alloc)(void *user, size_t bytes, size_t align);
  /** Frees memory from `alloc`, with the same size. */
  void (*free)(void *user, void *memory, size_t bytes);
} hlo_allocator;

/** Threads. hlo/pool.h provides one; adapters to other pools take a few lines. */
typedef struct hlo_executor {
  uint32_t struct_size;
  uint32_t num_threads; /**< threads that can work on a loop, including the caller's; >= 1 */
  void *user;           /**< passed to parallel_for */
  /** Calls fn(arg, i) exactly once for each 0 <= i < n and returns when all calls are done. The
   * calls may run in any order and on any thread, including the caller's; they need not run
   * concurrently, but at most num_threads may. Each may hold one of num_threads slots of the arena
   * while it runs; if none is left, the module's call returns HLO_ERR_ARENA. fn never fails, never
   * blocks and never calls parallel_for. */
  void (*parallel_for)(void *user, void (*fn)(void *arg, int64_t i), void *arg, int64_t n);
} hlo_executor;

/** Calling convention of a custom call: HLO's `api_version`. */
enum {
  HLO_API_ORIGINAL = 1,                 /**< void (*)(void *out, const void **in) */
  HLO_API_STATUS_RETURNING = 2,         /**< void (*)(void *out, const void **in, status *) */
  HLO_API_STATUS_RETURNING_UNIFIED = 3, /**< the same, (..., opaque, size_t, status *) */
  HLO_API_TYPED_FFI = 4                 /**< XLA_FFI_Error *(*)(XLA_FFI_CallFrame *) */
};

/** One custom call target. */
typedef struct hlo_custom_call {
  const char *name; /**< custom_call_target; the key of the lookup */
  int32_t api;      /**< HLO_API_* */
  int32_t reserved;
  void (*fn)(void); /**< cast to the type that `api` says */
  void *user;       /**< typed FFI: the handler's State and UserData; else unused */
} hlo_custom_call;

/** Custom call targets, sorted by name (strcmp). The caller keeps them alive during the call.
 *   hlo_custom_calls calls = {sizeof calls, count, sizeof *entries, 0, entries}; */
typedef struct hlo_custom_calls {
  uint32_t struct_size, count;
  uint32_t entry_stride, reserved;
  const hlo_custom_call *entries;
} hlo_custom_calls;

/** Element `i` of an array with elements at a distance of `stride` bytes. */
HLO_INLINE const void *hlo_element_at(const void *array, uint32_t stride, uint32_t i) {
  return (const char *)array + (size_t)stride * i;
}

/** Entry `i` of a table. */
HLO_INLINE const hlo_custom_call *hlo_custom_call_at(const hlo_custom_calls *calls, uint32_t i) {
  return (const hlo_custom_call *)hlo_element_at(calls->entries, calls->entry_stride, i);
}

struct hlo_buffer_desc;
struct hlo_sharding;

/** One item of a feed: the data of one infeed, outfeed, send or recv. */
typedef struct hlo_feed_item {
  uint32_t struct_size;
  int32_t count;                       /**< leaves */
  uint32_t type_stride, reserved;      /**< of `types` */
  const char *config;                  /**< infeed_config, outfeed_config; never null */
  int64_t channel;                     /**< of a send or recv; else 0 */
  const struct hlo_buffer_desc *types; /**< of each leaf; hlo_feed_leaf_at() */
  const uint64_t *bytes;               /**< of each leaf */
  void *const *leaves;                 /**< in the layouts that `types` say */
  char *message;                       /**< buffer for a text if the item is refused */
  size_t message_bytes;
  const int32_t *cancel; /**< of the call: a feed that waits should poll them */
  int64_t deadline_ns;
} hlo_feed_item;

/** The source of infeed items or the destination of outfeed items; likewise for data received from
 * and sent to the host. hlo/feed.h has one that is a queue. It is called from the thread that calls
 * the module, in the order of the items, and may block. An error ends the call. */
typedef struct hlo_feed {
  uint32_t struct_size, reserved;
  void *user; /**< passed to both functions */
  /** Moves one item of n leaves, in order; leaf k has bytes[k] bytes at leaves[k], which an infeed
   * writes and an outfeed reads. `config` is the instruction's infeed_config or outfeed_config; for
   * a send or recv the channel in decimal. */
  hlo_status (*move)(void *user, const char *config, void *const *leaves, const uint64_t *bytes,
                     int32_t n);
  /** The same with types and a buffer for a message; if not null, called instead of `move`. */
  hlo_status (*move_item)(void *user, const hlo_feed_item *item);
} hlo_feed;

/** The data that one rank sends to another in an exchange, or the place for what it receives:
 * `count` runs of `bytes` bytes, run k at data + k * stride. */
typedef struct hlo_comm_part {
  void *data;
  uint64_t bytes;
  /** 0: no message. With bytes == 0 and count > 0: a message without data. */
  uint64_t count;
  uint64_t stride;
} hlo_comm_part;

/** One exchange, from the point of view of one member. */
typedef struct hlo_comm_step {
  uint32_t struct_size;
  int32_t num_members, self; /**< this rank is members[self] */
  uint32_t reads_follow;  /**< with shared_memory: members read and write each other's memory until
                             their next exchange, so that an error must not let one go before */
  const int32_t *members; /**< ranks, each once: replica * num_partitions + partition */
  /** Identifies the exchange: the same on all members, and different from the next exchange's tag.
   * Repeated when an instruction is executed again. */
  uint64_t tag;
  const char *opcode, *name, *module; /**< for messages */
  int64_t run_id;                     /**< of the call, as are the following */
  const int32_t *cancel;
  int64_t deadline_ns;
  char *message; /**< buffer for the error text; may be null */
  size_t message_bytes;
} hlo_comm_step;

struct hlo_comm_request;

/** Executes share `i` of a collective over ranks that share memory; members[m] is member m's
 * request. */
typedef void hlo_comm_share(const struct hlo_comm_request *const *members, int32_t i);

/** An exchange that one call begins and another one finishes. The request and all that it points to
 * belong to the caller, who keeps them unchanged until hlo_comm.finish or hlo_comm.leave returns.
 */
typedef struct hlo_comm_request {
  uint32_t struct_size;
  uint32_t parts;            /**< most messages between two members, in each direction */
  const hlo_comm_step *step; /**< reads_follow has no meaning */
  /** Message j to or from member m is entry m * parts + j; those of this rank to itself are not
   * read. */
  const hlo_comm_part *send, *receive;
  /** Null; or, with shared_memory, in place of all messages: once all members have begun, each
   * share 0 <= i < num_members is executed, once, by any thread of any member. */
  hlo_comm_share *share;
  void *data; /**< for `share` */
  /** Memory of the transport: HLO_COMM_WORK_BYTES(num_members, parts), aligned to 8. */
  void *work;
  uint64_t work_bytes;
} hlo_comm_request;

#define HLO_COMM_WORK_BYTES(members, parts) \
  (UINT64_C(256) + UINT64_C(16) * (members) + UINT64_C(16) * (members) * (parts))

/** This call's rank in a program that runs on several ranks at once, and its connection to the
 * others. All collectives are built from `exchange`. hlo/ranks.h provides one for threads,
 * hlo/comm_mpi.h one for processes; another transport needs only the first function. */
typedef struct hlo_comm {
  uint32_t struct_size;
  uint32_t shared_memory;               /**< 1: ranks can read each other's memory at its address */
  void *user;                           /**< passed to both functions */
  int32_t replica, partition;           /**< this rank's ids, from 0 */
  int32_t num_replicas, num_partitions; /**< >= 1 each */
  int64_t timeout_ns;                   /**< how long to wait for peers; 0 = for ever */
  /** Passes send[i] to member i and fills receive[i] with member i's data, for all i except self,
   * at once. Between two members the parts agree in `bytes` and `count`. Members may list different
   * sets of members; a member that is not listed has nothing to send. Returns when everything has
   * arrived and the memory of `send` may be changed. Messages between two ranks keep the order of
   * their exchanges. An error, including a peer that does not come within timeout_ns, is returned
   * on all ranks and by all further exchanges. */
  hlo_status (*exchange)(void *user, const hlo_comm_step *step, const hlo_comm_part *send,
                         const hlo_comm_part *receive);
  /** May be null. Called if this rank's call has failed, so that its peers need not wait for it. */
  void (*leave)(void *user, hlo_status status, const char *message);
  /** Both null: collectives in two parts are executed in their first part. Otherwise `leave` is not
   * null, and gives up what has begun: when it returns, no rank reads or writes that memory.
   *
   * `begin` starts an exchange and returns without waiting for other ranks; others may follow
   * before `finish` waits for its end, and exchange() may be called in between. All members begin
   * an exchange of the same tag; those of one tag are matched in the order in which they begin. */
  hlo_status (*begin)(void *user, hlo_comm_request *request);
  hlo_status (*finish)(void *user, hlo_comm_request *request);
} hlo_comm;

/** Accumulated cost of one operation; see hlo_call.profile. Operation 0 is the program itself: the
 * time between the other operations. */
typedef struct hlo_profile {
  uint64_t calls, ns, bytes;
  uint64_t ticks; /**< ticks so far, private to the runtime; zero before the first call */
} hlo_profile;

/** State that outlives a call: how far the rng-get-and-update-state instructions have advanced, 16
 * bytes each. hlo_module_desc.state_bytes bytes, aligned to 16, zero before the first call.
 * Successive calls share one; concurrent calls must not. */
typedef struct hlo_state hlo_state;

/** One call of a module. All pointers belong to the caller and stay valid during the call. All
 * fields except struct_size and abi may be zero. Made by hlo_call_init(). */
typedef struct hlo_call {
  uint32_t struct_size; /**< sizeof(hlo_call) */
  uint32_t abi;         /**< HLO_ABI */
  /** Scratch: at least hlo_arena_bytes(description, exec->num_threads or 1) bytes, of a module with
   * sizes hlo_sized_arena_bytes, aligned to arena_align (64); with less, the call returns
   * HLO_ERR_ARENA. The contents need no preparation
   * and mean nothing afterwards. Null: taken from `alloc`, if the module needs any. */
  void *arena;
  size_t arena_bytes;
  const hlo_allocator *alloc;
  const hlo_executor *exec; /**< null: the calling thread only */
  const hlo_custom_calls *custom_calls;
  const hlo_feed *infeed, *outfeed;
  const hlo_comm *comm; /**< null: one replica, one partition */
  hlo_state *state;
  /** Polled between operations and loop iterations: non-zero makes the call return HLO_CANCELLED
   * soon. Another thread or a signal handler may set it. */
  const int32_t *cancel;
  /** On CLOCK_MONOTONIC, in nanoseconds; the call returns HLO_DEADLINE soon after it. 0: none. */
  int64_t deadline_ns;
  /** `profile_count` entries at a distance of `profile_stride` bytes, one per operation of the
   * module; the call adds to them when it ends. Null: off. Concurrent calls need separate ones. */
  hlo_profile *profile;
  uint32_t profile_count, profile_stride;
  /** Seed of rng, whose numbers in a call depend only on it, and start of rng-get-and-update-state;
   * with 0, the start is XLA's. */
  uint64_t rng_seed;
  int64_t run_id; /**< passed on to custom calls and collectives */
  /** Buffer for error texts: `message_bytes` bytes including the final NUL; longer texts are cut.
   * Written only if an error is returned. */
  char *message;
  size_t message_bytes;
  const hlo_feed *host_send, *host_recv; /**< send and recv with is_host_transfer */
  /** The block that M_prepare wrote, for a module with prepared_bytes > 0. Only read: calls may
   * share it. */
  const void *prepared;
  size_t prepared_bytes;
  /** For a module with several CPU levels (hlo_module_desc.levels): 0: the highest level that this
   * CPU supports; k: the k-th level, counted from 1. Other modules ignore it. */
  int32_t cpu_level;
  int32_t reserved;
} hlo_call;

/** A call with default settings: one thread, no scratch. */
HLO_INLINE hlo_call hlo_call_init(void) {
#ifdef __cplusplus
  hlo_call call = hlo_call();
#else
  hlo_call call = {0};
#endif
  call.struct_size = (uint32_t)sizeof(hlo_call);
  call.abi = HLO_ABI;
  return call;
}

/** The same for languages that do not compile this header: zeroes the `struct_size` bytes of their
 * version of the struct and sets struct_size and abi. */
void hlo_call_clear(hlo_call *call, uint32_t struct_size);

/*===- What a module says of itself --------------------------------------------------*/

/** hlo_buffer_desc.size_dim of an array in a dense buffer. */
#define HLO_DENSE 1

/** One array leaf of the module's parameters or of its result; tuples are flattened depth first. */
typedef struct hlo_buffer_desc {
  const char *name;              /**< of the parameter, with the path in it: "state_0_w" */
  const int64_t *dims;           /**< `rank` logical dimensions; null for a scalar */
  const int64_t *minor_to_major; /**< `rank` dimension numbers, fastest varying first, or null */
  uint64_t bytes; /**< of the whole buffer: dense, elements in minor_to_major order */
  int32_t type;   /**< hlo_type */
  int32_t rank;
  uint32_t align; /**< least alignment: the element's; 64 is faster */
  /** For an output: the input whose buffer it may share; for an input: that output; -1: none. If
   * the caller passes one pointer for both, the input is overwritten and a copy is saved. With two
   * pointers the input is kept. No output may overlap any other buffer. */
  int32_t alias;
  /** Non-zero: not an array of the module but one int64_t, the true size of dimension `size_dim` of
   * leaf number `size_of - 1` of the same list, whose dims[size_dim] is a bound (`<=N` in HLO). The
   * array's buffer has the bounds' shape, unless it is dense. In an input, elements beyond the true
   * sizes are ignored, and a size outside of 0 .. N makes the call fail; in an output such elements
   * are unspecified. Size leaves come after all arrays. */
  int32_t size_of;
  /** Of an array: 0, or HLO_DENSE for one with bounded dimensions whose buffer is dense for the
   * true sizes of the call: a batch of 3 is 3 rows. `dims` and `bytes` remain those of the bounds.
   */
  int32_t size_dim;
  /** The element order in words: "row-major", "column-major: element (i,j) at j*rows+i", or a
   * formula such as "element (i,j,k) at (k*5+j)*3+i". Never null in a module's description. */
  const char *layout;
  /** How the array is split among the partitions: hlo/shard.h. `dims` and `bytes` are those of a
   * partition's shard. Null: every partition has the whole array. Not in modules of older
   * compilers: hlo_has_shardings(). */
  const struct hlo_sharding *sharding;
  /** The dimensions as the program computes them from its named sizes, "[b, 2*b + 1, 16]"; null if
   * it has no names for them. Of a size leaf itself: null. Not in modules of older compilers:
   * hlo_sizes_text(). hlo_input_dims() and hlo_output_dims() evaluate them. */
  const char *sizes;
} hlo_buffer_desc;

/** One operation, for profiles and messages. */
typedef struct hlo_op_desc {
  const char *name;        /**< HLO instruction; of several in a kernel the main or the last one */
  const char *kind;        /**< what it is: "dot", "loop", "copy", "all-reduce"; never null */
  const char *file;        /**< of the HLO text, without folders; null if it has no name */
  int32_t line, column;    /**< from 1; 0 unknown */
  const char *op_name;     /**< of the instruction's metadata, as the following; may be null */
  const char *source_file; /**< of the program that made the HLO text; may be null */
  int32_t source_line;     /**< from 1; 0 unknown */
  int32_t reserved;
  uint64_t flops, bytes; /**< of one execution: arithmetic, and read and written; 0 unknown */
} hlo_op_desc;

/** Bits of hlo_module_desc.needs. */
enum {
  HLO_NEEDS_INFEED = 1,
  HLO_NEEDS_OUTFEED = 2,
  HLO_NEEDS_COMM = 4, /**< collectives over more than one rank */
  HLO_NEEDS_STATE = 8,
  HLO_NEEDS_HOST_SEND = 16,
  HLO_NEEDS_HOST_RECV = 32
};

/** Bits of hlo_module_desc.input_use[i]: which functions read input i. */
enum {
  HLO_READ_BY_RUN = 1,     /**< M_run; without it the pointer may be null */
  HLO_READ_BY_PREPARE = 2, /**< M_prepare; the same */
  HLO_IMMUTABLE = 4 /**< named by --immutable-params: the same bytes in M_prepare and every M_run */
};

/** hlo_module_desc.arch: the instruction set of the code. */
enum { HLO_ARCH_X86_64 = 1, HLO_ARCH_AARCH64 = 2, HLO_ARCH_RISCV64 = 3 };

/** Bits of hlo_module_desc.fp_mode. 0: subnormals are kept, and results are rounded to nearest,
 * ties to even. In no mode does an operation trap. */
enum {
  HLO_FP_FLUSH_RESULTS = 1, /**< subnormal results become zero */
  HLO_FP_ZERO_INPUTS = 2,   /**< subnormal operands are treated as zero */
  HLO_FP_ROUND_DOWN = 4,
  HLO_FP_ROUND_UP = 8,
  HLO_FP_ROUND_TO_ZERO = 12,
  HLO_FP_ROUNDING = 12 /**< rounding mode bits */
};

/** The versions of a program for sizes of a call, and what each needs. */
typedef struct hlo_size_versions {
  uint32_t struct_size, num_versions;
  const uint64_t *arena_bytes;        /**< hlo_module_desc.arena_bytes of each version */
  const uint64_t *thread_arena_bytes; /**< hlo_module_desc.thread_arena_bytes of each version */
  /** Which version serves which sizes: `num_choices` choices, of which the first that fits is
   * taken. A choice is
   *   the number of its conditions, and for each: an input that is a size, and the value it has;
   *   the number of its classes of sizes, and for each: the number of its inputs, these inputs, the
   *     number of its intervals, the number of its limits, these limits, ascending.
   * A size above `i` of the limits of its class is in interval `i`; sizes of a class that differ
   * are in the last one. The versions of a choice follow those of the choices before it; the
   * interval of the last class counts fastest. */
  const int64_t *choices;
  uint32_t num_choices, reserved;
} hlo_size_versions;

/** Description of a module; static and read-only. Sufficient to call the module without its
 * header. */
typedef struct hlo_module_desc {
  uint32_t struct_size, abi;
  const char *name;             /**< prefix of the exported symbols */
  const char *compiler_version; /**< never null, as all strings here */
  const char *flags;            /**< of the compiler, for reports */
  const char *target;           /**< triple and CPU, for reports */
  const char *source_sha256;    /**< of the HLO text; may be empty */
  uint64_t signature;           /**< hash of the module, all names, types, layouts and aliases */
  uint64_t arena_bytes;         /**< scratch of one call on one thread; 0: none */
  uint64_t state_bytes;
  uint64_t cpu_features; /**< set of the architecture's features (hlo/cpu.h) that the code uses */
  uint32_t arch;         /**< HLO_ARCH_* */
  uint32_t fp_mode;      /**< set of HLO_FP_* that the code runs under */
  uint32_t arena_align;  /**< a power of two, at least 64 when arena_bytes > 0 */
  uint32_t needs;        /**< set of HLO_NEEDS_* */
  uint32_t num_inputs, num_outputs, num_ops;
  uint32_t buffer_stride;                  /**< of inputs and outputs */
  uint32_t op_stride;                      /**< of ops */
  uint32_t custom_call_stride;             /**< of custom_call_targets */
  const hlo_buffer_desc *inputs, *outputs; /**< hlo_input_at(), hlo_output_at(); null if empty */
  const hlo_op_desc *ops;                  /**< hlo_op_at(): op id -> operation; null if empty */
  const char *const *custom_calls; /**< targets that hlo_call must supply; null-ended, or null */
  /** The same targets with their api versions: `fn` is the function linked under the target's
   * name, or null. Use hlo_custom_call_target_at(). Ends with a null name; null if there are no
   * targets. */
  const hlo_custom_call *custom_call_targets;
  /** M_run_buffers: one pointer per leaf, in order. A leaf of 0 bytes may be null. */
  hlo_status (*run)(const hlo_call *call, const void *const *inputs, void *const *outputs);
  uint32_t num_replicas, num_partitions; /**< that the module was compiled for; >= 1 */
  /** For modules compiled with --immutable-params, else 0: the size of the block that M_prepare
   * writes and M_run reads as hlo_call.prepared; aligned to 64. Position-independent: it may be
   * stored and mapped again.
   */
  uint64_t prepared_bytes;
  uint64_t prepare_arena_bytes; /**< scratch of one call of M_prepare; arena_align applies */
  uint64_t prepared_id;         /**< differs between modules and between compilers */
  /** For each input a set of HLO_READ_BY_* and HLO_IMMUTABLE; null: M_run reads all. */
  const uint8_t *input_use;
  /** M_prepare_buffers, or null: fills the `bytes` bytes at `prepared` from the immutable inputs.
   * Of `call` it uses arena, exec, cancel, deadline_ns and message. */
  hlo_status (*prepare)(const hlo_call *call, const void *const *inputs, void *prepared,
                        size_t bytes);
  /** Additional arena bytes for each thread after the first, for M_run and for M_prepare: see
   * hlo_arena_bytes. Multiples of arena_align. */
  uint64_t thread_arena_bytes, prepare_thread_arena_bytes;
  /** Bound on the stack of a call below its caller's frame, and on each thread of `exec` below the
   * frame of parallel_for. Includes all functions of the object and of the runtime, but not the
   * caller's functions (exec, alloc, feeds, comm) or custom calls. 0: unknown. */
  uint64_t stack_bytes;
  /** For an object compiled for several CPU levels, else 0 and null: the description of the module
   * at each level, from the least to the most. Each is complete, and its `run` executes that level.
   * The object's own description then has the greatest arena_bytes, stack_bytes, prepared_bytes and
   * so on of them, the cpu_features of the least, and no ops: the rows of a profile are those of
   * hlo_level(). */
  uint32_t num_levels;
  uint32_t level_number; /**< of one of these levels: its place among them, from 1; else 0 */
  const struct hlo_module_desc *const *levels;
  const char *level_name; /**< of one of these levels: as it was asked for; else null */
  /** What a call needs of the scratch memory, of which arena_bytes is the most, if that depends on
   * its sizes; else null. Not in descriptions of modules without sizes: hlo_sized_arena_bytes(). */
  const hlo_size_versions *size_versions;
} hlo_module_desc;

/** Input `i` of a module. */
HLO_INLINE const hlo_buffer_desc *hlo_input_at(const hlo_module_desc *desc, uint32_t i) {
  return (const hlo_buffer_desc *)hlo_element_at(desc->inputs, desc->buffer_stride, i);
}
/** Output `i` of a module. */
HLO_INLINE const hlo_buffer_desc *hlo_output_at(const hlo_module_desc *desc, uint32_t i) {
  return (const hlo_buffer_desc *)hlo_element_at(desc->outputs, desc->buffer_stride, i);
}

/** True if the leaf is an array in a dense buffer. */
HLO_INLINE int hlo_is_dense(const hlo_buffer_desc *leaf) {
  return leaf->size_of == 0 && leaf->size_dim == HLO_DENSE;
}
/** hlo_buffer_desc.sizes of a leaf of the module. */
HLO_INLINE const char *hlo_sizes_text(const hlo_module_desc *desc, const hlo_buffer_desc *leaf) {
  return desc->buffer_stride >= offsetof(hlo_buffer_desc, sizes) + sizeof(char *) ? leaf->sizes
                                                                                  : (const char *)0;
}
/** Operation `i` of a module. */
HLO_INLINE const hlo_op_desc *hlo_op_at(const hlo_module_desc *desc, uint32_t i) {
  return (const hlo_op_desc *)hlo_element_at(desc->ops, desc->op_stride, i);
}
/** Entry `i` of desc->custom_call_targets, which must not be null. */
HLO_INLINE const hlo_custom_call *hlo_custom_call_target_at(const hlo_module_desc *desc,
                                                            uint32_t i) {
  return (const hlo_custom_call *)hlo_element_at(desc->custom_call_targets,
                                                 desc->custom_call_stride, i);
}
/** The type of leaf `i` of an item. */
HLO_INLINE const hlo_buffer_desc *hlo_feed_leaf_at(const hlo_feed_item *item, uint32_t i) {
  return (const hlo_buffer_desc *)hlo_element_at(item->types, item->type_stride, i);
}
/** Arena bytes for a call of M_run with an executor of `threads` threads (0 and 1: without
 * executor); UINT64_MAX if that exceeds 64 bits. */
uint64_t hlo_arena_bytes(const hlo_module_desc *desc, uint32_t threads);
/** The same for a call with these sizes: those of the inputs that are sizes, in their order. Sizes
 * outside of 0 to their bound count as the nearest one inside. */
uint64_t hlo_sized_arena_bytes(const hlo_module_desc *desc, uint32_t threads, const int64_t *sizes);
/** Number of the inputs that are sizes; they are the last ones. */
uint32_t hlo_num_sizes(const hlo_module_desc *desc);
/** The sizes of the dimensions of an input in a call with these sizes (see above): its
 * hlo_buffer_desc.dims without bounds. Writes `rank` numbers. */
void hlo_input_dims(const hlo_module_desc *desc, uint32_t input, const int64_t *sizes,
                    int64_t *dims);
/** The same for an output, before the call. Returns 0 if the sizes are known after the call only,
 * and leaves bounds in their place; else 1. */
int hlo_output_dims(const hlo_module_desc *desc, uint32_t output, const int64_t *sizes,
                    int64_t *dims);
/** hlo_arena_bytes for M_prepare. */
uint64_t hlo_prepare_arena_bytes(const hlo_module_desc *desc, uint32_t threads);

/** The description of the level at which `call` (null: a default call) would run here; `desc`
 * itself if the module has no levels. Null if the CPU supports none of them or not the one asked
 * for, or if there is none of that number: then a message is written to the call. */
const hlo_module_desc *hlo_level(const hlo_module_desc *desc, const hlo_call *call);

/** Checks every condition that would make `call` fail before the first operation: missing CPU
 * features, arena too small, missing feeds, comm, custom calls. Lists all violations in `message`
 * (cut at message_bytes; may be null), separated by "; ". Returns the status of the first. */
HLO_NODISCARD hlo_status hlo_check(const hlo_module_desc *desc, const hlo_call *call, char *message,
                                   size_t message_bytes);

/*===- Calls that are checked -------------------------------------------------------*/

/** A buffer and the facts that the caller knows about it. */
typedef struct hlo_view {
  uint32_t struct_size; /**< sizeof(hlo_view); of an array, the same in all its elements */
  int32_t type;         /**< hlo_type; HLO_INVALID_TYPE: not stated */
  void *data;           /**< of an input only read, unless an output that may share it does */
  uint64_t bytes;       /**< available bytes; at least the leaf's */
  /** `rank` sizes; null: not stated. Of an array in a dense buffer those of the call, else those of
   * the leaf. */
  const int64_t *dims;
  const int64_t *minor_to_major; /**< `rank` dimension numbers; null: not stated */
  int32_t rank;                  /**< read only if dims or minor_to_major is not null */
  int32_t reserved;
} hlo_view;

/** desc->run with buffers of known size: the right entry for bindings and tools. Before anything
 * runs it checks that
 * - there is one view per leaf;
 * - each has the bytes that the leaf needs (with bounded dimensions, those of the bound; in a dense
 *   buffer, those of the sizes of the call, as far as they are known before it), and is not null
 *   unless that is 0;
 * - type, shape and layout are the leaf's, as far as the view states them;
 * - no output shares memory with another buffer, the arena, the state or the prepared block, unless
 *   it is
 *   exactly the buffer of the input that it may share (hlo_buffer_desc.alias).
 *
 * Inputs that M_run does not read are skipped. The message names the buffer, what it needs and what
 * was given. Modules of more than 64 leaves need 32 bytes per leaf, from call->alloc or else from
 * the heap. */
HLO_NODISCARD hlo_status hlo_run_checked(const hlo_module_desc *desc, const hlo_call *call,
                                         const hlo_view *inputs, uint32_t num_inputs,
                                         const hlo_view *outputs, uint32_t num_outputs);

/** The same for desc->prepare. */
HLO_NODISCARD hlo_status hlo_prepare_checked(const hlo_module_desc *desc, const hlo_call *call,
                                             const hlo_view *inputs, uint32_t num_inputs,
                                             void *prepared, size_t bytes);

/** For M_run: `given`, the signature in the caller's args, differs from the object's. Writes the
 * message and returns HLO_ERR_SIGNATURE. */
hlo_status hlo_bad_signature(const hlo_call *call, const hlo_module_desc *desc, uint64_t given);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_RT_H */
