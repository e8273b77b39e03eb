//===- DirectEmitter.h - Loops, packing and tiles of the direct form ------===//
#ifndef COMPILER_CODEGEN_CONV_DIRECTEMITTER_H
#define COMPILER_CODEGEN_CONV_DIRECTEMITTER_H

#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/conv/DirectPlan.h"

namespace hlo::codegen {

/// Emits a direct convolution: see Direct.cpp for the loops.
class DirectEmitter {
public:
  DirectEmitter(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                Epilogue &epilogue, const DirectPlan &plan, mlir::Type sum);
  void emit();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  /// A part of one dimension: outputs [q0, q1) of a phase, whose q-th output is firstOutput + q *
  /// phases.
  struct Range {
    mlir::Value q0, q1, firstOutput, firstTap, taps, firstInput;
  };
  /// The part of the result that a task computes in one phase.
  struct Block {
    mlir::Value group, n0, n1;
    llvm::SmallVector<Range> dims;
    mlir::Value input; ///< address of channel 0 of the group at tap 0 of output q0
  };
  /// A piece of the sums: taps [from, to) of each dimension, channels [c0, c0 + channels).
  struct Chunk {
    mlir::Value isLater, isLast; ///< null if there is one piece
    Values from, to;
    mlir::Value c0, channels;
    mlir::Value isNewInput; ///< the first piece of its channels; null if there is one piece
    /// `from` and `c0` of the next piece; behind the last one something near.
    Values nextFrom;
    mlir::Value nextC0;
  };
  struct Panel {
    mlir::Value n;
    int64_t vectors, features; ///< the last vector may be partly outside
  };
  /// A register tile: rowsH x rowsW outputs at `at` (one index per dimension).
  struct Place {
    Values at;
    int64_t rowsH, rowsW;
    /// One line of a tile that goes over several: its first row in the tile's buffer, and outputs.
    mlir::Value firstRow, outputs;
    int64_t rows() const { return rowsH * rowsW; }
  };

  // Direct.cpp
  Range rangeAt(const DirectDim &dim, mlir::Value block, mlir::Value phase);
  void emitPhase(Block &block);
  void emitChunk(const Block &block, const Chunk &chunk);
  void forEachChunk(const Block &block, llvm::function_ref<void(const Chunk &)> body);
  void forEachPlace(const Block &block, llvm::function_ref<void(const Place &)> body);
  void forEachPanel(const Block &block, llvm::function_ref<void(const Panel &)> body);
  mlir::Value columnMask(const Panel &panel, int64_t vector) const;

  // DirectPacking.cpp
  mlir::Value inputAddress(const Block &block);
  /// Copies the input's channels from `c0` on, as many as the buffer has.
  void packInput(const Block &block, mlir::Value c0);
  /// Whether zeros follow the channels of a pixel, up to a whole vector.
  bool fillsChannels() const { return plan.alongChannels || plan.padsChannels; }
  void packRow(const Block &block, mlir::Value c0, Values outer, mlir::Value inside,
               mlir::Value at);
  void fillZero(mlir::Value at, mlir::Value from, mlir::Value to);
  /// Copies pixels that are shorter than a vector, several at a time, as long as whole vectors can
  /// be read. Returns the number of pixels copied.
  mlir::Value copySmallPixels(llvm::ArrayRef<Index> first, mlir::Value at, mlir::Value length);
  void copyPixels(llvm::ArrayRef<Index> first, mlir::Value at, mlir::Value length);
  void copyTransposed(llvm::ArrayRef<Index> first, mlir::Value at, mlir::Value length);
  void storeAcross(mlir::Value at, const Elem &pixel);
  void packKernel(const Block &block, const Chunk &chunk);
  void packKernelPanels(const Block &block, const Chunk &chunk);
  void packKernelChannels(const Block &block, const Chunk &chunk);
  void packKernelVectors(const Block &block, const Chunk &chunk);
  void packKernelTransposed(const Block &block, const Chunk &chunk);
  /// Calls body(tap, linear tap) for the taps of the block's phase; for all taps of the kernel if
  /// the block has no phase yet.
  void forEachTap(const Block &block,
                  llvm::function_ref<void(llvm::ArrayRef<Index>, mlir::Value)> body);
  mlir::Value panelStart(const Block &block, mlir::Value n);
  Index featureOf(const Block &block, mlir::Value n, int64_t stride);

  // DirectGroups.cpp: words of several channels.
  Multiplier multiplier() const {
    return {e, operands.element, operands.product, operands.kernelUnsigned};
  }
  /// The padding in the input's copy.
  Elem paddingLanes();
  /// Lines of sums of a packed kernel, for an input with flipped bits: see DirectGroups.cpp.
  void sumKernel(const Block &block, const Chunk &chunk);
  int64_t kernelSumLines() const; ///< of a panel
  mlir::Value kernelSumAddress(const Block &block, const Panel &panel, mlir::Value line);
  /// The initial sums of a tile.
  Sums firstSums(const Block &block, const Chunk &chunk, const Panel &panel, const Place &place);

