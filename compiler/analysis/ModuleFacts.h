//===- ModuleFacts.h - What passes over a module need not find again ------===//
//
// Analyses that a pass asks for with getAnalysis. They stay valid until a pass changes the module:
// one that finds nothing to change says so (markAllAnalysesPreserved), so a module that is simple
// already is not walked by every pass. In a large module each walk waits for memory at each op.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_MODULEFACTS_H
#define COMPILER_ANALYSIS_MODULEFACTS_H

#include "compiler/analysis/Computations.h"
#include "mlir/Pass/Pass.h"

namespace hlo {

/// The kinds of ops in a module, at any depth.
class OpsPresent {
public:
  explicit OpsPresent(mlir::Operation *module);

  template <typename... Ops> bool has() const {
    return (kinds.contains(mlir::TypeID::get<Ops>()) || ... || false);
  }

private:
  llvm::DenseSet<mlir::TypeID> kinds;
};

/// The call graph; failure after an error.
struct ModuleCalls {
  explicit ModuleCalls(mlir::Operation *module)
      : graph(ComputationGraph::build(llvm::cast<mlir::ModuleOp>(module))) {}
  mlir::FailureOr<ComputationGraph> graph;
};

/// The passes that found nothing to change in the module as it is now.
struct SettledPasses {
  explicit SettledPasses(mlir::Operation *) {}
  llvm::DenseSet<mlir::TypeID> passes;
};

/// A pass over the module that runs again only if something changed since it last found nothing to
/// change. `Derived` has `FailureOr<bool> change()`: whether it changed the module.
template <typename Derived>
class SettlingPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
public:
  void runOnOperation() final {
    if (this->template getAnalysis<SettledPasses>().passes.contains(this->getTypeID())) {
      return this->markAllAnalysesPreserved();
    }
    mlir::FailureOr<bool> changed = static_cast<Derived *>(this)->change();
    if (mlir::failed(changed)) {
      return this->signalPassFailure();
    }
    if (!*changed) {
      this->template getAnalysis<SettledPasses>().passes.insert(this->getTypeID());
      this->markAllAnalysesPreserved();
    }
  }
};

} // namespace hlo

#endif
