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

DenseElementsAttr extremeOf(Type element, bool least) {
  RankedTensorType scalar = RankedTensorType::get({}, element);
  if (auto real = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    if (least && !APFloat::semanticsHasSignedRepr(semantics)) {
      return DenseElementsAttr::get(scalar, APFloat::getSmallest(semantics));
    }
    return DenseElementsAttr::get(scalar, APFloat::semanticsHasInf(semantics)
                                              ? APFloat::getInf(semantics, least)
                                              : APFloat::getLargest(semantics, least));
  }
  auto integer = cast<IntegerType>(element);
  unsigned width = integer.getWidth();
  if (integer.isSigned()) {
    return DenseElementsAttr::get(scalar, least ? APInt::getSignedMinValue(width)
                                                : APInt::getSignedMaxValue(width));
  }
  return DenseElementsAttr::get(scalar, least ? APInt::getZero(width) : APInt::getAllOnes(width));
}

DenseElementsAttr identityOf(Operation *op, Type element) {
  RankedTensorType scalar = RankedTensorType::get({}, element);
  bool adds = isa<AddOp>(op), multiplies = isa<MultiplyOp>(op);
  if (isa<MaximumOp, MinimumOp>(op)) {
    return isa<ComplexType>(element) ? DenseElementsAttr()
                                     : extremeOf(element, /*least=*/isa<MaximumOp>(op));
  }
  // -0 + x is x, also where x is -0.
  auto numberOf = [&](FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    return adds ? APFloat::getZero(semantics, /*Negative=*/true) : APFloat::getOne(semantics);
  };
  if (auto real = dyn_cast<FloatType>(element)) {
    return adds || multiplies ? DenseElementsAttr::get(scalar, numberOf(real))
                              : DenseElementsAttr();
  }
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (!adds && !multiplies) {
      return {};
    }
    auto part = cast<FloatType>(complex.getElementType());
    APFloat number = numberOf(part), zero = APFloat::getZero(part.getFloatSemantics());
    return DenseElementsAttr::get(scalar, std::complex<APFloat>(number, adds ? number : zero));
  }
  // Multiplication of pred is `and`, addition `or`.
  unsigned width = cast<IntegerType>(element).getWidth();
  bool ones = isa<AndOp>(op) || (multiplies && width == 1);
  return DenseElementsAttr::get(scalar, ones         ? APInt::getAllOnes(width)
                                        : multiplies ? APInt(width, 1)
                                                     : APInt::getZero(width));
}

} // namespace hlo
