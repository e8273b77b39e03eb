//===- EntryBuilder.h - Builder of the functions that run a program -------===//
//
// State of building one function: the entry (Entry.cpp), its launches and copies (EntryLaunch.cpp),
// its loops and branches, and small loops, which become functions of their own (EntryControl.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TARGET_ENTRY_ENTRYBUILDER_H
#define COMPILER_TARGET_ENTRY_ENTRYBUILDER_H

#include "compiler/support/Stack.h"
#include "compiler/target/StaticData.h"
#include "compiler/target/entry/Entry.h"
#include "compiler/target/entry/LoopMemory.h"
#include "llvm/IR/IRBuilder.h"

namespace hlo {

/// Launches between two polls of the caller's request to stop.
constexpr unsigned launchesPerPoll = 64;

/// True if a kernel's buffers are passed as a table (codegen/Scratch).
inline bool takesTable(unsigned buffers) { return buffers > kMostPointers; }

class EntryBuilder {
public:
  EntryBuilder(const EntryContext &in, llvm::Module &module)
      : in(in), prefix(in.signature.symbols), module(module), context(module.getContext()),
        b(context), pointer(b.getPtrTy()), i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  mlir::LogicalResult build(cpurt::EntryOp entry);
  mlir::LogicalResult buildLoop(cpurt::WhileOp loop);

private:
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  llvm::SmallVector<cpurt::LaunchOp> smallLaunches(mlir::Operation *first);
  mlir::LogicalResult emitSmallLaunches(llvm::ArrayRef<cpurt::LaunchOp> launches);
  mlir::LogicalResult emitBody(mlir::Block &body, bool prepares);
  llvm::Function *buildPart(mlir::Block &part, bool prepares, const llvm::Twine &name);
  void loadFrame(bool prepares);
  void placeRareBlocks();
  mlir::LogicalResult emitLaunch(cpurt::LaunchOp launch);
  void countKernel(cpurt::LaunchOp launch);
  void emitCopy(cpurt::CopyOp copy);
  mlir::LogicalResult emitCall(cpurt::CallOp call);
  /// Copies an array between dense and bound strides (EntryPack.cpp).
  mlir::LogicalResult emitPack(cpurt::CallOp call);
  mlir::LogicalResult storeArguments(mlir::ValueRange buffers);
  void emitRandomState(cpurt::RandomStateOp op);
  void callLoop(const SmallLoop &loop);
  mlir::LogicalResult emitWhile(cpurt::WhileOp loop);
  mlir::LogicalResult emitCountedLoop(cpurt::WhileOp loop, int64_t count);
  mlir::LogicalResult emitCase(cpurt::CaseOp op);
  void makeLoopVariables(cpurt::WhileOp loop);
  void copyLoopVariables(bool fromArena);
  llvm::Value *address(mlir::Value buffer);
  llvm::Value *leaf(bool isInput, int64_t index);
  llvm::FunctionType *kernelType(unsigned buffers, bool takesScratch);
  llvm::Function *taskFunction(unsigned buffers, bool staged, bool takesScratch);
  llvm::Function *copyFunction();
  void reserveArguments(unsigned count);
  void sizeArguments();
  /// Stores a value in the argument array on the stack, growing the array if necessary.
  void passArgument(unsigned number, llvm::Value *value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(pointer, arguments, number));
  }
  void parallelFor(llvm::Function *task, int64_t tasks, bool takesScratch = false);
  llvm::Function *kernelFunction(const KernelInfo &info, unsigned buffers);
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::ArrayRef<llvm::Type *> parameters,
                               llvm::Type *result = nullptr) {
    auto *type = llvm::FunctionType::get(result ? result : i32, parameters, false);
    return module.getOrInsertFunction(name, type);
  }
  llvm::BasicBlock *newBlock(llvm::StringRef name) {
    return llvm::BasicBlock::Create(context, name, function);
  }
  void branchToRare(llvm::Value *condition, llvm::BasicBlock *rare, llvm::BasicBlock *usual);
  void leaveIfError(llvm::Value *status);
  llvm::BasicBlock *leaveWith(llvm::Value *error);
  void count(uint32_t operation, uint64_t bytes);
  void poll();

  const EntryContext &in;
  llvm::StringRef prefix;
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  llvm::Type *pointer, *i32, *i64;

  llvm::Function *function = nullptr;
  bool insideLoop = false; ///< true for the function of a small loop
  llvm::DenseMap<int64_t, llvm::Value *> loopInputs, loopOutputs; ///< its parameters
  llvm::SmallVector<std::pair<LoopSlot, llvm::Value *>>
      loopVariables; ///< used instead of the arena
  llvm::Value *frame = nullptr, *arena = nullptr, *prepared = nullptr, *watch = nullptr;
  llvm::Value *profile = nullptr; ///< null in the prepare entry and in small loops
  enum class Counting { IfAsked, Always, Never } counting = Counting::IfAsked; ///< of operations
  unsigned launchesEmittedTwice = 0;
  llvm::Value *scratch = nullptr; ///< for kernels on the calling thread; null if none needs scratch
  llvm::Value *arguments = nullptr; ///< of parallel launches; allocated at the first one
  unsigned argumentCount = 0;
  StaticData data{module, /*shares=*/true}; ///< of runtime calls
  llvm::BasicBlock *end = nullptr;
  llvm::PHINode *status = nullptr; ///< in `end`
  llvm::PHINode *exit = nullptr;   ///< PHI of the current error block; `status` at first
  llvm::SmallVector<llvm::BasicBlock *> rareBlocks; ///< placed behind all others
  unsigned launchesSincePoll = 0;
};

} // namespace hlo

#endif
