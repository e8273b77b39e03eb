/*===- reduce.c - all-reduce and reduce-scatter ----------------------------------===*\
 *
 * Every rank reduces its share of the elements, in the order of the members, so the result is the
 * same on all ranks and does not depend on timing:
 *
 *   ranks that share memory    exchange pointers; each reads its share in place and, in an
 *                              all-reduce, writes it to the results of all
 *   other ranks                each receives its share of all operands, one piece that fits
 *                              into the scratch memory at a time; an all-reduce then gathers
 *                              the shares
 *
 * With shared memory, every byte of the operands is read once and every byte of the results written
 * once, with non-temporal stores if the results would not stay in a cache.
 *
 *===-------------------------------------------------------------------------===*/
#include <string.h>

#include "collective.h"
#include "runtime/core/fp.h"
#include "runtime/core/hints.h"

/* Size of partial results that stay in L1. */
#define BLOCK_BYTES 8192

/* out[0..count) = f(...f(f(in[0], in[1]), in[2])..., in[n-1]). `out` may be one of `in`. */
static void reduce_range(hlo_range_kernel *kernel, const char *const *in, int32_t n, char *out,
                         int64_t count, uint64_t size) {
  if (n == 1) {
    memmove(out, in[0], (size_t)count * size);
    return;
  }
  if (n == 2) {
    kernel(in[0], in[1], out, 0, count);
    return;
  }
  _Alignas(64) char partial[BLOCK_BYTES];
  const int64_t block = (int64_t)(BLOCK_BYTES / size);
  for (int64_t first = 0; first < count; first += block) {
    const int64_t length = count - first < block ? count - first : block;
    const uint64_t at = (uint64_t)first * size;
    kernel(in[0] + at, in[1] + at, partial, 0, length);
    for (int32_t i = 2; i + 1 < n; ++i) {
      kernel(partial, in[i] + at, partial, 0, length);
    }
    kernel(partial, in[n - 1] + at, out + at, 0, length);
  }
}

/* Results from this size on are written with non-temporal stores. */
#define STREAM_BYTES (UINT64_C(1) << 22)

/* Reduces elements [begin, end) of all operands and writes them to all results. */
static void reduce_to_all(hlo_range_kernel *kernel, const Place *places, int32_t n, int32_t self,
                          int64_t begin, int64_t end, uint64_t size, int streams) {
  _Alignas(64) char partial[BLOCK_BYTES];
  const int64_t block = (int64_t)(BLOCK_BYTES / size);
  for (int64_t first = begin; first < end; first += block) {
    const int64_t length = end - first < block ? end - first : block;
    const uint64_t at = (uint64_t)first * size, bytes = (uint64_t)length * size;
    kernel(places[0].operand + at, places[1].operand + at, partial, 0, length);
    for (int32_t i = 2; i < n; ++i) {
      kernel(partial, places[i].operand + at, partial, 0, length);
    }
    for (int32_t i = 0; i < n; ++i) {
      char *to = places[(self + i) % n].result + at;
      if (streams) {
        hlo_stream(to, partial, bytes);
      } else {
        memcpy(to, partial, bytes);
      }
    }
  }
  if (streams) {
    hlo_stream_end();
  }
}

/* Exchanges the addresses of `count` operands and results from `first` on with all members: then
 * places[i * n + m] are operand and result first + i of member m. */
static hlo_status share_places(Collective *c, uint32_t first, uint32_t count) {
  Place *own = c->own;
  for (uint32_t i = 0; i < count; ++i) {
    own[i].operand = operand_of(c, first + i);
    own[i].result = result_of(c, first + i);
  }
  for (int32_t m = 0; m < c->n; ++m) {
    c->send[m] = hlo_part(own, sizeof *own, count, sizeof *own);
    c->receive[m] = hlo_part(&c->places[m], sizeof *own, count, sizeof *own * (uint64_t)c->n);
  }
  c->reads_follow = 1;
  return hlo_exchange(c);
}