  // DirectTile.cpp
  void emitTile(const Block &block, const Chunk &chunk, const Panel &panel, const Place &place);
  Sums multiply(const Block &block, const Chunk &chunk, const Panel &panel, const Place &place);
  /// Where a tile starts to read: channel c0 of the chunk, at tap 0 of the phase.
  struct Start {
    mlir::Value input, kernel;
    /// The distances of the kernel's adjacent taps in each dimension (of a phase), in elements.
    llvm::SmallVector<int64_t> kernelSteps;
  };
  Start startOf(const Block &block, const Chunk &chunk, const Panel &panel, const Place &place);
  /// For a tile that prefetches: the distances in bytes from a channel of the kernel to those lines
  /// of the same channel that it asks for, in the piece or panel that is multiplied next.
  Values distancesAhead(const Block &block, const Chunk &chunk, const Panel &panel,
                        const Place &place, const Start &start);
  /// The distance from a channel of the kernel to the next, in elements.
  int64_t kernelRow() const;
  /// `offset`, moved from the first pixel of the block's input to the first that the place reads.
  mlir::Value inputOffset(const Block &block, const Place &place, mlir::Value offset);
  /// Calls body(input, kernel, sums) for the taps of the first `depth` dimensions that read the
  /// input rather than padding, with the addresses moved from `start` to the tap.
  void forEachTap(const Block &block, const Chunk &chunk, const Place &place, size_t depth,
                  const Start &start, Sums &sums,
                  llvm::function_ref<void(mlir::Value input, mlir::Value kernel, Sums &sums)> body);
  /// The taps of dimension `d` that read the input for any row of a tile; the others are in the
  /// padding.
  std::pair<mlir::Value, mlir::Value> validTaps(const Block &block, const Chunk &chunk,
                                                const Place &place, size_t d);
  /// Converts sums from the type of the products to that of the sums.
  void convertSums(Sums &sums);
  /// The number of a tile among those of the block.
  mlir::Value tileNumber(const Block &block, const Place &place);
  /// The sums of a tile between two pieces.
  mlir::Value sumSlot(const Block &block, const Panel &panel, const Place &place);
  void store(const Block &block, const Panel &panel, const Place &place, const Sums &sums);
  /// Calls body(h, w, rowsW) for the outputs of a tile that exist, `step` at a time along a row;
  /// rowsW is how many a row has.
  void
  forEachOutput(const Block &block, const Place &place, int64_t step,
                llvm::function_ref<void(mlir::Value h, mlir::Value w, mlir::Value rowsW)> body);
  void storeFew(const Block &block, const Panel &panel, const Place &place, const Sums &sums);
  /// Gives the tile's buffer to the epilogue.
  void storeBuffered(const Block &block, const Panel &panel, const Place &place);
  void storeRows(const Block &block, const Panel &panel, const Place &place);
  void storeColumns(const Block &block, const Panel &panel, const Place &place);
  /// The output index of row (h, w) of a tile; the feature is left open.
  llvm::SmallVector<Index> outputAt(const Block &block, const Place &place, mlir::Value h,
                                    const Index &w);
  /// Where the tile's buffer has the sums of output (h, w).
  mlir::Value bufferRow(const Place &place, mlir::Value h, mlir::Value w);
  /// The number of existing outputs of a tile along dimension `d`.
  mlir::Value validRows(const Block &block, const Place &place, size_t d, int64_t rows);

  // DirectMatrix.cpp
  /// Tells the CPU the sizes of its registers; at the end of the kernel's call it forgets them.
  void configureMatrix();
  void releaseMatrix();
  void emitMatrixTile(const Block &block, const Chunk &chunk, const Panel &panel,
                      const Place &place);
  /// Places of tiles that go over lines of outputs: the last index counts positions of the copy.
  void forEachRunOfLines(const Block &block, llvm::function_ref<void(const Place &)> body);
  /// Whether the result holds nothing but the sums, and only whole registers of them: those are
  /// stored there.
  bool storesRegisters() const;
  MatrixSums resultAt(const Block &block, const Panel &panel, const Place &place);
  void storeRunOfLines(const Block &block, const Panel &panel, const Place &place);
  /// Zeros after the channels of a piece, in all panels.
  void fillKernelEnds(const Block &block, const Chunk &chunk);

  // DirectApart.cpp
  void packApart();
  void emitApart(const Block &block);
  Sums multiplyApart(const Block &block, const Chunk &chunk, const Place &place);

  KernelBuilder &kernel;
  ConvolutionOp op;
  Emission &e;
  const ConvOperands &operands;
  const ConvGeometry &g;
  Epilogue &epilogue;
  const DirectPlan &plan;
  mlir::Type sum; ///< HLO type of the sums
  /// Access to buffers of elements in the type in which products are summed, and of sums in theirs;
  /// the two types have one size.
  Buffers elements, results;
  size_t rank;
  /// Lanes of stores are along the last spatial dimension, which is innermost in the output.
  bool storesColumns = false;
  /// A tile's sums go through a buffer, not from registers to the result.
  bool storesTiles = false;
  /// The rows of the tile's buffer per line of outputs.
  int64_t tileWidth = 0;
  int64_t columnLanes = 1;
  mlir::Value inputBuffer, kernelBuffer, sumBuffer, tileBuffer, squareBuffer, tapTable, apartBuffer,
      kernelSums;
};

} // namespace hlo::codegen

#endif
