//===- Refine.h - Bounds for the sizes of a StableHLO module --------------===//
#ifndef COMPILER_STABLEHLO_REFINE_REFINE_H
#define COMPILER_STABLEHLO_REFINE_REFINE_H

#include "compiler/support/Budget.h"
#include "compiler/support/SizeBound.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Gives every `?` dimension of a StableHLO module a bound, and replaces the ops that take sizes as
/// operands by static ones and set_dimension_size; see Refine.cpp. Does nothing to a module without
/// such dimensions; bounds other than `all` are errors then.
mlir::LogicalResult refineSizes(mlir::ModuleOp module, llvm::ArrayRef<SizeBound> bounds,
                                const Budget &budget = {});

/// True if a type in the module has a `?` dimension without a bound.
bool hasUnknownSizes(mlir::ModuleOp module);

/// Registers the pass `stablehlo-refine-sizes`, which has the bounds as its option `bound`.
void registerRefineSizesPass();

} // namespace hlo

#endif
