//===- WindowRules.cpp - Parts of windows: reduce-window, convolution -----===//
//
// The first m windows read the first (m-1) * stride + (w-1) * dilation + 1 - low elements. With
// fewer elements and windows, the padding behind them is what is left of the last window.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/expanders/sizes/Live.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

namespace {

/// The lists of a window attribute with the defaults filled in.
struct Windows {
  SmallVector<int64_t> size, strides, low, high, base, dilation, reversal;

  explicit Windows(WindowAttr attr, size_t rank) {
    auto fill = [&](ArrayRef<int64_t> from, int64_t absent) {
      SmallVector<int64_t> result(from);
      result.resize(rank, absent);
      return result;
    };
    auto none = ArrayRef<int64_t>();
    size = fill(attr ? attr.getSize() : none, 1);
    strides = fill(attr ? attr.getStrides() : none, 1);
    low = fill(attr ? attr.getPadLow() : none, 0);
    high = fill(attr ? attr.getPadHigh() : none, 0);
    base = fill(attr ? attr.getBaseDilations() : none, 1);
    dilation = fill(attr ? attr.getWindowDilations() : none, 1);
    reversal = fill(attr ? attr.getReversal() : none, 0);
  }
  /// Elements that the first `windows` read, of `elements`; none if that is not known.
  std::optional<int64_t> elementsOf(size_t dim, int64_t windows, int64_t elements) const {
    if (base[dim] != 1 || elements == 0) {
      return std::nullopt;
    }
    int64_t reach = (windows - 1) * strides[dim] + (size[dim] - 1) * dilation[dim] + 1 - low[dim];
    return limitedTo(reach, elements);
  }
  /// Sets the padding behind `elements` elements such that there are exactly `windows`.
  void end(size_t dim, int64_t windows, int64_t elements) {
    int64_t spread = elements == 0 ? 0 : (elements - 1) * base[dim] + 1;
    high[dim] =
        (windows - 1) * strides[dim] + (size[dim] - 1) * dilation[dim] + 1 - spread - low[dim];
  }
  /// Drops the positions of the window that are in the padding of all `windows`.
  void trim(size_t dim, int64_t windows, int64_t elements) {
    if (strides[dim] != 1 || base[dim] != 1 || dilation[dim] != 1 || windows < 1) {
      return;
    }
    int64_t before = std::clamp<int64_t>(low[dim] - (windows - 1), 0, size[dim] - 1);
    low[dim] -= before;
    size[dim] -= before;
    size[dim] = std::clamp<int64_t>(elements + low[dim], 1, size[dim]);
  }
  WindowAttr attr(MLIRContext *context) const {
    return WindowAttr::get(context, size, strides, low, high, base, dilation, reversal);
  }
};

} // namespace

/// Fills the parts of a convolution's dimensions other than the spatial ones.
static void channelPart(ConvolutionOp op, const Extents &needed, const Facts &facts, Part &part) {
  ConvDimsAttr dims = op.getDimLabels();
  Extents &made = part.results[0], &input = *part.operands[0], &kernel = *part.operands[1];
  bool batchGroups = op.getBatchGroupCount().value_or(1) != 1;
  bool featureGroups = op.getFeatureGroupCount().value_or(1) != 1;
  if (!batchGroups) {
    made[dims.getOutputBatch()] = input[dims.getInputBatch()] = needed[dims.getOutputBatch()];
  }
  if (batchGroups || featureGroups) {
    return;
  }
  made[dims.getOutputFeature()] = kernel[dims.getKernelOutputFeature()] =
      needed[dims.getOutputFeature()];
  std::optional<Fill> lhs = facts.fillOf(op.getLhs(), dims.getInputFeature());
  std::optional<Fill> rhs = facts.fillOf(op.getRhs(), dims.getKernelInputFeature());
  if (lhs && rhs && lhs->scalar && rhs->scalar && isZero(lhs->scalar) && isZero(rhs->scalar)) {
    input[dims.getInputFeature()] = kernel[dims.getKernelInputFeature()] =
        limitedTo(std::max(lhs->from, rhs->from), input[dims.getInputFeature()]);
  }
}

