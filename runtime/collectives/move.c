/*===- move.c - Collectives that only move data ----------------------------------===*\
 *
 * One exchange each. The part for each member is a number of runs with equal length and distance,
 * so that no dimension needs to be transposed.
 *
 *===-------------------------------------------------------------------------===*/
#include <string.h>

#include "collective.h"
#include "runtime/core/checked.h"

/* Bytes of the dimensions of `type` from `first` on, and the number of such blocks. */
static uint64_t inner_bytes(const hlo_buffer_desc *type, int64_t first, uint64_t *outer) {
  uint64_t inner = hlo_type_bytes(type->type);
  *outer = 1;
  for (int32_t d = 0; d < type->rank; ++d) {
    *(d < first ? outer : &inner) *= (uint64_t)type->dims[d];
  }
  return inner;
}

hlo_status hlo_all_gather(Collective *c, uint32_t i) {
  const hlo_buffer_desc *type = operand_type(c, i);
  uint64_t outer;
  const uint64_t inner = inner_bytes(type, c->desc->dimension, &outer);
  uint64_t gathered = type->bytes;
  if (!hlo_multiply_size(&gathered, (uint64_t)c->n) || gathered != result_type(c, i)->bytes) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                               "the result is not the group's size times the operand");
  }
  if (type->bytes == 0) {
    return HLO_OK;
  }
  for (int32_t m = 0; m < c->n; ++m) {
    c->send[m] = hlo_part(operand_of(c, i), inner, outer, inner);
    c->receive[m] =
        hlo_part(result_of(c, i) + inner * (uint64_t)m, inner, outer, inner * (uint64_t)c->n);
  }
  return hlo_exchange(c);
}

hlo_status hlo_all_to_all(Collective *c) {
  if (c->desc->dimension >= 0) {
    const hlo_buffer_desc *type = operand_type(c, 0);
    uint64_t outer;
    const uint64_t whole = inner_bytes(type, c->desc->dimension, &outer);
    if (type->dims[c->desc->dimension] % c->n != 0) {
      return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                                 "the split dimension is no multiple of the group's size");
    }
    const uint64_t inner = whole / (uint64_t)c->n;
    if (type->bytes == 0) {
      return HLO_OK;
    }
    for (int32_t m = 0; m < c->n; ++m) {
      c->send[m] = hlo_part(operand_of(c, 0) + inner * (uint64_t)m, inner, outer, whole);
      c->receive[m] = hlo_part(result_of(c, 0) + inner * (uint64_t)m, inner, outer, whole);
    }
    return hlo_exchange(c);
  }
  if (c->desc->op.num_operands != (uint32_t)c->n) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                               "the number of operands is not the group's size");
  }
  for (int32_t m = 0; m < c->n; ++m) {
    const uint64_t bytes = operand_type(c, (uint32_t)m)->bytes;
    c->send[m] = hlo_part(operand_of(c, (uint32_t)m), bytes, bytes > 0, bytes);
    c->receive[m] = hlo_part(result_of(c, (uint32_t)m), bytes, bytes > 0, bytes);
  }
  return hlo_exchange(c);
}

/* Element `index` of operand `i`, which has any integer type. */
static int64_t integer_at(const Collective *c, uint32_t i, int64_t index) {
  const hlo_buffer_desc *type = operand_type(c, i);
  const uint64_t size = hlo_type_bytes(type->type);
  const int is_unsigned = type->type >= HLO_U1 && type->type <= HLO_U64;
  const char *at = operand_of(c, i) + (uint64_t)index * size;
  uint64_t bits = 0;
  memcpy(&bits, at, size); /* little endian */
  if (!is_unsigned && size < 8 && (bits >> (8 * size - 1)) != 0) {
    bits |= ~UINT64_C(0) << (8 * size);
  }
  return (int64_t)bits;
}

/* Where a member's rows go, and their number. */
typedef struct Rows {
  int64_t offset, count;
} Rows;

/* Operands: input, output, and for each member (or several times each) the first row to send, the
 * number of rows, their place in the member's output, and the number received from it. First the
 * members exchange places, then rows. */
