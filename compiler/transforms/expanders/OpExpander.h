//===- OpExpander.h - Base of expanders -----------------------------------===//
//
// Base of the passes that replace each op of one kind by values computed from its operands, and the
// scalar computations that the replacements use.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_OPEXPANDER_H
#define COMPILER_TRANSFORMS_EXPANDERS_OPEXPANDER_H

#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "dialect/hlo/Builder.h"
#include "mlir/Pass/Pass.h"

namespace hlo {

/// Makes each scalar computation once per module and element type.
class ScalarComputations {
public:
  explicit ScalarComputations(mlir::ModuleOp module) : module(module) {}

  /// (x, y) -> Op(x, y), named `<name>.<type>`.
  template <typename Op> mlir::FlatSymbolRefAttr binary(mlir::Type element) {
    mlir::StringRef name = Op::getOperationName().drop_front(4);
    return get(name, element, [](HloBuilder &b, mlir::ValueRange arguments) {
      return b.binary<Op>(arguments[0], arguments[1]);
    });
  }
  /// The same for the binary op named `operation`.
  mlir::FlatSymbolRefAttr like(mlir::StringRef operation, mlir::Type element) {
    return get(operation.drop_front(4), element, [&](HloBuilder &b, mlir::ValueRange arguments) {
      mlir::OperationState state(b.loc, operation, arguments, arguments[0].getType());
      return b.b.create(state)->getResult(0);
    });
  }
  /// (x, y, i, j) -> x `direction` y: the comparator of a sort of two arrays; total order for
  /// floats.
  mlir::FlatSymbolRefAttr comparator(llvm::StringRef direction, mlir::Type element,
                                     mlir::Type other);

private:
  mlir::FlatSymbolRefAttr
  get(llvm::StringRef name, llvm::ArrayRef<mlir::Type> elements,
      llvm::function_ref<mlir::Value(HloBuilder &, mlir::ValueRange)> build);

  mlir::ModuleOp module;
  llvm::StringMap<mlir::FlatSymbolRefAttr> made;
};

/// The results of a batch normalization as arithmetic. `count` is the number of elements per
/// feature, an integer scalar, if it differs from that of the shape; else null.
llvm::SmallVector<mlir::Value> expandBatchNorm(mlir::Operation *op, HloBuilder &b,
                                               ScalarComputations &scalars, mlir::Value count);

/// The results of topk by a sort; failure after an error.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> expandTopk(TopkOp op, HloBuilder &b,
                                                           ScalarComputations &scalars);

/// Replaces every `Op` by the values that `Derived::expand(Op, HloBuilder &, ScalarComputations &)`
/// returns. `expand` returns failure after reporting an error, and no values to keep the op.
template <typename Derived, typename Op>
class OpExpanderPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  void runOnOperation() final {
    if (!this->template getAnalysis<OpsPresent>().template has<Op>()) {
      return this->markAllAnalysesPreserved();
    }
    mlir::ModuleOp module = this->getOperation();
    ScalarComputations scalars(module);
    bool ok = true;
    llvm::SmallVector<Op> ops;
    module.walk([&](Op op) { ops.push_back(op); });
    for (Op op : ops) {
      mlir::OpBuilder builder(op);
      HloBuilder b(builder, op->getLoc());
      mlir::FailureOr<Values> values = static_cast<Derived *>(this)->expand(op, b, scalars);
      ok &= mlir::succeeded(values);
      if (mlir::failed(values) || values->empty()) {
        continue;
      }
      op->replaceAllUsesWith(mlir::ValueRange(*values));
      op->erase();
    }
    if (!ok) {
      this->signalPassFailure();
    }
  }
};

} // namespace hlo

#endif
