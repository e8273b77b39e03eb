//===- PositionReduce.cpp - argmax and argmin of a row in vectors ---------===//
//
// In: a reduce of values and their positions along a row whose computation selects one of two
// elements by comparisons. Out: one best element per lane, over the row in vectors; then the lanes
// are combined by halves. Of two lanes the element of the smaller position is the left operand, as
// in the text, so ties and NaN are decided as in sequential order. The remainder of the row and the
// init values are combined as scalars.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/reduce/RowEmission.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// True if `v` is computed by comparisons of the parameters.
static bool isChoice(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op) {
    return false;
  }
  if (isa<CompareOp>(op)) {
    return llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>);
  }
  return isa<AndOp, OrOp, NotOp>(op) && llvm::all_of(op->getOperands(), isChoice);
}

/// True if result n is select(choice, parameter n, parameter n + 2).
static bool keepsOne(ComputationOp computation, unsigned n) {
  auto select = computation.getReturn()->getOperand(n).getDefiningOp<SelectOp>();
  return select && isChoice(select->getOperand(0)) &&
         select->getOperand(1) == computation.getArgument(n) &&
         select->getOperand(2) == computation.getArgument(n + 2);
}

/// True if the elements of v count up along its minor dimension.
static bool countsColumns(Value v) {
  int64_t dimension = static_cast<int64_t>(shapeOf(v).size()) - 1;
  while (auto broadcast = v.getDefiningOp<BroadcastOp>()) {
    const int64_t *from = llvm::find(broadcast.getDimensions(), dimension);
    if (from == broadcast.getDimensions().end()) {
      return false;
    }
    dimension = from - broadcast.getDimensions().begin();
    v = broadcast.getOperand();
  }
  auto iota = v.getDefiningOp<IotaOp>();
  return iota && static_cast<int64_t>(iota.getIotaDimension()) == dimension &&
         isa<IntegerType>(arrayType(v).getElementType());
}

bool RowEmission::isPositionReduce(ReduceOp op) {
  if (op->getNumResults() != 2 || columnShape.size() != 1 || lanes < 2 ||
      columnShape[0] < 2 * lanes || !saved.lookup(op).empty()) {
    return false;
  }
  auto computation = kernel.lookup(op.getToApplyAttr());
  return computation && computation.getNumArguments() == 4 &&
         computation.getReturn()->getNumOperands() == 2 && keepsOne(computation, 0) &&
         keepsOne(computation, 1) && countsColumns(op.getInputs()[1]);
}

void RowEmission::emitPositionReduce(ReduceOp op) {
  ValueRange inputs = op.getInputs().take_front(2), inits = op.getInputs().drop_front(2);
  SmallVector<Type> types{elementType(inits[0].getType()), elementType(inits[1].getType())};
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), types);
  SmallVector<Index> index(row);
  auto elementsAt = [&](ElementEmitter &emitter, Value column) {
    ElementEmitter::Scope scope(emitter);
    index.push_back(Index(column, emitter.lanes() > 1 ? 1 : 0));
    SmallVector<Elem> elems;
    for (auto [n, input] : llvm::enumerate(inputs)) {
      elems.push_back(
          reducer.convertInput(e, elementType(input.getType()), n, emitter.emit(input, index)));
    }
    index.pop_back();
    return elems;
  };
  int64_t n = columnShape[0];
  ElementEmitter &main = n >= 4 * lanes ? wide : vectors;
  int64_t width = main.lanes(), whole = n / width * width;
  SmallVector<Elem> best = elementsAt(main, constI64(e, 0));
  best = unflattenElems(
      emitForCarrying(e, constI64(e, width), constI64(e, whole), width, flattenElems(best),
                      [&](Value i, ValueRange carried) {
                        return flattenElems(
                            reducer.combine(e, unflattenElems(carried, best), elementsAt(main, i)));
                      }),
      best);
  bool isUnsigned = isUnsignedElement(types[1]);
  auto half = [&](Value v, int64_t from, int64_t count) -> Value {
    if (count == 1) {
      return vector::ExtractOp::create(e.b, e.loc, v, ArrayRef<int64_t>{from});
    }
    SmallVector<int64_t> order(count);
    std::iota(order.begin(), order.end(), from);
    return vector::ShuffleOp::create(e.b, e.loc, v, v, order);
  };
  for (; width > 1; width /= 2) {
    SmallVector<Elem> first, second;
    Value p = half(best[1].re, 0, width / 2), q = half(best[1].re, width / 2, width / 2);
    Value inOrder = arith::CmpIOp::create(
        e.b, e.loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, p, q);
    for (const Elem &elem : best) {
      Elem a(half(elem.re, 0, width / 2)), b(half(elem.re, width / 2, width / 2));
      first.push_back(selectElem(e, inOrder, a, b));
      second.push_back(selectElem(e, inOrder, b, a));
    }
    best = reducer.combine(e, first, second);
  }
  SmallVector<Elem> start = reducer.start(e, inits, scalars);
  best = reducer.combine(e, start, best);
  best = unflattenElems(
      emitForCarrying(e, constI64(e, whole), constI64(e, n), 1, flattenElems(best),
                      [&](Value i, ValueRange carried) {
                        return flattenElems(reducer.combine(e, unflattenElems(carried, start),
                                                            elementsAt(scalars, i)));
                      }),
      start);
  for (auto [k, value] : llvm::enumerate(best)) {
    Type to = elementType(op->getResult(k).getType());
    bindAll(op->getResult(k), reducer.finish(e, k, to, value));
  }
}

} // namespace hlo::codegen
