//===- DirectGroups.cpp - Narrow channels in groups -----------------------===//
//
// The parts of the direct form that differ if its channels are groups of two bf16 or four bytes
// (KGroup): a step of a tile multiplies groups, and padding is a group of zeros as the input is
// read.
//
// Some products multiply unsigned bytes by signed ones. If both sides have the same signedness,
// the input is copied with the upper bit of each byte flipped, which adds (or subtracts) 128, in
// the padding too. A tile's sums then start from -128 (or 128) times the sums of the kernel over
// the taps that the tile computes. There is one line of such sums per row of taps, or per tap if
// only some taps of a row read the input. All arithmetic wraps, so the result is exact.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"

using namespace mlir;

namespace hlo::codegen {

Elem DirectEmitter::paddingLanes() {
  return operands.flipsInput ? Elem(flippedZeros(e, plan.lanes))
                             : zeroElem(e, operands.element, plan.lanes);
}

/// The taps of the last dimension that share a line of sums.
static int64_t tapsPerLine(const DirectPlan &plan) {
  const DirectDim &last = plan.dims.back();
  return last.phases.size() == 1 && last.tapStride == 1 ? last.kernel : 1;
}

int64_t DirectEmitter::kernelSumLines() const { return plan.taps / tapsPerLine(plan); }

Value DirectEmitter::kernelSumAddress(const Block &block, const Panel &panel, Value line) {
  int64_t wide = plan.alongChannels ? plan.lanes : 1;
  Value start = mulI(e, subI(e, panel.n, block.n0), kernelSumLines() * wide);
  return elements.address(kernelSums, addI(e, start, mulI(e, line, plan.vectors * plan.lanes)));
}

void DirectEmitter::sumKernel(const Block &block, const Chunk &chunk) {
  Value zero = constI64(e, 0);
  Elem flip(flippedZeros(e, plan.lanes)), none = zeroElem(e, operands.element, plan.lanes);
  // Flipped zeros are the lhs: the vectors of the kernel are rows of the tile.
  auto correct = [&](const Elem &sum, const Elem &row, const Elem &flip) {
    return multiplier()(sum, flip, row);
  };
  int64_t taps = tapsPerLine(plan), tapElements = plan.kernelRows * plan.columns();
  int64_t row = plan.alongChannels ? 1 : plan.columns();
  int64_t column = plan.alongChannels ? plan.kernelRows : plan.lanes;
  forEachPanel(block, [&](const Panel &panel) {
    emitFor(e, zero, constI64(e, kernelSumLines()), 1, [&](Value line) {
      Value start = addI(e, panelStart(block, panel.n), mulI(e, line, taps * tapElements));
      Sums sums(panel.vectors, none);
      carrySums(e, zero, constI64(e, taps), 1, sums, [&](Value tap, Sums &outer) {
        Value base = elements.address(kernelBuffer, addI(e, start, mulI(e, tap, tapElements)));
        int64_t step = plan.alongChannels ? plan.lanes : 1;
        carrySums(e, zero, chunk.channels, step, outer, [&](Value c, Sums &inner) {
          Value at = elements.address(base, mulI(e, c, row));
          multiplyStep(
              e, correct, panel.vectors, 1,
              [&](int64_t v) {
                return elements.load(elements.address(at, zero, v * column), plan.lanes);
              },
              [&](int64_t) { return flip; }, inner);
        });
      });
      Value to = kernelSumAddress(block, panel, line);
      for (auto [v, sum] : llvm::enumerate(sums)) {
        Value negative = arith::SubIOp::create(e.b, e.loc, none.re, sum.re);
        elements.store(elements.address(to, zero, v * plan.lanes), Elem(negative));
      }
    });
  });
}

Sums DirectEmitter::firstSums(const Block &block, const Chunk &chunk, const Panel &panel,
                              const Place &place) {
  Sums row = zeroSums(e, operands.element, panel.vectors, plan.lanes);
  if (operands.flipsInput) {
    size_t depth = tapsPerLine(plan) == 1 ? rank : rank - 1;
    std::function<void(size_t, Value, Sums &)> nest = [&](size_t d, Value line, Sums &sums) {
      if (d == depth) {
        Value from = kernelSumAddress(block, panel, line);
        for (auto [v, sum] : llvm::enumerate(sums)) {
          Value at = elements.address(from, constI64(e, 0), v * plan.lanes);
          sum = addElems(e, operands.element, sum, elements.load(at, plan.lanes));
        }
        return;
      }
      const DirectDim &dim = plan.dims[d];
      if (dim.kernelDim < 0) {
        nest(d + 1, line, sums);
        return;
      }
      auto [from, to] = validTaps(block, chunk, place, d);
      carrySums(e, from, to, 1, sums, [&](Value j, Sums &inner) {
        Value tap = addI(e, block.dims[d].firstTap, mulI(e, j, dim.tapStride));
        nest(d + 1, addI(e, mulI(e, line, dim.kernel), tap), inner);
      });
    };
    nest(0, constI64(e, 0), row);
  }
  Sums tile;
  for (int64_t r = 0; r < place.rows(); ++r) {
    tile.append(row);
  }
  return tile;
}

} // namespace hlo::codegen
