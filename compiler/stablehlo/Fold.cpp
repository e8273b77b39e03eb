//===- Fold.cpp - Ops on constants ----------------------------------------===//
//
// XLA's export computes some functions of constants on the host, in double precision, and rounds:
// log(2) of a base-2 logarithm is a constant of the HLO text. Computed by a kernel it may differ in
// its last bit. Arithmetic on constants has one result whoever does it; it is folded so that
// functions of its results are.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Fold.h"
#include "dialect/hlo/Shapes.h"
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

APFloat apply(Function function, const APFloat &value) {
  APFloat number = value;
  bool lossy;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  APFloat result(function(number.convertToDouble()));
  result.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &lossy);
  return result;
}

DenseFPElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
}

/// The number that all elements are, if the value is a constant or a broadcast one.
std::optional<APFloat> numberOf(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  DenseFPElementsAttr values = constantOf(broadcast ? broadcast.getOperand() : value);
  if (!values || !values.isSplat()) {
    return std::nullopt;
  }
  return values.getSplatValue<APFloat>();
}

Value splat(Converter &c, RankedTensorType type, const APFloat &number) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value constant = c.hlo().constant(DenseElementsAttr::get(scalar, number));
  return type.getRank() == 0 ? constant
                             : c.create("hlo.broadcast", type, constant, c.dims("dimensions", {}));
}

Value foldArithmetic(Converter &c, Operation *op) {
  enum class Kind { None, Add, Subtract, Multiply, Divide };
  Kind kind = llvm::StringSwitch<Kind>(op->getName().stripDialect())
                  .Case("add", Kind::Add)
                  .Case("subtract", Kind::Subtract)
                  .Case("multiply", Kind::Multiply)
                  .Case("divide", Kind::Divide)
                  .Default(Kind::None);
  RankedTensorType type = kind == Kind::None ? RankedTensorType() : c.array(op->getResult(0));
  if (!type || !isFloat(type.getElementType())) {
    return Value();
  }
  std::optional<APFloat> lhs = numberOf(c.get(op->getOperand(0)));
  std::optional<APFloat> rhs = lhs ? numberOf(c.get(op->getOperand(1))) : std::nullopt;
  // Formats without infinities and the like are left to the evaluator.
  if (!rhs || &lhs->getSemantics() != &rhs->getSemantics() ||
      APFloat::semanticsSizeInBits(lhs->getSemantics()) < 16) {
    return Value();
  }
  constexpr auto rounding = APFloat::rmNearestTiesToEven;
  switch (kind) {
  case Kind::Add: lhs->add(*rhs, rounding); break;
  case Kind::Subtract: lhs->subtract(*rhs, rounding); break;
  case Kind::Multiply: lhs->multiply(*rhs, rounding); break;
  case Kind::Divide: lhs->divide(*rhs, rounding); break;
  case Kind::None: return Value();
  }
  return lhs->isNaN() ? Value() : splat(c, type, *lhs);
}
} // namespace

Value hlo::stable::foldConstants(Converter &c, Operation *op) {
  Function function = functionOf(op->getName().stripDialect());
  if (!function) {
    return foldArithmetic(c, op);
  }
  Value operand = c.get(op->getOperand(0));
  if (std::optional<APFloat> number = numberOf(operand)) {
    return splat(c, HloBuilder::type(operand), apply(function, *number));
  }
  DenseFPElementsAttr values = constantOf(operand);
  if (!values || values.getNumElements() > kMostElements) {
    return Value();
  }
  DenseElementsAttr folded = values.mapValues(values.getElementType(), [&](const APFloat &value) {
    return apply(function, value).bitcastToAPInt();
  });
  return c.hlo().constant(folded);
}
