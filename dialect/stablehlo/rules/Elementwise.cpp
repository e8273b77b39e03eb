//===- Elementwise.cpp - Rules of elementwise ops -------------------------===//
#include "dialect/stablehlo/rules/Rule.h"

using namespace mlir;
using namespace stablehlo;

/// All operands and the result have one type, but for sizes that are not known.
static void sameType(Check &check) {
  for (Type type : check->getOperandTypes()) {
    if (!check.require(typesAgree(type, check.resultType(0)), "c1", "an operand is ", type,
                       ", the result ", check.resultType(0))) {
      return;
    }
  }
  for (auto [i, type] : llvm::enumerate(check->getOperandTypes())) {
    if (!check.require(typesAgree(type, check.operandType(0)), "c1", "operand 0 is ",
                       check.operandType(0), ", operand ", i, " ", type)) {
      return;
    }
  }
}

static bool sameShape(Check &check, StringRef label = "c1") {
  return check.require(shapesAgree(check.operand(0), check.result()), label, "the operand is ",
                       check.operandType(0), ", the result ", check.resultType(0));
}

static void realResult(Check &check) {
  Type expected = realType(check.operand(0).getElementType());
  sameShape(check);
  check.require(elementsAgree(expected, check.result().getElementType()), "c2",
                "the result's elements are ", check.result().getElementType(), ", expected ",
                expected);
}

static void shapeOnly(Check &check) { sameShape(check); }

static void uniformQuantize(Check &check) {
  sameShape(check);
  Type from = expressedType(check.operand(0).getElementType());
  Type to = expressedType(check.result().getElementType());
  check.require(from == to, "c2", "the operand stands for ", from, ", the result for ", to);
}

static void uniformDequantize(Check &check) {
  sameShape(check);
  Type from = expressedType(check.operand(0).getElementType());
  check.require(from == check.result().getElementType(), "c2", "the operand stands for ", from,
                ", the result's elements are ", check.result().getElementType());
}

static void reducePrecision(Check &check) {
  auto op = cast<ReducePrecisionOp>(check.getOp());
  sameType(check);
  auto bits = [](IntegerAttr attribute) { return attribute.getValue().getSExtValue(); };
  check.require(bits(op.getExponentBitsAttr()) >= 1, "c2", "exponent_bits is ",
                bits(op.getExponentBitsAttr()), ", expected a positive number");
  check.require(bits(op.getMantissaBitsAttr()) >= 0, "c3", "mantissa_bits is ",
                bits(op.getMantissaBitsAttr()), ", expected no negative number");
}

ArrayRef<Row> stablehlo::unaryRows() {
  static constexpr unsigned function[] = {Float | Complex | Quant};
  static constexpr unsigned rounding[] = {Float | Quant};
  static constexpr unsigned magnitude[] = {SInt | Float | Complex | Quant};
  static constexpr unsigned plain[] = {Pred | Int | Float | Complex};
  static constexpr unsigned integers[] = {Int};
  static constexpr unsigned bits[] = {Pred | Int};
  static constexpr unsigned parts[] = {Float | Complex};
  static constexpr unsigned arithmetic[] = {Int | Float | Complex | Quant};
  static constexpr unsigned quantizable[] = {Float | Quant | QuantAxis};
  static constexpr unsigned quantized[] = {Quant | QuantAxis};
  static const Row rows[] = {
      {"abs", magnitude, SInt | Float | Quant, realResult},
      {"cbrt", function, function[0], sameType},
      {"ceil", rounding, rounding[0], sameType},
      {"convert", plain, plain[0], shapeOnly},
      {"cosine", function, function[0], sameType},
      {"count_leading_zeros", integers, Int, sameType},
      {"exponential", function, function[0], sameType},
      {"exponential_minus_one", function, function[0], sameType},
      {"floor", rounding, rounding[0], sameType},
      {"imag", parts, Float, realResult},
      {"is_finite", rounding, Pred, shapeOnly},
      {"log", function, function[0], sameType},
      {"log_plus_one", function, function[0], sameType},
      {"logistic", function, function[0], sameType},
      {"negate", arithmetic, arithmetic[0], sameType},
      {"not", bits, bits[0], sameType},
      {"popcnt", integers, Int, sameType},
      {"real", parts, Float, realResult},
      {"reduce_precision", rounding, rounding[0], reducePrecision},
      {"round_nearest_afz", rounding, rounding[0], sameType},
      {"round_nearest_even", rounding, rounding[0], sameType},
      {"rsqrt", function, function[0], sameType},
      {"sign", magnitude, magnitude[0], sameType},
      {"sine", function, function[0], sameType},
      {"sqrt", function, function[0], sameType},
      {"tan", function, function[0], sameType},
      {"tanh", function, function[0], sameType},
      {"uniform_dequantize", quantized, Float, uniformDequantize},
      {"uniform_quantize", quantizable, quantized[0], uniformQuantize},
  };
  return rows;
}

//===----------------------------------------------------------------------===//
// Two and three operands
//===----------------------------------------------------------------------===//

