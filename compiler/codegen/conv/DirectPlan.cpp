//===- DirectPlan.cpp - Sizes of the direct form of a convolution ---------===//
//
// Chooses the register tile, what is copied and what is read in place, and blocks of outputs and
// features per task, from the geometry of a convolution, the strides of its operands and the
// machine.
//
// Only some taps read an input with holes (base dilation D), and which ones repeats every D /
// gcd(stride, D) outputs. Each such phase is a convolution without holes, so that nothing is
// multiplied by the zeros between elements.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectPlan.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// With fewer steps per sum the stores dominate, and tiles go in the order of the result in memory.
static constexpr int64_t kFewSteps = 16;
/// The least images, if they are innermost, that are a tile's dimension; fewer do not fill a
/// vector.
static constexpr int64_t kFewestImages = 4;
/// The least lanes of instructions that multiply groups: 16-byte registers.
static constexpr int64_t kFewestGroupLanes = 4;
/// The most phases of a dimension, each of which has code of its own, and the most taps of a
/// window: larger windows are kernel gradients.
static constexpr int64_t kMostPhases = 8, kMostTaps = 512;

bool DirectDim::isInside() const {
  return llvm::all_of(phases, [&](const DirectPhase &phase) {
    int64_t last = phase.firstInput + (phase.count - 1) * step + (taps - 1) * tapStep;
    return phase.firstInput >= 0 && last < input;
  });
}

int64_t DirectPlan::pixels() const {
  int64_t result = 1;
  for (const DirectDim &dim : dims) {
    result *= dim.block;
  }
  return result;
}

int64_t DirectPlan::tiles() const {
  int64_t result = 1;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (d + 1 == dims.size() && linePitch > 0) {
      result = result / dims[d - 1].block *
               llvm::divideCeil((dims[d - 1].block - 1) * linePitch + dim.block, rowsW);
      continue;
    }
    result *= llvm::divideCeil(dim.block, unit(d));
  }
  return result;
}

int64_t DirectPlan::tasks() const {
  int64_t result = groups * featureBlocks;
  for (const DirectDim &dim : dims) {
    result *= dim.blocks;
  }
  return result;
}

int64_t DirectPlan::panels() const { return llvm::divideCeil(featureBlock, columns()); }

int64_t DirectPlan::bufferExtent(size_t d) const {
  return dims[d].extent(even ? dims[d].block : llvm::alignTo(dims[d].block, unit(d)));
}

int64_t DirectPlan::inputBufferBytes() const {
  int64_t first = bufferExtent(0) * inputStrides[0];
  if (linePitch > 0) {
    // The last tile reads past the last line.
    first += rowsW * dims.back().step * inputStrides.back();
  }
  // Whole vectors may be written past the end.
  return (first + lanes * (inputStrides.back() + 2)) * bytes;
}

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static DirectDim batchDim(const ConvGeometry &g) {
  DirectDim dim{g.inputBatch, g.outputBatch, 1, g.inputBatchDim, g.outputBatchDim, -1};
  dim.phases.push_back({0, 1, 0, g.outputBatch});
  dim.taps = 1;
  dim.count = g.outputBatch;
  return dim;
}

std::optional<DirectDim> directDim(const SpatialDim &s) {
  DirectDim dim{s.input, s.output, s.kernel, s.inputDim, s.outputDim, s.kernelDim, s.reversed};
  int64_t common = std::gcd(s.stride, s.inputDilation);
  int64_t tapCommon = std::gcd(s.kernelDilation, s.inputDilation);
  int64_t phases = std::min(s.inputDilation / common, s.output);
  if (phases > kMostPhases) {
    return std::nullopt;
  }
  dim.step = s.stride / common;
  dim.tapStep = s.kernelDilation / tapCommon;
  dim.tapStride = s.inputDilation / tapCommon;
  dim.taps = dim.count = 0;
  for (int64_t p = 0; p < phases; ++p) {
    DirectPhase phase{0, 0, 0, ceilDiv(s.output - p, s.inputDilation / common)};
    for (int64_t t = 0; t < std::min(dim.tapStride, s.kernel); ++t) {
      int64_t position = p * s.stride + t * s.kernelDilation - s.padLow;
      if (position % s.inputDilation == 0) {
        phase = {t, ceilDiv(s.kernel - t, dim.tapStride), position / s.inputDilation, phase.count};
        break;
      }
    }
    dim.taps = std::max(dim.taps, phase.taps);
    dim.count = std::max(dim.count, phase.count);
    dim.phases.push_back(phase);
  }
  return dim.taps > 0 ? std::optional(dim) : std::nullopt;
}

