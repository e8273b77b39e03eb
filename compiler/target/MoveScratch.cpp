//===- MoveScratch.cpp - Large variables leave the stack ------------------===//
//
// In: optimized functions, some with a scratch memory argument. Out: the same with large variables
// at fixed offsets of that memory.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/MoveScratch.h"
#include "compiler/support/Stack.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static constexpr uint64_t line = 64;

/// Size of a variable, rounded up to cache lines.
static uint64_t bytesOf(const AllocaInst &variable, const DataLayout &layout) {
  return alignTo(variable.getAllocationSize(layout)->getFixedValue(), line);
}

/// Replaces a variable by the address `scratch` + `offset`.
static void move(AllocaInst &variable, Argument &scratch, uint64_t offset) {
  for (User *user : make_early_inc_range(variable.users())) {
    auto *call = dyn_cast<IntrinsicInst>(user);
    if (call && call->isLifetimeStartOrEnd()) {
      call->eraseFromParent();
    }
  }
  IRBuilder<> b(&variable);
  variable.replaceAllUsesWith(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), &scratch, offset));
  variable.eraseFromParent();
}

static void moveToScratch(Function &function, uint64_t available) {
  const DataLayout &layout = function.getDataLayout();
  SmallVector<std::pair<uint64_t, AllocaInst *>> variables;
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
    move(*variable, *function.getArg(function.arg_size() - 1), used);
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