void Rule::window() {
  Extents &made = part.results[0];
  if (auto reduce = dyn_cast<ReduceWindowOp>(op)) {
    unsigned count = op->getNumOperands() / 2;
    Windows windows(reduce.getWindowAttr(), made.size());
    for (size_t dim = 0; dim < made.size(); ++dim) {
      int64_t most = 0;
      for (const Extents &result : needed) {
        most = std::max(most, result[dim]);
      }
      int64_t size = shapeOf(op->getOperand(0))[dim];
      std::optional<int64_t> elements = windows.elementsOf(dim, most, size);
      if (elements && most < shapeOf(op->getResult(0))[dim]) {
        for (unsigned i = 0; i < count; ++i) {
          part.results[i][dim] = most;
          (*part.operands[i])[dim] = *elements;
        }
      }
    }
  } else if (auto conv = dyn_cast<ConvolutionOp>(op)) {
    channelPart(conv, needed[0], facts, part);
    ConvDimsAttr dims = conv.getDimLabels();
    Windows windows(conv.getWindowAttr(), dims.getInputSpatial().size());
    for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
      int64_t out = dims.getOutputSpatial()[i];
      windows.size[i] = shapeOf(conv.getRhs())[dims.getKernelSpatial()[i]];
      std::optional<int64_t> elements =
          windows.elementsOf(i, needed[0][out], shapeOf(conv.getLhs())[dim]);
      if (elements && needed[0][out] < made[out]) {
        made[out] = needed[0][out];
        (*part.operands[0])[dim] = *elements;
      }
    }
  } else if (auto scatter = dyn_cast<SelectAndScatterOp>(op)) {
    Windows windows(scatter.getWindowAttr(), made.size());
    for (size_t dim = 0; dim < made.size(); ++dim) {
      bool trivial = windows.size[dim] == 1 && windows.strides[dim] == 1 && windows.low[dim] == 0 &&
                     windows.high[dim] == 0;
      if (trivial) {
        made[dim] = (*part.operands[0])[dim] = (*part.operands[1])[dim] = needed[0][dim];
      }
    }
  }
}

void sizes::applyWindowPart(Operation *op, const Part &part, const Facts &facts) {
  if (!isa<ReduceWindowOp, ConvolutionOp>(op)) {
    return;
  }
  const Extents &made = part.results[0], &read = *part.operands[0];
  if (auto reduce = dyn_cast<ReduceWindowOp>(op); reduce && reduce.getWindowAttr()) {
    Windows windows(reduce.getWindowAttr(), made.size());
    // Positions in the padding combine with the initial value, which is ignored if it is the
    // identity.
    Operation *combines =
        op->getNumOperands() == 2 ? associativeOp(facts.lookup(reduce.getToApplyAttr())) : nullptr;
    DenseElementsAttr identity =
        combines ? identityOf(combines, elementTypeOf(op->getOperand(0))) : DenseElementsAttr();
    auto init = op->getOperands().back().getDefiningOp<ConstantOp>();
    bool ignored = identity && init && init.getValue() == identity;
    for (size_t dim = 0; dim < made.size(); ++dim) {
      if (made[dim] == shapeOf(op->getResult(0))[dim]) {
        continue;
      }
      if (ignored) {
        windows.trim(dim, made[dim], read[dim]);
      }
      windows.end(dim, made[dim], read[dim]);
    }
    reduce.setWindowAttr(windows.attr(op->getContext()));
  } else if (auto conv = dyn_cast<ConvolutionOp>(op); conv && conv.getWindowAttr()) {
    ConvDimsAttr dims = conv.getDimLabels();
    Windows windows(conv.getWindowAttr(), dims.getInputSpatial().size());
    for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
      int64_t out = dims.getOutputSpatial()[i];
      if (made[out] != shapeOf(conv.getResult())[out]) {
        windows.size[i] = shapeOf(conv.getRhs())[dims.getKernelSpatial()[i]];
        windows.end(i, made[out], read[dim]);
      }
    }
    conv.setWindowAttr(windows.attr(op->getContext()));
  }
}
