//===- Groups.cpp - Which ops become one kernel ---------------------------===//
//
// Assigns the ops of a block to groups. Walks from the last op to the first, so that all users of
// an op have been placed before it:
//
//   - all users are in one group that can take it:  it joins that group and is never stored
//   - it is free, and its users are in several:     it is cloned into each
//   - otherwise:                                    it is the root of a new group
//
// An op joins only groups that hold all its users, so no path leaves a group and returns: there
// are no cycles. A group can take an op if evaluating it there repeats no costly work;
// `evaluations` counts how often each element is evaluated.
//
// A loop may change its strategy as it grows. Over a trailing reduce whose row is the loop's row
// it becomes a row kernel (softmax, layer norm). Over a dot or convolution of the loop's shape it
// becomes the hero's epilogue.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Grouper.h"
#include "compiler/transforms/fusion/Prologue.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

/// Bounds on the ops of a kernel, since LLVM's time and the register pressure grow faster than its
/// length. From kEnoughMembers computing ops on a kernel ends where a single array is all that it
/// still needs; from kMaxMembers on it ends anywhere. (A random generator and the distribution
/// computed from it are 250 such ops. A cut anywhere would store every value alive at the cut.)
static constexpr size_t kEnoughMembers = 320;
static constexpr size_t kMaxMembers = 640;
/// Each operand is an address in a register or on the stack; many of them spill (an estimate).
static constexpr size_t kMaxOperands = 48;
/// The same bounds on codeOf, which also counts scalars and ops that move data: 100 and 200 sines.
/// LLVM needs twice the time per sine for a kernel of 1000 of them; storing one intermediate per
/// 100 sines costs 1 % of their work.
static constexpr int64_t kEnoughCode = 2048, kMaxCode = 4096;
/// An op of cost 1 may be evaluated 1.5 times per element: a store and a load of each element cost
/// more.
static constexpr double kCheapRepeat = 1.5;
/// A loop evaluates a reduce inside an iteration if it has at most 4096 elements per result: a
/// longer one has enough work for a kernel of its own.
static constexpr int64_t kMaxReduceInLoop = 4096;
/// An op that reads at most one large array is repeated in up to three kernels rather than stored:
/// the array's reads replace those of the result, and nothing is written. The repeated chain may
/// cost as much as six additions: some 3 cycles for a vector, which hide behind the 10 and more in
/// which it comes from memory. An estimate.
static constexpr size_t kMaxRepeatedIn = 3;
static constexpr int64_t kMaxRepeatedCost = 6;

/// Whether the group's kernel overwrites the array v in place; v must then be an operand of the
/// kernel.
static bool isOverwritten(const Group &group, Value v) {
  return propertiesOf(group.strategy).sharing == Sharing::InPlace &&
         llvm::is_contained(group.root->getOperands().take_front(group.root->getNumResults()), v);
}

bool isComputedFrom(Operation *op, Value array) {
  constexpr size_t maxVisited = 64; // search limit
  llvm::SetVector<Operation *> cone;
  cone.insert(op);
  for (size_t i = 0; i < cone.size() && i < maxVisited; ++i) {
    for (Value v : cone[i]->getOperands()) {
      if (v == array) {
        return true;
      }
      Operation *producer = v.getDefiningOp();
      if (producer && (roleOf(producer) == Role::Compute || roleOf(producer) == Role::Free)) {
        cone.insert(producer);
      }
    }
  }
  return false;
}

/// Whether a value that a member reads will be an operand of the kernel, as far as is known yet.
static bool isOutside(const Group &group, Value v) {
  Operation *def = v.getDefiningOp();
  return !def || (!group.members.contains(def) && !isSplatConstant(def));
}

size_t Grouper::operandCountWith(Group &group, Operation *op) {
  size_t count = group.outside.size();
  for (Value v : op->getResults()) {
    count -= group.outside.contains(v);
  }
  llvm::SmallDenseSet<Value> added;
  for (Value v : op->getOperands()) {
    if (isOutside(group, v) && !group.outside.contains(v)) {
      added.insert(v);
    }
  }
  return count + added.size();
}

/// Adds a member; all its users in the group must be members already.
void Grouper::addMember(Group &group, Operation *op) {
  group.members.insert(op);
  group.computing += costOf(op) > 0;
  group.code += codeOf(op);
  for (Value v : op->getResults()) {
    group.outside.erase(v);
  }
  for (Value v : op->getOperands()) {
    if (isOutside(group, v)) {
      group.outside.insert(v);
    }
  }
  result.groupsOf[op].push_back(&group);
}

