//===- RowKernel.cpp - Strategies "reduce" and "row" ----------------------===//
//
// In: a region with reductions over the trailing dimensions of one shape,
// [rows..., columns...], and element-wise ops before, between and after them
// (softmax, layer norm, a plain sum). Out, for each row:
//
//   for each pass:                total = init (+) all columns     (vectors, then lanes), of each reduce in it
//   for each result over columns: for each column: store root
//   for each result over rows:    store root
//
// A total is a scalar that later stages splat. Reduces that do not need one another share a
// pass over the row. What is costly and needed by two stages (the exponentials of a softmax) is
// kept in a buffer of one row on the stack, so the row stays in L1 from the first read to the
// last write.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Most bytes of one row's intermediates on the stack.
static constexpr int64_t kRowScratchBytes = 128 << 10;

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
  if (!shared) {
    for (ReduceOp op : reduces) {
      passes.push_back({op});
    }
    return;
  }
  // As many accumulators as registers allow: four wide ones of each reduce, and what is read.
  size_t most = e.target.vectorRegisters / 8;
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
      bool alone = op->getNumResults() > 1 ||
                   !Reducer(kernel.lookup(op.getToApplyAttr()),
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

/// Ops that are worth a store and a load rather than a second evaluation.
static bool isCostly(Operation *op) {
  return isa<ExponentialOp, ExponentialMinusOneOp, LogOp, LogPlusOneOp, LogisticOp, TanhOp, TanOp,
             SineOp, CosineOp, ErfOp, PowerOp, DivideOp, SqrtOp, RsqrtOp, CbrtOp, Atan2Op>(op);
}

/// Values that are also read elsewhere than at the row and column where their reader is: below a transpose, a
/// slice, ...; a buffer of the current row does not have those elements.
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
  // Which stages (passes, known by their first reduce, and the terminator for the results) reach each costly value; then
  // the same walk again, stopping at values that will be kept: what lies below those is not evaluated a second time.
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
        if (isCostly(op) && isa<FloatType>(arrayType(v).getElementType()) && overColumns(v) &&
            !moved.contains(v)) {
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
      if (bytes + size > kRowScratchBytes) {
        return;
      }
      bytes += size;
      saved[it->second.front()].push_back(v);
    }
  }
}

void RowEmission::allocateScratch(int64_t columns) {
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  for (ReduceOp stage : reduces) {
    for (Value v : saved.lookup(stage)) {
      Type element = computeType(arrayType(v).getElementType());
      scratch[v] = LLVM::AllocaOp::create(e.b, e.loc, pointer, element, constI64(e, columns), 64);
    }
  }
}

void RowEmission::saveIntermediates(Operation *stage, ElementEmitter &emitter,
                                    ArrayRef<Index> index, Value mask) {
  auto it = saved.find(stage);
  if (it == saved.end()) {
    return;
  }
  auto strides = rowMajorStrides(columnShape);
  for (Value v : it->second) {
    Elem elem = emitter.emit(v, index, mask);
    Value at = constI64(e, 0);
    for (size_t c = 0; c < columnShape.size(); ++c) {
      at = addI(e, at, mulI(e, index[rowShape.size() + c].base, strides[c]));
    }
    Type element = computeType(arrayType(v).getElementType());
    storeElements(e, element, elem, scratch.lookup(v), at, mask);
  }
}