/* A barrier: exchanges messages without data with all members. */
static hlo_status meet(Collective *c) {
  for (int32_t i = 0; i < c->n; ++i) {
    c->send[i] = c->receive[i] = hlo_part(NULL, 0, 1, 0);
  }
  return hlo_exchange(c);
}

static int shares_memory(const Collective *c) { return c->n > 1 && c->comm->shared_memory; }

/* Elements [begin, end), a member's share. */
typedef struct Share {
  int64_t begin, end;
} Share;

static Share share_of(int64_t elements, int32_t n, int32_t i) {
  /* Shares start at multiples of 64 elements, so that no two ranks write to one cache line. */
  int64_t length = (elements + n - 1) / n;
  length = (length + 63) / 64 * 64;
  Share share = {length * i, length * (i + 1)};
  share.begin = share.begin < elements ? share.begin : elements;
  share.end = share.end < elements ? share.end : elements;
  return share;
}

/* Elements of one piece: the scratch memory holds one piece from each member. */
static int64_t piece_length(const Collective *c, uint64_t size) {
  const int64_t length = (int64_t)(c->scratch_bytes / (uint64_t)c->n / size) / 16 * 16;
  return length > 0 ? length : 1;
}

/* Prepares the exchange of a piece: the `most` elements of each share behind its first `done` ones,
 * which go to `scratch`; from[m] is where member m's arrive. Returns the length of this rank's. */
static int64_t prepare_piece(Collective *c, uint32_t i, uint64_t size, int64_t done, int64_t most,
                             char *scratch, const char **from) {
  const char *operand = operand_of(c, i);
  const int64_t elements = (int64_t)(operand_type(c, i)->bytes / size);
  const Share own = share_of(elements, c->n, c->self);
  const int64_t rest = own.end - own.begin - done;
  const int64_t mine = rest < most ? rest : most;
  for (int32_t m = 0; m < c->n; ++m) {
    const Share share = share_of(elements, c->n, m);
    int64_t left = share.end - share.begin - done;
    left = left < most ? left : most;
    c->send[m] = c->receive[m] = hlo_part(NULL, 0, 0, 0);
    if (left > 0) {
      c->send[m] = hlo_part(operand + (uint64_t)(share.begin + done) * size, (uint64_t)left * size,
                            1, (uint64_t)left * size);
    }
    from[m] = scratch + (uint64_t)(m * most) * size;
    if (mine > 0) {
      c->receive[m] = hlo_part(from[m], (uint64_t)mine * size, 1, (uint64_t)mine * size);
    }
  }
  return mine > 0 ? mine : 0;
}

/* Reduces a piece that has arrived. */
static void reduce_piece(Collective *c, uint32_t i, uint64_t size, int64_t done, int64_t length,
                         const char *const *from) {
  const int64_t elements = (int64_t)(operand_type(c, i)->bytes / size);
  const Share own = share_of(elements, c->n, c->self);
  if (length > 0) {
    reduce_range(c->desc->kernels[i], from, c->n,
                 result_of(c, i) + (uint64_t)(own.begin + done) * size, length, size);
  }
}

/* Reduces this rank's share of operand `i`, without its first `done` elements. */
static hlo_status reduce_pieces(Collective *c, uint32_t i, uint64_t size, int64_t done,
                                const char **from) {
  const int64_t most = piece_length(c, size);
  const Share first = share_of((int64_t)(operand_type(c, i)->bytes / size), c->n, 0);
  for (; done < first.end; done += most) {
    const int64_t length = prepare_piece(c, i, size, done, most, c->scratch, from);
    const hlo_status status = hlo_exchange(c);
    if (status != HLO_OK) {
      return status;
    }
    reduce_piece(c, i, size, done, length, from);
  }
  return HLO_OK;
}

/* Each rank writes only those parts of the results whose operand parts it alone has read, so
 * operand and result may be one buffer. */
