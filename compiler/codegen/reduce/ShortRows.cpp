//===- ShortRows.cpp - Several short rows at once, one in each lane -------===//
//
// In: a row kernel with short rows. Out, for each block of L rows,
//
//   moved values (gathered, sliced, ...): row by row into a buffer [L][columns]
//   transposed copies of the rows into buffers [columns][L]
//   for each reduce: for each column: total (+)= column     (L rows at a time)
//   for each column: results -> buffers [columns][L]
//   transposed copies of those to the results
//
// No reduction crosses lanes, no vector is partly used, and every row is reduced in the order of
// its columns. Remaining rows are computed one by one. All reads of a block come before its writes,
// so results may share an operand's buffer.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// True if a value depends on a reduce of the region.
static bool dependsOnReduce(Value v) {
  DenseSet<Value> seen;
  SmallVector<Value> work{v};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && isa<ReduceOp>(op)) {
      return true;
    }
    for (Value operand : op ? op->getOperands() : OperandRange(nullptr, 0)) {
      if (seen.insert(operand).second) {
        work.push_back(operand);
      }
    }
  }
  return false;
}

/// The values over columns that ops move (gather, slice, ...), or nothing if the region has an op
/// that cannot run with one row per lane. With lanes along rows, moved values would become gathers.
static std::optional<SmallVector<Value>> findMoved(RowEmission &emission) {
  auto isMove = [](Operation *op) {
    return isa<GatherOp, SliceOp, ReverseOp, PadOp, ConcatenateOp, DynamicSliceOp, TransposeOp>(
               op) ||
           op->hasAttr(kFlattenedRows);
  };
  SmallVector<Value> moved, work(emission.kernel.body().getTerminator()->getOperands());
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    Operation *op = v.getDefiningOp();
    if (!op || !seen.insert(v).second) {
      continue;
    }
    if (isMove(op) && (emission.overColumns(v) || shapeOf(v).size() == 1)) {
      if (dependsOnReduce(v)) {
        return std::nullopt;
      }
      if (emission.overColumns(v)) {
        moved.push_back(v);
      }
      continue;
    }
    if (!isElementwise(op) &&
        !isa<ReduceOp, BroadcastOp, ConstantOp, CopyOp, IotaOp, ReshapeOp>(op)) {
      return std::nullopt;
    }
    llvm::append_range(work, op->getOperands());
  }
  return moved;
}

bool canUseShortRows(RowEmission &emission) {
  return emission.lanes >= 4 && emission.columnShape.size() == 1 && emission.rowShape.size() == 1 &&
         emission.columnShape[0] <= kShortRow && emission.columnShape[0] >= 2 &&
         emission.rowShape[0] >= emission.lanes && findMoved(emission);
}

namespace {
struct ShortRows {
  RowEmission &emission;
  KernelBuilder &kernel;
  Emission &e;
  ElementEmitter &vectors;
  int64_t lanes, columns;
  ElementEmitter alongRow, single; ///< alongRow: for one row of moved values
  SmallVector<Value> moved;
  DenseMap<Value, Value> inputs, kept;   ///< buffers of operands and moved values; of saved values
  Value rowBuffer;                       ///< rows of a moved value, one after the other
  llvm::MapVector<Value, Value> outputs; ///< buffers of results

  explicit ShortRows(RowEmission &emission)
      : emission(emission), kernel(emission.kernel), e(emission.e), vectors(emission.vectors),
        lanes(emission.lanes), columns(emission.columnShape[0]), alongRow(kernel, lanes),
        single(kernel, 1), moved(*findMoved(emission)) {}

  Value allocate(int64_t bytes) { return stackBuffer(e, columns * lanes * bytes); }
  void allocateAll();
  void read(Value v, Value buffer, Value row, bool asStored);
  /// Copies `lanes` rows of v, from `rows` on, to its buffer.
  void readRows(Value v, Value rows, Value row);
  void computeRows(Value v, Value row);
  void emitReduce(ReduceOp op, Value row);
  void emitResults(Value row);
  void emitBlock(Value row);
};
} // namespace

