//===- Refine.h - Sizes that the text leaves open -------------------------===//
#ifndef COMPILER_STABLEHLO_REFINE_H
#define COMPILER_STABLEHLO_REFINE_H

#include "compiler/stablehlo/Import.h"

namespace hlo::stable {

/// Runs on the verified module, before the conversion, which needs a size or a bound for every
/// dimension. Reports dimensions `?` that have neither.
mlir::LogicalResult refineSizes(mlir::ModuleOp module, const StablehloOptions &options);

} // namespace hlo::stable

#endif
