//===- Kernels.h - Phase emit: kernels to functions, in groups ------------===//
//
// Kernels are emitted, optimized and compiled in groups, one LLVM module each, so that threads have
// independent work. The groups are chosen from the module alone, so the output does not depend on
// the number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PIPELINE_KERNELS_H
#define COMPILER_PIPELINE_KERNELS_H

#include "compiler/machine/Machine.h"
#include "compiler/support/KernelPlan.h"
#include "dialect/cpurt/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hlo {

/// One kernel of a planned module.
struct KernelUnit {
  cpurt::KernelOp op;
  std::string symbol;                     ///< of the function
  int64_t weight = 1;                     ///< estimated time to compile it
  int64_t tasks = 0;                      ///< set by emission, and
  llvm::SmallVector<int64_t, 1> barriers; ///< where tasks wait for those before them
  bool usesTiles = false;                 ///< matrix registers; set by emission
  int64_t variableBytes = 0;              ///< of the function; set by emission
  int64_t scratchBytes = 0;     ///< of its last argument, 0: there is none; set by emission
  bool calledByRuntime = false; ///< also: the function has the type of an hlo_range_kernel
  /// Pairs of a result and an operand that are one buffer in some launch.
  llvm::SmallVector<std::pair<unsigned, unsigned>> shared;
  /// If set, emission notes its candidates here, and takes the forced one.
  std::optional<KernelChoice> choice;
};

/// Kernels of one LLVM module.
struct KernelGroup {
  llvm::SmallVector<unsigned> units;        ///< indices, increasing
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< the functions; set by emission
};

/// The kernels of a planned module, in order; symbols start with `prefix`.
std::vector<KernelUnit> collectKernels(mlir::ModuleOp planned, llvm::StringRef prefix);

/// Splits kernels into groups of about equal weight, or puts all into one.
std::vector<KernelGroup> groupKernels(llvm::ArrayRef<KernelUnit> units, bool single);

/// Emits the functions of one group and sets `tasks` of its units. Several threads may do this for
/// different groups, if the context allows threads.
mlir::LogicalResult emitGroup(KernelGroup &group, llvm::MutableArrayRef<KernelUnit> units,
                              mlir::ModuleOp planned, const Machine &machine);

/// Emits every kernel of a planned module, or every fusion that has a strategy, into `into`;
/// for tests.
mlir::LogicalResult emitAllKernels(mlir::ModuleOp module, const Machine &machine,
                                   mlir::ModuleOp into);

} // namespace hlo

#endif
