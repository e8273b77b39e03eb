//===- AlgebraicElementwise.cpp - Rules of element-wise ops ---------------===//
//
// Each rule keeps every bit of the result except NaN payloads: x + 0 is x only for integers (for
// floats -0 + 0 is +0), x - 0 and x * 1 always. Rules for division by a constant and for powers
// state their error.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"
#include <limits>

using namespace mlir;
using namespace hlo;

// x + 0 -> x for integers, x + -0.0 -> x
static Value addZero(AddOp op, HloBuilder &b) {
  for (auto [x, zero] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isInteger(zero, 0) || isFloat(zero, -0.0)) {
      return x;
    }
  }
  return {};
}

// x - 0 -> x; x - x -> 0 for integers
static Value subtractZero(SubtractOp op, HloBuilder &b) {
  if (isInteger(op.getRhs(), 0) || isFloat(op.getRhs(), 0.0)) {
    return op.getLhs();
  }
  if (op.getLhs() == op.getRhs() && isIntegral(op.getLhs())) {
    return b.splat(HloBuilder::type(op.getResult()), 0);
  }
  return {};
}

// x * 1 -> x; x * 0 -> 0 for integers
static Value multiplyOne(MultiplyOp op, HloBuilder &b) {
  for (auto [x, c] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isInteger(c, 1) || isFloat(c, 1.0)) {
      return x;
    }
    if (isInteger(c, 0)) {
      return c;
    }
  }
  return {};
}

// x / 1 -> x
static Value divideOne(DivideOp op, HloBuilder &b) {
  bool one = isFloat(op.getRhs(), 1.0) || (isInteger(op.getRhs(), 1) && !isPred(op.getRhs()));
  return one ? op.getLhs() : Value();
}

// x / c -> x * (1 / c) for floats: exact if c is a power of two; in f32 and f64 for every constant
// with a normal inverse, as in XLA:CPU (a division takes as long as eight multiplications)
static Value divideByConstant(DivideOp op, HloBuilder &b) {
  constexpr int64_t mostElements = 1 << 16;
  auto broadcast = op.getRhs().getDefiningOp<BroadcastOp>();
  Value divisor = broadcast ? broadcast.getOperand() : op.getRhs();
  auto constant = divisor.getDefiningOp<ConstantOp>();
  auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  auto element = values ? dyn_cast<FloatType>(values.getElementType()) : FloatType();
  if (!element || element.getWidth() < 16 || op.getLhs().getDefiningOp<ConstantOp>()) {
    return {};
  }
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  auto invert = [&](const APFloat &value) -> std::optional<APFloat> {
    APFloat inverse(semantics);
    if (value.getExactInverse(&inverse)) {
      return inverse;
    }
    inverse = APFloat(semantics, 1);
    inverse.divide(value, APFloat::rmNearestTiesToEven);
    bool works = isa<Float32Type, Float64Type>(element) && value.isNormal() && inverse.isNormal();
    return works ? std::optional(inverse) : std::nullopt;
  };
  SmallVector<APFloat> inverses;
  if (values.isSplat()) {
    if (std::optional<APFloat> inverse = invert(values.getSplatValue<APFloat>())) {
      inverses.push_back(*inverse);
    }
  } else if (values.getNumElements() <= mostElements) {
    for (const APFloat &value : values.getValues<APFloat>()) {
      std::optional<APFloat> inverse = invert(value);
      if (!inverse) {
        return {};
      }
      inverses.push_back(*inverse);
    }
  }
  if (inverses.empty()) {
    return {};
  }
  if (values.isSplat()) {
    Value factor = b.constant(DenseElementsAttr::get(RankedTensorType::get({}, element), inverses));
    return b.mul(op.getLhs(), b.broadcastScalar(factor, shapeOf(op.getResult())));
  }
  Value factor =
      b.constant(DenseElementsAttr::get(cast<RankedTensorType>(divisor.getType()), inverses));
  return b.mul(op.getLhs(),
               broadcast ? b.broadcast(factor, shapeOf(op.getResult()), broadcast.getDimensions())
                         : factor);
}

