//===- Entry.h - The planned program as LLVM IR ---------------------------===//
#ifndef COMPILER_TARGET_ENTRY_H
#define COMPILER_TARGET_ENTRY_H

#include "compiler/support/Target.h"
#include "compiler/target/Signature.h"
#include "compiler/target/SmallLoops.h"
#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace hlo {

/// A kernel's function, as the entry calls it.
struct KernelInfo {
  std::string symbol;
  int64_t tasks = 0;
  llvm::SmallVector<int64_t, 1> barriers{}; ///< tasks from each on start when all before have ended
  int64_t variableBytes = 0;                ///< of the function
  int64_t scratchBytes = 0;                 ///< of the function's last argument, 0: there is none
};

/// One of hlo_module_desc.ops.
struct OperationRow {
  std::string name;                   ///< of the instruction
  std::string kind;                   ///< what it is, as hlo_op_desc.kind
  int32_t line = 0, column = 0;       ///< of the text
  std::string opName{}, sourceFile{}; ///< of the metadata
  int32_t sourceLine = 0;
  uint64_t flops = 0, bytes = 0;
};

/// What a profile tells apart. The first row is the entry itself, the second its copies.
struct OperationTable {
  static constexpr uint32_t copies = 1;
  std::vector<OperationRow> rows;
  llvm::StringMap<uint32_t> kernels;                  ///< name of the cpurt.kernel -> row
  llvm::DenseMap<mlir::Operation *, uint32_t> others; ///< calls and small loops -> row
};

/// What the object says of itself (hlo_module_desc), besides the signature.
struct Description {
  std::string version; ///< of the compiler
  std::string flags;   ///< of the compiler
  std::string sha256;  ///< of the HLO text
  /// Of one thread, and how much more each other one needs: a slot of scratch memory.
  uint64_t arenaBytes = 0, threadArenaBytes = 0, arenaAlign = 64;
  /// Where in the arena the entry has the tables of pointers that it passes on; none: they are
  /// small and on the stack.
  std::optional<uint64_t> tableAt;
  uint64_t stateBytes = 0;     ///< of hlo_call.state
  bool flushDenormals = false; ///< subnormal numbers count as zero
  uint32_t needs = 0;          ///< set of HLO_NEEDS_*
  Prepared prepared;
  std::vector<std::string> customCalls; ///< targets, sorted
  std::vector<int32_t> customCallApis;  ///< HLO_API_* of each
};

/// A weak reference to the function of that name in the program that links the object; null in C if
/// there is none. A null pointer if no symbol can have such a name.
llvm::Constant *weakTarget(llvm::Module &module, llvm::StringRef target);

/// What functions that launch kernels are made from.
struct EntryContext {
  const Signature &signature;
  const Description &description;
  const llvm::StringMap<KernelInfo> &kernels;    ///< name of the cpurt.kernel -> function
  const llvm::StringMap<std::string> &constants; ///< name of the cpurt.global -> symbol
  const SmallLoops &loops;
  const OperationTable &operations;
};

/// Adds to `module` the function PREFIX_run_buffers, or PREFIX_prepare_buffers if the entry is the
/// one that prepares: what it does, in terms of the runtime's ABI (runtime/abi/hlo/generated.h).
/// Small loops are calls of their functions.
mlir::LogicalResult buildEntry(cpurt::EntryOp entry, const EntryContext &context,
                               llvm::Module &module);

/// Of the table of pointers for launches and calls of the runtime, if it is too large for a stack.
uint64_t tableBytes(cpurt::EntryOp entry);

/// Adds the function of one small loop; its calls of kernels ask to be inlined.
mlir::LogicalResult buildLoop(cpurt::WhileOp loop, const EntryContext &context,
                              llvm::Module &module);

/// Gives an exported function of the object a second name, with the signature's hash in it. Headers
/// refer to that one, so that a program does not link if the object is another module's.
void exportHashed(llvm::Function &function, const Signature &signature);

/// All symbols that an object defines for its users.
std::vector<std::string> exportedSymbols(const Signature &signature,
                                         const Description &description);

/// Adds PREFIX_describe and the static description that it returns; `cpuFeatures`: the bits that
/// the code needs.
void buildDescription(const Signature &signature, const Description &description,
                      llvm::ArrayRef<OperationRow> operations, const Target &target,
                      uint64_t cpuFeatures, llvm::Module &module);

/// Completes the description in an object, if it is there.
void setStackBytes(llvm::MutableArrayRef<char> object, const Signature &signature, uint64_t bytes);

} // namespace hlo

#endif
