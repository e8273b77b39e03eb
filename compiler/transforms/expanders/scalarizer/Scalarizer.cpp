//===- Scalarizer.cpp - Arrays in scalar computations as their elements ---===//
//
// In: computations applied to scalars (by map, reduce, sort, ...) that hold small arrays: lookup
// tables, sums of a few terms. Out: the same with scalars only, one op per element:
//
//   element-wise op, constant, iota   an op, or a constant, for each element
//   broadcast, slice, concatenate...  the elements in another order
//   dynamic-slice, gather             selects by where the slice may start
//   dynamic-update-slice              selects by where the update may go
//   reduce, map                       their computation once for each element
//   dot                               sums of products, in order
//   sort                              compare-exchange of neighbours by selects
//
// Computations with other ops on arrays, or with large arrays, stay.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/expanders/scalarizer/ElementRewriter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hlo;

namespace {
class ScalarizerPass : public PassWrapper<ScalarizerPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScalarizerPass)
  StringRef getArgument() const final { return "hlo-scalarizer"; }
  StringRef getDescription() const final {
    return "Replace arrays in scalar computations by their elements";
  }

  void runOnOperation() final {
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    llvm::SmallSetVector<Operation *, 16> applied;
    for (ComputationOp computation : graph->postOrder()) {
      for (Operation &op : computation.getBody().front()) {
        if (!callsAtTopLevel(&op)) {
          forEachCallee(&op, [&](FlatSymbolRefAttr name) { applied.insert(graph->lookup(name)); });
        }
      }
    }
    if (applied.empty()) {
      return markAllAnalysesPreserved();
    }
    // Callees before callers: a reduce inside a reducer then has a scalar computation already.
    for (ComputationOp computation : graph->postOrder()) {
      if (applied.contains(computation)) {
        ElementRewriter(computation, *graph).run();
      }
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createScalarizerPass() { return std::make_unique<ScalarizerPass>(); }
