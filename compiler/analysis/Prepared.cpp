//===- Prepared.cpp - A module in two functions: prepare and run ----------===//
//
// In: a module with a prepare computation. Out: the place of each of its results in the prepared
// block: one after the other behind the runtime's header, each aligned to 64 bytes.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/support/Checked.h"

using namespace mlir;
using namespace hlo;

/// Size of hlo_prepared_header, and alignment of each array.
static constexpr int64_t headerBytes = 64, alignment = 64;

ComputationOp hlo::findPrepare(ModuleOp module) {
  for (auto computation : module.getOps<ComputationOp>()) {
    if (computation->hasAttr(kPrepare)) {
      return computation;
    }
  }
  return {};
}

Value hlo::panelsBehind(Operation *op) {
  while (op && op->hasAttr(kPanels) && !isa<TransposeOp>(op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  return op && op->hasAttr(kPanels) ? op->getOperand(0) : Value();
}

bool hlo::isRoot(ComputationOp computation) {
  return computation.getEntry() || computation->hasAttr(kPrepare);
}

FailureOr<PreparedBlock> hlo::layOutBlock(ComputationOp prepare) {
  PreparedBlock block;
  block.bytes = headerBytes;
  for (Value value : prepare.getReturn()->getOperands()) {
    block.offsets.push_back(block.bytes);
    auto type = cast<RankedTensorType>(value.getType());
    std::optional<int64_t> bytes =
        checkedProduct(type.getShape(), elementBytes(type.getElementType()));
    int64_t padded;
    if (!bytes || llvm::AddOverflow(*bytes, -*bytes & (alignment - 1), padded) ||
        llvm::AddOverflow(block.bytes, padded, block.bytes)) {
      return failure();
    }
  }
  return block;
}
