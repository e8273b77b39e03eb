//===- PackOperands.cpp - hlo-pack-operands: weights as they are read -----===//
//
// In: a canonical module with immutable leaves or large constants, and a function that asks the
// code generator for the layout in which a dot or convolution reads an operand. Out: weights are
// stored in that layout,
//
//   w[batch, taps, k, n]   =>   p[batch, n / width, taps, k / group, width, group],
//
// and the dot or convolution reads w as computed from p:
//
//   w = reshape(slice(reshape(transpose(p))))            each marked with kPanels
//
// This is plain HLO. hlo-split-prepare moves the computation of p out of the calls, fusion takes
// the marked ops into the kernel, and the kernel reads p directly. Other kernels of convolutions
// get the order spatial..., input, output features, so that the output features, which become
// vector lanes, are contiguous; unless windows have one element and lanes are along positions.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/prepare/FoldConstants.h"
#include "compiler/transforms/prepare/Immutable.h"
#include "compiler/transforms/prepare/Prepare.h"
#include "dialect/hlo/Builder.h"

#include <numeric>

using namespace mlir;
using namespace hlo;

/// Layouts in which the object may have the same constants.
static constexpr size_t mostLayouts = 2;

static SmallVector<int64_t> listOf(std::optional<ArrayRef<int64_t>> dims) {
  return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
}

static bool countsUp(ArrayRef<int64_t> dims) {
  return llvm::equal(dims, llvm::seq<int64_t>(0, dims.size()));
}

namespace {
/// The dimensions of weights by what they are, in the order of the panels.
struct Weights {
  Value value;
  SmallVector<int64_t> batch, taps, k, n;

  int64_t size(ArrayRef<int64_t> dims) const {
    int64_t size = 1;
    for (int64_t dim : dims) {
      size *= shapeOf(value)[dim];
    }
    return size;
  }
  SmallVector<int64_t> order() const {
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, taps);
    llvm::append_range(order, k);
    llvm::append_range(order, n);
    return order;
  }
  /// All sizes, [batch, taps, k, n].
  SmallVector<int64_t> sizes() const { return {size(batch), size(taps), size(k), size(n)}; }
};
} // namespace

static Weights weightsOf(DotOp dot, unsigned operand) {
  Weights weights{dot->getOperand(operand)};
  weights.batch = listOf(operand == 0 ? dot.getLhsBatchDims() : dot.getRhsBatchDims());
  weights.k = listOf(operand == 0 ? dot.getLhsContractingDims() : dot.getRhsContractingDims());
  for (int64_t dim : llvm::seq(rankOf(weights.value))) {
    if (!llvm::is_contained(weights.batch, dim) && !llvm::is_contained(weights.k, dim)) {
      weights.n.push_back(dim);
    }
  }
  return weights;
}

static Weights weightsOf(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  return {conv.getRhs(),
          {},
          SmallVector<int64_t>(dims.getKernelSpatial()),
          {dims.getKernelInputFeature()},
          {dims.getKernelOutputFeature()}};
}

/// The weights as panels.
static Value makePanels(const Weights &weights, const PanelLayout &layout, HloBuilder &b) {
  SmallVector<int64_t> sizes = weights.sizes();
  Value value = b.reshape(b.transpose(weights.value, weights.order()), sizes);
  int64_t k = llvm::alignTo(sizes[2], std::lcm(layout.kUnit, layout.group));
  int64_t n = llvm::alignTo(sizes[3], layout.width);
  if (k != sizes[2] || n != sizes[3]) {
    value = b.pad(value, b.scalar(elementTypeOf(value), 0), {0, 0, 0, 0},
                  {0, 0, k - sizes[2], n - sizes[3]}, {0, 0, 0, 0});
  }
  value = b.reshape(
      value, {sizes[0], sizes[1], k / layout.group, layout.group, n / layout.width, layout.width});
  return b.transpose(value, {0, 4, 1, 2, 5, 3});
}

/// The weights computed from their panels, with dimensions in the order of Weights.
static Value readPanels(Value panels, const Weights &weights, HloBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(panels);
  SmallVector<int64_t> padded{shape[0], shape[2], shape[3] * shape[5], shape[1] * shape[4]}, own;
  for (int64_t dim : weights.order()) {
    own.push_back(shapeOf(weights.value)[dim]);
  }
  Value value = b.reshape(b.transpose(panels, {0, 2, 3, 5, 1, 4}), padded);
  if (SmallVector<int64_t> sizes = weights.sizes(); padded != sizes) {
    value = b.slice(value, {0, 0, 0, 0}, sizes);
  }
  value = b.reshape(value, own);
  for (Value v = value; v != panels; v = v.getDefiningOp()->getOperand(0)) {
    v.getDefiningOp()->setAttr(kPanels, b.b.getUnitAttr());
  }
  return value;
}

static bool isPrepared(Operation *hero) {
  return declaresImmutable(hero->getParentOfType<ModuleOp>());
}

/// Whether weights in another layout need no work in calls: they are prepared, or constants.
static bool isFree(Operation *hero, Value weights) {
  return isPrepared(hero) || isFoldable(weights);
}

/// The weights as the hero reads them from panels; null if calls would make the panels.
static Value packed(Operation *hero, const Weights &weights, const PanelLayout &layout) {
  OpBuilder builder(hero);
  HloBuilder b(builder, hero->getLoc());
  Value panels = makePanels(weights, layout, b);
  return isFree(hero, panels) ? readPanels(panels, weights, b) : Value();
}

