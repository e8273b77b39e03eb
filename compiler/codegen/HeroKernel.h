//===- HeroKernel.h - A kernel of one op alone ----------------------------===//
#ifndef COMPILER_CODEGEN_HEROKERNEL_H
#define COMPILER_CODEGEN_HEROKERNEL_H

#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Strategy.h"
#include "mlir/IR/OwningOpRef.h"

namespace hlo::codegen {

/// A fusion of a copy of `hero` alone, in no block: what an emitter is asked about before there are
/// kernels.
mlir::OwningOpRef<FusionOp> heroKernel(mlir::Operation *hero, Strategy strategy);

} // namespace hlo::codegen

#endif
