//===- DepthwiseEmitter.h - Convolutions of one input feature per output --===//
#ifndef COMPILER_CODEGEN_CONV_DEPTHWISEEMITTER_H
#define COMPILER_CODEGEN_CONV_DEPTHWISEEMITTER_H

#include "compiler/codegen/conv/ConvOperands.h"

namespace hlo::codegen {

/// Emits a depthwise convolution. Depthwise.cpp has the loops over outputs, DepthwiseTaps.cpp the
/// sums of one vector.
class DepthwiseEmitter {
public:
  DepthwiseEmitter(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue);
  void emit();

  /// Rows of at most 16 taps are unrolled in a window that is not: a bound on code.
  static constexpr int64_t kUnrolledRow = 16;

private:
  /// Windows of at most 32 taps (5 x 5) are unrolled: a bound on code, which has the taps once for
  /// each of up to 8 neighbours.
  static constexpr int64_t kUnrolledTaps = 32;
  /// With 8 and more vectors of features, a loop over the rows of taps costs little: see
  /// loopsOverRows.
  static constexpr int64_t kManyVectors = 8;
  /// An output row: its indices without the last spatial one (and without the feature, if lanes are
  /// along it).
  struct Row {
    Index batch, feature;
    llvm::SmallVector<Index> outer;
  };
  Row rowAt(mlir::Value number);
  void emitRow(const Row &row, bool rowInside);
  /// Computes a vector of features of `count` outputs from `position` on. `rowInside`: all taps of
  /// the other dimensions are inside; else those outside are skipped. `edge`: the same check for
  /// the last dimension.
  void emitNeighbours(const Row &row, const Index &feature, mlir::Value position, mlir::Value mask,
                      int64_t count, bool rowInside, bool edge);
  /// The range of taps of a dimension that read the input.
  std::pair<mlir::Value, mlir::Value> validTaps(const SpatialDim &dim, mlir::Value output);
  void emitSharingRow(const Row &row, bool rowInside);
  void storeVector(const Row &row, const Index &feature, const Index &position, const Elem &sum,
                   mlir::Value mask);
  void emitVector(const Row &row, const Index &feature, const Index &position, uint64_t inside,
                  mlir::Value mask, llvm::ArrayRef<Elem> weights);
  llvm::SmallVector<Elem> loadWeights(const Row &row);
  /// Copies the weights with features innermost, if memory does not have them so.
  void packWeights();
  Elem readWeight(const Index &feature, llvm::ArrayRef<Index> tap, mlir::Value mask);
  /// Reads the input of a vector of features, each channel once for all its features.
  Elem readInput(const Row &row, const Index &feature, llvm::ArrayRef<Index> output,
                 llvm::ArrayRef<Index> tap, mlir::Value mask, uint64_t inside);
  Elem sumTaps(const Row &row, const Index &feature, const Index &position, uint64_t inside,
               mlir::Value mask, llvm::ArrayRef<Elem> weights, llvm::SmallVector<Index> tap,
               const Elem &acc);
  bool unrolled() const { return taps <= kUnrolledTaps; }
  /// Whether adjacent outputs share loads, without checks at borders: lanes along features.
  bool sharing() const {
    return alongFeatures && g.spatial.back().kernelDilation == 1 &&
           g.spatial.back().kernel <= kUnrolledRow &&
           !llvm::isa<mlir::ComplexType>(operands.element) &&
           llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.inputDilation == 1; });
  }
  /// Whether rows of taps are a loop, with one code for all rows of outputs. With many features it
  /// is as fast as unrolled code and compiles faster.
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
  /// The pieces of a row, if there are too few rows for tasks.
  int64_t pieces = 1;
  mlir::Value packedWeights;
};

} // namespace hlo::codegen

#endif
