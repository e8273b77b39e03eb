//===- MoveScratch.cpp - Large variables leave the stack ------------------===//
//
// In: optimized functions, some with a scratch memory argument. Out: the same with large variables
// at fixed offsets of that memory.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/MoveScratch.h"
#include "compiler/support/Stack.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static constexpr uint64_t line = 64;

/// Size of a variable, rounded up to cache lines.
static uint64_t bytesOf(const AllocaInst &variable, const DataLayout &layout) {
  return alignTo(variable.getAllocationSize(layout)->getFixedValue(), line);
}

namespace {
/// Addresses in a function's scratch memory.
///
/// The stack pointer is at hand everywhere; the argument is one more value that lives across the
/// whole function. In a kernel that needs all registers LLVM splits such a value in the innermost
/// loop, and reloads it in each iteration. So each innermost loop gets a value of its own, which a
/// load in front of the loop begins: then the loop's registers go to what the loop uses.
class Addresses {
public:
  explicit Addresses(Function &function)
      : tree(function), loops(tree), argument(function.getArg(function.arg_size() - 1)) {
    IRBuilder<> b(&function.getEntryBlock(), function.getEntryBlock().begin());
    slot = b.CreateAlloca(b.getPtrTy(), nullptr, "scratch");
    b.SetInsertPoint(function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    b.CreateStore(argument, slot);
  }
  Value *at(const Use &use, uint64_t offset);

private:
  DominatorTree tree;
  LoopInfo loops;
  Argument *argument;
  AllocaInst *slot;
  DenseMap<BasicBlock *, Value *> bases; ///< by the block in front of a loop
  DenseMap<std::pair<BasicBlock *, uint64_t>, Value *> known;
};
} // namespace

/// The address `offset` bytes into the memory, for one use of a variable there.
Value *Addresses::at(const Use &use, uint64_t offset) {
  auto *user = cast<Instruction>(use.getUser());
  auto *phi = dyn_cast<PHINode>(user);
  Loop *loop = loops.getLoopFor(phi ? phi->getIncomingBlock(use) : user->getParent());
  BasicBlock *before = loop ? loop->getLoopPreheader() : nullptr;
  Value *&address = known[{before, offset}];
  if (!address) {
    IRBuilder<> b(before ? before->getTerminator() : slot->getNextNode());
    Value *base = argument;
    if (before) {
      Value *&loaded = bases[before];
      loaded = loaded ? loaded : b.CreateLoad(b.getPtrTy(), slot);
      base = loaded;
    }
    address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  }
  return address;
}

/// Replaces a variable by the address `offset` bytes into the scratch memory.
static void move(AllocaInst &variable, Addresses &addresses, uint64_t offset) {
  for (User *user : make_early_inc_range(variable.users())) {
    auto *call = dyn_cast<IntrinsicInst>(user);
    if (call && call->isLifetimeStartOrEnd()) {
      call->eraseFromParent();
    }
  }
  for (Use &use : make_early_inc_range(variable.uses())) {
    use.set(addresses.at(use, offset));
  }
  variable.eraseFromParent();
}

static void moveToScratch(Function &function, uint64_t available) {
  const DataLayout &layout = function.getDataLayout();
  SmallVector<std::pair<uint64_t, AllocaInst *>> variables;
  std::optional<Addresses> addresses;
  uint64_t left = 0, used = 0;
  for (Instruction &instruction : function.getEntryBlock()) {
    auto *variable = dyn_cast<AllocaInst>(&instruction);
    if (variable && variable->isStaticAlloca()) {
      variables.push_back({bytesOf(*variable, layout), variable});
      left += variables.back().first;
    }
  }
  std::vector<unsigned> order(variables.size());
  for (unsigned i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(variables[b].first, a) < std::pair(variables[a].first, b);
  });
  for (unsigned i : order) {
    auto [bytes, variable] = variables[i];
    // Variables that LLVM has split may not fit, because each part is rounded up.
    if (left <= hlo::kMostVariableBytes || used + bytes > available) {
      return;
    }
    if (!addresses) {
      addresses.emplace(function);
    }
    move(*variable, *addresses, used);
    // Without a variable that needs more than the ABI's alignment, the backend would not align the
    // stack, and vectors that it spills would lie across two cache lines.
    function.addFnAttr("stackrealign");
    used += bytes;
    left -= bytes;
  }
}

uint64_t hlo::slotBytes(uint64_t scratchBytes) {
  return scratchBytes ? HLO_SLOT_HEADER_BYTES + alignTo(scratchBytes, line) : 0;
}

void hlo::moveToScratch(Module &module) {
  for (Function &function : module) {
    if (!function.isDeclaration() && function.hasFnAttribute(kScratchBytes)) {
      ::moveToScratch(function, function.getFnAttributeAsParsedInteger(kScratchBytes));
    }
  }
}
