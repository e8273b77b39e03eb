//===- ShortRows.cpp - Vectors that cover several rows --------------------===//
//
// In: a region whose results have rows shorter than a vector: points of three coordinates, pixels,
// quaternions. Out: a loop over blocks of rows. A block is the fewest rows that fill whole vectors
// (16 rows of 3 are 3 vectors of 16), so the row and the column of each lane are known relative to
// the block's start:
//
//   lane of vector 0   0 1 2 3 4 5 6 7 8 ...
//   row - first row    0 0 0 1 1 1 2 2 2 ...
//   column             0 1 2 0 1 2 0 1 2 ...
//
// Adjacent elements in memory are then one vector load, nearby ones a few loads and shuffles, and
// stores need no masks. Remaining rows are computed one by one.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Limit on the ops in the code of all vectors of a block, each of which is code of its own: one or
/// two KiB of instructions. With segments, which repeat the block, four times that. A bound on code
/// and compile time, not a measured optimum.
static constexpr int64_t kMostBlockOps = 256;

/// True for windows that are unrolled, so that it is known statically which lanes are in the
/// padding.
static bool isSmallWindow(ReduceWindowOp op) {
  WindowAttr window = op.getWindowAttr();
  return window && llvm::product_of(window.getSize()) <= kMostUnrolledTaps &&
         llvm::all_of(window.getBaseDilations(), [](int64_t d) { return d == 1; });
}

/// True if all lanes of several short rows belong to one window, so that its start is equal in all
/// lanes.
static bool isOneWindow(GatherOp gather) {
  int64_t rank = static_cast<int64_t>(shapeOf(gather.getResult()).size());
  return llvm::is_contained(gather.getOffsetDims(), rank - 1) &&
         llvm::is_contained(gather.getOffsetDims(), rank - 2);
}

bool keepsLanesNear(Operation &op) {
  if (auto window = dyn_cast<ReduceWindowOp>(op)) {
    return isSmallWindow(window);
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    return isOneWindow(gather);
  }
  return isElementwise(&op) ||
         isa<CopyOp, ConstantOp, BroadcastOp, ReshapeOp, BitcastOp, SliceOp, ReverseOp, IotaOp,
             PadOp, ConcatenateOp, DynamicSliceOp, ReturnOp>(op);
}

/// Number of ops in the code of one vector.
static int64_t opsOf(Block &body) {
  int64_t ops = 0;
  for (Operation &op : body) {
    auto window = dyn_cast<ReduceWindowOp>(op);
    ops += window && window.getWindowAttr() ? 4 * llvm::product_of(window.getWindowAttr().getSize())
                                            : 1;
  }
  return ops;
}

std::optional<ShortRowPlan> planRowBlocks(Block &body, int64_t rows, int64_t columns,
                                          int64_t lanes) {
  // Rows after the last whole block are computed one by one: behind four blocks less than a fifth.
  constexpr int64_t fewestBlocks = 4;
  if (lanes < 4 || columns < 2 || columns >= lanes) {
    return std::nullopt;
  }
  int64_t block = std::lcm(columns, lanes);
  ShortRowPlan plan{block / columns, block / lanes};
  // Very short rows allow more vectors: row by row most lanes would be unused (9 bytes of 64).
  int64_t mostVectors = columns * 4 <= lanes ? 16 : 8;
  if (plan.vectors > mostVectors || plan.vectors * opsOf(body) > kMostBlockOps ||
      rows < fewestBlocks * plan.rows) {
    return std::nullopt;
  }
  return plan;
}

std::optional<ShortRowPlan> planShortRows(KernelBuilder &kernel, ArrayRef<int64_t> shape,
                                          int64_t lanes) {
  Block &body = kernel.body();
  bool oneShape = llvm::all_of(body.getTerminator()->getOperands(),
                               [&](Value root) { return shapeOf(root) == shape; });
  if (shape.size() < 2 || !oneShape || !llvm::all_of(body, keepsLanesNear)) {
    return std::nullopt;
  }
  return planRowBlocks(body, shape[shape.size() - 2], shape.back(), lanes);
}

Index rowOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes, Value first,
                  int64_t align) {
  SmallVector<int64_t> rowOf;
  for (int64_t place = vector * lanes; place < (vector + 1) * lanes; ++place) {
    rowOf.push_back(place / columns);
  }
  return patternIndex(e, first, rowOf, align);
}

Index columnOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes) {
  SmallVector<int64_t> columnOf;
  for (int64_t place = vector * lanes; place < (vector + 1) * lanes; ++place) {
    columnOf.push_back(place % columns);
  }
  return patternIndex(e, constI64(e, 0), columnOf);
}

/// The concatenates and pads along the rows, whose parts get code of their own.
static SegmentPlan planRowSegments(KernelBuilder &kernel, const ShortRowPlan &plan,
                                   ArrayRef<int64_t> shape) {
  SegmentPlan segments = planSegments(kernel, shape, shape.size() - 2);
  int64_t parts = static_cast<int64_t>(segments.cuts.size()) - 1;
  return parts * plan.vectors * opsOf(kernel.body()) > 4 * kMostBlockOps ? SegmentPlan() : segments;
}

