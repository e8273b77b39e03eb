//===- DepthwiseEmitter.h - Convolutions of one input feature per output --===//
#ifndef COMPILER_CODEGEN_CONV_DEPTHWISEEMITTER_H
#define COMPILER_CODEGEN_CONV_DEPTHWISEEMITTER_H

#include "compiler/codegen/conv/ConvOperands.h"

namespace hlo::codegen {

/// Emits a depthwise convolution: Depthwise.cpp the loops over outputs, DepthwiseTaps.cpp what one
/// vector of them sums.
class DepthwiseEmitter {
public:
  DepthwiseEmitter(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue);
  void emit();

  /// Rows of at most so many taps are unrolled where the window is not.
  static constexpr int64_t kUnrolledRow = 16;

private:
  /// Windows of at most so many taps are unrolled.
  static constexpr int64_t kUnrolledTaps = 32;
  /// Features that are many, in vectors.
  static constexpr int64_t kManyVectors = 8;
  /// An output row: its indices apart from the last spatial one (and the feature, if lanes go along
  /// it).
  struct Row {
    Index batch, feature;
    llvm::SmallVector<Index> outer;
  };
  Row rowAt(mlir::Value number);
  void emitRow(const Row &row, bool rowInside);
  void emitPosition(const Row &row, mlir::Value position, uint64_t inside);
  /// `count` outputs from `position` on, of all features. `rowInside`: all taps of the other
  /// dimensions are inside, else those outside are left out; `edge`: the same for the last
  /// dimension.
  void emitPositions(const Row &row, mlir::Value position, int64_t count, bool rowInside,
                     bool edge);
  void emitNeighbours(const Row &row, const Index &feature, mlir::Value position, mlir::Value mask,
                      int64_t count, bool rowInside, bool edge);
  /// The taps of a dimension that meet the input.
  std::pair<mlir::Value, mlir::Value> validTaps(const SpatialDim &dim, mlir::Value output);
  void emitSharingRow(const Row &row, bool rowInside);
  void storeVector(const Row &row, const Index &feature, const Index &position, const Elem &sum,
                   mlir::Value mask);
  void emitVector(const Row &row, const Index &feature, const Index &position, uint64_t inside,
                  mlir::Value mask, llvm::ArrayRef<Elem> weights);
  llvm::SmallVector<Elem> loadWeights(const Row &row);
  /// A buffer of the weights with features innermost, if they are not in memory.
  void packWeights();
  Elem readWeight(const Index &feature, llvm::ArrayRef<Index> tap, mlir::Value mask);
  /// The input that features meet, each channel once for all of its features.
  Elem readInput(const Row &row, const Index &feature, llvm::ArrayRef<Index> output,
                 llvm::ArrayRef<Index> tap, mlir::Value mask, uint64_t inside);
  Elem sumTaps(const Row &row, const Index &feature, const Index &position, uint64_t inside,
               mlir::Value mask, llvm::ArrayRef<Elem> weights, llvm::SmallVector<Index> tap,
               const Elem &acc);
  bool unrolled() const { return taps <= kUnrolledTaps; }
  /// Lanes along features, without checks at any border.
  bool sharing() const {
    return alongFeatures && g.spatial.back().kernelDilation == 1 &&
           g.spatial.back().kernel <= kUnrolledRow &&
           !llvm::isa<mlir::ComplexType>(operands.element) &&
           llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.inputDilation == 1; });
  }
  /// Rows of taps are a loop, the same code for all rows of outputs. Where features are many it
  /// takes as long as unrolled ones, and compiles faster (3x3 56x56x256: 43 and 32 ms).
  bool loopsOverRows() const {
    return !unrolled() || (rank == 2 && g.outputFeatures >= kManyVectors * lanes);
  }
  uint64_t outerBits() const { return (uint64_t(1) << (rank - 1)) - 1; }

  KernelBuilder &kernel;
  Emission &e;
  const ConvOperands &operands;
  const ConvGeometry &g;
  Epilogue &epilogue;
  size_t rank;
  bool alongFeatures;
  int64_t lanes, taps = 1;
  /// Rows that share inputs are cut into so many pieces, where there are too few of them for tasks.
  int64_t pieces = 1;
  mlir::Value packedWeights;
};

} // namespace hlo::codegen

#endif
