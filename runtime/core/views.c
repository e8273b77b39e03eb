/*===- views.c - Calls with buffers whose sizes are known ----------------------===*\
 *
 * hlo_run_checked and hlo_prepare_checked. M_run_buffers gets bare pointers and cannot detect a
 * buffer that is too short; here the caller states the size of each buffer.
 *
 * Overlaps: sorts all ranges by address. A written range must not begin before the end of any
 * earlier range, and no range before the end of an earlier written one. An output in the buffer of
 * the input that it may share counts once for both.
 *
 *===-------------------------------------------------------------------------===*/
#include <stdlib.h>

#include "checks.h"
#include "fields.h"
#include "frame.h"

#define LEAST_VIEW_BYTES (offsetof(hlo_view, reserved) + sizeof(int32_t))
/* Number of leaves whose tables fit on the stack: 2.1 KiB. */
#define FEW_LEAVES 64

enum { INPUT, OUTPUT, ARENA, STATE, PREPARED };

/* Memory that a call reads or writes. */
typedef struct Range {
  uintptr_t begin, end;
  uint32_t index; /* of an input or output */
  uint8_t what, written;
} Range;

enum { OTHER_RANGES = 3 };

/* State of a checked call. */
typedef struct Checked {
  const hlo_module_desc *desc;
  const hlo_call *call;
  const hlo_view *inputs, *outputs;
  uint32_t num_inputs, num_outputs;
  uint8_t reader; /* HLO_READ_BY_* */
  hlo_text text;
  Range *ranges;
  size_t num_ranges;
  void **pointers; /* inputs, then outputs */
  hlo_sizes sizes; /* once all inputs have been checked */
} Checked;

static const hlo_view *view_at(const hlo_view *views, uint32_t i) {
  return hlo_element_at(views, views->struct_size, i);
}

static const hlo_buffer_desc *leaf_at(const Checked *c, int what, uint32_t i) {
  return what == INPUT ? hlo_input_at(c->desc, i) : hlo_output_at(c->desc, i);
}

static int is_read(const Checked *c, uint32_t input) {
  const uint8_t *use = HLO_FIELD(c->desc, input_use);
  return use == NULL || (use[input] & c->reader) != 0;
}

static void add_place(Checked *c, int what, uint32_t i) {
  static const char *const names[] = {"input ", "output ", "the arena", "the state",
                                      "the prepared block"};
  hlo_text_add(&c->text, names[what]);
  if (what <= OUTPUT) {
    hlo_text_number(&c->text, i);
    hlo_text_add(&c->text, " (");
    hlo_text_add(&c->text, leaf_at(c, what, i)->name);
    hlo_text_add(&c->text, ")");
  }
}

/* "module: input 1 (x)" */
static void add_start(Checked *c, int what, uint32_t i) {
  hlo_text_add(&c->text, c->desc->name);
  hlo_text_add(&c->text, ": ");
  add_place(c, what, i);
}