static hlo_status all_reduce_shared(Collective *c) {
  const uint32_t operands = c->desc->op.num_operands, fit = c->most_places;
  hlo_status status = HLO_OK;
  for (uint32_t first = 0; first < operands && status == HLO_OK; first += fit) {
    const uint32_t count = operands - first < fit ? operands - first : fit;
    status = share_places(c, first, count);
    if (status != HLO_OK) {
      return status;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t size = hlo_type_bytes(operand_type(c, first + i)->type);
      const uint64_t bytes = operand_type(c, first + i)->bytes;
      const Share share = share_of((int64_t)(bytes / size), c->n, c->self);
      reduce_to_all(c->desc->kernels[first + i], c->places + (size_t)i * (size_t)c->n, c->n,
                    c->self, share.begin, share.end, size, bytes >= STREAM_BYTES);
    }
    status = meet(c);
  }
  return status;
}

/* All-reduce of operand `i`, of whose shares the first `done` elements are reduced. */
static hlo_status all_reduce_messages(Collective *c, uint32_t i, int64_t done) {
  const uint64_t size = hlo_type_bytes(operand_type(c, i)->type);
  const uint64_t bytes = operand_type(c, i)->bytes;
  const int64_t elements = (int64_t)(bytes / size);
  char *result = result_of(c, i);
  if (elements == 0) {
    return HLO_OK;
  }
  const char **from = c->work;
  const hlo_status status = reduce_pieces(c, i, size, done, from);
  if (status != HLO_OK) {
    return status;
  }
  const Share own = share_of(elements, c->n, c->self);
  for (int32_t m = 0; m < c->n; ++m) {
    const Share share = share_of(elements, c->n, m);
    c->send[m] = hlo_part(result + (uint64_t)own.begin * size,
                          (uint64_t)(own.end - own.begin) * size, own.end > own.begin, 0);
    c->receive[m] =
        hlo_part(result + (uint64_t)share.begin * size, (uint64_t)(share.end - share.begin) * size,
                 share.end > share.begin, 0);
  }
  return hlo_exchange(c);
}

hlo_status hlo_all_reduce(Collective *c) {
  if (shares_memory(c)) {
    return all_reduce_shared(c);
  }
  hlo_status status = HLO_OK;
  for (uint32_t i = 0; i < c->desc->op.num_operands && status == HLO_OK; ++i) {
    if (c->n == 1) {
      memmove(result_of(c, i), operand_of(c, i), operand_type(c, i)->bytes);
    } else {
      status = all_reduce_messages(c, i, /*done=*/0);
    }
  }
  return status;
}

/* The operand is [outer][n][inner], the result [outer][inner], in elements. */
typedef struct Blocks {
  int64_t outer, inner;
} Blocks;

/* Prepares the exchange of runs [first, first + count) of the result: whole runs, or `length`
 * elements from `at` of one. They arrive at from[m], from `scratch` on. */
static void prepare_runs(Collective *c, uint32_t i, uint64_t size, Blocks b, int64_t first,
                         int64_t count, int64_t at, int64_t length, char *scratch,
                         const char **from) {
  const char *operand = operand_of(c, i);
  const uint64_t run = (uint64_t)length * size, piece = run * (uint64_t)count;
  for (int32_t m = 0; m < c->n; ++m) {
    from[m] = scratch + piece * (uint64_t)m;
    c->send[m] = hlo_part(operand + (uint64_t)((first * c->n + m) * b.inner + at) * size, run,
                          (uint64_t)count, (uint64_t)(c->n * b.inner) * size);
    c->receive[m] = hlo_part(from[m], run, (uint64_t)count, run);
  }
}

static hlo_status scatter_piece(Collective *c, uint32_t i, uint64_t size, Blocks b, int64_t first,
                                int64_t count, int64_t at, int64_t length, const char **from) {
  prepare_runs(c, i, size, b, first, count, at, length, c->scratch, from);
  const hlo_status status = hlo_exchange(c);
  if (status == HLO_OK) {
    reduce_range(c->desc->kernels[i], from, c->n,
                 result_of(c, i) + (uint64_t)(first * b.inner + at) * size, length * count, size);
  }
  return status;
}

