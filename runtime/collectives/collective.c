/*===- collective.c - Operations over several ranks ------------------------------===*\
 *
 * In: the description of a collective (hlo/generated.h) and the ranks of the call's hlo_comm. Finds
 * the participating ranks, in the order of the text, and runs the algorithm. A call without an
 * hlo_comm is one replica of one partition.
 *
 * All algorithms consist of exchanges (hlo/rt.h). Each exchange has a tag made of the instruction's
 * name and a count, the same on all ranks, so that a transport can detect ranks at different
 * instructions.
 *
 *===-------------------------------------------------------------------------===*/
#include "collective.h"

#include <string.h>

#include "runtime/core/fields.h"
#include "runtime/core/text.h"

hlo_comm_part hlo_part(const void *data, uint64_t bytes, uint64_t count, uint64_t stride) {
  hlo_comm_part part = {(void *)data, bytes, count, stride};
  return part;
}

/* Copies runs of `bytes` bytes. Inlined for a constant, a run is a load and a store and no call. */
static inline __attribute__((always_inline)) void copy_runs(char *out, const char *in,
                                                            const hlo_comm_part *to,
                                                            const hlo_comm_part *from,
                                                            uint64_t bytes) {
  for (uint64_t i = 0; i < from->count; ++i) {
    memmove(out, in, bytes);
    out += to->stride;
    in += from->stride;
  }
}

void hlo_copy_part(const hlo_comm_part *to, const hlo_comm_part *from) {
  if ((to->data == from->data && to->stride == from->stride) || from->bytes == 0) {
    return;
  }
  const uint64_t bytes = from->bytes;
  if (from->count > 1 && to->stride == bytes && from->stride == bytes) {
    memmove(to->data, from->data, bytes * from->count);
    return;
  }
  switch (bytes) {
    case 1:
      copy_runs(to->data, from->data, to, from, 1);
      break;
    case 2:
      copy_runs(to->data, from->data, to, from, 2);
      break;
    case 4:
      copy_runs(to->data, from->data, to, from, 4);
      break;
    case 8:
      copy_runs(to->data, from->data, to, from, 8);
      break;
    case 16:
      copy_runs(to->data, from->data, to, from, 16);
      break;
    default:
      copy_runs(to->data, from->data, to, from, bytes);
  }
}

void hlo_clear_parts(Collective *c) {
  memset(c->send, 0, sizeof(hlo_comm_part) * (size_t)c->n);
  memset(c->receive, 0, sizeof(hlo_comm_part) * (size_t)c->n);
}

hlo_status hlo_collective_fail(Collective *c, hlo_status code, const char *what) {
  hlo_text text = hlo_text_of_call(c->frame->call);
  hlo_text_add(&text, c->frame->desc->name);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, c->desc->op.opcode);
  hlo_text_add(&text, " %");
  hlo_text_add(&text, c->desc->op.name);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, what);
  return code;
}

hlo_comm_step hlo_next_step(Collective *c) {
  const hlo_call *call = c->frame->call;
  const hlo_comm_step step = {.struct_size = sizeof step,
                              .num_members = c->n,
                              .self = c->self,
                              .reads_follow = c->reads_follow,
                              .members = c->members,
                              .tag = c->tag++,
                              .opcode = c->desc->op.opcode,
                              .name = c->desc->op.name,
                              .module = c->frame->desc->name,
                              .run_id = HLO_FIELD(call, run_id),
                              .cancel = HLO_FIELD(call, cancel),
                              .deadline_ns = HLO_FIELD(call, deadline_ns),
                              .message = HLO_FIELD(call, message),
                              .message_bytes = HLO_FIELD(call, message_bytes)};
  return step;
}

hlo_status hlo_exchange(Collective *c) {
  if (c->self >= 0 && c->receive[c->self].count > 0) {
    hlo_copy_part(&c->receive[c->self], &c->send[c->self]);
  }
  if (c->n <= 1) {
    return HLO_OK;
  }
  if (c->request != NULL) {
    hlo_note_exchange(c);
    return HLO_OK;
  }
  if (!HLO_HAS_FIELD(c->comm, exchange) || c->comm->exchange == NULL) {
    return hlo_collective_fail(c, HLO_ERR_MISSING, "hlo_comm has no exchange");
  }
  const hlo_comm_step step = hlo_next_step(c);
  if (step.message_bytes > 0 && step.message != NULL) {
    step.message[0] = 0;
  }
  c->reads_follow = 0;
  const hlo_status status = c->comm->exchange(c->comm->user, &step, c->send, c->receive);
  if (status != HLO_OK && (step.message == NULL || step.message_bytes == 0 || !step.message[0])) {
    return hlo_collective_fail(c, status, "the exchange failed");
  }
  return status;
}

/* Writes the ranks that a group's number `id` stands for; returns how many, 0 for an invalid
 * number. */
