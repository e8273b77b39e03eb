//===- TopLevelPass.h - Passes over what runs at top level ----------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_TOPLEVELPASS_H
#define COMPILER_TRANSFORMS_FUSION_TOPLEVELPASS_H

#include "dialect/hlo/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace hlo::fusion {

/// The entry, the computation that prepares, and the bodies, conditions and branches of the loops
/// and conditionals in them, at any depth; each once.
llvm::SmallVector<ComputationOp> topLevelComputations(mlir::ModuleOp module,
                                                      mlir::SymbolTable &symbols);

/// A pass that rewrites the block of each computation that runs at top level by itself: calls
/// `runOnBlock(Block &, SymbolTable &)` of the pass.
template <typename Derived>
class TopLevelPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
public:
  mlir::StringRef getName() const override { return this->getArgument(); }

  void runOnOperation() override {
    mlir::SymbolTable symbols(this->getOperation());
    for (ComputationOp computation : topLevelComputations(this->getOperation(), symbols)) {
      static_cast<Derived *>(this)->runOnBlock(computation.getBody().front(), symbols);
    }
  }
};

} // namespace hlo::fusion

#endif
