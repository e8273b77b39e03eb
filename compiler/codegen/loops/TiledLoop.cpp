//===- TiledLoop.cpp - Loops over results with transposed reads -----------===//
//
// In: a loop region and its transposed reads (TransposedReads.cpp). Out: a nest over blocks of rows
// and columns. For each block, those operands' elements are transposed into buffers that fit L1;
// the elements of the block are then computed in vectors from the buffers:
//
//   tasks: (outer dimensions, blocks of rows, blocks of columns)
//     transposed copies of the block
//     for each row: for each column: results        (short rows: several at a time)
//
// A result that is just a transposed operand is copied without a buffer. The last block is shifted
// back to end with the array, so that copies have one size; elements are still computed once.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Rows and columns of a block; narrow elements need longer rows to fill cache lines.
static std::pair<int64_t, int64_t> blockSizes(int64_t rows, int64_t columns, int64_t bytes) {
  int64_t side = bytes <= 2 ? 128 : 64;
  int64_t r = std::min(rows, side), c = std::min(columns, side);
  if (r < side) {
    c = std::min(columns, std::max(side, side * side / r / 64 * 64));
  } else if (c < side) {
    r = std::min(rows, std::max(side, side * side / c / 64 * 64));
  }
  return {r, c};
}

/// True if the region's only result is the read operand, moved.
static bool isOnlyMoved(KernelBuilder &kernel, const TransposedRead &read) {
  Operation *end = kernel.body().getTerminator();
  if (end->getNumOperands() != 1) {
    return false;
  }
  Value v = end->getOperand(0);
  while (v != read.value) {
    Operation *op = v.getDefiningOp();
    if (!op || !isa<TransposeOp, CopyOp, ReshapeOp, BitcastOp>(op)) {
      return false;
    }
    v = op->getOperand(0);
  }
  return true;
}

/// The transpose that is the region's only result, if its operand is computed only from transposed
/// reads, of more bytes than the result. A block is then computed in the operands' order and
/// transposed once, at the end. Null for other regions.
static TransposeOp turnedLast(KernelBuilder &kernel, const TilePlan &plan) {
  Operation *end = kernel.body().getTerminator();
  auto root =
      end->getNumOperands() == 1 ? end->getOperand(0).getDefiningOp<TransposeOp>() : TransposeOp();
  if (!root) {
    return {};
  }
  auto bytesOf = [](Value v) {
    return arrayType(v).getNumElements() * storageBytes(arrayType(v).getElementType());
  };
  int64_t read = 0, arrays = 0;
  for (const TransposedRead &across : plan.reads) {
    read += bytesOf(across.value);
  }
  for (Operation &op : kernel.body().without_terminator()) {
    if (!isElementwise(&op) && !isa<BroadcastOp, ConstantOp, TransposeOp, SliceOp>(op)) {
      return {};
    }
    if (isa<TransposeOp, SliceOp>(op) && &op != root) {
      return {};
    }
  }
  for (Value argument : kernel.body().getArguments()) {
    arrays += argument.use_empty() ? 0 : bytesOf(argument);
  }
  // Small arrays, such as biases, may be read in any order.
  return read > bytesOf(root) && (arrays - read) * 16 <= read ? root : TransposeOp();
}

/// Writes the block of the transposed operand that starts at `index` to a buffer, column-major.
static void emitTurned(KernelBuilder &kernel, TransposeOp turned, SmallVector<Index> index,
                       int64_t row, int64_t rows, int64_t columns, Value buffer) {
  Emission &e = kernel.e;
  ElementEmitter vectors(kernel, kernelLanes(kernel)), scalars(kernel, 1);
  Value row0 = index[row].base, column0 = index.back().base;
  emitFor(e, constI64(e, 0), constI64(e, columns), 1, [&](Value c) {
    index.back() = Index(addI(e, column0, c));
    emitVectorLoop(e, constI64(e, 0), constI64(e, rows), vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     index[row] = Index(addI(e, row0, i.base), i.stride);
                     SmallVector<Index> source(index.size());
                     for (auto [d, from] : llvm::enumerate(turned.getDimensions())) {
                       source[from] = index[d];
                     }
                     storeElements(e, elementType(turned.getType()),
                                   emitter.emit(turned.getOperand(), source, mask), buffer,
                                   addI(e, mulI(e, c, rows), i.base), mask);
                   });
  });
}

