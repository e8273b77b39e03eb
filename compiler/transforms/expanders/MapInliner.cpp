//===- MapInliner.cpp - map as the element-wise ops of its computation ----===//
//
//   map(x, y), to_apply = (a, b) -> a * b + 1   ->   x * y + broadcast(1)
//
// Inlines computations that consist of element-wise ops, constants and reshapes of scalars; other
// maps stay and are refused by later phases. Computations are visited callees first, so a map
// inside a mapped computation is element-wise by then.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// True for a reshape or similar between scalars, which changes nothing.
bool isScalarMove(Operation *op) {
  return isa<BroadcastOp, ReshapeOp, CopyOp, BitcastOp, TransposeOp>(op) &&
         isScalar(op->getOperand(0)) && isScalar(op->getResult(0));
}

bool isInlinable(ComputationOp computation) {
  return llvm::all_of(computation.getBody().front().without_terminator(), [](Operation &op) {
    return isElementwiseOp(&op) || isa<ConstantOp>(op) || isScalarMove(&op);
  });
}

class MapInlinerPass : public PassWrapper<MapInlinerPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MapInlinerPass)
  StringRef getArgument() const final { return "hlo-map-inliner"; }
  StringRef getDescription() const final { return "Inline map as element-wise ops"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<MapOp>()) {
      return markAllAnalysesPreserved();
    }
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : graph->postOrder()) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        auto map = dyn_cast<MapOp>(op);
        if (map && isInlinable(graph->lookup(map.getToApplyAttr()))) {
          inlineMap(map, graph->lookup(map.getToApplyAttr()));
        }
      }
    }
  }

private:
  void inlineMap(MapOp map, ComputationOp computation) {
    OpBuilder builder(map);
    HloBuilder b(builder, map.getLoc());
    ArrayRef<int64_t> shape = shapeOf(map->getResult(0));
    Block &body = computation.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), map->getOperands());
    for (Operation &op : body.without_terminator()) {
      if (isScalarMove(&op)) {
        mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
        continue;
      }
      Operation *copy = builder.clone(op, mapping);
      if (isa<ConstantOp>(op)) {
        mapping.map(op.getResult(0), b.broadcastScalar(copy->getResult(0), shape));
        continue;
      }
      for (OpResult result : copy->getResults()) {
        result.setType(RankedTensorType::get(shape, elementTypeOf(result)));
      }
    }
    for (auto [result, root] : llvm::zip(map->getResults(), body.getTerminator()->getOperands())) {
      result.replaceAllUsesWith(mapping.lookup(root));
    }
    map.erase();
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createMapInlinerPass() { return std::make_unique<MapInlinerPass>(); }
