//===- RowKernel.cpp - Strategies "reduce" and "row" ----------------------===//
//
// In: a region with reductions over the trailing dimensions of one shape, [rows..., columns...],
// and element-wise ops before, between and after them (softmax, layer norm, a plain sum). Out, for
// each row:
//
//   for each pass:                  total = init (+) all columns, of each reduce in it
//                                   (vectors, then lanes)
//   for each result over columns:   for each column: store root
//   for each result over rows:      store root
//
// A total is a scalar that later passes splat. Independent reduces share a pass over the row.
// Expensive values that two passes need (the exponentials of a softmax) are kept in a buffer of one
// row on the stack. So the row stays in L1 from the first read to the last write.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {

LogicalResult RowEmission::analyze() {
  for (ReduceOp op : kernel.body().getOps<ReduceOp>()) {
    reduces.push_back(op);
  }
  if (reduces.empty()) {
    return kernel.fusion.emitOpError("of strategy 'row' has no reduce");
  }
  ArrayRef<int64_t> shape = arrayType(reduces.front().getInputs()[0]).getShape();
  int64_t columns = reduces.front().getDimensions().size();
  for (ReduceOp op : reduces) {
    if (arrayType(op.getInputs()[0]).getShape() != shape ||
        static_cast<int64_t>(op.getDimensions().size()) != columns) {
      return op.emitOpError("in a row kernel differs in shape from the others");
    }
  }
  rowShape.assign(shape.begin(), shape.end() - columns);
  columnShape.assign(shape.end() - columns, shape.end());
  return success();
}

void RowEmission::planPasses(bool shared) {
  passes.clear();
  if (!shared) {
    for (ReduceOp op : reduces) {
      passes.push_back({op});
    }
    return;
  }
  // As many accumulators as registers allow: four wide ones of each reduce, and what is read.
  size_t most = e.machine.vectors.registers / 8;
  DenseMap<Operation *, size_t> level; // one more than that of each reduce that the op needs
  SmallVector<SmallVector<ReduceOp>> byLevel;
  for (Operation &op : kernel.body().without_terminator()) {
    size_t needed = 0;
    for (Value v : op.getOperands()) {
      if (Operation *def = v.getDefiningOp()) {
        needed = std::max(needed, level.lookup(def) + isa<ReduceOp>(def));
      }
    }
    level[&op] = needed;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      byLevel.resize(std::max(byLevel.size(), needed + 1));
      byLevel[needed].push_back(reduce);
    }
  }
  for (ArrayRef<ReduceOp> all : byLevel) {
    SmallVector<ReduceOp> pass;
    for (ReduceOp op : all) {
      bool alone = op->getNumResults() > 1 || !Reducer(kernel.lookup(op.getToApplyAttr()),
                                                       elementTypes(op.getInputs().drop_front(1)))
                                                   .isAssociative();
      if (alone) {
        passes.push_back({op});
        continue;
      }
      if (pass.size() == most) {
        passes.push_back(std::move(pass));
        pass.clear();
      }
      pass.push_back(op);
    }
    if (!pass.empty()) {
      passes.push_back(pass);
    }
  }
}

/// Values that are also read elsewhere than at the row and column where their reader is: below a
/// transpose, a slice, ...; a buffer of the current row does not have those elements.
static DenseSet<Value> findMoved(Block &body) {
  DenseSet<Value> moved;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (isa<ReduceOp>(op)) {
      continue;
    }
    bool isMoved = llvm::any_of(op.getResults(), [&](Value v) { return moved.contains(v); });
    for (Value v : op.getOperands()) {
      if (isMoved || !isElementwise(&op) ||
          arrayType(v).getShape() != arrayType(op.getResult(0)).getShape()) {
        moved.insert(v);
      }
    }
  }
  return moved;
}

