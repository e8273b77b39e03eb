/*===- shard.c - Cutting shards out of arrays, and putting them together --------===*\
 *
 * A shard and the global array are both dense with the same order of dimensions, so the part that
 * they have in common is runs of equal length at regular distances in both. Dimensions are visited
 * from the fastest to the slowest: as long as the shard has all of them, a run grows; a dimension
 * of which it has a part is the last one of the run. The rest are loops, and a dimension becomes
 * part of the loop inside it if all dimensions of that loop are whole. So there is at most one loop
 * for each dimension that is split, of which a mesh of less than 2^31 partitions allows 30.
 *
 *   global f32[4,6,8], shard f32[4,3,8]:  4 runs of 3 * 8 elements, 6 * 8 and 3 * 8 apart
 *
 *===-------------------------------------------------------------------------===*/
#include <hlo/index.h>
#include <hlo/shard.h>
#include <string.h>

#include "checked.h"

#define MOST_LOOPS 31

/* Positions of the array and of the shard, in elements. */
typedef struct Places {
  int64_t global, shard;
} Places;

/* The common part of a shard and its array. */
typedef struct Runs {
  int64_t length; /* of a run; 0: there are none */
  int64_t start;  /* of the first one in the array; in the shard it is 0 */
  int is_partial; /* the shard has elements beyond the array */
  int32_t loops;
  int64_t counts[MOST_LOOPS]; /* innermost first */
  Places steps[MOST_LOOPS];
} Runs;

/*===- Descriptions ---------------------------------------------------------------*/

/* The place of a partition in the mesh; -1: there is none. */
static int64_t place_of(const hlo_sharding *sharding, int64_t partition) {
  if (sharding->devices == NULL) {
    return partition;
  }
  for (int32_t place = 0; place < sharding->num_partitions; ++place) {
    if (sharding->devices[place] == partition) {
      return place;
    }
  }
  return -1;
}

/* The coordinate of a place along an axis of the mesh. */
static int64_t coordinate(const hlo_sharding *sharding, int64_t place, int64_t axis) {
  for (int64_t inner = sharding->num_axes - 1; inner > axis; --inner) {
    place /= sharding->mesh_sizes[inner];
  }
  return place % sharding->mesh_sizes[axis];
}

/* Which shard of a dimension is at a place; `axes` is the dimension's list, starting with its
 * length. Sets `parts` to the number of shards. */
static int64_t shard_number(const hlo_sharding *sharding, const int64_t *axes, int64_t place,
                            int64_t *parts) {
  int64_t number = 0;
  *parts = 1;
  for (int64_t k = 1; k <= axes[0]; ++k) {
    const int64_t size = sharding->mesh_sizes[axes[k]];
    number = number * size + coordinate(sharding, place, axes[k]);
    *parts *= size;
  }
  return number;
}

/* The list of dimension `dim`. */
static const int64_t *axes_of(const hlo_sharding *sharding, int32_t dim) {
  const int64_t *axes = sharding->axes;
  while (dim-- > 0) {
    axes += axes[0] + 1;
  }
  return axes;
}

/* What the shard at a place has of dimension `dim`, whose list is `axes`. */
static hlo_shard_range range_of(const hlo_sharding *sharding, const int64_t *axes, int32_t dim,
                                int64_t place) {
  int64_t parts;
  const int64_t number = shard_number(sharding, axes, place, &parts);
  const int64_t size = sharding->dims[dim], most = size / parts + (size % parts != 0);
  hlo_shard_range range = {0, 0};
  range.start = most != 0 && number > size / most ? size : number * most;
  range.start = range.start < size ? range.start : size;
  range.size = size - range.start < most ? size - range.start : most;
  return range;
}

