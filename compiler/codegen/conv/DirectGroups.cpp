//===- DirectGroups.cpp - Narrow channels, two or four in a word ----------===//
//
// In: a direct convolution whose channels are words of two bf16 or four bytes (KGroup).
// Out: what differs from one of floats. A step of a tile multiplies words, and padding is a word
// of zeros as the input is read.
//
// Some products take unsigned bytes times signed ones. For two sides of the same sign the input is
// copied with its upper bits flipped, that is 128 more (or less), in the padding too, and a tile's
// sums start from -128 (or 128) times the sums of the kernel over the taps that the tile meets. A
// row of taps has one line of such sums, or each tap where only some of a row meet the input.
// Everything wraps, so the result is exact.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"

using namespace mlir;

namespace hlo::codegen {

Value DirectEmitter::addProduct(Value sum, Value a, Value weights) {
  return operands.group == KGroup::None
             ? multiplyAdd(e, operands.element, Elem(sum), Elem(a), Elem(weights)).re
             : multiplyGroups(e, *operands.product, operands.kernelUnsigned, sum, a, weights);
}

Value DirectEmitter::paddingLanes() {
  return operands.flipsInput ? flippedZeros(e, plan.lanes)
                             : zeroElem(e, operands.element, plan.lanes).re;
}

/// Taps of the last dimension that share a line of sums.
static int64_t tapsPerLine(const DirectPlan &plan) {
  const DirectDim &last = plan.dims.back();
  return last.phases.size() == 1 && last.tapStride == 1 ? last.kernel : 1;
}

int64_t DirectEmitter::kernelSumLines() const { return plan.taps / tapsPerLine(plan); }

Value DirectEmitter::kernelSumAddress(const Block &block, const Panel &panel, Value line) {
  int64_t wide = plan.alongChannels ? plan.lanes : 1;
  Value start = mulI(e, subI(e, panel.n, block.n0), kernelSumLines() * wide);
  return bufferAddress(kernelSums, addI(e, start, mulI(e, line, plan.vectors * plan.lanes)));
}

void DirectEmitter::sumKernel(const Block &block, const Chunk &chunk) {
  Value zero = constI64(e, 0), flip = flippedZeros(e, plan.lanes);
  Value none = zeroElem(e, operands.element, plan.lanes).re;
  int64_t taps = tapsPerLine(plan), tapElements = plan.kernelRows * plan.columns();
  int64_t row = plan.alongChannels ? 1 : plan.columns();
  int64_t column = plan.alongChannels ? plan.kernelRows : plan.lanes;
  forEachPanel(block, [&](const Panel &panel) {
    emitFor(e, zero, constI64(e, kernelSumLines()), 1, [&](Value line) {
      Value start = addI(e, panelStart(block, panel.n), mulI(e, line, taps * tapElements));
      Values init(panel.vectors, none);
      Values sums =
          emitForCarrying(e, zero, constI64(e, taps), 1, init, [&](Value tap, ValueRange carried) {
            Value base = bufferAddress(kernelBuffer, addI(e, start, mulI(e, tap, tapElements)));
            int64_t step = plan.alongChannels ? plan.lanes : 1;
            return emitForCarrying(
                e, zero, chunk.channels, step, carried, [&](Value c, ValueRange carried) {
                  Values next(carried);
                  Value at = bufferAddress(base, mulI(e, c, row));
                  for (auto [v, sum] : llvm::enumerate(next)) {
                    Value weights = loadBuffer(bufferAddress(at, zero, v * column), plan.lanes);
                    sum = addProduct(sum, flip, weights);
                  }
                  return next;
                });
          });
      Value to = kernelSumAddress(block, panel, line);
      for (auto [v, sum] : llvm::enumerate(sums)) {
        storeBuffer(bufferAddress(to, zero, v * plan.lanes),
                    arith::SubIOp::create(e.b, e.loc, none, sum));
      }
    });
  });
}

DirectEmitter::Tile DirectEmitter::firstSums(const Block &block, const Chunk &chunk,
                                             const Panel &panel, const Place &place) {
  Value none = zeroElem(e, operands.element, plan.lanes).re;
  Values sums(panel.vectors, none);
  if (operands.flipsInput) {
    size_t depth = tapsPerLine(plan) == 1 ? rank : rank - 1;
    std::function<Values(size_t, Value, ValueRange)> nest = [&](size_t d, Value line,
                                                                ValueRange carried) -> Values {
      if (d == depth) {
        Values next(carried);
        Value from = kernelSumAddress(block, panel, line);
        for (auto [v, sum] : llvm::enumerate(next)) {
          Value more = loadBuffer(bufferAddress(from, constI64(e, 0), v * plan.lanes), plan.lanes);
          sum = addElems(e, operands.element, Elem(sum), Elem(more)).re;
        }
        return next;
      }
      const DirectDim &dim = plan.dims[d];
      if (dim.kernelDim < 0) {
        return nest(d + 1, line, carried);
      }
      auto [from, to] = validTaps(block, chunk, place, d);
      return emitForCarrying(e, from, to, 1, carried, [&](Value j, ValueRange carried) {
        Value tap = addI(e, block.dims[d].firstTap, mulI(e, j, dim.tapStride));
        return nest(d + 1, addI(e, mulI(e, line, dim.kernel), tap), carried);
      });
    };
    sums = nest(0, constI64(e, 0), sums);
  }
  Tile tile;
  for (int64_t r = 0; r < place.rows(); ++r) {
    tile.append(sums);
  }
  return tile;
}

} // namespace hlo::codegen
