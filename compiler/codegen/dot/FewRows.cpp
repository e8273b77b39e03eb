//===- FewRows.cpp - What the forms for few rows share ---------------------===//
#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

void forEachBatch(Contraction &c, int64_t tasks,
                  function_ref<void(ArrayRef<Index>, Value, Value)> body) {
  KernelBuilder &kernel = c.kernel;
  Emission &e = kernel.e;
  int64_t batches = c.batchSize();
  kernel.tasks = batches * tasks;
  auto run = [&](Value number, Value from, Value to) {
    body(splitIndex(e, Index(number), c.batch, 1), from, to);
  };
  if (batches == 1) {
    emitIf(e,
           arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, kernel.first, kernel.last),
           [&] { run(constI64(e, 0), kernel.first, kernel.last); });
    return;
  }
  Value begin = divI(e, kernel.first, tasks), end = divI(e, addI(e, kernel.last, tasks - 1), tasks);
  emitFor(e, begin, end, 1, [&](Value number) {
    Value start = mulI(e, number, tasks);
    run(number, maxI(e, subI(e, kernel.first, start), 0),
        minI(e, subI(e, kernel.last, start), tasks));
  });
}

int64_t bytesPerTask(int64_t bytes) {
  // A task is worth its dispatch with so many bytes; so many tasks share evenly.
  constexpr int64_t kLeastBytes = 256 << 10, kEnoughTasks = 32;
  return std::max<int64_t>(kLeastBytes, bytes / kEnoughTasks);
}

int64_t unitsPerTask(int64_t units, int64_t bytes, int64_t batches) {
  int64_t wanted = bytesPerTask(bytes * units * batches);
  int64_t perTask = std::clamp<int64_t>(wanted / std::max<int64_t>(1, bytes), 1, units);
  return llvm::divideCeil(units, llvm::divideCeil(units, perTask));
}

void storeLaneSums(Contraction &c, Epilogue &epilogue, const LaneSums &tile, ArrayRef<Elem> sums) {
  Emission &e = c.kernel.e;
  Buffers buffers(e, c.element);
  int64_t lanes = tile.lanes, columns = tile.columns, parts = buffers.parts;
  Index lane(tile.first, columns > 1 ? 1 : 0, columns);
  SmallVector<Index> n = splitIndex(e, lane, c.n, columns);
  Value mask = lanesInside(e, tile.first, columns, c.nSize());
  // The sums of a few rows at a time fill one register.
  int64_t atOnce = std::max<int64_t>(1, lanes / columns);
  for (int64_t r0 = 0; r0 < tile.rows; r0 += atOnce) {
    int64_t count = std::min(atOnce, tile.rows - r0);
    Value totals[2];
    int64_t together = llvm::PowerOf2Ceil(count) * columns;
    for (int64_t p = 0; p < parts; ++p) {
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < together; ++i) {
        int64_t place = std::min(i, count * columns - 1);
        const Elem &sum = sums[r0 * columns + place];
        vectors.push_back(p == 0 ? sum.re : sum.im);
      }
      totals[p] = lanes == 1 ? vectors[0] : addLanes(e, buffers.part, vectors);
    }
    for (int64_t r = 0; r < count; ++r) {
      auto rowOf = [&](Value total) -> Value {
        if (!total || !isa<VectorType>(total.getType())) {
          return total;
        }
        if (columns == 1) {
          return vector::ExtractOp::create(e.b, e.loc, total, r);
        }
        SmallVector<int64_t> places;
        for (int64_t i = 0; i < columns; ++i) {
          places.push_back(r * columns + i);
        }
        return vector::ShuffleOp::create(e.b, e.loc, total, total, places);
      };
      SmallVector<Index> row = splitIndex(e, Index(constI64(e, tile.row + r0 + r)), c.m, 1);
      epilogue.store(c.element, Elem(rowOf(totals[0]), rowOf(totals[1])),
                     c.outIndex(tile.batch, row, n, columns), columns, mask);
    }
  }
}

} // namespace hlo::codegen
