/*===- collective.h - One collective in progress --------------------------------===*\
 *
 * What the algorithms share: who takes part, and how bytes pass between them. All
 * of it lives on the stack of the thread that calls the module, or, with many ranks,
 * in the scratch memory that nothing else uses meanwhile.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_COLLECTIVES_COLLECTIVE_H
#define RUNTIME_COLLECTIVES_COLLECTIVE_H

#include <hlo/generated.h>

/** The most ranks that a program may run on. */
#define HLO_MOST_RANKS 1024

/** Where operand and result of a member are. */
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
  int32_t n, self;               /* how many; which of them this rank is, -1: none */
  hlo_comm_part *send, *receive; /* n of each, for exchange() */
  Place *places;                 /* of some operands on all members, most_places */
  Place *own;                    /* of the same operands here */
  void *work;                    /* 32 bytes for each member, aligned to 8 */
  uint32_t most_places;          /* of one member: operands of which one exchange tells */
  uint64_t tag;                  /* of the next exchange */
  uint32_t reads_follow;         /* that exchange passes addresses */
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
/** Copies the runs of one part to those of the other; does nothing where both are at one place. */
void hlo_copy_part(const hlo_comm_part *to, const hlo_comm_part *from);
/** Forgets all parts. */
void hlo_clear_parts(Collective *c);
/** Sends send[i] to member i and receives receive[i] from it, all at once; what a rank has for
 * itself is copied. */
hlo_status hlo_exchange(Collective *c);

/** Fails the call with "opcode %name: " and the text. */
hlo_status hlo_collective_fail(Collective *c, hlo_status code, const char *text);

/* One for each family, see the file of that name. */
hlo_status hlo_all_reduce(Collective *c);
hlo_status hlo_reduce_scatter(Collective *c, uint32_t i);
hlo_status hlo_all_gather(Collective *c, uint32_t i);
hlo_status hlo_all_to_all(Collective *c);
hlo_status hlo_ragged_all_to_all(Collective *c);
hlo_status hlo_collective_broadcast(Collective *c);
/** `target` and `source` are numbers of members; -1: none. */
hlo_status hlo_collective_permute(Collective *c, int32_t target, int32_t source);

#endif
