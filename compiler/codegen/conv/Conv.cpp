//===- Conv.cpp - Kernels around an hlo.convolution -----------------------===//
//
// In: a fusion with one convolution, producers of its operands, and element-wise
// ops on its result. Out: a contraction (see dot/Contraction.h)
//
//   batch  the feature or batch groups
//   m      output batch and output positions, in the order of the output
//   n      output features of a group
//   k      taps and input features of a group
//
// or, where the window is a single tap without padding, the contraction of a dot
// with plain strides.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/Geometry.h"

using namespace mlir;

namespace hlo::codegen {

/// A convolution whose window is one tap per output element: a dot over features.
static Contraction pointwiseContraction(KernelBuilder &kernel, ConvolutionOp op,
                                        const ConvGeometry &g, Type element,
                                        std::shared_ptr<Operand> lhs,
                                        std::shared_ptr<Operand> rhs) {
  using Dim = DimensionGroups::Dim;
  DimensionGroups groups;
  groups.m.push_back(Dim{g.outputBatch, g.inputBatchDim, -1, g.outputBatchDim});
  for (const SpatialDim &dim : g.spatial) {
    lhs->setStep(dim.inputDim, dim.stride);
    groups.m.push_back(Dim{dim.output, dim.inputDim, -1, dim.outputDim});
  }
  llvm::sort(groups.m, [](const Dim &a, const Dim &b) { return a.out < b.out; });
  groups.n.push_back(Dim{g.outputFeatures, -1, g.kernelOutputDim, g.outputFeatureDim});
  groups.k.push_back(Dim{g.inputFeatures, g.inputFeatureDim, g.kernelInputDim, -1});
  return makeContraction(kernel, op, element, lhs, rhs, groups);
}

namespace {
/// What the readers of a windowed convolution share. m is the output batch and the output positions in the
/// order `mDims` (-1 = batch, else a spatial dimension), k the spatial dimensions and -1 = input feature.
struct Windowed {
  ConvGeometry g;
  Type element;
  std::shared_ptr<Operand> input, kernel;
  SmallVector<int64_t> mDims, kDims;
};
} // namespace

static Elem readInput(Emission &e, const Windowed &w, ArrayRef<Index> group, ArrayRef<Index> m,
                      ArrayRef<Index> k, int64_t lanes, Value mask) {
  const ConvGeometry &g = w.g;
  SmallVector<Index> full(g.spatial.size() + 2);
  SmallVector<Index> output(g.spatial.size()), tap(g.spatial.size());
  Index batch, feature;
  for (auto [d, index] : llvm::zip(w.mDims, m)) {
    (d < 0 ? batch : output[d]) = index;
  }
  for (auto [d, index] : llvm::zip(w.kDims, k)) {
    (d < 0 ? feature : tap[d]) = index;
  }
  if (g.batchGroups > 1) {
    batch = addIndex(e, batch, mulIndex(e, group[0], g.outputBatch), lanes);
  }
  if (g.featureGroups > 1) {
    feature = addIndex(e, feature, mulIndex(e, group[0], g.kernelInputFeatures), lanes);
  }
  full[g.inputBatchDim] = batch;
  full[g.inputFeatureDim] = feature;
  Value inside;
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    InputPosition position = inputPosition(e, dim, output[d], tap[d], lanes);
    full[dim.inputDim] = position.index;
    inside = andMask(e, inside, position.inside);
  }
  Value on = andMask(e, mask, inside);
  if (on && lanes > 1 && lanesOf(on) != lanes) {
    on = splat(e, on, lanes).re;
  }
  Elem value = w.input->at(full, lanes, on);
  return inside ? zeroUnless(e, w.element, on, value) : value;
}

static Elem readKernel(Emission &e, const Windowed &w, ArrayRef<Index> group, ArrayRef<Index> n,
                       ArrayRef<Index> k, int64_t lanes, Value mask) {
  const ConvGeometry &g = w.g;
  SmallVector<Index> full(g.spatial.size() + 2);
  Index feature = n[0];
  if (g.groups() > 1) {
    feature = addIndex(e, feature, mulIndex(e, group[0], g.groupFeatures()), lanes);
  }
  full[g.kernelOutputDim] = feature;
  for (auto [d, index] : llvm::zip(w.kDims, k)) {
    if (d < 0) {
      full[g.kernelInputDim] = index;
      continue;
    }
    const SpatialDim &dim = g.spatial[d];
    full[dim.kernelDim] =
        dim.reversed ? addIndex(e, mulIndex(e, index, -1), dim.kernel - 1) : index;
  }
  return w.kernel->at(full, lanes, mask);
}

/// The strides of the kernel along k's and n's dimensions, for direct access.
static void addKernelStrides(const Windowed &w, ContractionSide &side) {
  const ConvGeometry &g = w.g;
  ArrayRef<int64_t> strides = w.kernel->strides();
  int64_t feature = strides[g.kernelOutputDim];
  if (g.groups() > 1) {
    side.batchStrides.push_back(feature * g.groupFeatures());
  }
  side.freeStrides.push_back(feature);
  bool reversed = false;
  for (int64_t d : w.kDims) {
    side.kStrides.push_back(strides[d < 0 ? g.kernelInputDim : g.spatial[d].kernelDim]);
    reversed |= d >= 0 && g.spatial[d].reversed;
  }
  if (!reversed && w.kernel->isStrided()) {
    side.strided = w.kernel;
  }
  side.unit = feature == 1                    ? UnitStride::Free
              : side.kStrides.back() == 1 ? UnitStride::K
                                              : UnitStride::None;
}

