//===- Loops.cpp - Tasks, pieces and prefetches ---------------------------===//
#include "compiler/codegen/contraction/Loops.h"

using namespace mlir;

namespace hlo::codegen {

void emitTasks(KernelBuilder &kernel, int64_t tasks, function_ref<void(Value)> body) {
  kernel.tasks = tasks;
  if (tasks == 0) {
    return;
  }
  emitFor(kernel.e, kernel.first, kernel.last, 1, body);
}

void emitItems(KernelBuilder &kernel, int64_t items, int64_t work, int64_t workPerTask,
               function_ref<void(Value)> body) {
  int64_t perTask =
      std::clamp<int64_t>(workPerTask / std::max<int64_t>(1, work), 1, std::max<int64_t>(1, items));
  Emission &e = kernel.e;
  emitTasks(kernel, llvm::divideCeil(items, perTask), [&](Value task) {
    Value from = mulI(e, task, perTask);
    emitFor(e, from, minI(e, addI(e, from, perTask), items), 1, body);
  });
}

std::pair<Value, Value> pieceAt(Emission &e, Value number, int64_t size, int64_t step) {
  Value from = mulI(e, number, step);
  return {from, minI(e, addI(e, from, step), size)};
}

void forEachPiece(Emission &e, Value lo, Value hi, int64_t size, int64_t step,
                  function_ref<void(Value, int64_t)> body) {
  int64_t full = size / step * step;
  if (full > 0) {
    emitFor(e, lo, minI(e, hi, full), step, [&](Value at) { body(at, step); });
  }
  if (full < size) {
    emitIf(e, compareI(e, arith::CmpIPredicate::eq, hi, size),
           [&] { body(constI64(e, full), size - full); });
  }
}

void forEachPiece(Emission &e, int64_t size, int64_t step,
                  function_ref<void(Value, int64_t)> body) {
  forEachPiece(e, constI64(e, 0), constI64(e, size), size, step, body);
}

void forEachVector(Emission &e, int64_t size, int64_t lanes,
                   function_ref<void(Value, Value)> body) {
  forEachPiece(e, size, lanes, [&](Value at, int64_t count) {
    body(at, count < lanes ? firstLanes(e, count, lanes) : Value());
  });
}

void emitIfElse(Emission &e, Value condition, function_ref<void()> then,
                function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(e.b, e.loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  then();
  e.b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value lanesBelow(Emission &e, Value limit, int64_t lanes) {
  if (lanes <= 1) {
    return compareI(e, arith::CmpIPredicate::sgt, limit, 0);
  }
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, laneOffsets(e, lanes, 1),
                               splat(e, limit, lanes).re);
}

Value lanesBelow(Emission &e, const Index &index, Value limit, int64_t lanes) {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, laneIndices(e, index, lanes),
                               splat(e, limit, lanes).re);
}

Value lanesInside(Emission &e, Value first, int64_t lanes, int64_t size) {
  if (size % lanes == 0) {
    return {};
  }
  return compareI(e, arith::CmpIPredicate::slt, laneIndices(e, Index(first, 1), lanes), size);
}

SmallVector<Index> splitIndex(Emission &e, const Index &linear, ArrayRef<int64_t> sizes,
                              int64_t lanes) {
  SmallVector<Index> indices(sizes.size());
  Index rest = linear;
  for (size_t d = sizes.size(); d-- > 1;) {
    auto [quotient, remainder] = divRemIndex(e, rest, sizes[d], lanes);
    indices[d] = sizes[d] == 1 ? Index(constI64(e, 0)) : remainder;
    rest = quotient;
  }
  if (!sizes.empty()) {
    indices[0] = rest;
  }
  return indices;
}

std::optional<int64_t> linearStride(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (sizes.empty()) {
    return 0;
  }
  for (size_t d = 0; d + 1 < sizes.size(); ++d) {
    if (strides[d] != strides[d + 1] * sizes[d + 1]) {
      return std::nullopt;
    }
  }
  return strides.back();
}

Value offsetOf(Emission &e, ArrayRef<Index> index, ArrayRef<int64_t> strides) {
  Value offset = constI64(e, 0);
  for (auto [i, stride] : llvm::zip(index, strides)) {
    offset = addI(e, offset, mulI(e, i.base, stride));
  }
  return offset;
}

void emitPrefetch(Emission &e, Value address, int level) {
  LLVM::Prefetch::create(e.b, e.loc, address, /*rw=*/0, /*hint=*/4 - level, /*cache=*/1);
}

void prefetchRun(Emission &e, Value address, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLineBytes) {
    emitPrefetch(e, addBytes(e, address, constI64(e, at)));
  }
}

} // namespace hlo::codegen
