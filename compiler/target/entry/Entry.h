//===- Entry.h - The planned program as LLVM IR ---------------------------===//
#ifndef COMPILER_TARGET_ENTRY_ENTRY_H
#define COMPILER_TARGET_ENTRY_ENTRY_H

#include "compiler/machine/Target.h"
#include "compiler/target/Signature.h"
#include "compiler/target/entry/SmallLoops.h"
#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace hlo {

/// A kernel's function, as the entry calls it.
struct KernelInfo {
  std::string symbol;
  int64_t tasks = 0;
  llvm::SmallVector<int64_t, 1>
      barriers{}; ///< tasks from each number on start after all tasks before it have ended
  int64_t variableBytes = 0;         ///< bytes of the function's variables
  int64_t scratchBytes = 0;          ///< bytes of the function's last argument; 0: it has none
  std::optional<int64_t> smallOps{}; ///< opsOfSmallKernel
};

/// One row of hlo_module_desc.ops.
struct OperationRow {
  std::string name;                   ///< of the instruction
  std::string kind;                   ///< what it is, as hlo_op_desc.kind
  std::string file{};                 ///< of the text, without folders; empty if it has no name
  int32_t line = 0, column = 0;       ///< of the text
  std::string opName{}, sourceFile{}; ///< of the metadata
  int32_t sourceLine = 0;
  uint64_t flops = 0, bytes = 0;
};

/// The rows of a profile. The first is the entry itself, the second its copies.
struct OperationTable {
  static constexpr uint32_t copies = 1;
  std::vector<OperationRow> rows;
  llvm::StringMap<uint32_t> kernels;                  ///< name of the cpurt.kernel -> row
  llvm::DenseMap<mlir::Operation *, uint32_t> others; ///< calls and small loops -> row
};

/// hlo_size_versions; without versions there is none.
struct SizeVersionsInfo {
  std::vector<uint64_t> arenaBytes, threadBytes; ///< of each version
  std::vector<int64_t> choices;
  uint32_t numChoices = 0;
};

/// The contents of the object's description (hlo_module_desc), besides the signature.
struct Description {
  std::string version; ///< of the compiler
  std::string flags;   ///< of the compiler
  std::string sha256;  ///< of the HLO text
  ArenaSize arena;     ///< of run
  SizeVersionsInfo sizes;
  uint64_t arenaAlign = 64;    ///< of both arenas
  uint64_t stateBytes = 0;     ///< of hlo_call.state
  bool flushDenormals = false; ///< subnormal numbers are treated as zero
  uint32_t needs = 0;          ///< set of HLO_NEEDS_*
  Prepared prepared;
  std::vector<std::string> customCalls; ///< targets, sorted
  std::vector<int32_t> customCallApis;  ///< HLO_API_* of each
  /// Of the code of one CPU level of several: its name and place, from 1; else empty and 0.
  std::string levelName;
  uint32_t levelNumber = 0;
  /// Of an object with several CPU levels: Signature::symbols of each.
  std::vector<std::string> levels;
};

/// A weak reference to the function `target` of the program that links the object: null at run time
/// if there is none. A null pointer constant if no symbol can have that name.
llvm::Constant *weakTarget(llvm::Module &module, llvm::StringRef target);

/// Inputs of the functions that launch kernels.
struct EntryContext {
  const Signature &signature;
  const Description &description;
  const llvm::StringMap<KernelInfo> &kernels;    ///< name of the cpurt.kernel -> function
  const llvm::StringMap<std::string> &constants; ///< name of the cpurt.global -> symbol
  const SmallLoops &loops;
  const OperationTable &operations;
};

/// Adds PREFIX_run_buffers to `module`, or PREFIX_prepare_buffers for the prepare entry. The
/// function implements the program with the runtime's ABI (runtime/abi/hlo/generated.h). Small
/// loops are calls of their functions.
mlir::LogicalResult buildEntry(cpurt::EntryOp entry, const EntryContext &context,
                               llvm::Module &module);

/// Bytes of the pointer table for launches and runtime calls; 0 if it is small enough for the
/// stack.
uint64_t tableBytes(cpurt::EntryOp entry);

/// Adds the function of one small loop; its kernel calls are marked for inlining.
mlir::LogicalResult buildLoop(cpurt::WhileOp loop, const EntryContext &context,
                              llvm::Module &module);

/// Gives an exported function a second name that contains the signature's hash. Headers refer to
/// that name, so a program with another module's object does not link.
void exportHashed(llvm::Function &function, const Signature &signature);

/// All symbols that an object exports; not for one CPU level of several, which exports none.
std::vector<std::string> exportedSymbols(const Signature &signature,
                                         const Description &description);

/// Adds PREFIX_describe and the static description that it returns; of one CPU level of several the
/// description alone, as SYMBOLS.desc. `cpuFeatures`: the feature bits that the code needs.
void buildDescription(const Signature &signature, const Description &description,
                      llvm::ArrayRef<OperationRow> operations, const Target &target,
                      uint64_t cpuFeatures, llvm::Module &module);

/// Adds the functions and the description of an object with several CPU levels, whose own
/// functions and descriptions other modules define (description.levels). `cpuFeatures`: those of
/// the least level.
void buildDispatch(const Signature &signature, const Description &description, const Target &target,
                   uint64_t cpuFeatures, llvm::Module &module);

/// Writes `bytes` into the description of a finished object, if it has one.
void setStackBytes(llvm::MutableArrayRef<char> object, const Signature &signature, uint64_t bytes);

} // namespace hlo

#endif
