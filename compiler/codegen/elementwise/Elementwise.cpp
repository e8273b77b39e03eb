//===- Elementwise.cpp - Dispatch of ops to families ----------------------===//
//
// Emits an op, given as an Operation or by name and types, on its operands' values. The family of
// the operands' element type emits it. Scalar operands beside vectors are broadcast to the lanes
// first.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/elementwise/Families.h"
#include "compiler/codegen/elementwise/Narrow.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/ops/KernelOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo::codegen {

std::optional<Opcode> parseOpcode(StringRef name) {
  return llvm::StringSwitch<std::optional<Opcode>>(name)
      .Case("abs", Opcode::Abs)
      .Case("acos", Opcode::Acos)
      .Case("acosh", Opcode::Acosh)
      .Case("asin", Opcode::Asin)
      .Case("asinh", Opcode::Asinh)
      .Case("atanh", Opcode::Atanh)
      .Case("cbrt", Opcode::Cbrt)
      .Case("ceil", Opcode::Ceil)
      .Case("cosine", Opcode::Cosine)
      .Case("cosh", Opcode::Cosh)
      .Case("count_leading_zeros", Opcode::CountLeadingZeros)
      .Case("erf", Opcode::Erf)
      .Case("exponential", Opcode::Exponential)
      .Case("exponential_minus_one", Opcode::ExponentialMinusOne)
      .Case("floor", Opcode::Floor)
      .Case("imag", Opcode::Imag)
      .Case("is_finite", Opcode::IsFinite)
      .Case("log", Opcode::Log)
      .Case("log_plus_one", Opcode::LogPlusOne)
      .Case("logistic", Opcode::Logistic)
      .Case("negate", Opcode::Negate)
      .Case("not", Opcode::Not)
      .Case("popcnt", Opcode::Popcnt)
      .Case("real", Opcode::Real)
      .Case("round_nearest_afz", Opcode::RoundNearestAfz)
      .Case("round_nearest_even", Opcode::RoundNearestEven)
      .Case("rsqrt", Opcode::Rsqrt)
      .Case("sign", Opcode::Sign)
      .Case("sine", Opcode::Sine)
      .Case("sinh", Opcode::Sinh)
      .Case("sqrt", Opcode::Sqrt)
      .Case("tan", Opcode::Tan)
      .Case("tanh", Opcode::Tanh)
      .Case("add", Opcode::Add)
      .Case("and", Opcode::And)
      .Case("atan2", Opcode::Atan2)
      .Case("complex", Opcode::Complex)
      .Case("divide", Opcode::Divide)
      .Case("maximum", Opcode::Maximum)
      .Case("minimum", Opcode::Minimum)
      .Case("mulhi", Opcode::Mulhi)
      .Case("multiply", Opcode::Multiply)
      .Case("or", Opcode::Or)
      .Case("power", Opcode::Power)
      .Case("remainder", Opcode::Remainder)
      .Case("shift_left", Opcode::ShiftLeft)
      .Case("shift_right_arithmetic", Opcode::ShiftRightArithmetic)
      .Case("shift_right_logical", Opcode::ShiftRightLogical)
      .Case("subtract", Opcode::Subtract)
      .Case("xor", Opcode::Xor)
      .Case("stochastic_convert", Opcode::StochasticConvert)
      .Case("compare", Opcode::Compare)
      .Case("select", Opcode::Select)
      .Case("clamp", Opcode::Clamp)
      .Case("convert", Opcode::Convert)
      .Case("bitcast_convert", Opcode::BitcastConvert)
      .Case("reduce_precision", Opcode::ReducePrecision)
      .Default(std::nullopt);
}

std::optional<Direction> parseDirection(StringRef name) {
  return llvm::StringSwitch<std::optional<Direction>>(name)
      .Case("EQ", Direction::EQ)
      .Case("NE", Direction::NE)
      .Case("GE", Direction::GE)
      .Case("GT", Direction::GT)
      .Case("LE", Direction::LE)
      .Case("LT", Direction::LT)
      .Default(std::nullopt);
}

StringRef Request::string(StringRef name) const {
  auto attr = attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
  return attr ? attr.getValue() : StringRef();
}

int64_t Request::integer(StringRef name) const {
  auto attr = attrs ? attrs.getAs<IntegerAttr>(name) : IntegerAttr();
  return attr ? attr.getInt() : 0;
}

static bool isPredicate(Type element) { return element.isSignlessInteger(1); }

static Elem emitRequest(const Request &request) {
  Emission &e = request.e;
  switch (request.opcode) {
  case Opcode::Select:
    return selectElem(e, request.values[0].re, request.values[1], request.values[2]);
  case Opcode::Convert: return emitConvert(e, request.operand, request.result, request.values[0]);
  case Opcode::BitcastConvert: return emitBitcast(request);
  case Opcode::ReducePrecision: return emitReducePrecision(request);
  case Opcode::StochasticConvert: return emitStochasticConvert(request);
  default: break;
  }
  if (isa<ComplexType>(request.operand)) {
    return emitComplexOp(request);
  }
  if (isa<FloatType>(request.operand)) {
    return emitFloatOp(request);
  }
  return isPredicate(request.operand) ? emitPredicateOp(request) : emitIntegerOp(request);
}

