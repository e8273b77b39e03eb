//===- ShortRows.cpp - Several short rows at once, one in each lane -------===//
//
// In: a row kernel whose rows are short. Out: for each block of L rows,
//
//   transposed copies of the rows into buffers [columns][L]
//   for each reduce: for each column: total (+)= column     (L rows at a time)
//   for each column: results -> buffers [columns][L]
//   transposed copies of those to the results
//
// No reduction goes across lanes, no vector is partly used, and every row is
// reduced in the order of its columns. What is left of the rows is done one by
// one. All reads of a block come before its writes, so results may share an
// operand's buffer.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {

bool canUseShortRows(RowEmission &emission) {
  if (emission.lanes < 4 || emission.columnShape.size() != 1 || emission.rowShape.size() != 1 ||
      emission.columnShape[0] > kShortRow || emission.columnShape[0] < 2 ||
      emission.rowShape[0] < emission.lanes) {
    return false;
  }
  // What is read otherwise than row by row would be gathered.
  return llvm::all_of(emission.kernel.body().without_terminator(), [](Operation &op) {
    return isElementwise(&op) || isa<ReduceOp, BroadcastOp, ConstantOp, CopyOp, IotaOp, ReshapeOp>(op);
  });
}

namespace {
struct ShortRows {
  RowEmission &emission;
  KernelBuilder &kernel;
  Emission &e;
  ElementEmitter &vectors;
  int64_t lanes, columns;
  DenseMap<Value, Value> inputs, kept;   ///< buffers of operands and intermediates
  llvm::MapVector<Value, Value> outputs; ///< buffers of results

  explicit ShortRows(RowEmission &emission)
      : emission(emission), kernel(emission.kernel), e(emission.e), vectors(emission.vectors),
        lanes(emission.lanes), columns(emission.columnShape[0]) {}

  Value allocate(int64_t bytes) {
    auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
    return LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getI8Type(),
                                  constI64(e, columns * lanes * bytes), 64);
  }
  void allocateAll();
  void read(Value v, Value buffer, Value row, bool asStored);
  void emitReduce(ReduceOp op, Value row);
  void emitResults(Value row);
  void emitBlock(Value row);
};
} // namespace

void ShortRows::allocateAll() {
  for (BlockArgument argument : kernel.body().getArguments()) {
    if (!argument.use_empty() && emission.overColumns(argument)) {
      inputs[argument] = allocate(storageBytes(arrayType(argument).getElementType()));
    }
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

/// From now on v is read from its buffer, whose lane 0 is row `row`.
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
          elems.push_back(reducer.convertInput(e, elementType(input.getType()), n,
                                               vectors.emit(input, index)));
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
  // Results of a row each may take the place of what was read for others: all are computed, then stored.
  ElementEmitter::Scope scope(vectors);
  SmallVector<std::pair<unsigned, Elem>> values;
  for (auto [n, root] : llvm::enumerate(end->getOperands())) {
    if (!emission.overColumns(root)) {
      values.push_back({static_cast<unsigned>(n), vectors.emit(root, {Index(row, 1, lanes)})});
    }
  }
  for (auto &[n, value] : values) {
    storeElements(e, arrayType(end->getOperand(n)).getElementType(), value, kernel.resultPtrs[n], row);
  }
  for (auto [n, root] : llvm::enumerate(end->getOperands())) {
    if (emission.overColumns(root)) {
      int64_t bytes = storageBytes(arrayType(root).getElementType());
      Value to = addBytes(e, kernel.resultPtrs[n], mulI(e, row, columns * bytes));
      emitTransposedCopy(e, bytes, outputs.lookup(root), lanes, to, columns, columns, lanes);
    }
  }
}

void ShortRows::emitBlock(Value row) {
  ElementEmitter::Scope scope(vectors);
  for (BlockArgument argument : kernel.body().getArguments()) {
    auto buffer = inputs.find(argument);
    if (buffer == inputs.end()) {
      continue;
    }
    int64_t bytes = storageBytes(arrayType(argument).getElementType());
    Value from = addBytes(e, kernel.operandPtrs[argument.getArgNumber()],
                          mulI(e, row, columns * bytes));
    emitTransposedCopy(e, bytes, from, columns, buffer->second, lanes, lanes, columns);
    read(argument, buffer->second, row, /*asStored=*/true);
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
  // A kernel of its own state for the rest: the emitters know no buffers.
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