void emitTiledLoop(KernelBuilder &kernel, const TilePlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars,
                   function_ref<void(ElementEmitter &, ArrayRef<Index>, Value, Value)> store) {
  Emission &e = kernel.e;
  ArrayRef<int64_t> shape = shapeOf(kernel.body().getTerminator()->getOperand(0));
  int64_t rank = shape.size(), minor = rank - 1, row = plan.row;
  int64_t bytes = 1;
  for (const TransposedRead &read : plan.reads) {
    bytes = std::max(bytes, storageBytes(arrayType(read.argument).getElementType()));
  }
  auto [blockRows, blockColumns] = blockSizes(shape[row], shape[minor], bytes);
  int64_t rowBlocks = llvm::divideCeil(shape[row], blockRows);
  int64_t columnBlocks = llvm::divideCeil(shape[minor], blockColumns);

  SmallVector<int64_t> units, outerDims;
  for (int64_t d = 0; d < minor; ++d) {
    if (d != row) {
      units.push_back(shape[d]);
      outerDims.push_back(d);
    }
  }
  units.append({rowBlocks, columnBlocks});
  int64_t total = 1;
  for (int64_t size : units) {
    total *= size;
  }

  bool direct = isOnlyMoved(kernel, plan.reads.front());
  TransposeOp turned = direct ? TransposeOp() : turnedLast(kernel, plan);
  SmallVector<Value> buffers;
  for (const TransposedRead &read : plan.reads) {
    if (direct || (turned && !buffers.empty())) {
      break;
    }
    Type stored = elementType(turned ? turned.getType() : Type(read.argument.getType()));
    int64_t size = blockRows * blockColumns * storageBytes(stored);
    buffers.push_back(stackBuffer(e, size));
  }
  std::optional<ShortRowPlan> shortRows;
  if (row + 1 == minor && blockColumns == shape[minor] &&
      llvm::all_of(kernel.body(),
                   [](Operation &op) { return keepsLanesNear(op) || isa<TransposeOp>(op); })) {
    shortRows = planRowBlocks(kernel.body(), blockRows, blockColumns, vectors.lanes());
  }
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / (blockRows * blockColumns));
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  auto [lo, hi] = splitTasks(kernel, total, perTask);
  auto clampStart = [&](Value start, int64_t block, int64_t size) -> Value {
    return size % block == 0 ? start : minI(e, start, size - block);
  };
  auto extent = [&](Value start, int64_t block, int64_t size) -> Value {
    return size % block == 0 ? constI64(e, block)
                             : minI(e, subI(e, constI64(e, size), start), block);
  };
  emitFor(e, lo, hi, 1, [&](Value unit) {
    SmallVector<Value> at = delinearize(e, unit, units);
    SmallVector<Index> index(rank);
    for (auto [i, d] : llvm::enumerate(outerDims)) {
      index[d] = Index(at[i]);
    }
    Value row0 = mulI(e, at[units.size() - 2], blockRows);
    Value column0 = mulI(e, at[units.size() - 1], blockColumns);
    Value copyRow = clampStart(row0, blockRows, shape[row]);
    Value copyColumn = clampStart(column0, blockColumns, shape[minor]);
    auto offset = [&](ArrayRef<int64_t> by) {
      Value sum = addI(e, mulI(e, copyRow, by[row]), mulI(e, copyColumn, by[minor]));
      for (int64_t d : outerDims) {
        sum = addI(e, sum, mulI(e, index[d].base, by[d]));
      }
      return sum;
    };
    if (turned) {
      index[row] = Index(copyRow);
      index[minor] = Index(copyColumn);
      int64_t size = storageBytes(elementType(turned.getType()));
      emitTurned(kernel, turned, index, row, blockRows, blockColumns, buffers[0]);
      Value to = addBytes(e, kernel.resultPtrs[0], mulI(e, offset(strides), size));
      emitTransposedCopy(e, size, buffers[0], blockRows, to, strides[row], blockColumns, blockRows);
      return;
    }
    for (auto [n, read] : llvm::enumerate(plan.reads)) {
      int64_t size = storageBytes(arrayType(read.argument).getElementType());
      Value from = addBytes(e, kernel.operandPtrs[read.argument.getArgNumber()],
                            mulI(e, addI(e, offset(read.rootStride), read.offset), size));
      Value to =
          direct ? addBytes(e, kernel.resultPtrs[0], mulI(e, offset(strides), size)) : buffers[n];
      emitTransposedCopy(e, size, from, read.minorStride, to, direct ? strides[row] : blockColumns,
                         blockColumns, blockRows);
      if (direct) {
        return;
      }
      // Element (0, 0) of the buffer is at (copyRow, copyColumn).
      Value origin = addI(e, mulI(e, copyRow, blockColumns), copyColumn);
      Value base = addBytes(e, buffers[n], mulI(e, origin, -size));
      SmallVector<int64_t> tile(shapeOf(read.value).size(), 0);
      tile[read.tileRow] = blockColumns;
      tile[read.tileMinor] = 1;
      for (ElementEmitter *emitter : {&vectors, &scalars}) {
        emitter->materialize(read.value, base, tile, /*asStored=*/true);
      }
    }
    auto place = [&] {
      Value base = column0;
      for (int64_t d = 0; d < minor; ++d) {
        base = addI(e, base, mulI(e, index[d].base, strides[d]));
      }
      return base;
    };
    Value rows = extent(row0, blockRows, shape[row]), whole = constI64(e, 0);
    if (shortRows) {
      // The block contains all columns, and its rows are consecutive in the results as in the
      // buffers.
      whole = mulI(e, divI(e, rows, shortRows->rows), shortRows->rows);
      emitFor(e, constI64(e, 0), whole, shortRows->rows, [&](Value r) {
        ElementEmitter::Scope scope(vectors);
        index[row] = Index(addI(e, row0, r));
        Value base = place(), first = index[row].base;
        for (int64_t v = 0; v < shortRows->vectors; ++v) {
          index[row] = rowOfVector(e, v, shape[minor], vectors.lanes(), first,
                                   std::gcd(shortRows->rows, blockRows));
          index[minor] = columnOfVector(e, v, shape[minor], vectors.lanes());
          store(vectors, index, addI(e, base, v * vectors.lanes()), {});
        }
      });
    }
    emitFor(e, whole, rows, 1, [&](Value r) {
      index[row] = Index(addI(e, row0, r));
      Value base = place();
      emitVectorLoop(e, constI64(e, 0), extent(column0, blockColumns, shape[minor]), vectors,
                     scalars, [&](Index i, ElementEmitter &emitter, Value mask) {
                       index[minor] = Index(addI(e, column0, i.base), i.stride);
                       store(emitter, index, addI(e, base, i.base), mask);
                     });
    });
  });
}

} // namespace hlo::codegen
