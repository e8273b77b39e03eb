//===- ShortRows.cpp - Vectors that cover several rows --------------------===//
//
// In: a region whose results have rows shorter than a vector: points of three
// coordinates, pixels, quaternions. Out: a loop over blocks of rows. A block is
// the fewest rows that fill whole vectors (16 rows of 3 are 3 vectors of 16), so
// that the row and the column of each lane are known, but for where the block
// begins:
//
//   lane of vector 0   0 1 2 3 4 5 6 7 8 ...
//   row - first row    0 0 0 1 1 1 2 2 2 ...
//   column             0 1 2 0 1 2 0 1 2 ...
//
// Neighbours in memory are then one vector load, what is near is a few and
// shuffles, and stores have no masks. Rows that are left over run one by one.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Ops that are as cheap at indices of several rows as at those of one.
static bool keepsLanesNear(Operation &op) {
  return isElementwise(&op) || isa<CopyOp, ConstantOp, BroadcastOp, ReshapeOp, BitcastOp, SliceOp, ReverseOp,
                                   IotaOp, PadOp, ConcatenateOp, DynamicSliceOp, ReturnOp>(op);
}

std::optional<ShortRowPlan> planShortRows(KernelBuilder &kernel, ArrayRef<int64_t> shape,
                                          int64_t lanes) {
  // A block's vectors are code of their own each.
  constexpr int64_t mostOps = 256, fewestBlocks = 4;
  Block &body = kernel.body();
  if (shape.size() < 2 || lanes < 4 || shape.back() < 2 || shape.back() >= lanes ||
      !llvm::all_of(body, keepsLanesNear)) {
    return std::nullopt;
  }
  for (Value root : body.getTerminator()->getOperands()) {
    if (shapeOf(root) != shape) {
      return std::nullopt;
    }
  }
  int64_t block = std::lcm(shape.back(), lanes);
  ShortRowPlan plan{block / shape.back(), block / lanes};
  // One by one, rows would leave most lanes of a vector off: nine bytes of 64.
  int64_t mostVectors = shape.back() * 4 <= lanes ? 16 : 8;
  int64_t ops = static_cast<int64_t>(body.getOperations().size());
  if (plan.vectors > mostVectors || plan.vectors * ops > mostOps ||
      shape[shape.size() - 2] < fewestBlocks * plan.rows) {
    return std::nullopt;
  }
  return plan;
}

void emitShortRows(KernelBuilder &kernel, const ShortRowPlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store) {
  Emission &e = kernel.e;
  auto type = cast<RankedTensorType>(kernel.body().getTerminator()->getOperand(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t columns = shape.back(), rows = shape[shape.size() - 2], lanes = vectors.lanes();
  SmallVector<int64_t> strides = rowMajorStrides(shape);

  // A unit is a piece of the rows at one index of the dimensions before.
  int64_t rowsPerUnit = llvm::alignTo(llvm::divideCeil(kElementsPerTask, columns), plan.rows);
  rowsPerUnit = std::min(rows, rowsPerUnit);
  SmallVector<int64_t> units(shape.drop_back(2));
  units.push_back(llvm::divideCeil(rows, rowsPerUnit));
  int64_t total = 1;
  for (int64_t size : units) {
    total *= size;
  }
  int64_t align = units.back() == 1 ? plan.rows : std::gcd(plan.rows, rowsPerUnit);
  auto [lo, hi] = splitTasks(kernel, total,
                             std::max<int64_t>(1, kElementsPerTask / (rowsPerUnit * columns)));
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
    Value blocks = divI(e, subI(e, last, first), plan.rows);
    Value whole = addI(e, first, mulI(e, blocks, plan.rows));
    Index &row = index[shape.size() - 2], &column = index.back();
    emitFor(e, first, whole, plan.rows, [&](Value r) {
      ElementEmitter::Scope scope(vectors);
      Value base = addI(e, outer, mulI(e, r, columns));
      for (int64_t v = 0; v < plan.vectors; ++v) {
        SmallVector<int64_t> rowOf, columnOf;
        for (int64_t place = v * lanes; place < (v + 1) * lanes; ++place) {
          rowOf.push_back(place / columns);
          columnOf.push_back(place % columns);
        }
        row = patternIndex(e, r, rowOf, align);
        column = patternIndex(e, constI64(e, 0), columnOf);
        store(vectors, index, addI(e, base, v * lanes), {});
      }
    });
    if (rows % plan.rows == 0 && rowsPerUnit % plan.rows == 0) {
      return;
    }
    emitFor(e, whole, last, 1, [&](Value r) {
      row = Index(r);
      Value base = addI(e, outer, mulI(e, r, columns));
      emitVectorLoop(e, constI64(e, 0), constI64(e, columns), vectors, scalars,
                     [&](Index i, ElementEmitter &emitter, Value mask) {
                       column = i;
                       store(emitter, index, addI(e, base, i.base), mask);
                     });
    });
  });
}

/// A matrix of 3 x 20 elements is four vectors of 16, each put together from those of the operand; tiles of 16 x 16 would
/// be mostly empty (6272 of them transposed: 0.21 ms).
bool emitSmallMatrices(KernelBuilder &kernel, const TilePlan &tiles, ArrayRef<int64_t> shape,
                       ElementEmitter &vectors, StoreRoots store) {
  // Each vector is taken from all of the matrix's; see loadNear.
  constexpr int64_t mostVectors = 6;
  Emission &e = kernel.e;
  int64_t lanes = vectors.lanes(), rank = shape.size();
  if (rank < 3 || tiles.row != rank - 2 || lanes < 4 || !llvm::all_of(kernel.body(), [](Operation &op) {
        return keepsLanesNear(op) || isa<TransposeOp>(op);
      })) {
    return false;
  }
  int64_t columns = shape.back(), size = columns * shape[rank - 2], rest = size % lanes;
  // One lane left: see emitVectorLoop.
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
