//===- FlattenCalls.cpp - Calls, fusions and async wrappers inlined -------===//
//
// Before: `hlo.call`, parsed `hlo.fusion` (calls=), asynchronous pairs with wrapped computations or
// opcodes of their own, custom calls that only annotate. After: none of these, and each loop and
// branch has computations that no other op refers to, so that later passes can change signatures.
//
// Computations are visited callees first, so a callee is flat when it is copied: each call costs
// its callee's size, whatever the depth. A computation with a single call is copied before it is
// flat, and the copy is visited in the caller: along a chain of calls each op is copied once. No
// call takes the ops themselves, because copies lie one after the other in memory, so that every
// later walk over a caller of thousands of computations is fast (100,000 instructions in
// computations that each call the one before: 0.94 s, with moved ops 1.19 s).
//
// An asynchronous start becomes the tuple of its type (operands, result, context), computed at
// once, and its done an element of the tuple. So a state that passes through loops and tuples needs
// no tracking. One form stays asynchronous, in modules of several ranks: a collective whose state
// goes straight to its done, in the same computation.
//
//   s = all-reduce-start(x)     %r = hlo.all_reduce %x {hlo.async}
//   d = all-reduce-done(s)      %d = hlo.collective_done %r, %x
//
// Attributes that do not affect the result (metadata, shardings, statistics, ...) are dropped here,
// because they would keep equal ops from merging.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace hlo;

namespace {

/// True if a custom call with this name returns its operand unchanged.
bool isAnnotation(StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}, true)
      .Cases({"annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint"}, true)
      .Cases({"xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape",
              "xla.sdy.LocalToGlobalShape", "xla.sdy.PropagationBarrier"},
             true)
      .Default(false);
}

class FlattenCallsPass : public PassWrapper<FlattenCallsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FlattenCallsPass)
  StringRef getArgument() const final { return "hlo-flatten-calls"; }
  StringRef getDescription() const final {
    return "Inline calls, fusions and asynchronous wrappers";
  }

  void runOnOperation() final {
    const FailureOr<ComputationGraph> &built = getAnalysis<ModuleCalls>().graph;
    if (failed(built)) {
      return signalPassFailure();
    }
    graph = &*built;
    auto count = [&](StringRef name) -> int64_t {
      auto attr = getOperation()->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getInt() : 1;
    };
    manyRanks = count("hlo.replica_count") > 1 || count("hlo.num_partitions") > 1;
    for (ComputationOp computation : graph->postOrder()) {
      remaining[computation] = graph->uses(computation);
    }
    for (ComputationOp computation : graph->postOrder()) {
      for (Operation &op : computation.getBody().front()) {
        ComputationOp callee = calleeOf(&op);
        if (callee && graph->uses(callee) == 1) {
          calledOnce.insert(callee);
        }
      }
    }
    for (ComputationOp computation : graph->postOrder()) {
      if (!calledOnce.contains(computation) && failed(flatten(computation))) {
        return signalPassFailure();
      }
    }
    for (ComputationOp computation :
         llvm::make_early_inc_range(getOperation().getOps<ComputationOp>())) {
      if (computation != graph->entry() && remaining.lookup(computation) == 0) {
        computation.erase();
      }
    }
    separateBodies();
    remaining.clear();
    calledOnce.clear();
    begun.clear();
  }

private:
  LogicalResult flatten(ComputationOp computation);
  LogicalResult flattenOp(Operation *op);
  /// The callee of a call or a parsed fusion; null for other ops.
  ComputationOp calleeOf(Operation *op);
  SmallVector<Value> inlineAt(OpBuilder &builder, ComputationOp callee, ValueRange operands,
                              Location loc);
  void begin(Operation *collective, Operation *start);
  Value finish(HloBuilder &b, Operation *collective);
  FailureOr<Value> startAsync(OpBuilder &builder, Operation *op, FlatSymbolRefAttr calls,
                              ValueRange operands);
  LogicalResult flattenAsync(Operation *op);
  LogicalResult flattenCollectivePair(Operation *op);
  LogicalResult flattenCustomCall(CustomCallOp op);
  void stripAttributes(Operation *op);
  void separateBodies();

  const ComputationGraph *graph = nullptr;
  bool manyRanks = false;
  /// The collectives that stay asynchronous, by the ops that finish them.
  DenseMap<Operation *, Operation *> begun;
  /// Number of ops that still refer to a computation; without any it is erased.
  DenseMap<Operation *, int64_t> remaining;
  /// Computations referred to by one call and nothing else; they are not flat when they are
  /// inlined.
  DenseSet<Operation *> calledOnce;
};

