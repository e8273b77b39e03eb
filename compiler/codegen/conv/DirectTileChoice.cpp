//===- DirectTileChoice.cpp - The register tile of the direct form --------===//
//
// Chooses the register tile of a direct convolution: the number of outputs of the last two
// dimensions and of vectors of features with the fewest cycles by a model of the loop over a
// window's taps and channels. Also whether the taps of a line skip what they read of the padding.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectPlan.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/machine/Costs.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// The cycles per step of the sums for all outputs: two multiply-adds or two loads per cycle, at
/// least the latency of a multiply-add, and one cycle for counting and prefetching. `loads`: the
/// loads of a vector of the kernel.
static double tileCost(const Machine &machine, int64_t rows, int64_t vectors, int64_t loads,
                       int64_t steps, double finish) {
  if (rows == 0 || vectors == 0) {
    return 0;
  }
  LoopBody body;
  body.multiplyAdds = rows * vectors;
  // One load in ten conflicts with another in a bank of L1.
  body.loads = 1.1 * (rows + vectors * loads);
  body.chain = 1;
  // A row of the kernel serves tiles of several rows of outputs while it is in L1.
  body.fills = vectors * 2 / 3.0;
  // Counting, and prefetches. The start is 16, not kLoopStart: with that, and loads not a tenth
  // higher, the tiles that win are slower (NOTES.md, "The model of time").
  body.extra = 1;
  body.start = 16 + finish * rows * vectors;
  body.trips = steps;
  return cyclesOfTrip(machine, body);
}

/// The share of a dimension's taps that tiles of `rows` outputs compute; the others are in the
/// padding.
static double metTaps(const DirectDim &dim, int64_t rows) {
  int64_t met = 0, all = 0;
  for (const DirectPhase &phase : dim.phases) {
    for (int64_t q = 0; q < phase.count; q += rows) {
      int64_t first = phase.firstInput + q * dim.step, last = first + (rows - 1) * dim.step;
      for (int64_t t = 0; t < phase.taps; ++t) {
        met += last + t * dim.tapStep >= 0 && first + t * dim.tapStep < dim.input;
      }
      all += phase.taps;
    }
  }
  return all > 0 ? static_cast<double>(met) / all : 1;
}

/// The cycles to store a row of outputs of one feature, by vectors that are transposed in
/// registers: 24 if they are shorter than a line; else 4 for each, and 16 for a store that crosses
/// a line. Estimates.
static double columnCost(int64_t outputs, int64_t bytes, const Machine &machine) {
  const int64_t line = machine.memory.line;
  if (machine.vectors.bytes < line) {
    return 24;
  }
  int64_t length = outputs * bytes % line, step = std::gcd(length, line), across = 0;
  for (int64_t offset = 0; offset < line; offset += step) {
    across += offset + length > line;
  }
  return llvm::divideCeil(outputs * bytes, line) * 4 + 16.0 * across * step / line;
}

void chooseDirectTile(DirectPlan &plan, const Machine &machine) {
  int64_t needed = llvm::divideCeil(plan.features, plan.alongChannels ? 1 : plan.lanes);
  int64_t h = plan.dims.end()[-2].count, w = plan.dims.back().count;
  int64_t steps = plan.taps * llvm::divideCeil(plan.channels, plan.alongChannels ? plan.lanes : 1);
  double finish = plan.alongChannels ? 4 : 1;
  // Vectors across two lines are two loads.
  int64_t row = (plan.features + plan.featuresApart) * plan.bytes;
  int64_t loads = plan.kernelInPlace && row % machine.memory.line != 0 ? 2 : 1;
  bool columns = !plan.alongChannels && plan.outputsInnermost();
  int64_t phases = plan.dims.back().phases.size();
  auto costOf = [&](int64_t rowsH, int64_t rowsW, int64_t vectors) {
    double cost = tileCost(machine, rowsH * rowsW, vectors, loads, steps, finish);
    return cost == 0 || !columns
               ? cost
               : cost + vectors * plan.lanes * rowsH *
                            columnCost(rowsW * phases, plan.bytes, machine) / steps;
  };
  double best = 1e300;
  auto consider = [&](int64_t rowsH, int64_t rowsW, int64_t vectors) {
    int64_t rows = rowsH * rowsW;
    // Multiply-adds that broadcast an operand from memory: 7 x 4 does as well as 14 x 2.
    int64_t broadcast =
        machine.vectors.broadcastOperands && vectors == 4 ? 0 : machine.vectors.loadsAhead;
    int64_t others =
        (rows == 1 ? 1 : vectors) + broadcast + plan.addsProducts + (plan.rowsAreLanes ? rows : 0);
    if (rows * vectors + others > machine.vectors.registers) {
      return;
    }
    double cycles = 0;
    int64_t down = h / rowsH, across = w / rowsW, tailH = h % rowsH, tailW = w % rowsW;
    for (auto [count, v] : {std::pair(needed / vectors, vectors),
                            std::pair(int64_t(needed % vectors != 0), needed % vectors)}) {
      cycles += count * (down * across * costOf(rowsH, rowsW, v) + down * costOf(rowsH, tailW, v) +
                         across * costOf(tailH, rowsW, v));
    }
    cycles *= metTaps(plan.dims.end()[-2], rowsH);
    // Each kind of partial tile is code of its own.
    cycles *= 1 + 0.01 * (tailH + tailW != 0) + 0.01 * (needed % vectors != 0);
    if (isFaster(cycles, best)) {
      best = plan.stepCycles = cycles;
      plan.rowsH = rowsH;
      plan.rowsW = rowsW;
      plan.vectors = vectors;
    }
  };
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(needed, 8); ++vectors) {
    for (int64_t rows = 1; rows <= std::min<int64_t>(w, 28); ++rows) {
      consider(1, rows, vectors);
    }
    for (int64_t rows = 2; w * rows <= 28 && rows <= h; ++rows) {
      consider(rows, w, vectors);
    }
  }
}

std::pair<int64_t, int64_t> outputsOfTap(const DirectDim &dim, int64_t tap) {
  const DirectPhase &phase = dim.phases.front();
  int64_t first = phase.firstInput + tap * dim.tapStep;
  int64_t from = first < 0 ? llvm::divideCeil(-first, dim.step) : 0;
  int64_t to = first < dim.input ? llvm::divideCeil(dim.input - first, dim.step) : 0;
  from = std::min(from, phase.count);
  return {from, std::clamp(to, from, phase.count)};
}

bool choosesToSkip(const DirectPlan &plan, const ConvOperands &operands) {
  constexpr int64_t kMostApart = 5, kFewSteps = 32;
  constexpr double kMostMet = 0.97;
  const DirectDim &last = plan.dims.back();
  if (last.phases.size() != 1 || last.kernelDim < 0 || last.taps < 2 || last.taps > kMostApart ||
      plan.rowsW != last.count || last.blocks != 1 || plan.alongChannels || plan.rowsAreLanes ||
      plan.matrix || plan.across > 1 || plan.featuresApart > 0 || operands.flipsInput ||
      plan.chunkChannels < kFewSteps) {
    return false;
  }
  int64_t met = 0;
  for (int64_t tap = 0; tap < last.taps; ++tap) {
    auto [from, to] = outputsOfTap(last, tap);
    met += to - from;
  }
  return static_cast<double>(met) < kMostMet * static_cast<double>(last.taps * last.count);
}

} // namespace hlo::codegen
