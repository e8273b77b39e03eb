//===- SplitReduce.cpp - One reduce as two --------------------------------===//
//
// Rewrites a reduce that one kernel cannot do well as two. The first has many rows, which are
// many tasks:
//
//   over the minor and other dimensions        the trailing ones first, then the others;
//                                              the other way round if the trailing ones are short
//   of a large array to a few elements         by the leading dimension, or by parts of it
//                                              (with a remainder if it does not divide evenly)
//
// The computation must be a single associative op, whose identity starts the first reduce. Sums
// of narrow floats are excluded: the partial results would be rounded. A computation that is
// marked to allow any order starts both reduces from the init values, if these may take part
// several times.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// An array of at least 256 Ki elements that is reduced to at most 64 elements is reduced in 4 to
/// 64 parts, so that several threads share it. At 4 elements a cycle (a Huber loss in vectors of 64
/// bytes) they are 64000 cycles: for each of two threads 16 times what it takes to hand out a task
/// (0.5 us). This is a time of the computation, not of reading: below it two reduces cost one core
/// up to 7 %, above it two cores gain up to half.
static constexpr int64_t kLargeArray = 256 << 10, kFewResults = 64, kMostParts = 64, kFewParts = 4;

/// Trailing dimensions of at most 32 elements, in at least 32 rows of them, are reduced last: a
/// horizontal sum per short run would cost more than its loads.
static constexpr int64_t kShortRun = 32, kManyRows = 32;

DenseElementsAttr identityOfParts(ComputationOp computation, Type element) {
  Operation *op = associativeOp(computation);
  auto real = dyn_cast<FloatType>(element);
  bool rounds = real && real.getWidth() < 32 && isa_and_nonnull<AddOp, MultiplyOp>(op);
  return op && !rounds && !isa<ComplexType>(element) ? identityOf(op, element)
                                                     : DenseElementsAttr();
}

/// The largest divisor of `size` up to kMostParts.
static int64_t partsOf(int64_t size) {
  for (int64_t parts = std::min(kMostParts, size); parts > 1; --parts) {
    if (size % parts == 0) {
      return parts;
    }
  }
  return 1;
}

/// The init values of the first reduce: the identity, or those of `op`.
static SmallVector<Value> beginnings(ReduceOp op, DenseElementsAttr identity, OpBuilder &builder) {
  if (!identity) {
    return SmallVector<Value>(op.getInputs().drop_front(op->getNumResults()));
  }
  return {ConstantOp::create(builder, op.getLoc(), identity.getType(), identity)};
}

static void split(ReduceOp op, DenseElementsAttr identity, ValueRange inputs,
                  ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  OpBuilder builder(op);
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(HloBuilder::type(inputs[0]).getShape())) {
    if (!llvm::is_contained(first, static_cast<int64_t>(d))) {
      shape.push_back(size);
    }
  }
  auto reduce = [&](ValueRange from, ValueRange inits, ArrayRef<int64_t> dims,
                    ArrayRef<int64_t> to) {
    auto copy = cast<ReduceOp>(builder.clone(*op));
    SmallVector<Value> operands(from);
    llvm::append_range(operands, inits);
    copy->setOperands(operands);
    copy.setDimensions(dims);
    for (auto [result, old] : llvm::zip(copy->getResults(), op->getResults())) {
      result.setType(HloBuilder::array(to, HloBuilder::type(old).getElementType()));
    }
    return copy;
  };
  ReduceOp parts = reduce(inputs, beginnings(op, identity, builder), first, shape);
  ReduceOp whole = reduce(parts->getResults(), op.getInputs().drop_front(inputs.size()), second,
                          HloBuilder::type(op->getResult(0)).getShape());
  op->replaceAllUsesWith(whole->getResults());
  op.erase();
}

/// Reduces dimension 0, which has no suitable divisor, in kMostParts equal parts and a remainder.
static void splitUnevenly(ReduceOp op, DenseElementsAttr identity) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value input = op.getInputs()[0];
  ArrayRef<int64_t> shape = HloBuilder::type(input).getShape();
  int64_t length = shape[0] / kMostParts, whole = length * kMostParts;
  Type element = HloBuilder::type(input).getElementType();
  Value none = beginnings(op, identity, builder)[0];
  // [kMostParts, length, ...] and [remainder, 1, ...]: each reduced to one row per part.
  auto rowsOf = [&](Value from, int64_t count, int64_t size) {
    SmallVector<int64_t> apart{count, size}, dims, kept{count};
    llvm::append_range(apart, shape.drop_front());
    for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
      if (llvm::is_contained(op.getDimensions(), d)) {
        dims.push_back(d + 1);
      } else {
        kept.push_back(shape[d]);
      }
    }
    Value rows = b.reshape(from, apart);
    auto copy = cast<ReduceOp>(builder.clone(*op));
    copy->setOperands({rows, none});
    copy.setDimensions(dims);
    copy->getResult(0).setType(HloBuilder::array(kept, element));
    return copy->getResult(0);
  };
  Value parts = rowsOf(b.sliceDim(input, 0, 0, whole), kMostParts, length);
  Value rest = rowsOf(b.sliceDim(input, 0, whole, shape[0]), shape[0] - whole, 1);
  op->setOperand(0, b.concatenate({parts, rest}, 0));
  op.setDimensions({0});
}

