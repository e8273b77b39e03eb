//===- KernelGradient.h - Convolutions whose window is an image -----------===//
#ifndef COMPILER_CODEGEN_CONV_KERNELGRADIENT_H
#define COMPILER_CODEGEN_CONV_KERNELGRADIENT_H

#include "compiler/codegen/conv/ConvOperands.h"

namespace hlo::codegen {

/// All decisions about a kernel gradient that are made before code is emitted. In the gradient's
/// terms: the input's "batch" is its channels, its "features" are the images, the window is an
/// image of the output's gradient, and the output positions are the taps of the kernel.
struct GradientPlan {
  SpatialDim h, w; ///< h has one position and one tap if there is one dimension
  bool hasH;
  int64_t channels, features, images; ///< of a group
  int64_t lanes, bytes;
  int64_t rows, vectors; ///< of a register tile: rows are channels
  /// The rows of tiles are (w, channel) pairs: few channels.
  bool flat;
  /// The number of copies of the input: one per position of w, so that the rows of an image are
  /// contiguous, or one.
  int64_t copies;
  int64_t channelBlock, featureBlock, hBlock; ///< of a task
  int64_t imageChunk, yChunk, xChunk;         ///< a piece of the sums

  int64_t channelBlocks() const { return llvm::divideCeil(channels, channelBlock); }
  int64_t featureBlocks() const { return llvm::divideCeil(features, featureBlock); }
  int64_t hBlocks() const { return llvm::divideCeil(h.output, hBlock); }
  int64_t columns() const { return vectors * lanes; }
  int64_t panels() const { return llvm::divideCeil(featureBlock, columns()); }
  /// Rows of sums at one position (of h, if flat).
  int64_t sumRows() const { return flat ? w.output * channels : channelBlock; }
  int64_t positions() const { return hBlock * (flat ? 1 : w.output); }
  int64_t steps() const { return imageChunk * yChunk * xChunk; }

  // The copy of the input: [copy][image][row][x][channel].
  int64_t pixel() const { return flat ? channels : llvm::alignTo(channelBlock, lanes); }
  int64_t rowPixels() const {
    return copies > 1 ? xChunk : (xChunk - 1) * w.kernelDilation + (w.output - 1) * w.stride + 1;
  }
  int64_t inputRows() const {
    return (yChunk - 1) * h.kernelDilation + (hBlock - 1) * h.stride + 1;
  }
  int64_t rowPitch() const { return rowPixels() * pixel(); }
  int64_t imagePitch() const { return inputRows() * rowPitch(); }
  int64_t copyPitch() const { return imageChunk * imagePitch(); }
  /// The distance between adjacent steps, and between adjacent positions of w, in elements.
  int64_t stepPitch() const { return copies > 1 ? pixel() : w.kernelDilation * pixel(); }
  int64_t positionPitch() const { return copies > 1 ? copyPitch() : w.stride * pixel(); }
  /// Whether the steps of all rows of an image are contiguous.
  bool merged() const { return copies > 1 && h.kernelDilation == 1; }
  int64_t panelPitch() const { return (steps() + lanes) * columns(); }

  int64_t inputBytes() const { return (copies * copyPitch() + lanes * (pixel() + 1)) * bytes; }
  int64_t panelBytes() const { return panels() * panelPitch() * bytes; }
  int64_t sumBytes() const { return positions() * sumRows() * panels() * columns() * bytes; }
};

/// Whether the convolution is one of floats whose window is an image with many more taps than the
/// output has positions.
bool isKernelGradient(const ConvOperands &operands);
/// The plan; nullopt if the form does not take the convolution.
std::optional<GradientPlan> planGradient(const ConvOperands &operands, const Machine &machine);
/// The cycles of the copies, some four per vector, over those of the multiply-adds.
double overhead(const GradientPlan &plan);
void emitGradient(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                  const GradientPlan &plan);

} // namespace hlo::codegen

#endif
