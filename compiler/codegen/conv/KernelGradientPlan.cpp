//===- KernelGradientPlan.cpp - Sizes of the gradient form ----------------===//
//
// In: the geometry of a convolution and the strides of its operands. Out: pieces of the sums, the
// register tile, what is copied, and tasks; or nothing if the window is no image, or another form
// does better. Looks at shapes and target only.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/KernelGradient.h"
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// The steps of a piece: its panel, two vectors per step, is 28 KiB of L1.
static constexpr int64_t kSteps = 224;
/// The most bytes of a task's sums, which stay in L2 between pieces.
static constexpr int64_t kSumBytes = 320 << 10;
/// Rows of fewer steps are merged to one run: each row costs the start of a loop and its sums, some
/// 40 cycles, beside 14 cycles a step.
static constexpr int64_t kShortRow = 48;
/// The least taps of the window. Windows of up to 5 x 5 belong to convolutions of small images,
/// which the direct form computes faster; an image of 6 x 6 is the window of a gradient. No timings
/// around the bound were kept.
static constexpr int64_t kFewestTaps = 32;
/// With fewer channels the rows of tiles are (position, channel) pairs, since channels alone would
/// not fill a tile of 12 to 14 rows.
static constexpr int64_t kFewChannels = 12;
/// Pairs of bf16 need a matrix of patches, whose elements serve one multiply-add per feature. With
/// at most kFewFeatures it costs more than it saves if channels are few; with at most
/// kFewFeaturesOfColumns if it is made from columns (NCHW). In timings widening wins at 32 features
/// and loses at 96, and for NCHW wins at 16 (NOTES.md, "Convolutions").
static constexpr int64_t kFewFeatures = 64, kFewFeaturesOfColumns = 16;
/// Tasks are split until there are kEnoughTasks, which a few threads share evenly, of at least
/// kSmallTask multiply-adds each (at 16 to 32 a cycle, 40 to 80 us), as long as copies take at most
/// kMostOverhead of the time: twice the bound of the direct form, which copies the input once, not
/// once per position of a row. A single task is split in two up to kMostOverheadOfTwo: two threads
/// then still take 0.6 of the time. Choices, without timings of others.
static constexpr int64_t kEnoughTasks = 16, kSmallTask = 4 << 20;
static constexpr double kMostOverhead = 0.08, kMostOverheadOfTwo = 0.2;

static int64_t evenParts(int64_t total, int64_t most) {
  return llvm::divideCeil(total, llvm::divideCeil(total, most));
}

double overhead(const GradientPlan &plan) {
  double steps = plan.positions() * plan.sumRows() * plan.featureBlock / 2.0;
  double rows = static_cast<double>(plan.inputRows()) / plan.yChunk;
  double input = plan.copies * plan.pixel() * (plan.copies > 1 ? 1 : plan.w.kernelDilation) * rows;
  return 4 * (input + plan.featureBlock) / steps;
}

static void cutTasks(GradientPlan &plan, int64_t groups) {
  auto halve = [&](GradientPlan p, int which) -> std::optional<GradientPlan> {
    int64_t &block = which == 0 ? p.hBlock : which == 1 ? p.featureBlock : p.channelBlock;
    int64_t unit = which == 1 ? p.columns() : which == 2 ? std::min<int64_t>(p.rows, 8) : 1;
    int64_t half = llvm::alignTo(llvm::divideCeil(block, 2), unit);
    if (half >= block || (which == 2 && p.flat)) {
      return std::nullopt;
    }
    block = half;
    return p;
  };
  auto split = [&](double most) {
    std::optional<GradientPlan> best;
    for (int which = 0; which < 3; ++which) {
      std::optional<GradientPlan> p = halve(plan, which);
      if (p && overhead(*p) <= most && (!best || overhead(*p) < overhead(*best))) {
        best = p;
      }
    }
    if (best) {
      plan = *best;
    }
    return best.has_value();
  };
  while (plan.sumBytes() > kSumBytes && split(1e9)) {
  }
  int64_t steps = plan.images * plan.h.kernel * plan.w.kernel;
  while (true) {
    int64_t tasks = groups * plan.channelBlocks() * plan.featureBlocks() * plan.hBlocks();
    int64_t work = plan.positions() * plan.sumRows() * plan.featureBlock * steps;
    if (tasks >= kEnoughTasks || work < 2 * kSmallTask ||
        !split(tasks == 1 ? kMostOverheadOfTwo : kMostOverhead)) {
      break;
    }
  }
}

