//===- KernelGradient.h - Convolutions whose window is an image -----------===//
#ifndef COMPILER_CODEGEN_CONV_KERNELGRADIENT_H
#define COMPILER_CODEGEN_CONV_KERNELGRADIENT_H

#include "compiler/codegen/conv/ConvOperands.h"

namespace hlo::codegen {

/// Everything about a kernel gradient that is decided before code is made. In the gradient's terms:
/// the input's "batch" is its channels, its "features" are the images, the window is an image of
/// the output's gradient, and output positions are the taps of the kernel that is sought.
struct GradientPlan {
  SpatialDim h, w; ///< h has one position and one tap if there is one dimension
  bool hasH;
  int64_t channels, features, images; ///< of a group
  int64_t lanes, bytes;
  int64_t rows, vectors; ///< of a register tile: rows are channels
  /// Rows of tiles run over (w, channel): few channels.
  bool flat;
  /// The input is copied once for each position of w, so that rows of an image are one run; else
  /// once.
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
  /// From step to step, and from position to position of w.
  int64_t stepPitch() const { return copies > 1 ? pixel() : w.kernelDilation * pixel(); }
  int64_t positionPitch() const { return copies > 1 ? copyPitch() : w.stride * pixel(); }
  /// Whether rows of an image are one run of steps.
  bool merged() const { return copies > 1 && h.kernelDilation == 1; }
  int64_t panelPitch() const { return (steps() + lanes) * columns(); }

  int64_t inputBytes() const { return (copies * copyPitch() + lanes * (pixel() + 1)) * bytes; }
  int64_t panelBytes() const { return panels() * panelPitch() * bytes; }
  int64_t sumBytes() const { return positions() * sumRows() * panels() * columns() * bytes; }
};

/// Whether the convolution is one of floats whose window is an image with many more taps than the
/// output has positions.
bool isKernelGradient(const ConvOperands &operands);
/// The plan, if the convolution is one that this form takes.
std::optional<GradientPlan> planGradient(const ConvOperands &operands, const Machine &machine);
/// The part of the arithmetic's time that copies take: some four cycles a vector.
double overhead(const GradientPlan &plan);
void emitGradient(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                  const GradientPlan &plan);

} // namespace hlo::codegen

#endif
