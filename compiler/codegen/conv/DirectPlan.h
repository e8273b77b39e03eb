//===- DirectPlan.h - Sizes of the direct form of a convolution -----------===//
#ifndef COMPILER_CODEGEN_CONV_DIRECTPLAN_H
#define COMPILER_CODEGEN_CONV_DIRECTPLAN_H

#include "compiler/codegen/conv/ConvOperands.h"

namespace hlo::codegen {

/// The outputs p, p + phases, p + 2 * phases, ... of a dimension: those that read the same taps of
/// an input with holes.
struct DirectPhase {
  int64_t firstTap;   ///< the first tap that reads an element; then every DirectDim::tapStride-th
  int64_t taps;       ///< the number of taps that do
  int64_t firstInput; ///< input index that the first output reads at the first tap; may be in the
                      ///< padding
  int64_t count;      ///< outputs
};

/// One dimension of the output other than the features: the batch (with one tap), or a spatial one.
struct DirectDim {
  int64_t input, output, kernel; ///< sizes
  int64_t inputDim, outputDim,
      kernelDim; ///< its number in each array; kernelDim is -1 for the batch
  bool reversed = false;
  int64_t step = 1;      ///< input elements between adjacent outputs of a phase
  int64_t tapStep = 1;   ///< input elements between adjacent taps of a phase
  int64_t tapStride = 1; ///< taps of the kernel between adjacent taps of a phase
  llvm::SmallVector<DirectPhase, 1> phases;
  int64_t taps, count; ///< the largest of any phase
  int64_t block = 1, blocks = 1;

  /// The number of input elements that `outputs` adjacent outputs span.
  int64_t extent(int64_t outputs) const { return (outputs - 1) * step + (taps - 1) * tapStep + 1; }
  bool isInside() const;
};

/// How the sums over taps and channels are cut into pieces.
enum class DirectCut {
  None,
  Taps,    ///< a piece is one tap and some channels: a kernel that is read in place
  Channels ///< a piece is all taps of some channels: a kernel that is packed
};

/// All decisions about a direct convolution that are made before code is emitted.
struct DirectPlan {
  llvm::SmallVector<DirectDim> dims; ///< batch, then spatial; or the batch last
  int64_t firstSpatial;              ///< the first of `dims` that is spatial
  int64_t channels, features;        ///< of a group
  int64_t taps;                      ///< of the kernel
  int64_t bytes;                     ///< bytes of an element in the type of accumulation
  int64_t mostSteps;                 ///< the number of steps for which a sum in that type is exact
  bool addsProducts;                 ///< a second instruction adds the products
  /// Few features: lanes are along the channels, and are added at the end of a tile.
  bool alongChannels;
  /// Neighbouring channels of an input position are loaded together, and multiply-adds take one
  /// lane of them.
  bool rowsAreLanes;
  /// The number of small groups that fill a vector of features and are treated as one group. Each
  /// channel of the input's copy is then a vector: that channel of each group, once for each
  /// feature of the group.
  int64_t across;
  int64_t groups; ///< of `features` features
  /// The number of features after `features` that do not fill a vector: their lanes are along the
  /// channels of a row of taps (DirectApart.cpp), in tiles of `rowsApart` outputs. 0: none.
  int64_t featuresApart, rowsApart;
  int64_t lanes, vectors; ///< a tile has `vectors` vectors of features, or `vectors` features
  int64_t rowsH, rowsW;   ///< and outputs of the last two dimensions
  double stepCycles = 0;  ///< of all tiles of the last two dimensions, for one step of the sums
  bool inputInPlace, kernelInPlace;
  bool kernelStored = false; ///< the packed kernel is in memory (PanelLayout)
  bool merged;               ///< taps of the last dimension and channels are contiguous
  /// Tiles are whole lines of outputs, and each tap of the last dimension is multiplied with those
  /// that it meets in the input: the taps have code of their own.
  bool skipsPadding = false;
  bool even;         ///< all phases of each dimension have the same number of outputs
  bool tilesOutside; ///< the loop over tiles is outside the loop over panels
  /// Tiles prefetch the part of the kernel that is multiplied next, into L2.
  bool asksAhead = false;
  llvm::SmallVector<int64_t> inputStrides; ///< of the input or its copy, one per dimension
  int64_t featureBlock, featureBlocks;
  DirectCut cut;
  int64_t chunkChannels, channelChunks;
  /// The input is copied for each piece of the sums, only the channels of the piece.
  bool inputChunks;
  int64_t kernelRows; ///< rows of a tap in a panel of the packed kernel

  // Matrix registers (DirectMatrix.cpp).
  const Tiles *matrix = nullptr; ///< what multiplies words of channels; null: vectors do
  double speed = 1;              ///< multiply-adds in the time in which vectors of f32 do one
  int64_t tileRows = 0;          ///< outputs of a register
  int64_t tileGroups = 0;        ///< words of channels of a register
  /// Channels are followed by zeros up to whole vectors, in the copy of the input and in the packed
  /// kernel.
  bool padsChannels = false;
  /// Distance, in outputs, between the first outputs of two adjacent lines of a tile that is one
  /// run over the input's copy; the run includes the padding between the lines. 0: tiles are
  /// rectangles.
  int64_t linePitch = 0;