/* True if the mesh has num_partitions places. */
static int is_mesh(const hlo_sharding *sharding) {
  int64_t places = 1;
  if (sharding->num_axes < 0 || sharding->num_partitions < 1 ||
      (sharding->num_axes > 0 && sharding->mesh_sizes == NULL)) {
    return 0;
  }
  for (int32_t axis = 0; axis < sharding->num_axes; ++axis) {
    const int64_t size = sharding->mesh_sizes[axis];
    if (size < 1 || size > sharding->num_partitions) {
      return 0;
    }
    places *= size; /* both factors are less than 2^31 */
    if (places > sharding->num_partitions) {
      return 0;
    }
  }
  return places == sharding->num_partitions;
}

/* True if every axis in the lists of all dimensions exists and is there once. */
static int are_axes(const hlo_sharding *sharding) {
  const int64_t *axes = sharding->axes, *end = axes;
  for (int32_t dim = 0; dim < sharding->rank; ++dim) {
    const int64_t count = *end;
    if (count < 0 || count > sharding->num_axes) {
      return 0;
    }
    for (int64_t k = 1; k <= count; ++k) {
      const int64_t axis = end[k];
      if (axis < 0 || axis >= sharding->num_axes) {
        return 0;
      }
      for (const int64_t *list = axes; list <= end; list += list[0] + 1) {
        for (int64_t i = 1; i <= list[0] && &list[i] != &end[k]; ++i) {
          if (list[i] == axis) {
            return 0;
          }
        }
      }
    }
    end += count + 1;
  }
  return 1;
}

/* True if the sharding is that of an array whose shards have the sizes desc->dims. */
static int is_valid(const hlo_buffer_desc *desc) {
  const hlo_sharding *sharding = desc->sharding;
  if (sharding->struct_size < sizeof *sharding || sharding->rank != desc->rank ||
      (desc->rank > 0 && (sharding->dims == NULL || sharding->axes == NULL)) ||
      !is_mesh(sharding) || !are_axes(sharding) || hlo_shard_global_bytes(desc) > INT64_MAX) {
    return 0;
  }
  const int64_t *axes = sharding->axes;
  for (int32_t dim = 0; dim < desc->rank; ++dim, axes += axes[0] + 1) {
    if (range_of(sharding, axes, dim, 0).size != desc->dims[dim]) {
      return 0;
    }
  }
  return 1;
}

/* Checks the arguments; sets `place` to that of the rank in the mesh. */
static hlo_status check(const hlo_buffer_desc *desc, int32_t rank, int64_t *place) {
  *place = 0;
  if (desc == NULL) {
    return HLO_ERR_NULL;
  }
  if (rank < 0) {
    return HLO_OUT_OF_RANGE;
  }
  const hlo_array array = hlo_array_of(desc);
  if (!hlo_array_valid(&array) || hlo_type_bits(desc->type) == 0) {
    return HLO_ERR_VIEW;
  }
  uint64_t bits = (uint64_t)hlo_element_count(&array);
  if (!hlo_multiply_size(&bits, (uint64_t)hlo_type_bits(desc->type)) ||
      desc->bytes < bits / 8 + (bits % 8 != 0)) {
    return HLO_ERR_VIEW;
  }
  if (desc->sharding != NULL) {
    if (!is_valid(desc)) {
      return HLO_ERR_VIEW;
    }
    *place = place_of(desc->sharding, rank % desc->sharding->num_partitions);
  }
  return *place >= 0 && *place < INT32_MAX ? HLO_OK : HLO_ERR_VIEW;
}

/*===- Copies ---------------------------------------------------------------------*/

