//===- TransposeSquare.cpp - A square of vectors, transposed --------------===//
//
// In: n vectors of n lanes, n a power of two. Out: n vectors, vector i of lane i of
// each. log2(n) steps; each exchanges blocks off the diagonal of twice the size.
//
// In the middle there is a fence, which is no instruction. Without it, LLVM's code
// selection follows the shuffles from each result through all steps, looking for
// shorter ones that do not exist: a fourth of code generation for an FFT.
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

/// Keeps code selection from looking at what is before `value`, a vector of floats.
static Value fence(Emission &e, Value value) {
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, value.getType(),
                                       e.b.getStringAttr("llvm.arithmetic.fence"),
                                       ValueRange{value})
      .getResult(0);
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
    if (step == 2 && size > 4 && isa<FloatType>(getElementTypeOrSelf(rows[0]))) {
      for (Value &row : result) {
        row = fence(e, row);
      }
    }
  }
  return result;
}

} // namespace hlo::codegen
