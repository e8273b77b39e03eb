/*===- async.c - Collectives in two parts --------------------------------------------===*\
 *
 * hlo_rt_collective_start begins an exchange (hlo_comm.begin), hlo_rt_collective_done finishes it.
 * What both need is in the collective's scratch memory:
 *
 *   State, addresses of the buffers, tables, the request's parts, the transport's memory, and for a
 *   reduction over messages the memory that receives operands
 *
 * Moving data is one exchange of a message per operand and member. A reduction over shared memory
 * has a share for each member. Over messages it exchanges operands at the start; the reduction and
 * the exchange of results happen at the end.
 *
 * All is done at the start if there is nothing to wait for (one member) or the two parts are not
 * possible: a transport without `begin`, ragged-all-to-all, slices, a root known at run time, and
 * more than HLO_COLLECTIVE_MOST_PARTS messages.
 *
 *===-------------------------------------------------------------------------===*/
#include <string.h>

#include "collective.h"
#include "runtime/core/fields.h"

typedef struct State {
  uint32_t begun; /* 0: the collective is complete already */
  int messages;   /* of a reduction: something is left to do at the end */
  Collective c;
  hlo_comm_step step;
  hlo_comm_request request;
} State;

/* Takes `bytes` bytes, aligned to 64, of the memory at *at; null if they do not fit. */
static char *take(char **at, uint64_t *left, uint64_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (bytes > *left) {
    return NULL;
  }
  char *taken = *at;
  *at += bytes;
  *left -= bytes;
  return taken;
}

static int has_two_parts(const Collective *c) {
  const hlo_rt_collective *desc = c->desc;
  return c->n > 1 && c->self >= 0 && HLO_HAS_FIELD(c->comm, finish) && c->comm->begin != NULL &&
         c->comm->finish != NULL && c->comm->leave != NULL && desc->kind != HLO_RAGGED_ALL_TO_ALL &&
         desc->num_slices == 0 && !desc->dynamic_root;
}

static int is_reduction(const Collective *c) {
  return c->desc->kind == HLO_ALL_REDUCE || c->desc->kind == HLO_REDUCE_SCATTER;
}

void hlo_note_exchange(Collective *c) {
  for (uint32_t m = 0; m < (uint32_t)c->n; ++m) {
    const uint32_t at = m * c->request->parts + c->begun;
    c->begun_send[at] = c->send[m];
    c->begun_receive[at] = c->receive[m];
  }
  ++c->begun;
}

/* Moves what the collective needs until its end to the scratch memory, and lays out the request.
 * Returns whether there is room. */
static int lay_out(State *state, char *at, uint64_t left, int shares) {
  Collective *c = &state->c;
  const uint64_t n = (uint64_t)c->n;
  const uint64_t buffers = c->desc->op.num_operands + c->desc->op.num_results;
  const uint32_t parts = shares ? 0 : c->desc->kind == HLO_ALL_TO_ALL ? 1 : c->desc->op.num_results;
  const uint64_t entries = n * parts;
  char *addresses = take(&at, &left, buffers * sizeof(void *));
  char *members = take(&at, &left, n * sizeof(int32_t));
  char *places = take(&at, &left, shares ? n * (sizeof(Place) + sizeof(char *)) : 0);
  char *send = take(&at, &left, entries * sizeof(hlo_comm_part));
  char *receive = take(&at, &left, entries * sizeof(hlo_comm_part));
  const uint64_t work_bytes = HLO_COMM_WORK_BYTES(n, parts);
  char *work = take(&at, &left, work_bytes);
  if (!addresses || !members || !places || !send || !receive || !work ||
      entries > HLO_COLLECTIVE_MOST_PARTS) {
    return 0;
  }
  memcpy(addresses, c->buffers, buffers * sizeof(void *));
  memcpy(members, c->members, n * sizeof(int32_t));
  c->buffers = (void *const *)(void *)addresses;
  c->members = (int32_t *)(void *)members;
  c->scratch = at;
  c->scratch_bytes = left;
  if (shares) {
    c->places = (Place *)(void *)places;
    c->work = places + n * sizeof(Place);
  }
  memset(send, 0, entries * sizeof(hlo_comm_part));
  memset(receive, 0, entries * sizeof(hlo_comm_part));
  c->begun_send = (hlo_comm_part *)(void *)send;
  c->begun_receive = (hlo_comm_part *)(void *)receive;
  state->request = (hlo_comm_request){.struct_size = sizeof state->request,
                                      .parts = parts,
                                      .step = &state->step,
                                      .send = c->begun_send,
                                      .receive = c->begun_receive,
                                      .share = shares ? hlo_reduce_share : NULL,
                                      .data = c,
                                      .work = work,
                                      .work_bytes = work_bytes};
  return 1;
}

