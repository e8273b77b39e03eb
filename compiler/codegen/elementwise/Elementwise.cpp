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
#include "compiler/codegen/elementwise/SlowPath.h"
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

/// The operands with as many lanes each as the widest has.
static SmallVector<Elem, 3> broadcastToLanes(Emission &e, ArrayRef<Elem> operands) {
  int64_t lanes = 1;
  for (const Elem &operand : operands) {
    lanes = std::max(lanes, lanesOf(operand.re));
  }
  return llvm::map_to_vector<3>(operands,
                                [&](const Elem &operand) { return splat(e, operand, lanes); });
}

Elem emitNamed(Emission &e, StringRef opcode, Type operandElement, Type resultElement,
               ArrayRef<Elem> operands, DictionaryAttr attrs) {
  std::optional<Opcode> parsed = parseOpcode(opcode);
  if (!parsed) {
    emitError(e.loc) << "op " << opcode << " is not element-wise";
    return {};
  }
  SmallVector<Elem, 3> values = broadcastToLanes(e, operands);
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

/// Every use in the kernel is arithmetic or the store. These users read the rounded value:
///
/// - ops that look at the value itself: compare, conversion to an integer, bitcast;
/// - add and subtract, whose result may be only the rounding error if leading bits cancel;
/// - functions that magnify an error: exp(100 * 0.69) has three bits less than its argument.
///
/// The difference from a row's maximum in a softmax is exempt: where it is large its exponential is
/// small.
bool readersTakeWide(Operation *op) {
  Type element = elementType(op->getResult(0).getType());
  if (!(element.isBF16() || element.isF16())) {
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

static bool mayStayWide(Operation *op) {
  return isArithmetic(op) && !asksForAccuracy(op->getAttrDictionary()) && readersTakeWide(op);
}

/// Whether the op converts what other ops computed in f32 to a type that its readers take wide.
static bool isWideConvert(Operation *op) {
  return isa<ConvertOp>(op) && elementType(op->getOperand(0).getType()).isF32() &&
         op->getOperand(0).getDefiningOp() && readersTakeWide(op);
}

/// Whether every use is the store, or an extremum with other numbers that is only stored: the
/// extremum of rounded numbers is the rounded extremum.
static bool isOnlyStoredOrChosen(Operation *op, int depth = 0) {
  constexpr int kMostDepth = 4;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    bool isChoice = isa<MaximumOp, MinimumOp, ClampOp>(user) && isa<FusionOp>(op->getParentOp());
    return isa<ReturnOp>(user) ||
           (isChoice && depth < kMostDepth && isOnlyStoredOrChosen(user, depth + 1));
  });
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
         (to.isBF16() ? isOnlyStoredOrChosen(op)
                      : llvm::all_of(op->getUsers(), llvm::IsaPred<ReturnOp>));
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

/// Bytes of instructions that the first level of cache holds, on every CPU of the tables at least.
static constexpr int64_t kInstructionCache = 32 << 10;
/// Bytes of code of an elementary function of real and of complex numbers, about: 400 of them in
/// one kernel are 870 bytes each in f32, 1080 in f64, 3850 in c64 (vectors of 32 bytes).
static constexpr int64_t kRealFunction = 1 << 10, kComplexFunction = 4 << 10;

/// Whether the op is an elementary function that its kernel applies again, among so many functions
/// that their code does not fit the instruction cache. Then a call costs less than one more copy,
/// for the compiler too.
static bool isRepeatedFunction(Operation *op) {
  if (!isExpensiveElementwise(op) || asksForAccuracy(op->getAttrDictionary())) {
    return false;
  }
  int64_t bytes = 0, copies = 0;
  for (Operation &other : *op->getBlock()) {
    if (isExpensiveElementwise(&other)) {
      bool isComplex = isa<ComplexType>(elementType(other.getResult(0).getType()));
      bytes += isComplex ? kComplexFunction : kRealFunction;
      copies += other.getName() == op->getName() && elementType(other.getResult(0).getType()) ==
                                                        elementType(op->getResult(0).getType());
      if (bytes > kInstructionCache && copies > 1) {
        return true;
      }
    }
  }
  return false;
}

/// emitNamed() of an elementary function as a call of an internal function of the module; null
/// where an operand is a constant, whose value shortens the code.
static Elem callFunction(Emission &e, StringRef opcode, Type operandElement, Type resultElement,
                         ArrayRef<Elem> operands) {
  if (llvm::any_of(operands, [&](const Elem &o) { return constantOf(Num(e, o.re)).has_value(); })) {
    return {};
  }
  SmallVector<Num> arguments;
  for (const Elem &operand : broadcastToLanes(e, operands)) {
    arguments.push_back(Num(e, operand.re));
    if (operand.im) {
      arguments.push_back(Num(e, operand.im));
    }
  }
  int64_t lanes = arguments[0].lanes();
  auto pack = [](const Elem &elem) {
    return elem.im ? SmallVector<Value, 2>{elem.re, elem.im} : SmallVector<Value, 2>{elem.re};
  };
  auto unpack = [](ArrayRef<Num> parts) {
    return parts.size() == 2 ? Elem(parts[0].v, parts[1].v) : Elem(parts[0].v);
  };
  std::string name = "hlo_" + opcode.str();
  for (Type element : {operandElement, resultElement}) {
    name += "_" + primitiveName(element).str();
  }
  name += "_" + std::to_string(lanes);
  SmallVector<Type> results(isa<ComplexType>(resultElement) ? 2 : 1,
                            laneType(computeType(resultElement), lanes));
  size_t each = arguments.size() / operands.size();
  LLVM::LLVMFuncOp function = internalFunction(
      e, name, llvm::map_to_vector(arguments, [](const Num &a) { return a.type(); }), results,
      [&](ArrayRef<Num> parameters) {
        SmallVector<Elem, 3> inside;
        for (size_t i = 0; i < operands.size(); ++i) {
          inside.push_back(unpack(parameters.slice(i * each, each)));
        }
        Elem result = emitNamed(e, opcode, operandElement, resultElement, inside, {});
        SmallVector<Num> parts; // none after an error
        for (Value part : result ? pack(result) : SmallVector<Value, 2>()) {
          parts.push_back(Num(e, part));
        }
        return parts;
      });
  return unpack(callOnce(e, function, arguments));
}

Elem emitElementwise(Emission &e, Operation *op, ArrayRef<Elem> operands) {
  if (isRoundedByStore(op) || isWideConvert(op)) {
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
  Emission here{{e.b, op->getLoc()}, e.machine};
  if (Elem quotient = quotientForNarrow(here, op, operands)) {
    return quotient;
  }
  auto emit = [&](Type from, Type to) {
    Elem called = isRepeatedFunction(op) ? callFunction(here, name, from, to, operands) : Elem();
    return called ? called : emitNamed(here, name, from, to, operands, op->getAttrDictionary());
  };
  if (mayStayWide(op) || isOnlyStored(op)) {
    if (isa<LogisticOp>(op) && elementType(op->getResult(0).getType()).isF16()) {
      return Elem(logisticForHalf(Num(here, operands[0].re)));
    }
    return emit(e.b.getF32Type(), e.b.getF32Type());
  }
  // The family is that of a select's data, not of its pred.
  unsigned data = isa<SelectOp>(op) ? 1 : 0;
  return emit(elementType(op->getOperand(data).getType()), elementType(op->getResult(0).getType()));
}

} // namespace hlo::codegen
