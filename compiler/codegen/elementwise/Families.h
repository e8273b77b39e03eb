//===- Families.h - Opcodes, and the families that emit them --------------===//
//
// emitNamed parses an opcode's name and passes the request to the family of the operands' element
// type. A family returns a null Elem for an op that it does not define.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FAMILIES_H
#define COMPILER_CODEGEN_ELEMENTWISE_FAMILIES_H

#include "compiler/codegen/Elementwise.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include <optional>

namespace hlo::codegen {

enum class Opcode {
  Abs,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atanh,
  Cbrt,
  Ceil,
  Cosine,
  Cosh,
  CountLeadingZeros,
  Erf,
  Exponential,
  ExponentialMinusOne,
  Floor,
  Imag,
  IsFinite,
  Log,
  LogPlusOne,
  Logistic,
  Negate,
  Not,
  Popcnt,
  Real,
  RoundNearestAfz,
  RoundNearestEven,
  Rsqrt,
  Sign,
  Sine,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
  Add,
  And,
  Atan2,
  Complex,
  Divide,
  Maximum,
  Minimum,
  Mulhi,
  Multiply,
  Or,
  Power,
  Remainder,
  ShiftLeft,
  ShiftRightArithmetic,
  ShiftRightLogical,
  Subtract,
  Xor,
  StochasticConvert,
  Compare,
  Select,
  Clamp,
  Convert,
  BitcastConvert,
  ReducePrecision,
};
/// By the op's name without its dialect, e.g. "shift_left".
std::optional<Opcode> parseOpcode(llvm::StringRef name);

/// One op on values. `operand`: element type of the data operands.
struct Request {
  Emission &e;
  Opcode opcode;
  mlir::Type operand, result;
  llvm::ArrayRef<Elem> values;
  mlir::DictionaryAttr attrs;

  Num re(unsigned i) const { return Num(e, values[i].re); }
  Num im(unsigned i) const { return Num(e, values[i].im); }
  llvm::StringRef string(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name) const;
};

/// Whether the op's result_accuracy asks for more than the two units in the last place that every
/// function keeps.
bool asksForAccuracy(mlir::DictionaryAttr attrs);

/// The order of a compare.
enum class Direction { EQ, NE, GE, GT, LE, LT };
std::optional<Direction> parseDirection(llvm::StringRef name);

Elem emitPredicateOp(const Request &request);
Elem emitIntegerOp(const Request &request);
Elem emitFloatOp(const Request &request);
Elem emitComplexOp(const Request &request);

/// Arithmetic that may become FMA.
Num contractibleSum(Num a, Num b);
Num contractibleDifference(Num a, Num b);
Num contractibleProduct(Num a, Num b);
/// The number in all lanes of a splat constant; nullopt if x is not one.
std::optional<llvm::APFloat> constantOf(Num x);
/// The larger or smaller float; NaN if either operand is NaN.
Num floatMaximum(Num a, Num b);
Num floatMinimum(Num a, Num b);

/// Ops on representations: any element type.
Elem emitBitcast(const Request &request);
Elem emitReducePrecision(const Request &request);
Elem emitStochasticConvert(const Request &request);

} // namespace hlo::codegen

#endif