static Contraction windowedContraction(KernelBuilder &kernel, ConvolutionOp op,
                                       const ConvGeometry &g, Type element,
                                       std::shared_ptr<Operand> lhs,
                                       std::shared_ptr<Operand> rhs) {
  auto w = std::make_shared<Windowed>(Windowed{g, element, lhs, rhs, {}, {}});
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> outStrides = rowMajorStrides(resultType.getShape());
  Contraction c{kernel, op, element};
  if (g.groups() > 1) {
    c.batch.push_back(g.groups());
    c.outBatch.push_back(outStrides[g.outputFeatureDim] * g.groupFeatures());
  }
  c.n.push_back(g.groupFeatures());
  c.outN.push_back(outStrides[g.outputFeatureDim]);
  // m in the order of the output's dimensions.
  SmallVector<int64_t> spatialOf(resultType.getRank(), -1);
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    spatialOf[dim.outputDim] = d;
  }
  for (int64_t d = 0; d < resultType.getRank(); ++d) {
    if (d != g.outputFeatureDim) {
      w->mDims.push_back(spatialOf[d]);
      c.m.push_back(resultType.getDimSize(d));
      c.outM.push_back(outStrides[d]);
    }
  }
  // k in the order of the input's dimensions, so that its last steps least.
  SmallVector<int64_t> inputSpatial(resultType.getRank(), -1);
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    inputSpatial[dim.inputDim] = d;
  }
  for (int64_t d = 0; d < resultType.getRank(); ++d) {
    if (d == g.inputBatchDim) {
      continue;
    }
    w->kDims.push_back(inputSpatial[d]);
    c.k.push_back(d == g.inputFeatureDim ? g.kernelInputFeatures : g.spatial[inputSpatial[d]].kernel);
  }
  Emission &e = kernel.e;
  c.lhs.read = [&e, w](ArrayRef<Index> group, ArrayRef<Index> m, ArrayRef<Index> k, int64_t lanes,
                       Value mask) { return readInput(e, *w, group, m, k, lanes, mask); };
  c.rhs.read = [&e, w](ArrayRef<Index> group, ArrayRef<Index> n, ArrayRef<Index> k, int64_t lanes,
                       Value mask) { return readKernel(e, *w, group, n, k, lanes, mask); };
  ArrayRef<int64_t> inputStrides = lhs->strides();
  if (w->kDims.back() < 0 && inputStrides[g.inputFeatureDim] == 1) {
    c.lhs.unit = UnitStride::K;
  } else {
    int64_t last = w->mDims.back();
    bool unit = last < 0 ? inputStrides[g.inputBatchDim] == 1
                         : inputStrides[g.spatial[last].inputDim] == 1 &&
                               g.spatial[last].stride == 1 && g.spatial[last].inputDilation == 1;
    c.lhs.unit = unit ? UnitStride::Free : UnitStride::None;
  }
  addKernelStrides(*w, c.rhs);
  c.outIndex = [&e, w](ArrayRef<Index> group, ArrayRef<Index> m, ArrayRef<Index> n, int64_t lanes) {
    const ConvGeometry &g = w->g;
    SmallVector<Index> full(g.spatial.size() + 2);
    full[g.outputFeatureDim] = n[0];
    if (g.groups() > 1) {
      full[g.outputFeatureDim] =
          addIndex(e, n[0], mulIndex(e, group[0], g.groupFeatures()), lanes);
    }
    for (auto [d, index] : llvm::zip(w->mDims, m)) {
      full[d < 0 ? g.outputBatchDim : g.spatial[d].outputDim] = index;
    }
    return full;
  };
  return c;
}

LogicalResult emitConvKernel(KernelBuilder &kernel) {
  auto op = findHero<ConvolutionOp>(kernel);
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'conv' holds no convolution");
  }
  FailureOr<Epilogue> epilogue = Epilogue::create(kernel, op);
  if (failed(epilogue)) {
    return failure();
  }
  ConvGeometry g(op);
  Type element = accumulationType(elementType(op.getLhs().getType()),
                                  elementType(op.getRhs().getType()),
                                  elementType(op.getResult().getType()));
  auto lhs = std::make_shared<Operand>(kernel, op.getLhs(), element);
  auto rhs = std::make_shared<Operand>(kernel, op.getRhs(), element);
  bool pointwise = g.groups() == 1 &&
                   llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.isPointwise(); });
  Contraction c = pointwise ? pointwiseContraction(kernel, op, g, element, lhs, rhs)
                            : windowedContraction(kernel, op, g, element, lhs, rhs);
  emitContraction(c, *epilogue);
  return success();
}

} // namespace hlo::codegen
