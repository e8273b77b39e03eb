//===- OneLaneStores.cpp - Masked stores of one lane ----------------------===//
//
// In: LLVM IR that is about to become machine code. Out: the same without masked stores
// of one lane, which LLVM 22 selects wrongly (see the header).
//
//===----------------------------------------------------------------------===//
#include "compiler/target/OneLaneStores.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The set lane of a constant mask with exactly one.
static std::optional<unsigned> onlyLane(const Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type) {
    return std::nullopt;
  }
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const Constant *element = constant->getAggregateElement(lane);
    if (!element || !(element->isZeroValue() || element->isOneValue())) {
      return std::nullopt;
    }
    if (element->isOneValue()) {
      if (found) {
        return std::nullopt;
      }
      found = lane;
    }
  }
  return found;
}

void hlo::scalarizeOneLaneStores(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::masked_store) {
        continue;
      }
      Value *vector = call->getArgOperand(0), *base = call->getArgOperand(1);
      std::optional<unsigned> lane = onlyLane(call->getArgOperand(2));
      if (!lane) {
        continue;
      }
      IRBuilder<> builder(call);
      Type *element = cast<FixedVectorType>(vector->getType())->getElementType();
      uint64_t size = module.getDataLayout().getTypeStoreSize(element);
      Value *address = builder.CreateConstInBoundsGEP1_64(element, base, *lane);
      builder.CreateAlignedStore(
          builder.CreateExtractElement(vector, *lane), address,
          commonAlignment(call->getParamAlign(1).valueOrOne(), *lane * size));
      call->eraseFromParent();
    }
  }
}
