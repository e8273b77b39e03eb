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

/// Buffers in bytes: the input of a task, panels of the kernel, and sums between pieces. Each stays
/// in an L2 of 1 MiB beside the part of the others that is in use.
static constexpr int64_t kInputBuffer = 384 << 10, kKernelBuffer = 512 << 10,
                         kSumBuffer = 256 << 10;
/// More for the input if there are no panels: the images that share a large kernel then fit, and
/// read it once.
static constexpr int64_t kMoreInput = 96 << 10;
/// A kernel that is read in place and has more bytes is cut into pieces that stay in L2.
static constexpr int64_t kWholeKernel = 640 << 10;
/// The bytes of such a piece, one tap of some channels. All tiles of a task read it from L2, where
/// it has room beside kInputBuffer + kMoreInput and kSumBuffer: 864 KiB together.
static constexpr int64_t kKernelPiece = 128 << 10;
/// The least channels of such a piece: their steps, of some 7 cycles each, take twenty times as
/// long as the start of the loop over a row of taps.
static constexpr int64_t kFewChannels = 64;
/// The least bytes of a row of a kernel that is read in place: shorter runs use more pages, and
/// lines of few sets of L1.
static constexpr int64_t kNarrowRow = 1 << 10;
/// Tasks are split until there are kEnoughTasks, which a few threads share evenly, as long as each
/// keeps kSmallTask multiply-adds of f32: at 16 to 32 a cycle, 20 to 40 us.
static constexpr int64_t kEnoughTasks = 16, kSmallTask = 2 << 20;
/// Splitting repeats packing. It ends where packing would take more than kMostOverhead of the
/// cycles of the multiply-adds: a loss of 4 % on one thread for a more even share of several. The
/// first kFewTasks are made regardless: a second thread gains more than any packing costs. By
/// matrix registers packing is always above the bound, and the first kFewMatrixTasks are made. The
/// bound is a choice, without timings of others.
static constexpr double kMostOverhead = 0.04;
static constexpr int64_t kFewTasks = 2, kFewMatrixTasks = 4;
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

/// The strides of the input's copy, which depend on the blocks.
static void layOutInput(DirectPlan &plan) {
  if (plan.inputInPlace) {
    return;
  }
  int64_t stride = plan.alongChannels || plan.padsChannels
                       ? llvm::alignTo(plan.channels, plan.lanes)
                       : plan.inputChannels() * plan.channelWidth();
  if (stride * plan.bytes % 2048 == 0) {
    stride += 64 / plan.bytes;
  }
  for (int64_t d = plan.dims.size(); d-- > 0;) {
    plan.inputStrides[d] = stride;
    stride *= plan.bufferExtent(d);
  }
}

static void cutKernel(DirectPlan &plan) {
  int64_t row = plan.featureBlock * plan.bytes;
  plan.cut = DirectCut::None;
  plan.chunkChannels = plan.channels;
  if (plan.kernelStored) {
    row = plan.columns() * plan.bytes; // one panel at a time
  }
  bool onePhase = llvm::all_of(plan.dims, [](const DirectDim &d) { return d.phases.size() == 1; });
  if (plan.kernelInPlace) {
    if (onePhase && plan.channels >= kFewChannels &&
        plan.taps * plan.channels * row > kWholeKernel) {
      plan.cut = DirectCut::Taps;
      plan.chunkChannels = std::max<int64_t>(kFewChannels, kKernelPiece / row);
    }
  } else if (plan.taps * plan.channels * row > (plan.kernelStored ? kWholeKernel : kKernelBuffer)) {
    plan.cut = DirectCut::Channels;
    plan.chunkChannels = std::max<int64_t>(1, kKernelBuffer / (row * plan.taps));
  }
  // With lanes along channels each lane is a sum until the end of a tile.
  int64_t rows =
      plan.alongChannels ? llvm::divideCeil(plan.chunkChannels, plan.lanes) : plan.chunkChannels;
  if (plan.taps * rows > plan.mostSteps) {
    plan.cut = DirectCut::Channels;
    plan.chunkChannels = plan.mostSteps / plan.taps;
  }
  plan.channelChunks = llvm::divideCeil(plan.channels, plan.chunkChannels);
  plan.chunkChannels = llvm::divideCeil(plan.channels, plan.channelChunks);
  plan.inputChunks = false;
  if (plan.channelChunks > 1) {
    // Equal pieces of whole vectors, if there are some of about that size.
    int64_t vectors = plan.channels / plan.lanes, pieces = plan.channelChunks;
    while (pieces < 2 * plan.channelChunks && vectors % pieces != 0) {
      ++pieces;
    }
    if (plan.channels % plan.lanes == 0 && vectors % pieces == 0) {
      plan.channelChunks = pieces;
      plan.chunkChannels = plan.channels / pieces;
      plan.inputChunks = !plan.inputInPlace;
    } else {
      plan.chunkChannels = plan.chunkChannels >= plan.lanes
                               ? plan.chunkChannels / plan.lanes * plan.lanes
                               : plan.chunkChannels;
      plan.channelChunks = llvm::divideCeil(plan.channels, plan.chunkChannels);
    }
  }
  plan.kernelRows = plan.alongChannels  ? llvm::alignTo(plan.channels, plan.lanes)
                    : plan.padsChannels ? llvm::alignTo(plan.chunkChannels, plan.lanes)
                                        : plan.chunkChannels;
  if (plan.kernelStored) {
    plan.kernelRows = plan.padsChannels ? llvm::alignTo(plan.channels, plan.lanes) : plan.channels;
  }
}

