//===- RowPass.cpp - One walk over a row, for one or several reduces ------===//
//
// In: reduces over the columns of a row kernel that do not need one another. Out: their
// totals, bound to the reduces' results for what follows, and on the stack what later
// stages read again.
//
//   columns of one dimension        vectors of four registers, of one, a masked one or scalars; part by part, where they are
//                                   put together from parts
//   of several, the last one short  blocks of rows of columns that fill whole vectors, then row by row
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/reduce/RowEmission.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

void RowEmission::emitPass(ArrayRef<ReduceOp> pass) {
  if (pass.size() == 1 && isPositionReduce(pass[0])) {
    emitPositionReduce(pass[0]);
    return;
  }
  if (pass.size() == 1 && isLaneReduce(pass[0])) {
    emitLaneReduce(pass[0]);
    readSaved(pass[0]);
    return;
  }
  struct Reduction {
    ReduceOp op;
    Reducer reducer;
    SmallVector<Elem> start;
  };
  SmallVector<Reduction> reductions;
  SmallVector<Elem> starts;
  for (ReduceOp op : pass) {
    ValueRange inits = op.getInputs().drop_front(op.getInputs().size() / 2);
    Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
    SmallVector<Elem> start = reducer.start(e, inits, scalars);
    llvm::append_range(starts, start);
    reductions.push_back({op, reducer, start});
  }

  // The element (of each input) at the current row and a column.
  SmallVector<Index> index(row);
  auto inputsAt = [&](Reduction &reduction, ElementEmitter &emitter, Value mask) {
    SmallVector<Elem> elems;
    ReduceOp op = reduction.op;
    for (auto [n, input] : llvm::enumerate(op.getInputs().take_front(reduction.start.size()))) {
      elems.push_back(reduction.reducer.convertInput(e, elementType(input.getType()), n,
                                                     emitter.emit(input, index, mask)));
    }
    return elems;
  };

  // What is left after the wide vectors: single ones, then a masked one, or a scalar.
  int64_t n = columnShape.back();
  bool inBlocks = blocks && reductions[0].reducer.isAssociative();
  bool vectorize = inBlocks || (reductions[0].reducer.isAssociative() && lanes > 1 && n >= 2);
  struct Part {
    ElementEmitter *emitter;
    int64_t from, to;
    bool masked;
    size_t segment;
  };
  SmallVector<Part> parts;
  auto addParts = [&](int64_t from, int64_t to, size_t segment) {
    if (!vectorize) {
      parts.push_back({&scalars, from, to, false, segment});
      return;
    }
    int64_t size = to - from;
    int64_t wideEnd = from + (size >= 4 * lanes ? size / wide.lanes() * wide.lanes() : 0);
    int64_t vectorEnd = from + size / lanes * lanes;
    parts.push_back({&wide, from, wideEnd, false, segment});
    parts.push_back({&vectors, wideEnd, vectorEnd, false, segment});
    if (to - vectorEnd > 1) {
      parts.push_back({&vectors, vectorEnd, to, true, segment});
    } else {
      parts.push_back({&scalars, vectorEnd, to, false, segment});
    }
  };
  if (segments.ops.empty()) {
    addParts(0, n, 0);
  } else {
    for (size_t at = 0; at + 1 < segments.cuts.size(); ++at) {
      addParts(segments.cuts[at], segments.cuts[at + 1], at);
    }
  }
  llvm::erase_if(parts, [](const Part &part) { return part.from == part.to; });
  // Accumulators of all reduces for each width of the parts, the widest first; several rows of columns at a time have as many
  // as hide the latency of adding.
  SmallVector<Elem> zero;
  DenseMap<ElementEmitter *, size_t> accumulatorOf;
  size_t turns = inBlocks ? std::min<size_t>(blocks->vectors, 4) : 0;
  auto addAccumulators = [&](ElementEmitter &emitter, size_t count) {
    accumulatorOf[&emitter] = zero.size();
    for (size_t turn = 0; turn < count; ++turn) {
      for (Reduction &reduction : reductions) {
        zero.push_back(reduction.reducer.identity(e, emitter.lanes()));
      }
    }
  };
  for (ElementEmitter *emitter : emitters()) {
    bool isUsed = llvm::any_of(parts, [&](const Part &part) { return part.emitter == emitter; });
    size_t inTurn = emitter == &vectors ? turns : 0;
    if (vectorize && (isUsed || inTurn > 0)) {
      addAccumulators(*emitter, std::max<size_t>(inTurn, 1));
    }
  }
  if (!vectorize) {
    zero = starts;
  }

  // All reduces take the elements at the index; what the pass keeps is stored at `place` of the row.
  auto combineAt = [&](ElementEmitter &emitter, ArrayRef<Elem> before, Value place, Value mask) {
    SmallVector<Elem> after;
    for (Reduction &reduction : reductions) {
      SmallVector<Elem> elems = inputsAt(reduction, emitter, mask);
      if (mask) {
        elems[0] = selectElem(e, mask, elems[0], reduction.reducer.identity(e, emitter.lanes()));
      }
      ArrayRef<Elem> current = before.slice(after.size(), elems.size());
      llvm::append_range(after, reduction.reducer.combine(e, current, elems));
    }
    saveIntermediates(pass[0], emitter, index, place, mask);
    return after;
  };
  auto overBlocks = [&](int64_t rows, ValueRange carried) {
    return emitForCarrying(e, constI64(e, 0), constI64(e, rows), blocks->rows, carried,
                           [&](Value first, ValueRange inner) {
                             ElementEmitter::Scope scope(vectors);
                             SmallVector<Elem> state = unflattenElems(inner, zero);
                             forEachVector(index, first, [&](int64_t v, Value place) {
                               MutableArrayRef<Elem> own(state);
                               own = own.slice(v % turns * reductions.size(), reductions.size());
                               llvm::copy(combineAt(vectors, own, place, {}), own.begin());
                             });
                             return flattenElems(state);
                           });
  };
  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t c, ValueRange carried) {
    if (c + 1 < columnShape.size()) {
      SmallVector<Value> state(carried);
      int64_t whole = 0;
      if (inBlocks && c + 2 == columnShape.size()) {
        whole = columnShape[c] / blocks->rows * blocks->rows;
        state = overBlocks(whole, state);
      }
      return emitForCarrying(e, constI64(e, whole), constI64(e, columnShape[c]), 1, state,
                             [&](Value i, ValueRange inner) {
                               index.push_back(Index(i));
                               SmallVector<Value> next = nest(c + 1, inner);
                               index.pop_back();
                               return next;
                             });
    }
    SmallVector<Elem> state = unflattenElems(carried, zero);
    for (const Part &part : parts) {
      MutableArrayRef<Elem> own = MutableArrayRef<Elem>(state);
      if (vectorize) {
        own = own.slice(accumulatorOf[part.emitter], reductions.size());
      }
      if (!segments.ops.empty()) {
        enterSegment(segments, part.segment, emitters());
      }
      ElementEmitter &emitter = *part.emitter;
      int64_t width = emitter.lanes();
      Value mask;
      if (part.masked) {
        mask = firstLanes(e, part.to - part.from, width);
      }
      SmallVector<Value> next = emitForCarrying(
          e, constI64(e, part.from), constI64(e, part.to), width, flattenElems(own),
          [&](Value i, ValueRange inner) {
            ElementEmitter::Scope scope(emitter);
            index.push_back(width > 1 ? Index(i, 1, std::gcd(width, part.from)) : Index(i));
            SmallVector<Elem> after = combineAt(emitter, unflattenElems(inner, own), placeInRow(index), mask);
            index.pop_back();
            return flattenElems(after);
          });
      llvm::copy(unflattenElems(next, own), own.begin());
    }
    leaveSegments(emitters());
    return flattenElems(state);
  };
  SmallVector<Elem> state = unflattenElems(nest(0, flattenElems(zero)), zero);
  for (auto [n, reduction] : llvm::enumerate(reductions)) {
    SmallVector<Elem> totals = state;
    if (vectorize) {
      // Each accumulator has fewer lanes than the one before.
      Reducer &reducer = reduction.reducer;
      Elem sum = state[n];
      for (size_t at = n + reductions.size(); at < state.size(); at += reductions.size()) {
        sum = reducer.combine(e, {reducer.combineLanes(e, sum, lanesOf(state[at].re))}, {state[at]})[0];
      }
      totals = reducer.combine(e, reduction.start, {reducer.combineLanes(e, sum)});
    } else if (reductions.size() > 1) {
      totals = {state[n]};
    }
    for (auto [i, total] : llvm::enumerate(totals)) {
      Type to = elementType(reduction.op->getResult(i).getType());
      bindAll(reduction.op->getResult(i), reduction.reducer.finish(e, i, to, total));
    }
  }
  readSaved(pass[0]);
}

} // namespace hlo::codegen
