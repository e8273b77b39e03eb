//===- InferElementwise.cpp - Rules of element-wise ops -------------------===//
//
// All operands have the sizes of the result; there is no implicit broadcast,
// except of select's scalar predicate and clamp's scalar bounds. Element types
// must be equal, or all floating (mixed precision).
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

/// Classes of element types, as a bit set.
enum Kind : unsigned { pred = 1, sInt = 2, uInt = 4, real = 8, cplx = 16 };

static unsigned kindOf(Type element) {
  return isPred(element)       ? pred
         : isSigned(element)   ? sInt
         : isUnsigned(element) ? uInt
         : isFloat(element)    ? real
         : isComplex(element)  ? cplx
                               : 0;
}

static StringRef kindNames(unsigned kinds) {
  switch (kinds) {
  case real: return "floating";
  case real | cplx: return "floating or complex";
  case sInt | uInt: return "an integer";
  case pred | sInt | uInt: return "pred or an integer";
  case sInt | real | cplx: return "signed, floating or complex";
  case sInt | uInt | real | cplx: return "an integer, floating or complex";
  default: return "a number";
  }
}

static LogicalResult checkKind(RuleContext &context, StringRef label, int64_t i,
                               RankedTensorType array, unsigned kinds) {
  if (kindOf(array.getElementType()) & kinds) {
    return success();
  }
  return context.failAt({i}, label, "operand ", i, " is ", array, ", its element type must be ",
                        kindNames(kinds));
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// Element types that an opcode takes.
static unsigned unaryKinds(StringRef opName) {
  return llvm::StringSwitch<unsigned>(opName)
      .Cases({"hlo.ceil", "hlo.floor", "hlo.round_nearest_afz", "hlo.round_nearest_even", "hlo.erf",
              "hlo.cbrt", "hlo.is_finite"},
             real)
      .Cases({"hlo.abs", "hlo.sign"}, sInt | uInt | real | cplx)
      .Case("hlo.negate", sInt | uInt | real | cplx)
      .Case("hlo.not", pred | sInt | uInt)
      .Cases({"hlo.count_leading_zeros", "hlo.popcnt"}, sInt | uInt)
      .Cases({"hlo.real", "hlo.imag"}, real | cplx)
      .Cases({"hlo.acos", "hlo.acosh", "hlo.asin", "hlo.asinh", "hlo.atanh", "hlo.cosine",
              "hlo.cosh", "hlo.exponential", "hlo.exponential_minus_one", "hlo.log",
              "hlo.log_plus_one", "hlo.logistic", "hlo.rsqrt", "hlo.sine", "hlo.sinh", "hlo.sqrt",
              "hlo.tan", "hlo.tanh"},
             real | cplx)
      .Default(0);
}

static FailureOr<Type> unary(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  if (!operand || failed(checkKind(context, "c1", 0, operand, unaryKinds(context.opName())))) {
    return failure();
  }
  Type element = operand.getElementType();
  StringRef opName = context.opName();
  if (opName == "hlo.is_finite") {
    element = IntegerType::get(element.getContext(), 1);
  } else if (opName == "hlo.abs" || opName == "hlo.real" || opName == "hlo.imag") {
    element = componentType(element);
  }
  return Type(withElement(operand, element));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static unsigned binaryKinds(StringRef opName) {
  constexpr unsigned any = pred | sInt | uInt | real | cplx;
  return llvm::StringSwitch<unsigned>(opName)
      .Cases({"hlo.add", "hlo.maximum", "hlo.minimum", "hlo.multiply"}, any)
      .Cases({"hlo.divide", "hlo.remainder", "hlo.power", "hlo.subtract"}, any & ~pred)
      .Case("hlo.atan2", real | cplx)
      .Case("hlo.complex", real)
      .Cases({"hlo.and", "hlo.or", "hlo.xor"}, pred | sInt | uInt)
      .Cases(
          {"hlo.shift_left", "hlo.shift_right_arithmetic", "hlo.shift_right_logical", "hlo.mulhi"},
          sInt | uInt)
      .Default(0);
}

/// Both operands as arrays of equal sizes and of one element type (up to
/// precision).
static FailureOr<std::pair<RankedTensorType, RankedTensorType>>
equalOperands(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType lhs = context.array(0), rhs = context.array(1);
  if (!lhs || !rhs) {
    return failure();
  }
  if (!sameDims(lhs, rhs)) {
    return context.failAt({0, 1}, "c2", "operand sizes differ: lhs is ", lhs, ", rhs is ", rhs);
  }
  if (!sameUpToPrecision(lhs.getElementType(), rhs.getElementType())) {
    return context.failAt({0, 1}, "c3", "operand element types differ: lhs is ", lhs, ", rhs is ",
                          rhs);
  }
  return std::pair(lhs, rhs);
}

static FailureOr<Type> binary(RuleContext &context) {
  auto operands = equalOperands(context);
  if (failed(operands)) {
    return failure();
  }
  auto [lhs, rhs] = *operands;
  if (failed(checkKind(context, "c1", 0, lhs, binaryKinds(context.opName())))) {
    return failure();
  }
  Type element = widerType(lhs.getElementType(), rhs.getElementType());
  if (context.opName() == "hlo.complex") {
    if (!element.isF32() && !element.isF64()) {
      return context.failAt({0, 1}, "c4", "the parts must be f32 or f64, are ", lhs);
    }
    element = ComplexType::get(element);
  }
  return Type(withElement(lhs, element));
}

static FailureOr<Type> compare(RuleContext &context) {
  auto operands = equalOperands(context);
  if (failed(operands)) {
    return failure();
  }
  RankedTensorType lhs = operands->first;
  StringRef direction = context.text("direction"), type = context.text("type");
  if (!llvm::is_contained({"EQ", "NE", "GE", "GT", "LE", "LT"}, direction)) {
    context.fail("c4", "direction is '", direction, "', must be EQ, NE, GE, GT, LE or LT");
  }
  unsigned kind = kindOf(lhs.getElementType());
  unsigned fitting = llvm::StringSwitch<unsigned>(type)
                         .Case("", pred | sInt | uInt | real | cplx)
                         .Case("FLOAT", real | cplx)
                         .Case("TOTALORDER", real)
                         .Case("SIGNED", sInt)
                         .Case("UNSIGNED", uInt | pred)
                         .Default(0);
  if (!(kind & fitting)) {
    (void)context.failAt({0}, "c5", "type is ", type, ", the operands are ", lhs);
  }
  if (kind == cplx && direction != "EQ" && direction != "NE") {
    (void)context.failAt({0}, "c6", "direction is ", direction,
                         ", complex operands compare only EQ and NE");
  }
  return context.result(withElement(lhs, IntegerType::get(lhs.getContext(), 1)));
}

//===----------------------------------------------------------------------===//
// Select, clamp
//===----------------------------------------------------------------------===//

static FailureOr<Type> select(RuleContext &context) {
  if (failed(context.expectOperands(3))) {
    return failure();
  }
  RankedTensorType choice = context.array(0), onTrue = context.array(1), onFalse = context.array(2);
  if (!choice || !onTrue || !onFalse) {
    return failure();
  }
  if (!isPred(choice.getElementType())) {
    (void)context.failAt({0}, "c1", "the predicate is ", choice, ", must be pred");
  }
  if (choice.getRank() != 0 && !sameDims(choice, onTrue)) {
    (void)context.failAt({0, 1}, "c2", "sizes differ: the predicate is ", choice, ", on_true is ",
                         onTrue);
  }
  if (!sameShape(onTrue, onFalse, Precision::anyFloat)) {
    (void)context.failAt({1, 2}, "c3", "operands differ: on_true is ", onTrue, ", on_false is ",
                         onFalse);
  }
  return context.result(
      withElement(onTrue, widerType(onTrue.getElementType(), onFalse.getElementType())));
}

static FailureOr<Type> clamp(RuleContext &context) {
  if (failed(context.expectOperands(3))) {
    return failure();
  }
  RankedTensorType low = context.array(0), operand = context.array(1), high = context.array(2);
  if (!low || !operand || !high) {
    return failure();
  }
  Type element = operand.getElementType();
  for (auto [i, bound] : {std::pair<int64_t, RankedTensorType>(0, low), {2, high}}) {
    if (bound.getRank() != 0 && !sameDims(bound, operand)) {
      (void)context.failAt({i, 1}, "c1", "sizes differ: bound ", i == 0 ? "min" : "max", " is ",
                           bound, ", the operand is ", operand);
    }
    if (!sameUpToPrecision(bound.getElementType(), element)) {
      (void)context.failAt({i, 1}, "c2", "element types differ: bound ", i == 0 ? "min" : "max",
                           " is ", bound, ", the operand is ", operand);
    }
  }
  return context.result(operand);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static FailureOr<Type> convert(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<RankedTensorType> result = context.requiredWrittenArray();
  if (!operand || failed(result)) {
    return failure();
  }
  return Type(withElement(operand, result->getElementType()));
}

static FailureOr<Type> bitcastConvert(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<RankedTensorType> written = context.requiredWrittenArray();
  if (!operand || failed(written)) {
    return failure();
  }
  Type from = operand.getElementType(), to = written->getElementType();
  if (isComplex(from) != isComplex(to)) {
    return context.failAt({0}, "c1", "cannot turn ", operand, " into ", *written,
                          ", only one of both is complex");
  }
  int64_t fromBits = bitcastBits(from), toBits = bitcastBits(to);
  if (fromBits == toBits) {
    return Type(withElement(operand, to));
  }
  if (fromBits == 0 || toBits == 0 || std::max(fromBits, toBits) % std::min(fromBits, toBits)) {
    return context.failAt({0}, "c2", "element widths do not divide: operand has ", fromBits,
                          " bits, result has ", toBits);
  }
  ShapeBuilder shape;
  int64_t rank = operand.getRank();
  if (fromBits > toBits) {
    for (int64_t dim = 0; dim < rank; ++dim) {
      shape.add(operand, dim);
    }
    shape.add(fromBits / toBits);
    return Type(shape.build(to));
  }
  int64_t ratio = toBits / fromBits;
  if (rank == 0 || !sizesAgree(operand.getDimSize(rank - 1), ratio)) {
    return context.failAt({0}, "c3", "the last dimension of ", operand, " must be ", ratio,
                          " to make ", to == from ? "" : primitiveName(to));
  }
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    shape.add(operand, dim);
  }
  return Type(shape.build(to));
}

static FailureOr<Type> reducePrecision(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<int64_t> exponent = context.requiredInteger("exponent_bits");
  FailureOr<int64_t> mantissa = context.requiredInteger("mantissa_bits");
  if (!operand || failed(exponent) || failed(mantissa)) {
    return failure();
  }
  (void)checkKind(context, "c1", 0, operand, real);
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (*exponent < 1) {
    context.fail("c2", "exponent_bits is ", *exponent, ", must be at least 1");
  }
  if (*mantissa < 0) {
    context.fail("c3", "mantissa_bits is ", *mantissa, ", must be at least 0");
  }
  if (*exponent > most || *mantissa > most) {
    context.fail(*exponent > most ? "c2" : "c3",
                 *exponent > most ? "exponent_bits is " : "mantissa_bits is ",
                 std::max(*exponent, *mantissa), ", must be at most ", most);
  }
  return context.result(operand);
}

static FailureOr<Type> stochasticConvert(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), bits = context.array(1);
  FailureOr<RankedTensorType> written = context.requiredWrittenArray();
  if (!operand || !bits || failed(written)) {
    return failure();
  }
  (void)checkKind(context, "c1", 0, operand, real);
  if (!isUnsigned(bits.getElementType()) ||
      elementBits(bits.getElementType()) != elementBits(operand.getElementType())) {
    (void)context.failAt({0, 1}, "c2", "the random bits are ", bits,
                         ", must be unsigned and as wide as the operand, ", operand);
  }
  if (!sameDims(operand, bits)) {
    (void)context.failAt({0, 1}, "c3", "sizes differ: operand is ", operand, ", bits are ", bits);
  }
  return context.result(withElement(operand, written->getElementType()));
}

Rule elementwiseRule(StringRef opName) {
  if (unaryKinds(opName)) {
    return unary;
  }
  if (binaryKinds(opName)) {
    return binary;
  }
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.compare", compare)
      .Case("hlo.select", select)
      .Case("hlo.clamp", clamp)
      .Case("hlo.convert", convert)
      .Case("hlo.bitcast_convert", bitcastConvert)
      .Case("hlo.reduce_precision", reducePrecision)
      .Case("hlo.stochastic_convert", stochasticConvert)
      .Default(nullptr);
}

} // namespace hlo
