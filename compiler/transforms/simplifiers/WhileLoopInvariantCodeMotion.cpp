//===- WhileLoopInvariantCodeMotion.cpp - Invariant ops leave loops -------===//
//
// A carry that the body returns unchanged has one value in all iterations, and so has every op
// computed only from such carries and constants. Expensive ones move in front of the loop, and
// their results become carries:
//
//   while(x, w) { x = dot(x, convert(w)) }   ->   c = convert(w); while(x, c) { x = dot(x, c) }
//
// A dot of one slice of an invariant array with another invariant array is a slice of the dot of
// the whole array, which moves. The input part of a recurrent cell thus becomes one large product
// instead of one of few rows per step:
//
//   while(i, x, w) { dot(x[i], w) }   ->   p = dot(x, w); while(i, p) { p[i] }
//
// If the slice is concatenated with a state that changes, the dot is split first.
//
// An op moves if it, or an op that only it needs, is expensive or reads more bytes than it writes.
// An op that expands data (a broadcast, a widening conversion) costs less in the loop than the
// memory it would fill. For a loop that runs zero times the moved ops are wasted work, but they are
// pure.
//
// A collective of invariant arrays moves, too: sending costs more than memory. All devices of a
// group run the loop alike, or its collectives would not meet.
//
// Inner loops come first, so that ops leave several loops in one run.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// A result of this share of L1 may move whatever it is made from: it stays there.
constexpr int64_t kSmallShare = 8;

/// Which dots of slices move. Dots of at most kFewRows rows read their other operand once for each
/// multiply-add or two, so that one dot of all rows is faster if the operand leaves half of L1. Of
/// up to kMostRows rows the multiply-adds of a vector take as long as its way from L3; these gain
/// if the operands of all dots of an iteration leave L2, as each is then gone when its turn comes.
constexpr int64_t kFewRows = 2, kMostRows = 16;
/// The least trips of a loop, so that one product costs less than those that it replaces.
constexpr int64_t kManyTrips = 4;
/// Most growth of the whole product over its operands, and its largest size: it stays in memory for
/// as long as the loop runs.
constexpr int64_t kProductGrowth = 4, kMostProductBytes = 64 << 20;

/// Ops that cost nothing once they are part of a kernel.
bool isFree(Operation *op) {
  return isa<ConstantOp, IotaOp, BroadcastOp, ReshapeOp, BitcastOp, SliceOp, ReverseOp, PadOp>(op);
}

/// True if recomputing the op in each iteration costs something.
bool isWorthMoving(Operation *op) {
  if (isFree(op)) {
    return false;
  }
  Value result = op->getResult(0);
  if (isElementwiseOp(op)) {
    int64_t read = 0;
    for (Value operand : op->getOperands()) {
      read += operand.getDefiningOp<BroadcastOp>() ? 0 : bytesOf(operand);
    }
    bool shrinks = elementsOf(result) > 1 && bytesOf(result) <= read;
    return isExpensiveElementwise(op) || shrinks;
  }
  return true;
}

/// An op that gives the same result in each iteration if its operands are the same, though it is
/// not pure: what devices exchange, and which device this is.
bool isRepeatable(Operation *op) {
  // One that ends elsewhere stays where the text has it.
  return !op->hasAttr(kAsyncAttr) && isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectivePermuteOp,
                                         PartitionIdOp, ReduceScatterOp, ReplicaIdOp>(op);
}

bool sends(Operation *op) { return isRepeatable(op) && op->getNumOperands() > 0; }

class LoopMotion {
public:
  LoopMotion(WhileOp loop, ComputationOp condition, ComputationOp body,
             const ComputationGraph &graph, const Machine &machine)
      : loop(loop), condition(condition), body(body), graph(graph), memory(machine.memory) {}

  void run() {
    findInvariants();
    joinProducts();
    SmallVector<Value> moved = chooseMoved();
    if (!moved.empty()) {
      move(moved);
    }
  }

private:
  void findInvariants() {
    Operation *root = body.getReturn();
    for (BlockArgument argument : body.getBody().getArguments()) {
      if (root->getOperand(argument.getArgNumber()) == argument) {
        invariant.insert(argument);
      }
    }
    for (Operation &op : body.getBody().front().without_terminator()) {
      bool canMove = isRepeatable(&op) || (isPure(&op) && !graph.hasSideEffects(&op));
      if (canMove && op.getNumResults() > 0 &&
          llvm::all_of(op.getOperands(), [&](Value v) { return invariant.contains(v); })) {
        invariant.insert_range(op.getResults());
        bool worth = isRepeatable(&op) ? sends(&op) : isWorthMoving(&op);
        int64_t read = 0;
        for (Value operand : op.getOperands()) {
          Operation *producer = operand.getDefiningOp();
          worth |= producer && worthy.contains(producer);
          read += producer ? inputBytes.lookup(producer) : bytesOf(operand);
        }
        inputBytes[&op] = read;
        if (worth) {
          worthy.insert(&op);
        }
      }
    }
  }

