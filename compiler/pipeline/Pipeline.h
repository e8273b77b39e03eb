//===- Pipeline.h - The order of the passes, phase by phase ---------------===//
//
// The phases from parsed `hlo` to planned `cpurt`. Emission and later phases are not passes over
// one module: see compiler/target.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PIPELINE_PIPELINE_H
#define COMPILER_PIPELINE_PIPELINE_H

#include "compiler/machine/Machine.h"
#include "compiler/support/Options.h"
#include "compiler/transforms/spmd/Spmd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace hlo {

/// Registers every dialect that a module may use in any phase.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass of this project, and the few of MLIR's that its tests use; for hlo-opt. A
/// pass copies `machine` when it is made.
void registerAllPasses(const Machine &machine);

/// Adds the passes of one phase (Partition to Plan; nothing for others). Phase partition writes
/// what it did to `report`, if that is not null.
void addPhase(mlir::OpPassManager &passes, Phase phase, const Machine &machine,
              PartitionReport *report = nullptr);

/// Runs the passes of one phase and then verifies the module. A failure without a
/// diagnostic, or of the verifier, is reported as an internal error.
mlir::LogicalResult runPhase(mlir::ModuleOp module, Phase phase, const Machine &machine,
                             PartitionReport *report = nullptr);

} // namespace hlo

#endif
