//===- Expanders.h - Composite ops to core ops ----------------------------===//
//
// Passes that replace ops by combinations of others, so that later phases know
// fewer opcodes. All of them assume flat tuples and no layouts.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_EXPANDERS_H
#define COMPILER_TRANSFORMS_EXPANDERS_EXPANDERS_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace hlo {

/// All expanders, in an order in which each meets only ops it knows.
void addExpanderPasses(mlir::OpPassManager &manager);

/// Registers the passes of this folder.
void registerExpanderPasses();

} // namespace hlo

#endif
