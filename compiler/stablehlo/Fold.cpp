//===- Fold.cpp - Functions of constants ----------------------------------===//
//
// XLA's export computes these functions of constants on the host, in double precision, and rounds:
// log(2) of a base-2 logarithm is a constant of the HLO text. Computed by a kernel it may differ in
// its last bit. Ops with exact results need no folding here: when they are done does not matter.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Fold.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

namespace {
/// Elements of the largest constant that the export folds.
constexpr int64_t kMostElements = 65536;

using Function = double (*)(double);

double rsqrt(double x) { return 1 / std::sqrt(x); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

Function functionOf(StringRef name) {
  return llvm::StringSwitch<Function>(name)
      .Case("cosine", std::cos)
      .Case("exponential", std::exp)
      .Case("log", std::log)
      .Case("logistic", logistic)
      .Case("rsqrt", rsqrt)
      .Case("sine", std::sin)
      .Case("sqrt", std::sqrt)
      .Case("tan", std::tan)
      .Case("tanh", std::tanh)
      .Default(nullptr);
}

DenseElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseElementsAttr();
}
} // namespace

Value hlo::stable::foldFunction(Converter &c, Operation *op) {
  Function function = functionOf(op->getName().stripDialect());
  if (!function) {
    return Value();
  }
  Value operand = c.get(op->getOperand(0));
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  auto values = dyn_cast_if_present<DenseFPElementsAttr>(
      constantOf(broadcast ? broadcast.getOperand() : operand));
  if (!values || (!values.isSplat() && values.getNumElements() > kMostElements)) {
    return Value();
  }
  Type element = values.getElementType();
  const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
  DenseElementsAttr folded = values.mapValues(element, [&](const APFloat &value) {
    APFloat number = value;
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    APFloat result(function(number.convertToDouble()));
    result.convert(semantics, APFloat::rmNearestTiesToEven, &lossy);
    return result.bitcastToAPInt();
  });
  Value constant = ConstantOp::create(c.builder, c.location, folded.getType(), folded);
  return broadcast ? c.create("hlo.broadcast", broadcast.getType(), constant,
                              c.dims("dimensions", broadcast.getDimensions()))
                   : constant;
}
