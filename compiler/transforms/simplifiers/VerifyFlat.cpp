//===- VerifyFlat.cpp - The gate after canonicalization and layout --------===//
//
// Reports everything that invariants 3 and 4 of compiler/README.md exclude:
// tuples, tokens, layouts, calls, opcodes outside the core set. All offenders
// are reported, each at its own place; the module is not changed.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;

namespace {

/// The opcode as the text format writes it.
std::string opcodeOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// False for ops that earlier passes replace.
bool isCore(Operation *op) {
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    return !fusion.getCalls();
  }
  return !hasFlag(op, OpFlag::Composite);
}

class VerifyFlatPass : public PassWrapper<VerifyFlatPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyFlatPass)
  StringRef getArgument() const final { return "hlo-verify-flat"; }
  StringRef getDescription() const final {
    return "Report ops and types that the phases after layout do not know";
  }

  void runOnOperation() final {
    bool ok = true;
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      for (BlockArgument argument : computation.getBody().getArguments()) {
        ok &= checkType(argument, argument.getLoc());
      }
      for (Operation &op : computation.getBody().front()) {
        if (!isCore(&op)) {
          op.emitError() << opcodeOf(&op) << " is not supported yet";
          ok = false;
          continue;
        }
        for (Value result : op.getResults()) {
          if (!checkType(result, op.getLoc())) {
            ok = false;
            break;
          }
        }
      }
    }
    if (!ok) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

private:
  bool checkType(Value value, Location loc) {
    Type type = value.getType();
    RankedTensorType array = arrayType(type);
    if (!array) {
      emitError(loc) << "values of type " << hloText(type) << " are not supported yet";
      return false;
    }
    if (!array.hasStaticShape()) {
      emitError(loc) << "unbounded dynamic dimensions are not supported yet: " << hloText(type);
      return false;
    }
    if (array.getEncoding()) {
      emitError(loc) << "layout left after layout normalization: " << hloText(type);
      return false;
    }
    return true;
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createVerifyFlatPass() { return std::make_unique<VerifyFlatPass>(); }
