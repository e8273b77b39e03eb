//===- TopkExpander.cpp - topk as a stable sort and a slice ---------------===//
//
// A topk of static shape whose elements have integer keys is a kernel of its own (codegen/sort).
// Otherwise:
//
//   v, i = topk(x), k   ->   v, i = slice(sort(x, iota)) along the last dimension
//
// in descending order, or ascending for `largest` = false. Floats compare in total order: NaN above
// infinity, -NaN below -infinity, -0 below +0. The sort is stable, so equal elements are ordered by
// index.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/SortOrder.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class TopkExpanderPass : public OpExpanderPass<TopkExpanderPass, TopkOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TopkExpanderPass)
  StringRef getArgument() const final { return "hlo-topk-expander"; }
  StringRef getDescription() const final { return "Expand topk to sort and slice"; }

  FailureOr<Values> expand(TopkOp op, HloBuilder &b, ScalarComputations &scalars) {
    if (op->getNumResults() == 2 && HloBuilder::type(op.getOperand()).getRank() > 0 &&
        isSortableElement(HloBuilder::type(op.getOperand()).getElementType()) &&
        isa<IntegerType>(HloBuilder::type(op->getResult(1)).getElementType())) {
      return Values{};
    }
    return expandTopk(op, b, scalars);
  }
};

} // namespace

FailureOr<SmallVector<Value>> hlo::expandTopk(TopkOp op, HloBuilder &b,
                                              ScalarComputations &scalars) {
  RankedTensorType type = HloBuilder::type(op.getOperand());
  if (type.getRank() == 0 || op->getNumResults() != 2) {
    return op.emitError("topk of rank ") << type.getRank() << " is not supported yet";
  }
  int64_t last = type.getRank() - 1;
  Type indexType = HloBuilder::type(op->getResult(1)).getElementType();
  RankedTensorType indices = HloBuilder::array(op.getOperand(), indexType);
  StringRef direction = op.getLargest().value_or(true) ? "GT" : "LT";
  auto sort = SortOp::create(b.b, b.loc, TypeRange{type, indices},
                             ValueRange{op.getOperand(), b.iota(indices, last)},
                             b.b.getI64IntegerAttr(last), b.b.getBoolAttr(true),
                             scalars.comparator(direction, type.getElementType(), indexType));
  return SmallVector<Value>{b.sliceDim(sort->getResult(0), last, 0, op.getK()),
                            b.sliceDim(sort->getResult(1), last, 0, op.getK())};
}

std::unique_ptr<Pass> hlo::createTopkExpanderPass() { return std::make_unique<TopkExpanderPass>(); }
