//===- DoubleDouble.h - Unevaluated sums of two floats --------------------===//
//
// Error-free transformations (Dekker, Knuth), and arithmetic on pairs that is built on them. With
// FMA the error of a product costs one instruction; without, a split of both factors.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_DOUBLEDOUBLE_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_DOUBLEDOUBLE_H

#include "compiler/codegen/elementwise/functions/Functions.h"

namespace hlo::codegen {

/// a + b exactly.
NumPair twoSum(Num a, Num b);
/// a + b exactly, if |a| >= |b| or a == 0.
NumPair fastTwoSum(Num a, Num b);
/// a * b exactly (barring underflow).
NumPair twoProduct(Num a, Num b);

NumPair operator+(NumPair a, NumPair b);
NumPair operator+(NumPair a, Num b);
NumPair operator*(NumPair a, NumPair b);
NumPair operator*(NumPair a, Num b);
NumPair operator/(NumPair a, NumPair b);
NumPair negate(NumPair a);
NumPair selectPair(Num condition, NumPair a, NumPair b);

} // namespace hlo::codegen

#endif