/// Whether each of `groups` kernels should compute the op rather than read its result. True if it
/// reads at most one array larger than an eighth of its result, none larger than its result, and
/// costs little.
bool Grouper::isCheapToRepeat(Operation *op, size_t groups) {
  if (roleOf(op) != Role::Compute || costOf(op) > 1 || groups > kMaxRepeatedIn || isa<MapOp>(op) ||
      op->getNumResults() != 1) {
    return false;
  }
  int64_t bytes = bytesOf(op->getResult(0)), small = bytes / 8;
  int64_t large = 0;
  for (Value v : op->getOperands()) {
    // A broadcast's traffic is that of its operand.
    while (Operation *def = v.getDefiningOp()) {
      if (!isa<BroadcastOp, ReshapeOp, BitcastOp>(def)) {
        break;
      }
      v = def->getOperand(0);
    }
    int64_t read = bytesOf(v);
    if (read > bytes) {
      return false;
    }
    large += read > small;
  }
  return large <= 1 && costWithRepeats(op) <= kMaxRepeatedCost;
}

/// The cost of the op and of the repeated ops between it and the stored result.
int64_t Grouper::costWithRepeats(Operation *op) {
  int64_t behind = 0;
  for (Operation *user : op->getUsers()) {
    behind = std::max(behind, repeatedCost.lookup(user));
  }
  return behind + costOf(op);
}

/// Whether `op` is the only value of at least its size that the group still needs and that is not
/// yet placed.
bool Grouper::isAllThatIsNeeded(Group &group, Operation *op) {
  int64_t elements = resultElements(op);
  DenseSet<Operation *> seen;
  std::function<bool(Operation *)> isKnown = [&](Operation *user) {
    return llvm::all_of(user->getOperands(), [&](Value v) {
      Operation *def = v.getDefiningOp();
      if (!def || def == op || group.members.contains(def) || resultElements(def) < elements ||
          roleOf(def) == Role::TopLevel || result.groupsOf.contains(def) ||
          !seen.insert(def).second) {
        return true;
      }
      return roleOf(def) == Role::Free && isKnown(def);
    });
  };
  return llvm::all_of(group.members, isKnown);
}

/// Whether the loop's vectors would read the op's result along another dimension than the result's
/// minor one, element by element. Arrays in memory and slices of them are exempt, since the loop
/// transposes them by tiles; any other data movement is stored first.
bool Grouper::isMovedAcross(Group &group, Operation *op) {
  // 16 KiB of f32 are in L1, where reads across a dimension cost less than another kernel.
  constexpr int64_t fewestElements = 4096;
  int64_t elements = resultElements(op);
  if (isa<ReduceOp>(op)) {
    elements = elementsOf(op->getOperand(0));
  } else if (!hasFlag(op, OpFlag::Displaces) && !isa<ReduceWindowOp>(op)) {
    return false;
  }
  if (group.strategy != Strategy::Loop || elements < fewestElements) {
    return false;
  }
  auto minorOf = [](ArrayRef<int64_t> shape) {
    int64_t d = static_cast<int64_t>(shape.size()) - 1;
    while (d >= 0 && shape[d] == 1) {
      --d;
    }
    return d;
  };
  Value v = op->getResult(0);
  int64_t own = minorOf(shapeOf(v)), minor = minorOf(shapeOf(group.root->getResult(0)));
  auto slice = dyn_cast<SliceOp>(op);
  Operation *sliced = slice ? slice.getOperand().getDefiningOp() : nullptr;
  bool inMemory =
      slice && (!sliced || roleOf(sliced) == Role::Hero || roleOf(sliced) == Role::TopLevel);
  if (own < 0 || (inMemory && slice.getStrides()[own] == 1)) {
    return false;
  }
  int64_t follows = mapIn(group, v).dims[own];
  return follows >= 0 && follows != minor;
}

/// Whether costly work of the program beside an asynchronous collective would run after it.
bool Grouper::leavesPair(const Group &group, Operation *op) {
  Operation *end = ends.lookup(op);
  bool costly =
      roleOf(op) == Role::Hero || roleOf(op) == Role::Reduce || isExpensiveElementwise(op);
  return end && costly && end->isBeforeInBlock(group.root);
}

