//===- Roots.h - Roots of unity, and tables of constants ------------------===//
#ifndef COMPILER_CODEGEN_FFT_ROOTS_H
#define COMPILER_CODEGEN_FFT_ROOTS_H

#include "compiler/codegen/Element.h"
#include <vector>

namespace hlo::codegen {

using Complex = std::pair<long double, long double>;

/// exp(-2 pi i numerator / n), correctly rounded to double and exact if the root is representable;
/// 0 <= numerator < n.
Complex rootOfUnity(int64_t numerator, int64_t n);
/// The discrete Fourier transform of `x`, for lengths with small prime factors.
std::vector<Complex> transformOf(const std::vector<Complex> &x);

/// Adds the numbers as a constant of the kernel's module, aligned to a cache line; returns its
/// address, valid in the whole function. Equal names within a function share one constant.
mlir::Value constantTable(Emission &e, mlir::Type real, llvm::StringRef name,
                          llvm::function_ref<std::vector<long double>()> values);

} // namespace hlo::codegen

#endif
