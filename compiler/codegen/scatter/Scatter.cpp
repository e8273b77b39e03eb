//===- Scatter.cpp - Strategy "scatter": updates at indices, in place -----===//
//
// In: a region whose root is a scatter of N arrays; the results' buffers already hold the arrays
// (`in_place`). Out, for each position among the indices, in text order:
//
//   start = indices[position]            skip unless the whole window fits
//   for each element of the window:      array = computation(array, update)
//
// The innermost window dimension is vectorized if it is the minor one of array and updates: a
// window never overlaps itself. With `unique_indices` positions are independent and become tasks;
// otherwise long rows are split into columns. Single elements and short rows are handled by
// ScatterBlocks.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/scatter/ScatterEmission.h"

using namespace mlir;

namespace hlo::codegen {

ScatterEmission::ScatterEmission(KernelBuilder &kernel, ScatterOp op)
    : kernel(kernel), e(kernel.e), op(op), count(op.getInputs().size() / 2),
      indices(op.getInputs()[count]), updates(op.getInputs().drop_front(count + 1)),
      computation(kernel.lookup(op.getToApplyAttr())),
      shape(arrayType(op.getInputs()[0]).getShape()), strides(rowMajorStrides(shape)),
      windowSizes(shape.size(), 1), scalars(kernel, 1) {
  ArrayRef<int64_t> updateShape = arrayType(updates[0]).getShape();
  auto batching = op.getInputBatchingDims().value_or(ArrayRef<int64_t>());
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
    if (!llvm::is_contained(op.getInsertedWindowDims(), d) && !llvm::is_contained(batching, d)) {
      windowToArray.push_back(d);
    }
  }
  for (int64_t d = 0, rank = updateShape.size(); d < rank; ++d) {
    if (!llvm::is_contained(op.getUpdateWindowDims(), d)) {
      positionDims.push_back(d);
      positionShape.push_back(updateShape[d]);
      positions *= updateShape[d];
      continue;
    }
    windowSizes[windowToArray[windowDims.size()]] = updateShape[d];
    windowDims.push_back(d);
    windowShape.push_back(updateShape[d]);
    windowElements *= updateShape[d];
  }
}

SmallVector<Index> ScatterEmission::componentAt(ArrayRef<Index> position, int64_t k) {
  SmallVector<Index> at(position);
  if (op.getIndexVectorDim() < arrayType(indices).getShape().size()) {
    at.insert(at.begin() + op.getIndexVectorDim(), Index(constI64(e, k)));
  }
  return at;
}

void ScatterEmission::forEachBatching(function_ref<void(int64_t, int64_t)> body) {
  auto arrayDims = op.getInputBatchingDims().value_or(ArrayRef<int64_t>());
  auto indicesDims = op.getScatterIndicesBatchingDims().value_or(ArrayRef<int64_t>());
  for (auto [d, indicesDim] : llvm::zip(arrayDims, indicesDims)) {
    body(d,
         indicesDim > static_cast<int64_t>(op.getIndexVectorDim()) ? indicesDim - 1 : indicesDim);
  }
}

void ScatterEmission::makeSink(int64_t elements) {
  int64_t words = 2 * elements; // elements have at most 16 bytes
  nowhere = LLVM::AllocaOp::create(e.b, e.loc, kernel.resultPtrs[0].getType(), e.b.getI64Type(),
                                   constI64(e, 2 * words), 64);
  sink = addBytes(e, nowhere, constI64(e, 8 * words));
  emitFor(e, constI64(e, 0), constI64(e, words), 1, [&](Value word) {
    LLVM::StoreOp::create(e.b, e.loc, constI64(e, 0), addBytes(e, nowhere, mulI(e, word, 8)));
  });
}

ScatterEmission::Places ScatterEmission::inArrays(Value base) {
  Places places;
  places.from.assign(kernel.resultPtrs.begin(), kernel.resultPtrs.begin() + count);
  places.to = places.from;
  places.base = base;
  return places;
}

ScatterEmission::Places ScatterEmission::inArraysOrSink(Value base, Value fits) {
  Places places = inArrays(e.b.createOrFold<arith::SelectOp>(e.loc, fits, base, constI64(e, 0)));
  for (size_t n = 0; n < count; ++n) {
    places.from[n] = LLVM::SelectOp::create(e.b, e.loc, fits, places.from[n], nowhere);
    places.to[n] = LLVM::SelectOp::create(e.b, e.loc, fits, places.to[n], sink);
  }
  return places;
}

bool ScatterEmission::replaces() {
  auto arguments = computation.getBody().front().getArguments();
  return llvm::all_of(arguments.take_front(count), [](Value old) { return old.use_empty(); });
}