static int32_t ranks_of(const hlo_comm *comm, int32_t mode, int64_t id, int32_t *ranks) {
  const int32_t partitions = comm->num_partitions;
  const int32_t limit = mode == HLO_GROUPS_OF_RANKS        ? comm->num_replicas * partitions
                        : mode == HLO_GROUPS_OF_PARTITIONS ? partitions
                                                           : comm->num_replicas;
  if (id < 0 || id >= limit) {
    return 0;
  }
  switch (mode) {
    case HLO_GROUPS_OF_REPLICAS:
      ranks[0] = (int32_t)id * partitions + comm->partition;
      return 1;
    case HLO_GROUPS_OF_PARTITIONS:
      ranks[0] = comm->replica * partitions + (int32_t)id;
      return 1;
    case HLO_GROUPS_OF_RANKS:
      ranks[0] = (int32_t)id;
      return 1;
    default:
      for (int32_t p = 0; p < partitions; ++p) {
        ranks[p] = (int32_t)id * partitions + p;
      }
      return partitions;
  }
}

/* Fills in the members of the group `ids`; -1 if it names ranks that do not exist, or more than
 * `total`. */
static int32_t fill_members(Collective *c, const int64_t *ids, int64_t count, int32_t total) {
  int32_t n = 0;
  const int32_t per =
      c->desc->mode == HLO_GROUPS_OF_REPLICAS_AND_PARTITIONS ? c->comm->num_partitions : 1;
  for (int64_t i = 0; i < count; ++i) {
    if (n + per > total) {
      return -1;
    }
    const int32_t added = ranks_of(c->comm, c->desc->mode, ids ? ids[i] : i, c->members + n);
    if (added == 0) {
      return -1;
    }
    n += added;
  }
  return n;
}

static int32_t index_of(const int32_t *list, int32_t n, int32_t value) {
  for (int32_t i = 0; i < n; ++i) {
    if (list[i] == value) {
      return i;
    }
  }
  return -1;
}

/* Finds this rank's group; n is 0 if it is in none. */
static hlo_status find_group(Collective *c, int32_t rank, int32_t total) {
  const hlo_comm *comm = c->comm;
  if (c->desc->num_groups == 0) {
    const int64_t all = c->desc->mode == HLO_GROUPS_OF_RANKS        ? total
                        : c->desc->mode == HLO_GROUPS_OF_PARTITIONS ? comm->num_partitions
                                                                    : comm->num_replicas;
    c->n = fill_members(c, NULL, all, total);
    c->self = index_of(c->members, c->n, rank);
    return HLO_OK;
  }
  const int64_t *group = c->desc->groups;
  for (uint32_t g = 0; g < c->desc->num_groups; ++g, group += group[0] + 1) {
    const int32_t n = fill_members(c, group + 1, group[0], total);
    if (n < 0) {
      return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                                 "a group names a replica or partition that hlo_comm has not");
    }
    c->self = index_of(c->members, n, rank);
    if (c->self >= 0) {
      c->n = n;
      return HLO_OK;
    }
  }
  c->n = 0;
  return HLO_OK;
}

/* For a permutation: the members are this rank, its target and its source, without repetition. */
static void find_permute(Collective *c, int32_t rank) {
  const int64_t own = c->desc->mode == HLO_GROUPS_OF_PARTITIONS ? c->comm->partition
                      : c->desc->mode == HLO_GROUPS_OF_REPLICAS ? c->comm->replica
                                                                : rank;
  int32_t target = -1, source = -1;
  const int64_t *pair = c->desc->groups;
  for (uint32_t g = 0; g < c->desc->num_groups; ++g, pair += pair[0] + 1) {
    int32_t *peer = pair[1] == own ? &target : NULL;
    int32_t found = -1;
    if (peer != NULL && ranks_of(c->comm, c->desc->mode, pair[2], &found) == 1) {
      target = found;
    }
    if (pair[2] == own && ranks_of(c->comm, c->desc->mode, pair[1], &found) == 1) {
      source = found;
    }
  }
  c->members[0] = rank;
  c->n = 1;
  c->self = 0;
  const int32_t wanted[2] = {target, source};
  int32_t *numbers[2] = {&c->target, &c->source};
  for (int i = 0; i < 2; ++i) {
    *numbers[i] = wanted[i] < 0 ? -1 : index_of(c->members, c->n, wanted[i]);
    if (wanted[i] >= 0 && *numbers[i] < 0) {
      *numbers[i] = c->n;
      c->members[c->n++] = wanted[i];
    }
  }
}

