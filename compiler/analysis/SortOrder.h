//===- SortOrder.h - The order that a comparator stands for ---------------===//
//
// A comparator that compares one value of the left element with the same value of
// the right one, or several such values in turn, is an order by keys:
//
//   a < b                          lt(f(a), f(b))
//   lexicographic                  lt(f(a), f(b)) or (eq(f(a), f(b)) and ...)
//
// where f is any scalar expression, such as JAX's "NaN and -0 are replaced by
// constants". A sort by keys moves integers; nothing else about the comparator counts.
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
  /// Floats in total order (-NaN < -inf < ... < -0 < 0 < ... < NaN); else -0 equals 0 and NaN may
  /// be anywhere.
  bool total = false;
  /// The operand of the sort whose element the key is, unless it is one of `constants`; -1 if
  /// neither is known.
  int64_t operand = -1;
  llvm::SmallVector<mlir::DenseElementsAttr, 2> constants;

  /// Bits of the unsigned integer that has the order of the key.
  unsigned bits() const;
  /// Whether different elements of `operand` always have different keys.
  bool isInjective() const;
};

/// The keys that `comparator` orders by, the most significant first; empty if it is another
/// function. A comparator that holds for equal elements (LE, GE) is no order by keys.
llvm::SmallVector<SortKey, 2> findSortKeys(ComputationOp comparator);

/// Whether keys of this element type can be made integers of the same order.
bool isSortableElement(mlir::Type element);

} // namespace hlo

#endif
