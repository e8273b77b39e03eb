//===- ConvOperands.cpp - Reading input and kernel of a convolution -------===//
//
// The elements of input and kernel that an output position and a tap multiply. If all
// lanes share a position that may be in the padding, index 0 is read instead and the
// value replaced by zero, which is cheaper than a masked load. If lanes have positions
// of their own, the load is masked.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/ConvOperands.h"

using namespace mlir;

namespace hlo::codegen {

Elem ConvOperands::readInput(Emission &e, const Index &batch, const Index &feature,
                             ArrayRef<Index> output, ArrayRef<Index> tap, int64_t lanes, Value mask,
                             uint64_t inside) const {
  SmallVector<Index> full(g.spatial.size() + 2);
  full[g.inputBatchDim] = batch;
  full[g.inputFeatureDim] = feature;
  Value uniform, perLane;
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    InputPosition position = inputPosition(e, dim, output[d], tap[d], lanes);
    full[dim.inputDim] = position.index;
    if (!position.inside || (inside >> d & 1) != 0) {
      continue;
    }
    if (lanesOf(position.inside) > 1) {
      perLane = andMask(e, perLane, position.inside);
      continue;
    }
    Index &index = full[dim.inputDim];
    index.base = arith::SelectOp::create(e.b, e.loc, position.inside, index.base, constI64(e, 0));
    index.known = {};
    uniform = andMask(e, uniform, position.inside);
  }
  Elem value = input->at(full, lanes, andMask(e, mask, perLane));
  Value all = andMask(e, uniform, perLane);
  if (all && lanes > 1 && lanesOf(all) != lanes) {
    all = splat(e, all, lanes).re;
  }
  return zeroUnless(e, element, all, value);
}

Elem ConvOperands::readKernel(Emission &e, const Index &inputFeature, const Index &outputFeature,
                              ArrayRef<Index> tap, int64_t lanes, Value mask) const {
  SmallVector<Index> full(g.spatial.size() + 2);
  full[g.kernelInputDim] = inputFeature;
  full[g.kernelOutputDim] = outputFeature;
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    full[dim.kernelDim] =
        dim.reversed ? addIndex(e, mulIndex(e, tap[d], -1), dim.kernel - 1) : tap[d];
  }
  return kernel->at(full, lanes, mask);
}

} // namespace hlo::codegen
