//===- Chlo.cpp - Rules of CHLO's ops -------------------------------------===//
//
// CHLO's functions in terms of HLO's, and those complex functions of StableHLO that XLA's export
// expands. Formulas are in ComplexMath.cpp and Special.cpp. Narrow types: some functions are
// computed in f32 and rounded, as in the export.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Formula.h"
#include "compiler/stablehlo/Rules.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/chlo/Dialect.h"
#include <limits>

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.69314718055994530942;

using Function = Num (*)(const Num &);

template <Function function, bool inF32> static LogicalResult apply(Converter &c, Operation *op) {
  HloBuilder b = c.hlo();
  Num x(b, c.get(op->getOperand(0)));
  Num result = function(inF32 ? widened(x) : x);
  return c.bind(op, convert(result, x.element()).value);
}

template <Num (*function)(const Num &, const Num &), bool inF32>
static LogicalResult apply2(Converter &c, Operation *op) {
  HloBuilder b = c.hlo();
  Num x(b, c.get(op->getOperand(0))), y(b, c.get(op->getOperand(1)));
  return c.bind(op, evaluate<function, inF32>(x, y).value);
}

//===----------------------------------------------------------------------===//
// Functions of real numbers
//===----------------------------------------------------------------------===//

static double largest(const Num &x) {
  auto type = cast<FloatType>(x.element());
  llvm::APFloat value = llvm::APFloat::getLargest(type.getFloatSemantics());
  bool lossy;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

static Num realAsin(const Num &x) {
  Num half = atan2(x, sqrt((1 - x) * (x + 1)) + 1);
  return half + half;
}
static Num realAcos(const Num &x) { return atan2(sqrt((1 - x) * (x + 1)), x); }
static Num realAtan(const Num &x) { return atan2(x, x.like(1)); }

static Num realSinh(const Num &x) {
  Num rest = x.apply("hlo.exponential_minus_one");
  Num small = (rest + rest / (rest + 1)) * 0.5;
  Num large = exp(x + -kLn2) - exp(-kLn2 - x);
  return select(abs(x) < 1, small, large);
}
static Num realCosh(const Num &x) { return exp(x + -kLn2) + exp(-kLn2 - x); }

static Num realAsinh(const Num &x) {
  Num z = abs(x), square = z * z;
  Num small = log1p(z + square / (sqrt(square + 1) + 1));
  return sign(x) * select(z >= std::sqrt(largest(x)), log(z) + kLn2, small);
}
static Num realAcosh(const Num &x) {
  Num root = sqrt(x - 1);
  return select(x >= largest(x) / 2, log(x) + kLn2, log1p(root * (sqrt(x + 1) + root)));
}
static Num realAtanh(const Num &x) {
  Num value = (log1p(x) - log1p(-x)) * 0.5;
  return select(abs(x) > 1, std::numeric_limits<double>::quiet_NaN(), value);
}

/// The real function, or the complex one.
template <Function onReal, Function onComplex, bool inF32 = false>
static LogicalResult convertEither(Converter &c, Operation *op) {
  Type element = c.array(op->getOperand(0)).getElementType();
  return isComplex(element) ? apply<onComplex, false>(c, op) : apply<onReal, inF32>(c, op);
}

static Num square(const Num &x) { return x * x; }
static Num isInf(const Num &x) { return abs(x) == kInf; }
static Num isPosInf(const Num &x) { return x == kInf; }
static Num isNegInf(const Num &x) { return x == -kInf; }

template <Function function> static LogicalResult convertPredicate(Converter &c, Operation *op) {
  HloBuilder b = c.hlo();
  return c.bind(op, function(Num(b, c.get(op->getOperand(0)))).value);
}

static Num conjugate(const Num &z) { return complex(real(z), -imag(z)); }
static Num identity(const Num &x) { return x; }

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

static LogicalResult convertTopK(Converter &c, chlo::TopKOp op) {
  SmallVector<NamedAttribute> attributes{c.integer("k", op.getK()), c.flag("largest", true)};
  return c.bind(
      op, c.create("hlo.topk", c.joined(op->getResultTypes()), c.get(op.getOperand()), attributes));
}

static LogicalResult convertConstant(Converter &c, chlo::ConstantOp op) {
  return bindConstant(c, op, op.getValue());
}

/// Of functions that XLA's export expands for complex numbers.
template <Function onComplex> static LogicalResult convertComplex(Converter &c, Operation *op) {
  Type element = c.array(op->getOperand(0)).getElementType();
  return isComplex(element) ? apply<onComplex, false>(c, op) : convertSame(c, op);
}

void hlo::stable::addChloRules(Rules &rules) {
  rules.add("chlo.acos", convertEither<realAcos, complexAcos>);
  rules.add("chlo.acosh", convertEither<realAcosh, complexAcosh>);
  rules.add("chlo.asin", convertEither<realAsin, complexAsin>);
  rules.add("chlo.asinh", convertEither<realAsinh, complexAsinh>);
  rules.add("chlo.atan", convertEither<realAtan, complexAtan>);
  rules.add("chlo.atanh", convertEither<realAtanh, complexAtanh>);
  rules.add("chlo.bessel_i1e", apply<besselI1e, true>);
  rules.add("chlo.conj", convertEither<identity, conjugate>);
  rules.add<chlo::ConstantOp, convertConstant>();
  rules.add("chlo.cosh", convertEither<realCosh, complexCosh, true>);
  rules.add("chlo.digamma", apply<digamma, true>);
  rules.add("chlo.erf", convertSame);
  rules.add("chlo.erf_inv", apply<erfInv, true>);
  rules.add("chlo.erfc", apply<erfc, true>);
  rules.add("chlo.is_inf", convertPredicate<isInf>);
  rules.add("chlo.is_neg_inf", convertPredicate<isNegInf>);
  rules.add("chlo.is_pos_inf", convertPredicate<isPosInf>);
  rules.add("chlo.lgamma", apply<lgamma, true>);
  rules.add("chlo.mulhi", convertSame);
  rules.add("chlo.next_after", apply2<nextAfter, false>);
  rules.add("chlo.polygamma", apply2<polygamma, true>);
  rules.add("chlo.sinh", convertEither<realSinh, complexSinh, true>);
  rules.add("chlo.square", convertEither<square, complexSquare>);
  rules.add("chlo.tan", convertSame);
  rules.add<chlo::TopKOp, convertTopK>();
  rules.add("chlo.zeta", apply2<zeta, true>);
  rules.add("stablehlo.exponential", convertComplex<complexExp>);
  rules.add("stablehlo.log", convertComplex<complexLog>);
  rules.add("stablehlo.log_plus_one", convertComplex<complexLog1p>);
  rules.add("stablehlo.sqrt", convertComplex<complexSqrt>);
}
