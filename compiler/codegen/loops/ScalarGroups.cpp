//===- ScalarGroups.cpp - Equal functions of several scalars at once ------===//
//
// Evaluates several expensive functions of scalars, such as the sines of a double pendulum's
// angles, in the lanes of one vector, in the time of one. The functions are of one kind in one
// region, and independent of each other. Their arguments are computed first, unless that needs a
// loop.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/loops/EmitterImpl.h"

using namespace mlir;

namespace hlo::codegen {

/// Most functions at once: with 32-byte registers, two vectors of f64 or one of f32.
static constexpr size_t kMostLanes = 8;
/// Search limit: ops of a region. Each function looks for partners among all ops, so the search is
/// quadratic.
static constexpr int64_t kMostOps = 1000;

static bool isGroupable(Operation *op) {
  if (!hasFlag(op, OpFlag::Grouped)) {
    return false;
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return type.getRank() == 0 && (type.getElementType().isF32() || type.getElementType().isF64());
}

/// True if v has been computed.
static bool isKnown(Value v, const EmitterShared &shared) {
  auto known = shared.byValue.find(v);
  return (known != shared.byValue.end() && !known->second.empty()) || shared.bound.contains(v) ||
         shared.memory.contains(v);
}

/// True if v can be computed without loops and without `members`, apart from values already
/// computed.
static bool isIndependent(Value v, const EmitterShared &shared,
                          const SmallPtrSetImpl<Operation *> &members,
                          SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.getDefiningOp();
  if (!op || isKnown(v, shared)) {
    return true;
  }
  if (members.contains(op)) {
    return false;
  }
  if (!seen.insert(op).second) {
    return true;
  }
  if (!isElementwise(op) &&
      !isa<ConstantOp, ReshapeOp, BitcastOp, BroadcastOp, CopyOp, SliceOp, DynamicSliceOp>(op)) {
    return false;
  }
  return llvm::all_of(op->getOperands(),
                      [&](Value from) { return isIndependent(from, shared, members, seen); });
}

/// True if v depends on one of the ops.
static bool needs(Value v, const SmallPtrSetImpl<Operation *> &ops,
                  SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.getDefiningOp();
  return op && (ops.contains(op) ||
                (seen.insert(op).second && llvm::any_of(op->getOperands(), [&](Value from) {
                   return needs(from, ops, seen);
                 })));
}

static bool needs(Operation *op, Operation *other) {
  SmallPtrSet<Operation *, 4> ops{other};
  SmallPtrSet<Operation *, 16> seen;
  return llvm::any_of(op->getOperands(), [&](Value v) { return needs(v, ops, seen); });
}

Elem ElementEmitter::Impl::functionInGroup(Operation *op) {
  if (lanes > 1 || !isGroupable(op) || !isa<FusionOp>(op->getParentOp()) ||
      static_cast<int64_t>(op->getBlock()->getOperations().size()) > kMostOps) {
    return {};
  }
  SmallVector<Operation *> group{op};
  SmallPtrSet<Operation *, 8> members{op};
  for (Operation &other : *op->getBlock()) {
    if (&other == op || other.getName() != op->getName() || group.size() == kMostLanes ||
        other.getResult(0).getType() != op->getResult(0).getType() ||
        other.getAttrDictionary() != op->getAttrDictionary()) {
      continue;
    }
    SmallPtrSet<Operation *, 16> seen;
    bool fits = !isKnown(other.getResult(0), *shared) &&
                llvm::all_of(other.getOperands(),
                             [&](Value v) { return isIndependent(v, *shared, members, seen); });
    if (fits && llvm::none_of(group, [&](Operation *member) { return needs(member, &other); })) {
      group.push_back(&other);
      members.insert(&other);
    }
  }
  if (group.size() < 2) {
    return {};
  }
  // A power of two of lanes; the remaining lanes repeat the first.
  size_t width = llvm::PowerOf2Ceil(group.size());
  SmallVector<Elem> operands;
  for (unsigned n = 0; n < op->getNumOperands(); ++n) {
    SmallVector<Value> numbers;
    for (Operation *member : group) {
      numbers.push_back(self->emit(member->getOperand(n), {}).re);
    }
    numbers.resize(width, numbers.front());
    auto type = VectorType::get({static_cast<int64_t>(width)}, numbers.front().getType());
    operands.push_back(Elem(vector::FromElementsOp::create(e().b, e().loc, type, numbers)));
  }
  Elem all = emitElementwise(e(), op, operands);
  if (!all) {
    return {};
  }
  Elem own;
  for (auto [lane, member] : llvm::enumerate(group)) {
    Elem one(vector::ExtractOp::create(e().b, e().loc, all.re, static_cast<int64_t>(lane)));
    if (member == op) {
      own = one;
    } else {
      memoize(member->getResult(0), {}, {}, one);
    }
  }
  return own;
}

} // namespace hlo::codegen
