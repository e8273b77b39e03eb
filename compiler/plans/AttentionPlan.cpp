//===- AttentionPlan.cpp - Two dots with a reduce of rows between them ----===//
//
// In: a dot. Out: the attention that ends in it. The match goes from the weights up to the scores
// and gives each dimension on the way the number of its axis; a value that is read along two
// different axes ends it.
//
//===----------------------------------------------------------------------===//
#include "compiler/plans/AttentionPlan.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;

namespace hlo {

/// Search limits: ops above the weights, and dots among them that may be the scores.
static constexpr size_t kMostAbove = 256, kMostDots = 4;
/// Fewer rows or keys are products of few rows, which have forms of their own, and whose scores
/// are small.
static constexpr int64_t kLeastRows = 16, kLeastKeys = 32;
/// Rows of a block, if there are so many: keys and values are packed again for each block, at the
/// cost of some 16 multiply-adds of vectors for each of their elements.
static constexpr int64_t kMostRows = 256;
/// With fewer blocks than this, blocks have fewer rows, but not below kLeastBlock.
static constexpr int64_t kEnoughBlocks = 8, kLeastBlock = 64;
/// Blocks of one axis have a multiple of so many elements: rows of a matrix register.
static constexpr int64_t kBlockStep = 16;

static SmallVector<int64_t> largeDims(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1) {
      dims.push_back(d);
    }
  }
  return dims;
}

bool keepsSizes(Operation *reshape) {
  auto sizes = [](Value v) {
    SmallVector<int64_t> kept(shapeOf(v));
    llvm::erase(kept, 1);
    return kept;
  };
  return elementTypeOf(reshape->getOperand(0)) == elementTypeOf(reshape->getResult(0)) &&
         sizes(reshape->getOperand(0)) == sizes(reshape->getResult(0));
}

static ArrayRef<int64_t> dimsOr(std::optional<ArrayRef<int64_t>> dims) {
  return dims ? *dims : ArrayRef<int64_t>();
}

namespace {
/// One side of a dot: the roles of its dimensions.
struct DotSide {
  ArrayRef<int64_t> batch, contracted;
  SmallVector<int64_t> free;
};

class Match {
public:
  Match(DotOp weighted, unsigned side) {
    a.weighted = weighted;
    a.weightsSide = side;
  }
  std::optional<Attention> run();

private:
  bool findAbove();
  bool findBetween(DotOp scores);
  bool startAxes();
  bool assign(Value v, AxisNumbers axes);
  bool assignOperands(Operation *op, const AxisNumbers &axes);
  bool finishScores();
  void findEpilogue();
  int64_t newAxis(AttentionAxis::Kind kind, int64_t size) {
    a.axes.push_back({kind, size});
    return static_cast<int64_t>(a.axes.size()) - 1;
  }

  Attention a;
  SmallVector<Operation *> above; ///< ops that the weights are computed from, in program order
  SmallVector<DotOp> dots;        ///< dots that they are computed from, last first
};
} // namespace

static DotSide sideOf(DotOp dot, unsigned side) {
  DotSide result;
  result.batch = dimsOr(side == 0 ? dot.getLhsBatchDims() : dot.getRhsBatchDims());
  result.contracted = dimsOr(side == 0 ? dot.getLhsContractingDims() : dot.getRhsContractingDims());
  for (int64_t d = 0; d < rankOf(dot->getOperand(side)); ++d) {
    if (!llvm::is_contained(result.batch, d) && !llvm::is_contained(result.contracted, d)) {
      result.free.push_back(d);
    }
  }
  return result;
}

/// Whether the op may stand between scores and weights, or compute what they are combined with.
static bool isOfChain(Operation *op) {
  if (op->getNumResults() != 1 || !arrayType(op->getResult(0))) {
    return false;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return reduce.getInputs().size() == 2;
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    return keepsSizes(op);
  }
  return isElementwiseOp(op) || isa<BroadcastOp, TransposeOp, CopyOp>(op);
}

bool Match::findAbove() {
  llvm::SetVector<Operation *> seen;
  auto visit = [&](Value v) {
    Operation *op = v.getDefiningOp();
    if (op && (isa<DotOp>(op) || isOfChain(op))) {
      seen.insert(op);
    }
  };
  visit(a.weights());
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen.size() > kMostAbove) {
      return false;
    }
    if (auto dot = dyn_cast<DotOp>(seen[i])) {
      dots.push_back(dot);
    } else {
      llvm::for_each(seen[i]->getOperands(), visit);
    }
  }
  above.assign(seen.begin(), seen.end());
  auto isBefore = [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); };
  llvm::sort(above, isBefore);
  llvm::sort(dots, [&](DotOp x, DotOp y) { return isBefore(y, x); });
  dots.resize(std::min(dots.size(), kMostDots));
  return !dots.empty();
}