bool isElementwise(Operation *op) { return isElementwiseOp(op); }

Elem emitNamed(Emission &e, StringRef opcode, Type operandElement, Type resultElement,
               ArrayRef<Elem> operands, DictionaryAttr attrs) {
  std::optional<Opcode> parsed = parseOpcode(opcode);
  if (!parsed) {
    emitError(e.loc) << "op " << opcode << " is not element-wise";
    return {};
  }
  int64_t lanes = 1;
  for (const Elem &operand : operands) {
    lanes = std::max(lanes, lanesOf(operand.re));
  }
  SmallVector<Elem, 3> values;
  for (const Elem &operand : operands) {
    values.push_back(splat(e, operand, lanes));
  }
  Elem result = emitRequest({e, *parsed, operandElement, resultElement, values, attrs});
  if (!result) {
    InFlightDiagnostic diagnostic = emitError(e.loc);
    diagnostic << hloOpcode(opcode) << " of " << primitiveName(operandElement);
    if (operandElement != resultElement) {
      diagnostic << " to " << primitiveName(resultElement);
    }
    diagnostic << " is not supported";
  }
  return result;
}

/// Whether the op is arithmetic whose result the next op may read unrounded.
static bool isArithmetic(Operation *op) { return hasFlag(op, OpFlag::StaysWide); }

/// Whether a bf16 or f16 result may keep the precision of f32 until it is stored: every use in the
/// kernel is arithmetic or the store. These users read the rounded value:
///
/// - ops that look at the value itself: compare, conversion to an integer, bitcast;
/// - add and subtract, whose result may be only the rounding error if leading bits cancel;
/// - functions that magnify an error: exp(100 * 0.69) has three bits less than its argument.
///
/// The difference from a row's maximum in a softmax is exempt: where it is large its exponential is
/// small.
static bool mayStayWide(Operation *op) {
  Type element = elementType(op->getResult(0).getType());
  if (!(element.isBF16() || element.isF16()) || !isArithmetic(op) ||
      asksForAccuracy(op->getAttrDictionary())) {
    return false;
  }
  SmallVector<Operation *> work{op};
  SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isa<AddOp, SubtractOp, SineOp, CosineOp, PowerOp>(user) ||
          (isa<ExponentialOp, ExponentialMinusOneOp>(user) && !isa<SubtractOp>(op))) {
        return false;
      }
      if (!seen.insert(user).second || isArithmetic(user) || isa<ReturnOp>(user)) {
        continue;
      }
      if (isa<BroadcastOp, ReshapeOp, BitcastOp, TransposeOp, SliceOp, ReverseOp, PadOp,
              ConcatenateOp, StackOp, CopyOp, SelectOp>(user)) {
        work.push_back(user);
        continue;
      }
      if (auto convert = dyn_cast<ConvertOp>(user)) {
        Type to = elementType(convert.getType());
        if (to.isF32() || to.isF64()) {
          continue;
        }
      }
      return false;
    }
  }
  return true;
}

/// Whether the op is a conversion from a value held in f32 to a narrow float whose only effect is
/// the rounding that the store does.
static bool isRoundedByStore(Operation *op) {
  if (!isa<ConvertOp>(op)) {
    return false;
  }
  auto from = dyn_cast<FloatType>(elementType(op->getOperand(0).getType()));
  auto to = dyn_cast<FloatType>(elementType(op->getResult(0).getType()));
  return from && to && !from.isF64() && to.getWidth() <= 16 &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<ReturnOp>(user); });
}

/// Whether the result has fewer than 16 bits and is only stored; the store rounds it.
static bool isOnlyStored(Operation *op) {
  Type element = elementType(op->getResult(0).getType());
  return isNarrowFloat(element) && cast<FloatType>(element).getWidth() < 16 && isArithmetic(op) &&
         !asksForAccuracy(op->getAttrDictionary()) && isa<FusionOp>(op->getParentOp()) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<ReturnOp>);
}

