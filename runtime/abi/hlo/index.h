/*===- hlo/index.h - Where the elements of an array are in its buffer ---------===*\
 *
 * An array has a position for each element, one number per dimension, and its buffer stores the
 * elements linearly. This header converts between the two, for any order of the dimensions and with
 * padding. Only inline functions; plain C99, also valid as C++11.
 *
 *   hlo_array a = hlo_array_of(hlo_input_at(desc, 0));
 *   int64_t at[2] = {3, 5};
 *   float x = buffer[hlo_linear_index(&a, at)];
 *
 *   hlo_array_index(&a, i, at);                   the position of element buffer[i]
 *
 *   int64_t at[3] = {0};                          all positions, row-major
 *   do { ... } while (hlo_next_index(&a, at));    (of an array that is not empty)
 *
 * `minor_to_major` lists the dimensions, fastest varying first. For an array of 2 x 3 elements, {1,
 * 0} (the default) is row-major and {0, 1} is column-major:
 *
 *   a b c      {1, 0}: a b c d e f
 *   d e f      {0, 1}: a d b e c f
 *
 * `padded_dims` are the sizes of the array in memory if it is padded: 2 x 3 in {3, 5} with {0, 1}
 * is a d . b e . c f . . . . . . . Buffers of compiled modules have no padding.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_INDEX_H
#define HLO_INDEX_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A shape and its layout. The caller owns the lists, which have `rank` entries; null for a scalar.
 */
typedef struct hlo_array {
  int32_t rank;
  const int64_t *dims;           /**< sizes, each >= 0 */
  const int64_t *minor_to_major; /**< a permutation of 0 .. rank - 1; null: row-major */
  const int64_t *padded_dims;    /**< sizes in memory, none below that of dims; null: dims */
} hlo_array;

/** The array of an input or output of a module. */
HLO_INLINE hlo_array hlo_array_of(const hlo_buffer_desc *desc) {
  hlo_array array;
  array.rank = desc->rank;
  array.dims = desc->dims;
  array.minor_to_major = desc->minor_to_major;
  array.padded_dims = NULL;
  return array;
}

/** The dimension that varies `i`th fastest. */
HLO_INLINE int64_t hlo_minor_dim(const hlo_array *array, int32_t i) {
  return array->minor_to_major != NULL ? array->minor_to_major[i] : array->rank - 1 - i;
}

/** The size of a dimension in memory. */
HLO_INLINE int64_t hlo_memory_dim(const hlo_array *array, int64_t dim) {
  return array->padded_dims != NULL ? array->padded_dims[dim] : array->dims[dim];
}

/** True if the description is valid: no negative size, an order with each dimension once, padding
 * that holds the elements, fewer than 2^63 places in memory. */
HLO_INLINE int hlo_array_valid(const hlo_array *array) {
  int64_t places = 1;
  int32_t i, k;
  int empty = 0;
  if (array->rank < 0 || (array->rank > 0 && array->dims == NULL)) {
    return 0;
  }
  for (i = 0; i < array->rank; ++i) {
    const int64_t size = hlo_memory_dim(array, i), dim = hlo_minor_dim(array, i);
    if (array->dims[i] < 0 || size < array->dims[i] || dim < 0 || dim >= array->rank) {
      return 0;
    }
    for (k = 0; k < i; ++k) {
      if (hlo_minor_dim(array, k) == dim) {
        return 0;
      }
    }
    empty |= size == 0;
  }
  for (i = 0; !empty && i < array->rank; ++i) {
    const int64_t size = hlo_memory_dim(array, i);
    if (places > INT64_MAX / size) {
      return 0;
    }
    places *= size;
  }
  return 1;
}

/** count * size for non-negative numbers; INT64_MAX if that does not fit. */
HLO_INLINE int64_t hlo_times(int64_t count, int64_t size) {
  return size <= 0 || count <= INT64_MAX / size ? count * (size > 0 ? size : 0) : INT64_MAX;
}

/** Number of elements: 0 if a size is 0. INT64_MAX, which no valid array has, if the product of the
 * sizes does not fit. */
