//===- Control.cpp - Rules of calls, loops, branches, tuples --------------===//
//
// HLO's computations see their parameters only. A loop carries what its regions use from outside as
// further elements of its tuple; a branch gets it as its operand:
//
//   while (%i, %x) ... uses %y     while((i, x, y)), condition and body of one tuple parameter
//   case  ... uses %y in branch 1  conditional(index, (), (y))
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertWhile(Converter &c, stablehlo::WhileOp op) {
  Captures captures;
  c.capture(op.getCond(), captures);
  c.capture(op.getBody(), captures);
  Computation condition = c.tupleComputation(op.getCond(), captures, false);
  Computation body =
      failed(condition) ? Computation() : c.tupleComputation(op.getBody(), captures, true);
  if (failed(body)) {
    return failure();
  }
  Values carried = c.get(op->getOperands());
  carried.append(c.get(captures.getArrayRef()));
  Value state = c.tuple(carried);
  Value loop = c.create("hlo.while", state.getType(), state,
                        {c.named("condition", *condition), c.named("body", *body)});
  return c.bind(op, ValueRange(c.elements(loop, op->getNumResults())));
}

/// A conditional of branches that take all their values from outside.
static LogicalResult convertBranches(Converter &c, Operation *op, Value selector,
                                     ArrayRef<Region *> branches) {
  Values operands{c.get(selector)};
  SmallVector<Attribute> names;
  for (Region *branch : branches) {
    Captures captures;
    c.capture(*branch, captures);
    Computation name = c.tupleComputation(*branch, captures, false);
    if (failed(name)) {
      return failure();
    }
    names.push_back(*name);
    operands.push_back(c.tuple(c.get(captures.getArrayRef())));
  }
  return c.bind(op, c.create("hlo.conditional", c.joined(op->getResultTypes()), operands,
                             c.named("branch_computations", c.builder.getArrayAttr(names))));
}

static LogicalResult convertIf(Converter &c, stablehlo::IfOp op) {
  return convertBranches(c, op, op.getPred(), {&op.getTrueBranch(), &op.getFalseBranch()});
}

static LogicalResult convertCase(Converter &c, stablehlo::CaseOp op) {
  SmallVector<Region *> branches;
  for (Region &branch : op.getBranches()) {
    branches.push_back(&branch);
  }
  return convertBranches(c, op, op.getIndex(), branches);
}

static LogicalResult callFunction(Converter &c, Operation *op, StringRef name) {
  Computation callee = c.function(op, name);
  if (failed(callee)) {
    return failure();
  }
  return c.bind(op, c.create("hlo.call", c.joined(op->getResultTypes()), c.get(op->getOperands()),
                             c.named("to_apply", *callee)));
}

static LogicalResult convertCall(Converter &c, func::CallOp op) {
  return callFunction(c, op, op.getCallee());
}

/// What a composite computes is its decomposition. XLA prefers its own ops for functions of CHLO
/// that jax.export writes as composites.
static LogicalResult convertComposite(Converter &c, stablehlo::CompositeOp op) {
  StringRef name = op.getName();
  if (llvm::is_contained({"chlo.erf", "chlo.mulhi", "chlo.tan"}, name) &&
      op->getNumResults() == 1) {
    name.consume_front("chlo.");
    return c.bind(op, c.create(("hlo." + name).str(), c.type(op->getResult(0).getType()),
                               c.get(op->getOperands())));
  }
  return callFunction(c, op, op.getDecomposition());
}

static LogicalResult convertBarrier(Converter &c, stablehlo::OptimizationBarrierOp op) {
  Value all = c.packed(c.get(op->getOperands()));
  return c.bind(op, c.create("hlo.opt_barrier", all.getType(), all));
}

static LogicalResult convertTuple(Converter &c, stablehlo::TupleOp op) {
  return c.bind(op, c.tuple(c.get(op->getOperands())));
}

static LogicalResult convertGetTupleElement(Converter &c, stablehlo::GetTupleElementOp op) {
  return c.bind(op, c.element(c.get(op.getOperand()), op.getIndex()));
}

/// after_all and create_token.
static LogicalResult convertToken(Converter &c, Operation *op) {
  return c.bind(
      op, c.create("hlo.after_all", c.type(op->getResult(0).getType()), c.get(op->getOperands())));
}

void hlo::stable::addControlRules(Rules &rules) {
  rules.add<func::CallOp, convertCall>();
  rules.add<stablehlo::CaseOp, convertCase>();
  rules.add<stablehlo::CompositeOp, convertComposite>();
  rules.add<stablehlo::GetTupleElementOp, convertGetTupleElement>();
  rules.add<stablehlo::IfOp, convertIf>();
  rules.add<stablehlo::OptimizationBarrierOp, convertBarrier>();
  rules.add<stablehlo::TupleOp, convertTuple>();
  rules.add<stablehlo::WhileOp, convertWhile>();
  rules.add("stablehlo.after_all", convertToken);
  rules.add("stablehlo.create_token", convertToken);
}