hlo_status hlo_ragged_all_to_all(Collective *c) {
  const hlo_buffer_desc *input = operand_type(c, 0), *output = result_type(c, 0);
  const hlo_buffer_desc *table = operand_type(c, 2);
  uint64_t entries = table->bytes / hlo_type_bytes(table->type);
  if (input->type != output->type) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT, "input and output have different types");
  }
  if (entries % (uint64_t)c->n != 0 || input->rank < 1 || output->rank < 1) {
    return hlo_collective_fail(c, HLO_INVALID_ARGUMENT,
                               "the offsets are no multiple of the group's size");
  }
  uint64_t one;
  const uint64_t row = inner_bytes(input, 1, &one);
  const int64_t times = (int64_t)entries / c->n;
  Rows *out = c->work, *in = out + c->n;
  for (int64_t t = 0; t < times; ++t) {
    for (int32_t m = 0; m < c->n; ++m) {
      const int64_t at = m * times + t;
      out[m].offset = integer_at(c, 4, at);
      out[m].count = integer_at(c, 3, at);
      const int64_t first = integer_at(c, 2, at);
      if (out[m].count < 0 || first < 0 || first > input->dims[0] - out[m].count) {
        return hlo_collective_fail(c, HLO_OUT_OF_RANGE, "rows to send lie outside of the input");
      }
      c->send[m] = hlo_part(&out[m], sizeof(Rows), 1, sizeof(Rows));
      c->receive[m] = hlo_part(&in[m], sizeof(Rows), 1, sizeof(Rows));
    }
    hlo_status status = hlo_exchange(c);
    if (status != HLO_OK) {
      return status;
    }
    for (int32_t m = 0; m < c->n; ++m) {
      const int64_t at = m * times + t;
      if (in[m].offset < 0 || in[m].count < 0 || in[m].offset > output->dims[0] - in[m].count ||
          in[m].count != integer_at(c, 5, at)) {
        return hlo_collective_fail(c, HLO_OUT_OF_RANGE,
                                   "rows that arrive lie outside of the output, or are not as many "
                                   "as expected");
      }
      const uint64_t sent = row * (uint64_t)out[m].count, received = row * (uint64_t)in[m].count;
      c->send[m] =
          hlo_part(operand_of(c, 0) + row * (uint64_t)integer_at(c, 2, at), sent, sent > 0, sent);
      c->receive[m] = hlo_part(result_of(c, 0) + row * (uint64_t)in[m].offset, received,
                               received > 0, received);
    }
    status = hlo_exchange(c);
    if (status != HLO_OK) {
      return status;
    }
  }
  return HLO_OK;
}

/* The sender is the first member of the group, or the one named by the last operand. A rank outside
 * of all groups gets zeros. */
hlo_status hlo_collective_broadcast(Collective *c) {
  int64_t root = 0;
  if (c->desc->dynamic_root && c->n > 0) {
    root = integer_at(c, c->desc->op.num_operands - 1, 0);
    if (root < 0 || root >= c->n) {
      return hlo_collective_fail(c, HLO_OUT_OF_RANGE, "the group has no such root");
    }
  }
  for (uint32_t i = 0; i < c->desc->op.num_results; ++i) {
    const uint64_t bytes = result_type(c, i)->bytes;
    if (bytes == 0) {
      continue;
    }
    if (c->n == 0) {
      memset(result_of(c, i), 0, bytes);
      continue;
    }
    hlo_clear_parts(c);
    if (c->self == root) {
      for (int32_t m = 0; m < c->n; ++m) {
        c->send[m] = hlo_part(operand_of(c, i), bytes, 1, bytes);
      }
    }
    c->receive[root] = hlo_part(result_of(c, i), bytes, 1, bytes);
    const hlo_status status = hlo_exchange(c);
    if (status != HLO_OK) {
      return status;
    }
  }
  return HLO_OK;
}

/* Byte offset of a slice's first element. Starts are clamped like those of dynamic-slice. */
static uint64_t slice_start(const Collective *c, const hlo_buffer_desc *type, uint32_t first_start,
                            const int64_t *sizes) {
  uint64_t at = 0;
  for (int32_t d = 0; d < type->rank; ++d) {
    const int64_t start = integer_at(c, first_start + (uint32_t)d, 0);
    const int64_t last = type->dims[d] - sizes[d];
    at = at * (uint64_t)type->dims[d] + (uint64_t)(start < 0 ? 0 : start > last ? last : start);
  }
  return at * hlo_type_bytes(type->type);
}