void RowEmission::planScratch() {
  // Which passes (identified by their first reduce; the terminator stands for the last, the
  // results) need each expensive value. The walk is then repeated, stopping at saved values: ops
  // below those are not evaluated a second time.
  DenseSet<Value> moved = findMoved(kernel.body());
  Operation *end = kernel.body().getTerminator();
  SmallVector<std::pair<Operation *, SmallVector<Value>>> stages;
  for (ArrayRef<ReduceOp> pass : passes) {
    auto &[stage, operands] = stages.emplace_back(pass[0], SmallVector<Value>());
    for (ReduceOp op : pass) {
      llvm::append_range(operands, op->getOperands());
    }
  }
  stages.emplace_back(end, SmallVector<Value>(end->getOperands()));
  using StagesOf = DenseMap<Value, SmallVector<Operation *>>;
  auto reach = [&](const StagesOf *kept) {
    StagesOf users;
    for (auto &[stage, operands] : stages) {
      DenseSet<Value> seen;
      SmallVector<Value> work(operands);
      while (!work.empty()) {
        Value v = work.pop_back_val();
        Operation *op = v.getDefiningOp();
        if (!op || isa<ReduceOp>(op) || !seen.insert(v).second) {
          continue;
        }
        if (hasFlag(op, OpFlag::KeptInRow) && isa<FloatType>(arrayType(v).getElementType()) &&
            overColumns(v) && !moved.contains(v)) {
          users[v].push_back(stage);
          if (kept && kept->lookup(v).size() > 1) {
            continue;
          }
        }
        work.append(op->operand_begin(), op->operand_end());
      }
    }
    return users;
  };
  StagesOf reachable = reach(nullptr), users = reach(&reachable);
  int64_t columns = 1;
  for (int64_t size : columnShape) {
    columns *= size;
  }
  int64_t bytes = 0;
  for (Operation &op : kernel.body().without_terminator()) {
    for (Value v : op.getResults()) {
      auto it = users.find(v);
      if (it == users.end() || it->second.size() < 2) {
        continue;
      }
      Type element = computeType(arrayType(v).getElementType());
      int64_t size = columns * storageBytes(element);
      // They stay in L2 beside the row itself.
      if (bytes + size > e.machine.memory.l2 / 2) {
        return;
      }
      bytes += size;
      saved[it->second.front()].push_back(v);
    }
  }
}

void RowEmission::allocateScratch(int64_t columns) {
  for (ReduceOp stage : reduces) {
    for (Value v : saved.lookup(stage)) {
      Type element = computeType(arrayType(v).getElementType());
      scratch[v] = stackBuffer(e, columns * storageBytes(element));
    }
  }
}

Value RowEmission::placeInRow(ArrayRef<Index> index) {
  Value at = constI64(e, 0);
  for (auto [i, stride] :
       llvm::zip(index.drop_front(rowShape.size()), rowMajorStrides(columnShape))) {
    at = addI(e, at, mulI(e, i.base, stride));
  }
  return at;
}

void RowEmission::saveIntermediates(Operation *stage, ElementEmitter &emitter,
                                    ArrayRef<Index> index, Value at, Value mask) {
  auto it = saved.find(stage);
  if (it == saved.end()) {
    return;
  }
  for (Value v : it->second) {
    Elem elem = emitter.emit(v, index, mask);
    Type element = computeType(arrayType(v).getElementType());
    storeElements(e, element, elem, scratch.lookup(v), at, mask);
  }
}

/// From here on the values saved by a pass are read back.
void RowEmission::readSaved(Operation *stage) {
  auto it = saved.find(stage);
  if (it == saved.end()) {
    return;
  }
  for (Value v : it->second) {
    SmallVector<int64_t> strides(rowShape.size(), 0);
    llvm::append_range(strides, rowMajorStrides(columnShape));
    for (ElementEmitter *emitter : emitters()) {
      emitter->materialize(v, scratch.lookup(v), strides);
    }
  }
}

void RowEmission::planParts() {
  size_t rank = columnShape.size();
  bool near = llvm::all_of(kernel.body(),
                           [](Operation &op) { return keepsLanesNear(op) || isa<ReduceOp>(op); });
  if (rank >= 2 && near) {
    blocks = planRowBlocks(kernel.body(), columnShape[rank - 2], columnShape.back(), lanes);
  }
  if (!blocks) {
    SmallVector<int64_t> shape(rowShape);
    llvm::append_range(shape, columnShape);
    segments = planSegments(kernel, shape, shape.size() - 1, /*ofRows=*/true);
  }
}

void RowEmission::forEachVector(SmallVectorImpl<Index> &index, Value first,
                                function_ref<void(int64_t, Value)> body) {
  int64_t columns = columnShape.back();
  index.push_back(Index(first));
  index.push_back(Index(constI64(e, 0)));
  Value place = placeInRow(index);
  for (int64_t v = 0; v < blocks->vectors; ++v) {
    index.end()[-2] = rowOfVector(e, v, columns, lanes, first, blocks->rows);
    index.back() = columnOfVector(e, v, columns, lanes);
    body(v, addI(e, place, v * lanes));
  }
  index.truncate(index.size() - 2);
}

