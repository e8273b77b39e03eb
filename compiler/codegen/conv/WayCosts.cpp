//===- WayCosts.cpp - Cycles of the ways to make a convolution ------------===//
//
// In: a convolution and the plan of one way to make it. Out: its cycles as sums of loops
// (machine/Costs.h): the arithmetic, what is copied and packed, results.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/WayCosts.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/machine/Costs.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hlo::codegen {

static double bytesOf(const Operand &operand, const ConvOperands &operands) {
  return storageBytes(operand.storage() ? operand.storage() : operands.element);
}

/// Elements of the input, the kernel and the result.
static double inputSize(const ConvGeometry &g) {
  double size = g.inputBatch * g.inputFeatures;
  for (const SpatialDim &dim : g.spatial) {
    size *= dim.input;
  }
  return size;
}
static double tapsOf(const ConvGeometry &g) {
  double taps = 1;
  for (const SpatialDim &dim : g.spatial) {
    taps *= dim.kernel;
  }
  return taps;
}
static double outputSize(const ConvGeometry &g) {
  double size = static_cast<double>(g.outputBatch) * g.outputFeatures;
  for (const SpatialDim &dim : g.spatial) {
    size *= dim.output;
  }
  return size;
}

/// Where all arrays together are.
static Level levelOf(const ConvOperands &operands, const Machine &machine) {
  const ConvGeometry &g = operands.g;
  double kernel = tapsOf(g) * g.kernelInputFeatures * g.outputFeatures;
  return levelOf(machine, inputSize(g) * bytesOf(*operands.input, operands) +
                              kernel * bytesOf(*operands.kernel, operands) +
                              outputSize(g) * storageBytes(operands.element));
}

/// A result that is written once.
static double cyclesOfResult(const ConvOperands &operands, const Machine &machine) {
  LoopBody body;
  double bytes = outputSize(operands.g) * storageBytes(operands.element);
  body.stores = 1;
  body.bytes = machine.vectors.bytes;
  body.level = levelOf(operands, machine);
  body.trips = bytes / machine.vectors.bytes;
  return cyclesOfLoop(machine, body);
}

PlanCandidate describeDepthwise(const ConvOperands &operands, const Machine &machine) {
  const ConvGeometry &g = operands.g;
  double lanes = machine.lanes(std::max<int>(4, storageBytes(operands.element)));
  LoopBody body;
  body.multiplyAdds = tapsOf(g);
  // A load of the input, which is two if it crosses a line, as half of them do (1.5); and a quarter
  // of a load of a weight, which four neighbours share.
  body.loads = tapsOf(g) * 1.75;
  body.integers = tapsOf(g);
  if (int64_t multiplier = g.outputFeatures / g.inputFeatures;
      multiplier > 1 && multiplier % static_cast<int64_t>(lanes) != 0) {
    // A vector of features has several channels, and each tap permutes the input. A vector that
    // begins within a channel is put together from two.
    body.shuffles = tapsOf(g) * (static_cast<int64_t>(lanes) % multiplier == 0 ? 1 : 4);
  }
  body.stores = 1;
  body.bytes = lanes * (bytesOf(*operands.input, operands) + storageBytes(operands.element));
  body.level = levelOf(operands, machine);
  body.trips = outputSize(g) / lanes;
  return {"depthwise", "", cyclesOfLoop(machine, body)};
}

PlanCandidate describeGradient(const ConvOperands &operands, const GradientPlan &plan,
                               const Machine &machine) {
  TileShape tile{plan.rows, plan.vectors, 0};
  double steps = static_cast<double>(plan.images) * plan.h.kernel * plan.w.kernel;
  double positions = static_cast<double>(plan.positions()) * plan.hBlocks() * operands.g.groups();
  double perStep = cyclesOfTiles(machine, plan.sumRows() * (plan.flat ? 1 : plan.channelBlocks()),
                                 llvm::divideCeil(plan.features, plan.lanes), plan.steps(),
                                 /*parts=*/1, tile, /*narrowLast=*/false);
  double cycles = positions * steps * perStep * (1 + overhead(plan));
  return {"gradient",
          llvm::formatv("tile {0} x {1}, {2} steps, {3} copies", plan.rows, plan.vectors,
                        plan.steps(), plan.copies)
              .str(),
          cycles + cyclesOfResult(operands, machine)};
}

PlanCandidate describeDirect(StringRef name, const ConvOperands &operands, const DirectPlan &plan,
                             const Machine &machine) {
  double steps = static_cast<double>(plan.taps) *
                 llvm::divideCeil(plan.channels, plan.alongChannels ? plan.lanes : 1);
  double others = plan.groups; // of the tiles of the last two dimensions
  for (auto [d, dim] : llvm::enumerate(plan.dims)) {
    others *= d + 2 < plan.dims.size() ? dim.count : 1;
  }
  double perStep = plan.stepCycles;
  if (plan.featuresApart > 0) {
    double rows = static_cast<double>(plan.dims.back().count) *
                  (plan.dims.size() > 1 ? plan.dims.end()[-2].count : 1);
    LoopBody body;
    body.multiplyAdds = plan.featuresApart;
    body.loads = 1;
    body.chain = 1.0 / plan.rowsApart;
    body.start = 3 * plan.featuresApart;
    body.trips = std::max(1.0, steps / plan.lanes);
    perStep += rows * cyclesOfTrip(machine, body) / plan.lanes;
  }
  double multiplyAdd = operands.product ? operands.product->cost : 1;
  // Each phase has its part of the taps.
  double met = 1;
  for (const DirectDim &dim : plan.dims) {
    met *= dim.kernel > 0 ? static_cast<double>(dim.taps) / dim.kernel * dim.phases.size() : 1;
  }
  double cycles = plan.matrix
                      ? matrixCycles(plan, *operands.product)
                      : others * perStep * steps * multiplyAdd * met * (1 + overhead(plan)) +
                            cyclesOfResult(operands, machine);
  return {name.str(),
          llvm::formatv("tile {0} x {1} outputs, {2} {3}, {4} features of a task, input {5}, "
                        "kernel {6}",
                        plan.rowsH, plan.rowsW, plan.vectors,
                        plan.alongChannels ? "features" : "vectors", plan.featureBlock,
                        plan.inputInPlace ? "in place" : "copied",
                        plan.kernelStored    ? "stored panels"
                        : plan.kernelInPlace ? "in place"
                                             : "packed")
              .str(),
          cycles};
}

} // namespace hlo::codegen
