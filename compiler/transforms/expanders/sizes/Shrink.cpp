//===- Shrink.cpp - Computing only elements that are read -----------------===//
//
// Two walks. The first goes backwards and finds for each value the leading positions that its
// readers need; a loop is walked until its carries need no more. The second goes forwards and gives
// each op its part:
//
//   before (64 rows, 8 of the result needed)     after
//   a = f32[64,10] dot(x, w)                     s = f32[8,20] slice(x)
//   b = f32[64,10] add(a, c)                     a = f32[8,10] dot(s, w)
//                                                b = f32[8,10] add(a, slice(c))
//
// An op without a rule computes everything, and its readers slice the result.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/transforms/expanders/sizes/Live.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

/// Walks of one loop, and of all loops together, after which carries that still need more are taken
/// whole.
static constexpr unsigned kMostWalks = 6, kMostWalksOfAll = 1000;

Part sizes::partOf(Operation *op, ArrayRef<Extents> needed, const Facts &facts) {
  Part part;
  for (Value result : op->getResults()) {
    part.results.push_back(wholeOf(result));
  }
  for (Value operand : op->getOperands()) {
    part.operands.push_back(wholeOf(operand));
  }
  auto isArray = [](Value value) { return bool(arrayType(value)); };
  if (op->getNumResults() == 0 || !llvm::all_of(op->getResults(), isArray)) {
    return part;
  }
  Rule rule{op, needed, facts, part};
  rule.move();
  rule.index();
  rule.compute();
  rule.window();
  return part;
}

/// Sets the result types to the part's shapes.
static void setTypes(Operation *op, ArrayRef<Extents> results) {
  for (auto [result, extents] : llvm::zip(op->getResults(), results)) {
    if (RankedTensorType type = arrayType(result)) {
      result.setType(RankedTensorType::get(extents, type.getElementType()));
    }
  }
}

void sizes::applyPart(Operation *op, const Part &part, const Facts &facts) {
  if (part.results.empty()) {
    return;
  }
  applyIndexPart(op, part);
  applyWindowPart(op, part, facts);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (value && value.isSplat() && value.getType().hasRank()) {
      auto type = RankedTensorType::get(part.results[0], value.getElementType());
      constant.setValueAttr(value.resizeSplat(type));
    }
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    SmallVector<int64_t> high;
    for (auto [dim, extent] : llvm::enumerate(part.results[0])) {
      int64_t count = (*part.operands[0])[dim];
      int64_t spread = count == 0 ? 0 : (count - 1) * (pad.getPaddingInterior()[dim] + 1) + 1;
      high.push_back(extent - spread - pad.getPaddingLow()[dim]);
    }
    pad.setPaddingHigh(high);
  } else if (isa<ConcatenateOp>(op)) {
    for (unsigned i = op->getNumOperands(); i-- > 0;) {
      if (!part.operands[i]) {
        op->eraseOperand(i);
      }
    }
  }
  setTypes(op, part.results);
  applyCallPart(op, part);
}

namespace {

class Shrinker {
public:
  explicit Shrinker(const Facts &facts) : facts(facts) {}
  void need(Value value, ArrayRef<int64_t> extents);
  void needResults(ComputationOp computation, ArrayRef<Extents> results);
  void walkBack(ComputationOp computation);
  void rewrite(ComputationOp computation, ArrayRef<Extents> results);
  /// What is needed of a value; at least one position of each dimension.
  Extents neededOf(Value value) const;

private:
  void walkLoop(WhileOp loop);
  void walkConditional(ConditionalOp op);
  void rewriteLoop(WhileOp loop);
  void rewriteConditional(ConditionalOp op);
  Value sliced(Value value, ArrayRef<int64_t> extents, Operation *before);
  ComputationOp branch(ConditionalOp op, size_t i) {
    return facts.lookup(cast<FlatSymbolRefAttr>(op.getBranchComputations()[i]));
  }

  const Facts &facts;
  DenseMap<Value, Extents> needed;
  DenseMap<Operation *, Part> parts;
  unsigned walksOfAll = 0;
};

} // namespace

void Shrinker::need(Value value, ArrayRef<int64_t> extents) {
  Extents &known = needed[value];
  if (known.empty()) {
    known.assign(extents.begin(), extents.end());
  }
  for (auto [mine, more] : llvm::zip(known, extents)) {
    mine = std::max(mine, more);
  }
}

