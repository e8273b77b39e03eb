//===- Reduction.cpp - The computation of a reduction ---------------------===//
//
// In: the `to_apply` of a reduce, a window, a scatter or a collective. Only computations that are
// one op are recognized; the simplifiers bring others to that form.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"

#include "compiler/analysis/Shapes.h"

using namespace mlir;

namespace hlo {

static Value throughConvert(Value v) {
  auto convert = v.getDefiningOp<ConvertOp>();
  if (!convert) {
    return v;
  }
  auto from = dyn_cast<FloatType>(elementTypeOf(convert.getOperand()));
  auto to = dyn_cast<FloatType>(elementTypeOf(convert.getResult()));
  bool widens = from && from.getWidth() < 32 && to && to.isF32();
  bool narrows = to && to.getWidth() < 32 && from && from.isF32();
  return widens || narrows ? convert.getOperand() : v;
}

Operation *associativeOp(ComputationOp computation) {
  Operation *end = computation.getReturn();
  if (computation.getNumArguments() != 2 || end->getNumOperands() != 1) {
    return nullptr;
  }
  Operation *op = throughConvert(end->getOperand(0)).getDefiningOp();
  if (!isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp, XorOp>(op)) {
    return nullptr;
  }
  Value a = throughConvert(op->getOperand(0)), b = throughConvert(op->getOperand(1));
  Value p = computation.getArgument(0), q = computation.getArgument(1);
  return (a == p && b == q) || (a == q && b == p) ? op : nullptr;
}

} // namespace hlo