static void add_number(Checked *c, int64_t number) {
  hlo_text_add(&c->text, number < 0 ? "-" : "");
  hlo_text_number(&c->text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void add_list(Checked *c, const int64_t *numbers, int32_t count, const char *brackets) {
  const char one[2] = {brackets[0], '\0'}, other[2] = {brackets[1], '\0'};
  hlo_text_add(&c->text, one);
  for (int32_t i = 0; i < count; ++i) {
    hlo_text_add(&c->text, i > 0 ? "," : "");
    add_number(c, numbers[i]);
  }
  hlo_text_add(&c->text, other);
}

static int equal(const int64_t *a, const int64_t *b, int32_t count) {
  int same = 1;
  for (int32_t i = 0; same && i < count; ++i) {
    same = a[i] == b[i];
  }
  return same;
}

static hlo_status refuse_shape(Checked *c, int what, uint32_t i, const int64_t *dims,
                               const hlo_view *view) {
  add_start(c, what, i);
  hlo_text_add(&c->text, " has the shape ");
  add_list(c, dims, view->rank, "[]");
  hlo_text_add(&c->text, ", given ");
  add_list(c, view->dims, view->rank, "[]");
  return HLO_ERR_VIEW;
}

static hlo_status refuse_bytes(Checked *c, int what, uint32_t i, uint64_t bytes,
                               const hlo_view *view) {
  add_start(c, what, i);
  hlo_text_add(&c->text, " needs ");
  hlo_text_number(&c->text, bytes);
  hlo_text_add(&c->text, " bytes, given ");
  hlo_text_number(&c->text, view->bytes);
  return HLO_ERR_VIEW;
}

static hlo_status check_view(Checked *c, int what, uint32_t i, const hlo_view *view) {
  const hlo_buffer_desc *leaf = leaf_at(c, what, i);
  if (view->type != HLO_INVALID_TYPE && view->type != leaf->type) {
    add_start(c, what, i);
    hlo_text_add(&c->text, " has elements of ");
    hlo_text_add(&c->text, hlo_type_name(leaf->type));
    hlo_text_add(&c->text, ", given ");
    hlo_text_add(&c->text, hlo_type_name(view->type));
    return HLO_ERR_VIEW;
  }
  /* First, since the arrays that the view points to have as many elements as its rank says. */
  if ((view->dims != NULL || view->minor_to_major != NULL) && view->rank != leaf->rank) {
    add_start(c, what, i);
    hlo_text_add(&c->text, " has the shape ");
    add_list(c, leaf->dims, leaf->rank, "[]");
    hlo_text_add(&c->text, ", given rank ");
    add_number(c, view->rank);
    return HLO_ERR_VIEW;
  }
  if (view->dims != NULL && !hlo_is_dense(leaf) && !equal(view->dims, leaf->dims, leaf->rank)) {
    return refuse_shape(c, what, i, leaf->dims, view);
  }
  if (view->minor_to_major != NULL && leaf->minor_to_major != NULL &&
      !equal(view->minor_to_major, leaf->minor_to_major, leaf->rank)) {
    add_start(c, what, i);
    hlo_text_add(&c->text, " has the layout ");
    add_list(c, leaf->minor_to_major, leaf->rank, "{}");
    hlo_text_add(&c->text, ", given ");
    add_list(c, view->minor_to_major, view->rank, "{}");
    return HLO_ERR_VIEW;
  }
  if (leaf->bytes > 0 && view->data == NULL) {
    add_start(c, what, i);
    hlo_text_add(&c->text, " is null, it needs ");
    hlo_text_number(&c->text, leaf->bytes);
    hlo_text_add(&c->text, " bytes");
    return HLO_ERR_NULL;
  }
  if (view->bytes < leaf->bytes && !hlo_is_dense(leaf)) {
    return refuse_bytes(c, what, i, leaf->bytes, view);
  }
  return HLO_OK;
}

/* Checks the dense buffers of one side against the sizes of the call. Those of results whose sizes
 * are known only after the call are the caller's to size. */
static hlo_status check_dense(Checked *c, int what) {
  enum { MOST_DIMS = 64 };
  int64_t dims[MOST_DIMS];
  const uint32_t count = what == INPUT ? c->num_inputs : c->num_outputs;
  for (uint32_t i = 0; i < count; ++i) {
    const hlo_buffer_desc *leaf = leaf_at(c, what, i);
    if (!hlo_is_dense(leaf) || leaf->rank > MOST_DIMS || (what == INPUT && !is_read(c, i)) ||
        !hlo_leaf_dims(&c->sizes, leaf, what == INPUT, i, dims)) {
      continue;
    }
    const hlo_view *view = view_at(what == INPUT ? c->inputs : c->outputs, i);
    if (view->dims != NULL && !equal(view->dims, dims, leaf->rank)) {
      return refuse_shape(c, what, i, dims, view);
    }
    uint64_t bytes = hlo_type_bytes(leaf->type);
    for (int32_t d = 0; d < leaf->rank; ++d) {
      bytes *= (uint64_t)dims[d]; /* at most leaf->bytes, unless another one is 0 */
    }
    if (view->bytes < bytes) {
      return refuse_bytes(c, what, i, bytes, view);
    }
  }
  return HLO_OK;
}

static void add_range(Checked *c, const void *data, uint64_t bytes, int what, uint32_t i,
                      int written) {
  if (data != NULL && bytes > 0) {
    const uintptr_t begin = (uintptr_t)data;
    const uintptr_t end = bytes > UINTPTR_MAX - begin ? UINTPTR_MAX : begin + (uintptr_t)bytes;
    c->ranges[c->num_ranges++] = (Range){begin, end, i, (uint8_t)what, (uint8_t)written};
  }
}

/* Bytes of a buffer that the call may read or write. */
static uint64_t bytes_of(const Checked *c, int what, uint32_t i) {
  const hlo_buffer_desc *leaf = leaf_at(c, what, i);
  const uint64_t given = view_at(what == INPUT ? c->inputs : c->outputs, i)->bytes;
  return hlo_is_dense(leaf) && given < leaf->bytes ? given : leaf->bytes;
}

/* Checks one side and collects its pointers. */
static hlo_status check_side(Checked *c, int what) {
  const hlo_view *views = what == INPUT ? c->inputs : c->outputs;
  const uint32_t given = what == INPUT ? c->num_inputs : c->num_outputs;
  const uint32_t count = what == INPUT ? c->desc->num_inputs : c->desc->num_outputs;
  if (given != count || (count > 0 && views == NULL)) {
    hlo_text_add(&c->text, c->desc->name);
    hlo_text_add(&c->text, ": needs ");
    hlo_text_number(&c->text, count);
    hlo_text_add(&c->text, what == INPUT ? " inputs, given " : " outputs, given ");
    hlo_text_number(&c->text, views == NULL ? 0 : given);
    return HLO_ERR_VIEW;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const hlo_view *view = view_at(views, i);
    if (view->struct_size < LEAST_VIEW_BYTES || view->struct_size != views->struct_size) {
      add_start(c, what, i);
      hlo_text_add(&c->text, ": its view has struct_size ");
      hlo_text_number(&c->text, view->struct_size);
      hlo_text_add(&c->text, ", expected ");
      hlo_text_number(&c->text, i > 0 ? views->struct_size : sizeof(hlo_view));
      return HLO_ERR_STRUCT;
    }
    c->pointers[what == INPUT ? i : c->num_inputs + i] = view->data;
    if (what == INPUT && !is_read(c, i)) {
      continue;
    }
    const hlo_status status = check_view(c, what, i, view);
    if (status != HLO_OK) {
      return status;
    }
  }
  return HLO_OK;
}

/* Heap sort: in place, and at most n log n steps for any addresses. */
static void sift(Range *ranges, size_t root, size_t count) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && ranges[child].begin < ranges[child + 1].begin) {
      ++child;
    }
    if (ranges[root].begin >= ranges[child].begin) {
      return;
    }
    const Range range = ranges[root];
    ranges[root] = ranges[child];
    ranges[child] = range;
  }
}