void emitShortRows(KernelBuilder &kernel, const ShortRowPlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store) {
  Emission &e = kernel.e;
  auto type = cast<RankedTensorType>(kernel.body().getTerminator()->getOperand(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t columns = shape.back(), rows = shape[shape.size() - 2], lanes = vectors.lanes();
  SmallVector<int64_t> strides = rowMajorStrides(shape);

  // A unit is a range of rows at one index of the dimensions before them.
  int64_t rowsPerUnit = llvm::alignTo(llvm::divideCeil(kElementsPerTask, columns), plan.rows);
  rowsPerUnit = std::min(rows, rowsPerUnit);
  SmallVector<int64_t> units(shape.drop_back(2));
  units.push_back(llvm::divideCeil(rows, rowsPerUnit));
  int64_t total = 1;
  for (int64_t size : units) {
    total *= size;
  }
  int64_t align = units.back() == 1 ? plan.rows : std::gcd(plan.rows, rowsPerUnit);
  auto [lo, hi] =
      splitTasks(kernel, total, std::max<int64_t>(1, kElementsPerTask / (rowsPerUnit * columns)));
  SegmentPlan segments = planRowSegments(kernel, plan, shape);
  emitFor(e, lo, hi, 1, [&](Value unit) {
    SmallVector<Value> at = delinearize(e, unit, units);
    SmallVector<Index> index(shape.size());
    Value outer = constI64(e, 0);
    for (size_t d = 0; d + 2 < shape.size(); ++d) {
      index[d] = Index(at[d]);
      outer = addI(e, outer, mulI(e, at[d], strides[d]));
    }
    Value first = mulI(e, at.back(), rowsPerUnit);
    Value last = minI(e, addI(e, first, rowsPerUnit), rows);
    Index &row = index[shape.size() - 2], &column = index.back();
    auto run = [&](Value from, Value to, int64_t least, int64_t known) {
      Value whole = from;
      if (least >= plan.rows) {
        whole = addI(e, from, mulI(e, divI(e, subI(e, to, from), plan.rows), plan.rows));
        emitFor(e, from, whole, plan.rows, [&](Value r) {
          ElementEmitter::Scope scope(vectors);
          Value base = addI(e, outer, mulI(e, r, columns));
          for (int64_t v = 0; v < plan.vectors; ++v) {
            row = rowOfVector(e, v, columns, lanes, r, known);
            column = columnOfVector(e, v, columns, lanes);
            store(vectors, index, addI(e, base, v * lanes), {});
          }
        });
      }
      emitFor(e, whole, to, 1, [&](Value r) {
        row = Index(r);
        Value base = addI(e, outer, mulI(e, r, columns));
        emitVectorLoop(e, constI64(e, 0), constI64(e, columns), vectors, scalars,
                       [&](Index i, ElementEmitter &emitter, Value mask) {
                         column = i;
                         store(emitter, index, addI(e, base, i.base), mask);
                       });
      });
    };
    if (segments.ops.empty()) {
      run(first, last, rows, align);
      return;
    }
    emitSegments(segments, {&vectors, &scalars}, [&](int64_t begin, int64_t end) {
      Value from = maxI(e, first, begin);
      run(from, maxI(e, minI(e, last, end), from), end - begin, std::gcd(align, begin));
    });
  });
}

/// A matrix of 3 x 20 elements is four vectors of 16, each shuffled from those of the operand;
/// tiles of 16 x 16 would be mostly empty.
bool emitSmallMatrices(KernelBuilder &kernel, const TilePlan &tiles, ArrayRef<int64_t> shape,
                       ElementEmitter &vectors, StoreRoots store) {
  // Each vector is shuffled from all vectors of the matrix; see loadNear.
  constexpr int64_t mostVectors = 6;
  Emission &e = kernel.e;
  int64_t lanes = vectors.lanes(), rank = shape.size();
  if (rank < 3 || tiles.row != rank - 2 || lanes < 4 ||
      !llvm::all_of(
          kernel.body(),
          [](Operation &op) { return keepsLanesNear(op) || isa<TransposeOp>(op); })) {
    return false;
  }
  int64_t columns = shape.back(), size = columns * shape[rank - 2], rest = size % lanes;
  // A remainder of one lane: see emitVectorLoop.
  if (size > lanes * std::min(mostVectors, lanes / 2) || size < lanes || rest == 1) {
    return false;
  }
  int64_t matrices = llvm::product_of(shape.drop_back(2));
  auto [lo, hi] = splitTasks(kernel, matrices, std::max<int64_t>(1, kElementsPerTask / size));
  emitFor(e, lo, hi, 1, [&](Value matrix) {
    SmallVector<Index> index;
    for (Value at : delinearize(e, matrix, shape.drop_back(2))) {
      index.push_back(Index(at));
    }
    index.resize(rank);
    Value base = mulI(e, matrix, size);
    for (int64_t first = 0; first < size; first += lanes) {
      ElementEmitter::Scope scope(vectors);
      SmallVector<int64_t> rowOf, columnOf;
      for (int64_t place = first; place < first + lanes; ++place) {
        int64_t inside = std::min(place, size - 1);
        rowOf.push_back(inside / columns);
        columnOf.push_back(inside % columns);
      }
      index[rank - 2] = patternIndex(e, constI64(e, 0), rowOf);
      index[rank - 1] = patternIndex(e, constI64(e, 0), columnOf);
      store(vectors, index, addI(e, base, first),
            size - first < lanes ? firstLanes(e, size - first, lanes) : Value());
    }
  });
  return true;
}

} // namespace hlo::codegen
