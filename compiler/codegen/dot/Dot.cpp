//===- Dot.cpp - Kernels around an hlo.dot --------------------------------===//
//
// In: a fusion with one dot, producers of its operands, and element-wise ops on
// its result. Out: a contraction in the form that suits its shape:
//
//   nest      pred, empty sums, and shapes too small for anything else
//   broadcast few rows (or columns) that fill a vector and are neighbours in the result
//   inner     few rows or columns, both sides step by one along k: lanes along k
//   stream    few rows or columns, the other side is large and steps by one along them
//   trace     no rows and columns, and each side steps by one along another dimension
//   batch     both sides (or all but a single row) step by one along the batch: lanes along it
//   blocked   everything else, and narrow integers that are multiplied in groups
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"

using namespace mlir;

namespace hlo::codegen {

static ArrayRef<int64_t> dimsOr(std::optional<ArrayRef<int64_t>> dims) {
  return dims ? *dims : ArrayRef<int64_t>();
}

static DimensionGroups groupsOf(DotOp dot) {
  using Dim = DimensionGroups::Dim;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType()).getShape();
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType()).getShape();
  ArrayRef<int64_t> lhsBatch = dimsOr(dot.getLhsBatchDims()),
                    rhsBatch = dimsOr(dot.getRhsBatchDims());
  ArrayRef<int64_t> lhsK = dimsOr(dot.getLhsContractingDims());
  ArrayRef<int64_t> rhsK = dimsOr(dot.getRhsContractingDims());
  DimensionGroups groups;
  int64_t out = 0;
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch)) {
    groups.batch.push_back(Dim{lhs[l], l, r, out++});
  }
  for (int64_t d = 0; d < static_cast<int64_t>(lhs.size()); ++d) {
    if (!llvm::is_contained(lhsBatch, d) && !llvm::is_contained(lhsK, d)) {
      groups.m.push_back(Dim{lhs[d], d, -1, out++});
    }
  }
  for (int64_t d = 0; d < static_cast<int64_t>(rhs.size()); ++d) {
    if (!llvm::is_contained(rhsBatch, d) && !llvm::is_contained(rhsK, d)) {
      groups.n.push_back(Dim{rhs[d], -1, d, out++});
    }
  }
  for (auto [l, r] : llvm::zip(lhsK, rhsK)) {
    groups.k.push_back(Dim{lhs[l], l, r, -1});
  }
  return groups;
}

/// The forms for few rows, if one of them takes the contraction.
static bool emitForFewRows(Contraction &c, Epilogue &epilogue) {
  if (canBroadcast(c)) {
    emitBroadcast(c, epilogue);
    return true;
  }
  if (canUseInner(c)) {
    emitInner(c, epilogue);
    return true;
  }
  if (canStream(c)) {
    emitStream(c, epilogue);
    return true;
  }
  return false;
}

/// Whether lanes along m would make whole vectors of the result, and lanes along n do not.
static bool isBetterSwapped(const Contraction &c) {
  return !c.m.empty() && !c.n.empty() && c.outN.back() != 1 && c.outM.back() == 1 &&
         c.lhs.unit == UnitStride::Free &&
         (c.m.size() == 1 || c.m.back() % lanesFor(c, c.mSize()) == 0);
}

void emitContraction(Contraction &c, Epilogue &epilogue) {
  if (canTrace(c)) {
    emitTrace(c, epilogue);
    return;
  }
  if (canUseBatchLanes(c)) {
    emitBatchLanes(c, epilogue);
    return;
  }
  if (isBetterSwapped(c)) {
    swapSides(c);
  }
  // A column vector of results is a row vector of the swapped product.
  if (c.nSize() == 1 && c.mSize() > 1) {
    swapSides(c);
  }
  if (prefersMatrix(c) || prefersGroups(c)) {
    emitBlocked(c, epilogue);
    return;
  }
  if (emitForFewRows(c, epilogue)) {
    return;
  }
  // Few columns: the same with the sides exchanged.
  if (c.nSize() < c.mSize()) {
    swapSides(c);
    if (prefersGroups(c)) {
      emitBlocked(c, epilogue);
      return;
    }
    if (emitForFewRows(c, epilogue)) {
      return;
    }
    swapSides(c);
  }
  if (canBlock(c)) {
    emitBlocked(c, epilogue);
  } else {
    emitNest(c, epilogue);
  }
}

LogicalResult emitDotKernel(KernelBuilder &kernel) {
  auto dot = findHero<DotOp>(kernel);
  if (!dot) {
    return kernel.fusion.emitOpError("of strategy 'dot' holds no dot");
  }
  FailureOr<Epilogue> epilogue = Epilogue::create(kernel, dot);
  if (failed(epilogue)) {
    return failure();
  }
  Type element =
      accumulationType(elementType(dot.getLhs().getType()), elementType(dot.getRhs().getType()),
                       elementType(dot.getResult().getType()));
  DimensionGroups groups = groupsOf(dot);
  int64_t products = 1; // in each sum
  for (const DimensionGroups::Dim &dim : groups.k) {
    products *= dim.size;
  }
  if (hlo::isPred(element) && products < std::numeric_limits<int32_t>::max()) {
    // An or of ands is a count of them that is not zero.
    element = IntegerType::get(dot.getContext(), 32, IntegerType::Unsigned);
  }
  auto lhs = std::make_shared<Operand>(kernel, dot.getLhs(), element);
  auto rhs = std::make_shared<Operand>(kernel, dot.getRhs(), element);
  separateRuns(kernel, dot, element, *lhs, *rhs, groups);
  Contraction c = makeContraction(kernel, dot, element, lhs, rhs, std::move(groups));
  emitContraction(c, *epilogue);
  return success();
}

} // namespace hlo::codegen
