//===- TopLevelPass.h - Passes over computations at top level -------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_TOPLEVELPASS_H
#define COMPILER_TRANSFORMS_FUSION_TOPLEVELPASS_H

#include "compiler/analysis/ModuleFacts.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace hlo::fusion {

/// The computations that run at top level, each once: the entry, the prepare computation, and the
/// bodies, conditions and branches of loops and conditionals in them, at any depth.
llvm::SmallVector<ComputationOp> topLevelComputations(mlir::ModuleOp module,
                                                      mlir::SymbolTable &symbols);

/// A pass that rewrites the block of each computation that runs at top level, one at a time, by
/// `runOnBlock(Block &, SymbolTable &)` of the derived class. With `Seeds`, only in modules that
/// have such ops.
template <typename Derived, typename... Seeds>
class TopLevelPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
public:
  mlir::StringRef getName() const override { return this->getArgument(); }

  void runOnOperation() override {
    if (sizeof...(Seeds) > 0 &&
        !this->template getAnalysis<OpsPresent>().template has<Seeds...>()) {
      return this->markAllAnalysesPreserved();
    }
    mlir::SymbolTable symbols(this->getOperation());
    for (ComputationOp computation : topLevelComputations(this->getOperation(), symbols)) {
      static_cast<Derived *>(this)->runOnBlock(computation.getBody().front(), symbols);
    }
  }
};

} // namespace hlo::fusion

#endif