/// Whether the op rounds an array to narrow integers that only it reads and another op computes.
/// The kernel that computes the array then stores the integers, a quarter of the bytes.
static bool narrowsComputed(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (!convert || !convert.getOperand().hasOneUse()) {
    return false;
  }
  auto to = dyn_cast<IntegerType>(elementTypeOf(convert.getResult()));
  Operation *computed = convert.getOperand().getDefiningOp();
  return to && to.getWidth() <= 16 && isa<FloatType>(elementTypeOf(convert.getOperand())) &&
         computed && roleOf(computed) != Role::TopLevel && roleOf(computed) != Role::Free;
}

bool Grouper::canTake(Group &group, Operation *op) {
  Role role = roleOf(op);
  if (role == Role::TopLevel || isa<StackOp>(op) || op->hasAttr(kStoredAttr)) {
    return false;
  }
  if (!ends.empty() && leavesPair(group, op)) {
    return false;
  }
  if (group.computing >= kEnoughMembers && costOf(op) > 0 && resultElements(op) > 1 &&
      (group.computing >= kMaxMembers || isAllThatIsNeeded(group, op))) {
    return false;
  }
  if (group.code >= kEnoughCode && !isSplatConstant(op) &&
      (group.code >= kMaxCode || (costOf(op) > 0 && isAllThatIsNeeded(group, op)))) {
    return false;
  }
  const StrategyProperties &strategy = propertiesOf(group.strategy);
  if (role == Role::Hero) {
    // A loop becomes the epilogue of a dot or convolution if it walks the hero's shape once.
    if (group.strategy != Strategy::Loop || group.hero || !propertiesOf(strategyOf(op)).isProduct) {
      return false;
    }
    for (Operation *member : group.members) {
      if (isa<ReduceOp, ReduceWindowOp, DotOp>(member)) {
        return false;
      }
    }
    return shapeOf(group.root->getResult(0)) == shapeOf(op->getResult(0)) &&
           mapIn(group, op->getResult(0)).isIdentity() &&
           evaluationsIn(group, op) <= static_cast<double>(resultElements(op)) &&
           operandCountWith(group, op) <= kMaxOperands;
  }
  if (isSplatConstant(op)) {
    return !isOverwritten(group, op->getResult(0));
  }
  switch (strategy.takes) {
  case Takes::Nothing: return false;
  case Takes::Sources:
    return isa<IotaOp>(op) || (isa<BroadcastOp>(op) && elementsOf(op->getOperand(0)) <= 1);
  case Takes::Addresses: return scatterTakes(group, op);
  case Takes::Producers: break;
  }
  if (operandCountWith(group, op) > kMaxOperands) {
    return false;
  }
  if (strategy.isProduct) {
    if (role == Role::Reduce) {
      return false;
    }
    if (isBeforeHero(group, op)) {
      return !narrowsComputed(op) && prologueOf(machine, group, op).has_value();
    }
  }
  if (strategy.sharing == Sharing::InPlace) {
    // The array is overwritten while the update is computed, so the update must not read it.
    Value array = group.root->getOperand(0);
    if (isOverwritten(group, op->getResult(0))) {
      return false;
    }
    if (isComputedFrom(op, array)) {
      return false;
    }
    if (role == Role::Reduce) {
      return false;
    }
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (canBecomeRow(group, reduce)) {
      return true;
    }
    if (!strategy.takesReduces || isTrailingReduce(reduce)) {
      // A trailing reduce is faster in a kernel of its own, unless it is tiny.
      if (!strategy.takesReduces || elementsOf(reduce.getInputs()[0]) > 64) {
        return false;
      }
    }
    if (costOf(op) > kMaxReduceInLoop) {
      return false;
    }
  } else if (role == Role::Reduce && !strategy.takesReduces) {
    return false;
  }
  if (isMovedAcross(group, op)) {
    return false;
  }
  double evaluations = evaluationsIn(group, op);
  double elements = std::max<double>(1, resultElements(op));
  int64_t cost = costOf(op);
  bool scalar = shapeOf(op->getResult(0)).empty() && role != Role::Reduce;
  if (scalar || evaluations <= elements * 1.0001) {
    return true;
  }
  if (cost == 0) {
    return !narrowsComputed(op);
  }
  if (role != Role::Reduce && leadsToRowReduce(group, op)) {
    return true;
  }
  return cost <= 1 && evaluations <= elements * kCheapRepeat;
}

