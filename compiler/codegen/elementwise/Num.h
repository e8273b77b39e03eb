//===- Num.h - Arithmetic on emitted values -------------------------------===//
//
// A Num is a value of a kernel under construction (scalar or 1-D vector of i1,
// iN, f32 or f64) with operators that emit ops, so that the formulas in this
// folder read as formulas. Constants take the type of the other operand.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_NUM_H
#define COMPILER_CODEGEN_ELEMENTWISE_NUM_H

#include "compiler/codegen/Element.h"
#include <concepts>
#include <type_traits>

namespace hlo::codegen {

template <typename T>
concept Literal = std::is_arithmetic_v<T>;

class Num {
public:
  Emission *e = nullptr;
  mlir::Value v;

  Num() = default;
  Num(Emission &emission, mlir::Value value) : e(&emission), v(value) {}
  operator mlir::Value() const { return v; }

  mlir::Type type() const { return v.getType(); }
  mlir::Type scalar() const { return mlir::getElementTypeOrSelf(v.getType()); }
  int64_t lanes() const { return lanesOf(v); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(scalar()); }
  bool isF64() const { return scalar().isF64(); }
  unsigned width() const { return scalar().getIntOrFloatBitWidth(); }
  /// `type` with as many lanes as this value.
  mlir::Type shaped(mlir::Type type) const { return laneType(type, lanes()); }

  /// A constant of this value's type.
  Num of(double value) const;
  Num of(int64_t value) const;
  Num of(const llvm::APInt &value) const;
  template <Literal T> Num of(T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      return of(static_cast<double>(value));
    } else {
      return of(static_cast<int64_t>(value));
    }
  }
};

Num operator+(Num a, Num b);
Num operator-(Num a, Num b);
Num operator*(Num a, Num b);
/// Floats only: integer division is in Integer.cpp.
Num operator/(Num a, Num b);
Num operator&(Num a, Num b);
Num operator|(Num a, Num b);
Num operator^(Num a, Num b);
Num operator-(Num a);
template <Literal T> Num operator+(Num a, T c) { return a + a.of(c); }
template <Literal T> Num operator-(Num a, T c) { return a - a.of(c); }
template <Literal T> Num operator*(Num a, T c) { return a * a.of(c); }
template <Literal T> Num operator/(Num a, T c) { return a / a.of(c); }
template <Literal T> Num operator&(Num a, T c) { return a & a.of(c); }
template <Literal T> Num operator|(Num a, T c) { return a | a.of(c); }
template <Literal T> Num operator^(Num a, T c) { return a ^ a.of(c); }
template <Literal T> Num operator+(T c, Num a) { return a.of(c) + a; }
template <Literal T> Num operator-(T c, Num a) { return a.of(c) - a; }
template <Literal T> Num operator*(T c, Num a) { return a.of(c) * a; }
template <Literal T> Num operator/(T c, Num a) { return a.of(c) / a; }

/// Shifts by a constant less than the width.
Num shl(Num a, int64_t bits);
Num shrU(Num a, int64_t bits);
Num shrS(Num a, int64_t bits);
Num shl(Num a, Num bits);
Num shrU(Num a, Num bits);
Num shrS(Num a, Num bits);

/// Comparisons of signed integers, or ordered ones of floats: false if an operand is NaN, but
/// notEqual is then true.
Num less(Num a, Num b);
Num lessEqual(Num a, Num b);
Num greater(Num a, Num b);
Num greaterEqual(Num a, Num b);
Num equal(Num a, Num b);
Num notEqual(Num a, Num b);
/// Unsigned integers: a < b, a <= b.
Num below(Num a, Num b);
Num belowEqual(Num a, Num b);
template <Literal T> Num less(Num a, T c) { return less(a, a.of(c)); }
template <Literal T> Num lessEqual(Num a, T c) { return lessEqual(a, a.of(c)); }
template <Literal T> Num greater(Num a, T c) { return greater(a, a.of(c)); }
template <Literal T> Num greaterEqual(Num a, T c) { return greaterEqual(a, a.of(c)); }
template <Literal T> Num equal(Num a, T c) { return equal(a, a.of(c)); }
template <Literal T> Num notEqual(Num a, T c) { return notEqual(a, a.of(c)); }
template <Literal T> Num below(Num a, T c) { return below(a, a.of(c)); }
template <Literal T> Num belowEqual(Num a, T c) { return belowEqual(a, a.of(c)); }
Num isNaN(Num a);
/// Logical not of i1.
Num logicalNot(Num a);

Num select(Num condition, Num a, Num b);
template <Literal T> Num select(Num condition, T a, Num b) { return select(condition, b.of(a), b); }
template <Literal T> Num select(Num condition, Num a, T b) { return select(condition, a, a.of(b)); }

/// a * b + c: one rounding where the target has FMA, else two.
Num fma(Num a, Num b, Num c);
template <Literal T> Num fma(Num a, T b, Num c) { return fma(a, a.of(b), c); }
template <Literal T> Num fma(Num a, Num b, T c) { return fma(a, b, a.of(c)); }
template <Literal T, Literal U> Num fma(Num a, T b, U c) { return fma(a, a.of(b), a.of(c)); }
/// c[0] + c[1] x + c[2] x^2 + ... (Horner).
Num polynomial(Num x, llvm::ArrayRef<double> coefficients);
/// The polynomial as one in `square` = x^2 with pairs of terms as coefficients: as many operations
/// as Horner if the square is at hand, and half as many dependent ones.
Num polynomialInPairs(Num x, Num square, llvm::ArrayRef<double> coefficients);

/// The polynomial as a tree: the fewest dependent operations, and a few more squares than in pairs.
Num polynomialAsTree(Num x, llvm::ArrayRef<double> coefficients);

Num abs(Num a);
Num sqrt(Num a);
Num floor(Num a);
Num ceil(Num a);
Num trunc(Num a);
Num roundEven(Num a);
/// |magnitude| with the sign bit of `sign`.
Num copySign(Num magnitude, Num sign);
/// The larger or smaller; b if either is NaN.
Num maxNum(Num a, Num b);
Num minNum(Num a, Num b);

/// Reinterprets a float as an integer of its width, and back.
Num bitsOf(Num a);
Num floatOf(Num bits);
/// Conversions lane by lane; `type` is a scalar type.
Num signedToFloat(Num a, mlir::Type type);
Num unsignedToFloat(Num a, mlir::Type type);
/// Truncates towards zero; the value must fit.
Num floatToSigned(Num a, mlir::Type type);
Num floatToUnsigned(Num a, mlir::Type type);
/// Widens or narrows a float, or an integer (zero- or sign-extended, or truncated).
Num floatTo(Num a, mlir::Type type);
Num zextTo(Num a, mlir::Type type);
Num sextTo(Num a, mlir::Type type);

/// condition ? thenValue() : elseValue(), of the type of `like`. A scalar branches and computes one
/// of them; a vector computes both and selects. Each element's result is thus the same either way.
Num either(Num condition, Num like, llvm::function_ref<Num()> thenValue,
           llvm::function_ref<Num()> elseValue);

/// i1: whether a lane of the condition is true.
mlir::Value anyLane(Num condition);
/// if (any lane of condition) then thenValues() else elseValues.
llvm::SmallVector<Num> rarely(Num condition, llvm::ArrayRef<Num> elseValues,
                              llvm::function_ref<llvm::SmallVector<Num>()> thenValues);

} // namespace hlo::codegen

#endif
