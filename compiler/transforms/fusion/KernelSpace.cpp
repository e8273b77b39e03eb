//===- KernelSpace.cpp - The iteration space of a kernel ------------------===//
//
// The iteration space of an hlo.fusion with a strategy, the dimension of the space that each
// dimension of a value corresponds to, and from that the results that may share an operand's
// buffer.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/KernelSpace.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Cost.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

std::optional<DimMap> KernelSpace::mapOfResult(ArrayRef<int64_t> result) const {
  if (result == ArrayRef<int64_t>(shape)) {
    return DimMap::identity(shape);
  }
  SmallVector<int64_t> kept;
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
    if (!llvm::is_contained(reduced, d)) {
      kept.push_back(d);
    }
  }
  // Dimensions of size 1 are skipped if the result's rank differs from the number of kept
  // dimensions.
  bool skipOnes = form == Form::Columns && result.size() != kept.size();
  if (skipOnes) {
    llvm::erase_if(kept, [&](int64_t d) { return shape[d] == 1; });
  }
  DimMap map;
  size_t next = 0;
  for (int64_t size : result) {
    if (skipOnes && size == 1) {
      map.dims.push_back(DimMap::kOne);
      continue;
    }
    if (next == kept.size() || shape[kept[next]] != size) {
      return std::nullopt;
    }
    map.dims.push_back(size == 1 ? DimMap::kOne : kept[next]);
    ++next;
  }
  return next == kept.size() ? std::optional(map) : std::nullopt;
}

int64_t KernelSpace::keptElements() const {
  int64_t elements = 1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    elements *= llvm::is_contained(reduced, static_cast<int64_t>(d)) ? 1 : size;
  }
  return elements;
}

bool KernelSpace::isFull(Value v) const {
  auto known = maps.find(v);
  return known != maps.end() && shapeOf(v) == ArrayRef<int64_t>(shape) &&
         known->second.isIdentity();
}

/// Fills in the maps, from the results to the operands. In reverse program order every use of a
/// value has been visited before its map is used.
static void follow(FusionOp fusion, KernelSpace &space, bool reducedInSpace) {
  space.maps.clear();
  auto add = [&](Value v, const DimMap &seen) {
    auto [known, isNew] = space.maps.try_emplace(v, seen);
    if (!isNew) {
      known->second = known->second.meet(seen);
    }
  };
  Block &body = fusion.getBody().front();
  for (Value root : body.getTerminator()->getOperands()) {
    std::optional<DimMap> map = space.mapOfResult(shapeOf(root));
    if (auto stack = root.getDefiningOp<StackOp>();
        stack && shapeOf(stack.getParts()[0]) == ArrayRef<int64_t>(space.shape)) {
      map = DimMap::identity(space.shape);
      map->inOrder = false;
      map->dims.insert(map->dims.begin() + stack.getDimension(), DimMap::kOther);
    }
    add(root, map.value_or(DimMap::unknown(shapeOf(root).size())));
  }
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    for (Value v : op.getResults()) {
      auto found = space.maps.find(v);
      if (found == space.maps.end()) {
        continue;
      }
      DimMap ofResult = found->second;
      for (OpOperand &use : op.getOpOperands()) {
        add(use.get(), ofResult.ofOperand(&op, use.getOperandNumber(), reducedInSpace));
      }
    }
  }
}

static SmallVector<int64_t> reducedDims(ReduceOp op) {
  SmallVector<int64_t> dims(op.getDimensions());
  llvm::sort(dims);
  return dims;
}

/// Whether all reduces of a region reduce the same dimensions of the same shape.
static bool areAlike(ArrayRef<ReduceOp> reduces) {
  ReduceOp first = reduces.front();
  return llvm::all_of(reduces, [&](ReduceOp op) {
    return shapeOf(op.getInputs()[0]) == shapeOf(first.getInputs()[0]) &&
           reducedDims(op) == reducedDims(first);
  });
}

static Walk walkOf(FusionOp fusion) {
  std::optional<Strategy> strategy = kernelStrategy(fusion);
  return strategy ? propertiesOf(*strategy).walk : Walk::Own;
}