/// `value` as `type`, which differs at most in layouts.
Value castLayout(HloBuilder &b, Value value, Type type) {
  return value.getType() == type ? value : b.copy(value, type);
}

/// Whether the types differ at most in layouts.
bool haveSameShape(Type a, Type b) {
  auto tupleA = dyn_cast<TupleType>(a), tupleB = dyn_cast<TupleType>(b);
  if (tupleA && tupleB) {
    return llvm::equal(tupleA.getTypes(), tupleB.getTypes(), haveSameShape);
  }
  auto arrayA = dyn_cast<RankedTensorType>(a), arrayB = dyn_cast<RankedTensorType>(b);
  if (arrayA && arrayB) {
    return arrayA.getShape() == arrayB.getShape() &&
           arrayA.getElementType() == arrayB.getElementType();
  }
  return a == b;
}

Value elementOf(HloBuilder &b, Value tuple, int64_t index) {
  Type type = cast<TupleType>(tuple.getType()).getType(index);
  return GetTupleElementOp::create(b.b, b.loc, TypeRange(type), tuple, b.b.getI64IntegerAttr(index))
      .getResult(0);
}

Value makeTuple(HloBuilder &b, Type type, ValueRange elements) {
  return TupleOp::create(b.b, b.loc, TypeRange(type), elements).getResult(0);
}

/// Zeros, as a value of any type that is never used.
Value makePlaceholder(HloBuilder &b, Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    SmallVector<Value> elements;
    for (Type element : tuple.getTypes()) {
      elements.push_back(makePlaceholder(b, element));
    }
    return makeTuple(b, type, elements);
  }
  if (auto array = dyn_cast<RankedTensorType>(type)) {
    RankedTensorType plain = RankedTensorType::get(array.getShape(), array.getElementType());
    return castLayout(b, b.constant(HloBuilder::splatAttr(plain, 0)), type);
  }
  return AfterAllOp::create(b.b, b.loc, TypeRange(TokenType::get(b.b.getContext())), ValueRange())
      .getResult(0);
}

} // namespace

/// Keeps the op's own attributes; of the others only those that runtime ops pass on, and what the
/// phase partition reads (transforms/spmd/Annotation.h).
void FlattenCallsPass::stripAttributes(Operation *op) {
  bool runtime = isRuntimeOp(op) && !isCollectiveOp(op);
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info) {
    return;
  }
  // The types are there if phase partition has normalized the op.
  constexpr StringLiteral passedOn[] = {"hlo.backend_config", "hlo.frontend_attributes",
                                        "operand_types",      "result_types",
                                        "operand_leaves",     "result_leaves"};
  ArrayRef<StringAttr> own = info->getAttributeNames();
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName().getValue();
    if (llvm::is_contained(own, attr.getName()) || name == "predicated" ||
        name == "hlo.predicated" || name == "hlo.spmd" || name == kAsyncAttr ||
        (runtime && llvm::is_contained(passedOn, name))) {
      kept.push_back(attr);
    }
  }
  if (kept.size() != op->getAttrs().size()) {
    op->setAttrs(kept);
  }
}

LogicalResult FlattenCallsPass::flatten(ComputationOp computation) {
  LogicalResult result = success();
  Block &block = computation.getBody().front();
  for (Operation *op = &block.front(), *next = nullptr; op; op = next) {
    next = op->getNextNode();
    Operation *before = op->getPrevNode();
    bool visitsCallee = calledOnce.contains(calleeOf(op));
    stripAttributes(op);
    if (failed(flattenOp(op))) {
      result = failure();
    } else if (visitsCallee) {
      next = before ? before->getNextNode() : &block.front();
    }
  }
  return result;
}

ComputationOp FlattenCallsPass::calleeOf(Operation *op) {
  FlatSymbolRefAttr callee;
  if (auto call = dyn_cast<CallOp>(op)) {
    callee = call.getToApplyAttr();
  } else if (auto fusion = dyn_cast<FusionOp>(op)) {
    callee = fusion.getCallsAttr();
  }
  return callee ? graph->lookup(callee) : ComputationOp();
}

