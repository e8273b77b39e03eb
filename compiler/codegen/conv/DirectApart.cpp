//===- DirectApart.cpp - Features that do not fill a vector ---------------===//
//
// Computes the features after the last whole vector of them, for a block of outputs, with lanes
// along the channels of a row of taps, which are contiguous in the input. A tile is a few outputs
// times those features; the loop loads one vector of the run after the other, and the lanes of
// each sum are added at the end. 20 features are thus one vector and four such features, instead of
// two vectors, the second mostly empty. If features and channels are few, all features are computed
// this way.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Packs the kernel of those features: for each row of taps, one run per feature, padded with zeros
/// to whole vectors.
void DirectEmitter::packApart() {
  int64_t run = plan.runApart(), pitch = llvm::alignTo(run, plan.lanes);
  SmallVector<int64_t> rows;
  for (const SpatialDim &dim : ArrayRef(g.spatial).drop_back()) {
    rows.push_back(dim.kernel);
  }
  Sums none;
  carryNest(e, rows, none, [&](ArrayRef<Index> tap, Value linear, Sums &) {
    emitFor(e, constI64(e, 0), constI64(e, plan.featuresApart), 1, [&](Value f) {
      Value at = mulI(e, addI(e, mulI(e, linear, plan.featuresApart), f), pitch);
      emitFor(e, constI64(e, 0), constI64(e, pitch), plan.lanes, [&](Value i) {
        Value below = lanesBelow(e, Index(i, 1), constI64(e, run), plan.lanes);
        SmallVector<Index> full(tap);
        auto [t, c] = divRemIndex(e, Index(i, 1), plan.channels, plan.lanes);
        full.push_back(t);
        Value feature = addI(e, f, plan.features);
        Elem value = operands.readKernel(e, c, Index(feature), full, plan.lanes, below);
        value = zeroUnless(e, operands.element, below, value);
        elements.store(elements.address(apartBuffer, addI(e, at, i)), value);
      });
    });
  });
}

void DirectEmitter::emitApart(const Block &block) {
  Chunk whole{{}, {}, {}, {}, constI64(e, 0), constI64(e, plan.channels)};
  for (size_t d = 0; d < rank; ++d) {
    whole.from.push_back(constI64(e, 0));
    whole.to.push_back(block.dims[d].taps);
  }
  Panel panel{constI64(e, plan.features), plan.featuresApart, plan.featuresApart};
  std::function<void(Values)> nest = [&](Values at) {
    size_t d = at.size();
    auto next = [&](Value q, int64_t rows) {
      Values deeper(at);
      deeper.push_back(q);
      if (d + 1 < rank) {
        nest(deeper);
        return;
      }
      Place place{deeper, 1, rows};
      storeFew(block, panel, place, multiplyApart(block, whole, place));
    };
    if (d + 1 < rank) {
      emitFor(e, block.dims[d].q0, block.dims[d].q1, 1, [&](Value q) { next(q, 1); });
      return;
    }
    forEachPiece(e, plan.dims[d].count, plan.rowsApart, next);
  };
  nest({});
}

Sums DirectEmitter::multiplyApart(const Block &block, const Chunk &chunk, const Place &place) {
  int64_t run = plan.runApart(), lanes = plan.lanes, pitch = llvm::alignTo(run, lanes);
  int64_t features = plan.featuresApart;
  Value inputAt = inputOffset(block, place, constI64(e, 0));
  Start start{elements.address(block.input, inputAt), apartBuffer, SmallVector<int64_t>(rank, 0)};
  int64_t linear = features * pitch;
  for (size_t d = rank - 1; d-- > 0;) {
    start.kernelSteps[d] = plan.dims[d].kernelDim < 0 ? 0 : linear;
    linear *= plan.dims[d].kernelDim < 0 ? 1 : plan.dims[d].kernel;
  }
  int64_t pixel = plan.dims.back().step * plan.inputStrides.back();
  Sums sums = zeroSums(e, operands.element, place.rowsW * features, lanes);
  forEachTap(
      block, chunk, place, rank - 1, start, sums, [&](Value input, Value weights, Sums &outer) {
        carryVectors(e, run, lanes, outer, [&](Value i, Value mask, Sums &inner) {
          multiplyStep(
              e, multiplier(), place.rowsW, features,
              [&](int64_t r) {
                return loadElements(e, operands.element, elements.address(input, i, r * pixel),
                                    constI64(e, 0), lanes, mask);
              },
              [&](int64_t f) {
                return elements.load(elements.address(weights, i, f * pitch), lanes);
              },
              inner);
        });
      });
  convertSums(sums);
  return sums;
}

} // namespace hlo::codegen