/// x^2 and x^3 as multiplications, roots and reciprocals of x, by the value of `exponent`; null for
/// other exponents. As in C's pow, (-0)^(1/2) and (-infinity)^(1/2) are positive. Types narrower
/// than f32 are rounded once.
static Value powerByArithmetic(Value x, Value exponent, HloBuilder &b) {
  Type element = elementTypeOf(x);
  Type wide = element.getIntOrFloatBitWidth() < 32 ? b.b.getF32Type() : element;
  auto rounded = [&](llvm::function_ref<Value(Value)> power) {
    return b.convert(power(b.convert(x, wide)), element);
  };
  auto constant = [&](double value) { return b.splat(HloBuilder::array(shapeOf(x), wide), value); };
  auto ofFinite = [&](Value base, Value root, double ofInfinity) {
    Value infinite = b.compare(base, constant(-std::numeric_limits<double>::infinity()), "EQ");
    return b.select(infinite, constant(ofInfinity), b.unary<AbsOp>(root));
  };
  if (isFloat(exponent, 2.0)) {
    return rounded([&](Value base) { return b.mul(base, base); });
  }
  if (isFloat(exponent, 3.0)) {
    return rounded([&](Value base) { return b.mul(b.mul(base, base), base); });
  }
  if (isFloat(exponent, -1.0)) {
    return rounded([&](Value base) { return b.div(constant(1.0), base); });
  }
  if (isFloat(exponent, 0.5)) {
    return rounded([&](Value base) {
      return ofFinite(base, b.unary<SqrtOp>(base), std::numeric_limits<double>::infinity());
    });
  }
  if (isFloat(exponent, -0.5)) {
    return rounded([&](Value base) { return ofFinite(base, b.unary<RsqrtOp>(base), 0.0); });
  }
  return {};
}

// x^0 -> 1, x^1 -> x; x^2 -> x x, x^3 -> x x x; for floats x^-1 -> 1 / x, x^0.5 and x^-0.5 ->
// roots. For floats all are correctly rounded except x^3 and x^-0.5, which are within two ulp;
// XLA:CPU does the same. A power takes as long as thirty multiplications.
static Value powerOfConstant(PowerOp op, HloBuilder &b) {
  Value x = op.getLhs(), exponent = op.getRhs();
  auto element = dyn_cast<FloatType>(elementTypeOf(x));
  if (element && element.getWidth() < 16) {
    return {};
  }
  if (isInteger(exponent, 0) || isFloat(exponent, 0.0) || isFloat(exponent, -0.0)) {
    return b.splat(HloBuilder::type(op.getResult()), 1.0);
  }
  if (isInteger(exponent, 1) || isFloat(exponent, 1.0)) {
    return x;
  }
  if (isInteger(exponent, 2)) {
    return b.mul(x, x);
  }
  if (isInteger(exponent, 3)) {
    return b.mul(b.mul(x, x), x);
  }
  return element ? powerByArithmetic(x, exponent, b) : Value();
}

// x & x -> x; x & true -> x; x & 0 -> 0
static Value simplifyAnd(AndOp op, HloBuilder &b) {
  if (op.getLhs() == op.getRhs()) {
    return op.getLhs();
  }
  for (auto [x, c] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isInteger(c, -1)) {
      return x;
    }
    if (isInteger(c, 0)) {
      return c;
    }
  }
  return {};
}

// x | x -> x; x | 0 -> x; x | true -> true
static Value simplifyOr(OrOp op, HloBuilder &b) {
  if (op.getLhs() == op.getRhs()) {
    return op.getLhs();
  }
  for (auto [x, c] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isInteger(c, 0)) {
      return x;
    }
    if (isInteger(c, -1)) {
      return c;
    }
  }
  return {};
}

