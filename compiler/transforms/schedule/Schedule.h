//===- Schedule.h - Memory planning ---------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_SCHEDULE_H
#define COMPILER_TRANSFORMS_SCHEDULE_SCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace hlo {

/// `hlo-plan-memory`: a fused module -> one cpurt.entry with kernels and constants. Decides the
/// order of kernels, the copies, the buffers and their offsets.
std::unique_ptr<mlir::Pass> createHloPlanMemoryPass();

/// Registers the passes of this folder, for hlo-opt.
void registerSchedulePasses();

/// The output of `--memory-report` for a planned module: the arena's size, the launch at which most
/// of it is in use, and for each buffer its bytes, place, first and last use.
std::string memoryReport(mlir::ModuleOp planned);

} // namespace hlo

#endif
