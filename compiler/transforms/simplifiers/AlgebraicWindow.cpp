//===- AlgebraicWindow.cpp - Rules of convolution and reduce-window -------===//
//
// Both pad their input themselves, without a copy of it: convolution with
// zeros, reduce-window with its initial value.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t v) { return v == value; });
}

/// A pad that only adds elements around its operand.
static bool isOuterPad(PadOp pad) {
  auto negative = [](int64_t v) { return v < 0; };
  return isAll(pad.getPaddingInterior(), 0) && llvm::none_of(pad.getPaddingLow(), negative) &&
         llvm::none_of(pad.getPaddingHigh(), negative);
}

/// `window` with more padding.
static WindowAttr withPadding(WindowAttr window, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  return WindowAttr::get(window.getContext(), window.getSize(), window.getStrides(), low, high,
                         window.getBaseDilations(), window.getWindowDilations(),
                         window.getReversal());
}

namespace {

/// convolution(pad(x, 0), k) -> convolution(x, k) with more padding, for spatial dimensions that are
/// not dilated
struct PadIntoConvolution : public OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const final {
    auto pad = op.getLhs().getDefiningOp<PadOp>();
    WindowAttr window = op.getWindowAttr();
    if (!pad || !window || !isOuterPad(pad) ||
        !(isFloat(pad.getPaddingValue(), 0.0) || isInteger(pad.getPaddingValue(), 0))) {
      return failure();
    }
    ConvDimsAttr dims = op.getDimLabels();
    SmallVector<int64_t> low(window.getPadLow()), high(window.getPadHigh());
    ArrayRef<int64_t> padLow = pad.getPaddingLow(), padHigh = pad.getPaddingHigh();
    for (int64_t dim : {dims.getInputBatch(), dims.getInputFeature()}) {
      if (padLow[dim] != 0 || padHigh[dim] != 0) {
        return failure();
      }
    }
    for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
      // Negative padding would cut what the pad added; dilation would spread it.
      if (window.getBaseDilations()[i] != 1 || low[i] < 0 || high[i] < 0) {
        return failure();
      }
      low[i] += padLow[dim];
      high[i] += padHigh[dim];
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, pad.getOperand());
      op.setWindowAttr(withPadding(window, low, high));
    });
    return success();
  }
};

/// reduce-window(pad(x, init), init) -> reduce-window(x, init) with more padding
struct PadIntoReduceWindow : public OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const final {
    WindowAttr window = op.getWindowAttr();
    if (op->getNumOperands() != 2 || !window || !isAll(window.getBaseDilations(), 1)) {
      return failure();
    }
    auto pad = op->getOperand(0).getDefiningOp<PadOp>();
    if (!pad || !isOuterPad(pad) || !sameConstant(pad.getPaddingValue(), op->getOperand(1))) {
      return failure();
    }
    SmallVector<int64_t> low(window.getPadLow()), high(window.getPadHigh());
    for (size_t i = 0; i < low.size(); ++i) {
      if (low[i] < 0 || high[i] < 0) {
        return failure();
      }
      low[i] += pad.getPaddingLow()[i];
      high[i] += pad.getPaddingHigh()[i];
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, pad.getOperand());
      op.setWindowAttr(withPadding(window, low, high));
    });
    return success();
  }

private:
  static bool sameConstant(Value a, Value b) {
    DenseElementsAttr attr = splatConstant(a);
    return a == b || (attr && attr == splatConstant(b));
  }
};

} // namespace

void hlo::populateWindowRules(RewritePatternSet &patterns) {
  patterns.add<PadIntoConvolution, PadIntoReduceWindow>(patterns.getContext());
}
