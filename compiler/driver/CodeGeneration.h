//===- CodeGeneration.h - Phases emit, optimize and package ---------------===//
#ifndef COMPILER_DRIVER_CODEGENERATION_H
#define COMPILER_DRIVER_CODEGENERATION_H

#include "compiler/driver/Artifacts.h"
#include "compiler/driver/Constants.h"
#include "compiler/driver/OperationTable.h"
#include "compiler/pipeline/Kernels.h"
#include "compiler/support/Options.h"
#include "compiler/target/StackUse.h"
#include "compiler/target/entry/Entry.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

namespace hlo {

/// Machine code as LLVM writes it: one relocatable object, or text.
using ObjectCode = llvm::SmallString<0>;

/// The kernels of a CPU level that has been compiled: a level after it takes those that it would
/// gain nothing by compiling itself.
struct LevelKernels {
  Machine machine;
  std::vector<KernelUnit> units;     ///< compiled for this level; their ops are still there
  llvm::StringMap<KernelInfo> infos; ///< of the same and others, by name of the cpurt.kernel
  uint64_t stackBytes = 0;           ///< bound on the stack of a call
};

/// Input of the last phases.
struct CodeGenerationInput {
  mlir::ModuleOp planned;
  const Target &target;
  const CompileOptions &options;
  const Signature &signature;
  const Description &description;
  const ConstantPool &constants;
  const InstructionMetadata &metadata;
  llvm::ThreadPoolInterface *pool;                   ///< null: one thread
  llvm::ArrayRef<const LevelKernels *> earlier = {}; ///< from the least level to the most
};

/// Runs the last phases. For an object, kernels are compiled in groups, and constants are appended
/// to the merged object. For text, everything is one LLVM module.
class CodeGeneration {
public:
  CodeGeneration(const CodeGenerationInput &input, bool single);

  /// Phase emit: every kernel becomes a function.
  mlir::LogicalResult emit();
  /// After `emit`: the candidates of every kernel; only if options ask for them.
  std::vector<KernelPlan> plans() const;
  /// After `emit`: the largest scratch memory of a kernel or small loop, of the entry or of the
  /// prepare entry.
  uint64_t scratchBytes(bool prepare);
  /// The same of what runs in one branch of an op of the entry, and outside of the op.
  uint64_t scratchBytes(cpurt::CaseOp choice, size_t branch);
  /// Phase optimize, for an object: LLVM IR and machine code of every group and of the entry.
  mlir::LogicalResult compileObjects();
  /// After code generation: the largest frame of all functions; and a bound on the stack of a call.
  std::pair<std::string, uint64_t> largestFrame() const { return stack.largest(); }
  uint64_t stackBytes() const;
  /// Times of the modules in compileObjects, slowest first.
  std::vector<ModuleTime> moduleTimes() const;
  /// The features that the code needs, as its description says.
  uint64_t cpuFeatures() const;
  /// Phase package, for an object.
  mlir::LogicalResult package(std::string &object);
  /// The same for one CPU level of several: the objects, to be merged with those of other levels.
  std::vector<ObjectCode> takeObjects();
  /// What later levels need to know of this one; the last call.
  LevelKernels takeKernels();
  /// Number of kernels that earlier levels have compiled.
  size_t sharedKernels() const { return shared.size(); }
  /// Phases optimize and package for text: assembly, LLVM IR, bitcode, as options.emit asks.
  mlir::LogicalResult compileText(Artifacts &artifacts);
  /// The emitted functions as MLIR.
  void printKernels(llvm::raw_ostream &out);

private:
  void forEach(size_t count, llvm::function_ref<void(size_t)> body);
  /// Of what runs in `root`, except inside `except`.
  uint64_t scratchBytes(mlir::Operation *root, mlir::Operation *except);
  /// Loops that share one module with the kernels that they launch.
  struct LoopGroup {
    llvm::SmallVector<cpurt::WhileOp> loops;
    std::vector<KernelUnit> units; ///< copies: their kernels may also be in a group
    KernelGroup kernels;
  };
  EntryContext entryContext() const;
  void shareKernels();
  void findLoops();
  mlir::LogicalResult emitLoopKernels();
  mlir::LogicalResult compileGroup(size_t index);
  mlir::LogicalResult compileLoops(size_t index);
  mlir::LogicalResult compileEntry();
  mlir::LogicalResult addEntry(llvm::Module &module);
  /// A separate module for the entry costs two milliseconds, a tenth of the time of a small
  /// program.
  bool entryIsWithKernels() const {
    return groups.size() == 1 && loopGroups.empty() && !entryIsLong();
  }
  /// Optimizing a long entry gains almost nothing (one nanosecond per launch) and takes long: for
  /// 20,000 launches -O1 takes five times as long as -O0. Such entries are generated at -O0.
  bool entryIsLong() const;
  /// The entry that a call executes; the prepare entry comes after it.
  cpurt::EntryOp entry() { return *in.planned.getOps<cpurt::EntryOp>().begin(); }
  /// A target machine of the options' level that no other thread uses: a released one or a new one.
  /// Making one with its subtarget takes a tenth of the time of a small kernel.
  std::unique_ptr<llvm::TargetMachine> takeMachine();
  bool ownSections() const { return in.description.levelNumber > 0; }
  void giveBack(std::unique_ptr<llvm::TargetMachine> machine);
  mlir::LogicalResult generate(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::CodeGenFileType kind, ObjectCode &code, ModuleTime &time);
  void dump(llvm::Module &module, const llvm::Twine &name);

  CodeGenerationInput in;
  bool single;
  std::vector<KernelUnit> units; ///< to compile
  std::vector<KernelGroup> groups;
  llvm::StringMap<KernelInfo> shared; ///< of earlier levels, by name of our cpurt.kernel
  llvm::StringMap<KernelInfo> kernelInfos;
  SmallLoops loops;
  OperationTable operations;
  std::vector<LoopGroup> loopGroups;
  std::vector<ObjectCode> objects; ///< one per group, one per group of loops, the entry's
  std::vector<ModuleTime> times;   ///< of each object
  StackUse stack;                  ///< of the objects; guarded by stackLock
  std::mutex stackLock, machinesLock;
  std::vector<std::unique_ptr<llvm::TargetMachine>> machines; ///< not used by any thread
};

} // namespace hlo

#endif