void ShortRows::allocateAll() {
  auto readInLanes = [&](Operation *user) {
    return user->getNumResults() != 1 || !llvm::is_contained(moved, user->getResult(0));
  };
  for (BlockArgument argument : kernel.body().getArguments()) {
    if (emission.overColumns(argument) && llvm::any_of(argument.getUsers(), readInLanes)) {
      inputs[argument] = allocate(storageBytes(arrayType(argument).getElementType()));
    }
  }
  for (Value v : moved) {
    inputs[v] = allocate(storageBytes(arrayType(v).getElementType()));
  }
  if (!moved.empty()) {
    int64_t most = 0;
    for (Value v : moved) {
      most = std::max(most, storageBytes(arrayType(v).getElementType()));
    }
    rowBuffer = allocate(most);
  }
  for (Value root : kernel.body().getTerminator()->getOperands()) {
    if (emission.overColumns(root)) {
      outputs[root] = allocate(storageBytes(arrayType(root).getElementType()));
    }
  }
  for (ReduceOp stage : emission.reduces) {
    for (Value v : emission.saved.lookup(stage)) {
      kept[v] = allocate(storageBytes(computeType(arrayType(v).getElementType())));
    }
  }
}

/// From here on v is read from its buffer, whose lane 0 is row `row`.
void ShortRows::read(Value v, Value buffer, Value row, bool asStored) {
  Type element = arrayType(v).getElementType();
  int64_t bytes = storageBytes(asStored ? element : computeType(element));
  Value base = addBytes(e, buffer, mulI(e, row, -bytes));
  vectors.materialize(v, base, {1, lanes}, asStored);
}

void ShortRows::emitReduce(ReduceOp op, Value row) {
  size_t count = op.getInputs().size() / 2;
  ValueRange from = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
  SmallVector<Elem> start = reducer.start(e, inits, vectors);
  SmallVector<Value> total = emitForCarrying(
      e, constI64(e, 0), constI64(e, columns), 1, flattenElems(start),
      [&](Value c, ValueRange carried) {
        ElementEmitter::Scope scope(vectors);
        SmallVector<Index> index{Index(row, 1, lanes), Index(c)};
        SmallVector<Elem> elems;
        for (auto [n, input] : llvm::enumerate(from)) {
          elems.push_back(
              reducer.convertInput(e, elementType(input.getType()), n, vectors.emit(input, index)));
        }
        for (Value v : emission.saved.lookup(op)) {
          storeElements(e, computeType(arrayType(v).getElementType()), vectors.emit(v, index),
                        kept.lookup(v), mulI(e, c, lanes));
        }
        return flattenElems(reducer.combine(e, unflattenElems(carried, start), elems));
      });
  for (auto [n, value] : llvm::enumerate(unflattenElems(total, start))) {
    Type to = elementType(op->getResult(n).getType());
    vectors.bind(op->getResult(n), reducer.finish(e, n, to, value));
  }
  for (Value v : emission.saved.lookup(op)) {
    read(v, kept.lookup(v), row, /*asStored=*/false);
  }
}

void ShortRows::emitResults(Value row) {
  Operation *end = kernel.body().getTerminator();
  if (!outputs.empty()) {
    emitFor(e, constI64(e, 0), constI64(e, columns), 1, [&](Value c) {
      ElementEmitter::Scope scope(vectors);
      for (auto &[root, buffer] : outputs) {
        Elem value = vectors.emit(root, {Index(row, 1, lanes), Index(c)});
        storeElements(e, arrayType(root).getElementType(), value, buffer, mulI(e, c, lanes));
      }
    });
  }
  // Results with one element per row may overwrite other results' operands: all are computed before
  // the first is stored.
  ElementEmitter::Scope scope(vectors);
  SmallVector<std::pair<unsigned, Elem>> values;
  for (auto [n, root] : llvm::enumerate(end->getOperands())) {
    if (!emission.overColumns(root)) {
      values.push_back({static_cast<unsigned>(n), vectors.emit(root, {Index(row, 1, lanes)})});
    }
  }
  for (auto &[n, value] : values) {
    storeElements(e, arrayType(end->getOperand(n)).getElementType(), value, kernel.resultPtrs[n],
                  row);
  }
  for (auto [n, root] : llvm::enumerate(end->getOperands())) {
    if (emission.overColumns(root)) {
      int64_t bytes = storageBytes(arrayType(root).getElementType());
      Value to = addBytes(e, kernel.resultPtrs[n], mulI(e, row, columns * bytes));
      emitTransposedCopy(e, bytes, outputs.lookup(root), lanes, to, columns, columns, lanes);
    }
  }
}