LogicalResult FlattenCallsPass::flattenOp(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  if (ComputationOp callee = calleeOf(op)) {
    SmallVector<Value> results = inlineAt(builder, callee, op->getOperands(), op->getLoc());
    if (results.size() != op->getNumResults()) {
      return op->emitError() << "computation has " << results.size() << " results, the op has "
                             << op->getNumResults();
    }
    for (auto [result, value] : llvm::zip(op->getResults(), results)) {
      result.replaceAllUsesWith(castLayout(b, value, result.getType()));
    }
    op->erase();
    return success();
  }
  if (isa<AsyncStartOp, AsyncUpdateOp, AsyncDoneOp>(op)) {
    return flattenAsync(op);
  }
  if (isa<AllReduceStartOp, AllReduceDoneOp, AllGatherStartOp, AllGatherDoneOp,
          CollectivePermuteStartOp, CollectivePermuteDoneOp, CopyStartOp, CopyDoneOp>(op)) {
    return flattenCollectivePair(op);
  }
  if (auto custom = dyn_cast<CustomCallOp>(op)) {
    return flattenCustomCall(custom);
  }
  if (isa<OptBarrierOp, DomainOp>(op)) {
    for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands())) {
      result.replaceAllUsesWith(castLayout(b, operand, result.getType()));
    }
    op->erase();
  }
  return success();
}

/// Copies the ops of `callee` to the builder's position and returns its results.
SmallVector<Value> FlattenCallsPass::inlineAt(OpBuilder &builder, ComputationOp callee,
                                              ValueRange operands, Location loc) {
  HloBuilder b(builder, loc);
  Block &body = callee.getBody().front();
  SmallVector<Value> arguments;
  for (auto [operand, parameter] : llvm::zip(operands, body.getArguments())) {
    arguments.push_back(castLayout(b, operand, parameter.getType()));
  }
  // The references of the last copy take the place of the callee's own.
  bool isLast = --remaining[callee] == 0;
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    builder.clone(op, mapping);
    if (!isLast) {
      forEachCallee(&op, [&](FlatSymbolRefAttr name) { ++remaining[graph->lookup(name)]; });
    }
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// The op that finishes a start; null if the state goes elsewhere too.
static Operation *doneOf(Operation *start) {
  for (Value state = start->getResult(0); state.hasOneUse();) {
    Operation *user = *state.user_begin();
    if (isa<AsyncDoneOp, AllReduceDoneOp, AllGatherDoneOp, CollectivePermuteDoneOp>(user)) {
      return user;
    }
    if (!isa<AsyncUpdateOp>(user) || user->getNumOperands() != 1) {
      return nullptr;
    }
    state = user->getResult(0);
  }
  return nullptr;
}

/// Whether all arrays of a value have static sizes.
static bool isStatic(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    return llvm::all_of(tuple.getTypes(), isStatic);
  }
  auto array = dyn_cast<RankedTensorType>(type);
  return array && llvm::none_of(llvm::seq(array.getRank()),
                                [&](int64_t dim) { return isBounded(array, dim); });
}