/* Notes the messages of the first part. *possible: whether they are all, or the rest is known. */
static hlo_status note_messages(Collective *c, int *possible) {
  *possible = 1;
  if (is_reduction(c)) {
    *possible = hlo_begin_reduction(c);
    return HLO_OK;
  }
  return hlo_run_group(c);
}

static hlo_status begin(State *state, char *memory, uint64_t bytes) {
  Collective *c = &state->c;
  const int shares = is_reduction(c) && c->comm->shared_memory;
  if (c->desc->kind == HLO_REDUCE_SCATTER) {
    for (uint32_t i = 0; i < c->desc->op.num_results; ++i) {
      const hlo_status status = hlo_check_scatter(c, i);
      if (status != HLO_OK) {
        return status;
      }
    }
  }
  Collective whole = *c; /* as it was, if it has to run at once */
  int possible = lay_out(state, memory, bytes, shares);
  hlo_status status = HLO_OK;
  if (possible && !shares) {
    c->request = &state->request;
    status = note_messages(c, &possible);
    c->request = NULL;
  }
  if (status != HLO_OK) {
    return status;
  }
  if (!possible) {
    /* Its scratch memory, which the state is a part of, is no longer the state's. */
    status = hlo_run_group(&whole);
    state->begun = 0;
    return status;
  }
  state->messages = is_reduction(c) && !shares;
  state->step = hlo_next_step(c);
  state->begun = 1;
  status = c->comm->begin(c->comm->user, &state->request);
  /* The tables were on the stack. */
  c->send = c->receive = NULL;
  return status;
}

hlo_status hlo_rt_collective_start(hlo_frame *frame, const hlo_rt_collective *desc,
                                   void *const *buffers) {
  Collective c = {.frame = frame, .desc = desc, .buffers = buffers};
  _Alignas(64) char memory[HLO_STACK_TABLE_BYTES];
  hlo_status status = hlo_prepare_collective(&c, memory, sizeof memory);
  if (status != HLO_OK) {
    return status;
  }
  char *at = c.scratch;
  uint64_t left = c.scratch_bytes;
  State *state = (State *)(void *)take(&at, &left, sizeof(State));
  if (state == NULL) {
    return hlo_collective_fail(&c, HLO_INVALID_ARGUMENT, "too little scratch memory");
  }
  /* A collective that runs at once may use the memory behind the state. */
  c.scratch = at;
  c.scratch_bytes = left;
  if (!has_two_parts(&c)) {
    status = hlo_run_group(&c);
    state->begun = 0;
    return status;
  }
  *state = (State){.c = c};
  return begin(state, at, left);
}

hlo_status hlo_rt_collective_done(hlo_frame *frame, const hlo_rt_op *desc, void *const *buffers) {
  State *state = buffers[desc->num_operands + desc->num_results];
  Collective *c = &state->c;
  (void)frame;
  if (!state->begun) {
    return HLO_OK;
  }
  state->begun = 0;
  const hlo_status status = c->comm->finish(c->comm->user, &state->request);
  if (status != HLO_OK || !state->messages) {
    return status;
  }
  _Alignas(64) char memory[HLO_STACK_TABLE_BYTES];
  Collective rest = {.frame = c->frame, .desc = c->desc, .buffers = c->buffers};
  const hlo_status prepared = hlo_prepare_collective(&rest, memory, sizeof memory);
  if (prepared != HLO_OK) {
    return prepared;
  }
  rest.scratch = c->scratch;
  rest.scratch_bytes = c->scratch_bytes;
  rest.tag = c->tag;
  return hlo_finish_reduction(&rest);
}