  void joinProducts() {
    auto trips = loop->getAttrOfType<IntegerAttr>("known_trip_count");
    if (!trips || trips.getInt() < kManyTrips) {
      return;
    }
    DenseSet<Value> weights;
    for (DotOp dot : body.getBody().getOps<DotOp>()) {
      for (Value operand : dot->getOperands()) {
        if (invariant.contains(operand) && weights.insert(operand).second) {
          weightBytes += bytesOf(operand);
        }
      }
    }
    for (DotOp dot : llvm::make_early_inc_range(body.getBody().getOps<DotOp>())) {
      if (!joinProduct(dot, 0, trips.getInt()) && !joinProduct(dot, 1, trips.getInt())) {
        splitProduct(dot, trips.getInt());
      }
    }
  }

  /// dot(concatenate(x[i], h), w)  ->  dot(x[i], w') + dot(h, w''), if the first dot then leaves
  /// the loop.
  void splitProduct(DotOp dot, int64_t trips) {
    auto pieces = dot.getLhs().getDefiningOp<ConcatenateOp>();
    auto contracted = dot->getAttrOfType<DenseI64ArrayAttr>("lhs_contracting_dims");
    auto rhsContracted = dot->getAttrOfType<DenseI64ArrayAttr>("rhs_contracting_dims");
    Type element = elementTypeOf(dot.getResult());
    if (!pieces || pieces->getNumOperands() != 2 || !invariant.contains(dot.getRhs()) ||
        !contracted || contracted.size() != 1 ||
        static_cast<int64_t>(pieces.getDimension()) != contracted[0] ||
        !(element.isF32() || element.isF64()) || elementTypeOf(dot.getRhs()) != element) {
      return;
    }
    OpBuilder b(dot);
    HloBuilder builder(b, dot.getLoc());
    SmallVector<int64_t> starts(shapeOf(dot.getRhs()).size(), 0), limits(shapeOf(dot.getRhs()));
    SmallVector<Value> rows, products;
    int64_t cut = shapeOf(pieces->getOperand(0))[contracted[0]];
    for (unsigned i = 0; i < 2; ++i) {
      SmallVector<int64_t> from(starts), to(limits);
      (i == 0 ? to : from)[rhsContracted[0]] = cut;
      rows.push_back(builder.slice(dot.getRhs(), from, to));
      invariant.insert(rows.back());
      inputBytes[rows.back().getDefiningOp()] = bytesOf(rows.back());
      IRMapping operands;
      operands.map(dot.getLhs(), pieces->getOperand(i));
      operands.map(dot.getRhs(), rows.back());
      products.push_back(b.clone(*dot, operands)->getResult(0));
    }
    Value sum = builder.add(products[0], products[1]);
    if (joinProduct(cast<DotOp>(products[0].getDefiningOp()), 0, trips) ||
        joinProduct(cast<DotOp>(products[1].getDefiningOp()), 0, trips)) {
      dot.getResult().replaceAllUsesWith(sum);
      dot.erase();
      return;
    }
    sum.getDefiningOp()->erase();
    for (unsigned i = 0; i < 2; ++i) {
      products[i].getDefiningOp()->erase();
      invariant.erase(rows[i]);
      inputBytes.erase(rows[i].getDefiningOp());
      rows[i].getDefiningOp()->erase();
    }
  }

  /// Operand `side` of the dot as one slice of an invariant array, or null.
  DynamicSliceOp sliceOfInvariant(DotOp dot, unsigned side) {
    Value operand = dot->getOperand(side);
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    auto slice = (reshape ? reshape.getOperand() : operand).getDefiningOp<DynamicSliceOp>();
    bool other = invariant.contains(dot->getOperand(1 - side));
    return slice && other && !invariant.contains(operand) && invariant.contains(slice.getOperand())
               ? slice
               : nullptr;
  }