static hlo_status scatter_pieces(Collective *c, uint32_t i, uint64_t size, Blocks b,
                                 const char **from) {
  const int64_t most = piece_length(c, size);
  hlo_status status = HLO_OK;
  if (b.inner <= most) {
    const int64_t rows = most / b.inner;
    for (int64_t first = 0; first < b.outer && status == HLO_OK; first += rows) {
      const int64_t count = b.outer - first < rows ? b.outer - first : rows;
      status = scatter_piece(c, i, size, b, first, count, 0, b.inner, from);
    }
    return status;
  }
  for (int64_t first = 0; first < b.outer; ++first) {
    for (int64_t at = 0; at < b.inner && status == HLO_OK; at += most) {
      const int64_t length = b.inner - at < most ? b.inner - at : most;
      status = scatter_piece(c, i, size, b, first, 1, at, length, from);
    }
  }
  return status;
}

static Blocks blocks_of(const Collective *c, uint32_t i) {
  const hlo_buffer_desc *type = result_type(c, i);
  Blocks b = {1, 1};
  for (int32_t d = 0; d < type->rank; ++d) {
    *(d < c->desc->dimension ? &b.outer : &b.inner) *= type->dims[d];
  }
  return b;
}

/* Reduces member `self`'s part of operand `i`, which all members' operands in[m] have, to
 * `result`. */
static void scatter_shared(const Collective *c, uint32_t i, Blocks b, const Place *places,
                           const char **row, int32_t self, char *result) {
  const uint64_t size = hlo_type_bytes(result_type(c, i)->type);
  for (int64_t o = 0; o < b.outer; ++o) {
    for (int32_t m = 0; m < c->n; ++m) {
      row[m] = places[m].operand + (uint64_t)((o * c->n + self) * b.inner) * size;
    }
    reduce_range(c->desc->kernels[i], row, c->n, result + (uint64_t)(o * b.inner) * size, b.inner,
                 size);
  }
}

hlo_status hlo_check_scatter(Collective *c, uint32_t i) {
  return result_type(c, i)->bytes * (uint64_t)c->n == operand_type(c, i)->bytes
             ? HLO_OK
             : hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                                   "the operand is not the group's size times the result");
}

hlo_status hlo_reduce_scatter(Collective *c, uint32_t i) {
  const hlo_buffer_desc *type = result_type(c, i);
  const uint64_t size = hlo_type_bytes(type->type);
  const Blocks b = blocks_of(c, i);
  hlo_status status = hlo_check_scatter(c, i);
  if (status != HLO_OK || type->bytes == 0) {
    return status;
  }
  const char **row = c->work;
  if (c->n == 1) {
    memmove(result_of(c, i), operand_of(c, i), type->bytes);
    return HLO_OK;
  }
  if (!shares_memory(c)) {
    return scatter_pieces(c, i, size, b, row);
  }
  status = share_places(c, i, 1);
  if (status != HLO_OK) {
    return status;
  }
  scatter_shared(c, i, b, c->places, row, c->self, result_of(c, i));
  return meet(c);
}

void hlo_reduce_share(const hlo_comm_request *const *members, int32_t i) {
  /* The tables are those of the rank whose share it is: nobody else uses them. */
  const Collective *c = members[i]->data;
  Place *places = c->places;
  const char **row = c->work;
  const uint32_t saved = hlo_fp_get();
  hlo_fp_set(c->frame->fp);
  for (uint32_t k = 0; k < c->desc->op.num_results; ++k) {
    const uint64_t bytes = operand_type(c, k)->bytes;
    const uint64_t size = hlo_type_bytes(operand_type(c, k)->type);
    if (bytes == 0) {
      continue;
    }
    for (int32_t m = 0; m < c->n; ++m) {
      const Collective *other = members[m]->data;
      places[m].operand = operand_of(other, k);
      places[m].result = result_of(other, k);
    }
    if (c->desc->kind == HLO_REDUCE_SCATTER) {
      scatter_shared(c, k, blocks_of(c, k), places, row, i, result_of(c, k));
    } else {
      const Share share = share_of((int64_t)(bytes / size), c->n, i);
      reduce_to_all(c->desc->kernels[k], places, c->n, i, share.begin, share.end, size,
                    bytes >= STREAM_BYTES);
    }
  }
  hlo_fp_set(saved);
}

