//===- StoredIntegers.h - Integers of a few bits in memory ----------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_STOREDINTEGERS_H
#define COMPILER_CODEGEN_CONTRACTION_STOREDINTEGERS_H

#include "compiler/codegen/contraction/View.h"

namespace hlo::codegen {

/// An array of integers as memory has them: the view's strides and offset count integers.
struct StoredIntegers {
  View view;
  int64_t bits; ///< 2, 4 or 8
  bool isSigned;
};

/// The integers in memory that `v` is, unconverted: an argument of bytes, or one that a
/// bitcast-convert takes apart.
std::optional<StoredIntegers> storedIntegers(mlir::Value v);

/// The integer of at most 32 bits that all elements of `v` are.
std::optional<int64_t> integerSplat(mlir::Value v);

} // namespace hlo::codegen

#endif
