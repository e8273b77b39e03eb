//===- Order.h - Orders of an array's dimensions --------------------------===//
//
// An order is a permutation of an array's dimensions: order[i] is the dimension that is number i
// in memory, from slowest to fastest. The array that is stored so has the shape order applied to
// the array's own.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_ORDER_H
#define COMPILER_TRANSFORMS_LAYOUT_ORDER_H

#include "dialect/hlo/Builder.h"

namespace hlo {

using Order = llvm::SmallVector<int64_t, 6>;

/// The order 0, 1, 2, ...
Order rowMajor(int64_t rank);
/// The place of each dimension in `order`: the inverse permutation.
Order placesOf(llvm::ArrayRef<int64_t> order);
/// `values`, one for each dimension, as `order` has the dimensions.
Order applied(llvm::ArrayRef<int64_t> order, llvm::ArrayRef<int64_t> values);
/// True if both orders put the elements of an array of this shape at the same places: dimensions of
/// size 1 may stand anywhere.
bool areSameBytes(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a,
                  llvm::ArrayRef<int64_t> b);
/// `value`, which is an array stored in order `from`, in order `to`: a transpose, or a reshape if
/// only dimensions of size 1 move.
mlir::Value reordered(HloBuilder &b, mlir::Value value, llvm::ArrayRef<int64_t> from,
                      llvm::ArrayRef<int64_t> to);

/// The order of a reshape's result that leaves the bytes of an operand in order `order` where they
/// are; nullopt if there is none. A reshape relates runs of dimensions of both shapes; the
/// dimensions of a run must be neighbours in `order`.
std::optional<Order> orderAfterReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                                       llvm::ArrayRef<int64_t> order);

} // namespace hlo

#endif
