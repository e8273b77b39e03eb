//===- SplitConcatenate.cpp - Concatenates of very many arrays ------------===//
//
// A concatenate of more than kMostParts arrays becomes a tree of concatenates:
//
//   concatenate(p0, ..., p1999)  =>
//   concatenate(concatenate(p0, ..., p127) {stored}, ..., concatenate(p1920, ..., p1999) {stored})
//
// Each of them is one kernel. The code of a concatenate's kernel has a loop per part, some 200
// bytes. Groups of equal shapes are equal kernels, which are compiled once. The price is one more
// move of each element per level of the tree.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// The code of 1024 parts, 200 KB, is compiled in about a second, and still fits into L2.
static constexpr size_t kMostParts = 1024;
/// Parts of a concatenate of the tree: a function that LLVM compiles in a tenth of that, if no
/// equal one was before.
static constexpr size_t kGroup = 128;

static void splitConcatenate(ConcatenateOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  SmallVector<Value> parts(op.getInputs());
  while (parts.size() > kGroup) {
    SmallVector<Value> groups;
    for (ArrayRef<Value> rest = parts; !rest.empty();) {
      ArrayRef<Value> group = rest.take_front(kGroup);
      rest = rest.drop_front(group.size());
      if (group.size() == 1) {
        groups.push_back(group[0]);
        continue;
      }
      Value stored = b.concatenate(group, op.getDimension());
      stored.getDefiningOp()->setAttr(kStoredAttr, builder.getUnitAttr());
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
      if (op.getInputs().size() > kMostParts) {
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