static void sort(Range *ranges, size_t count) {
  for (size_t root = count / 2; root > 0; --root) {
    sift(ranges, root - 1, count);
  }
  for (size_t last = count; last > 1; --last) {
    const Range range = ranges[0];
    ranges[0] = ranges[last - 1];
    ranges[last - 1] = range;
    sift(ranges, 0, last - 1);
  }
}

static hlo_status check_overlaps(Checked *c) {
  sort(c->ranges, c->num_ranges);
  const Range *farthest = NULL, *written = NULL; /* of the ranges so far, those that end last */
  for (size_t i = 0; i < c->num_ranges; ++i) {
    const Range *range = &c->ranges[i], *other = range->written ? farthest : written;
    if (other != NULL && range->begin < other->end) {
      const Range *output = range->written ? range : other;
      other = output == range ? other : range;
      add_start(c, output->what, output->index);
      hlo_text_add(&c->text, " shares memory with ");
      add_place(c, other->what, other->index);
      return HLO_ERR_OVERLAP;
    }
    farthest = farthest == NULL || range->end > farthest->end ? range : farthest;
    if (range->written) {
      written = written == NULL || range->end > written->end ? range : written;
    }
  }
  return HLO_OK;
}

/* True if an input is in exactly the buffer of the output that may share it. */
static int is_shared(const Checked *c, uint32_t input) {
  const int32_t alias = hlo_input_at(c->desc, input)->alias;
  return alias >= 0 && (uint32_t)alias < c->num_outputs &&
         c->pointers[input] == c->pointers[c->num_inputs + (uint32_t)alias];
}

static hlo_status check_all(Checked *c, void *prepared, uint64_t prepared_bytes) {
  hlo_status status = check_side(c, INPUT);
  if (status == HLO_OK && c->reader == HLO_READ_BY_RUN) {
    status = check_side(c, OUTPUT);
  }
  const void *const *inputs = (const void *const *)c->pointers;
  if (status == HLO_OK && hlo_num_sizes(c->desc) > 0) {
    status = hlo_check_inputs(c->desc, inputs, c->reader, &c->text);
    c->sizes = hlo_sizes_of_inputs(c->desc, inputs);
  }
  if (status == HLO_OK && c->sizes.desc != NULL) {
    status = check_dense(c, INPUT);
  }
  if (status == HLO_OK && c->sizes.desc != NULL && c->reader == HLO_READ_BY_RUN) {
    status = check_dense(c, OUTPUT);
  }
  if (status != HLO_OK) {
    return status;
  }
  uint64_t arena_bytes =
      hlo_arena_need_for(c->desc, c->call, c->reader != HLO_READ_BY_RUN, inputs).bytes;
  if (HLO_FIELD(c->call, arena_bytes) < arena_bytes) {
    arena_bytes = HLO_FIELD(c->call, arena_bytes); /* too little, or the level needs less */
  }
  for (uint32_t i = 0; i < c->num_inputs; ++i) {
    if (is_read(c, i) && !(c->reader == HLO_READ_BY_RUN && is_shared(c, i))) {
      add_range(c, c->pointers[i], bytes_of(c, INPUT, i), INPUT, i, 0);
    }
  }
  for (uint32_t i = 0; i < c->num_outputs; ++i) {
    add_range(c, c->pointers[c->num_inputs + i], bytes_of(c, OUTPUT, i), OUTPUT, i, 1);
  }
  add_range(c, HLO_FIELD(c->call, arena), arena_bytes, ARENA, 0, 1);
  add_range(c, prepared, prepared_bytes, PREPARED, 0, c->reader == HLO_READ_BY_PREPARE);
  if (c->reader == HLO_READ_BY_RUN) {
    add_range(c, HLO_FIELD(c->call, state), c->desc->state_bytes, STATE, 0, 1);
  }
  return check_overlaps(c);
}

