//===- OrderRules.h - Ops that work on arrays in any order ----------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_ORDERRULES_H
#define COMPILER_TRANSFORMS_LAYOUT_ORDERRULES_H

#include "compiler/transforms/layout/Order.h"

namespace hlo {

/// The orders in which an op reads its operands and writes its results. An empty order: an array
/// that is not reordered, such as a scalar.
struct OpOrders {
  llvm::SmallVector<Order, 3> operands;
  llvm::SmallVector<Order, 1> results;
  bool operator==(const OpOrders &) const = default;
};

/// The orders of an op, given that of the array at its loops' indices: its first result's, or, of
/// a reduction, its first operand's. nullopt: the op works on row-major arrays only.
std::optional<OpOrders> ordersOf(mlir::Operation *op, llvm::ArrayRef<int64_t> main);
/// The order to ask ordersOf about if operand `number` is in order `order`; nullopt if several are
/// as good (a broadcast), or none is.
std::optional<Order> mainFromOperand(mlir::Operation *op, unsigned number,
                                     llvm::ArrayRef<int64_t> order);
/// The same for a result.
std::optional<Order> mainFromResult(mlir::Operation *op, llvm::ArrayRef<int64_t> order);
/// Changes the types of results and the attributes of an op whose operands have been replaced by
/// arrays in these orders.
void reorderOp(mlir::Operation *op, llvm::ArrayRef<int64_t> main, const OpOrders &orders);

/// The dimensions of a convolution's input, kernel and result, by what they are.
struct ConvOrders {
  Order input, kernel, result;
};
/// The order of the input, and of the result, in which features are last and everything else stays
/// as it is.
ConvOrders featuresLast(ConvolutionOp conv);
/// The order of the result in which its dimensions stand as those of the same meaning do in an
/// input of order `input`, and the reverse.
Order resultLikeInput(ConvolutionOp conv, llvm::ArrayRef<int64_t> input);
Order inputLikeResult(ConvolutionOp conv, llvm::ArrayRef<int64_t> result);
/// The type and the dimension numbers of a convolution whose arrays are in these orders. The
/// operands are those of the caller.
void reorderConvolution(ConvolutionOp conv, const ConvOrders &orders);

} // namespace hlo

#endif