void Grouper::take(Group &group, Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && canBecomeRow(group, reduce)) {
    group.strategy = Strategy::Row;
    group.rowSpace.assign(shapeOf(reduce.getInputs()[0]).begin(),
                          shapeOf(reduce.getInputs()[0]).end());
    group.rows = group.rowSpace.size() - reduce.getDimensions().size();
  }
  if (roleOf(op) == Role::Hero && propertiesOf(strategyOf(op)).isProduct) {
    group.strategy = strategyOf(op);
    group.hero = op;
  }
  // A constant has no operands whose maps would be needed, and may have very many users.
  if (!isSplatConstant(op)) {
    if (isBeforeHero(group, op)) {
      group.prologue[op] = prologueOf(machine, group, op).value_or(Prologue());
    }
    group.evaluations[op] = evaluationsIn(group, op);
    for (Value v : op->getResults()) {
      group.maps[v] = mapIn(group, v);
      group.indices[v] = indexIn(group, v);
    }
  }
  addMember(group, op);
}

Group &Grouper::newGroup(Operation *op) {
  result.groups.push_back(std::make_unique<Group>());
  Group &group = *result.groups.back();
  group.root = op;
  group.strategy = strategyOf(op);
  if (roleOf(op) == Role::Hero) {
    group.hero = op;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && group.strategy == Strategy::Reduce) {
    group.rowSpace.assign(shapeOf(reduce.getInputs()[0]).begin(),
                          shapeOf(reduce.getInputs()[0]).end());
    group.rows = group.rowSpace.size() - reduce.getDimensions().size();
  }
  for (Value v : op->getResults()) {
    ArrayRef<int64_t> shape = shapeOf(v);
    group.maps[v] = DimMap::identity(shape);
  }
  group.evaluations[op] = resultElements(op);
  if (isa<StackOp>(op)) {
    group.evaluations[op] /= op->getNumOperands();
  }
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op); update && group.hero) {
    // The kernel iterates over the update, not over the whole array.
    group.evaluations[op] = elementsOf(update.getUpdate());
  }
  addMember(group, op);
  return group;
}

void Grouper::place(Operation *op) {
  Role role = roleOf(op);
  if (role == Role::TopLevel) {
    return;
  }
  llvm::SetVector<Group *> groups;
  bool outside = false;
  for (Operation *user : op->getUsers()) {
    auto it = result.groupsOf.find(user);
    if (it == result.groupsOf.end() || it->second.empty()) {
      outside = true;
      continue;
    }
    // A reshape or bitcast may be at top level and inside kernels.
    outside |= result.relabels.contains(user);
    for (Group *group : it->second) {
      groups.insert(group);
    }
  }
  if (isSplatConstant(op)) {
    for (Group *group : groups) {
      if (canTake(*group, op)) {
        take(*group, op);
      }
    }
    return; // it also stays at top level, for other users
  }
  // An op with users in several groups is cloned only if it is free.
  int64_t elements = resultElements(op);
  bool fromScalar = isa<BroadcastOp>(op) && elementsOf(op->getOperand(0)) <= 1;
  bool clone = isa<IotaOp>(op) || fromScalar ||
               (role == Role::Free && !isa<CopyOp>(op) && groups.size() <= 4) ||
               (role == Role::Compute && costOf(op) <= 1 && elements <= 1 && groups.size() <= 4);
  bool repeat = !clone && groups.size() > 1 && isCheapToRepeat(op, groups.size());
  bool all = !outside && llvm::all_of(groups, [&](Group *g) { return canTake(*g, op); });
  if (all && !groups.empty() && (groups.size() == 1 || clone || repeat)) {
    if (groups.size() > 1) {
      repeatedCost[op] = costWithRepeats(op);
    }
    for (Group *group : groups) {
      take(*group, op);
    }
    return;
  }
  // A free op joins the groups that can take it even if others read its value from memory.
  if (isa<IotaOp>(op) || fromScalar || isa<ReshapeOp, BitcastOp>(op)) {
    bool stored = outside;
    for (Group *group : groups) {
      if (canTake(*group, op)) {
        take(*group, op);
      } else {
        stored = true;
      }
    }
    if (!stored) {
      return;
    }
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    result.relabels.insert(op);
    return;
  }
  newGroup(op);
}

Grouping Grouper::run() {
  ends = endsBehind(block);
  for (Operation &op : llvm::reverse(block)) {
    place(&op);
  }
  std::reverse(result.groups.begin(), result.groups.end());
  return std::move(result);
}

Grouping groupOps(Block &block, const Machine &machine) { return Grouper(block, machine).run(); }

} // namespace hlo::fusion