static void count(DirectPlan &plan) {
  for (DirectDim &dim : plan.dims) {
    dim.blocks = llvm::divideCeil(dim.count, dim.block);
  }
  plan.featureBlocks = std::max<int64_t>(1, llvm::divideCeil(plan.features, plan.featureBlock));
  cutKernel(plan);
  layOutInput(plan);
}

/// Halves the outermost dimension that is larger than a tile; false if there is none.
static bool splitOutputs(DirectPlan &plan) {
  int64_t rank = plan.dims.size();
  for (int64_t d = 0; d < rank; ++d) {
    DirectDim &dim = plan.dims[d];
    int64_t half = llvm::alignTo(llvm::divideCeil(dim.block, 2), plan.unit(d));
    if (half < dim.block) {
      dim.block = half;
      count(plan);
      return true;
    }
  }
  return false;
}

static bool splitFeatures(DirectPlan &plan) {
  int64_t half = llvm::alignTo(llvm::divideCeil(plan.featureBlock, 2), plan.columns());
  if (half >= plan.featureBlock || (plan.kernelInPlace && half * plan.bytes < kNarrowRow)) {
    return false;
  }
  plan.featureBlock = half;
  count(plan);
  return true;
}

/// Packing counts the cycles of one vector: of the kernel 10, or 8 if it is read in place by pieces
/// (sums come and go instead) and 1 if it is read in place whole; of the input 6. Estimates.
double overhead(const DirectPlan &plan) {
  double kernel = plan.cut == DirectCut::Taps ? 8 : plan.packsKernel() ? 10 : 1, met = 1;
  for (const DirectDim &dim : plan.dims) {
    met *= dim.extent(dim.block);
  }
  double input = plan.inputInPlace ? 0 : 6;
  double parts =
      kernel / plan.pixels() + input * met / (plan.pixels() * plan.taps * plan.featureBlock);
  return parts * plan.speed;
}

/// The most bytes of the input's copy. Matrix registers take so few cycles for their products that
/// packing the kernel again for each block of outputs costs as much: their copy has half of L2,
/// beside a panel of the kernel.
static int64_t mostInput(const DirectPlan &plan, const Machine &machine) {
  int64_t most = kInputBuffer + (plan.cut == DirectCut::Taps ? kMoreInput : 0);
  return plan.matrix ? std::max(most, machine.memory.l2 / 2) : most;
}

static bool fits(const DirectPlan &plan, const Machine &machine) {
  return (plan.inputInPlace || plan.inputBufferBytes() <= mostInput(plan, machine)) &&
         (plan.cut == DirectCut::None || plan.sumBufferBytes() <= kSumBuffer);
}

static bool cutBlocks(DirectPlan &plan, const Machine &machine) {
  for (DirectDim &dim : plan.dims) {
    dim.block = dim.count;
  }
  plan.featureBlock = llvm::alignTo(std::max<int64_t>(plan.features, 1), plan.columns());
  count(plan);
  auto cheaper = [&] {
    DirectPlan outputs = plan, features = plan;
    bool canOutputs = splitOutputs(outputs), canFeatures = splitFeatures(features);
    if (!canOutputs && !canFeatures) {
      return false;
    }
    bool byOutputs = canOutputs && (!canFeatures || overhead(outputs) <= overhead(features));
    plan = byOutputs ? outputs : features;
    return true;
  };
  auto packsChunks = [&] { return plan.inputChunks && plan.cut == DirectCut::Channels; };
  while (!packsChunks() && !plan.kernelStored &&
         plan.taps * plan.channels * plan.featureBlock * plan.bytes > kWholeKernel &&
         plan.channels * plan.featureBlock * plan.bytes > kKernelPiece && splitFeatures(plan)) {
  }
  while (!fits(plan, machine)) {
    if (packsChunks() ? !cheaper() : !splitOutputs(plan) && !splitFeatures(plan)) {
      return false;
    }
  }
  while (true) {
    int64_t tasks = plan.tasks();
    int64_t work = plan.pixels() * plan.featureBlock * plan.channels * plan.taps;
    if (tasks >= kEnoughTasks || work < 2 * kSmallTask * plan.speed) {
      break;
    }
    DirectPlan before = plan;
    if (!cheaper()) {
      break;
    }
    int64_t few = plan.matrix ? kFewMatrixTasks : kFewTasks;
    if (overhead(plan) > kMostOverhead && tasks >= few) {
      plan = before;
      break;
    }
  }
  return !plan.packsKernel() || plan.kernelBufferBytes() <= kKernelBuffer * 5 / 4;
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
