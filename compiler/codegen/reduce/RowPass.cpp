//===- RowPass.cpp - One walk over a row, for one or several reduces ------===//
//
// In: independent reduces over the columns of a row kernel. Out: their totals, bound to the
// reduces' results for later passes, and on the stack the values that later passes read again.
//
//   columns of one dimension        vectors of four registers, of one, then a masked one or
//                                   scalars; part by part if the columns are concatenated
//   of one or several, all of bf16  pairs of them are read as words: lanes are in no order
//   of several, the last one short  blocks of rows of columns that fill whole vectors, then row by
//                                   row
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Elementwise.h"
#include "compiler/codegen/elementwise/Num.h"
#include "compiler/codegen/reduce/RowEmission.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

namespace {
class RowPass {
public:
  RowPass(RowEmission &rows, ArrayRef<ReduceOp> pass);

  void emit();

private:
  struct Reduction {
    ReduceOp op;
    Reducer reducer;
    SmallVector<Elem> start;
  };
  /// Columns `from` to `to` of the last dimension, handled by one emitter.
  struct Part {
    ElementEmitter *emitter;
    int64_t from, to;
    bool masked;
    size_t segment;
  };

  void addParts(int64_t from, int64_t to, size_t segment);
  void planParts();
  void planAccumulators();
  /// The elements of a reduce's inputs at the current index.
  SmallVector<Elem> inputsAt(Reduction &reduction, ElementEmitter &emitter, Value mask);
  /// Adds the elements at the index to all reduces; stores the values that the pass saves at
  /// `place` of the row.
  SmallVector<Elem> combineAt(ElementEmitter &emitter, ArrayRef<Elem> before, Value place,
                              Value mask);
  /// Loops over the columns from dimension c on. Takes and returns the values of the accumulators.
  SmallVector<Value> walk(size_t c, ValueRange carried);
  SmallVector<Value> walkBlocks(int64_t lines, ValueRange carried);
  SmallVector<Value> walkParts(ValueRange carried);
  void bindTotals(ArrayRef<Elem> state);
  /// True if `v` is computed element by element from bf16 operands, which are added to `pairs`, and
  /// from values that are equal in all columns.
  bool isOfPairs(Value v);
  void planPairs();
  /// Loads the operands of `pairs` at the index, for `lanes` columns: both halves of their words.
  void loadPairs(ElementEmitter &emitter);

  RowEmission &rows;
  Emission &e;
  ReduceOp stage; ///< the first reduce; identifies saved values
  SmallVector<Reduction> reductions;
  SmallVector<Index> index; ///< of the row and the column
  bool inBlocks, vectorize;
  SmallVector<Part> parts;
  /// Accumulators of all reduces for each width of the parts, widest first. Several rows of columns
  /// at a time use `turns` sets, enough to hide the latency of adding.
  SmallVector<Elem> zero;
  DenseMap<ElementEmitter *, size_t> accumulatorOf;
  size_t turns;
  /// bf16 operands that wide vectors read in no order: the lower halves of all words, then the
  /// upper ones.
  llvm::SetVector<BlockArgument> pairs;
};
} // namespace

