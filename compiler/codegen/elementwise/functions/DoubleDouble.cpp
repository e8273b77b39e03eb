//===- DoubleDouble.cpp - Unevaluated sums of two floats ------------------===//
//
// Arguments and results are pairs (hi, lo) with |lo| <= ulp(hi)/2, up to the error stated. The
// formulas are Dekker's (1971), Knuth's two-sum, and Joldes, Muller and Popescu's (2017)
// products.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"

namespace hlo::codegen {

NumPair twoSum(Num a, Num b) {
  Num sum = a + b;
  Num bRounded = sum - a;
  Num aRounded = sum - bRounded;
  return {sum, (a - aRounded) + (b - bRounded)};
}

NumPair fastTwoSum(Num a, Num b) {
  Num sum = a + b;
  return {sum, b - (sum - a)};
}

/// The upper half of a's bits as a float; a minus it is exact.
static Num highPart(Num a) {
  double splitter = a.isF64() ? 0x1p27 + 1 : 0x1p12 + 1;
  Num scaled = a * splitter;
  return scaled - (scaled - a);
}

NumPair twoProduct(Num a, Num b) {
  Num product = a * b;
  if (a.e->machine.fma) {
    return {product, fma(a, b, -product)};
  }
  Num aHi = highPart(a), bHi = highPart(b);
  Num aLo = a - aHi, bLo = b - bHi;
  Num error = ((aHi * bHi - product) + aHi * bLo + aLo * bHi) + aLo * bLo;
  return {product, error};
}

NumPair operator+(NumPair a, NumPair b) {
  NumPair high = twoSum(a.hi, b.hi);
  NumPair low = twoSum(a.lo, b.lo);
  high = fastTwoSum(high.hi, high.lo + low.hi);
  return fastTwoSum(high.hi, high.lo + low.lo);
}

NumPair operator+(NumPair a, Num b) {
  NumPair sum = twoSum(a.hi, b);
  return fastTwoSum(sum.hi, sum.lo + a.lo);
}

NumPair operator*(NumPair a, NumPair b) {
  NumPair product = twoProduct(a.hi, b.hi);
  Num cross = fma(a.hi, b.lo, a.lo * b.hi);
  return fastTwoSum(product.hi, product.lo + cross);
}

NumPair operator*(NumPair a, Num b) {
  NumPair product = twoProduct(a.hi, b);
  return fastTwoSum(product.hi, fma(a.lo, b, product.lo));
}

NumPair operator/(NumPair a, NumPair b) {
  Num quotient = a.hi / b.hi;
  NumPair back = twoProduct(quotient, b.hi);
  Num rest = ((a.hi - back.hi) - back.lo) + (a.lo - quotient * b.lo);
  return fastTwoSum(quotient, rest / b.hi);
}

NumPair negate(NumPair a) { return {-a.hi, -a.lo}; }

NumPair selectPair(Num condition, NumPair a, NumPair b) {
  return {select(condition, a.hi, b.hi), select(condition, a.lo, b.lo)};
}

} // namespace hlo::codegen