/* Elements of each share of operand `i` that are exchanged at the beginning, if `bytes` bytes of
 * scratch memory are left. */
static int64_t begun_length(const Collective *c, uint32_t i, uint64_t size, uint64_t bytes) {
  const Share first = share_of((int64_t)(operand_type(c, i)->bytes / size), c->n, 0);
  const int64_t fit = (int64_t)(bytes / (uint64_t)c->n / size);
  return first.end <= fit ? first.end : fit / 16 * 16;
}

int hlo_begin_reduction(Collective *c) {
  const char **from = c->work;
  const int scatters = c->desc->kind == HLO_REDUCE_SCATTER;
  uint64_t used = 0;
  for (uint32_t i = 0; i < c->desc->op.num_results; ++i) {
    const uint64_t size = hlo_type_bytes(operand_type(c, i)->type);
    char *scratch = c->scratch + used;
    if (scatters) {
      const Blocks b = blocks_of(c, i);
      const uint64_t bytes = operand_type(c, i)->bytes;
      if (bytes > c->scratch_bytes - used) {
        return 0;
      }
      if (bytes > 0) {
        prepare_runs(c, i, size, b, 0, b.outer, 0, b.inner, scratch, from);
        (void)hlo_exchange(c); /* only noted */
      }
      used += (bytes + 63) / 64 * 64;
    } else {
      const int64_t most = begun_length(c, i, size, c->scratch_bytes - used);
      if (most > 0) {
        prepare_piece(c, i, size, 0, most, scratch, from);
        (void)hlo_exchange(c);
      }
      used += ((uint64_t)(most * c->n) * size + 63) / 64 * 64;
    }
    used = used < c->scratch_bytes ? used : c->scratch_bytes;
  }
  return 1;
}

hlo_status hlo_finish_reduction(Collective *c) {
  const char **from = c->work;
  const uint32_t count = c->desc->op.num_results;
  uint64_t used = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t size = hlo_type_bytes(operand_type(c, i)->type);
    char *scratch = c->scratch + used;
    if (c->desc->kind == HLO_REDUCE_SCATTER) {
      const Blocks b = blocks_of(c, i);
      const uint64_t bytes = operand_type(c, i)->bytes;
      for (int32_t m = 0; m < c->n; ++m) {
        from[m] = scratch + bytes / (uint64_t)c->n * (uint64_t)m;
      }
      if (bytes > 0) {
        reduce_range(c->desc->kernels[i], from, c->n, result_of(c, i), b.outer * b.inner, size);
      }
      used += (bytes + 63) / 64 * 64;
    } else {
      const int64_t most = begun_length(c, i, size, c->scratch_bytes - used);
      if (most > 0) {
        const int64_t length = prepare_piece(c, i, size, 0, most, scratch, from);
        reduce_piece(c, i, size, 0, length, from);
      }
      used += ((uint64_t)(most * c->n) * size + 63) / 64 * 64;
    }
    used = used < c->scratch_bytes ? used : c->scratch_bytes;
  }
  if (c->desc->kind == HLO_REDUCE_SCATTER) {
    return HLO_OK;
  }
  used = 0;
  hlo_status status = HLO_OK;
  for (uint32_t i = 0; i < count && status == HLO_OK; ++i) {
    const uint64_t size = hlo_type_bytes(operand_type(c, i)->type);
    const int64_t most = begun_length(c, i, size, c->scratch_bytes - used);
    used += ((uint64_t)(most * c->n) * size + 63) / 64 * 64;
    used = used < c->scratch_bytes ? used : c->scratch_bytes;
    status = all_reduce_messages(c, i, most);
  }
  return status;
}