RowPass::RowPass(RowEmission &rows, ArrayRef<ReduceOp> pass)
    : rows(rows), e(rows.e), stage(pass[0]), index(rows.row) {
  for (ReduceOp op : pass) {
    ValueRange inits = op.getInputs().drop_front(op.getInputs().size() / 2);
    Reducer reducer(rows.kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
    SmallVector<Elem> start = reducer.start(e, inits, rows.scalars);
    reductions.push_back({op, reducer, start});
  }
  bool isAssociative = reductions[0].reducer.isAssociative();
  inBlocks = rows.blocks && isAssociative;
  vectorize = inBlocks || (isAssociative && rows.lanes > 1 && rows.columnShape.back() >= 2);
  turns = inBlocks ? std::min<size_t>(rows.blocks->vectors, 4) : 0;
  planParts();
  planAccumulators();
  planPairs();
}

void RowPass::addParts(int64_t from, int64_t to, size_t segment) {
  if (!vectorize) {
    parts.push_back({&rows.scalars, from, to, false, segment});
    return;
  }
  // The remainder after the wide vectors: single vectors, then a masked one, or scalars.
  int64_t size = to - from, lanes = rows.lanes, wideLanes = rows.wide.lanes();
  int64_t wideEnd = from + (size >= 4 * lanes ? size / wideLanes * wideLanes : 0);
  int64_t vectorEnd = from + size / lanes * lanes;
  parts.push_back({&rows.wide, from, wideEnd, false, segment});
  parts.push_back({&rows.vectors, wideEnd, vectorEnd, false, segment});
  bool masked = to - vectorEnd > 1;
  parts.push_back({masked ? &rows.vectors : &rows.scalars, vectorEnd, to, masked, segment});
}

void RowPass::planParts() {
  const SegmentPlan &segments = rows.segments;
  if (segments.ops.empty()) {
    addParts(0, rows.columnShape.back(), 0);
  } else {
    for (size_t at = 0; at + 1 < segments.cuts.size(); ++at) {
      addParts(segments.cuts[at], segments.cuts[at + 1], at);
    }
  }
  llvm::erase_if(parts, [](const Part &part) { return part.from == part.to; });
}

void RowPass::planAccumulators() {
  if (!vectorize) {
    for (Reduction &reduction : reductions) {
      llvm::append_range(zero, reduction.start);
    }
    return;
  }
  for (ElementEmitter *emitter : rows.emitters()) {
    bool isUsed = llvm::any_of(parts, [&](const Part &part) { return part.emitter == emitter; });
    size_t inTurn = emitter == &rows.vectors ? turns : 0;
    if (!isUsed && inTurn == 0) {
      continue;
    }
    accumulatorOf[emitter] = zero.size();
    for (size_t turn = 0; turn < std::max<size_t>(inTurn, 1); ++turn) {
      for (Reduction &reduction : reductions) {
        zero.push_back(reduction.reducer.identity(e, emitter->lanes()));
      }
    }
  }
}

bool RowPass::isOfPairs(Value v) {
  EmitterShared &shared = *rows.wide.impl().shared;
  if (shared.memory.contains(v) || shared.vectorOnly.contains(v)) {
    return false;
  }
  if (shared.bound.contains(v)) {
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    bool isPairs = rows.overColumns(v) && elementType(v.getType()).isBF16();
    return isPairs && (pairs.insert(argument), true);
  }
  Operation *op = v.getDefiningOp();
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    int64_t column = rows.rowShape.size() + rows.columnShape.size() - 1;
    return !llvm::is_contained(broadcast.getDimensions(), column);
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return cast<DenseElementsAttr>(constant.getValue()).isSplat();
  }
  return isElementwise(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfPairs(operand); });
}

void RowPass::planPairs() {
  if (e.machine.issue.widen <= 1 || !vectorize || inBlocks || !rows.segments.ops.empty() ||
      rows.saved.contains(stage)) {
    return;
  }
  for (Reduction &reduction : reductions) {
    ValueRange inputs = reduction.op.getInputs().take_front(reduction.start.size());
    if (!llvm::all_of(inputs, [&](Value input) { return isOfPairs(input); })) {
      pairs.clear();
      return;
    }
  }
}

void RowPass::loadPairs(ElementEmitter &emitter) {
  int64_t words = emitter.lanes() / 2;
  Type i32 = e.b.getI32Type();
  for (BlockArgument argument : pairs) {
    Value offset = constI64(e, 0);
    for (auto [i, stride] : llvm::zip(index, rowMajorStrides(shapeOf(argument)))) {
      offset = addI(e, offset, mulI(e, i.base, stride));
    }
    Value base = rows.kernel.operandPtrs[argument.getArgNumber()];
    Value pointer = addBytes(e, base, mulI(e, offset, 2));
    Num both(e, LLVM::LoadOp::create(e.b, e.loc, laneType(i32, words), pointer, /*alignment=*/2));
    Value lower = floatOf(shl(both, 16));
    Value upper = floatOf(both & INT64_C(0xffff0000));
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * words));
    Value all = vector::ShuffleOp::create(e.b, e.loc, lower, upper, order);
    emitter.impl().memoize(argument, index, {}, Elem(all));
  }
}

SmallVector<Elem> RowPass::inputsAt(Reduction &reduction, ElementEmitter &emitter, Value mask) {
  SmallVector<Elem> elems;
  for (auto [n, input] :
       llvm::enumerate(reduction.op.getInputs().take_front(reduction.start.size()))) {
    elems.push_back(reduction.reducer.convertInput(e, elementType(input.getType()), n,
                                                   emitter.emit(input, index, mask)));
  }
  return elems;
}