Extents Shrinker::neededOf(Value value) const {
  Extents result = wholeOf(value);
  auto known = needed.find(value);
  for (auto [dim, extent] : llvm::enumerate(result)) {
    int64_t least = known == needed.end() ? 1 : std::max<int64_t>(1, known->second[dim]);
    extent = std::min(extent, least);
  }
  return result;
}

void Shrinker::needResults(ComputationOp computation, ArrayRef<Extents> results) {
  for (auto [value, extents] : llvm::zip(computation.getReturn()->getOperands(), results)) {
    need(value, extents);
  }
}

void Shrinker::walkBack(ComputationOp computation) {
  Block &block = computation.getBody().front();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isNeeded = llvm::any_of(op.getResults(), [&](Value v) { return needed.contains(v); });
    if (!isNeeded && isMemoryEffectFree(&op)) {
      continue;
    }
    if (auto loop = dyn_cast<WhileOp>(op)) {
      walkLoop(loop);
      continue;
    }
    if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      walkConditional(conditional);
      continue;
    }
    SmallVector<Extents> results =
        llvm::map_to_vector(op.getResults(), [&](Value v) { return neededOf(v); });
    Part part = partOf(&op, results, facts);
    for (auto [result, extents] : llvm::zip(op.getResults(), part.results)) {
      need(result, extents);
    }
    for (auto [operand, extents] : llvm::zip(op.getOperands(), part.operands)) {
      if (extents) {
        need(operand, *extents);
      }
    }
    parts[&op] = std::move(part);
  }
}

void Shrinker::walkLoop(WhileOp loop) {
  ComputationOp body = facts.lookup(loop.getBodyAttr());
  ComputationOp condition = facts.lookup(loop.getConditionAttr());
  SmallVector<Extents> carries =
      llvm::map_to_vector(loop->getResults(), [&](Value v) { return neededOf(v); });
  for (unsigned walk = 0;; ++walk) {
    needResults(body, carries);
    walkBack(body);
    need(condition.getReturn()->getOperand(0), {});
    walkBack(condition);
    bool grown = false;
    for (auto [i, extents] : llvm::enumerate(carries)) {
      for (ComputationOp reader : {body, condition}) {
        Extents read = neededOf(reader.getBody().getArgument(i));
        for (auto [mine, more] : llvm::zip(extents, read)) {
          grown |= more > mine;
          mine = std::max(mine, more);
        }
      }
    }
    if (!grown) {
      break;
    }
    if (walk >= kMostWalks || ++walksOfAll >= kMostWalksOfAll) {
      carries = llvm::map_to_vector(loop->getResults(), [](Value v) { return wholeOf(v); });
    }
  }
  for (auto [i, extents] : llvm::enumerate(carries)) {
    need(loop->getResult(i), extents);
    need(loop->getOperand(i), extents);
    need(body.getBody().getArgument(i), extents);
    need(condition.getBody().getArgument(i), extents);
  }
}

void Shrinker::walkConditional(ConditionalOp op) {
  SmallVector<Extents> results =
      llvm::map_to_vector(op->getResults(), [&](Value v) { return neededOf(v); });
  for (auto [result, extents] : llvm::zip(op->getResults(), results)) {
    need(result, extents);
  }
  need(op.getSelector(), wholeOf(op.getSelector()));
  unsigned next = 1;
  for (size_t i = 0; i < op.getBranchComputations().size(); ++i) {
    ComputationOp computation = branch(op, i);
    needResults(computation, results);
    walkBack(computation);
    for (BlockArgument argument : computation.getBody().getArguments()) {
      Extents extents = neededOf(argument);
      need(argument, extents);
      need(op->getOperand(next++), extents);
    }
  }
}

Value Shrinker::sliced(Value value, ArrayRef<int64_t> extents, Operation *before) {
  RankedTensorType type = arrayType(value);
  if (!type || type.getShape() == extents) {
    return value;
  }
  OpBuilder builder(before);
  HloBuilder b(builder, before->getLoc());
  return b.slice(value, SmallVector<int64_t>(extents.size(), 0), extents);
}