/* Element offset of row `number` of a slice; a row is a run of its last two dimensions. */
static uint64_t row_start(const hlo_buffer_desc *type, const int64_t *sizes, int64_t number) {
  uint64_t at = 0, stride = 1;
  for (int32_t d = type->rank - 1; d >= 0; --d) {
    if (d < type->rank - 2) {
      at += stride * (uint64_t)(number % sizes[d]);
      number /= sizes[d];
    }
    stride *= (uint64_t)type->dims[d];
  }
  return at;
}

/* The rows of a slice from `data` on, as runs. */
static hlo_comm_part slice_part(const hlo_buffer_desc *type, const char *data,
                                const int64_t *sizes) {
  const uint64_t size = hlo_type_bytes(type->type);
  const int32_t rank = type->rank;
  return hlo_part(data, size * (uint64_t)sizes[rank - 1], rank > 1 ? (uint64_t)sizes[rank - 2] : 1,
                  size * (uint64_t)type->dims[rank - 1]);
}

/* Operands: input, output, the starts of every slice in the input, and those in the output. The
 * result is the output, updated. A slice is stored at this rank's own starts. */
static hlo_status permute_slices(Collective *c, int32_t target, int32_t source) {
  const hlo_buffer_desc *input = operand_type(c, 0), *output = result_type(c, 0);
  const int32_t rank = input->rank;
  const uint32_t starts = (uint32_t)c->desc->num_slices * (uint32_t)rank;
  if (rank < 1 || output->rank != rank || c->desc->op.num_operands != 2 + 2 * starts) {
    return hlo_collective_fail(c, HLO_UNIMPLEMENTED,
                               "slices need arrays of one rank and a scalar start for each of "
                               "their dimensions");
  }
  const int64_t *slice = c->desc->slice_sizes;
  for (uint64_t s = 0; s < c->desc->num_slices; ++s, slice += slice[0] + 1) {
    const int64_t *sizes = slice + 1;
    int64_t rows = 1;
    for (int32_t d = 0; d < rank; ++d) {
      if (slice[0] != rank || sizes[d] < 0 || sizes[d] > input->dims[d] ||
          sizes[d] > output->dims[d]) {
        return hlo_collective_fail(c, HLO_OUT_OF_RANGE, "a slice is larger than its array");
      }
      rows *= d < rank - 2 || sizes[d] == 0 ? sizes[d] : 1;
    }
    const uint32_t first = 2 + (uint32_t)s * (uint32_t)rank;
    const char *from = operand_of(c, 0) + slice_start(c, input, first, sizes);
    char *to = result_of(c, 0) + slice_start(c, output, first + starts, sizes);
    const uint64_t size = hlo_type_bytes(input->type);
    for (int64_t row = 0; row < rows; ++row) {
      hlo_clear_parts(c);
      if (target >= 0) {
        c->send[target] = slice_part(input, from + size * row_start(input, sizes, row), sizes);
      }
      if (source >= 0) {
        c->receive[source] = slice_part(output, to + size * row_start(output, sizes, row), sizes);
      }
      const hlo_status status = hlo_exchange(c);
      if (status != HLO_OK) {
        return status;
      }
    }
  }
  return HLO_OK;
}

hlo_status hlo_collective_permute(Collective *c, int32_t target, int32_t source) {
  if (c->desc->num_slices > 0) {
    return permute_slices(c, target, source);
  }
  for (uint32_t i = 0; i < c->desc->op.num_results; ++i) {
    const uint64_t bytes = result_type(c, i)->bytes;
    if (bytes == 0) {
      continue;
    }
    hlo_clear_parts(c);
    if (target >= 0) {
      c->send[target] = hlo_part(operand_of(c, i), bytes, 1, bytes);
    }
    if (source >= 0) {
      c->receive[source] = hlo_part(result_of(c, i), bytes, 1, bytes);
    } else {
      memset(result_of(c, i), 0, bytes);
    }
    const hlo_status status = hlo_exchange(c);
    if (status != HLO_OK) {
      return status;
    }
  }
  return HLO_OK;
}
