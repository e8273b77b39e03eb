//===- BuildControlFlow.cpp - Loops and branches written out as steps -----===//
//
// The part of PlanBuilder (see BuildPlan.cpp) for `while` and `conditional`. A carry is one value
// with three scopes: the condition, the body, and the code after the loop. Moves before the loop
// and at the end of the body write it. Moves at the end of each branch write a conditional's
// result. If coalescing removes all moves of a loop's carries, its body updates them in place.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/PlanBuilder.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

LogicalResult PlanBuilder::writeLoop(WhileOp op, Environment &environment, SequenceId sequence) {
  ComputationOp condition = graph.lookup(op.getConditionAttr());
  ComputationOp body = graph.lookup(op.getBodyAttr());
  SmallVector<ValueId> carries = lookUp(op->getOperands(), environment);
  SmallVector<unsigned> written; // the carries that are not invariant
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (!invariant.contains(op, i)) {
      written.push_back(i);
    }
  }
  std::optional<int64_t> count;
  if (auto known = op->getAttrOfType<IntegerAttr>("known_trip_count")) {
    count = known.getInt();
  }
  // Writes the body once, on the values of the carries, which become the next values.
  auto writeBody = [&](SequenceId id, SmallVectorImpl<ValueId> &values) -> LogicalResult {
    FailureOr<SmallVector<ValueId>> next = writeOut(body, values, id);
    if (succeeded(next)) {
      for (unsigned i : written) {
        values[i] = (*next)[i];
      }
    }
    return LogicalResult(next);
  };
  bool twice = doubled.contains(op) && (count ? *count > 1 : !graph.hasSideEffects(condition));
  if (twice && count && *count % 2 && failed(writeBody(sequence, carries))) {
    return failure();
  }

  SmallVector<Move> moves;
  for (unsigned i : written) {
    FailureOr<ValueId> carry = addValue(op->getResult(i));
    if (failed(carry)) {
      return failure();
    }
    moves.push_back({carries[i], *carry});
    carries[i] = *carry;
  }
  for (auto [result, carry] : llvm::zip(op->getResults(), carries)) {
    environment[result] = carry;
  }
  addMoves(sequence, op, moves);
  uint32_t initialized = 2 * nextPosition - 1;

  Step &step = addStep(sequence, StepKind::Loop, op);
  if (count) {
    step.tripCount = twice ? *count / 2 : *count;
  }
  uint32_t position = step.position;
  size_t stepIndex = plan.sequences[sequence].steps.size() - 1;
  SequenceId conditionId = openSequence(Sequence::Condition, sequence);
  // A counted loop has no condition.
  if (!count) {
    FailureOr<SmallVector<ValueId>> pred = writeOut(condition, carries, conditionId);
    if (failed(pred)) {
      return failure();
    }
    plan.sequences[conditionId].pred = pred->front();
    liveness.addUse(pred->front(), conditionId, 2 * nextPosition + 2);
  }
  ++nextPosition;
  plan.sequences[conditionId].end = 2 * nextPosition;

  SequenceId bodyId = openSequence(Sequence::Body, sequence);
  SmallVector<ValueId> next = carries;
  if (failed(writeBody(bodyId, next)) || (twice && count && failed(writeBody(bodyId, next)))) {
    return failure();
  }
  if (twice && !count && failed(writeSecondHalf(op, written, next, bodyId))) {
    return failure();
  }
  moves.clear();
  for (unsigned i : written) {
    moves.push_back({next[i], carries[i]});
  }
  addMoves(bodyId, op, moves);
  uint32_t advanced = 2 * nextPosition - 1;
  plan.sequences[bodyId].end = 2 * nextPosition;
  uint32_t end = 2 * ++nextPosition;
  for (SequenceId id : {conditionId, bodyId}) {
    plan.sequences[id].outerBegin = 2 * position;
    plan.sequences[id].outerEnd = end;
  }
  plan.sequences[sequence].steps[stepIndex].sequences = {conditionId, bodyId};

  for (unsigned i : written) {
    PlanValue &carry = plan.values[carries[i]];
    carry.isCarry = true;
    carry.range.add({initialized, plan.sequences[conditionId].end});
    carry.range.add({advanced, end});
    carry.scopes.push_back({conditionId, plan.sequences[conditionId].begin});
    carry.scopes.push_back({bodyId, plan.sequences[bodyId].begin});
    carry.scopes.push_back({sequence, end - 1});
  }
  return success();
}