bool Match::findBetween(DotOp scores) {
  a.scores = scores;
  a.between.clear();
  a.between.insert(scores);
  bool reduces = false;
  for (Operation *op : above) {
    bool depends = llvm::any_of(op->getOperands(), [&](Value v) {
      return v.getDefiningOp() && a.between.contains(v.getDefiningOp());
    });
    if (depends && !isa<DotOp>(op)) {
      a.between.insert(op);
      reduces |= isa<ReduceOp>(op);
    }
  }
  return reduces && llvm::all_of(a.between, [&](Operation *op) {
           return llvm::all_of(op->getUsers(), [&](Operation *user) {
             return a.between.contains(user) ||
                    (user == a.weighted && op->getResult(0) == a.weights());
           });
         });
}

/// Gives axes to the dimensions of the operands and the result of `weighted`.
bool Match::startAxes() {
  DotSide weights = sideOf(a.weighted, a.weightsSide), values = sideOf(a.weighted, !a.weightsSide);
  Value v = a.values();
  AxisNumbers ofWeights(rankOf(a.weights()), kNoAxis), ofValues(rankOf(v), kNoAxis), ofResult;
  auto give = [&](AxisNumbers &axes, Value value, int64_t d, AttentionAxis::Kind kind) {
    if (shapeOf(value)[d] != 1) {
      axes[d] = newAxis(kind, shapeOf(value)[d]);
    }
  };
  for (auto [w, d] : llvm::zip(weights.batch, values.batch)) {
    give(ofWeights, a.weights(), w, AttentionAxis::Unit);
    ofValues[d] = ofWeights[w];
    ofResult.push_back(ofWeights[w]);
  }
  for (auto [w, d] : llvm::zip(weights.contracted, values.contracted)) {
    give(ofWeights, a.weights(), w, AttentionAxis::Key);
    ofValues[d] = ofWeights[w];
    if (ofWeights[w] != kNoAxis) {
      if (a.key != kNoAxis) {
        return false;
      }
      a.key = ofWeights[w];
    }
  }
  for (int64_t d : weights.free) {
    give(ofWeights, a.weights(), d, AttentionAxis::Row);
  }
  for (int64_t d : values.free) {
    give(ofValues, v, d, AttentionAxis::Whole);
  }
  for (unsigned side : {0u, 1u}) {
    bool isWeights = side == a.weightsSide;
    for (int64_t d : isWeights ? weights.free : values.free) {
      ofResult.push_back(isWeights ? ofWeights[d] : ofValues[d]);
    }
  }
  a.ofValues = ofValues;
  a.axesOf[a.weighted.getResult()] = ofResult;
  return a.key != kNoAxis && assign(a.weights(), ofWeights);
}

bool Match::assign(Value v, AxisNumbers axes) {
  Operation *op = v.getDefiningOp();
  if (!op || !a.between.contains(op)) {
    return true;
  }
  for (auto [d, axis] : llvm::enumerate(axes)) {
    int64_t size = shapeOf(v)[d];
    if (axis == kNoAxis ? size != 1 : a.axes[axis].size != size || llvm::count(axes, axis) != 1) {
      return false;
    }
  }
  auto [known, isNew] = a.axesOf.try_emplace(v, axes);
  if (!isNew) {
    return known->second == axes;
  }
  return op == a.scores || assignOperands(op, axes);
}

bool Match::assignOperands(Operation *op, const AxisNumbers &axes) {
  Value first = op->getOperand(0);
  AxisNumbers inner(rankOf(first), kNoAxis);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      inner[i] = shapeOf(first)[i] == 1 ? kNoAxis : axes[d];
    }
    return assign(first, inner);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      inner[d] = axes[i];
    }
    return assign(first, inner);
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    for (auto [from, to] :
         llvm::zip(largeDims(shapeOf(op->getResult(0))), largeDims(shapeOf(first)))) {
      inner[to] = axes[from];
    }
    return assign(first, inner);
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    size_t next = 0;
    for (auto [d, size] : llvm::enumerate(shapeOf(first))) {
      if (llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(d))) {
        inner[d] = size == 1 ? kNoAxis : a.key;
      } else {
        inner[d] = axes[next++];
      }
    }
    Operation *init = reduce.getInputs()[1].getDefiningOp();
    return !(init && a.between.contains(init)) && llvm::is_contained(inner, a.key) &&
           assign(first, inner);
  }
  return llvm::all_of(op->getOperands(), [&](Value v) {
    return rankOf(v) == 0 && !axes.empty() ? assign(v, {}) : assign(v, axes);
  });
}

