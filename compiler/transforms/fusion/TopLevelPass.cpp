//===- TopLevelPass.cpp - Passes over what runs at top level --------------===//
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/analysis/Prepared.h"

using namespace mlir;

namespace hlo::fusion {

SmallVector<ComputationOp> topLevelComputations(ModuleOp module, SymbolTable &symbols) {
  llvm::SetVector<ComputationOp> found;
  SmallVector<ComputationOp> work;
  for (auto computation : module.getOps<ComputationOp>()) {
    if (isRoot(computation)) {
      work.push_back(computation);
    }
  }
  auto add = [&](StringRef name) { work.push_back(symbols.lookup<ComputationOp>(name)); };
  while (!work.empty()) {
    ComputationOp computation = work.pop_back_val();
    if (!computation || !found.insert(computation)) {
      continue;
    }
    for (Operation &op : computation.getBody().front()) {
      if (auto loop = dyn_cast<WhileOp>(op)) {
        add(loop.getCondition());
        add(loop.getBody());
      } else if (auto conditional = dyn_cast<ConditionalOp>(op)) {
        for (Attribute branch : conditional.getBranchComputations()) {
          add(cast<FlatSymbolRefAttr>(branch).getValue());
        }
      }
    }
  }
  return found.takeVector();
}

} // namespace hlo::fusion
