//===- RaggedDotExpander.cpp - ragged-dot as a dot of masked operands -----===//
//
// The ragged dimension of lhs is divided into groups of consecutive elements with the sizes
// `group_sizes`. With E[g] the end of group g,
//
//   inGroup[g, i] = E[g] - size[g] <= i < E[g].
//
// The expansion depends on the role of the ragged dimension in lhs:
//
//   free         y = sum over g of inGroup[g, m] * lhs[m, k] * rhs[g, k]: one dot that
//                contracts the group too, with lhs masked once per group
//   contracting  y[g] = dot(inGroup[g, k] * lhs[m, k], rhs[k])
//   batch        an ordinary dot
//
// Group sizes may differ along the batch dimensions and those before the ragged one. Elements
// beyond the last group count as zeros. The masked lhs holds one copy per group: correct for any
// sizes, intended for few groups.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

SmallVector<int64_t> listOf(std::optional<ArrayRef<int64_t>> dims) {
  return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
}

class RaggedDotExpanderPass : public OpExpanderPass<RaggedDotExpanderPass, RaggedDotOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaggedDotExpanderPass)
  StringRef getArgument() const final { return "hlo-ragged-dot-expander"; }
  StringRef getDescription() const final { return "Expand ragged-dot to a dot of masked operands"; }

  FailureOr<Values> expand(RaggedDotOp op, HloBuilder &b, ScalarComputations &scalars) {
    SmallVector<int64_t> lhsBatch = listOf(op.getLhsBatchDims());
    SmallVector<int64_t> rhsBatch = listOf(op.getRhsBatchDims());
    SmallVector<int64_t> lhsContract = listOf(op.getLhsContractingDims());
    SmallVector<int64_t> rhsContract = listOf(op.getRhsContractingDims());
    SmallVector<int64_t> ragged = listOf(op.getLhsRaggedDims()),
                         group = listOf(op.getRhsGroupDims());
    if (ragged.size() != 1) {
      return op.emitError("ragged-dot: expected 1 ragged dimension, got ") << ragged.size();
    }
    auto dot = [&](Type type, Value lhs) -> Value {
      auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
      return DotOp::create(b.b, b.loc, type, lhs, op.getRhs(), list(lhsBatch), list(rhsBatch),
                           list(lhsContract), list(rhsContract), op.getOperandPrecisionAttr(),
                           StringAttr());
    };
    if (llvm::is_contained(lhsBatch, ragged[0])) {
      return Values{dot(op.getResult().getType(), op.getLhs())};
    }
    bool contracting = llvm::is_contained(lhsContract, ragged[0]);
    if (!contracting && group.size() != 1) {
      return op.emitError("ragged-dot: expected 1 group dimension, got ") << group.size();
    }
    // The group becomes dimension 0 of the masked lhs.
    Value masked =
        maskByGroup(op, b, scalars, ragged[0], groupPrefix(op, lhsBatch, lhsContract, ragged[0]));
    for (SmallVector<int64_t> *dims : {&lhsBatch, &lhsContract}) {
      for (int64_t &dim : *dims) {
        ++dim;
      }
    }
    auto result = cast<RankedTensorType>(op.getResult().getType());
    if (!contracting) {
      lhsContract.push_back(0);
      rhsContract.push_back(group[0]);
      return Values{dot(result, masked)};
    }
    // The dot's result is [batch, group, rest]; the op's is [group, batch, rest].
    int64_t batch = lhsBatch.size();
    SmallVector<int64_t> shape(result.getShape()), permutation;
    std::rotate(shape.begin(), shape.begin() + 1, shape.begin() + 1 + batch);
    permutation.push_back(batch);
    for (int64_t dim = 0, rank = result.getRank(); dim < rank; ++dim) {
      if (dim != batch) {
        permutation.push_back(dim);
      }
    }
    return Values{
        b.transpose(dot(HloBuilder::array(shape, result.getElementType()), masked), permutation)};
  }

private:
  /// The dimensions of lhs that correspond to the dimensions of group_sizes before the groups.
  SmallVector<int64_t> groupPrefix(RaggedDotOp op, ArrayRef<int64_t> batch,
                                   ArrayRef<int64_t> contract, int64_t ragged) {
    SmallVector<int64_t> dims(batch);
    if (llvm::is_contained(contract, ragged)) {
      dims.append(contract.begin(), llvm::find(contract, ragged));
    } else {
      for (int64_t dim = 0; dim < ragged; ++dim) {
        if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
          dims.push_back(dim);
        }
      }
    }
    return rankOf(op.getGroupSizes()) == 1 ? SmallVector<int64_t>() : dims;
  }

  /// lhs masked for each group, zero outside of it: [g, lhs...]. Group sizes are [prefix..., g].
  Value maskByGroup(RaggedDotOp op, HloBuilder &b, ScalarComputations &scalars, int64_t ragged,
                    ArrayRef<int64_t> prefix) {
    Value sizes = op.getGroupSizes();
    Type index = elementTypeOf(sizes);
    int64_t last = prefix.size(), groups = shapeOf(sizes)[last];
    // E[g] = sum over h <= g of size[h], as a masked row sum over [prefix..., g, h].
    SmallVector<int64_t> pairs(shapeOf(sizes));
    pairs.push_back(groups);
    RankedTensorType square = HloBuilder::array(pairs, index);
    SmallVector<int64_t> alongRows = llvm::to_vector(llvm::seq<int64_t>(0, last));
    alongRows.push_back(last + 1);
    Value upTo = b.compare(b.iota(square, last + 1), b.iota(square, last), "LE");
    Value counted = b.select(upTo, b.broadcast(sizes, pairs, alongRows), b.splat(square, 0));
    Value ends =
        ReduceOp::create(b.b, b.loc, TypeRange(sizes.getType()),
                         ValueRange{counted, b.scalar(index, 0)},
                         b.b.getDenseI64ArrayAttr({last + 1}), scalars.binary<AddOp>(index))
            .getResult(0);
    Value begins = b.sub(ends, sizes);
    SmallVector<int64_t> shape{groups}, places;
    llvm::append_range(shape, shapeOf(op.getLhs()));
    for (int64_t dim : prefix) {
      places.push_back(dim + 1);
    }
    places.push_back(0);
    Value position = b.iota(HloBuilder::array(shape, index), ragged + 1);
    Value inside = b.binary<AndOp>(b.compare(position, b.broadcast(begins, shape, places), "GE"),
                                   b.compare(position, b.broadcast(ends, shape, places), "LT"));
    SmallVector<int64_t> dimensions =
        llvm::to_vector(llvm::seq<int64_t>(1, static_cast<int64_t>(shape.size())));
    Value lhs = op.getLhs();
    if (isa<Float8E8M0FNUType>(elementTypeOf(lhs))) {
      lhs = b.convert(lhs, b.b.getF32Type()); // the type has no zero
    }
    Value spread = b.broadcast(lhs, shape, dimensions);
    return b.select(inside, spread, b.splat(HloBuilder::type(spread), 0));
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createRaggedDotExpanderPass() {
  return std::make_unique<RaggedDotExpanderPass>();
}