static void pack(DotOp dot, unsigned operand, const PanelLayout &layout) {
  Weights weights = weightsOf(dot, operand);
  Value value = packed(dot, weights, layout);
  if (!value) {
    return;
  }
  dot->setOperand(operand, value);
  int64_t batch = weights.batch.size(), k = weights.k.size();
  OpBuilder b(dot);
  auto batchDims = b.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, batch)));
  auto kDims = b.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(batch, batch + k)));
  if (operand == 0) {
    dot.setLhsBatchDimsAttr(batchDims);
    dot.setLhsContractingDimsAttr(kDims);
  } else {
    dot.setRhsBatchDimsAttr(batchDims);
    dot.setRhsContractingDimsAttr(kDims);
  }
}

/// Sets a kernel whose dimensions are spatial..., i, o.
static void setOrderedKernel(ConvolutionOp conv, Value kernel) {
  ConvDimsAttr dims = conv.getDimLabels();
  conv.setOperand(1, kernel);
  int64_t spatial = rankOf(kernel) - 2;
  SmallVector<int64_t> inOrder = llvm::to_vector(llvm::seq<int64_t>(0, spatial));
  conv.setDimLabelsAttr(ConvDimsAttr::get(conv.getContext(), dims.getInputBatch(),
                                          dims.getInputFeature(), dims.getInputSpatial(), spatial,
                                          spatial + 1, inOrder, dims.getOutputBatch(),
                                          dims.getOutputFeature(), dims.getOutputSpatial()));
}

static void pack(ConvolutionOp conv, const PanelLayout &layout) {
  if (Value kernel = packed(conv, weightsOf(conv), layout)) {
    setOrderedKernel(conv, kernel);
  }
}

/// Whether a convolution of windows of one element has lanes along positions: its result has
/// positions last, so the kernel's elements are broadcast one after the other along its input
/// features.
static bool broadcastsKernel(ConvolutionOp conv) {
  Weights weights = weightsOf(conv);
  int64_t features = conv.getDimLabels().getOutputFeature();
  return weights.size(weights.taps) == 1 && features + 1 < rankOf(conv.getResult()) &&
         weights.k[0] > weights.n[0];
}

/// Reorders a convolution's kernel to spatial..., i, o.
static void orderKernel(ConvolutionOp conv) {
  if (broadcastsKernel(conv)) {
    return;
  }
  SmallVector<int64_t> order = weightsOf(conv).order();
  if (!countsUp(order)) {
    OpBuilder builder(conv);
    Value ordered = HloBuilder(builder, conv.getLoc()).transpose(conv.getRhs(), order);
    if (isFree(conv, ordered)) {
      setOrderedKernel(conv, ordered);
    }
  }
}

namespace {
class PackOperandsPass : public PassWrapper<PackOperandsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackOperandsPass)
  explicit PackOperandsPass(ChoosePanels choose) : choose(std::move(choose)) {}
  PackOperandsPass(const PackOperandsPass &other) : PassWrapper(other), choose(other.choose) {}
  StringRef getArgument() const final { return "hlo-pack-operands"; }
  StringRef getDescription() const final {
    return "Lay immutable operands of convolutions and dots out as they are read";
  }

  void runOnOperation() final {
    if (failed(changeImmutable(getOperation(),
                               [&](const ComputationGraph &graph) { packAll(graph); }))) {
      signalPassFailure();
    }
  }

private:
  void packAll(const ComputationGraph &graph) {
    layouts.clear();
    ImmutableValues immutable(graph, getOperation());
    for (ComputationOp program : immutable.programs()) {
      packIn(program, immutable);
    }
    immutable.removeDead();
  }

  void packIn(ComputationOp program, const ImmutableValues &immutable) {
    auto isWeights = [&](Operation *hero, unsigned operand) {
      return immutable.contains(hero->getOperand(operand)) &&
             !immutable.contains(hero->getOperand(1 - operand));
    };
    for (auto conv : llvm::to_vector(program.getBody().front().getOps<ConvolutionOp>())) {
      if (!isWeights(conv, 1)) {
        continue;
      }
      if (std::optional<PanelLayout> layout = layoutFor(conv, 1)) {
        pack(conv, *layout);
      } else {
        orderKernel(conv);
      }
    }
    for (auto dot : llvm::to_vector(program.getBody().front().getOps<DotOp>())) {
      for (unsigned operand : {0, 1}) {
        if (!isWeights(dot, operand)) {
          continue;
        }
        if (std::optional<PanelLayout> layout = layoutFor(dot, operand)) {
          pack(dot, operand, *layout);
        }
      }
    }
  }

  std::optional<PanelLayout> layoutFor(Operation *hero, unsigned operand) {
    if (width) {
      return PanelLayout{width, group, group};
    }
    Value weights = hero->getOperand(operand);
    if (!choose || !isFree(hero, weights)) {
      return std::nullopt;
    }
    std::optional<PanelLayout> layout = choose(hero, operand);
    if (!layout || isPrepared(hero)) {
      return layout;
    }
    SmallVector<PanelLayout> &known = layouts[largestSource(weights)];
    auto isSame = [&](const PanelLayout &other) {
      return other.width == layout->width && other.group == layout->group &&
             other.kUnit == layout->kUnit;
    };
    if (llvm::none_of(known, isSame)) {
      if (known.size() == mostLayouts) {
        return std::nullopt;
      }
      known.push_back(*layout);
    }
    return layout;
  }

  ChoosePanels choose;
  DenseMap<Attribute, SmallVector<PanelLayout>> layouts; ///< of constants
  Option<int64_t> width{*this, "width", llvm::cl::init(0),
                        llvm::cl::desc("Columns of a panel of every operand (for tests)")};
  Option<int64_t> group{*this, "group", llvm::cl::init(1),
                        llvm::cl::desc("Neighbours along k in a group of a panel (for tests)")};
};
} // namespace

std::unique_ptr<Pass> hlo::createPackOperandsPass(ChoosePanels choose) {
  return std::make_unique<PackOperandsPass>(std::move(choose));
}
