//===- ComputeRules.cpp - Parts of reduce, dot, sort, linear algebra ------===//
//
// What is summed beyond a size is a mask's identity: a reduction, or the contraction of a dot, ends
// at the largest size of the mask.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/transforms/expanders/BatchedCall.h"
#include "compiler/transforms/expanders/sizes/Live.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

/// Joins the parts needed of several results of one shape.
static Extents joined(ArrayRef<Extents> needed) {
  Extents result = needed[0];
  for (const Extents &other : needed.drop_front()) {
    for (auto [extent, more] : llvm::zip(result, other)) {
      extent = std::max(extent, more);
    }
  }
  return result;
}

/// True if a reduction ignores elements that equal the scalar: the identity of its computation, or
/// the initial value, which is one by the meaning of HLO.
static bool isIgnored(Value scalar, ReduceOp op, unsigned i, const Facts &facts) {
  unsigned count = op->getNumOperands() / 2;
  if (!scalar) {
    return false;
  }
  if (isSameScalar(scalar, op->getOperand(count + i))) {
    return true;
  }
  Operation *combines = count == 1 ? associativeOp(facts.lookup(op.getToApplyAttr())) : nullptr;
  DenseElementsAttr identity =
      combines ? identityOf(combines, elementTypeOf(op->getOperand(i))) : DenseElementsAttr();
  auto constant = scalar.getDefiningOp<ConstantOp>();
  return identity && constant && constant.getValue() == identity;
}

static void reducePart(ReduceOp op, ArrayRef<Extents> needed, const Facts &facts, Part &part) {
  unsigned count = op->getNumOperands() / 2;
  Extents made = joined(needed);
  llvm::fill(part.results, made);
  unsigned next = 0;
  for (int64_t dim = 0, rank = rankOf(op->getOperand(0)); dim < rank; ++dim) {
    int64_t extent = shapeOf(op->getOperand(0))[dim];
    if (!llvm::is_contained(op.getDimensions(), dim)) {
      extent = made[next++];
    } else {
      int64_t most = 0;
      for (unsigned i = 0; i < count; ++i) {
        std::optional<Fill> fill = facts.fillOf(op->getOperand(i), dim);
        most = std::max(most, fill && isIgnored(fill->scalar, op, i, facts) ? fill->from : extent);
      }
      extent = limitedTo(most, extent);
    }
    for (unsigned i = 0; i < count; ++i) {
      (*part.operands[i])[dim] = extent;
    }
  }
}

static void dotPart(DotOp op, const Extents &needed, const Facts &facts, Part &part) {
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return dims.value_or(ArrayRef<int64_t>());
  };
  part.results[0] = needed;
  ArrayRef<int64_t> batches[] = {list(op.getLhsBatchDims()), list(op.getRhsBatchDims())};
  ArrayRef<int64_t> contracts[] = {list(op.getLhsContractingDims()),
                                   list(op.getRhsContractingDims())};
  unsigned next = batches[0].size();
  for (unsigned side : {0, 1}) {
    Extents &read = *part.operands[side];
    for (auto [i, dim] : llvm::enumerate(batches[side])) {
      read[dim] = needed[i];
    }
    for (int64_t dim = 0, rank = read.size(); dim < rank; ++dim) {
      if (!llvm::is_contained(batches[side], dim) && !llvm::is_contained(contracts[side], dim)) {
        read[dim] = needed[next++];
      }
    }
  }
  for (auto [l, r] : llvm::zip(contracts[0], contracts[1])) {
    std::optional<Fill> lhs = facts.fillOf(op.getLhs(), l), rhs = facts.fillOf(op.getRhs(), r);
    // Zero times an arbitrary element (infinity, NaN) need not be zero: both sides are zero.
    if (lhs && rhs && lhs->scalar && rhs->scalar && isZero(lhs->scalar) && isZero(rhs->scalar)) {
      (*part.operands[0])[l] = (*part.operands[1])[r] =
          limitedTo(std::max(lhs->from, rhs->from), shapeOf(op.getLhs())[l]);
    }
  }
}

/// A sort along a dimension of bounded size has an operand with a mask that sorts elements beyond
/// the size last (see expanders/dynamic).
static void sortPart(SortOp op, ArrayRef<Extents> needed, const Facts &facts, Part &part) {
  Extents made = joined(needed);
  int64_t along = op.getDimension(), size = shapeOf(op->getOperand(0))[along];
  made[along] = size;
  auto masked = op->getAttrOfType<IntegerAttr>(kSizedSort);
  if (masked && masked.getInt() < op->getNumOperands()) {
    if (std::optional<Fill> fill = facts.fillOf(op->getOperand(masked.getInt()), along)) {
      made[along] = limitedTo(fill->from, size);
    }
  }
  // What is needed beyond the size is arbitrary, but must exist.
  for (const Extents &result : needed) {
    made[along] = std::max(made[along], result[along]);
  }
  llvm::fill(part.results, made);
  llvm::fill(part.operands, made);
}

