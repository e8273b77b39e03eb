/*===- collective.h - One collective in progress --------------------------------===*\
 *
 * Shared by the algorithms: the participating ranks, and how bytes pass between them. All of it is
 * on the stack of the thread that calls the module or, with many ranks, in scratch memory that
 * nothing else uses at that time.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_COLLECTIVES_COLLECTIVE_H
#define RUNTIME_COLLECTIVES_COLLECTIVE_H

#include <hlo/generated.h>

/** Most ranks of a program. */
#define HLO_MOST_RANKS 1024

/** Addresses of a member's operand and result. */
typedef struct Place {
  const char *operand;
  char *result;
} Place;

typedef struct Collective {
  hlo_frame *frame;
  const hlo_rt_collective *desc;
  const hlo_comm *comm; /* null: one rank */
  void *const *buffers;
  int32_t *members;              /* ranks, in the order of the group */
  int32_t n, self;               /* number of members; this rank's index among them, -1: none */
  int32_t target, source;        /* of a permutation: member numbers; -1: none */
  hlo_comm_part *send, *receive; /* n of each, for exchange() */
  Place *places;        /* places of some operands on all members, most_places per member */
  Place *own;           /* places of the same operands on this rank */
  void *work;           /* 32 bytes for each member, aligned to 8 */
  uint32_t most_places; /* number of operands whose places one exchange passes */
  uint64_t tag;         /* of the next exchange */
  char *scratch;        /* of a reduction over messages */
  uint64_t scratch_bytes;
  uint32_t reads_follow; /* that exchange passes addresses */
  /* Null; or exchanges are not executed but become messages 0, 1, ... of this request, whose parts
   * are written to `begun_send` and `begun_receive`. */
  hlo_comm_request *request;
  hlo_comm_part *begun_send, *begun_receive;
  uint32_t begun; /* number of them so far */
} Collective;

/** Bytes on the stack: tables for 16 ranks, with room for the places of some operands. */
#define HLO_STACK_TABLE_BYTES (HLO_COLLECTIVE_STACK_RANKS * 128 + 4096)

/** Of a Collective with frame, desc and buffers: finds its ranks, and lays out its tables in
 * `bytes` bytes of memory or, if that is too little, in the frame's scratch memory. */
hlo_status hlo_prepare_collective(Collective *c, char *memory, uint64_t bytes);
/** Runs a prepared collective. */
hlo_status hlo_run_group(Collective *c);
/** The description of the next exchange. */
hlo_comm_step hlo_next_step(Collective *c);
/** Writes the parts of send[] and receive[] to the request. */
void hlo_note_exchange(Collective *c);

/** Data of operand or result `i`. */
static inline char *operand_of(const Collective *c, uint32_t i) { return c->buffers[i]; }
static inline char *result_of(const Collective *c, uint32_t i) {
  return c->buffers[c->desc->op.num_operands + i];
}
static inline const hlo_buffer_desc *operand_type(const Collective *c, uint32_t i) {
  return hlo_rt_op_buffer_at(&c->desc->op, i);
}
static inline const hlo_buffer_desc *result_type(const Collective *c, uint32_t i) {
  return hlo_rt_op_buffer_at(&c->desc->op, c->desc->op.num_operands + i);
}

/** `count` runs of `bytes` bytes each, `stride` bytes apart. */
hlo_comm_part hlo_part(const void *data, uint64_t bytes, uint64_t count, uint64_t stride);
/** Copies the runs of one part to those of the other; does nothing if both are at one address. */
void hlo_copy_part(const hlo_comm_part *to, const hlo_comm_part *from);
/** Clears all parts. */
void hlo_clear_parts(Collective *c);
/** Sends send[i] to member i and receives receive[i] from it, for all members at once; a rank's
 * part for itself is copied. */
hlo_status hlo_exchange(Collective *c);

/** Fails the call with "opcode %name: " and the text. */
hlo_status hlo_collective_fail(Collective *c, hlo_status code, const char *text);

/* One function per family, in the file of that name. */
hlo_status hlo_all_reduce(Collective *c);
/** Executes share `i` of an all-reduce or reduce-scatter over shared memory: hlo_comm_share, with
 * collectives as the requests' data. */
void hlo_reduce_share(const hlo_comm_request *const *members, int32_t i);
/** Whether the types of operand and result `i` of a reduce-scatter fit the group. */
hlo_status hlo_check_scatter(Collective *c, uint32_t i);
/** Exchanges what the scratch memory has room for of an all-reduce or reduce-scatter over messages;
 * false if it is too little for a reduce-scatter, of which nothing is left to finish. */
int hlo_begin_reduction(Collective *c);
/** Reduces what has arrived since, and executes the rest. */
hlo_status hlo_finish_reduction(Collective *c);
hlo_status hlo_reduce_scatter(Collective *c, uint32_t i);
hlo_status hlo_all_gather(Collective *c, uint32_t i);
hlo_status hlo_all_to_all(Collective *c);
hlo_status hlo_ragged_all_to_all(Collective *c);
hlo_status hlo_collective_broadcast(Collective *c);
/** `target` and `source` are member numbers; -1: none. */
hlo_status hlo_collective_permute(Collective *c, int32_t target, int32_t source);

#endif
