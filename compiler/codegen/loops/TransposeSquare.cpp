//===- TransposeSquare.cpp - A square of vectors, transposed --------------===//
//
// Transposes n vectors of n lanes, n a power of two: vector i of the result consists of lane i of
// each. log2(n) steps of shuffles, each a single instruction without an index table:
//
//   within 16 bytes   interleave the elements of two vectors, then pairs of elements, and so on
//   blocks of 16      concatenate the even blocks of two vectors, and the odd ones
//
// A fence in the middle, which emits no instruction, keeps LLVM's code selection from following
// the shuffles of each result through all steps in search of shorter ones. Without it that search
// is a quarter of code generation for an FFT.
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

/// Stops code selection from looking through `value`, a vector of floats.
static Value fence(Emission &e, Value value) {
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, value.getType(),
                                       e.b.getStringAttr("llvm.arithmetic.fence"),
                                       ValueRange{value})
      .getResult(0);
}

/// Two shuffle masks for two vectors, one per result.
using TwoShuffles = std::pair<SmallVector<int64_t>, SmallVector<int64_t>>;

/// Alternates runs of `run` lanes of the two vectors, from the lower halves of each `group` lanes;
/// and from the upper halves.
static TwoShuffles alternating(int64_t lanes, int64_t group, int64_t run) {
  TwoShuffles shuffles;
  for (int64_t l = 0; l < lanes; ++l) {
    int64_t number = l % group / run;
    int64_t at = l / group * group + number / 2 * run + l % run + (number % 2) * lanes;
    shuffles.first.push_back(at);
    shuffles.second.push_back(at + group / 2);
  }
  return shuffles;
}

/// The even blocks of `block` lanes of the first vector, then of the second; and the odd ones.
static TwoShuffles blocksApart(int64_t lanes, int64_t block) {
  TwoShuffles shuffles;
  for (int64_t l = 0; l < lanes; ++l) {
    int64_t at = l / block * 2 * block + l % block;
    shuffles.first.push_back(at);
    shuffles.second.push_back(at + block);
  }
  return shuffles;
}

SmallVector<Value> transposeSquare(Emission &e, ArrayRef<Value> rows) {
  SmallVector<Value> result(rows);
  int64_t size = rows.size();
  Type element = getElementTypeOrSelf(rows[0]);
  int64_t group = std::min<int64_t>(size, std::max(1u, 128 / element.getIntOrFloatBitWidth()));
  for (int64_t step = 1; step < size; step *= 2) {
    auto [low, high] = step < group ? alternating(size, group, step) : blocksApart(size, group);
    for (int64_t r = 0; r < size; ++r) {
      if ((r & step) == 0) {
        Value a = result[r], b = result[r + step];
        result[r] = vector::ShuffleOp::create(e.b, e.loc, a, b, low);
        result[r + step] = vector::ShuffleOp::create(e.b, e.loc, a, b, high);
      }
    }
    if (step == 2 && size > 4 && isa<FloatType>(element)) {
      for (Value &row : result) {
        row = fence(e, row);
      }
    }
  }
  // The first steps leave the vectors of a group in bit-reversed order.
  SmallVector<Value> ordered(size);
  for (int64_t r = 0; r < size; ++r) {
    int64_t at = r / group * group;
    for (int64_t bit = 1; bit < group; bit *= 2) {
      at += (r & bit) != 0 ? group / 2 / bit : 0;
    }
    ordered[r] = result[at];
  }
  return ordered;
}

} // namespace hlo::codegen
