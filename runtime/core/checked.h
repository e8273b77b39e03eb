/*===- checked.h - Overflow-checked sizes and times -----------------------------===*\
 *
 * Sums and products with overflow checks, and deadlines that saturate. For every number that a
 * module, a file or a caller chooses: dimensions, counts, byte sizes, time-outs. C11, also valid as
 * C++ (libhlo_lapack).
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_CHECKED_H
#define RUNTIME_CORE_CHECKED_H

#include <stdint.h>

/** Sets *total to *total + more. Returns whether it fits; if not, *total is unspecified. */
static inline int hlo_add_size(uint64_t *total, uint64_t more) {
  return !__builtin_add_overflow(*total, more, total);
}

/** Sets *total to *total * times. Returns whether it fits; if not, *total is unspecified. */
static inline int hlo_multiply_size(uint64_t *total, uint64_t times) {
  return !__builtin_mul_overflow(*total, times, total);
}

/** Rounds *bytes up to a multiple of `align`, a power of two. Returns whether it fits; if not,
 * *bytes is unspecified. */
static inline int hlo_align_size(uint64_t *bytes, uint64_t align) {
  const int fits = hlo_add_size(bytes, align - 1);
  *bytes &= ~(align - 1);
  return fits;
}

/** Sets *count to the product of all dimensions. Returns whether no dimension is negative and the
 * product fits in an int64_t; if not, *count is unspecified. With a dimension of 0 the product is
 * 0, however large the others are. */
static inline int hlo_count_elements(const int64_t *dims, int64_t rank, int64_t *count) {
  int fits = 1, empty = 0;
  int64_t product = 1;
  for (int64_t d = 0; d < rank; ++d) {
    if (dims[d] < 0) {
      return 0;
    }
    empty |= dims[d] == 0;
    fits = fits && !__builtin_mul_overflow(product, dims[d], &product);
  }
  *count = empty ? 0 : product;
  return fits || empty;
}

/** a + b, clamped to the range of int64_t. */
static inline int64_t hlo_saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/** The end of a wait of `timeout_ns` that starts at `now_ns`; clamped to the end of the clock. 0,
 * which means never, for a time-out of 0 or less. */
static inline int64_t hlo_deadline_after(int64_t now_ns, int64_t timeout_ns) {
  return timeout_ns > 0 ? hlo_saturating_add(now_ns, timeout_ns) : 0;
}

#endif