/// Whether the runtime can execute the op in two steps.
static bool canBegin(Operation *op) {
  if (auto permute = dyn_cast<CollectivePermuteOp>(op); permute && permute.getSliceSizes()) {
    return false;
  }
  if (auto broadcast = dyn_cast<CollectiveBroadcastOp>(op)) {
    if (broadcast.getHasDynamicRoot().value_or(false)) {
      return false;
    }
  }
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectiveBroadcastOp,
             CollectivePermuteOp>(op) &&
         llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

/// Marks the collective that replaces `start` if it can be finished where the start's done is.
void FlattenCallsPass::begin(Operation *collective, Operation *start) {
  Operation *done = manyRanks && canBegin(collective) ? doneOf(start) : nullptr;
  if (done) {
    collective->setAttr(kAsyncAttr, UnitAttr::get(collective->getContext()));
    begun[done] = collective;
  }
}

/// The result of a collective that was begun, once it is finished.
Value FlattenCallsPass::finish(HloBuilder &b, Operation *collective) {
  SmallVector<Value> operands(collective->getResults());
  llvm::append_range(operands, collective->getOperands());
  return CollectiveDoneOp::create(b.b, b.loc, collective->getResultTypes(), operands)->getResult(0);
}

/// The state of an asynchronous op: (operands, result, context...). If there are fewer operands
/// than the computation takes, the result is a placeholder until an update supplies it. A state
/// whose result type is (), because it is bound later, holds the result from the start.
FailureOr<Value> FlattenCallsPass::startAsync(OpBuilder &builder, Operation *op,
                                              FlatSymbolRefAttr calls, ValueRange operands) {
  HloBuilder b(builder, op->getLoc());
  auto state = dyn_cast<TupleType>(op->getResult(0).getType());
  if (!state || state.size() < 2 || !isa<TupleType>(state.getType(0))) {
    return op->emitError("asynchronous state is not a tuple ((operands), result, ...)");
  }
  ComputationOp callee = graph->lookup(calls);
  SmallVector<Value> elements{
      makeTuple(b, TupleType::get(op->getContext(), operands.getTypes()), operands)};
  if (callee.getBody().getNumArguments() == operands.size()) {
    // Whether the computation is one op and its result.
    Block &body = callee.getBody().front();
    bool isWrapper = isa<AsyncStartOp>(op) && llvm::hasSingleElement(body.without_terminator()) &&
                     body.getTerminator()->getOperand(0).getDefiningOp() == &body.front();
    Value result = inlineAt(builder, callee, operands, op->getLoc()).front();
    if (Operation *wrapped = result.getDefiningOp(); wrapped && isWrapper) {
      begin(wrapped, op);
    }
    bool bound = haveSameShape(result.getType(), state.getType(1));
    elements.push_back(bound ? castLayout(b, result, state.getType(1)) : result);
  } else {
    elements.push_back(makePlaceholder(b, callee.getResultTypes().front()));
  }
  for (Type context : state.getTypes().drop_front(2)) {
    elements.push_back(makePlaceholder(b, context));
  }
  return makeTuple(b, TupleType::get(op->getContext(), ValueRange(elements).getTypes()), elements);
}

LogicalResult FlattenCallsPass::flattenAsync(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  if (auto start = dyn_cast<AsyncStartOp>(op)) {
    FailureOr<Value> state = startAsync(builder, op, start.getCallsAttr(), op->getOperands());
    if (failed(state)) {
      return failure();
    }
    op->getResult(0).replaceAllUsesWith(*state);
    // Updates and dones that are bound late find the computation in this attribute.
    state->getDefiningOp()->setAttr("calls", start.getCallsAttr());
    op->erase();
    return success();
  }
  if (Operation *collective = begun.lookup(op)) {
    begun.erase(op);
    op->getResult(0).replaceAllUsesWith(
        castLayout(b, finish(b, collective), op->getResult(0).getType()));
    op->erase();
    return success();
  }
  Value state = op->getOperand(0);
  auto type = dyn_cast<TupleType>(state.getType());
  if (!type || type.size() < 2) {
    return op->emitError("operand is not an asynchronous state");
  }
  if (isa<AsyncDoneOp>(op)) {
    op->getResult(0).replaceAllUsesWith(
        castLayout(b, elementOf(b, state, 1), op->getResult(0).getType()));
    op->erase();
    return success();
  }
  if (op->getNumOperands() == 1) {
    op->getResult(0).replaceAllUsesWith(state);
    op->erase();
    return success();
  }
  auto calls = op->getAttrOfType<FlatSymbolRefAttr>("calls");
  if (!calls && state.getDefiningOp()) {
    calls = state.getDefiningOp()->getAttrOfType<FlatSymbolRefAttr>("calls");
  }
  if (!calls) {
    return op->emitError("async-update with further operands needs calls=");
  }
  SmallVector<Value> operands;
  Value bound = elementOf(b, state, 0);
  for (size_t i = 0, e = cast<TupleType>(bound.getType()).size(); i < e; ++i) {
    operands.push_back(elementOf(b, bound, i));
  }
  llvm::append_range(operands, op->getOperands().drop_front());
  FailureOr<Value> updated = startAsync(builder, op, calls, operands);
  if (failed(updated)) {
    return failure();
  }
  updated->getDefiningOp()->setAttr("calls", calls);
  op->getResult(0).replaceAllUsesWith(*updated);
  op->erase();
  return success();
}

/// Replaces all-reduce-start, copy-start and the like by the op itself, at the start.
LogicalResult FlattenCallsPass::flattenCollectivePair(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  Value result = op->getResult(0);
  auto replace = [&](Value value) {
    result.replaceAllUsesWith(castLayout(b, value, result.getType()));
    op->erase();
    return success();
  };
  if (Operation *collective = begun.lookup(op)) {
    begun.erase(op);
    return replace(finish(b, collective));
  }
  if (isa<AllReduceDoneOp>(op)) {
    return replace(op->getOperand(0));
  }
  if (isa<AllGatherDoneOp, CollectivePermuteDoneOp, CopyDoneOp>(op)) {
    auto state = dyn_cast<TupleType>(op->getOperand(0).getType());
    if (!state || state.size() < 2) {
      return op->emitError("operand is not an asynchronous state");
    }
    return replace(elementOf(b, op->getOperand(0), isa<CopyDoneOp>(op) ? 0 : 1));
  }
  if (isa<AllReduceStartOp>(op)) {
    auto reduce = AllReduceOp::create(builder, op->getLoc(), op->getResultTypes(),
                                      op->getOperands(), op->getAttrs());
    begin(reduce, op);
    return replace(reduce.getResult(0));
  }
  auto state = dyn_cast<TupleType>(result.getType());
  if (!state || state.size() < 2) {
    return op->emitError("result is not an asynchronous state");
  }
  SmallVector<Value> elements;
  if (isa<CopyStartOp>(op)) {
    elements.push_back(b.copy(op->getOperand(0), state.getType(0)));
    elements.push_back(castLayout(b, op->getOperand(0), state.getType(1)));
  } else {
    auto sources = dyn_cast<TupleType>(state.getType(0));
    if (sources && op->getNumOperands() >= sources.size()) {
      elements.push_back(makeTuple(b, sources, op->getOperands().take_front(sources.size())));
    } else {
      elements.push_back(castLayout(b, op->getOperand(0), state.getType(0)));
    }
    Operation *done;
    if (isa<AllGatherStartOp>(op)) {
      done = AllGatherOp::create(builder, op->getLoc(), TypeRange(state.getType(1)),
                                 op->getOperands(), op->getAttrs());
    } else {
      done = CollectivePermuteOp::create(builder, op->getLoc(), TypeRange(state.getType(1)),
                                         op->getOperands(), op->getAttrs());
    }
    begin(done, op);
    elements.push_back(done->getResult(0));
  }
  for (Type context : state.getTypes().drop_front(2)) {
    elements.push_back(makePlaceholder(b, context));
  }
  return replace(makeTuple(b, state, elements));
}

LogicalResult FlattenCallsPass::flattenCustomCall(CustomCallOp op) {
  StringRef target = op.getCustomCallTarget();
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  if (isAnnotation(target) && op.getNumOperands() == 1 && op->getNumResults() == 1) {
    auto from = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
    auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (from && to && from.getShape() != to.getShape()) {
      return op.emitError() << "custom call " << target
                            << " between different shapes: modules that still need partitioning "
                               "are not supported yet";
    }
    op->getResult(0).replaceAllUsesWith(
        castLayout(b, op.getOperand(0), op->getResult(0).getType()));
    op.erase();
    return success();
  }
  if (target == "TopK" && op.getNumOperands() == 1 && op->getNumResults() == 1) {
    auto tuple = dyn_cast<TupleType>(op->getResult(0).getType());
    auto values = tuple && tuple.size() == 2 ? dyn_cast<RankedTensorType>(tuple.getType(0))
                                             : RankedTensorType();
    if (!values || values.getRank() == 0) {
      return op.emitError("custom call TopK: result is not (values, indices)");
    }
    auto topk = TopkOp::create(builder, op.getLoc(), op->getResultTypes(), op.getOperand(0),
                               builder.getI64IntegerAttr(values.getShape().back()),
                               builder.getBoolAttr(true), builder.getBoolAttr(true));
    op->getResult(0).replaceAllUsesWith(topk->getResult(0));
    op.erase();
  }
  return success();
}

/// Copies computations of loops and branches that several ops refer to.
void FlattenCallsPass::separateBodies() {
  SymbolTable symbols(getOperation());
  DenseSet<Operation *> claimed;
  SmallVector<ComputationOp> worklist{graph->entry()};
  while (!worklist.empty()) {
    ComputationOp computation = worklist.pop_back_val();
    for (Operation &op : computation.getBody().front()) {
      op.removeAttr("calls");
      if (!isa<WhileOp, ConditionalOp>(op)) {
        continue;
      }
      renameCallees(&op, [&](FlatSymbolRefAttr name) -> FlatSymbolRefAttr {
        auto callee = symbols.lookup<ComputationOp>(name.getAttr());
        if (!claimed.insert(callee).second) {
          callee = callee.clone();
          symbols.insert(callee, Block::iterator(computation));
          claimed.insert(callee);
        }
        worklist.push_back(callee);
        return FlatSymbolRefAttr::get(callee.getSymNameAttr());
      });
    }
  }
}

std::unique_ptr<Pass> hlo::createFlattenCallsPass() { return std::make_unique<FlattenCallsPass>(); }