void RowEmission::emitResults() {
  Operation *end = kernel.body().getTerminator();
  SmallVector<int64_t> fullShape(rowShape);
  llvm::append_range(fullShape, columnShape);
  SmallVector<int64_t> strides = rowMajorStrides(fullShape), rowStrides = rowMajorStrides(rowShape);
  SmallVector<unsigned> full, once;
  for (auto [n, root] : llvm::enumerate(end->getOperands())) {
    (overColumns(root) ? full : once).push_back(n);
  }
  SmallVector<Index> index(row);
  auto store = [&](ElementEmitter &emitter, Value place, Value mask) {
    SmallVector<Elem> values;
    for (unsigned n : full) {
      values.push_back(emitter.emit(end->getOperand(n), index, mask));
    }
    Value at = place;
    for (auto [i, stride] : llvm::zip(row, strides)) {
      at = addI(e, at, mulI(e, i.base, stride));
    }
    for (auto [n, value] : llvm::zip(full, values)) {
      Type element = arrayType(end->getOperand(n)).getElementType();
      storeElements(e, element, roundedForStore(e, element, value), kernel.resultPtrs[n], at, mask);
    }
  };
  std::function<void(size_t)> nest = [&](size_t c) {
    auto rowsOf = [&](int64_t from, int64_t to) {
      emitFor(e, constI64(e, from), constI64(e, to), 1, [&](Value i) {
        index.push_back(Index(i));
        nest(c + 1);
        index.pop_back();
      });
    };
    if (blocks && c + 2 == columnShape.size()) {
      int64_t whole = columnShape[c] / blocks->rows * blocks->rows;
      emitFor(e, constI64(e, 0), constI64(e, whole), blocks->rows, [&](Value first) {
        ElementEmitter::Scope scope(vectors);
        forEachVector(index, first, [&](int64_t, Value place) { store(vectors, place, {}); });
      });
      rowsOf(whole, columnShape[c]);
      return;
    }
    if (c + 1 < columnShape.size()) {
      rowsOf(0, columnShape[c]);
      return;
    }
    auto part = [&](int64_t from, int64_t to) {
      emitVectorLoop(e, constI64(e, from), constI64(e, to), vectors, scalars,
                     [&](Index i, ElementEmitter &emitter, Value mask) {
                       index.push_back(i);
                       store(emitter, placeInRow(index), mask);
                       index.pop_back();
                     });
    };
    if (segments.ops.empty()) {
      part(0, columnShape.back());
    } else {
      emitSegments(segments, {&vectors, &scalars}, part);
    }
  };
  if (!full.empty()) {
    nest(0);
  }
  // Results with one element per row are stored last, after all are computed: they may overwrite
  // operands read above.
  ElementEmitter::Scope scope(scalars);
  SmallVector<Elem> values;
  for (unsigned n : once) {
    values.push_back(scalars.emit(end->getOperand(n), row));
  }
  Value at = constI64(e, 0);
  for (auto [i, stride] : llvm::zip(row, rowStrides)) {
    at = addI(e, at, mulI(e, i.base, stride));
  }
  for (auto [n, value] : llvm::zip(once, values)) {
    storeElements(e, arrayType(end->getOperand(n)).getElementType(), value, kernel.resultPtrs[n],
                  at);
  }
}

void RowEmission::emitRow(Value rowNumber) {
  row.clear();
  for (Value i : delinearize(e, rowNumber, rowShape)) {
    row.push_back(Index(i));
  }
  for (ArrayRef<ReduceOp> pass : passes) {
    emitPass(pass);
  }
  emitResults();
}

/// Lanes of the per-element computation; values computed once per row may be wider (a count that
/// becomes s64).
static int64_t rowLanes(KernelBuilder &kernel) {
  auto reduces = kernel.body().getOps<ReduceOp>();
  if (reduces.empty()) {
    return kernelLanes(kernel);
  }
  ArrayRef<int64_t> shape = shapeOf((*reduces.begin()).getInputs()[0]);
  return kernelLanes(kernel, [&](Value v) {
    Operation *op = v.getDefiningOp();
    return shapeOf(v) == shape || !op || isa<ReduceOp>(op);
  });
}

LogicalResult emitRowKernel(KernelBuilder &kernel) {
  collapseDims(kernel.body());
  int64_t lanes = rowLanes(kernel);
  flattenShortRows(kernel.body(), lanes);
  RowEmission emission(kernel, lanes);
  if (failed(emission.analyze())) {
    return failure();
  }
  Emission &e = kernel.e;
  int64_t rows = 1, columns = 1;
  for (int64_t size : emission.rowShape) {
    rows *= size;
  }
  for (int64_t size : emission.columnShape) {
    columns *= size;
  }
  if (rows == 0) {
    kernel.tasks = 0;
    return success();
  }
  RowForm form = chooseRowForm(emission);
  emission.planPasses(/*shared=*/form == RowForm::Rows);
  emission.planScratch();
  emission.allocateScratch(columns);
  emission.planParts();
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, columns));
  if (form == RowForm::Lanes) {
    perTask = llvm::alignTo(perTask, emission.lanes);
    auto [lo, hi] = splitTasks(kernel, rows, perTask);
    emitShortRows(emission, lo, hi);
    return success();
  }
  auto [lo, hi] = splitTasks(kernel, rows, perTask);
  emitFor(e, lo, hi, 1, [&](Value rowNumber) { emission.emitRow(rowNumber); });
  return success();
}

LogicalResult emitReduceKernel(KernelBuilder &kernel) { return emitRowKernel(kernel); }

} // namespace hlo::codegen
