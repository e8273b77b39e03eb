//===- BuildPlan.cpp - Top-level computations written out as steps --------===//
//
// In: a fused module. Out: a Plan whose values have live ranges and no buffers yet.
//
// A computation is written out at each use, so a body shared by two loops is planned for each. Some
// values need no place of their own and are identified with others: bitcasts, the parameters of
// branches, carries that a body returns unchanged, a conditional's result on which all branches
// agree.
//
// Loops and conditionals are in BuildControlFlow.cpp.
//
//   while (init)         moves init -> carry; loop { condition; test; body; moves next -> carry }
//   while, doubled       body, if the trip count is odd; moves; loop { body; body; moves }
//     of unknown count   moves; loop { condition; test; body; condition; branch { body } {};
//                        moves }
//   conditional          branch { ...; moves result of the branch -> result }  for each
//   in_place (r, o)      moves o -> r; launch that has r as operand and as result
//   runtime op           as in_place, with the scratch memory as one more result
//   collective-done      launch that reads results, operands and scratch memory of its start
//   copy                 moves
//   resize               moves to a longer array; the same place for a shorter one
//   rng-get-and-update-state   state
//   return (entry)       moves value -> output
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/support/Checked.h"
#include "compiler/transforms/schedule/PlanBuilder.h"
#include "compiler/transforms/schedule/RuntimeOps.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

std::optional<int64_t> schedule::bytesOf(Type type) {
  if (isa<TokenType>(type)) {
    return 0;
  }
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array || !array.hasStaticShape()) {
    return std::nullopt;
  }
  return checkedProduct(array.getShape(), elementBytes(array.getElementType()));
}

/// Complex numbers are aligned as their parts are.
static int64_t elementAlign(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array) {
    return 1;
  }
  auto complex = dyn_cast<ComplexType>(array.getElementType());
  return std::max<int64_t>(
      1, elementBytes(complex ? complex.getElementType() : array.getElementType()));
}

bool InvariantCarries::contains(WhileOp loop, unsigned index) {
  struct Frame {
    WhileOp loop;
    unsigned index;
    Value value; ///< what the next iteration's carry is, as far as it was followed
  };
  SmallVector<Frame> path; // from a loop to one inside it
  auto open = [&](WhileOp loop, unsigned index) {
    path.push_back({loop, index, graph.lookup(loop.getBodyAttr()).getReturn()->getOperand(index)});
  };
  if (!known.contains({loop, index})) {
    open(loop, index);
  }
  while (!path.empty()) {
    Frame &frame = path.back();
    Operation *op = frame.value.getDefiningOp();
    auto inner = dyn_cast_if_present<WhileOp>(op);
    std::optional<bool> answer;
    if (inner) {
      unsigned number = cast<OpResult>(frame.value).getResultNumber();
      auto it = known.find({inner, number});
      if (it == known.end()) {
        open(inner, number);
        continue;
      }
      frame.value = inner->getOperand(number);
      answer = it->second ? std::nullopt : std::optional(false);
    } else if (isa_and_present<BitcastOp>(op)) {
      frame.value = op->getOperand(0);
    } else {
      answer = !op && cast<BlockArgument>(frame.value).getArgNumber() == frame.index;
    }
    if (answer) {
      known[{frame.loop, frame.index}] = *answer;
      path.pop_back();
    }
  }
  return known.at({loop, index});
}

FailureOr<ValueId> PlanBuilder::addValue(Value value) {
  std::optional<int64_t> bytes = bytesOf(value.getType());
  if (!bytes) {
    return emitError(value.getLoc(), "the size of ")
           << hloText(value.getType()) << " is not known or exceeds 2^63 bytes";
  }
  plan.values.push_back(
      {.bytes = *bytes, .align = elementAlign(value.getType()), .location = value.getLoc()});
  return plan.values.size() - 1;
}

