//===- Fold.h - Functions of constants ------------------------------------===//
#ifndef COMPILER_STABLEHLO_FOLD_H
#define COMPILER_STABLEHLO_FOLD_H

#include "compiler/stablehlo/Converter.h"

namespace hlo::stable {

/// The result of a function of a constant, or of a broadcast constant, as XLA's export folds it; null
/// if it folds no such op.
mlir::Value foldFunction(Converter &c, mlir::Operation *op);

} // namespace hlo::stable

#endif