SmallVector<Elem> ScatterEmission::load(const Places &places, Value target, int64_t lanes,
                                        Value mask) {
  SmallVector<Elem> old;
  for (size_t n = 0; n < count; ++n) {
    Type element = arrayType(op.getInputs()[n]).getElementType();
    old.push_back(loadElements(e, element, places.from[n], target, lanes, mask));
  }
  return old;
}

void ScatterEmission::store(ArrayRef<Elem> values, const Places &places, Value target, Value mask) {
  for (auto [n, value] : llvm::enumerate(values)) {
    Type element = arrayType(op->getResult(n)).getElementType();
    storeElements(e, element, value, places.to[n], target, mask);
  }
}

SmallVector<Elem> ScatterEmission::computeUpdate(ElementEmitter &emitter, ArrayRef<Elem> old,
                                                 ArrayRef<Index> at, Value mask) {
  SmallVector<Elem> arguments(old);
  for (Value v : updates) {
    arguments.push_back(emitter.emit(v, at, mask));
  }
  return inlineComputation(e, computation, arguments);
}

void ScatterEmission::combine(ElementEmitter &emitter, const Places &places, Value target,
                              ArrayRef<Index> at, Value mask) {
  SmallVector<Elem> old = load(places, target, emitter.lanes(), mask);
  if (replaces()) {
    // A replacing scatter does not load the old value. Without a prefetch its stores would wait for
    // their cache lines one after the other.
    int64_t bytes = storageBytes(arrayType(op.getInputs()[0]).getElementType());
    LLVM::Prefetch::create(e.b, e.loc, addBytes(e, places.to[0], mulI(e, target, bytes)), /*rw=*/0,
                           /*hint=*/3, /*cache=*/1);
  }
  store(computeUpdate(emitter, old, at, mask), places, target, mask);
}

Value ScatterEmission::startAt(ArrayRef<Index> position, int64_t k) {
  Value raw = scalars.emit(indices, componentAt(position, k)).re;
  Type i64 = e.b.getI64Type();
  if (raw.getType() == i64) {
    return raw;
  }
  return isUnsignedElement(arrayType(indices).getElementType())
             ? e.b.createOrFold<arith::ExtUIOp>(e.loc, i64, raw)
             : e.b.createOrFold<arith::ExtSIOp>(e.loc, i64, raw);
}

/// Most vectors of a row that is handled in blocks of positions. A block has the update's code for
/// each of them sixteen times, and saves a bounds test and two branches per position, which matter
/// less the longer the rows are. Not measured with longer rows.
static constexpr size_t kMostPieces = 2;

namespace {
/// Handles one position after the other.
struct Positions {
  ScatterEmission &scatter;
  Emission &e;
  int64_t lanes;
  ElementEmitter vectors;
  /// Emitters for a short window: whole vectors of decreasing width. A masked store cannot forward
  /// its data to the load of the next update of the same window.
  SmallVector<std::unique_ptr<ElementEmitter>> widths;
  /// Short rows that do not fit are redirected to a sink instead of skipped by an unpredictable
  /// branch. They read from another place than they write to, so that such updates do not wait for
  /// each other.
  bool toSink = false;

  /// If tasks are columns: the part of a row that this call of the kernel updates.
  Value firstColumn, endColumn;
  int64_t columnsPerTask = 0;

  explicit Positions(ScatterEmission &scatter, bool minorWindow)
      : scatter(scatter), e(scatter.e), lanes(minorWindow ? kernelLanes(scatter.kernel) : 1),
        vectors(scatter.kernel, lanes) {
    int64_t rest = minorWindow ? scatter.windowShape.back() : 0;
    for (int64_t width = lanes; rest > 0 && rest < 4 * lanes; rest -= width) {
      width = std::min<int64_t>(width, llvm::bit_floor<uint64_t>(rest));
      widths.push_back(std::make_unique<ElementEmitter>(scatter.kernel, width));
    }
    toSink = !widths.empty() && scatter.windowElements > 1 &&
             scatter.windowElements == scatter.windowShape.back();
  }

  void emit(ArrayRef<Value> position);
  /// Updates the window of a position, at `places`.
  void update(ArrayRef<Value> position, const ScatterEmission::Places &places);
  /// Updates the windows of several positions in turn; all are short rows or elements at element
  /// `base` of the arrays.
  void updateInTurn(ArrayRef<SmallVector<Value>> positions, Value base);
  SmallVector<Index> updateIndex(ArrayRef<Value> position);
  /// Handles dimensions k... of the window at `at`, whose elements start at `target`.
  void emitWindow(size_t k, const ScatterEmission::Places &places, Value target,
                  SmallVectorImpl<Index> &at);
};
} // namespace