FailureOr<ValueId> PlanBuilder::constantValue(ConstantOp op) {
  auto literal = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!literal) {
    return op.emitOpError("the literal's elements are not given");
  }
  auto [it, isNew] = constants.try_emplace(literal, none);
  if (isNew) {
    FailureOr<ValueId> value = addValue(op.getResult());
    if (failed(value)) {
      return failure();
    }
    plan.values[*value].home = Home::Constant;
    plan.values[*value].constant = literal;
    plan.values[*value].scopes.push_back({0, 0});
    it->second = *value;
  }
  return it->second;
}

SequenceId PlanBuilder::openSequence(Sequence::Kind kind, SequenceId parent) {
  SequenceId id = plan.sequences.size();
  Sequence sequence{.kind = kind, .parent = parent, .begin = 2 * nextPosition};
  if (parent != none) {
    bool inLoop = kind == Sequence::Condition || kind == Sequence::Body;
    sequence.loopDepth = plan.sequences[parent].loopDepth + inLoop;
  }
  plan.sequences.push_back(std::move(sequence));
  return id;
}

Step &PlanBuilder::addStep(SequenceId sequence, StepKind kind, Operation *op) {
  std::vector<Step> &steps = plan.sequences[sequence].steps;
  steps.push_back({kind, op, nextPosition++});
  return steps.back();
}

void PlanBuilder::addMoves(SequenceId sequence, Operation *op, ArrayRef<Move> moves) {
  if (moves.empty()) {
    return;
  }
  Step &step = addStep(sequence, StepKind::Moves, op);
  for (Move move : moves) {
    step.moves.push_back(move);
    liveness.addUse(move.source, sequence, 2 * step.position + 1);
  }
}

FailureOr<SmallVector<AliasPair>> PlanBuilder::readPairs(Operation *op, StringRef name) {
  SmallVector<AliasPair> pairs;
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attr) {
    return pairs;
  }
  if (attr.size() % 2) {
    return op->emitOpError() << name << " has " << attr.size() << " numbers, not pairs";
  }
  for (size_t i = 0; i < size_t(attr.size()); i += 2) {
    int64_t result = attr[i], operand = attr[i + 1];
    if (result < 0 || result >= op->getNumResults() || operand < 0 ||
        operand >= op->getNumOperands()) {
      return op->emitOpError() << name << " pairs result " << result << " with operand " << operand
                               << "; there are " << op->getNumResults() << " and "
                               << op->getNumOperands();
    }
    if (bytesOf(op->getResult(result).getType()) == bytesOf(op->getOperand(operand).getType())) {
      pairs.push_back({unsigned(result), unsigned(operand)});
    } else if (name == "in_place") {
      return op->emitOpError() << "in_place pairs types of different sizes: "
                               << op->getResult(result).getType() << " and "
                               << op->getOperand(operand).getType();
    }
  }
  return pairs;
}