  /// Whether tasks pack the kernel.
  bool packsKernel() const { return !kernelInPlace && !kernelStored; }
  /// Channels of the copy of the input, and elements of each.
  int64_t inputChannels() const { return inputChunks ? chunkChannels : channels; }
  int64_t channelWidth() const { return across > 1 ? lanes : 1; }
  /// Whether sums are transposed to be stored along the outputs: outputs are innermost in the
  /// result, or few phases share its rows.
  bool outputsInnermost() const {
    return dims.back().outputDim == static_cast<int64_t>(dims.size()) && lanes > 1 &&
           dims.back().phases.size() <= kMostApart;
  }
  /// Registers of outputs in a tile.
  int64_t tilesDown() const { return rowsH * rowsW / tileRows; }
  /// Outputs of a tile along dimension `d`.
  int64_t unit(size_t d) const {
    return d + 1 == dims.size()   ? (linePitch > 0 ? dims[d].count : rowsW)
           : d + 2 == dims.size() ? rowsH
                                  : 1;
  }
  /// Features of a tile.
  int64_t columns() const { return alongChannels ? vectors : vectors * lanes; }
  int64_t rows() const { return rowsH * rowsW; }
  /// Outputs of a task, for one phase.
  int64_t pixels() const;
  int64_t tiles() const;  ///< of a task
  int64_t panels() const; ///< of a task
  /// The elements of the input along dimension `d` that the tiles of a task may read.
  int64_t bufferExtent(size_t d) const;
  int64_t tasks() const;
  int64_t inputBufferBytes() const;
  int64_t kernelBufferBytes() const { return featureBlock * taps * kernelRows * bytes; }
  /// The elements of a row of taps, for lanes along its channels.
  int64_t runApart() const { return dims.back().taps * channels; }
  int64_t apartBufferBytes() const {
    return taps / dims.back().taps * featuresApart * llvm::alignTo(runApart(), lanes) * bytes;
  }
  int64_t sumBufferBytes() const { return tiles() * panels() * rows() * columns() * bytes; }
};

/// A kernel that is read in place and has more bytes is cut into pieces that stay in L2.
inline constexpr int64_t kWholeKernel = 640 << 10;
/// The least channels of such a piece: their steps, of some 7 cycles each, take twenty times as
/// long as the start of the loop over a row of taps.
inline constexpr int64_t kFewChannels = 64;

/// The outputs [first, second) of a dimension of one phase that read the input at a tap, not
/// padding.
std::pair<int64_t, int64_t> outputsOfTap(const DirectDim &dim, int64_t tap);
/// Whether the taps of the last dimension are multiplied one by one, without the outputs that read
/// padding there: lines that are tiles, few taps, and enough padding to pay for a loop each.
bool choosesToSkip(const DirectPlan &plan, const ConvOperands &operands);
/// A spatial dimension cut into phases; nullopt if they are too many, or no tap reads the input.
std::optional<DirectDim> directDim(const SpatialDim &s);
/// The plan; nullopt if another form is faster, or the direct form cannot compute it. `mostSteps`:
/// see DirectPlan.
std::optional<DirectPlan> planDirect(const ConvOperands &operands, const Machine &machine,
                                     int64_t mostSteps);
/// Decides the blocks of a plan with a tile, and how its sums are cut (DirectBlocks.cpp); false if
/// none fit the buffers.
bool cutBlocks(DirectPlan &plan, const Machine &machine);
/// The layout of a stored kernel that the plan reads.
PanelLayout storedLayout(const DirectPlan &plan, KGroup group);
/// The part of the arithmetic's time that packing takes: a few cycles per vector that is copied.
double overhead(const DirectPlan &plan);
/// The plan with tiles of matrix registers, once for each way in which registers may run along taps
/// and channels: fastest first. Whether that way is possible, canUseMatrix says of the rest of the
/// plan.
std::vector<DirectPlan> matrixPlans(const DirectPlan &plan, const Product &product);
/// Whether the registers of a finished plan hold whole runs of channels, or zeros after them.
bool canUseMatrix(const DirectPlan &plan);
/// Cycles of a plan with matrix registers, copies included.
double matrixCycles(const DirectPlan &plan, const Product &product);
/// Whether a plan with matrix registers takes fewer cycles than vectors, by a model of both.
/// `vectorSpeed`: multiply-adds of the operands' types in the time of one of f32, by vectors.
bool prefersMatrix(const DirectPlan &plan, const Product &product, const Machine &machine,
                   double vectorSpeed);
/// Chooses rowsH, rowsW and vectors of a plan whose dimensions, features and lanes are known.
void chooseDirectTile(DirectPlan &plan, const Machine &machine);
/// Emits the direct form. `sum` is the HLO type of the sums, which pieces are converted to.
void emitDirect(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                Epilogue &epilogue, const DirectPlan &plan, mlir::Type sum);

} // namespace hlo::codegen

#endif