  /// Replaces the dot, whose operand `side` is a slice of an array, by a slice of the whole array's
  /// dot.
  bool joinProduct(DotOp dot, unsigned side, int64_t trips) {
    DynamicSliceOp slice = sliceOfInvariant(dot, side);
    if (!slice) {
      return false;
    }
    Value whole = slice.getOperand(), other = dot->getOperand(1 - side),
          operand = dot->getOperand(side);
    ArrayRef<int64_t> shape = shapeOf(whole), part = slice.getDynamicSliceSizes();
    // Exactly one dimension is sliced, to one index; a reshape drops it.
    SmallVector<int64_t> sliced, without(part);
    for (auto [dim, sizes] : llvm::enumerate(llvm::zip(shape, part))) {
      if (std::get<0>(sizes) != std::get<1>(sizes)) {
        sliced.push_back(dim);
      }
    }
    if (sliced.size() != 1 || part[sliced[0]] != 1 || 2 * trips < shape[sliced[0]]) {
      return false;
    }
    int64_t d = sliced[0];
    bool reshaped = operand != slice.getResult();
    without.erase(without.begin() + d);
    if (reshaped && shapeOf(operand) != ArrayRef<int64_t>(without)) {
      return false;
    }
    auto moved = [&](int64_t dim) { return reshaped && dim >= d ? dim + 1 : dim; };
    // Dimensions of the product: batch, free ones of the lhs, free ones of the rhs.
    auto list = [&](unsigned of, StringRef what) {
      auto dims =
          dot->getAttrOfType<DenseI64ArrayAttr>((of == 0 ? "lhs_" : "rhs_") + what.str() + "_dims");
      SmallVector<int64_t> result(dims ? dims.asArrayRef() : ArrayRef<int64_t>());
      for (int64_t &dim : result) {
        dim = of == side ? moved(dim) : dim;
      }
      return result;
    };
    auto batch = list(side, "batch"), contracted = list(side, "contracting");
    auto otherBatch = list(1 - side, "batch"), otherContracted = list(1 - side, "contracting");
    if (llvm::is_contained(batch, d) || llvm::is_contained(contracted, d)) {
      return false;
    }
    int64_t place = batch.size(), rows = 1;
    if (side == 1) {
      place += shapeOf(other).size() - otherBatch.size() - otherContracted.size();
    }
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
      bool isFree = !llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim);
      place += isFree && dim < d;
      rows *= isFree && dim != d ? shape[dim] : 1;
    }
    SmallVector<int64_t> product(shapeOf(dot.getResult()));
    if (reshaped) {
      product.insert(product.begin() + place, 1);
    }
    SmallVector<int64_t> one(product);
    product[place] = shape[d];
    Type element = elementTypeOf(dot.getResult());
    auto type = RankedTensorType::get(product, element);
    int64_t bytes = shape[d] * bytesOf(dot.getResult());
    bool slow = rows <= kFewRows ? bytesOf(other) >= memory.l1 / 2
                                 : rows <= kMostRows && weightBytes > memory.l2;
    if (!slow || bytes > kMostProductBytes ||
        bytes > kProductGrowth * (bytesOf(whole) + bytesOf(other))) {
      return false;
    }
    OpBuilder b(dot);
    IRMapping operands;
    operands.map(operand, whole);
    Operation *joinedDot = b.clone(*dot, operands);
    joinedDot->getResult(0).setType(type);
    StringRef prefix = side == 0 ? "lhs_" : "rhs_";
    joinedDot->setAttr((prefix + "contracting_dims").str(), b.getDenseI64ArrayAttr(contracted));
    if (!batch.empty()) {
      joinedDot->setAttr((prefix + "batch_dims").str(), b.getDenseI64ArrayAttr(batch));
    }
    invariant.insert(joinedDot->getResult(0));
    worthy.insert(joinedDot);
    joined.insert(joinedDot);
    HloBuilder builder(b, dot.getLoc());
    Value index = slice.getStartIndices()[d];
    SmallVector<Value> starts(product.size(), builder.scalar(elementTypeOf(index), 0));
    starts[place] = index;
    Value value =
        DynamicSliceOp::create(b, dot.getLoc(), RankedTensorType::get(one, element),
                               joinedDot->getResult(0), starts, b.getDenseI64ArrayAttr(one));
    dot.getResult().replaceAllUsesWith(builder.reshape(value, shapeOf(dot.getResult())));
    dot.erase();
    return true;
  }

  /// The invariant values that the remaining body uses.
  SmallVector<Value> chooseMoved() {
    SmallVector<Value> moved;
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (!worthy.contains(&op)) {
        continue;
      }
      for (OpResult result : op.getResults()) {
        bool leaves = llvm::any_of(result.getUses(), [&](OpOperand &use) {
          Operation *user = use.getOwner();
          return user->getNumResults() == 0 || !invariant.contains(user->getResult(0)) ||
                 !worthy.contains(user) || !fits(user);
        });
        if (leaves && (fits(&op) || joined.contains(&op))) {
          moved.push_back(result);
        }
      }
    }
    return moved;
  }

  bool fits(Operation *op) {
    if (sends(op)) {
      return true;
    }
    int64_t made = 0;
    for (Value result : op->getResults()) {
      made += bytesOf(result);
    }
    return made <= std::max(inputBytes.lookup(op), memory.l1 / kSmallShare);
  }

  void move(ArrayRef<Value> moved) {
    // The ops that compute the moved values, in order, for the outside of the loop.
    SetVector<Operation *> needed;
    SmallVector<Operation *> stack;
    for (Value value : moved) {
      stack.push_back(value.getDefiningOp());
    }
    while (!stack.empty()) {
      Operation *op = stack.pop_back_val();
      if (needed.insert(op)) {
        for (Value operand : op->getOperands()) {
          if (Operation *producer = operand.getDefiningOp()) {
            stack.push_back(producer);
          }
        }
      }
    }
    OpBuilder builder(loop);
    IRMapping outside;
    outside.map(body.getBody().getArguments(), loop->getOperands());
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (needed.contains(&op)) {
        builder.clone(op, outside);
      }
    }
    SmallVector<Value> starts(loop->getOperands());
    Operation *root = body.getReturn();
    for (Value value : moved) {
      starts.push_back(outside.lookup(value));
      Value carry = body.getBody().front().addArgument(value.getType(), value.getLoc());
      condition.getBody().front().addArgument(value.getType(), value.getLoc());
      value.replaceAllUsesWith(carry);
      root->insertOperands(root->getNumOperands(), carry);
    }
    // Collectives are not pure: no later pass erases them.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body.getBody().front()))) {
      if (needed.contains(&op) && op.use_empty()) {
        op.erase();
      }
    }
    for (ComputationOp computation : {condition, body}) {
      updateFunctionType(computation);
    }
    OperationState state(loop.getLoc(), loop->getName());
    state.attributes = loop->getAttrs();
    state.addOperands(starts);
    state.addTypes(ValueRange(starts).getTypes());
    Operation *wider = builder.create(state);
    loop->replaceAllUsesWith(wider->getResults().take_front(loop->getNumResults()));
    loop.erase();
  }

  WhileOp loop;
  ComputationOp condition, body;
  const ComputationGraph &graph;
  const Memory &memory;
  DenseSet<Value> invariant;
  /// Invariant ops that are expensive, or need an op that is.
  DenseSet<Operation *> worthy;
  /// Dots of whole arrays made from dots of slices: they move, whatever their size.
  DenseSet<Operation *> joined;
  /// Bytes of carries that invariant ops read, directly or through their operands.
  DenseMap<Operation *, int64_t> inputBytes;
  /// Bytes of the invariant arrays that dots of the body read in each iteration.
  int64_t weightBytes = 0;
};

class WhileLoopInvariantCodeMotionPass
    : public PassWrapper<WhileLoopInvariantCodeMotionPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WhileLoopInvariantCodeMotionPass)

  explicit WhileLoopInvariantCodeMotionPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const final { return "hlo-while-loop-invariant-code-motion"; }
  StringRef getDescription() const final { return "Move invariant ops in front of their loops"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<WhileOp>()) {
      return markAllAnalysesPreserved();
    }
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : graph->postOrder()) {
      SmallVector<WhileOp> loops(computation.getBody().getOps<WhileOp>());
      for (WhileOp loop : loops) {
        ComputationOp condition = graph->lookup(loop.getConditionAttr());
        ComputationOp body = graph->lookup(loop.getBodyAttr());
        if (graph->uses(condition) == 1 && graph->uses(body) == 1) {
          LoopMotion(loop, condition, body, *graph, machine).run();
        }
      }
    }
  }

private:
  Machine machine;
};

} // namespace

std::unique_ptr<Pass> hlo::createWhileLoopInvariantCodeMotionPass(const Machine &machine) {
  return std::make_unique<WhileLoopInvariantCodeMotionPass>(machine);
}