/// Whether images are contiguous in memory: they are then the last dimension, along which lanes are
/// loaded and stored.
static bool areImagesInnermost(const ConvOperands &operands) {
  const ConvGeometry &g = operands.g;
  ArrayRef<int64_t> strides = operands.input->strides();
  return g.batchGroups == 1 && g.outputBatch >= kFewestImages && strides[g.inputBatchDim] == 1 &&
         strides[g.inputFeatureDim] != 1 && strides[g.spatial.back().inputDim] != 1;
}

static void placeInput(DirectPlan &plan, const ConvOperands &operands, const Machine &machine) {
  const Operand &input = *operands.input;
  int64_t rank = plan.dims.size();
  plan.inputStrides.assign(rank, 0);
  plan.inputInPlace = plan.across == 1 && input.isStrided() && input.isStoredAs(operands.element) &&
                      input.strides()[operands.g.inputFeatureDim] == 1;
  for (auto [d, dim] : llvm::enumerate(plan.dims)) {
    // A tile skips taps that are in the padding for all its rows.
    bool rowByRow = d + 1 < plan.dims.size() && (d + 2 < plan.dims.size() || plan.rowsH == 1);
    plan.inputInPlace &= dim.phases.size() == 1 && (rowByRow || dim.isInside());
    plan.inputStrides[d] = input.strides()[dim.inputDim];
  }
  plan.inputInPlace &= !plan.alongChannels || plan.channels % plan.lanes == 0;
  // Rows a multiple of a way apart map to one set of L1.
  int64_t distance = plan.inputStrides.back() * plan.dims.back().step * plan.bytes;
  const Memory &memory = machine.memory;
  plan.inputInPlace &= plan.rowsW <= memory.l1 / memory.l1Way || distance % memory.l1Way != 0;
  if (plan.matrix) {
    // Registers read whole tiles and whole runs.
    plan.inputInPlace &= !plan.padsChannels && plan.linePitch == 0 &&
                         plan.dims.back().count % plan.rowsW == 0 &&
                         plan.dims.end()[-2].count % plan.rowsH == 0 &&
                         (!plan.merged || plan.inputStrides.back() == plan.channels);
  }
}

/// The number of features, after the last whole vector of them, for which lanes along the channels
/// of a row of taps are faster than a partly filled vector. The former takes one multiply-add for
/// some channels of a feature, and three for its sum. If all features and the channels fill less
/// than half a vector, these are all features. `alongOutputs`: the alternative, a contraction of
/// computed positions, has lanes along adjacent outputs on both sides.
static int64_t featuresLeft(const DirectPlan &plan, bool alongOutputs) {
  int64_t left = plan.features % plan.lanes, run = plan.dims.back().taps * plan.channels;
  int64_t steps = llvm::divideCeil(run, plan.lanes) * (plan.taps / plan.dims.back().taps);
  if (plan.features * 2 < plan.lanes && plan.channels * 2 < plan.lanes) {
    return alongOutputs && plan.features * (steps + 3) + 6 > plan.taps * plan.channels
               ? 0
               : plan.features;
  }
  bool pays = left * (steps + 3) * 5 < plan.taps * plan.channels * 4;
  return plan.lanes >= 8 && plan.features > plan.lanes && left > 0 && left * 4 <= plan.lanes && pays
             ? left
             : 0;
}

/// Whether a panel of the kernel takes too much of L1 to stay there while all tiles use it.
static bool isLargePanel(const DirectPlan &plan, const Machine &machine) {
  int64_t panel = plan.taps * plan.chunkChannels * plan.columns() * plan.bytes;
  return panel > machine.memory.l1 / 2;
}

/// Whether tiles prefetch the kernel: it comes from beyond L2 at each call, and what a step of the
/// few tiles that share it computes is short beside what the step's row takes to arrive. A prefetch
/// takes the time of a load from each step.
static bool asksForKernel(const DirectPlan &plan, const Machine &machine) {
  constexpr double kLeastShare = 0.05;
  int64_t row = plan.columns() * plan.bytes;
  double arrives = row / machine.memory.bytesPerCycle[static_cast<size_t>(Level::L3)];
  double computes = plan.tiles() * plan.rows() * plan.vectors / machine.issue.fma;
  bool returns = !plan.tilesOutside || plan.cut != DirectCut::None;
  return returns && !plan.packsKernel() && !plan.alongChannels && !plan.rowsAreLanes &&
         plan.features > 0 && plan.groups == 1 &&
         plan.taps * plan.channels * plan.features * plan.bytes > machine.memory.l2 &&
         arrives > kLeastShare * computes;
}

