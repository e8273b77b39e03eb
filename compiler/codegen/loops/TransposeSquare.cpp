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

SmallVector<Value> transposeSquare(Emission &e, ArrayRef<Value> rows) {
  SmallVector<Value> result(rows);
  int64_t size = rows.size();
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> low(size), high(size);
    for (int64_t l = 0; l < size; ++l) {
      bool second = (l & step) != 0;
      low[l] = second ? size + l - step : l;
      high[l] = second ? size + l : l + step;
    }
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