/// Quantized: all three are, with the same stored and expressed types, and per axis as the result.
static void add(Check &check) {
  Type lhs = check.operand(0).getElementType(), rhs = check.operand(1).getElementType();
  Type result = check.result().getElementType();
  if (!isQuantized(lhs) && !isQuantized(rhs) && !isQuantized(result)) {
    sameType(check);
    return;
  }
  check.require(shapesAgree(check.operand(0), check.operand(1)) &&
                    shapesAgree(check.operand(0), check.result()),
                "c1", "the operands are ", check.operandType(0), " and ", check.operandType(1),
                ", the result ", check.resultType(0));
  if (!check.require(isQuantized(lhs) && isQuantized(rhs) && isQuantized(result), "c2", "of ", lhs,
                     ", ", rhs, " and the result ", result, " some are quantized")) {
    return;
  }
  auto all = [&](auto part) { return part(lhs) == part(rhs) && part(lhs) == part(result); };
  auto isSigned = [](Type element) { return cast<quant::QuantizedType>(element).isSigned(); };
  check.require(all(storageType) && all(isSigned), "c3", "the stored types differ: ", lhs, ", ",
                rhs, ", ", result);
  check.require(all(expressedType), "c4", "the expressed types differ: ", lhs, ", ", rhs, ", ",
                result);
  auto axisOf = [](Type element) -> int64_t {
    auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
    return axis ? axis.getQuantizedDimension() : -1;
  };
  if (!check.require((axisOf(lhs) >= 0 || axisOf(rhs) >= 0) == (axisOf(result) >= 0), "c5",
                     "an operand and the result are quantized per axis, or neither is")) {
    return;
  }
  check.require(axisOf(lhs) < 0 || axisOf(lhs) == axisOf(result), "c6",
                "lhs is quantized along dimension ", axisOf(lhs), ", the result along ",
                axisOf(result));
  check.require(axisOf(rhs) < 0 || axisOf(rhs) == axisOf(result), "c7",
                "rhs is quantized along dimension ", axisOf(rhs), ", the result along ",
                axisOf(result));
}

static void complexOf(Check &check) {
  RankedTensorType lhs = check.operand(0), rhs = check.operand(1), result = check.result();
  for (unsigned i = 0; i < 2; ++i) {
    Type element = check.operand(i).getElementType();
    check.require(element.isF32() || element.isF64(), i == 0 ? "i1" : "i2", "operand ", i, " is ",
                  check.operandType(i), ", expected elements of type f32 or f64");
  }
  if (check.hasFailed()) {
    return;
  }
  check.require(typesAgree(lhs, rhs), "c1", "lhs is ", lhs, ", rhs ", rhs);
  check.require(shapesAgree(lhs, result), "c2", "lhs is ", lhs, ", the result ", result);
  check.require(realType(result.getElementType()) == lhs.getElementType(), "c3",
                "the result's elements are ", result.getElementType(), ", lhs's ",
                lhs.getElementType());
}

static void compare(Check &check) {
  RankedTensorType lhs = check.operand(0), rhs = check.operand(1);
  check.require(elementsAgree(lhs.getElementType(), rhs.getElementType()), "c1", "lhs is ", lhs,
                ", rhs ", rhs);
  check.require(shapesAgree(lhs, rhs) && shapesAgree(lhs, check.result()) &&
                    shapesAgree(rhs, check.result()),
                "c2", "lhs is ", lhs, ", rhs ", rhs, ", the result ", check.resultType(0));
}

static void clamp(Check &check) {
  auto op = cast<ClampOp>(check.getOp());
  RankedTensorType min = op.getMin().getType(), value = op.getOperand().getType(),
                   max = op.getMax().getType();
  check.require(min.getRank() == 0 || shapesAgree(min, value), "c1", "min is ", min,
                ", the operand ", value);
  check.require(max.getRank() == 0 || shapesAgree(max, value), "c2", "max is ", max,
                ", the operand ", value);
  for (RankedTensorType limit : {min, max}) {
    check.require(elementsAgree(limit.getElementType(), value.getElementType()), "c3",
                  "a limit is ", limit, ", the operand ", value);
  }
  check.require(typesAgree(value, check.resultType(0)), "c4", "the operand is ", value,
                ", the result ", check.resultType(0));
}

static void select(Check &check) {
  auto op = cast<SelectOp>(check.getOp());
  RankedTensorType pred = op.getPred().getType(), onTrue = op.getOnTrue().getType(),
                   onFalse = op.getOnFalse().getType();
  check.require(pred.getRank() == 0 || shapesAgree(pred, onTrue), "c1", "pred is ", pred,
                ", on_true ", onTrue);
  check.require(typesAgree(onTrue, onFalse) && typesAgree(onTrue, check.resultType(0)) &&
                    typesAgree(onFalse, check.resultType(0)),
                "c2", "on_true is ", onTrue, ", on_false ", onFalse, ", the result ",
                check.resultType(0));
}

ArrayRef<Row> stablehlo::binaryRows() {
  static constexpr unsigned any[] = {Any};
  static constexpr unsigned anyQuant[] = {AnyQuant};
  static constexpr unsigned floats[] = {Float | Complex | Quant};
  static constexpr unsigned arithmetic[] = {Int | Float | Complex | Quant};
  static constexpr unsigned bits[] = {Pred | Int};
  static constexpr unsigned integers[] = {Int};
  static constexpr unsigned reals[] = {Float};
  static constexpr unsigned selected[] = {Pred, Any};
  static const Row rows[] = {
      {"add", anyQuant, AnyQuant, add},
      {"and", bits, bits[0], sameType},
      {"atan2", floats, floats[0], sameType},
      {"clamp", any, Any, clamp},
      {"compare", any, Pred, compare},
      {"complex", reals, Complex, complexOf},
      {"divide", arithmetic, arithmetic[0], sameType},
      {"maximum", any, Any, sameType},
      {"minimum", any, Any, sameType},
      {"multiply", any, Any, sameType},
      {"or", bits, bits[0], sameType},
      {"power", arithmetic, arithmetic[0], sameType},
      {"remainder", arithmetic, arithmetic[0], sameType},
      {"select", selected, Any, select},
      {"shift_left", integers, Int, sameType},
      {"shift_right_arithmetic", integers, Int, sameType},
      {"shift_right_logical", integers, Int, sameType},
      {"subtract", arithmetic, arithmetic[0], sameType},
      {"xor", bits, bits[0], sameType},
  };
  return rows;
}
