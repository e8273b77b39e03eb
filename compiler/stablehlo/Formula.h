//===- Formula.h - Element-wise expressions as ops ------------------------===//
//
// Values with operators, so that an expansion reads like its formula. Numbers are constants of the
// value's own type, rounded to it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_STABLEHLO_FORMULA_H
#define COMPILER_STABLEHLO_FORMULA_H

#include "dialect/hlo/Builder.h"

namespace hlo::stable {

/// An array in an expression.
class Num {
public:
  Num(HloBuilder &builder, mlir::Value value) : b(&builder), value(value) {}

  HloBuilder *b;
  mlir::Value value;

  mlir::RankedTensorType type() const { return HloBuilder::type(value); }
  mlir::Type element() const { return type().getElementType(); }
  bool isDouble() const { return componentBits() == 64; }
  unsigned componentBits() const {
    auto complex = llvm::dyn_cast<mlir::ComplexType>(element());
    return (complex ? complex.getElementType() : element()).getIntOrFloatBitWidth();
  }
  /// The number in the type and shape of this.
  Num like(double number) const { return Num(*b, b->splat(type(), number)); }
  Num with(mlir::Value other) const { return Num(*b, other); }
  /// Makes an op of one operand by name.
  Num apply(llvm::StringRef name) const { return applyTo(name, type(), {value}); }
  Num applyTo(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands) const {
    mlir::OperationState state(b->loc, name, operands, mlir::TypeRange(result), {});
    return Num(*b, b->b.create(state)->getResult(0));
  }
};

inline Num binary(llvm::StringRef name, const Num &l, const Num &r) {
  return l.applyTo(name, l.type(), {l.value, r.value});
}
inline Num operator+(const Num &l, const Num &r) { return binary("hlo.add", l, r); }
inline Num operator-(const Num &l, const Num &r) { return binary("hlo.subtract", l, r); }
inline Num operator*(const Num &l, const Num &r) { return binary("hlo.multiply", l, r); }
inline Num operator/(const Num &l, const Num &r) { return binary("hlo.divide", l, r); }
inline Num operator&(const Num &l, const Num &r) { return binary("hlo.and", l, r); }
inline Num operator|(const Num &l, const Num &r) { return binary("hlo.or", l, r); }
inline Num operator+(const Num &l, double r) { return l + l.like(r); }
inline Num operator-(const Num &l, double r) { return l - l.like(r); }
inline Num operator*(const Num &l, double r) { return l * l.like(r); }
inline Num operator/(const Num &l, double r) { return l / l.like(r); }
inline Num operator-(double l, const Num &r) { return r.like(l) - r; }
inline Num operator/(double l, const Num &r) { return r.like(l) / r; }
inline Num operator-(const Num &x) { return x.apply("hlo.negate"); }
inline Num operator!(const Num &x) { return x.apply("hlo.not"); }

inline Num compare(const Num &l, const Num &r, llvm::StringRef direction) {
  return Num(*l.b, l.b->compare(l.value, r.value, direction));
}
inline Num operator<(const Num &l, const Num &r) { return compare(l, r, "LT"); }
inline Num operator>(const Num &l, const Num &r) { return compare(l, r, "GT"); }
inline Num operator>=(const Num &l, const Num &r) { return compare(l, r, "GE"); }
inline Num operator<=(const Num &l, const Num &r) { return compare(l, r, "LE"); }
inline Num operator==(const Num &l, const Num &r) { return compare(l, r, "EQ"); }
inline Num operator!=(const Num &l, const Num &r) { return compare(l, r, "NE"); }
inline Num operator<(const Num &l, double r) { return l < l.like(r); }
inline Num operator>(const Num &l, double r) { return l > l.like(r); }
inline Num operator>=(const Num &l, double r) { return l >= l.like(r); }
inline Num operator<=(const Num &l, double r) { return l <= l.like(r); }
inline Num operator==(const Num &l, double r) { return l == l.like(r); }

inline Num select(const Num &pred, const Num &onTrue, const Num &onFalse) {
  return onTrue.applyTo("hlo.select", onTrue.type(), {pred.value, onTrue.value, onFalse.value});
}
inline Num select(const Num &pred, double onTrue, const Num &onFalse) {
  return select(pred, onFalse.like(onTrue), onFalse);
}
inline Num select(const Num &pred, const Num &onTrue, double onFalse) {
  return select(pred, onTrue, onTrue.like(onFalse));
}

inline Num abs(const Num &x) { return x.apply("hlo.abs"); }
inline Num sqrt(const Num &x) { return x.apply("hlo.sqrt"); }
inline Num exp(const Num &x) { return x.apply("hlo.exponential"); }
inline Num log(const Num &x) { return x.apply("hlo.log"); }
inline Num log1p(const Num &x) { return x.apply("hlo.log_plus_one"); }
inline Num sin(const Num &x) { return x.apply("hlo.sine"); }
inline Num cos(const Num &x) { return x.apply("hlo.cosine"); }
inline Num floor(const Num &x) { return x.apply("hlo.floor"); }
inline Num sign(const Num &x) { return x.apply("hlo.sign"); }
inline Num atan2(const Num &y, const Num &x) { return binary("hlo.atan2", y, x); }
inline Num pow(const Num &x, const Num &y) { return binary("hlo.power", x, y); }
inline Num remainder(const Num &x, const Num &y) { return binary("hlo.remainder", x, y); }
inline Num max(const Num &x, const Num &y) { return binary("hlo.maximum", x, y); }
inline Num min(const Num &x, const Num &y) { return binary("hlo.minimum", x, y); }
inline Num isFinite(const Num &x) {
  return x.applyTo("hlo.is_finite", HloBuilder::array(x.value, x.b->b.getI1Type()), {x.value});
}

inline Num real(const Num &z) {
  auto part = llvm::cast<mlir::ComplexType>(z.element()).getElementType();
  return z.applyTo("hlo.real", HloBuilder::array(z.value, part), {z.value});
}
inline Num imag(const Num &z) {
  auto part = llvm::cast<mlir::ComplexType>(z.element()).getElementType();
  return z.applyTo("hlo.imag", HloBuilder::array(z.value, part), {z.value});
}
inline Num complex(const Num &re, const Num &im) {
  return re.applyTo("hlo.complex",
                    HloBuilder::array(re.value, mlir::ComplexType::get(re.element())),
                    {re.value, im.value});
}
inline Num convert(const Num &x, mlir::Type element) {
  return x.element() == element
             ? x
             : x.applyTo("hlo.convert", HloBuilder::array(x.value, element), {x.value});
}

/// In f32 where the type is narrower.
inline Num widened(const Num &x) {
  return x.componentBits() < 32 ? convert(x, x.b->b.getF32Type()) : x;
}

/// A function of x and y, in their type; with `inF32` computed in f32 if that is wider.
template <Num (*function)(const Num &, const Num &), bool inF32>
Num evaluate(const Num &x, const Num &y) {
  return convert(inF32 ? function(widened(x), widened(y)) : function(x, y), x.element());
}

/// Coefficients from the highest power down, by Horner's rule. A leading 1 costs no product.
Num polynomial(const Num &x, llvm::ArrayRef<double> coefficients);

//===----------------------------------------------------------------------===//
// Functions of these, for StableHLO's complex ops and CHLO's ops
//===----------------------------------------------------------------------===//

Num complexExp(const Num &z);
Num complexLog(const Num &z);
Num complexLog1p(const Num &z);
Num complexSqrt(const Num &z);
Num complexSquare(const Num &z);
Num complexAsin(const Num &z);
Num complexAcos(const Num &z);
Num complexAtan(const Num &z);
Num complexAsinh(const Num &z);
Num complexAcosh(const Num &z);
Num complexAtanh(const Num &z);
Num complexSinh(const Num &z);
Num complexCosh(const Num &z);

// Of f32 and f64.
Num lgamma(const Num &x);
Num digamma(const Num &x);
Num erfc(const Num &x);
Num erfInv(const Num &x);
Num besselI1e(const Num &x);
Num zeta(const Num &x, const Num &q);
Num polygamma(const Num &n, const Num &x);
/// Of any floating-point type.
Num nextAfter(const Num &x, const Num &y);

} // namespace hlo::stable

#endif