void ShortRows::readRows(Value v, Value rows, Value row) {
  int64_t bytes = storageBytes(arrayType(v).getElementType());
  emitTransposedCopy(e, bytes, rows, columns, inputs.lookup(v), lanes, lanes, columns);
  read(v, inputs.lookup(v), row, /*asStored=*/true);
}

/// True if vectors may cover several rows of v with little code.
static bool isNearAndSmall(Value v, int64_t columns) {
  // The bound on code of kMostBlockOps (loops/ShortRows.cpp), with at most a vector per column.
  constexpr int64_t mostOps = 256;
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  int64_t ops = 0;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op) {
      continue;
    }
    if (!keepsLanesNear(*op) || isa<ReduceWindowOp>(op) || op->hasAttr(kFlattenedRows) ||
        ++ops * columns > mostOps) {
      return false;
    }
    for (Value operand : op->getOperands()) {
      if (seen.insert(operand).second) {
        work.push_back(operand);
      }
    }
  }
  return true;
}

void ShortRows::computeRows(Value v, Value row) {
  if (isNearAndSmall(v, columns)) {
    // As many vectors as columns, all full.
    for (int64_t n = 0; n < columns; ++n) {
      ElementEmitter::Scope scope(alongRow);
      Elem value = alongRow.emit(
          v, {rowOfVector(e, n, columns, lanes, row, lanes), columnOfVector(e, n, columns, lanes)});
      storeElements(e, arrayType(v).getElementType(), value, rowBuffer, constI64(e, n * lanes));
    }
    return;
  }
  emitFor(e, constI64(e, 0), constI64(e, lanes), 1, [&](Value i) {
    Index at(addI(e, row, i));
    Value to = mulI(e, i, columns);
    emitVectorLoop(e, constI64(e, 0), constI64(e, columns), alongRow, single,
                   [&](Index c, ElementEmitter &emitter, Value mask) {
                     Elem value = emitter.emit(v, {at, c}, mask);
                     storeElements(e, arrayType(v).getElementType(), value, rowBuffer,
                                   addI(e, to, c.base), mask);
                   });
  });
}

void ShortRows::emitBlock(Value row) {
  ElementEmitter::Scope scope(vectors);
  for (BlockArgument argument : kernel.body().getArguments()) {
    if (inputs.contains(argument)) {
      int64_t bytes = storageBytes(arrayType(argument).getElementType());
      readRows(
          argument,
          addBytes(e, kernel.operandPtrs[argument.getArgNumber()], mulI(e, row, columns * bytes)),
          row);
    }
  }
  for (Value v : moved) {
    computeRows(v, row);
    readRows(v, rowBuffer, row);
  }
  for (ReduceOp op : emission.reduces) {
    emitReduce(op, row);
  }
  emitResults(row);
}

void emitShortRows(RowEmission &emission, Value lo, Value hi) {
  Emission &e = emission.e;
  int64_t lanes = emission.lanes;
  ShortRows rows(emission);
  rows.allocateAll();
  Value whole = addI(e, lo, mulI(e, divI(e, subI(e, hi, lo), lanes), lanes));
  emitFor(e, lo, whole, lanes, [&](Value row) { rows.emitBlock(row); });
  if (emission.rowShape[0] % lanes == 0) {
    return;
  }
  // The remaining rows use a separate kernel state, whose emitters do not read the buffers.
  RowEmission rest(emission.kernel, lanes);
  if (failed(rest.analyze())) {
    return;
  }
  rest.planPasses(/*shared=*/true);
  rest.planScratch();
  rest.allocateScratch(emission.columnShape[0]);
  emitFor(e, whole, hi, 1, [&](Value row) { rest.emitRow(row); });
}

} // namespace hlo::codegen