// x ^ 0 -> x; x ^ x -> 0; p ^ true -> not p
static Value simplifyXor(XorOp op, HloBuilder &b) {
  if (op.getLhs() == op.getRhs()) {
    return b.splat(HloBuilder::type(op.getResult()), 0);
  }
  for (auto [x, c] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isInteger(c, 0)) {
      return x;
    }
    if (isInteger(c, -1)) {
      return b.unary<NotOp>(x);
    }
  }
  return {};
}

// x << 0, x >> 0 -> x
template <typename Op> static Value shiftByZero(Op op, HloBuilder &b) {
  return isInteger(op.getRhs(), 0) ? op.getLhs() : Value();
}

// x << n, x >> n (logical) by the width or more -> 0
template <typename Op> static Value shiftByWidth(Op op, HloBuilder &b) {
  DenseElementsAttr attr = splatConstant(op.getRhs());
  if (!attr ||
      attr.getSplatValue<APInt>().ult(elementTypeOf(op.getRhs()).getIntOrFloatBitWidth())) {
    return {};
  }
  return b.splat(HloBuilder::type(op.getResult()), 0);
}

// max(x, x), min(x, x) -> x
template <typename Op> static Value idempotent(Op op, HloBuilder &b) {
  return op.getLhs() == op.getRhs() ? op.getLhs() : Value();
}

// f(f(x)) -> x for not, negate
template <typename Op> static Value involution(Op op, HloBuilder &b) {
  auto inner = op.getOperand().template getDefiningOp<Op>();
  return inner ? inner.getOperand() : Value();
}

// f(f(x)) -> f(x) for abs, ceil, floor, rounding
template <typename Op> static Value projection(Op op, HloBuilder &b) {
  return op.getOperand().template getDefiningOp<Op>() ? op.getOperand() : Value();
}

// not(compare LT) -> compare GE and so on, where no operand is a NaN
static Value negatedCompare(NotOp op, HloBuilder &b) {
  auto compare = op.getOperand().getDefiningOp<CompareOp>();
  if (!compare || !compare->hasOneUse()) {
    return {};
  }
  StringRef direction = compare.getDirection();
  bool total = isIntegral(compare.getLhs()) || compare.getType() == "TOTALORDER";
  if (!total && direction != "EQ" && direction != "NE") {
    return {};
  }
  StringRef opposite = llvm::StringSwitch<StringRef>(direction)
                           .Case("EQ", "NE")
                           .Case("NE", "EQ")
                           .Case("LT", "GE")
                           .Case("GE", "LT")
                           .Case("GT", "LE")
                           .Case("LE", "GT")
                           .Default("");
  return b.compare(compare.getLhs(), compare.getRhs(), opposite, compare.getType().value_or(""));
}

// x == x, x <= x, x >= x -> true, x != x, x < x, x > x -> false for integers; unsigned x < 0 ->
// false
static Value compareConstant(CompareOp op, HloBuilder &b) {
  if (!isIntegral(op.getLhs())) {
    return {};
  }
  auto constant = [&](bool value) {
    return b.splat(HloBuilder::type(op.getResult()), value ? 1 : 0);
  };
  StringRef direction = op.getDirection();
  if (op.getLhs() == op.getRhs()) {
    return constant(direction == "EQ" || direction == "LE" || direction == "GE");
  }
  bool isUnsigned = !cast<IntegerType>(elementTypeOf(op.getLhs())).isSigned();
  if (isUnsigned && isInteger(op.getRhs(), 0) && (direction == "LT" || direction == "GE")) {
    return constant(direction == "GE");
  }
  if (isPred(op.getLhs()) && direction == "NE" && isInteger(op.getRhs(), 0)) {
    return op.getLhs();
  }
  if (isPred(op.getLhs()) && direction == "EQ" && isInteger(op.getRhs(), 1)) {
    return op.getLhs();
  }
  return {};
}

