//===- Inline.cpp - Scalar computations on values -------------------------===//
//
// In: a computation of scalars (a reducer, a comparator, ...) and the values of its
// parameters. Out: the values of its results. Tuples are lists of their leaves.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Elementwise.h"

using namespace mlir;

namespace hlo::codegen {

namespace {

class Inliner {
public:
  Inliner(Emission &e, int64_t lanes) : e(e), lanes(lanes) {}
  /// Null vector after an error.
  SmallVector<Elem> run(ComputationOp computation, ArrayRef<Elem> args);

private:
  /// The leaves of the op's results, result after result; false after an error.
  bool emit(Operation *op);
  bool emitCall(CallOp call);
  void bindResults(Operation *op, ArrayRef<Elem> leaves);
  SmallVector<Elem> leavesOf(ValueRange operands);

  Emission &e;
  int64_t lanes;
  DenseMap<Value, SmallVector<Elem>> values;
};

int64_t leafCount(Type type) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    return 1;
  }
  int64_t count = 0;
  for (Type part : tuple.getTypes()) {
    count += leafCount(part);
  }
  return count;
}

bool isScalar(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    return llvm::all_of(tuple.getTypes(), isScalar);
  }
  auto array = dyn_cast<RankedTensorType>(type);
  return array && array.hasStaticShape() && array.getNumElements() == 1;
}

SmallVector<Elem> Inliner::leavesOf(ValueRange operands) {
  SmallVector<Elem> leaves;
  for (Value operand : operands) {
    llvm::append_range(leaves, values.lookup(operand));
  }
  return leaves;
}

void Inliner::bindResults(Operation *op, ArrayRef<Elem> leaves) {
  for (Value result : op->getResults()) {
    int64_t count = leafCount(result.getType());
    values[result] = SmallVector<Elem>(leaves.take_front(count));
    leaves = leaves.drop_front(count);
  }
}

bool Inliner::emitCall(CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(call, call.getToApplyAttr());
  if (!callee) {
    call.emitOpError() << "calls " << call.getToApply() << ", which is not a computation";
    return false;
  }
  Inliner inner(e, lanes);
  SmallVector<Elem> results = inner.run(callee, leavesOf(call.getInputs()));
  if (results.empty() && call->getNumResults() > 0) {
    return false;
  }
  bindResults(call, results);
  return true;
}

bool Inliner::emit(Operation *op) {
  for (Type type : op->getResultTypes()) {
    if (!isScalar(type)) {
      op->emitOpError() << "of type " << type << " in a computation that is applied to scalars";
      return false;
    }
  }
  if (isElementwise(op)) {
    Elem result = emitElementwise(e, op, leavesOf(op->getOperands()));
    if (!result) {
      return false;
    }
    values[op->getResult(0)] = {result};
    return true;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!literal) {
      op->emitOpError() << "has no literal of an array as its value";
      return false;
    }
    values[op->getResult(0)] = {splat(e, literalElement(e, literal, 0), lanes)};
    return true;
  }
  if (auto element = dyn_cast<GetTupleElementOp>(op)) {
    auto tuple = cast<TupleType>(element.getOperand().getType());
    int64_t first = 0;
    for (uint64_t i = 0; i < element.getIndex(); ++i) {
      first += leafCount(tuple.getType(i));
    }
    SmallVector<Elem> leaves = leavesOf(element.getOperand());
    bindResults(op, ArrayRef(leaves).drop_front(first));
    return true;
  }
  if (auto call = dyn_cast<CallOp>(op)) {
    return emitCall(call);
  }
  if (isa<IotaOp>(op)) {
    values[op->getResult(0)] = {zeroElem(e, elementType(op->getResult(0).getType()), lanes)};
    return true;
  }
  if (isa<ReshapeOp, BroadcastOp, BitcastOp, CopyOp, TransposeOp, ReverseOp, TupleOp, OptBarrierOp,
          DomainOp>(op)) {
    bindResults(op, leavesOf(op->getOperands()));
    return true;
  }
  op->emitOpError() << "is not supported in a computation that is applied to scalars";
  return false;
}

SmallVector<Elem> Inliner::run(ComputationOp computation, ArrayRef<Elem> args) {
  Block &block = computation.getBody().front();
  for (BlockArgument parameter : block.getArguments()) {
    auto count = static_cast<size_t>(leafCount(parameter.getType()));
    if (!isScalar(parameter.getType()) || args.size() < count) {
      computation.emitOpError() << "parameter " << parameter.getArgNumber() << " has type "
                                << parameter.getType() << ", expected a scalar";
      return {};
    }
    values[parameter] = SmallVector<Elem>(args.take_front(count));
    args = args.drop_front(count);
  }
  for (Operation &op : block.without_terminator()) {
    if (!emit(&op)) {
      return {};
    }
  }
  SmallVector<Elem> results = leavesOf(block.getTerminator()->getOperands());
  for (Elem &result : results) {
    result = splat(e, result, lanes);
  }
  return results;
}

} // namespace

SmallVector<Elem> inlineComputation(Emission &e, ComputationOp computation, ArrayRef<Elem> args) {
  int64_t lanes = 1;
  for (const Elem &arg : args) {
    lanes = std::max(lanes, lanesOf(arg.re));
  }
  return Inliner(e, lanes).run(computation, args);
}

} // namespace hlo::codegen
