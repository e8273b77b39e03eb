//===- DepthwisePlanes.h - Depthwise convolutions with positions innermost ===//
#ifndef COMPILER_CODEGEN_CONV_DEPTHWISEPLANES_H
#define COMPILER_CODEGEN_CONV_DEPTHWISEPLANES_H

#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/conv/DirectPlan.h"

namespace hlo::codegen {

/// A dimension of a plane's copy: element `i` of residue `r` is input element origin + r + i *
/// step, so that adjacent outputs of a phase read adjacent elements.
struct PlaneDim {
  DirectDim dim;
  int64_t origin; ///< the first input index that any output reads; may be in the padding
  int64_t extra; ///< elements of a residue that a line of outputs reads in addition to their number

  /// The distance, in input elements, from `origin` to the element that a phase's first output
  /// reads at tap `j`.
  int64_t offset(const DirectPhase &phase, int64_t j) const {
    return phase.firstInput - origin + j * dim.tapStep;
  }
};

/// All decisions that are made before code is emitted.
struct PlanesPlan {
  PlaneDim h, w;
  int64_t lanes, bytes;
  int64_t band, bands; ///< outputs of a phase along h that are computed together; number of bands
  int64_t channels;    ///< channels of small images that are copied before any is multiplied
  /// A tile is `tile` vectors, one per row or, if `flat`, consecutive ones across rows.
  int64_t tile;
  bool flat;
  bool zeroedOnce;     ///< the padding is zeroed only before the first image
  bool unrolled;       ///< all taps are unrolled; else those of a row
  int64_t pitch;       ///< stride of the rows of the copy's planes, in elements
  int64_t planeSize;   ///< elements of such a plane; there is one per pair of residues
  int64_t outputPitch; ///< stride of the rows of sums; there is one plane per pair of phases
  int64_t outputSize;

  int64_t planes() const { return h.dim.step * w.dim.step; }
  int64_t phases() const { return h.dim.phases.size() * w.dim.phases.size(); }
  /// Elements of a channel.
  int64_t inputSize() const { return planes() * planeSize; }
  int64_t sumsSize() const { return phases() * outputSize; }
};

/// Emits a depthwise convolution whose positions are innermost: see DepthwisePlanes.cpp.
class PlanesEmitter {
public:
  PlanesEmitter(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                const PlanesPlan &plan);
  void emit();

private:
  /// Some outputs of an image: rows [first, first + rows) of the phases along h.
  struct Band {
    Index batch, channel;
    mlir::Value first, rows;
    mlir::Value input, sums; ///< its buffers
  };
  void forEachChannel(const Band &band, mlir::Value end,
                      llvm::function_ref<void(const Band &)> body);
  void copyInput(const Band &band);
  void copyRow(const Band &band, mlir::Value residue, mlir::Value row, mlir::Value input);
  void fillZero(mlir::Value buffer, mlir::Value at, int64_t from, int64_t to);
  void copyWeights(const Index &feature);
  void multiply(const Band &band, size_t phaseH, size_t phaseW);
  /// Adds the taps of rows [from, to) of the window to the sums of a tile; `at` is the address of
  /// its first output's place in the copy.
  void addTaps(size_t phaseH, size_t phaseW, mlir::Value at, Sums &sums, int64_t from, int64_t to,
               mlir::Value weights);
  void addRows(size_t phaseH, size_t phaseW, mlir::Value at, Sums &sums);
  void store(const Band &band, const Index &feature);
  mlir::Value address(mlir::Value buffer, mlir::Value index, int64_t fixed = 0);

  KernelBuilder &kernel;
  Emission &e;
  const ConvOperands &operands;
  const ConvGeometry &g;
  Epilogue &epilogue;
  const PlanesPlan &plan;
  mlir::Value input, sums, weights; ///< buffers
};

/// The plan; nullopt if the form does not apply.
std::optional<PlanesPlan> planPlanes(const ConvOperands &operands, const Machine &machine);

} // namespace hlo::codegen

#endif