// select(true, x, y) -> x; select(false, x, y) -> y; select(p, x, x) -> x; select(not p, x, y) ->
// select(p, y, x); select(p, true, false) -> p
static Value simplifySelect(SelectOp op, HloBuilder &b) {
  if (isInteger(op.getPred(), 1)) {
    return op.getOnTrue();
  }
  if (isInteger(op.getPred(), 0)) {
    return op.getOnFalse();
  }
  if (op.getOnTrue() == op.getOnFalse()) {
    return op.getOnTrue();
  }
  if (auto inverted = op.getPred().getDefiningOp<NotOp>()) {
    return b.select(inverted.getOperand(), op.getOnFalse(), op.getOnTrue());
  }
  if (isPred(op.getOnTrue()) && isInteger(op.getOnTrue(), 1) && isInteger(op.getOnFalse(), 0)) {
    return b.broadcastLike(op.getPred(), op.getResult());
  }
  return {};
}

/// True if every value of type `narrow` is a value of `wide`.
static bool isWidening(Type narrow, Type wide) {
  auto fromInteger = dyn_cast<IntegerType>(narrow), toInteger = dyn_cast<IntegerType>(wide);
  if (fromInteger && toInteger) {
    if (fromInteger.isSigned() == toInteger.isSigned()) {
      return toInteger.getWidth() >= fromInteger.getWidth();
    }
    return toInteger.isSigned() && toInteger.getWidth() > fromInteger.getWidth();
  }
  auto fromFloat = dyn_cast<FloatType>(narrow), toFloat = dyn_cast<FloatType>(wide);
  if (fromFloat && toFloat) {
    return isa<Float16Type, BFloat16Type, Float32Type>(fromFloat) &&
           isa<Float32Type, Float64Type>(toFloat) && toFloat.getWidth() >= fromFloat.getWidth();
  }
  return false;
}

// convert to the same type -> x; convert(convert(x)) -> convert(x) if the inner one is exact
static Value simplifyConvert(ConvertOp op, HloBuilder &b) {
  Type to = elementTypeOf(op.getResult());
  if (elementTypeOf(op.getOperand()) == to) {
    return op.getOperand();
  }
  auto inner = op.getOperand().getDefiningOp<ConvertOp>();
  if (!inner) {
    return {};
  }
  Type from = elementTypeOf(inner.getOperand()), middle = elementTypeOf(inner.getResult());
  bool sameClass = isa<IntegerType>(from) == isa<IntegerType>(middle);
  // Converting an integer to a narrow float through a wider float would round twice.
  return sameClass && isWidening(from, middle) ? b.convert(inner.getOperand(), to) : Value();
}

// bitcast-convert to the same type -> x; two bitcast-converts -> one
static Value simplifyBitcastConvert(BitcastConvertOp op, HloBuilder &b) {
  if (op.getOperand().getType() == op.getResult().getType()) {
    return op.getOperand();
  }
  auto inner = op.getOperand().getDefiningOp<BitcastConvertOp>();
  if (inner && shapeOf(inner.getOperand()) == shapeOf(inner.getResult()) &&
      shapeOf(op.getOperand()) == shapeOf(op.getResult())) {
    return b.bitcastConvert(inner.getOperand(), HloBuilder::type(op.getResult()));
  }
  return {};
}

// complex(real(x), imag(x)) -> x
static Value rejoinedComplex(ComplexOp op, HloBuilder &b) {
  auto real = op.getLhs().getDefiningOp<RealOp>();
  auto imag = op.getRhs().getDefiningOp<ImagOp>();
  return real && imag && real.getOperand() == imag.getOperand() &&
                 real.getOperand().getType() == op.getResult().getType()
             ? real.getOperand()
             : Value();
}

// real(complex(x, y)) -> x
static Value realOfComplex(RealOp op, HloBuilder &b) {
  auto complex = op.getOperand().getDefiningOp<ComplexOp>();
  return complex ? complex.getLhs() : Value();
}

