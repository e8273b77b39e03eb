//===- TransposeSquare.cpp - A square of vectors, transposed --------------===//
//
// In: n vectors of n lanes, n a power of two. Out: n vectors, vector i of lane i of
// each. log2(n) steps; each exchanges blocks off the diagonal of twice the size.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace hlo::codegen {

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> exchangedBlocks(int64_t lanes, int64_t step) {
  SmallVector<int64_t> low(lanes), high(lanes);
  for (int64_t l = 0; l < lanes; ++l) {
    bool second = (l & step) != 0;
    low[l] = second ? lanes + l - step : l;
    high[l] = second ? lanes + l : l + step;
  }
  return {low, high};
}

SmallVector<Value> transposeSquare(Emission &e, ArrayRef<Value> rows) {
  SmallVector<Value> result(rows);
  int64_t size = rows.size();
  for (int64_t step = 1; step < size; step *= 2) {
    auto [low, high] = exchangedBlocks(size, step);
    for (int64_t r = 0; r < size; ++r) {
      if ((r & step) == 0) {
        Value a = result[r], b = result[r + step];
        result[r] = vector::ShuffleOp::create(e.b, e.loc, a, b, low);
        result[r + step] = vector::ShuffleOp::create(e.b, e.loc, a, b, high);
      }
    }
  }
  return result;
}

} // namespace hlo::codegen