/// From here on the values that a pass has saved are read back.
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

  // What is left after the wide vectors: single ones, then a masked one where there are masks, else scalars.
  int64_t n = columnShape.back();
  bool vectorize = reductions[0].reducer.isAssociative() && lanes > 1 && n >= 2;
  struct Part {
    ElementEmitter *emitter;
    int64_t from, to;
    bool masked;
  };
  SmallVector<Part> parts;
  if (!vectorize) {
    parts.push_back({&scalars, 0, n, false});
  } else {
    int64_t wideEnd = n >= 4 * lanes ? n / wide.lanes() * wide.lanes() : 0;
    int64_t vectorEnd = n / lanes * lanes;
    parts.push_back({&wide, 0, wideEnd, false});
    parts.push_back({&vectors, wideEnd, vectorEnd, false});
    if (n - vectorEnd > 1) {
      parts.push_back({&vectors, vectorEnd, n, true});
    } else {
      parts.push_back({&scalars, vectorEnd, n, false});
    }
    llvm::erase_if(parts, [](const Part &part) { return part.from == part.to; });
  }
  // Accumulators of all reduces for each part; a masked vector goes into those of the vectors, if there are any.
  SmallVector<Elem> zero;
  SmallVector<size_t> accumulatorOf;
  for (const Part &part : parts) {
    size_t same = accumulatorOf.size();
    if (part.masked && same > 0 && parts[same - 1].emitter == &vectors) {
      accumulatorOf.push_back(accumulatorOf.back());
      continue;
    }
    accumulatorOf.push_back(vectorize ? zero.size() : 0);
    if (!vectorize) {
      zero = starts;
      continue;
    }
    for (Reduction &reduction : reductions) {
      zero.push_back(reduction.reducer.identity(e, part.emitter->lanes()));
    }
  }

  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t c, ValueRange carried) {
    if (c + 1 < columnShape.size()) {
      return emitForCarrying(e, constI64(e, 0), constI64(e, columnShape[c]), 1, carried,
                             [&](Value i, ValueRange inner) {
                               index.push_back(Index(i));
                               SmallVector<Value> next = nest(c + 1, inner);
                               index.pop_back();
                               return next;
                             });
    }
    SmallVector<Elem> state = unflattenElems(carried, zero);
    for (auto [number, part] : llvm::enumerate(parts)) {
      MutableArrayRef<Elem> own = MutableArrayRef<Elem>(state);
      if (vectorize) {
        own = own.slice(accumulatorOf[number], reductions.size());
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
            index.push_back(width > 1 ? Index(i, 1, width) : Index(i));
            SmallVector<Elem> before = unflattenElems(inner, own), after;
            for (Reduction &reduction : reductions) {
              SmallVector<Elem> elems = inputsAt(reduction, emitter, mask);
              if (mask) {
                elems[0] = selectElem(e, mask, elems[0], reduction.reducer.identity(e, width));
              }
              ArrayRef<Elem> current = ArrayRef(before).slice(after.size(), elems.size());
              llvm::append_range(after, reduction.reducer.combine(e, current, elems));
            }
            saveIntermediates(pass[0], emitter, index, mask);
            index.pop_back();
            return flattenElems(after);
          });
      llvm::copy(unflattenElems(next, own), own.begin());
    }
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
  std::function<void(size_t)> nest = [&](size_t c) {
    if (c + 1 < columnShape.size()) {
      emitFor(e, constI64(e, 0), constI64(e, columnShape[c]), 1, [&](Value i) {
        index.push_back(Index(i));
        nest(c + 1);
        index.pop_back();
      });
      return;
    }
    Value base = constI64(e, 0);
    for (auto [i, stride] : llvm::zip(index, strides)) {
      base = addI(e, base, mulI(e, i.base, stride));
    }
    emitVectorLoop(e, constI64(e, 0), constI64(e, columnShape.back()), vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     index.push_back(i);
                     SmallVector<Elem> values;
                     for (unsigned n : full) {
                       values.push_back(emitter.emit(end->getOperand(n), index, mask));
                     }
                     for (auto [n, value] : llvm::zip(full, values)) {
                       storeElements(e, arrayType(end->getOperand(n)).getElementType(), value,
                                     kernel.resultPtrs[n], addI(e, base, i.base), mask);
                     }
                     index.pop_back();
                   });
  };
  if (!full.empty()) {
    nest(0);
  }
  // What is stored once a row comes last, and all of it at once: it may take the place of what is read above.
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
    storeElements(e, arrayType(end->getOperand(n)).getElementType(), value, kernel.resultPtrs[n], at);
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

LogicalResult emitRowKernel(KernelBuilder &kernel) {
  collapseDims(kernel.body());
  RowEmission emission(kernel, kernelLanes(kernel));
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
  bool shortRows = canUseShortRows(emission);
  emission.planPasses(/*shared=*/!shortRows);
  emission.planScratch();
  emission.allocateScratch(columns);
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, columns));
  if (shortRows) {
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