void Shrinker::rewriteLoop(WhileOp loop) {
  SmallVector<Extents> carries =
      llvm::map_to_vector(loop->getResults(), [&](Value v) { return neededOf(v); });
  for (auto [i, extents] : llvm::enumerate(carries)) {
    loop->setOperand(i, sliced(loop->getOperand(i), extents, loop));
  }
  ComputationOp condition = facts.lookup(loop.getConditionAttr());
  for (ComputationOp callee : {facts.lookup(loop.getBodyAttr()), condition}) {
    for (auto [argument, extents] : llvm::zip(callee.getBody().getArguments(), carries)) {
      if (RankedTensorType type = arrayType(argument)) {
        argument.setType(RankedTensorType::get(extents, type.getElementType()));
      }
    }
    rewrite(callee, callee == condition ? ArrayRef<Extents>(Extents()) : ArrayRef(carries));
  }
  setTypes(loop, carries);
}

void Shrinker::rewriteConditional(ConditionalOp op) {
  SmallVector<Extents> results =
      llvm::map_to_vector(op->getResults(), [&](Value v) { return neededOf(v); });
  unsigned next = 1;
  for (size_t i = 0; i < op.getBranchComputations().size(); ++i) {
    ComputationOp computation = branch(op, i);
    for (BlockArgument argument : computation.getBody().getArguments()) {
      Extents extents = neededOf(argument);
      op->setOperand(next, sliced(op->getOperand(next), extents, op));
      argument.setType(op->getOperand(next++).getType());
    }
    rewrite(computation, results);
  }
  setTypes(op, results);
}

void Shrinker::rewrite(ComputationOp computation, ArrayRef<Extents> results) {
  Block &block = computation.getBody().front();
  // What is not read is not rewritten, so it goes: its operands have other types.
  auto eraseUnread = [&] {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (&op != block.getTerminator() && op.use_empty() && isMemoryEffectFree(&op)) {
        op.erase();
      }
    }
  };
  eraseUnread();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (auto loop = dyn_cast<WhileOp>(op)) {
      rewriteLoop(loop);
      continue;
    }
    if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      rewriteConditional(conditional);
      continue;
    }
    auto known = parts.find(&op);
    if (known == parts.end()) {
      continue; // its reader will no longer read it
    }
    const Part &part = known->second;
    for (auto [i, extents] : llvm::enumerate(part.operands)) {
      if (extents) {
        op.setOperand(i, sliced(op.getOperand(i), *extents, &op));
      }
    }
    if (part.replacedBy) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(*part.replacedBy));
      op.erase();
      continue;
    }
    applyPart(&op, part, facts);
  }
  Operation *root = computation.getReturn();
  for (auto [i, extents] : llvm::enumerate(results)) {
    root->setOperand(i, sliced(root->getOperand(i), extents, root));
  }
  eraseUnread();
  updateFunctionType(computation);
}

/// True if the leading part of an array of the shape is one run of bytes at its start.
bool sizes::isContiguous(ArrayRef<int64_t> shape, ArrayRef<int64_t> extents) {
  size_t slowest = 0;
  while (slowest < shape.size() && shape[slowest] == 1) {
    ++slowest;
  }
  return slowest >= shape.size() ||
         shape.drop_front(slowest + 1) == extents.drop_front(slowest + 1);
}

/// The leading part of a parameter: in its buffer, if it is contiguous there.
static Value leadingPart(HloBuilder &b, Value argument, ArrayRef<int64_t> extents) {
  if (isContiguous(shapeOf(argument), extents)) {
    return ResizeOp::create(b.b, b.loc, HloBuilder::array(extents, elementTypeOf(argument)),
                            argument);
  }
  return b.slice(argument, SmallVector<int64_t>(extents.size(), 0), extents);
}

void sizes::shrink(ComputationOp computation, ArrayRef<Extents> results, const Facts &facts) {
  Shrinker shrinker(facts);
  shrinker.needResults(computation, results);
  shrinker.walkBack(computation);
  Operation *first = &computation.getBody().front().front();
  OpBuilder builder(first);
  HloBuilder b(builder, computation.getLoc());
  for (BlockArgument argument : computation.getBody().getArguments()) {
    Extents extents = shrinker.neededOf(argument);
    if (arrayType(argument) && !argument.use_empty() && shapeOf(argument) != ArrayRef(extents)) {
      Value part = leadingPart(b, argument, extents);
      argument.replaceUsesWithIf(
          part, [&](OpOperand &use) { return use.getOwner() != part.getDefiningOp(); });
    }
  }
  shrinker.rewrite(computation, results);
}