static void splitReduces(Block &block, SymbolTable &symbols) {
  for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    ValueRange inputs = op.getInputs().take_front(op->getNumResults());
    Value input = inputs[0];
    auto type = cast<RankedTensorType>(input.getType());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t rank = shape.size(), elements = type.getNumElements(), results = resultElements(op);
    auto isReduced = [&](int64_t d) { return llvm::is_contained(op.getDimensions(), d); };
    bool minor = rank > 0 && isReduced(rank - 1);
    bool several = minor && !isTrailingReduce(op) && elements > kMostParts;
    bool large = elements >= kLargeArray && results <= kFewResults && rank > 0 && isReduced(0);
    // A row made by a concatenate or pad is walked part by part. Cut elsewhere, each vector would
    // have to find its part.
    bool inParts =
        rank == 1 && input.getDefiningOp() && isa<ConcatenateOp, PadOp>(input.getDefiningOp());
    if (results == 0 || elements == 0 || (!several && !large) || inParts) {
      continue;
    }
    auto computation = symbols.lookup<ComputationOp>(op.getToApply());
    if (!computation) {
      continue;
    }
    bool isSingle = op->getNumResults() == 1;
    DenseElementsAttr identity =
        isSingle ? identityOfParts(computation, type.getElementType()) : DenseElementsAttr();
    if (!identity && (!computation->hasAttr(kAnyOrder) ||
                      !absorbsItself(computation, op.getInputs().drop_front(inputs.size())))) {
      continue;
    }
    SmallVector<int64_t> first, second;
    if (several) {
      // The trailing reduced dimensions go first; the others keep their numbers.
      int64_t end = rank, columns = 1, rows = 1, keptBefore = 0;
      while (end > 0 && isReduced(end - 1)) {
        first.push_back(--end);
        columns *= shape[end];
      }
      std::reverse(first.begin(), first.end());
      for (int64_t d = 0; d < end; ++d) {
        if (isReduced(d)) {
          second.push_back(d);
          rows *= shape[d];
        }
        keptBefore += !isReduced(d);
      }
      if (columns <= kShortRun && rows >= kManyRows) {
        // Short runs, such as a group's channels: reducing the rows first leaves one short run per
        // result.
        first = second;
        second.clear();
        for (int64_t d = end; d < rank; ++d) {
          second.push_back(keptBefore + d - end);
        }
      }
      split(op, identity, inputs, first, second);
      continue;
    }
    if (shape[0] >= kFewParts && shape[0] <= elements / (16 * kMostParts) &&
        op.getDimensions().size() > 1) {
      for (int64_t d = 1; d < rank; ++d) {
        if (isReduced(d)) {
          first.push_back(d);
        }
      }
      split(op, identity, inputs, first, {0});
      continue;
    }
    int64_t parts = partsOf(shape[0]);
    if (parts < kFewParts) {
      // Only for an operand of the block: a computed input would be computed for both parts, or
      // stored.
      if (isSingle && shape[0] >= 2 * kMostParts && isa<BlockArgument>(input)) {
        splitUnevenly(op, identity);
      }
      continue;
    }
    SmallVector<int64_t> apart{parts, shape[0] / parts};
    llvm::append_range(apart, shape.drop_front());
    OpBuilder builder(op);
    HloBuilder b(builder, op.getLoc());
    SmallVector<Value> reshaped =
        llvm::map_to_vector(inputs, [&](Value v) { return b.reshape(v, apart); });
    for (int64_t d : op.getDimensions()) {
      first.push_back(d + 1);
    }
    split(op, identity, reshaped, first, {0});
  }
}

namespace {
class SplitReducePass : public TopLevelPass<SplitReducePass, ReduceOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitReducePass)

  StringRef getArgument() const override { return "hlo-split-reduce"; }
  StringRef getDescription() const override {
    return "Write a reduce as two where that makes better kernels";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { splitReduces(block, symbols); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createSplitReducePass() {
  return std::make_unique<fusion::SplitReducePass>();
}
