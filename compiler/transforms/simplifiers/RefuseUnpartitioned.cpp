//===- RefuseUnpartitioned.cpp - hlo-refuse-unpartitioned -----------------===//
//
// A module of one partition may still go between arrays and their shards, as JAX writes shard_map
// and pmap. In a module of several partitions the phase `partition` has taken these custom calls
// away; in one of a single partition they return their operand, unless the shapes differ: then the
// function cannot be compiled for one device.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;

namespace {

bool changesToShards(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  return call && llvm::is_contained({"SPMDFullToShardShape", "SPMDShardToFullShape",
                                     "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"},
                                    call.getCustomCallTarget());
}

/// In a module of one partition, custom calls between an array and its shard return their operand.
/// If the shapes differ, the program was written for several devices.
LogicalResult checkShardShapes(CustomCallOp call) {
  if (!changesToShards(call)) {
    return success();
  }
  SmallVector<Type> operands(call.getOperandTypes()), results(call->getResultTypes());
  if (results.size() == 1 && isa<TupleType>(results[0])) {
    results = llvm::to_vector(cast<TupleType>(results[0]).getTypes());
  }
  auto shapeOf = [](Type type) {
    auto array = dyn_cast<RankedTensorType>(type);
    return array ? array.getShape() : ArrayRef<int64_t>();
  };
  for (auto [from, to] : llvm::zip(operands, results)) {
    if (shapeOf(from) != shapeOf(to)) {
      InFlightDiagnostic error = mlir::emitError(call.getLoc())
                                 << "this custom-call goes from " << hloText(from) << " to "
                                 << hloText(to)
                                 << ", so the function is sharded over several devices (pmap, "
                                    "shard_map, or jit with shardings), and the module has one "
                                    "partition";
      error.attachNote()
          << "--partitions=N compiles it for N; in JAX, with vmap in place of pmap or "
             "shard_map, the function runs on one (examples/fromjax)";
      return error;
    }
  }
  return success();
}

class RefuseUnpartitionedPass
    : public PassWrapper<RefuseUnpartitionedPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseUnpartitionedPass)
  StringRef getArgument() const final { return "hlo-refuse-unpartitioned"; }
  StringRef getDescription() const final {
    return "Report custom calls between an array and its shard in a module of one partition";
  }

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (!getAnalysis<OpsPresent>().has<CustomCallOp>()) {
      return;
    }
    WalkResult result = getOperation()->walk([](CustomCallOp call) {
      return failed(checkShardShapes(call)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createRefuseUnpartitionedPass() {
  return std::make_unique<RefuseUnpartitionedPass>();
}
