//===- DimMap.cpp - Dimensions of a value in terms of a kernel's iteration space ---===//
//
// The part of index analysis that fusion needs: not the index expression, only whether a
// dimension's index is that of a dimension of the iteration space.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/DimMap.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Cost.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

DimMap DimMap::identity(ArrayRef<int64_t> shape) {
  DimMap map;
  map.inOrder = true;
  for (auto [d, size] : llvm::enumerate(shape)) {
    map.dims.push_back(size == 1 ? kOne : static_cast<int64_t>(d));
  }
  return map;
}

DimMap DimMap::unknown(size_t rank) {
  DimMap map;
  map.dims.assign(rank, kOther);
  return map;
}

bool DimMap::isIdentity() const {
  for (auto [i, d] : llvm::enumerate(dims)) {
    if (d != kOne && d != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

DimMap DimMap::meet(const DimMap &other) const {
  if (dims.size() != other.dims.size()) {
    return unknown(dims.size());
  }
  DimMap map = *this;
  map.inOrder &= other.inOrder;
  for (auto [a, b] : llvm::zip(map.dims, other.dims)) {
    if (a != b) {
      a = kOther;
    }
  }
  return map;
}

/// The map of a reshape's operand. Known if the reshape only adds or drops dimensions of size 1.
static DimMap throughReshape(const DimMap &map, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  DimMap source = DimMap::unknown(from.size());
  size_t j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) {
      source.dims[i] = DimMap::kOne;
      continue;
    }
    while (j < to.size() && to[j] == 1) {
      ++j;
    }
    if (j == to.size() || to[j] != from[i]) {
      DimMap none = DimMap::unknown(from.size());
      for (size_t k = 0; k < from.size(); ++k) {
        if (from[k] == 1) {
          none.dims[k] = DimMap::kOne;
        }
      }
      return none;
    }
    source.dims[i] = map.dims[j++];
  }
  return source;
}

/// Whether result element i is gathered with index element i: one scalar index per element, in the
/// result's order.
static bool hasIndexPerElement(GatherOp gather) {
  ArrayRef<int64_t> indices = shapeOf(gather->getOperand(1));
  int64_t rank = indices.size(), vector = gather.getIndexVectorDim();
  return gather.getOffsetDims().empty() &&
         (vector == rank || (vector == rank - 1 && indices.back() == 1));
}

DimMap DimMap::ofOperand(Operation *op, unsigned number, bool reducedInSpace) const {
  Value operand = op->getOperand(number);
  ArrayRef<int64_t> shape = shapeOf(operand);
  DimMap source = unknown(shape.size());
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      source.dims[i] = dims[d];
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      source.dims[d] = dims[i];
    }
  } else if (isa<ReshapeOp, BitcastOp>(op)) {
    source = throughReshape(*this, shape, shapeOf(op->getResult(0)));
    source.inOrder = inOrder && elementsOf(operand) == resultElements(op);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (!shape.empty()) {
      size_t kept = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        bool reduced = llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(d));
        int64_t within = reducedInSpace ? static_cast<int64_t>(d) : kOther;
        source.dims[d] = reduced ? within : dims[kept++];
      }
    }
  } else if (isa<DynamicUpdateSliceOp>(op) && number == 0) {
    source = *this;
  } else if (auto gather = dyn_cast<GatherOp>(op);
             gather && number == 1 && hasIndexPerElement(gather)) {
    llvm::copy(dims, source.dims.begin());
    source.inOrder = inOrder;
  } else if (auto window = dyn_cast<ReduceWindowOp>(op);
             window && cumulativeDimension(window) && shape.size() == dims.size()) {
    source = *this;
  } else if (auto stack = dyn_cast<StackOp>(op)) {
    source = *this; // the kernel walks the parts
    source.dims.erase(source.dims.begin() + stack.getDimension());
  } else if (hasFlag(op, OpFlag::Displaces) || isa<ReduceWindowOp, DotOp>(op)) {
    // The operand is read at other indices than the result's.
  } else if (shape.size() == dims.size()) {
    source = *this;
  }
  for (auto [d, size] : llvm::zip(source.dims, shape)) {
    if (size == 1) {
      d = kOne;
    }
  }
  return source;
}

} // namespace hlo::fusion