HLO_INLINE int64_t hlo_element_count(const hlo_array *array) {
  int64_t count = 1;
  int32_t i;
  for (i = 0; i < array->rank; ++i) {
    count = hlo_times(count, array->dims[i]);
  }
  return count;
}

/** Number of places in memory: elements and padding. Overflow as in hlo_element_count. */
HLO_INLINE int64_t hlo_memory_count(const hlo_array *array) {
  int64_t count = 1;
  int32_t i;
  for (i = 0; i < array->rank; ++i) {
    count = hlo_times(count, hlo_memory_dim(array, i));
  }
  return count;
}

/** Distance in memory of two elements that are adjacent in a dimension. INT64_MAX, which only an
 * array without elements can have, if that does not fit. */
HLO_INLINE int64_t hlo_stride(const hlo_array *array, int64_t dim) {
  int64_t stride = 1;
  int32_t i;
  for (i = 0; i < array->rank && hlo_minor_dim(array, i) != dim; ++i) {
    stride = hlo_times(stride, hlo_memory_dim(array, hlo_minor_dim(array, i)));
  }
  return stride;
}

/** True if `index` is the position of an element. */
HLO_INLINE int hlo_index_in_bounds(const hlo_array *array, const int64_t *index) {
  int32_t i;
  for (i = 0; i < array->rank; ++i) {
    if (index[i] < 0 || index[i] >= array->dims[i]) {
      return 0;
    }
  }
  return 1;
}

/** The index in memory, counted in elements, of the element at a position. */
HLO_INLINE int64_t hlo_linear_index(const hlo_array *array, const int64_t *index) {
  int64_t linear = 0;
  int32_t i;
  for (i = array->rank - 1; i >= 0; --i) {
    const int64_t dim = hlo_minor_dim(array, i);
    linear = linear * hlo_memory_dim(array, dim) + index[dim];
  }
  return linear;
}

/** The position of an index in memory, 0 <= linear < hlo_memory_count(). Returns 1 for an element,
 * 0 for padding. */
HLO_INLINE int hlo_array_index(const hlo_array *array, int64_t linear, int64_t *index) {
  int32_t i;
  for (i = 0; i < array->rank; ++i) {
    const int64_t dim = hlo_minor_dim(array, i), size = hlo_memory_dim(array, dim);
    index[dim] = linear % size;
    linear /= size;
  }
  return hlo_index_in_bounds(array, index);
}

/** Advances to the next position in row-major order, whatever the layout. After the last one
 * returns 0 and resets `index` to zero. */
HLO_INLINE int hlo_next_index(const hlo_array *array, int64_t *index) {
  int32_t i;
  for (i = array->rank - 1; i >= 0; --i) {
    if (++index[i] < array->dims[i]) {
      return 1;
    }
    index[i] = 0;
  }
  return 0;
}

/** The bits of one element in a buffer whose type is smaller than a byte (hlo_type_bits() below
 * 8). Such elements are packed, the first one in the lowest bits of the first byte. 0 for larger
 * types. */
HLO_INLINE uint8_t hlo_packed_get(const void *buffer, int32_t type, int64_t linear) {
  const int32_t bits = hlo_type_bits(type);
  int64_t byte;
  int32_t shift;
  if (bits < 1 || bits > 8) {
    return 0;
  }
  byte = linear / (8 / bits); /* bits is 1, 2, 4 or 8 */
  shift = (int32_t)(linear % (8 / bits)) * bits;
  return (uint8_t)((((const uint8_t *)buffer)[byte] >> shift) & ((1 << bits) - 1));
}

/** Sets the bits of an element; bits of `value` above the type's are ignored. */
HLO_INLINE void hlo_packed_set(void *buffer, int32_t type, int64_t linear, uint8_t value) {
  const int32_t bits = hlo_type_bits(type);
  uint8_t *byte;
  int32_t shift;
  int mask;
  if (bits < 1 || bits > 8) {
    return;
  }
  byte = (uint8_t *)buffer + linear / (8 / bits);
  shift = (int32_t)(linear % (8 / bits)) * bits;
  mask = ((1 << bits) - 1) << shift;
  *byte = (uint8_t)((*byte & ~mask) | ((value << shift) & mask));
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_INDEX_H */