/// Whether a stored kernel can have the panels of the plan, with all taps in their order.
static bool canStoreKernel(const DirectPlan &plan, const ConvOperands &operands) {
  bool isStraight = llvm::all_of(plan.dims, [](const DirectDim &dim) {
    return dim.phases.size() == 1 && dim.tapStride == 1 && !dim.reversed;
  });
  const Operand &kernel = *operands.kernel;
  Type storage = kernel.panels() ? kernel.panels()->storage : kernel.storage();
  int64_t bytes = storageBytes(storage);
  bool isStored = operands.group == KGroup::None
                      ? storage == operands.element
                      : bytes == 4 || bytes * sizeOf(operands.group) == 4;
  return operands.storesPanels && isStored && isStraight && operands.g.groups() == 1 &&
         !plan.kernelInPlace && !plan.alongChannels && plan.across == 1 &&
         plan.featuresApart == 0 && !operands.flipsInput &&
         plan.mostSteps == std::numeric_limits<int64_t>::max();
}

PanelLayout storedLayout(const DirectPlan &plan, KGroup group) {
  int64_t step = sizeOf(group);
  return {plan.columns(), step, plan.padsChannels ? plan.lanes * step : step};
}

/// Whether memory holds the kernel as a plan reads it.
static bool holdsKernel(const StoredPanels &panels, const DirectPlan &plan, KGroup group) {
  return panels.width == plan.columns() && panels.group == sizeOf(group) &&
         panels.taps == plan.taps && panels.steps == plan.kernelRows;
}

