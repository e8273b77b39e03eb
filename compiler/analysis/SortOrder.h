//===- SortOrder.h - The order that a comparator defines ------------------===//
//
// A comparator is an order by keys if it compares one expression of the left element with the same
// expression of the right element, or several such pairs in turn:
//
//   a < b                          lt(f(a), f(b))
//   lexicographic                  lt(f(a), f(b)) or (eq(f(a), f(b)) and ...)
//
// f is any scalar expression, such as JAX's "NaN and -0 are replaced by constants". A sort by keys
// moves integers and never calls the comparator.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_SORTORDER_H
#define COMPILER_ANALYSIS_SORTORDER_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// One key of a lexicographic order.
struct SortKey {
  mlir::Value value; ///< the key of the left element: a parameter of the comparator, or an op in it
  mlir::Type element; ///< its element type
  bool descending = false;
  /// True: total order (-NaN < -inf < ... < -0 < 0 < ... < NaN). False: -0 equals 0, and NaN may be
  /// anywhere.
  bool total = false;
  /// The operand of the sort whose element is the key, except where the key is one of `constants`;
  /// -1 if the key is another expression.
  int64_t operand = -1;
  llvm::SmallVector<mlir::DenseElementsAttr, 2> constants;

  /// Width of the unsigned integer that has the key's order.
  unsigned bits() const;
  /// True if different elements of `operand` always have different keys.
  bool isInjective() const;
};

/// The keys that `comparator` orders by, most significant first; empty if it is not an order by
/// keys. Comparators that hold for equal elements (LE, GE) are not.
llvm::SmallVector<SortKey, 2> findSortKeys(ComputationOp comparator);

/// The element behind which the total order of a type, or its reverse, has no other: NaN with all
/// bits set but the sign or the greatest integer; in descending order -NaN with all bits set or the
/// least integer. Null for types whose last element is another one.
mlir::DenseElementsAttr lastInOrder(mlir::Type element, bool descending);

/// True if keys of this element type can be mapped to integers of the same order.
bool isSortableElement(mlir::Type element);

} // namespace hlo

#endif