/// Gives axes to the operands of the scores; sorts the rows as the queries have them.
bool Match::finishScores() {
  auto found = a.axesOf.find(a.scores.getResult());
  if (found == a.axesOf.end()) {
    return false;
  }
  AxisNumbers axes = found->second;
  for (auto [number, axis] : llvm::enumerate(a.axes)) {
    if (axis.kind != AttentionAxis::Whole && !llvm::is_contained(axes, number)) {
      return false;
    }
  }
  std::array<DotSide, 2> sides = {sideOf(a.scores, 0), sideOf(a.scores, 1)};
  std::array<AxisNumbers, 2> inner;
  for (unsigned side : {0u, 1u}) {
    inner[side].assign(rankOf(a.scores->getOperand(side)), kNoAxis);
  }
  size_t next = 0;
  for (auto [l, r] : llvm::zip(sides[0].batch, sides[1].batch)) {
    int64_t axis = inner[0][l] = inner[1][r] = axes[next++];
    if (axis == a.key) {
      return false;
    }
    if (axis != kNoAxis) {
      a.axes[axis].kind = AttentionAxis::Unit;
    }
  }
  for (unsigned side : {0u, 1u}) {
    for (int64_t d : sides[side].free) {
      int64_t axis = inner[side][d] = axes[next++];
      if (axis == a.key) {
        a.keySide = side;
      }
    }
  }
  for (int64_t d : sides[a.keySide].free) {
    int64_t axis = inner[a.keySide][d];
    if (axis != kNoAxis && axis != a.key) {
      return false;
    }
  }
  for (auto [l, r] : llvm::zip(sides[0].contracted, sides[1].contracted)) {
    int64_t size = shapeOf(a.scores.getLhs())[l];
    if (size != 1) {
      inner[0][l] = inner[1][r] = newAxis(AttentionAxis::Whole, size);
    }
  }
  a.ofScoresOperand = inner;
  return true;
}

void Match::findEpilogue() {
  Value root = a.weighted.getResult();
  while (root.hasOneUse()) {
    Operation *user = *root.getUsers().begin();
    AxisNumbers axes = a.axesOf[root];
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
        axes[i] = a.axesOf[root][d];
      }
    } else if (!isa<ConvertOp>(user)) {
      return;
    }
    root = user->getResult(0);
    a.axesOf[root] = axes;
    a.epilogue.push_back(user);
  }
}

std::optional<Attention> Match::run() {
  if (!findAbove()) {
    return std::nullopt;
  }
  for (DotOp scores : dots) {
    a.axes.clear();
    a.axesOf.clear();
    a.key = kNoAxis;
    if (findBetween(scores) && startAxes() && finishScores()) {
      findEpilogue();
      return a;
    }
  }
  return std::nullopt;
}

std::optional<Attention> matchAttention(DotOp weighted) {
  for (unsigned side : {0u, 1u}) {
    if (auto attention = Match(weighted, side).run()) {
      return attention;
    }
  }
  return std::nullopt;
}

std::optional<AttentionBlocks> planAttention(const Machine &machine, Attention &attention) {
  AttentionBlocks plan;
  int64_t units = 1, rows = 1, keys = attention.axes[attention.key].size;
  for (auto [number, axis] : llvm::enumerate(attention.axes)) {
    plan.sizes.push_back(axis.kind == AttentionAxis::Unit ? 1 : axis.size);
    if (axis.size == 0) {
      return std::nullopt;
    }
    if (axis.kind == AttentionAxis::Unit) {
      units *= axis.size;
    } else if (axis.kind == AttentionAxis::Row) {
      rows *= axis.size;
      if (plan.cut == kNoAxis || axis.size > attention.axes[plan.cut].size) {
        plan.cut = number;
      }
    }
  }
  if (rows < kLeastRows || keys < kLeastKeys) {
    return std::nullopt;
  }
  // Scores and weights of a block stay in L2, beside what streams through it.
  int64_t bytes = 4 + elementBytes(elementTypeOf(attention.weights()));
  int64_t most = std::min(kMostRows, machine.memory.l2 / 2 / (keys * bytes));
  if (units * llvm::divideCeil(rows, most) < kEnoughBlocks) {
    most = std::min(most, std::max(kLeastBlock, units * rows / kEnoughBlocks));
  }
  if (most < kLeastRows) {
    return std::nullopt;
  }
  int64_t others = 1;
  for (auto [number, axis] : llvm::enumerate(attention.axes)) {
    if (axis.kind != AttentionAxis::Row || static_cast<int64_t>(number) == plan.cut) {
      continue;
    }
    bool fits = others * axis.size <= most / 8;
    plan.sizes[number] = fits ? axis.size : 1;
    others *= plan.sizes[number];
  }
  int64_t size = attention.axes[plan.cut].size;
  plan.blocks = llvm::divideCeil(size, std::max<int64_t>(1, most / others));
  int64_t step = std::max<int64_t>(1, kBlockStep / others);
  plan.sizes[plan.cut] =
      std::min<int64_t>(size, llvm::alignTo(llvm::divideCeil(size, plan.blocks), step));
  plan.blocks = llvm::divideCeil(size, plan.sizes[plan.cut]);
  return plan;
}

} // namespace hlo