LogicalResult PlanBuilder::writeLaunch(Operation *op, Environment &environment,
                                       SequenceId sequence) {
  FailureOr<SmallVector<AliasPair>> inPlace = readPairs(op, "in_place");
  FailureOr<SmallVector<AliasPair>> mayAlias = readPairs(op, "may_alias");
  if (failed(inPlace) || failed(mayAlias)) {
    return failure();
  }
  SmallVector<ValueId> operands = lookUp(op->getOperands(), environment);
  SmallVector<ValueId> results;
  for (Value result : op->getResults()) {
    FailureOr<ValueId> value = addValue(result);
    if (failed(value)) {
      return failure();
    }
    results.push_back(*value);
    environment[result] = *value;
  }
  if (int64_t scratch = isRuntimeOp(op) ? runtimeScratchBytes(op) : 0) {
    plan.values.push_back({.bytes = scratch, .location = op->getLoc()});
    results.push_back(plan.values.size() - 1);
    begun[op] = results.back();
  }

  SmallVector<Move> moves;
  SmallVector<unsigned> pairsOfOperand(operands.size());
  for (AliasPair pair : *inPlace) {
    moves.push_back({operands[pair.operand], results[pair.result]});
    ++pairsOfOperand[pair.operand];
  }
  llvm::BitVector defined(results.size());
  addMoves(sequence, op, moves);
  for (AliasPair pair : *inPlace) {
    plan.values[results[pair.result]].scopes.push_back({sequence, 2 * nextPosition - 1});
    defined.set(pair.result);
    // The operand's bytes are in the result's buffer now. (If the operand is paired with several
    // results, the kernel reads it at its original place.)
    if (pairsOfOperand[pair.operand] == 1) {
      operands[pair.operand] = results[pair.result];
    }
  }

  Step &step = addStep(sequence, StepKind::Launch, op);
  step.operands.assign(operands.begin(), operands.end());
  step.results.assign(results.begin(), results.end());
  step.mayAlias.assign(mayAlias->begin(), mayAlias->end());
  for (ValueId operand : operands) {
    liveness.addUse(operand, sequence, 2 * step.position + 2);
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    if (!defined.test(i)) {
      plan.values[result].scopes.push_back({sequence, 2 * step.position});
    }
    liveness.addUse(result, sequence, 2 * step.position + 2);
  }
  return success();
}

/// The end of a collective is a launch that writes nothing new: the collective's results, whose
/// buffers are written from its start on, are what it returns.
LogicalResult PlanBuilder::writeDone(CollectiveDoneOp op, Environment &environment,
                                     SequenceId sequence) {
  Operation *start = startOf(op);
  if (!start) {
    return op.emitError("internal error: the end of a collective that has not begun");
  }
  SmallVector<ValueId> operands = lookUp(op->getOperands(), environment);
  for (auto [result, value] : llvm::zip(op->getResults(), operands)) {
    environment[result] = value;
  }
  operands.push_back(begun.at(start));
  Step &step = addStep(sequence, StepKind::Launch, op);
  step.operands.assign(operands.begin(), operands.end());
  for (ValueId operand : operands) {
    liveness.addUse(operand, sequence, 2 * step.position + 2);
  }
  return success();
}

LogicalResult PlanBuilder::writeState(RngGetAndUpdateStateOp op, Environment &environment,
                                      SequenceId sequence) {
  FailureOr<ValueId> value = addValue(op->getResult(0));
  if (failed(value)) {
    return failure();
  }
  environment[op->getResult(0)] = *value;
  Step &step = addStep(sequence, StepKind::State, op);
  step.results.push_back(*value);
  plan.values[*value].scopes.push_back({sequence, 2 * step.position});
  liveness.addUse(*value, sequence, 2 * step.position + 2);
  return success();
}

