//===- SplitConcatenate.cpp - Concatenates of very many arrays ------------===//
//
// A concatenate of more than kMostParts arrays becomes a tree of concatenates:
//
//   concatenate(p0, ..., p999)  =>
//   concatenate(concatenate(p0, ..., p127) {stored}, ..., concatenate(p896, ..., p999) {stored})
//
// Each of them is one kernel. The code of a concatenate's kernel has a loop per part, and LLVM's
// time for it grows with the square of the parts. Groups of equal shapes are equal kernels, which
// are compiled once. The price is one more move of each element per level of the tree.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// From here on LLVM's time for the kernel of a concatenate is quadratic in its parts: 0.15 s for
/// 128 parts, 0.3 s for 256, 1.2 s for 512, 4 s for 1000.
static constexpr size_t kMostParts = 128;

static void splitConcatenate(ConcatenateOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  SmallVector<Value> parts(op.getInputs());
  while (parts.size() > kMostParts) {
    SmallVector<Value> groups;
    for (ArrayRef<Value> rest = parts; !rest.empty();) {
      ArrayRef<Value> group = rest.take_front(kMostParts);
      rest = rest.drop_front(group.size());
      if (group.size() == 1) {
        groups.push_back(group[0]);
        continue;
      }
      Value stored = b.concatenate(group, op.getDimension());
      stored.getDefiningOp()->setAttr("stored", builder.getUnitAttr());
      groups.push_back(stored);
    }
    parts = std::move(groups);
  }
  op.getInputsMutable().assign(parts);
}

namespace {
class SplitConcatenatePass : public TopLevelPass<SplitConcatenatePass, ConcatenateOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitConcatenatePass)

  StringRef getArgument() const override { return "hlo-split-concatenate"; }
  StringRef getDescription() const override {
    return "Write a concatenate of very many arrays as a tree of concatenates";
  }
  void runOnBlock(Block &block, SymbolTable &) {
    for (auto op : llvm::make_early_inc_range(block.getOps<ConcatenateOp>())) {
      if (op.getInputs().size() > kMostParts && !op->hasAttr("paired")) {
        splitConcatenate(op);
      }
    }
  }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createSplitConcatenatePass() {
  return std::make_unique<fusion::SplitConcatenatePass>();
}