/* Memory for the tables of a module with many leaves. */
static void *take(const hlo_call *call, size_t bytes) {
  const hlo_allocator *alloc = HLO_FIELD(call, alloc);
  return HLO_HAS_FIELD(alloc, free) ? alloc->alloc(alloc->user, bytes, 16) : calloc(1, bytes);
}

static void give_back(const hlo_call *call, void *memory, size_t bytes) {
  const hlo_allocator *alloc = HLO_FIELD(call, alloc);
  if (HLO_HAS_FIELD(alloc, free)) {
    alloc->free(alloc->user, memory, bytes);
  } else {
    free(memory);
  }
}

/* Checks, then runs or prepares. */
static hlo_status call_checked(Checked *c, void *block, size_t bytes) {
  const int runs = c->reader == HLO_READ_BY_RUN;
  const hlo_module_desc *desc = c->desc;
  Range few[FEW_LEAVES + OTHER_RANGES];
  void *few_pointers[FEW_LEAVES + 1];
  const size_t leaves = (size_t)desc->num_inputs + desc->num_outputs;
  const size_t range_bytes = (leaves + OTHER_RANGES) * sizeof(Range);
  const size_t table_bytes = range_bytes + leaves * sizeof(void *);
  void *table = NULL;
  c->ranges = few;
  c->pointers = few_pointers;
  if (leaves > FEW_LEAVES) {
    table = take(c->call, table_bytes);
    if (table == NULL) {
      hlo_text_add(&c->text, desc->name);
      hlo_text_add(&c->text, ": no memory for the checks of ");
      hlo_text_number(&c->text, leaves);
      hlo_text_add(&c->text, " buffers");
      return HLO_ERR_ALLOC;
    }
    c->ranges = table;
    c->pointers = (void **)((char *)table + range_bytes);
  }
  void *prepared = runs ? (void *)HLO_FIELD(c->call, prepared) : block;
  hlo_status status = check_all(c, prepared, desc->prepared_bytes);
  if (status != HLO_OK && runs) {
    hlo_tell_peers(c->call, status);
  }
  if (status == HLO_OK) {
    const void *const *inputs = (const void *const *)c->pointers;
    status = runs ? desc->run(c->call, inputs, c->pointers + c->num_inputs)
                  : desc->prepare(c->call, inputs, block, bytes);
  }
  if (table != NULL) {
    give_back(c->call, table, table_bytes);
  }
  return status;
}

hlo_status hlo_run_checked(const hlo_module_desc *desc, const hlo_call *call,
                           const hlo_view *inputs, uint32_t num_inputs, const hlo_view *outputs,
                           uint32_t num_outputs) {
  Checked c = {.desc = desc,
               .call = call,
               .inputs = inputs,
               .outputs = outputs,
               .num_inputs = num_inputs,
               .num_outputs = num_outputs,
               .reader = HLO_READ_BY_RUN};
  const hlo_status status = hlo_check_call(desc, call, &c.text);
  return status != HLO_OK ? status : call_checked(&c, NULL, 0);
}

hlo_status hlo_prepare_checked(const hlo_module_desc *desc, const hlo_call *call,
                               const hlo_view *inputs, uint32_t num_inputs, void *prepared,
                               size_t bytes) {
  Checked c = {.desc = desc,
               .call = call,
               .inputs = inputs,
               .num_inputs = num_inputs,
               .reader = HLO_READ_BY_PREPARE};
  const hlo_status status = hlo_check_call(desc, call, &c.text);
  if (status != HLO_OK) {
    return status;
  }
  if (HLO_FIELD(desc, prepare) == NULL) {
    hlo_text_add(&c.text, desc->name);
    hlo_text_add(&c.text, ": it was compiled without --immutable-params and prepares nothing");
    return HLO_FAILED_PRECONDITION;
  }
  return call_checked(&c, prepared, bytes);
}
