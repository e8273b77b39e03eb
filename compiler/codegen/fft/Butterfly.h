//===- Butterfly.h - Small transforms in registers ------------------------===//
#ifndef COMPILER_CODEGEN_FFT_BUTTERFLY_H
#define COMPILER_CODEGEN_FFT_BUTTERFLY_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// Arithmetic on complex numbers or vectors of them. Ops carry `contract`, so that products and
/// sums fuse.
struct ComplexMath {
  Emission &e;
  mlir::Type real; ///< f32 or f64

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// A constant with as many lanes as `like`.
  mlir::Value constant(double value, mlir::Value like);

  Elem add(const Elem &a, const Elem &b) { return {add(a.re, b.re), add(a.im, b.im)}; }
  Elem sub(const Elem &a, const Elem &b) { return {sub(a.re, b.re), sub(a.im, b.im)}; }
  Elem mul(const Elem &a, const Elem &b);
  Elem scale(const Elem &a, double by);
  Elem conj(const Elem &a);
  /// i a, or -i a.
  Elem timesI(const Elem &a, bool negative);
};

/// y_r = sum over t of w^(r t) x_t, w = exp(-2 pi i / p), p = x.size(): 2, 4, 8, or odd; the
/// conjugate of w if `inverse`.
llvm::SmallVector<Elem> butterfly(ComplexMath &math, llvm::ArrayRef<Elem> x, bool inverse);

} // namespace hlo::codegen

#endif