void Positions::emitWindow(size_t k, const ScatterEmission::Places &places, Value target,
                           SmallVectorImpl<Index> &at) {
  if (k == scatter.windowShape.size()) {
    ElementEmitter::Scope inner(scatter.scalars);
    scatter.combine(scatter.scalars, places, target, at);
    return;
  }
  int64_t d = scatter.windowDims[k], stride = scatter.strides[scatter.windowToArray[k]];
  bool last = k + 1 == scatter.windowShape.size();
  Value zero = constI64(e, 0), size = constI64(e, scatter.windowShape[k]);
  if (last && !widths.empty()) {
    int64_t begin = 0;
    for (auto &emitter : widths) {
      ElementEmitter::Scope inner(*emitter);
      Value first = constI64(e, begin);
      at[d] = Index(first, emitter->lanes() > 1 ? 1 : 0);
      scatter.combine(*emitter, places, addI(e, target, first), at);
      begin += emitter->lanes();
    }
    return;
  }
  if (last && lanes > 1) {
    auto combine = [&](Index i, ElementEmitter &emitter, Value mask) {
      at[d] = i;
      scatter.combine(emitter, places, addI(e, target, i.base), at, mask);
    };
    if (firstColumn && scatter.windowShape[k] % columnsPerTask == 0) {
      emitFor(e, firstColumn, endColumn, columnsPerTask, [&](Value first) {
        emitFor(e, zero, constI64(e, columnsPerTask), lanes, [&](Value i) {
          ElementEmitter::Scope inner(vectors);
          combine(Index(addI(e, first, i), 1, lanes), vectors, {});
        });
      });
      return;
    }
    emitVectorLoop(e, firstColumn ? firstColumn : zero, firstColumn ? endColumn : size, vectors,
                   scatter.scalars, combine);
    return;
  }
  emitFor(e, zero, size, 1, [&](Value i) {
    at[d] = Index(i);
    emitWindow(k + 1, places, addI(e, target, mulI(e, i, stride)), at);
  });
}

void Positions::emit(ArrayRef<Value> position) {
  ElementEmitter::Scope scope(scatter.scalars);
  // Computes the window's start, and whether it fits.
  SmallVector<Index> where(position.begin(), position.end());
  Value fits, base = constI64(e, 0);
  for (auto [k, d] : llvm::enumerate(scatter.op.getScatterDimsToOperandDims())) {
    Value start = scatter.startAt(where, k);
    // As unsigned numbers, negative starts are large.
    Value inside = compareI(e, arith::CmpIPredicate::ult, start, scatter.startsAlong(d));
    fits = andMask(e, fits, inside);
    base = addI(e, base, mulI(e, start, scatter.strides[d]));
  }
  scatter.forEachBatching([&](int64_t d, int64_t n) {
    base = addI(e, base, mulI(e, position[n], scatter.strides[d]));
  });
  if (!fits || toSink) {
    update(position, fits ? scatter.inArraysOrSink(base, fits) : scatter.inArrays(base));
    return;
  }
  emitIf(e, fits, [&] { update(position, scatter.inArrays(base)); });
}

SmallVector<Index> Positions::updateIndex(ArrayRef<Value> position) {
  SmallVector<Index> at(scatter.positionDims.size() + scatter.windowDims.size(),
                        Index(constI64(e, 0)));
  for (auto [n, d] : llvm::enumerate(scatter.positionDims)) {
    at[d] = Index(position[n]);
  }
  return at;
}

void Positions::update(ArrayRef<Value> position, const ScatterEmission::Places &places) {
  ElementEmitter::Scope scope(scatter.scalars);
  SmallVector<Index> at = updateIndex(position);
  emitWindow(0, places, places.base, at);
}

void Positions::updateInTurn(ArrayRef<SmallVector<Value>> positions, Value base) {
  ScatterEmission::Places places = scatter.inArrays(base);
  auto piece = [&](ElementEmitter &emitter, Value first) {
    ElementEmitter::Scope inner(emitter);
    Value target = addI(e, base, first);
    SmallVector<Elem> values = scatter.load(places, target, emitter.lanes());
    for (ArrayRef<Value> position : positions) {
      SmallVector<Index> at = updateIndex(position);
      if (!scatter.windowDims.empty()) {
        at[scatter.windowDims.back()] = Index(first, emitter.lanes() > 1 ? 1 : 0);
      }
      values = scatter.computeUpdate(emitter, values, at);
    }
    scatter.store(values, places, target);
  };
  if (widths.empty()) {
    piece(scatter.scalars, constI64(e, 0));
    return;
  }
  int64_t begin = 0;
  for (auto &emitter : widths) {
    piece(*emitter, constI64(e, begin));
    begin += emitter->lanes();
  }
}

