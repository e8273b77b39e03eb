//===- DirectBlocks.cpp - Tasks and pieces of the direct form -------------===//
//
// Cuts the outputs and features of a plan into the blocks of tasks, and the kernel into pieces
// whose sums are added: as few as the buffers allow, then as many as threads share evenly. Lays out
// the copy of the input that a task makes.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectPlan.h"

using namespace mlir;

namespace hlo::codegen {

/// Buffers in bytes: the input of a task, panels of the kernel, and sums between pieces. Each stays
/// in an L2 of 1 MiB beside the part of the others that is in use.
static constexpr int64_t kInputBuffer = 384 << 10, kKernelBuffer = 512 << 10,
                         kSumBuffer = 256 << 10;
/// More for the input if there are no panels: the images that share a large kernel then fit, and
/// read it once.
static constexpr int64_t kMoreInput = 96 << 10;
/// The bytes of a piece of a kernel that is read in place, one tap of some channels. All tiles of a
/// task read it from L2, where it has room beside kInputBuffer + kMoreInput and kSumBuffer: 864 KiB
/// together.
static constexpr int64_t kKernelPiece = 128 << 10;
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

bool cutBlocks(DirectPlan &plan, const Machine &machine) {
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

} // namespace hlo::codegen
