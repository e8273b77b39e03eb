//===- DirectMatrixPlan.cpp - Matrix registers in the direct form ---------===//
//
// In: the dimensions of a direct convolution whose channels are words, and a product of matrix
// registers. Out: which outputs the rows of a register are, which taps and channels its groups are,
// and whether all that is faster than vectors.
//
// Rows are outputs of one line, since neighbours there are at a constant distance in the copy of
// the input. A short line leaves most of a register empty. Then a tile is a run of positions of
// several lines of the copy: those between the end of a line of outputs and the start of the next
// are computed too, and not stored. 7x7 outputs with a padding of 1 on each side are 61 positions
// of the 9 x 9 copy: four registers of 16, in place of seven of 7.
//
// Groups are channels of a tap, or of all taps of a window's row where the copy has them as one
// run. Either registers hold equal parts of the run, or channels are followed by zeros.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectPlan.h"
#include "compiler/machine/Costs.h"

using namespace mlir;

namespace hlo::codegen {

/// Calls body(taps before the last dimension, taps of the last dimension, places of tiles, outputs)
/// for each phase.
static void forEachPhase(const DirectPlan &plan,
                         function_ref<void(int64_t, int64_t, int64_t, int64_t)> body) {
  std::function<void(size_t, int64_t, int64_t, int64_t)> nest =
      [&](size_t d, int64_t taps, int64_t places, int64_t outputs) {
        bool isW = d + 1 == plan.dims.size(), isLine = plan.linePitch > 0;
        for (const DirectPhase &phase : plan.dims[d].phases) {
          int64_t count = phase.count;
          if (isW) {
            int64_t lines = isLine ? places : 1;
            int64_t positions = (lines - 1) * plan.linePitch + count;
            int64_t across = llvm::divideCeil(positions, plan.rowsW);
            body(taps, phase.taps, isLine ? across : places * across, outputs * count);
          } else {
            nest(d + 1, taps * phase.taps, places * llvm::divideCeil(count, plan.unit(d)),
                 outputs * count);
          }
        }
      };
  nest(0, 1, 1, 1);
}

/// Registers along the taps of a window's row and their channels.
static int64_t stepsOf(const DirectPlan &plan, int64_t taps) {
  return plan.merged ? taps * plan.channels / plan.tileGroups
                     : taps * llvm::divideCeil(plan.channels, plan.tileGroups);
}

/// Cycles of the products, and to clear and store the sums.
static double tileCycles(const DirectPlan &plan, const Product &product) {
  const Tiles &tiles = *product.tiles;
  int64_t columns = llvm::divideCeil(plan.features, plan.lanes);
  double cycles = 0;
  forEachPhase(plan, [&](int64_t taps, int64_t tapsW, int64_t places, int64_t) {
    for (auto [panels, across] : {std::pair(columns / plan.vectors, plan.vectors),
                                  std::pair<int64_t, int64_t>(1, columns % plan.vectors)}) {
      double sums = plan.tilesDown() * across;
      double step = across == 0 ? 0 : std::max(product.cost * sums, tiles.latency);
      cycles += places * panels * (taps * stepsOf(plan, tapsW) * step + tiles.startCycles * sums);
    }
  });
  return cycles * plan.groups;
}

/// A run over several lines takes at most this part of a rectangle's cycles: its sums are stored
/// line by line, which the model leaves out.
static constexpr double kRunOfLines = 0.95;

/// Chooses the outputs of a tile.
static void chooseRows(DirectPlan &plan, const Product &product) {
  const int64_t side = product.tiles->rows;
  const DirectDim &h = plan.dims.end()[-2], &w = plan.dims.back();
  double best = std::numeric_limits<double>::max();
  DirectPlan chosen = plan;
  auto consider = [&](int64_t rowsH, int64_t rowsW, int64_t tileRows, int64_t pitch) {
    plan.rowsH = rowsH;
    plan.rowsW = rowsW;
    plan.tileRows = tileRows;
    plan.linePitch = pitch;
    double cycles = tileCycles(plan, product) / (pitch > 0 ? kRunOfLines : 1);
    if (isFaster(cycles, best)) {
      best = cycles;
      chosen = plan;
    }
  };
  int64_t rows = llvm::divideCeil(w.count, llvm::divideCeil(w.count, side));
  if (h.count > 1) {
    consider(2, rows, rows, 0);
  }
  if (w.count > side) {
    rows = llvm::divideCeil(w.count, 2 * llvm::divideCeil(w.count, 2 * side));
    consider(1, 2 * rows, rows, 0);
  } else {
    consider(1, rows, rows, 0);
  }
  // Positions of a line of the copy in steps of an output.
  int64_t line = h.step * w.extent(w.count);
  if (h.count > 1 && line % w.step == 0) {
    for (int64_t down : {2, 1}) {
      consider(1, down * side, side, line / w.step);
    }
  }
  plan = chosen;
}

/// The largest divisor of a run that is at most `most`.
static int64_t evenGroups(int64_t run, int64_t most) {
  int64_t groups = std::min(run, most);
  while (run % groups != 0) {
    --groups;
  }
  return groups;
}

std::vector<DirectPlan> matrixPlans(const DirectPlan &plan, const Product &product) {
  const int64_t side = product.tiles->rows;
  const DirectDim &last = plan.dims.back();
  std::vector<DirectPlan> plans;
  auto add = [&](int64_t groups, bool merged, bool pads) {
    DirectPlan next = plan;
    next.tileGroups = groups;
    next.merged = merged;
    next.padsChannels = pads;
    next.vectors = plan.features > plan.lanes ? 2 : 1;
    chooseRows(next, product);
    plans.push_back(next);
  };
  int64_t least = llvm::divideCeil(plan.channels, side), run = last.taps * plan.channels;
  int64_t even = evenGroups(plan.channels, side), merged = evenGroups(run, side);
  if (last.tapStep == 1 && last.tapStride == 1 && run / merged < last.taps * least) {
    add(merged, /*merged=*/true, /*pads=*/false);
  }
  if (plan.channels / even == least) {
    add(even, /*merged=*/false, /*pads=*/false);
  }
  if (plan.channels % side != 0) {
    add(side, /*merged=*/false, /*pads=*/true);
  }
  return plans;
}

bool canUseMatrix(const DirectPlan &plan) {
  if (plan.cut != DirectCut::None) {
    return plan.tileGroups == plan.lanes && plan.chunkChannels % plan.tileGroups == 0;
  }
  return !plan.merged || plan.inputStrides.back() == plan.channels;
}

/// Cycles to copy the input and the kernel: 6 and 10 for a vector, as in overhead() of
/// DirectPlan.cpp.
static double packingCycles(const DirectPlan &plan) {
  double vector = plan.bytes * plan.lanes;
  double kernel = plan.kernelStored ? 0 : 10 * plan.kernelBufferBytes() / vector;
  return plan.tasks() * (kernel + (plan.inputInPlace ? 0 : 6 * plan.inputBufferBytes() / vector));
}

double matrixCycles(const DirectPlan &plan, const Product &product) {
  return tileCycles(plan, product) + packingCycles(plan) + product.tiles->callCycles;
}

bool prefersMatrix(const DirectPlan &plan, const Product &product, const Machine &machine,
                   double vectorSpeed) {
  double work = 0;
  forEachPhase(plan, [&](int64_t taps, int64_t tapsW, int64_t, int64_t outputs) {
    work += static_cast<double>(outputs) * taps * tapsW;
  });
  work *= static_cast<double>(plan.groups * plan.features * plan.channels * product.group);
  double perCycle = machine.issue.fma * machine.lanes(4) * vectorSpeed;
  // The cycles of vectors leave out all but products and packing, so they are too low.
  return matrixCycles(plan, product) < 0.8 * (work / perCycle + packingCycles(plan));
}

} // namespace hlo::codegen