/// Columns of one task in a scatter of long rows; 0 if it is a single task. One thread gets all
/// columns in one call.
static int64_t columnsOfTask(ScatterEmission &scatter, Positions &positions) {
  // Every task reads all indices again, so there are few, for a few threads to share evenly; and a
  // part of a row is a run of at least four lines, which prefetchers follow.
  constexpr int64_t mostTasks = 4, leastBytes = 256;
  int64_t columns = scatter.windowElements;
  int64_t bytes = storageBytes(arrayType(scatter.op.getInputs()[0]).getElementType());
  bool rows =
      positions.lanes > 1 && positions.widths.empty() && columns == scatter.windowShape.back();
  if (!rows || scatter.positions * columns < 2 * kElementsPerTask) {
    return 0;
  }
  // A multiple of whole cache lines and whole vectors.
  int64_t unit = std::max<int64_t>(positions.lanes, llvm::divideCeil(64, bytes));
  int64_t least =
      std::max<int64_t>(llvm::divideCeil(leastBytes, bytes), llvm::divideCeil(columns, mostTasks));
  int64_t perTask = llvm::alignTo(least, unit);
  return perTask < columns ? perTask : 0;
}

LogicalResult emitScatterKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<ScatterOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'scatter' must return a scatter");
  }
  ScatterEmission scatter(kernel, op);
  if (arrayType(scatter.updates[0]).getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  bool minorWindow = !scatter.windowShape.empty() &&
                     scatter.windowToArray.back() + 1 == (int64_t)scatter.shape.size() &&
                     scatter.windowDims.back() + 1 == arrayType(scatter.updates[0]).getRank();
  Positions positions(scatter, minorWindow);
  bool independent = op.getUniqueIndices().value_or(false);
  auto unitsOf = [&](int64_t total, int64_t elementsOfUnit) {
    int64_t perTask = std::max<int64_t>(1, kElementsPerTask / elementsOfUnit);
    return splitTasks(kernel, total, independent ? perTask : total);
  };
  bool shortRows = positions.toSink && positions.widths.size() <= kMostPieces;
  if (scattersInBlocks(scatter) && (scatter.windowElements == 1 || shortRows)) {
    scatter.makeSink(scatter.windowElements);
    ScatterBody body;
    body.single = [&](ArrayRef<Value> position) { positions.emit(position); };
    body.update = [&](ArrayRef<Value> position, const ScatterEmission::Places &places) {
      positions.update(position, places);
    };
    // A narrow float is rounded to the array's type between two updates.
    bool rounds = llvm::any_of(op.getResultTypes(),
                               [](Type type) { return isNarrowFloat(elementType(type)); });
    if (!scatter.replaces() && !rounds) {
      body.run = [&](ArrayRef<SmallVector<Value>> run, Value base) {
        positions.updateInTurn(run, base);
      };
    }
    ArrayRef<int64_t> outer = ArrayRef<int64_t>(scatter.positionShape).drop_back();
    int64_t last = scatter.positionShape.back();
    if (outer.empty()) {
      auto [lo, hi] = unitsOf(last, scatter.windowElements);
      emitScatterBlocks(scatter, {}, lo, hi, body);
      return success();
    }
    auto [lo, hi] = unitsOf(scatter.positions / last, last * scatter.windowElements);
    emitFor(e, lo, hi, 1, [&](Value row) {
      emitScatterBlocks(scatter, delinearize(e, row, outer), constI64(e, 0), constI64(e, last),
                        body);
    });
    return success();
  }
  if (positions.toSink) {
    scatter.makeSink(scatter.windowElements);
  }
  int64_t perTask = independent ? 0 : columnsOfTask(scatter, positions);
  if (perTask > 0) {
    positions.columnsPerTask = perTask;
    std::tie(positions.firstColumn, positions.endColumn) =
        splitTasks(kernel, scatter.windowElements, perTask);
  }
  auto [lo, hi] = perTask > 0 ? std::pair(constI64(e, 0), constI64(e, scatter.positions))
                              : unitsOf(scatter.positions, scatter.windowElements);
  emitFor(e, lo, hi, 1,
          [&](Value number) { positions.emit(delinearize(e, number, scatter.positionShape)); });
  return success();
}

} // namespace hlo::codegen