/// Emits f16 sums, products, minima and maxima by f16 instructions, if the target has them; null
/// otherwise. Results are rounded by the instruction. At most one operand may be a value that is
/// not a widened f16. Ops inlined into a reduction stay in f32. f8e5m2 is computed in f16 too,
/// whose sums and products keep enough bits to be rounded once more.
static Elem emitHalf(Emission &e, Operation *op, ArrayRef<Elem> operands) {
  Type element = elementType(op->getResult(0).getType());
  bool isChoice = isa<MaximumOp, MinimumOp, ClampOp>(op), isEighth = isa<Float8E5M2Type>(element);
  bool isArithmetic = isa<AddOp, SubtractOp, MultiplyOp>(op) && isa<FusionOp>(op->getParentOp());
  if (!e.machine.arithmeticOfHalf || !(isChoice || isArithmetic) ||
      !(element.isF16() || isEighth)) {
    return {};
  }
  auto halfOf = [&](const Elem &operand) { return halfBefore(Num(e, operand.re)).v; };
  auto isKnown = [&](const Elem &operand) {
    return halfOf(operand) || constantOf(Num(e, operand.re));
  };
  bool fits =
      isChoice || isEighth ? llvm::all_of(operands, isKnown) : llvm::any_of(operands, isKnown);
  if (!fits || llvm::none_of(operands, halfOf)) {
    return {};
  }
  Type half = e.b.getF16Type(), wide = e.b.getF32Type();
  int64_t lanes = 1;
  for (const Elem &operand : operands) {
    lanes = std::max(lanes, lanesOf(operand.re));
  }
  if (isChoice && lanes == 1) {
    return {}; // there is an instruction for one f32 (`extremumInRegisters`)
  }
  auto narrow = [&](const Elem &operand) {
    Value number = halfOf(operand);
    if (std::optional<llvm::APFloat> constant = constantOf(Num(e, operand.re))) {
      bool inexact;
      constant->convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      number = arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(half, *constant));
    } else if (!number) {
      number = floatTo(Num(e, operand.re), half);
    }
    return Num(e, splat(e, Elem(number), lanes).re);
  };
  SmallVector<Num, 3> of = llvm::map_to_vector<3>(operands, narrow);
  Num result =
      TypeSwitch<Operation *, Num>(op)
          .Case([&](AddOp) { return of[0] + of[1]; })
          .Case([&](SubtractOp) { return of[0] - of[1]; })
          .Case([&](MultiplyOp) { return of[0] * of[1]; })
          .Case([&](MaximumOp) { return floatMaximum(of[0], of[1]); })
          .Case([&](MinimumOp) { return floatMinimum(of[0], of[1]); })
          .Default([&](Operation *) { return floatMinimum(floatMaximum(of[1], of[0]), of[2]); });
  result = floatTo(result, wide);
  bool rounds = isEighth && isArithmetic && !isOnlyStored(op);
  return rounds ? Elem(roundNarrow(e, element, result), lowerHalfOf(element)) : Elem(result);
}

/// The reciprocal of a constant divisor of narrow floats, for a multiplication in f32; null if
/// there is none. A quotient of numbers of at most 11 bits is never as near to a tie of the narrow
/// format as the product's error, so both round to the same number.
static Value reciprocalOfConstant(Emission &e, Operation *op, const Elem &divisor) {
  if (!isa<DivideOp>(op) || !isNarrowFloat(elementType(op->getResult(0).getType())) ||
      isa<Float8E8M0FNUType>(elementType(op->getResult(0).getType()))) {
    return {};
  }
  std::optional<llvm::APFloat> constant = constantOf(Num(e, divisor.re));
  if (!constant || &constant->getSemantics() != &llvm::APFloat::IEEEsingle() ||
      !constant->isFiniteNonZero()) {
    return {};
  }
  llvm::APFloat reciprocal(1.0f);
  reciprocal.divide(*constant, llvm::APFloat::rmNearestTiesToEven);
  if (!reciprocal.isNormal()) {
    return {};
  }
  return arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(e.b.getF32Type(), reciprocal));
}

Elem emitElementwise(Emission &e, Operation *op, ArrayRef<Elem> operands) {
  if (isRoundedByStore(op)) {
    return operands[0];
  }
  if (Elem half = emitHalf(e, op, operands)) {
    return half;
  }
  StringRef name = op->getName().stripDialect();
  SmallVector<Elem, 3> factors;
  if (Value reciprocal = reciprocalOfConstant(e, op, operands.back())) {
    factors = {operands[0], Elem(reciprocal, LowerHalf::ZeroInNaN)};
    operands = factors;
    name = "multiply";
  }
  if (mayStayWide(op) || isOnlyStored(op)) {
    Type wide = e.b.getF32Type();
    Emission here{{e.b, op->getLoc()}, e.machine};
    if (isa<LogisticOp>(op) && elementType(op->getResult(0).getType()).isF16()) {
      return Elem(logisticForHalf(Num(here, operands[0].re)));
    }
    return emitNamed(here, name, wide, wide, operands, op->getAttrDictionary());
  }
  // The family is that of a select's data, not of its pred.
  unsigned data = isa<SelectOp>(op) ? 1 : 0;
  Emission here{{e.b, op->getLoc()}, e.machine};
  return emitNamed(here, name, elementType(op->getOperand(data).getType()),
                   elementType(op->getResult(0).getType()), operands, op->getAttrDictionary());
}

} // namespace hlo::codegen
