//===- MoveRules.cpp - Parts of what rearranges elements ------------------===//
//
// Element-wise ops, broadcast, transpose, reshape, pad, concatenate, reverse: the leading positions
// of the operands that hold the elements of the leading positions of the result.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/expanders/sizes/Live.h"
#include <numeric>

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

namespace {

/// Dimensions of two shapes that hold the same elements; those of size one are in no group.
struct Group {
  SmallVector<int64_t> in, out;
};

SmallVector<Group> groupsOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Group> groups;
  size_t i = 0, o = 0;
  auto skip = [](ArrayRef<int64_t> shape, size_t &at) {
    while (at < shape.size() && shape[at] == 1) {
      ++at;
    }
    return at < shape.size();
  };
  while (skip(from, i) && skip(to, o)) {
    Group &group = groups.emplace_back();
    int64_t before = from[i], after = to[o];
    group.in.push_back(i++);
    group.out.push_back(o++);
    while (before != after) {
      if (before < after) {
        skip(from, i);
        before *= from[i];
        group.in.push_back(i++);
      } else {
        skip(to, o);
        after *= to[o];
        group.out.push_back(o++);
      }
    }
  }
  return groups;
}

/// A group of several dimensions can be cut along its slowest one, where both shapes have a border.
void reshapePart(Value operand, Value result, const Extents &needed, Part &part) {
  ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(result);
  if (llvm::is_contained(from, 0)) {
    return;
  }
  Extents &made = part.results[0], &read = *part.operands[0];
  for (const Group &group : groupsOf(from, to)) {
    int64_t in = group.in[0], out = group.out[0];
    int64_t restIn = 1, restOut = 1;
    for (int64_t dim : ArrayRef(group.in).drop_front()) {
      restIn *= from[dim];
    }
    for (int64_t dim : ArrayRef(group.out).drop_front()) {
      restOut *= to[dim];
    }
    int64_t step = restIn / std::gcd(restIn, restOut);
    made[out] = std::min(to[out], static_cast<int64_t>(llvm::alignTo(needed[out], step)));
    read[in] = made[out] * restOut / restIn;
  }
}

} // namespace

void Rule::move() {
  Extents &made = part.results[0];
  auto read = [&](unsigned i) -> Extents & { return *part.operands[i]; };
  if (isElementwiseOp(op) || isa<CopyOp, MapOp>(op)) {
    for (const Extents &result : needed) {
      for (auto [dim, extent] : llvm::enumerate(result)) {
        made[dim] = &result == needed.begin() ? extent : std::max(made[dim], extent);
      }
    }
    llvm::fill(part.results, Extents(made));
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      // Implicit broadcasts have operands of fewer dimensions, or of size 1.
      if (arrayType(operand) && rankOf(operand) == static_cast<int64_t>(shape.size())) {
        for (size_t dim = 0; dim < shape.size(); ++dim) {
          read(i)[dim] = shapeOf(operand)[dim] == shape[dim] ? made[dim] : shapeOf(operand)[dim];
        }
      }
    }
    auto select = dyn_cast<SelectOp>(op);
    if (std::optional<bool> known =
            select ? facts.valueWithin(select.getPred(), made) : std::nullopt) {
      part.replacedBy = *known ? 1 : 2;
      part.operands[0] = part.operands[*known ? 2 : 1] = std::nullopt;
    }
    return;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    made = needed[0];
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
      int64_t own = shapeOf(broadcast.getOperand())[i];
      read(0)[i] = own == shapeOf(broadcast.getResult())[dim] ? made[dim] : own;
    }
  } else if (isa<IotaOp>(op)) {
    made = needed[0];
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (value && value.isSplat()) {
      made = needed[0];
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    made = needed[0];
    for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
      read(0)[dim] = made[i];
    }
  } else if (isa<ReshapeOp, BitcastOp>(op)) {
    if (elementTypeOf(op->getOperand(0)) == elementTypeOf(op->getResult(0))) {
      reshapePart(op->getOperand(0), op->getResult(0), needed[0], part);
    }
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    for (auto [dim, extent] : llvm::enumerate(needed[0])) {
      if (!llvm::is_contained(reverse.getDimensions(), static_cast<int64_t>(dim))) {
        made[dim] = read(0)[dim] = extent;
      }
    }
  } else if (auto parts = dyn_cast<ConcatenateOp>(op)) {
    made = needed[0];
    int64_t along = parts.getDimension(), begin = 0;
    for (auto [i, operand] : llvm::enumerate(parts.getInputs())) {
      int64_t size = shapeOf(operand)[along], rest = std::min(size, made[along] - begin);
      read(i) = made;
      read(i)[along] = rest;
      if (rest <= 0 && made[along] > 0) {
        part.operands[i] = std::nullopt;
      }
      begin += size;
    }
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    made = needed[0];
    for (size_t dim = 0; dim < made.size(); ++dim) {
      int64_t size = shapeOf(pad.getOperand())[dim], step = pad.getPaddingInterior()[dim] + 1;
      int64_t reach = made[dim] - pad.getPaddingLow()[dim];
      read(0)[dim] = limitedTo(llvm::divideCeil(std::max<int64_t>(reach, 0), step), size);
    }
  }
}