bool isKernelGradient(const ConvOperands &operands) {
  const ConvGeometry &g = operands.g;
  if (!isa<FloatType>(operands.element) || g.featureGroups > 1 || g.spatial.empty() ||
      g.spatial.size() > 2) {
    return false;
  }
  int64_t taps = 1, positions = 1, elements = g.inputBatch * g.inputFeatures * g.outputFeatures;
  for (const SpatialDim &dim : g.spatial) {
    taps *= dim.kernel;
    positions *= dim.output;
    elements *= dim.input * dim.output * dim.kernel;
    if (dim.reversed || dim.inputDilation != 1) {
      return false;
    }
  }
  return elements != 0 && taps >= kFewestTaps && taps >= 2 * positions;
}

std::optional<GradientPlan> planGradient(const ConvOperands &operands, const Machine &machine) {
  const ConvGeometry &g = operands.g;
  if (!isKernelGradient(operands)) {
    return std::nullopt;
  }
  GradientPlan plan;
  plan.w = g.spatial.back();
  plan.hasH = g.spatial.size() == 2;
  plan.h = plan.hasH ? g.spatial[0] : SpatialDim{1, 1, 1};
  plan.images = g.kernelInputFeatures;
  plan.channels = g.outputBatch;
  plan.features = g.groupFeatures();
  plan.bytes = computeType(operands.element).getIntOrFloatBitWidth() / 8;
  int64_t full = machine.vectors.bytes / plan.bytes;
  if (full < 2 || plan.features * 2 < full) {
    return std::nullopt;
  }
  plan.lanes = std::min<int64_t>(full, llvm::PowerOf2Ceil(plan.features));
  // Copies are vectors along channels and features, or along rows.
  ArrayRef<int64_t> input = operands.input->strides(), kernel = operands.kernel->strides();
  bool channelsInside = input[g.inputBatchDim] == 1;
  bool inputFast = channelsInside || (input[plan.w.inputDim] == 1 && plan.w.kernelDilation == 1);
  if (!inputFast || (kernel[g.kernelOutputDim] != 1 && kernel[plan.w.kernelDim] != 1)) {
    return std::nullopt;
  }
  plan.flat = plan.channels < kFewChannels;
  bool pairs = operands.input->holdsBf16() && operands.kernel->holdsBf16() &&
               !machine.vectorProducts(kBf16, kBf16, kF32).empty();
  int64_t few = plan.flat ? kFewFeatures : channelsInside ? 0 : kFewFeaturesOfColumns;
  if (pairs && plan.features > few) {
    return std::nullopt;
  }
  if (plan.flat && (plan.w.output * plan.channels < 6 || plan.w.stride != 1 || g.groups() > 1 ||
                    !channelsInside || input[plan.w.inputDim] != plan.channels ||
                    !operands.input->isStrided())) {
    return std::nullopt;
  }
  int64_t ho = plan.h.kernel, wo = plan.w.kernel;
  plan.xChunk = evenParts(wo, kSteps);
  plan.yChunk = plan.xChunk < wo ? 1 : evenParts(ho, std::max<int64_t>(1, kSteps / wo));
  plan.imageChunk = plan.yChunk < ho || plan.xChunk < wo
                        ? 1
                        : evenParts(plan.images, std::max<int64_t>(1, kSteps / (ho * wo)));
  bool copied = !plan.flat && wo < kShortRow && plan.w.output > 1;
  plan.copies = copied ? plan.w.output : 1;
  int64_t positions = plan.h.output * plan.w.output;
  int64_t most = positions >= 9 ? 64 : positions >= 3 ? 128 : 256;
  plan.hBlock = plan.h.output;
  plan.channelBlock = plan.flat ? plan.channels : evenParts(plan.channels, most);
  TileShape tile = chooseTile(machine, plan.sumRows(), std::min(plan.features, most), plan.steps(),
                              plan.lanes, /*parts=*/1, /*rowMultiple=*/0);
  plan.rows = tile.rows;
  plan.vectors = tile.vectors;
  plan.featureBlock = llvm::alignTo(evenParts(plan.features, most), plan.columns());
  cutTasks(plan, g.groups());
  if (plan.inputBytes() + plan.panelBytes() + plan.sumBytes() > 4 * kSumBytes) {
    return std::nullopt;
  }
  return plan;
}

} // namespace hlo::codegen