/// The position of a logical dimension in the physical array of a type.
static int64_t placeOfDim(Attribute type, int64_t dim) {
  SmallVector<int64_t> order =
      majorToMinor(cast<RankedTensorType>(cast<TypeAttr>(type).getValue()));
  return llvm::find(order, dim) - order.begin();
}

/// Each matrix of a batch alone, and each column (or row) of the unknowns of a triangular solve.
/// Batch dimensions come first in the physical arrays too.
static void callPart(CustomCallOp op, ArrayRef<Extents> needed, Part &part) {
  std::optional<BatchedCall> call = BatchedCall::get(op);
  auto leaves = op->getAttrOfType<ArrayAttr>("operand_leaves");
  auto made = op->getAttrOfType<ArrayAttr>("result_leaves");
  if (!call || !leaves || !made || leaves.size() != op.getNumOperands() ||
      made.size() != op->getNumResults()) {
    return;
  }
  for (int64_t dim = 0; dim < call->batch; ++dim) {
    auto isFirst = [&](Attribute type) { return placeOfDim(type, dim) == dim; };
    if (!llvm::all_of(leaves, isFirst) || !llvm::all_of(made, isFirst)) {
      return;
    }
  }
  for (int64_t dim = 0; dim < call->batch; ++dim) {
    int64_t most = 0;
    for (const Extents &result : needed) {
      most = std::max(most, result[dim]);
    }
    for (Extents &result : part.results) {
      result[dim] = most;
    }
    for (std::optional<Extents> &operand : part.operands) {
      (*operand)[dim] = most;
    }
  }
  if (call->routine == "trsm") {
    int64_t dim = placeOfDim(made[0], call->batch + (call->left ? 1 : 0));
    part.results[0][dim] = needed[0][dim];
    (*part.operands[1])[placeOfDim(leaves[1], call->batch + (call->left ? 1 : 0))] = needed[0][dim];
  }
}

/// The types that the call's attributes hold, with the part's sizes.
void sizes::applyCallPart(Operation *op, const Part &part) {
  auto call = dyn_cast<CustomCallOp>(op);
  if (!call || !BatchedCall::get(call)) {
    return;
  }
  changeCallTypes(call, [&](Type type, bool isResult, unsigned number) {
    auto array = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(array.getShape());
    const Extents &extents = isResult ? part.results[number] : *part.operands[number];
    for (auto [place, dim] : llvm::enumerate(majorToMinor(array))) {
      shape[dim] = extents[place];
    }
    return Type(RankedTensorType::get(shape, array.getElementType(), array.getEncoding()));
  });
}

void Rule::compute() {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    reducePart(reduce, needed, facts, part);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    dotPart(dot, needed[0], facts, part);
  } else if (auto sort = dyn_cast<SortOp>(op)) {
    sortPart(sort, needed, facts, part);
  } else if (isa<CholeskyOp>(op)) {
    // The factor of a leading block is the leading block of the factor.
    Extents made = needed[0];
    size_t row = made.size() - 2;
    made[row] = made[row + 1] = std::max(made[row], made[row + 1]);
    part.results[0] = made;
    part.operands[0] = made;
  } else if (auto solve = dyn_cast<TriangularSolveOp>(op)) {
    Extents made = needed[0];
    size_t row = made.size() - 2;
    bool left = solve.getLeftSide().value_or(false), lower = solve.getLower().value_or(false);
    StringRef form = solve.getTransposeA().value_or("NO_TRANSPOSE");
    bool transposed = form != "NO_TRANSPOSE";
    // Substitution from the first unknown on: the leading ones need a leading block.
    bool forward = (lower != transposed) == left;
    size_t along = left ? row : row + 1;
    if (!forward) {
      made[along] = shapeOf(op->getResult(0))[along];
    }
    part.results[0] = made;
    part.operands[1] = made;
    Extents matrix = made;
    matrix[row] = matrix[row + 1] = made[along];
    part.operands[0] = matrix;
  } else if (auto call = dyn_cast<CustomCallOp>(op)) {
    callPart(call, needed, part);
  } else if (auto fft = dyn_cast<FftOp>(op)) {
    for (size_t dim = 0; dim + fft.getFftLength().size() < needed[0].size(); ++dim) {
      part.results[0][dim] = (*part.operands[0])[dim] = needed[0][dim];
    }
  }
}