hlo_status hlo_run_group(Collective *c) {
  hlo_status status = HLO_OK;
  switch (c->desc->kind) {
    case HLO_COLLECTIVE_PERMUTE:
      return hlo_collective_permute(c, c->target, c->source);
    case HLO_COLLECTIVE_BROADCAST:
      return hlo_collective_broadcast(c);
    case HLO_ALL_REDUCE:
      return hlo_all_reduce(c);
    case HLO_ALL_GATHER:
    case HLO_REDUCE_SCATTER:
      for (uint32_t i = 0; i < c->desc->op.num_results && status == HLO_OK; ++i) {
        status = c->desc->kind == HLO_ALL_GATHER ? hlo_all_gather(c, i) : hlo_reduce_scatter(c, i);
      }
      return status;
    case HLO_ALL_TO_ALL:
      return hlo_all_to_all(c);
    case HLO_RAGGED_ALL_TO_ALL:
      return hlo_ragged_all_to_all(c);
    default:
      return hlo_collective_fail(c, HLO_UNIMPLEMENTED, "unknown to this runtime");
  }
}

/* FNV-1a hash of the instruction's name and opcode; the low bits count its exchanges. */
static uint64_t first_tag(const hlo_rt_op *op) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *text = op->opcode; *text; ++text) {
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  }
  for (const char *text = op->name; *text; ++text) {
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  }
  return hash << 20;
}

/* Bytes of the tables per rank: its number, the parts it sends and receives, a member's places,
 * work. */
#define TABLE_BYTES_PER_RANK (8 + 2 * sizeof(hlo_comm_part) + sizeof(Place) + 32)
_Static_assert(TABLE_BYTES_PER_RANK <= 128, "HLO_COLLECTIVE_SCRATCH_BYTES");
/* Lays out the tables for `total` ranks in `bytes` bytes of memory; 0 if that is too small. */
static int make_tables(Collective *c, char *memory, uint64_t bytes, int64_t total) {
  const uint64_t n = total < 4 ? 4 : (uint64_t)total; /* a permutation may name three ranks */
  if (bytes < n * TABLE_BYTES_PER_RANK + sizeof(Place)) {
    return 0;
  }
  c->send = (hlo_comm_part *)(void *)memory;
  c->receive = c->send + n;
  c->work = c->receive + n;
  c->own = (Place *)(void *)((char *)c->work + 32 * n);
  /* Each further operand needs its place here and on all members. */
  const uint64_t fixed = n * (TABLE_BYTES_PER_RANK - sizeof(Place));
  c->most_places = (uint32_t)((bytes - fixed) / ((n + 1) * sizeof(Place)));
  c->places = c->own + c->most_places;
  c->members = (int32_t *)(void *)(c->places + c->most_places * n);
  return 1;
}

hlo_status hlo_prepare_collective(Collective *c, char *memory, uint64_t bytes) {
  static const hlo_comm alone = {
      .struct_size = sizeof alone, .num_replicas = 1, .num_partitions = 1};
  hlo_frame *frame = c->frame;
  const hlo_comm *given = HLO_FIELD(frame->call, comm);
  const hlo_comm *comm = c->comm = given != NULL ? given : &alone;
  const int64_t total = (int64_t)comm->num_replicas * comm->num_partitions;
  c->tag = first_tag(&c->desc->op);
  c->scratch_bytes = c->desc->op.scratch_bytes;
  c->scratch =
      c->scratch_bytes > 0 ? c->buffers[c->desc->op.num_operands + c->desc->op.num_results] : NULL;
  if (comm->num_replicas < 1 || comm->num_partitions < 1) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT, "hlo_comm has no ranks");
  }
  if (total > HLO_MOST_RANKS) {
    return hlo_collective_fail(c, HLO_UNIMPLEMENTED, "more than 1024 ranks");
  }
  const uint64_t scratch = frame->slot_bytes ? frame->slot_bytes - HLO_SLOT_HEADER_BYTES : 0;
  if (!make_tables(c, memory, bytes, total) && !make_tables(c, frame->scratch, scratch, total)) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                               "hlo_comm has more ranks than the module was compiled for");
  }
  const int32_t rank = comm->replica * comm->num_partitions + comm->partition;
  if (c->desc->kind == HLO_COLLECTIVE_PERMUTE) {
    find_permute(c, rank);
    return HLO_OK;
  }
  const hlo_status status = find_group(c, rank, (int32_t)total);
  if (status == HLO_OK && c->n == 0 && c->desc->kind != HLO_COLLECTIVE_BROADCAST) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT, "no group has this rank");
  }
  return status;
}

hlo_status hlo_rt_collective_run(hlo_frame *frame, const hlo_rt_collective *desc,
                                 void *const *buffers) {
  if (desc->kind == HLO_REPLICA_ID || desc->kind == HLO_PARTITION_ID) {
    const hlo_comm *comm = HLO_FIELD(frame->call, comm);
    const int32_t id = comm == NULL                   ? 0
                       : desc->kind == HLO_REPLICA_ID ? comm->replica
                                                      : comm->partition;
    memcpy(buffers[0], &id, sizeof id);
    return HLO_OK;
  }
  Collective c = {.frame = frame, .desc = desc, .buffers = buffers};
  _Alignas(64) char memory[HLO_STACK_TABLE_BYTES];
  const hlo_status status = hlo_prepare_collective(&c, memory, sizeof memory);
  return status == HLO_OK ? hlo_run_group(&c) : status;
}