LogicalResult PlanBuilder::writeOp(Operation *op, Environment &environment, SequenceId sequence) {
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    if (fusion.getBody().empty()) {
      return op->emitOpError("has no region: it was not made by the fusion pass");
    }
    return writeLaunch(op, environment, sequence);
  }
  if (auto done = dyn_cast<CollectiveDoneOp>(op)) {
    return writeDone(done, environment, sequence);
  }
  if (isRuntimeOp(op)) {
    return writeLaunch(op, environment, sequence);
  }
  if (auto loop = dyn_cast<WhileOp>(op)) {
    return writeLoop(loop, environment, sequence);
  }
  if (auto conditional = dyn_cast<ConditionalOp>(op)) {
    return writeConditional(conditional, environment, sequence);
  }
  if (auto state = dyn_cast<RngGetAndUpdateStateOp>(op)) {
    return writeState(state, environment, sequence);
  }
  if (auto constant = dyn_cast<hlo::ConstantOp>(op)) {
    FailureOr<ValueId> value = constantValue(constant);
    if (succeeded(value)) {
      environment[constant.getResult()] = *value;
    }
    return LogicalResult(value);
  }
  // An array that becomes shorter is the beginning of its buffer. For one that becomes longer a
  // larger buffer is filled in part, by the kernel that computes it if the move goes away.
  bool shortens =
      isa<ResizeOp>(op) && elementsOf(op->getResult(0)) <= elementsOf(op->getOperand(0));
  if (isa<BitcastOp>(op) || shortens) {
    environment[op->getResult(0)] = environment.at(op->getOperand(0));
    return success();
  }
  if (isa<hlo::CopyOp, ResizeOp>(op)) {
    Value result = op->getResult(0);
    FailureOr<ValueId> value = addValue(result);
    if (failed(value)) {
      return failure();
    }
    int64_t most = *bytesOf(op->getOperand(0).getType());
    if (isa<ResizeOp>(op)) {
      plan.values[*value].filled = most;
    }
    addMoves(sequence, op, {{environment.at(op->getOperand(0)), *value, most}});
    environment[result] = *value;
    plan.values[*value].scopes.push_back({sequence, 2 * nextPosition - 1});
    liveness.addUse(*value, sequence, 2 * nextPosition);
    return success();
  }
  std::string opcode = op->getName().stripDialect().str();
  llvm::replace(opcode, '_', '-');
  return op->emitError() << opcode << " is not supported yet";
}

FailureOr<SmallVector<ValueId>>
PlanBuilder::writeOut(ComputationOp computation, ArrayRef<ValueId> arguments, SequenceId sequence) {
  auto [it, isNew] = schedules.try_emplace(computation);
  if (isNew) {
    it->second = scheduleComputation(computation, graph, invariant);
  }
  // Nested computations may grow the table and invalidate the iterator, so the order is copied.
  std::vector<Operation *> order = it->second;
  Environment environment;
  for (auto [argument, id] : llvm::zip(computation.getBody().getArguments(), arguments)) {
    environment[argument] = id;
  }
  for (Operation *op : order) {
    if (failed(writeOp(op, environment, sequence))) {
      return failure();
    }
  }
  return lookUp(computation.getReturn()->getOperands(), environment);
}

LogicalResult PlanBuilder::run() {
  SequenceId root = openSequence(Sequence::Entry, none);
  for (auto [i, argument] : llvm::enumerate(entry.getBody().getArguments())) {
    FailureOr<ValueId> input = addValue(argument);
    if (failed(input)) {
      return failure();
    }
    plan.inputs.push_back(*input);
    plan.values[*input].home = Home::Input;
    plan.values[*input].number = i;
    plan.values[*input].scopes.push_back({root, 0});
  }
  FailureOr<SmallVector<ValueId>> results = writeOut(entry, plan.inputs, root);
  if (failed(results)) {
    return failure();
  }
  SmallVector<Move> moves;
  for (auto [i, result] : llvm::enumerate(*results)) {
    // Of the result's type: it may be the beginning of a longer array (hlo.resize).
    Type type = entry.getReturn()->getOperand(i).getType();
    plan.values.push_back({.bytes = *bytesOf(type),
                           .align = plan.values[result].align,
                           .home = Home::Output,
                           .number = uint32_t(i),
                           .location = entry.getReturn()->getLoc()});
    plan.outputs.push_back(plan.values.size() - 1);
    moves.push_back({result, plan.outputs.back()});
  }
  addMoves(root, entry.getReturn(), moves);
  uint32_t written = 2 * nextPosition - 1;
  plan.positions = ++nextPosition;
  plan.sequences[root].end = 2 * nextPosition;
  for (ValueId output : plan.outputs) {
    plan.values[output].range.add({written, plan.sequences[root].end});
  }
  liveness.fillRanges();
  return success();
}

LogicalResult schedule::buildPlan(const ComputationGraph &graph, const LoopSet &doubled, Plan &plan,
                                  ComputationOp root) {
  return PlanBuilder(graph, doubled, plan, root).run();
}
