//===- Fold.h - Ops on constants ------------------------------------------===//
#ifndef COMPILER_STABLEHLO_FOLD_H
#define COMPILER_STABLEHLO_FOLD_H

#include "compiler/stablehlo/Converter.h"

namespace hlo::stable {

/// The result of an op whose operands are constants or broadcast constants, as XLA's export folds
/// it; null if it does not, or need not.
mlir::Value foldConstants(Converter &c, mlir::Operation *op);

} // namespace hlo::stable

#endif
