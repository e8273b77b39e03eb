//===- Permute.h - From one order of dimensions to another ----------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_PERMUTE_H
#define TOOLS_HLO_RUN_ARRAYS_PERMUTE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace hlo::run {

/// Dimension numbers from the fastest varying to the slowest, for numpy's two orders.
llvm::SmallVector<int64_t> rowMajor(size_t rank);
llvm::SmallVector<int64_t> columnMajor(size_t rank);

/// True if dense arrays of this shape have the same bytes in both orders (dimensions of size 1 do
/// not count).
bool sameOrder(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Copies a dense array with dimension order `from` (fastest first) into one with order `to`. Items
/// have 1, 2, 4, 8 or 16 bytes; the two do not overlap.
void permute(llvm::ArrayRef<int64_t> dims, int64_t itemBytes, const char *source,
             llvm::ArrayRef<int64_t> from, char *target, llvm::ArrayRef<int64_t> to);

} // namespace hlo::run

#endif
