//===- DepthwiseTaps.cpp - The sum of a vector of a depthwise convolution ---===//
//
// Reads the inputs and weights of a vector of outputs, each channel and each weight once if
// possible, and emits the multiply-adds.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/conv/DepthwiseEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// The most channels of a vector of features that are loaded one by one. A load and a select for
/// each takes fewer cycles than a gather of 16 lanes.
static constexpr int64_t kMostChannels = 6;
/// Weights are packed (features innermost, widened) by each call of the kernel. At most
/// kPackedWeights bytes, which stay in L2 beside the lines of the input; and only if at least
/// kFewPositions outputs read each weight, so that packing, an element at a time, stays a small
/// part of the reads. Neither was measured against other sizes.
static constexpr int64_t kPackedWeights = 128 << 10, kFewPositions = 64;

Elem DepthwiseEmitter::readInput(const Row &row, const Index &feature, ArrayRef<Index> output,
                                 ArrayRef<Index> tap, Value mask, uint64_t inside) {
  int64_t each = g.groupFeatures(), met = llvm::divideCeil(lanes - 1, each) + 1;
  Index channel = divRemIndex(e, feature, each, lanes).first;
  bool known = channel.isUniform() || !knownOffsets(channel, lanes).empty();
  if (known || feature.lanes || met > kMostChannels) {
    return operands.readInput(e, row.batch, channel, output, tap, lanes, mask, inside);
  }
  // `each` adjacent lanes share a channel; the first few lanes may be the rest of one.
  Value first = divI(e, feature.base, each), place = remI(e, feature.base, each);
  Value lane = laneIndices(e, Index(place, 1), lanes);
  Elem result;
  for (int64_t j = 0; j < met; ++j) {
    Index next(minI(e, addI(e, first, j), g.inputFeatures - 1));
    Elem value = operands.readInput(e, row.batch, next, output, tap, lanes, {}, inside);
    result = j == 0 ? value
                    : selectElem(e, compareI(e, arith::CmpIPredicate::sge, lane, j * each), value,
                                 result);
  }
  return result;
}

void DepthwiseEmitter::packWeights() {
  int64_t pitch = llvm::alignTo(g.outputFeatures, lanes);
  int64_t bytes = taps * pitch * storageBytes(operands.element);
  bool inPlace = operands.kernel->isStoredAs(operands.element) &&
                 operands.kernel->strides()[g.kernelOutputDim] == 1;
  int64_t positions = g.outputBatch;
  for (const SpatialDim &dim : g.spatial) {
    positions *= dim.output;
  }
  if (!alongFeatures || lanes <= 1 || bytes > kPackedWeights || inPlace ||
      positions < kFewPositions) {
    return;
  }
  packedWeights = stackBuffer(e, bytes);
  SmallVector<int64_t> sizes;
  for (const SpatialDim &dim : g.spatial) {
    sizes.push_back(dim.kernel);
  }
  emitFor(e, constI64(e, 0), constI64(e, taps), 1, [&](Value number) {
    SmallVector<Index> tap = splitIndex(e, Index(number), sizes, 1);
    emitFor(e, constI64(e, 0), constI64(e, pitch), lanes, [&](Value f) {
      Index feature(f, 1, lanes);
      Value mask = lanesInside(e, f, lanes, g.outputFeatures);
      Elem weight = operands.readKernel(e, Index(constI64(e, 0)), feature, tap, lanes, mask);
      storeElements(e, operands.element, weight, packedWeights, addI(e, mulI(e, number, pitch), f));
    });
  });
}

Elem DepthwiseEmitter::readWeight(const Index &feature, ArrayRef<Index> tap, Value mask) {
  if (!packedWeights) {
    return operands.readKernel(e, Index(constI64(e, 0)), feature, tap, lanes, mask);
  }
  Value at = constI64(e, 0);
  for (auto [dim, t] : llvm::zip(g.spatial, tap)) {
    at = addI(e, mulI(e, at, dim.kernel), t.base);
  }
  at = addI(e, mulI(e, at, llvm::alignTo(g.outputFeatures, lanes)), feature.base);
  return loadElements(e, operands.element, packedWeights, at, lanes);
}

SmallVector<Elem> DepthwiseEmitter::loadWeights(const Row &row) {
  SmallVector<Elem> weights;
  SmallVector<int64_t> sizes;
  for (const SpatialDim &dim : g.spatial) {
    sizes.push_back(dim.kernel);
  }
  for (int64_t number = 0; number < taps; ++number) {
    SmallVector<Index> tap = splitIndex(e, Index(constI64(e, number)), sizes, 1);
    Elem weight = operands.readKernel(e, Index(constI64(e, 0)), row.feature, tap, 1, {});
    weights.push_back(lanes > 1 ? splat(e, weight, lanes) : weight);
  }
  return weights;
}

Elem DepthwiseEmitter::sumTaps(const Row &row, const Index &feature, const Index &position,
                               uint64_t inside, Value mask, ArrayRef<Elem> weights,
                               SmallVector<Index> tap, const Elem &acc) {
  if (tap.size() == rank) {
    SmallVector<Index> output(row.outer);
    output.push_back(position);
    Elem value = readInput(row, feature, output, tap, mask, inside);
    Elem weight = weights.empty() ? readWeight(feature, tap, mask) : weights.front();
    return multiplyAdd(e, operands.element, acc, value, weight);
  }
  int64_t size = g.spatial[tap.size()].kernel;
  if (unrolled()) {
    Elem sum = acc;
    int64_t inner = weights.size() / size;
    for (int64_t i = 0; i < size; ++i) {
      SmallVector<Index> deeper(tap);
      deeper.push_back(Index(constI64(e, i)));
      sum = sumTaps(row, feature, position, inside, mask, weights.slice(i * inner, inner), deeper,
                    sum);
    }
    return sum;
  }
  Sums sums{acc};
  carrySums(e, constI64(e, 0), constI64(e, size), 1, sums, [&](Value i, Sums &inner) {
    SmallVector<Index> deeper(tap);
    deeper.push_back(Index(i));
    inner[0] = sumTaps(row, feature, position, inside, mask, {}, deeper, inner[0]);
  });
  return sums[0];
}

} // namespace hlo::codegen