KernelSpace spaceOf(FusionOp fusion) {
  KernelSpace space;
  Walk walk = walkOf(fusion);
  Block &body = fusion.getBody().front();
  SmallVector<ReduceOp> reduces(body.getOps<ReduceOp>());
  Value root = body.getTerminator()->getOperand(0);
  if (walk == Walk::Elements && reduces.empty()) {
    // The space of a stack is that of its parts: [rows] for a result [rows, columns].
    auto stack = root.getDefiningOp<StackOp>();
    ArrayRef<int64_t> shape = shapeOf(stack ? stack.getParts()[0] : root);
    space.form = Form::Loop;
    space.shape.assign(shape.begin(), shape.end());
  } else if (walk != Walk::Own && !reduces.empty() && areAlike(reduces)) {
    ArrayRef<int64_t> shape = shapeOf(reduces[0].getInputs()[0]);
    space.shape.assign(shape.begin(), shape.end());
    space.reduced = reducedDims(reduces[0]);
    space.form = walk == Walk::Rows ? Form::Rows : Form::Columns;
    // A reduce along the minor dimension is not by columns; nor is a root of another shape.
    int64_t minor = static_cast<int64_t>(shape.size()) - 1;
    if (space.form == Form::Columns && (space.reduced.empty() || space.reduced.back() == minor ||
                                        !space.mapOfResult(shapeOf(root)))) {
      space.form = Form::Other;
    }
  }
  if (space.form != Form::Other) {
    follow(fusion, space, /*reducedInSpace=*/true);
  }
  if (space.form == Form::Columns) {
    for (ReduceOp op : reduces) {
      auto own = space.mapOfResult(shapeOf(op->getResult(0)));
      if (op->getNumResults() != 1 || space.maps.lookup(op->getResult(0)).dims != own->dims) {
        space.form = Form::Other;
      }
    }
  }
  return space;
}

KernelSpace spaceFor(FusionOp fusion, const KernelSpace &space) {
  KernelSpace own;
  own.form = space.form;
  own.shape = space.shape;
  own.reduced = space.reduced;
  follow(fusion, own, /*reducedInSpace=*/true);
  return own;
}

void setMayAlias(FusionOp fusion) {
  std::optional<Strategy> strategy = kernelStrategy(fusion);
  Sharing sharing = strategy ? propertiesOf(*strategy).sharing : Sharing::None;
  if (sharing != Sharing::PerElement && sharing != Sharing::PerSpace) {
    return;
  }
  KernelSpace space = spaceOf(fusion);
  Block &body = fusion.getBody().front();
  if (sharing == Sharing::PerElement) {
    // An iteration of a loop reduces other elements of the operand than its own.
    Value root = body.getTerminator()->getOperand(0);
    space.shape.assign(shapeOf(root).begin(), shapeOf(root).end());
    space.reduced.clear();
    follow(fusion, space, /*reducedInSpace=*/false);
  }
  SmallVector<int64_t> pairs;
  for (auto [r, root] : llvm::enumerate(body.getTerminator()->getOperands())) {
    std::optional<DimMap> own = space.mapOfResult(shapeOf(root));
    for (BlockArgument argument : body.getArguments()) {
      auto map = space.maps.find(argument);
      if (!own || map == space.maps.end()) {
        continue;
      }
      bool sameElement =
          shapeOf(argument) == shapeOf(root)
              ? map->second == *own
              : own->inOrder && map->second.inOrder && elementsOf(argument) == elementsOf(root);
      if (sameElement &&
          elementBytes(elementTypeOf(argument)) == elementBytes(elementTypeOf(root))) {
        pairs.append({static_cast<int64_t>(r), static_cast<int64_t>(argument.getArgNumber())});
      }
    }
  }
  if (pairs.empty()) {
    fusion->removeAttr("may_alias");
  } else {
    fusion->setAttr("may_alias", Builder(fusion.getContext()).getDenseI64ArrayAttr(pairs));
  }
}

} // namespace hlo::fusion
