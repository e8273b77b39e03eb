//===- Schedule.h - Memory planning ---------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_SCHEDULE_H
#define COMPILER_TRANSFORMS_SCHEDULE_SCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace hlo {

/// `hlo-plan-memory`: a fused module -> one cpurt.entry with kernels and constants. The
/// order of kernels, copies, buffers and their offsets are decided here.
std::unique_ptr<mlir::Pass> createHloPlanMemoryPass();

/// Registers the passes of this folder, for hlo-opt.
void registerSchedulePasses();

/// What `--memory-report` prints, from a planned module: the arena's size, the launch at
/// which most of it is in use, and for each buffer its bytes, place, first and last use.
std::string memoryReport(mlir::ModuleOp planned);

} // namespace hlo

#endif