static std::optional<DirectPlan> planWith(const ConvOperands &operands, const Machine &machine,
                                          int64_t mostSteps, bool apart) {
  const ConvGeometry &g = operands.g;
  Type part = computeType(operands.element);
  if (operands.element.isInteger(1) || isa<ComplexType>(operands.element) || g.spatial.empty()) {
    return std::nullopt;
  }
  bool grouped = operands.group != KGroup::None;
  if (grouped && apart) {
    return std::nullopt;
  }
  DirectPlan plan;
  bool imagesInnermost = areImagesInnermost(operands);
  if (imagesInnermost && apart) {
    return std::nullopt;
  }
  plan.firstSpatial = imagesInnermost ? 0 : 1;
  if (!imagesInnermost) {
    plan.dims.push_back(batchDim(g));
  }
  plan.channels = g.kernelInputFeatures;
  plan.features = g.groupFeatures();
  plan.mostSteps = mostSteps;
  plan.taps = 1;
  plan.even = true;
  for (const SpatialDim &spatial : g.spatial) {
    std::optional<DirectDim> dim = directDim(spatial);
    if (!dim || spatial.input == 0 || spatial.output == 0) {
      return std::nullopt;
    }
    plan.taps *= spatial.kernel;
    plan.even &=
        llvm::all_of(dim->phases, [&](const DirectPhase &p) { return p.count == dim->count; });
    plan.dims.push_back(*dim);
  }
  if (imagesInnermost) {
    plan.dims.push_back(batchDim(g));
  }
  plan.addsProducts = operands.product && operands.product->addsApart;
  plan.bytes = part.getIntOrFloatBitWidth() / 8;
  plan.lanes = std::max<int64_t>(1, machine.vectors.bytes / std::max<int64_t>(plan.bytes, 4));
  if (g.outputBatch * plan.features * plan.channels == 0 || plan.taps > kMostTaps ||
      plan.bytes < 4 || plan.taps > mostSteps) {
    return std::nullopt;
  }
  // If the features of several groups fill a vector, lanes go across these groups. Groups of 8 gain
  // nothing: the copy is too large.
  plan.across = 1;
  plan.groups = g.groups();
  const Product *product = operands.product;
  bool matrix = product && product->tiles;
  if (!matrix && g.featureGroups > 1 && plan.features * 4 <= plan.lanes &&
      plan.lanes % plan.features == 0 && g.outputFeatures % plan.lanes == 0 &&
      plan.features % plan.channels == 0) {
    plan.across = plan.lanes / plan.features;
    plan.groups /= plan.across;
    plan.features = plan.lanes;
  }
  plan.featuresApart = 0;
  if (apart) {
    const DirectDim &last = plan.dims.back();
    bool alongOutputs = operands.input->strides()[last.inputDim] == 1 && last.step == 1 &&
                        last.outputDim == static_cast<int64_t>(g.spatial.size()) + 1;
    plan.featuresApart = plan.groups == 1 ? featuresLeft(plan, alongOutputs) : 0;
    if (plan.featuresApart == 0) {
      return std::nullopt;
    }
    plan.features -= plan.featuresApart;
  }
  bool few = !matrix && plan.features * 2 < plan.lanes && plan.features > 0;
  if (few && plan.channels * 2 < plan.lanes) {
    // With holes the alternative would multiply by zeros.
    if (llvm::all_of(plan.dims, [](const DirectDim &d) { return d.phases.size() == 1; })) {
      return std::nullopt;
    }
    few = false;
  }
  plan.alongChannels = few;
  plan.rowsAreLanes = machine.vectors.laneOperands && !few && !matrix && plan.across == 1 &&
                      plan.channels >= machine.lanes(static_cast<int>(plan.bytes));
  int64_t across = plan.features == 0 ? plan.runApart() : few ? plan.channels : plan.features;
  if (!matrix) {
    plan.lanes = std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(across));
  }
  if (grouped && plan.lanes < kFewestGroupLanes) {
    return std::nullopt;
  }
  if (apart) {
    int64_t features = plan.featuresApart,
            rows = (machine.vectors.registers - 4 - features) / features;
    // Sums are added in groups of as many as there are lanes.
    int64_t group = plan.lanes / std::gcd(plan.lanes, features);
    plan.rowsApart = std::min(plan.dims.back().count,
                              plan.features == 0 && rows > group ? rows / group * group : rows);
  }
  const Operand &kernel = *operands.kernel;
  plan.kernelInPlace = !few && !grouped && kernel.isStoredAs(operands.element) &&
                       kernel.strides()[g.kernelOutputDim] == 1;
  // Few channels make short pieces; a packed kernel needs no pieces.
  bool small = plan.taps * plan.channels * plan.features * plan.bytes <= kWholeKernel;
  plan.kernelInPlace &= small || plan.channels >= kFewChannels;
  if (matrix) {
    plan.matrix = product->tiles;
    plan.speed = product->tiles->rows * product->tiles->rows / (product->cost * machine.issue.fma);
    // The last tile of a line may compute more than is stored.
    plan.even = false;
    plan.kernelStored = canStoreKernel(plan, operands);
    for (DirectPlan &candidate : matrixPlans(plan, *product)) {
      placeInput(candidate, operands, machine);
      if (cutBlocks(candidate, machine) && canUseMatrix(candidate)) {
        candidate.tilesOutside = !plan.kernelStored && isLargePanel(candidate, machine);
        return candidate;
      }
    }
    return std::nullopt;
  }
  if (plan.features > 0) {
    chooseDirectTile(plan, machine);
  } else {
    plan.kernelInPlace = true;
    plan.rowsH = plan.vectors = 1;
    plan.rowsW = plan.rowsApart;
  }
  plan.kernelStored = canStoreKernel(plan, operands);
  placeInput(plan, operands, machine);
  if (!cutBlocks(plan, machine) || (few && plan.cut != DirectCut::None)) {
    return std::nullopt;
  }
  const DirectDim &last = plan.dims.back();
  plan.merged = plan.cut == DirectCut::None && !few && last.tapStep == 1 && last.tapStride == 1 &&
                plan.inputStrides.back() == plan.channels * plan.channelWidth() &&
                (!plan.kernelInPlace || last.kernelDim < 0 ||
                 (!last.reversed && kernel.strides()[last.kernelDim] ==
                                        plan.channels * kernel.strides()[g.kernelInputDim]));
  plan.skipsPadding = choosesToSkip(plan, operands);
  if (apart) {
    bool onePhase = llvm::all_of(
        plan.dims, [](const DirectDim &d) { return d.phases.size() == 1 && d.tapStride == 1; });
    bool run = last.tapStep == 1 && plan.inputStrides.back() == plan.channels;
    if (plan.cut != DirectCut::None || last.blocks > 1 || !onePhase || !run) {
      return std::nullopt;
    }
  }
  plan.tilesOutside =
      (!plan.kernelStored && isLargePanel(plan, machine)) || plan.taps * plan.channels < kFewSteps;
  plan.asksAhead = asksForKernel(plan, machine);
  return plan;
}

std::optional<DirectPlan> planDirect(const ConvOperands &operands, const Machine &machine,
                                     int64_t mostSteps) {
  std::optional<DirectPlan> plan = planWith(operands, machine, mostSteps, /*apart=*/true);
  if (!plan) {
    plan = planWith(operands, machine, mostSteps, /*apart=*/false);
  }
  const std::optional<StoredPanels> &panels = operands.kernel->panels();
  if (plan && plan->kernelStored && panels && !holdsKernel(*panels, *plan, operands.group)) {
    ConvOperands computed = operands;
    computed.storesPanels = false;
    return planDirect(computed, machine, mostSteps);
  }
  return plan;
}

} // namespace hlo::codegen
