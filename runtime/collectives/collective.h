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
  hlo_comm_part *send, *receive; /* n of each, for exchange() */
  Place *places;         /* places of some operands on all members, most_places per member */
  Place *own;            /* places of the same operands on this rank */
  void *work;            /* 32 bytes for each member, aligned to 8 */
  uint32_t most_places;  /* number of operands whose places one exchange passes */
  uint64_t tag;          /* of the next exchange */
  uint32_t reads_follow; /* that exchange passes addresses */
} Collective;

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
hlo_status hlo_reduce_scatter(Collective *c, uint32_t i);
hlo_status hlo_all_gather(Collective *c, uint32_t i);
hlo_status hlo_all_to_all(Collective *c);
hlo_status hlo_ragged_all_to_all(Collective *c);
hlo_status hlo_collective_broadcast(Collective *c);
/** `target` and `source` are member numbers; -1: none. */
hlo_status hlo_collective_permute(Collective *c, int32_t target, int32_t source);

#endif
