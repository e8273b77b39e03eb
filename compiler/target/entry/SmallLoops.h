//===- SmallLoops.h - Loops that become one function ----------------------===//
#ifndef COMPILER_TARGET_ENTRY_SMALLLOOPS_H
#define COMPILER_TARGET_ENTRY_SMALLLOOPS_H

#include "compiler/target/entry/LoopMemory.h"
#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

struct KernelInfo;

/// A loop whose kernels are inlined into one function of its own.
struct SmallLoop {
  std::string symbol;                         ///< of the function
  llvm::SmallVector<int64_t> inputs, outputs; ///< leaves that the loop refers to, increasing
  /// Size of the function's last argument, for its variables and those of its kernels; 0: none.
  int64_t scratchBytes = 0;
  llvm::SmallVector<LoopSlot> slots; ///< ranges of the arena, by offset
};
using SmallLoops = llvm::MapVector<mlir::Operation *, SmallLoop>;

/// Number of ops of a kernel that reads or writes few elements, so that its call takes a good part
/// of its time; nullopt for all others.
std::optional<int64_t> opsOfSmallKernel(FusionOp fusion);

/// The outermost loops of the entry with little work per iteration: a few launches, each of one
/// task over few elements. In those, calls and memory round trips would take most of the time.
SmallLoops findSmallLoops(cpurt::EntryOp entry, llvm::StringRef prefix,
                          const llvm::StringMap<KernelInfo> &kernels);

/// Names of the kernels that the loops launch, in module order; and whether each is launched from
/// elsewhere too.
llvm::MapVector<llvm::StringRef, bool> kernelsOf(const SmallLoops &loops, mlir::ModuleOp planned);

} // namespace hlo

#endif