/* The runs of a shard that check() has found valid. */
static Runs runs_of(const hlo_buffer_desc *desc, int64_t place) {
  const hlo_sharding *sharding = desc->sharding;
  const hlo_array array = hlo_array_of(desc);
  Runs runs;
  Places step = {1, 1};
  int in_run = 1, is_whole = 1; /* the dimensions so far of the run, or of the last loop */
  runs.length = 1;
  runs.start = 0;
  runs.is_partial = 0;
  runs.loops = 0;
  for (int32_t i = 0; i < desc->rank; ++i) {
    const int32_t dim = (int32_t)hlo_minor_dim(&array, i);
    const int64_t all = sharding->dims[dim], own = desc->dims[dim];
    const hlo_shard_range range = range_of(sharding, axes_of(sharding, dim), dim, place);
    runs.is_partial |= range.size < own;
    if (range.size == 0) {
      runs.length = 0;
      runs.is_partial = 1;
      return runs;
    }
    runs.start += range.start * step.global;
    if (all > 1) {
      const int is_all = range.size == all;
      if (in_run) {
        runs.length *= range.size;
        in_run = is_all;
      } else if (is_whole && runs.loops > 0) {
        runs.counts[runs.loops - 1] *= range.size;
      } else {
        runs.counts[runs.loops] = range.size;
        runs.steps[runs.loops++] = step;
      }
      is_whole = is_all && runs.loops > 0;
    }
    step.global *= all;
    step.shard *= own;
  }
  return runs;
}

/* Copies `count` packed elements; the others of the bytes that they share stay. */
static void copy_packed(char *to, int64_t to_start, const char *from, int64_t from_start,
                        int64_t count, int32_t type) {
  const int64_t per_byte = 8 / hlo_type_bits(type);
  int64_t i = 0;
  while (i < count) {
    const int64_t at = to_start + i, source = from_start + i;
    if (at % per_byte == 0 && source % per_byte == 0 && count - i >= per_byte) {
      const int64_t bytes = (count - i) / per_byte;
      memcpy(to + at / per_byte, from + source / per_byte, (size_t)bytes);
      i += bytes * per_byte;
    } else {
      hlo_packed_set(to, type, at, hlo_packed_get(from, type, source));
      ++i;
    }
  }
}

/* Copies `count` runs of `bytes` bytes that are to_step and from_step bytes apart. */
static void copy_line(char *to, const char *from, int64_t bytes, int64_t count, int64_t to_step,
                      int64_t from_step) {
/* Of a size that the compiler knows a copy is an instruction or two, not a call. */
#define COPY_OF(size)                                               \
  for (int64_t i = 0; i < count; ++i) {                             \
    memcpy(to + i * to_step, from + i * from_step, (size_t)(size)); \
  }                                                                 \
  return
  switch (bytes) {
    case 1:
      COPY_OF(1);
    case 2:
      COPY_OF(2);
    case 4:
      COPY_OF(4);
    case 8:
      COPY_OF(8);
    case 16:
      COPY_OF(16);
    case 32:
      COPY_OF(32);
    default:
      COPY_OF(bytes);
  }
#undef COPY_OF
}

/* Copies the runs from or to the array. */
static void copy_runs(const Runs *runs, int32_t type, char *to, const char *from, int takes) {
  const int32_t bits = hlo_type_bits(type), item = bits / 8;
  const int64_t count = runs->loops > 0 ? runs->counts[0] : 1;
  const Places step = runs->loops > 0 ? runs->steps[0] : (Places){0, 0};
  const int64_t to_step = takes ? step.shard : step.global;
  const int64_t from_step = takes ? step.global : step.shard;
  int64_t index[MOST_LOOPS] = {0};
  Places at = {runs->start, 0};
  int32_t loop;
  do {
    const int64_t target = takes ? at.shard : at.global, source = takes ? at.global : at.shard;
    if (bits >= 8) {
      copy_line(to + target * item, from + source * item, runs->length * item, count,
                to_step * item, from_step * item);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        copy_packed(to, target + i * to_step, from, source + i * from_step, runs->length, type);
      }
    }
    for (loop = 1; loop < runs->loops; ++loop) {
      at.global += runs->steps[loop].global;
      at.shard += runs->steps[loop].shard;
      if (++index[loop] < runs->counts[loop]) {
        break;
      }
      at.global -= runs->steps[loop].global * runs->counts[loop];
      at.shard -= runs->steps[loop].shard * runs->counts[loop];
      index[loop] = 0;
    }
  } while (loop < runs->loops);
}

