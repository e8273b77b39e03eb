//===- Inline.cpp - Scalar computations applied to values -----------------===//
//
// Emits a computation of scalars (a reducer, a comparator, ...) on the values of its parameters
// and returns the values of its results. Tuples are lists of their leaves. Loops and branches
// need a kernel of one lane (see kernelLanes()), since lanes cannot diverge.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Elementwise.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace hlo::codegen {

namespace {

class Inliner {
public:
  Inliner(Emission &e, int64_t lanes) : e(e), lanes(lanes) {}
  /// The results; empty after an error.
  SmallVector<Elem> run(ComputationOp computation, ArrayRef<Elem> args);

private:
  /// Binds the leaves of the op's results, result after result; false after an error.
  bool emit(Operation *op);
  bool emitCall(CallOp call);
  bool emitWhile(WhileOp loop);
  bool emitConditional(ConditionalOp conditional);
  /// Emits branch `number` and the later ones as nested choices; the scalar parts of their results.
  SmallVector<Value> emitBranches(ConditionalOp conditional, unsigned number, bool &ok);
  /// The computation called `name`; null after an error at `user`.
  static ComputationOp calleeOf(Operation *user, FlatSymbolRefAttr name);
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

ComputationOp Inliner::calleeOf(Operation *user, FlatSymbolRefAttr name) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(user, name);
  if (!callee) {
    user->emitOpError() << "calls " << name.getValue() << ", which is not a computation";
  }
  return callee;
}

/// The scalar parts of elements, and the elements of parts.
static SmallVector<Value> partsOf(ArrayRef<Elem> elems) {
  SmallVector<Value> parts;
  for (const Elem &elem : elems) {
    parts.push_back(elem.re);
    if (elem.im) {
      parts.push_back(elem.im);
    }
  }
  return parts;
}
static SmallVector<Elem> elemsOf(ValueRange parts, ArrayRef<Elem> like) {
  SmallVector<Elem> elems;
  for (const Elem &elem : like) {
    Value re = parts.front();
    parts = parts.drop_front();
    if (!elem.im) {
      elems.push_back(Elem(re));
      continue;
    }
    elems.push_back(Elem(re, parts.front()));
    parts = parts.drop_front();
  }
  return elems;
}

bool Inliner::emitWhile(WhileOp loop) {
  ComputationOp condition = calleeOf(loop, loop.getConditionAttr());
  ComputationOp body = calleeOf(loop, loop.getBodyAttr());
  if (!condition || !body) {
    return false;
  }
  SmallVector<Elem> carries = leavesOf(loop->getOperands());
  SmallVector<Value> starts = partsOf(carries);
  TypeRange types = ValueRange(starts).getTypes();
  bool ok = true;
  auto result = scf::WhileOp::create(
      e.b, e.loc, types, starts,
      [&](OpBuilder &, Location, ValueRange parts) {
        SmallVector<Elem> going = Inliner(e, lanes).run(condition, elemsOf(parts, carries));
        ok &= !going.empty();
        Value pred =
            ok ? going[0].re : Value(arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(false)));
        scf::ConditionOp::create(e.b, e.loc, pred, parts);
      },
      [&](OpBuilder &, Location, ValueRange parts) {
        SmallVector<Elem> next = Inliner(e, lanes).run(body, elemsOf(parts, carries));
        ok &= next.size() == carries.size();
        scf::YieldOp::create(e.b, e.loc, ok ? partsOf(next) : SmallVector<Value>(parts));
      });
  bindResults(loop, elemsOf(result->getResults(), carries));
  return ok;
}

SmallVector<Value> Inliner::emitBranches(ConditionalOp conditional, unsigned number, bool &ok) {
  ArrayAttr names = conditional.getBranchComputations();
  auto emitOne = [&]() -> SmallVector<Value> {
    ComputationOp branch = calleeOf(conditional, cast<FlatSymbolRefAttr>(names[number]));
    size_t first = 0;
    for (unsigned i = 0; branch && i < number; ++i) {
      ComputationOp earlier = calleeOf(conditional, cast<FlatSymbolRefAttr>(names[i]));
      first += earlier ? earlier.getNumArguments() : 0;
    }
    if (!branch || first + branch.getNumArguments() > conditional.getInputs().size()) {
      ok = false;
      return {};
    }
    SmallVector<Elem> results = Inliner(e, lanes).run(
        branch, leavesOf(conditional.getInputs().slice(first, branch.getNumArguments())));
    ok &= results.size() == conditional->getNumResults();
    return partsOf(results);
  };
  if (number + 1 == names.size()) {
    return emitOne();
  }
  Value selector = values.lookup(conditional.getSelector())[0].re;
  if (!selector.getType().isInteger(1)) {
    TypedAttr value = e.b.getIntegerAttr(selector.getType(), number);
    selector = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, selector,
                                     arith::ConstantOp::create(e.b, e.loc, value));
  }
  SmallVector<Type> types;
  for (Type type : conditional.getResultTypes()) {
    Type element = elementType(type);
    types.append(isa<ComplexType>(element) ? 2 : 1, computeType(element));
  }
  auto choice = scf::IfOp::create(e.b, e.loc, types, selector, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  for (bool taken : {true, false}) {
    e.b.setInsertionPointToStart(taken ? choice.thenBlock() : choice.elseBlock());
    SmallVector<Value> parts = taken ? emitOne() : emitBranches(conditional, number + 1, ok);
    if (!ok) {
      return {};
    }
    scf::YieldOp::create(e.b, e.loc, parts);
  }
  return SmallVector<Value>(choice->getResults());
}

bool Inliner::emitConditional(ConditionalOp conditional) {
  bool ok = true;
  SmallVector<Value> parts = emitBranches(conditional, 0, ok);
  if (!ok) {
    return false;
  }
  SmallVector<Elem> like;
  for (Type type : conditional.getResultTypes()) {
    bool isComplex = isa<ComplexType>(elementType(type));
    like.push_back(isComplex ? Elem(parts[0], parts[0]) : Elem(parts[0]));
  }
  bindResults(conditional, elemsOf(parts, like));
  return true;
}

bool Inliner::emitCall(CallOp call) {
  ComputationOp callee = calleeOf(call, call.getToApplyAttr());
  if (!callee) {
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
  if (auto loop = dyn_cast<WhileOp>(op); loop && lanes == 1) {
    return emitWhile(loop);
  }
  if (auto conditional = dyn_cast<ConditionalOp>(op); conditional && lanes == 1) {
    return emitConditional(conditional);
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