SmallVector<Elem> RowPass::combineAt(ElementEmitter &emitter, ArrayRef<Elem> before, Value place,
                                     Value mask) {
  if (&emitter == &rows.wide) {
    loadPairs(emitter);
  }
  SmallVector<Elem> after;
  for (Reduction &reduction : reductions) {
    SmallVector<Elem> elems = inputsAt(reduction, emitter, mask);
    if (mask) {
      elems[0] = selectElem(e, mask, elems[0], reduction.reducer.identity(e, emitter.lanes()));
    }
    ArrayRef<Elem> current = before.slice(after.size(), elems.size());
    llvm::append_range(after, reduction.reducer.combine(e, current, elems));
  }
  rows.saveIntermediates(stage, emitter, index, place, mask);
  return after;
}

SmallVector<Value> RowPass::walk(size_t c, ValueRange carried) {
  ArrayRef<int64_t> shape = rows.columnShape;
  if (c + 1 == shape.size()) {
    return walkParts(carried);
  }
  SmallVector<Value> state(carried);
  int64_t whole = 0;
  if (inBlocks && c + 2 == shape.size()) {
    whole = shape[c] / rows.blocks->rows * rows.blocks->rows;
    state = walkBlocks(whole, state);
  }
  return emitForCarrying(e, constI64(e, whole), constI64(e, shape[c]), 1, state,
                         [&](Value i, ValueRange inner) {
                           index.push_back(Index(i));
                           SmallVector<Value> next = walk(c + 1, inner);
                           index.pop_back();
                           return next;
                         });
}

SmallVector<Value> RowPass::walkBlocks(int64_t lines, ValueRange carried) {
  return emitForCarrying(e, constI64(e, 0), constI64(e, lines), rows.blocks->rows, carried,
                         [&](Value first, ValueRange inner) {
                           ElementEmitter::Scope scope(rows.vectors);
                           SmallVector<Elem> state = unflattenElems(inner, zero);
                           rows.forEachVector(index, first, [&](int64_t v, Value place) {
                             MutableArrayRef<Elem> own(state);
                             own = own.slice(v % turns * reductions.size(), reductions.size());
                             llvm::copy(combineAt(rows.vectors, own, place, {}), own.begin());
                           });
                           return flattenElems(state);
                         });
}

SmallVector<Value> RowPass::walkParts(ValueRange carried) {
  SmallVector<Elem> state = unflattenElems(carried, zero);
  for (const Part &part : parts) {
    MutableArrayRef<Elem> own(state);
    if (vectorize) {
      own = own.slice(accumulatorOf[part.emitter], reductions.size());
    }
    if (!rows.segments.ops.empty()) {
      enterSegment(rows.segments, part.segment, rows.emitters());
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
          SmallVector<Elem> after =
              combineAt(emitter, unflattenElems(inner, own), rows.placeInRow(index), mask);
          index.pop_back();
          return flattenElems(after);
        });
    llvm::copy(unflattenElems(next, own), own.begin());
  }
  leaveSegments(rows.emitters());
  return flattenElems(state);
}

void RowPass::bindTotals(ArrayRef<Elem> state) {
  for (auto [n, reduction] : llvm::enumerate(reductions)) {
    SmallVector<Elem> totals(state);
    if (vectorize) {
      // Each accumulator has fewer lanes than the one before.
      Reducer &reducer = reduction.reducer;
      Elem sum = state[n];
      for (size_t at = n + reductions.size(); at < state.size(); at += reductions.size()) {
        sum = reducer.combine(e, {reducer.combineLanes(e, sum, lanesOf(state[at].re))},
                              {state[at]})[0];
      }
      totals = reducer.combine(e, reduction.start, {reducer.combineLanes(e, sum)});
    } else if (reductions.size() > 1) {
      totals = {state[n]};
    }
    for (auto [i, total] : llvm::enumerate(totals)) {
      Type to = elementType(reduction.op->getResult(i).getType());
      rows.bindAll(reduction.op->getResult(i), reduction.reducer.finish(e, i, to, total));
    }
  }
}

void RowPass::emit() { bindTotals(unflattenElems(walk(0, flattenElems(zero)), zero)); }

void RowEmission::emitPass(ArrayRef<ReduceOp> pass) {
  if (pass.size() == 1 && isPositionReduce(pass[0])) {
    emitPositionReduce(pass[0]);
    return;
  }
  if (pass.size() == 1 && isLaneReduce(pass[0])) {
    emitLaneReduce(pass[0]);
  } else {
    RowPass(*this, pass).emit();
  }
  readSaved(pass[0]);
}

} // namespace hlo::codegen