// imag(complex(x, y)) -> y
static Value imagOfComplex(ImagOp op, HloBuilder &b) {
  auto complex = op.getOperand().getDefiningOp<ComplexOp>();
  return complex ? complex.getRhs() : Value();
}

namespace {

/// f(broadcast(x), broadcast(y)) -> broadcast(f(x, y)) if all broadcasts have the same dimensions:
/// f is computed on fewer elements.
class BroadcastSinking : public RewritePattern {
public:
  explicit BroadcastSinking(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1 || !isElementwiseOp(op)) {
      return failure();
    }
    BroadcastOp first;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast || shapeOf(operand) != shapeOf(op->getResult(0))) {
        return failure();
      }
      if (first && (first.getDimensions() != broadcast.getDimensions() ||
                    shapeOf(first.getOperand()) != shapeOf(broadcast.getOperand()))) {
        return failure();
      }
      first = broadcast;
    }
    if (elementsOf(first.getOperand()) >= elementsOf(first.getResult())) {
      return failure();
    }
    HloBuilder b(rewriter, op->getLoc());
    OperationState state(op->getLoc(), op->getName());
    state.attributes = op->getAttrs();
    for (Value operand : op->getOperands()) {
      state.addOperands(operand.getDefiningOp<BroadcastOp>().getOperand());
    }
    RankedTensorType type = arrayType(op->getResult(0));
    state.addTypes(RankedTensorType::get(shapeOf(first.getOperand()), type.getElementType()));
    Value inner = rewriter.create(state)->getResult(0);
    rewriter.replaceOp(op, b.broadcast(inner, type.getShape(), first.getDimensions()));
    return success();
  }
};

} // namespace

void hlo::populateElementwiseRules(RewritePatternSet &patterns) {
  addRules<AddOp>(patterns, {addZero});
  addRules<SubtractOp>(patterns, {subtractZero});
  addRules<MultiplyOp>(patterns, {multiplyOne});
  addRules<DivideOp>(patterns, {divideOne, divideByConstant});
  addRules<PowerOp>(patterns, {powerOfConstant});
  addRules<AndOp>(patterns, {simplifyAnd});
  addRules<OrOp>(patterns, {simplifyOr});
  addRules<XorOp>(patterns, {simplifyXor});
  addRules<ShiftLeftOp>(patterns, {shiftByZero<ShiftLeftOp>, shiftByWidth<ShiftLeftOp>});
  addRules<ShiftRightLogicalOp>(
      patterns, {shiftByZero<ShiftRightLogicalOp>, shiftByWidth<ShiftRightLogicalOp>});
  addRules<ShiftRightArithmeticOp>(patterns, {shiftByZero<ShiftRightArithmeticOp>});
  addRules<MaximumOp>(patterns, {idempotent<MaximumOp>});
  addRules<MinimumOp>(patterns, {idempotent<MinimumOp>});
  addRules<NotOp>(patterns, {involution<NotOp>, negatedCompare});
  addRules<NegateOp>(patterns, {involution<NegateOp>});
  addRules<AbsOp>(patterns, {projection<AbsOp>});
  addRules<CeilOp>(patterns, {projection<CeilOp>});
  addRules<FloorOp>(patterns, {projection<FloorOp>});
  addRules<RoundNearestEvenOp>(patterns, {projection<RoundNearestEvenOp>});
  addRules<CompareOp>(patterns, {compareConstant});
  addRules<SelectOp>(patterns, {simplifySelect});
  addRules<ConvertOp>(patterns, {simplifyConvert});
  addRules<BitcastConvertOp>(patterns, {simplifyBitcastConvert});
  addRules<ComplexOp>(patterns, {rejoinedComplex});
  addRules<RealOp>(patterns, {realOfComplex});
  addRules<ImagOp>(patterns, {imagOfComplex});
  patterns.add<BroadcastSinking>(patterns.getContext());
}
