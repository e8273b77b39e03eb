//===- LaneReduce.cpp - Rows reduced by any computation, in lanes ---------===//
//
// A reduce of one or several values along a row, by a computation that may be applied in any
// order but is not a single op (complex products, logaddexp, merged moments). Each lane has
// accumulators, which start from the first elements of the row since there is no identity. At the
// end the lanes are combined by halves, and the init value once.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {

bool RowEmission::isLaneReduce(ReduceOp op) {
  ValueRange inits = op.getInputs().drop_front(op->getNumResults());
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
  return reducer.isAnyOrder() && !reducer.isAssociative() && columnShape.size() == 1 && lanes > 1 &&
         columnShape[0] >= 2 * lanes;
}

void RowEmission::emitLaneReduce(ReduceOp op) {
  size_t count = op->getNumResults();
  ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
  SmallVector<Index> index(row);
  auto elementsAt = [&](ElementEmitter &emitter, Value column, Value mask) {
    ElementEmitter::Scope scope(emitter);
    int64_t width = emitter.lanes();
    index.push_back(width > 1 ? Index(column, 1, width) : Index(column));
    SmallVector<Elem> elems;
    for (auto [n, input] : llvm::enumerate(inputs)) {
      elems.push_back(reducer.convertInput(e, elementType(input.getType()), n,
                                           emitter.emit(input, index, mask)));
    }
    saveIntermediates(op, emitter, index, placeInRow(index), mask);
    index.pop_back();
    return elems;
  };
  auto walk = [&](ElementEmitter &emitter, int64_t from, int64_t to, SmallVector<Elem> best) {
    if (from == to) {
      return best;
    }
    return unflattenElems(
        emitForCarrying(e, constI64(e, from), constI64(e, to), emitter.lanes(), flattenElems(best),
                        [&](Value i, ValueRange carried) {
                          return flattenElems(reducer.combine(e, unflattenElems(carried, best),
                                                              elementsAt(emitter, i, {})));
                        }),
        best);
  };

  // Four accumulators per value, as long as they and the computation's temporaries fit in
  // registers.
  int64_t n = columnShape[0], vectorEnd = n / lanes * lanes;
  bool isWide = n >= 4 * wide.lanes() && 8 * static_cast<int64_t>(count) <=
                                             static_cast<int64_t>(e.machine.vectors.registers);
  ElementEmitter &main = isWide ? wide : vectors;
  int64_t width = main.lanes(), whole = n / width * width;
  SmallVector<Elem> best = elementsAt(main, constI64(e, 0), {});
  best = walk(main, width, whole, best);
  best = walk(vectors, whole, vectorEnd, reducer.combineLanes(e, best, lanes));
  bool masked = e.machine.vectors.hasPredicates() && n - vectorEnd > 1;
  if (masked) {
    Value mask = firstLanes(e, n - vectorEnd, lanes);
    SmallVector<Elem> next =
        reducer.combine(e, best, elementsAt(vectors, constI64(e, vectorEnd), mask));
    for (auto [value, old] : llvm::zip(next, best)) {
      value = selectElem(e, mask, value, old);
    }
    best = next;
  }
  best = reducer.combine(e, reducer.start(e, inits, scalars), reducer.combineLanes(e, best));
  best = walk(scalars, masked ? n : vectorEnd, n, best);
  for (auto [k, value] : llvm::enumerate(best)) {
    Type to = elementType(op->getResult(k).getType());
    bindAll(op->getResult(k), reducer.finish(e, k, to, value));
  }
}

} // namespace hlo::codegen