LogicalResult PlanBuilder::writeSecondHalf(WhileOp op, ArrayRef<unsigned> written,
                                           SmallVectorImpl<ValueId> &values, SequenceId sequence) {
  FailureOr<SmallVector<ValueId>> pred =
      writeOut(graph.lookup(op.getConditionAttr()), values, sequence);
  if (failed(pred)) {
    return failure();
  }
  auto writtenOf = [&](ArrayRef<ValueId> all) {
    return llvm::map_to_vector(written, [&](unsigned i) { return all[i]; });
  };
  BranchWriter goOn = [&](SequenceId id) -> FailureOr<SmallVector<ValueId>> {
    FailureOr<SmallVector<ValueId>> next = writeOut(graph.lookup(op.getBodyAttr()), values, id);
    if (failed(next)) {
      return failure();
    }
    return SmallVector<ValueId>(writtenOf(*next));
  };
  BranchWriter stop = [&](SequenceId) { return SmallVector<ValueId>(writtenOf(values)); };
  SmallVector<Value> like =
      llvm::map_to_vector(written, [&](unsigned i) -> Value { return op->getResult(i); });
  FailureOr<SmallVector<ValueId>> joined =
      writeBranches(op, pred->front(), /*predicated=*/true, like, {goOn, stop}, sequence);
  if (failed(joined)) {
    return failure();
  }
  for (auto [i, value] : llvm::zip(written, *joined)) {
    values[i] = value;
  }
  return success();
}

FailureOr<SmallVector<ValueId>> PlanBuilder::writeBranches(Operation *op, ValueId selector,
                                                           bool predicated, ValueRange like,
                                                           ArrayRef<BranchWriter> writers,
                                                           SequenceId sequence) {
  Step &step = addStep(sequence, StepKind::Branch, op);
  uint32_t position = step.position;
  size_t stepIndex = plan.sequences[sequence].steps.size() - 1;
  step.predicated = predicated;
  step.operands.push_back(selector);
  liveness.addUse(selector, sequence, 2 * position + 2);

  SmallVector<SequenceId> ids;
  SmallVector<SmallVector<ValueId>> results;
  SmallVector<uint32_t> ends; // positions reserved for the moves
  for (const BranchWriter &write : writers) {
    ids.push_back(openSequence(Sequence::Branch, sequence));
    FailureOr<SmallVector<ValueId>> values = write(ids.back());
    if (failed(values)) {
      return failure();
    }
    results.push_back(*values);
    ends.push_back(nextPosition++);
    plan.sequences[ids.back()].outerBegin = 2 * position;
    plan.sequences[ids.back()].end = 2 * nextPosition;
  }
  uint32_t end = 2 * ++nextPosition;
  plan.sequences[sequence].steps[stepIndex].sequences.assign(ids.begin(), ids.end());

  SmallVector<ValueId> joined;
  SmallVector<SmallVector<Move, 1>> moves(ids.size());
  for (auto [i, value] : llvm::enumerate(like)) {
    ValueId first = results.front()[i];
    if (llvm::all_of(results, [&, i = i](auto &values) { return values[i] == first; })) {
      joined.push_back(first);
      continue;
    }
    FailureOr<ValueId> result = addValue(value);
    if (failed(result)) {
      return failure();
    }
    joined.push_back(*result);
    plan.values[*result].scopes.push_back({sequence, end - 2});
    for (size_t branch = 0; branch < ids.size(); ++branch) {
      uint32_t written = 2 * ends[branch] + 1;
      moves[branch].push_back({results[branch][i], *result});
      liveness.addUse(results[branch][i], ids[branch], written);
      plan.values[*result].range.add({written, written + 1});
    }
    plan.values[*result].range.add({end - 2, end});
  }
  for (size_t branch = 0; branch < ids.size(); ++branch) {
    if (!moves[branch].empty()) {
      plan.sequences[ids[branch]].steps.push_back({StepKind::Moves, op, ends[branch]});
      plan.sequences[ids[branch]].steps.back().moves = moves[branch];
    }
  }
  return joined;
}

LogicalResult PlanBuilder::writeConditional(ConditionalOp op, Environment &environment,
                                            SequenceId sequence) {
  SmallVector<ValueId> operands = lookUp(op.getInputs(), environment);
  SmallVector<BranchWriter> writers;
  ArrayRef<ValueId> rest = operands;
  for (Attribute name : op.getBranchComputations()) {
    ComputationOp branch = graph.lookup(cast<FlatSymbolRefAttr>(name));
    size_t count = branch.getBody().getNumArguments();
    if (count > rest.size()) {
      return op.emitOpError("branches take more than the ") << operands.size() << " operands";
    }
    writers.push_back([this, branch, arguments = rest.take_front(count)](SequenceId id) {
      return writeOut(branch, arguments, id);
    });
    rest = rest.drop_front(count);
  }
  auto selectorType = cast<RankedTensorType>(op.getSelector().getType());
  FailureOr<SmallVector<ValueId>> results =
      writers.size() == 1 ? writers.front()(sequence)
                          : writeBranches(op, environment.at(op.getSelector()),
                                          selectorType.getElementType().isInteger(1),
                                          op->getResults(), writers, sequence);
  if (failed(results)) {
    return failure();
  }
  for (auto [result, value] : llvm::zip(op->getResults(), *results)) {
    environment[result] = value;
  }
  return success();
}