static hlo_status copy(const hlo_buffer_desc *desc, int32_t rank, char *to, const char *from,
                       int takes) {
  int64_t place;
  const hlo_status status = check(desc, rank, &place);
  if (status != HLO_OK) {
    return status;
  }
  const int is_empty = desc->bytes == 0;
  if ((to == NULL || from == NULL) && !is_empty) {
    return HLO_ERR_NULL;
  }
  if (is_empty || desc->sharding == NULL) {
    if (!is_empty) {
      memcpy(to, from, desc->bytes);
    }
    return HLO_OK;
  }
  const Runs runs = runs_of(desc, place);
  if (takes && runs.is_partial) {
    memset(to, 0, desc->bytes);
  }
  if (runs.length > 0) {
    copy_runs(&runs, desc->type, to, from, takes);
  }
  return HLO_OK;
}

/*===- The functions of the header --------------------------------------------------*/

uint64_t hlo_shard_bytes(const hlo_buffer_desc *desc) { return desc->bytes; }

uint64_t hlo_shard_global_bytes(const hlo_buffer_desc *desc) {
  const hlo_sharding *sharding = desc->sharding;
  int64_t elements;
  if (sharding == NULL) {
    return desc->bytes;
  }
  if (!hlo_count_elements(sharding->dims, sharding->rank, &elements)) {
    return UINT64_MAX;
  }
  uint64_t bits = (uint64_t)elements;
  return hlo_multiply_size(&bits, (uint64_t)hlo_type_bits(desc->type)) ? bits / 8 + (bits % 8 != 0)
                                                                       : UINT64_MAX;
}

hlo_status hlo_shard_take(const hlo_buffer_desc *desc, int32_t rank, const void *global,
                          void *shard) {
  return copy(desc, rank, (char *)shard, (const char *)global, /*takes=*/1);
}

hlo_status hlo_shard_put(const hlo_buffer_desc *desc, int32_t rank, const void *shard,
                         void *global) {
  return copy(desc, rank, (char *)global, (const char *)shard, /*takes=*/0);
}

hlo_status hlo_shard_part(const hlo_buffer_desc *desc, int32_t rank, int32_t dim,
                          hlo_shard_range *range) {
  int64_t place;
  const hlo_status status = check(desc, rank, &place);
  if (status != HLO_OK) {
    return status;
  }
  if (range == NULL) {
    return HLO_ERR_NULL;
  }
  if (dim < 0 || dim >= desc->rank) {
    return HLO_OUT_OF_RANGE;
  }
  range->start = 0;
  range->size = desc->dims[dim];
  if (desc->sharding != NULL) {
    *range = range_of(desc->sharding, axes_of(desc->sharding, dim), dim, place);
  }
  return HLO_OK;
}

int32_t hlo_shard_first(const hlo_buffer_desc *desc, int32_t rank) {
  const hlo_sharding *sharding;
  int64_t place, first;
  if (check(desc, rank, &place) != HLO_OK) {
    return -1;
  }
  sharding = desc->sharding;
  if (sharding == NULL) {
    return 0;
  }
  first = rank % sharding->num_partitions;
  for (int32_t other = 0; other < sharding->num_partitions; ++other) {
    const int64_t partition = sharding->devices != NULL ? sharding->devices[other] : other;
    int is_equal = partition < first;
    const int64_t *axes = sharding->axes;
    for (int32_t dim = 0; dim < sharding->rank && is_equal; ++dim, axes += axes[0] + 1) {
      int64_t parts;
      is_equal = shard_number(sharding, axes, other, &parts) ==
                 shard_number(sharding, axes, place, &parts);
    }
    if (is_equal) {
      first = partition;
    }
  }
  return (int32_t)first;
}
