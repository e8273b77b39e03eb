//===- AlgebraicWindow.cpp - Rules of convolution and reduce-window -------===//
//
// Convolution and reduce-window pad their input without copying it: convolution with zeros,
// reduce-window with its initial value.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"
#include <numeric>

using namespace mlir;
using namespace hlo;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t v) { return v == value; });
}

/// True if the pad only adds elements around its operand.
static bool isOuterPad(PadOp pad) {
  auto negative = [](int64_t v) { return v < 0; };
  return isAll(pad.getPaddingInterior(), 0) && llvm::none_of(pad.getPaddingLow(), negative) &&
         llvm::none_of(pad.getPaddingHigh(), negative);
}

/// `window` with `low` and `high` added to its padding.
static WindowAttr withPadding(WindowAttr window, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  return WindowAttr::get(window.getContext(), window.getSize(), window.getStrides(), low, high,
                         window.getBaseDilations(), window.getWindowDilations(),
                         window.getReversal());
}

namespace {

/// convolution(pad(x, 0), k) -> convolution(x, k) with more padding, in spatial dimensions without
/// base dilation
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
      // Negative padding of the window would cut what the pad added; base dilation would spread it.
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

/// reduce-window(pad(x, 0), 0) by sums with interior padding of window length - 1 -> each element
/// of x repeated: every window holds one element. The gradient of an average over disjoint windows
/// has this form.
struct WindowOfSpreadElements : public OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const final {
    WindowAttr window = op.getWindowAttr();
    if (op->getNumOperands() != 2 || !window || !isAll(window.getBaseDilations(), 1) ||
        !isAll(window.getWindowDilations(), 1) || !isAll(window.getStrides(), 1)) {
      return failure();
    }
    auto pad = op->getOperand(0).getDefiningOp<PadOp>();
    Value init = op->getOperand(1);
    if (!pad || isAll(pad.getPaddingInterior(), 0) || !isSum(op) ||
        !isZero(pad.getPaddingValue()) || !isZero(init)) {
      return failure();
    }
    Value x = pad.getOperand();
    auto shape = cast<RankedTensorType>(x.getType()).getShape();
    SmallVector<int64_t> spread, places, whole, low, high, none(shape.size(), 0);
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t length = window.getSize()[d];
      bool cuts = std::min({pad.getPaddingLow()[d], pad.getPaddingHigh()[d], window.getPadLow()[d],
                            window.getPadHigh()[d]}) < 0;
      if (pad.getPaddingInterior()[d] != length - 1 || size == 0 || cuts) {
        return failure();
      }
      places.push_back(spread.size());
      spread.push_back(size);
      if (length > 1) {
        spread.push_back(length);
      }
      whole.push_back(size * length);
      low.push_back(pad.getPaddingLow()[d] + window.getPadLow()[d] + 1 - length);
      high.push_back(pad.getPaddingHigh()[d] + window.getPadHigh()[d] + 1 - length);
    }
    HloBuilder b(rewriter, op.getLoc());
    Value repeated = b.reshape(b.broadcast(x, spread, places), whole);
    // Adding the initial 0 turns -0 into 0.
    repeated = b.add(repeated, b.splat(HloBuilder::type(repeated), 0));
    if (!isAll(low, 0) || !isAll(high, 0)) {
      repeated = b.pad(repeated, init, low, high, none);
    }
    rewriter.replaceOp(op, repeated);
    return success();
  }

private:
  static bool isZero(Value value) { return isFloat(value, 0.0) || isInteger(value, 0); }
  static bool isSum(ReduceWindowOp op) {
    auto computation = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(op, op.getToApplyAttr());
    return computation && isa_and_nonnull<AddOp>(associativeOp(computation));
  }
};

/// reduce-window with windows that tile the rows without gaps -> reduce of shorter rows, which
/// reads each element once
struct WindowsSideBySide : public OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const final {
    WindowAttr window = op.getWindowAttr();
    if (op->getNumOperands() != 2 || !window || !isAll(window.getPadLow(), 0) ||
        !isAll(window.getPadHigh(), 0) || !isAll(window.getBaseDilations(), 1) ||
        !isAll(window.getWindowDilations(), 1) || window.getSize() != window.getStrides() ||
        window.getSize().empty() || !isAll(window.getSize().drop_back(), 1) || !isFreeToMove(op)) {
      return failure();
    }
    Value x = op->getOperand(0);
    SmallVector<int64_t> shape(shapeOf(x));
    int64_t length = window.getSize().back(), last = static_cast<int64_t>(shape.size());
    if (length == 1 || shape.back() == 0 || shape.back() % length != 0) {
      return failure();
    }
    shape.back() /= length;
    shape.push_back(length);
    HloBuilder b(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<ReduceOp>(
        op, op->getResultTypes(), ValueRange{b.reshape(x, shape), op->getOperand(1)},
        rewriter.getDenseI64ArrayAttr({last}), op.getToApplyAttr());
    return success();
  }

private:
  /// True if the reduction may change form: sums of narrow floats are rounded after each step in
  /// windows, but only at the end in rows.
  static bool isFreeToMove(ReduceWindowOp op) {
    auto computation = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(op, op.getToApplyAttr());
    Operation *reducer = computation ? associativeOp(computation) : nullptr;
    auto real = dyn_cast<FloatType>(elementTypeOf(op->getResult(0)));
    return reducer && (!real || real.getWidth() >= 32 || isa<MaximumOp, MinimumOp>(reducer));
  }
};

} // namespace

/// True if some tap of some window along dimension `i` reads an element of the input, not only
/// padding or the holes of base dilation.
static bool meetsInput(WindowAttr window, size_t i, int64_t input, int64_t outputs) {
  int64_t dilation = window.getBaseDilations()[i], stride = window.getStrides()[i],
          step = window.getWindowDilations()[i], taps = window.getSize()[i],
          low = window.getPadLow()[i];
  // All positions are congruent modulo `common`, the gcd of all steps.
  int64_t common = std::gcd(std::gcd(dilation, stride), taps > 1 ? step : dilation);
  if (low % common != 0 || input == 0) {
    return false;
  }
  constexpr int64_t mostLooked = 1 << 16;
  for (int64_t n = 0, all = outputs * taps; n < all && n < mostLooked; ++n) {
    int64_t position = n / taps * stride + n % taps * step - low;
    if (position >= 0 && position % dilation == 0 && position / dilation < input) {
      return true;
    }
  }
  return outputs * taps > mostLooked;
}

/// convolution -> 0 if no window reads an element of the input
static Value convolutionOfHoles(ConvolutionOp op, HloBuilder &b) {
  WindowAttr window = op.getWindowAttr();
  auto input = cast<RankedTensorType>(op.getLhs().getType()),
       result = cast<RankedTensorType>(op.getResult().getType());
  ConvDimsAttr dims = op.getDimLabels();
  for (size_t i = 0; window && i < dims.getInputSpatial().size(); ++i) {
    if (!meetsInput(window, i, input.getDimSize(dims.getInputSpatial()[i]),
                    result.getDimSize(dims.getOutputSpatial()[i]))) {
      return b.splat(result, 0);
    }
  }
  return Value();
}

namespace {
/// The order of an array's dimensions with dimension `groups` last and a new one of size 1 first.
struct GroupsLast {
  int64_t groups, rank;
  SmallVector<int64_t> order() const {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != groups) {
        dims.push_back(d);
      }
    }
    dims.push_back(groups);
    return dims;
  }
  int64_t placeOf(int64_t dim) const {
    return 1 + (dim == groups ? rank - 1 : dim - (dim > groups));
  }
  SmallVector<int64_t> placesOf(int64_t first, ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> places{first};
    for (int64_t dim : dims) {
      places.push_back(placeOf(dim));
    }
    return places;
  }
};
} // namespace

static SmallVector<int64_t> withFirst(int64_t first, ArrayRef<int64_t> rest) {
  SmallVector<int64_t> all{first};
  all.append(rest.begin(), rest.end());
  return all;
}

static Value withGroupsLast(HloBuilder &b, Value v, const GroupsLast &order) {
  Value turned = order.groups + 1 == order.rank ? v : b.transpose(v, order.order());
  return b.reshape(turned, withFirst(1, HloBuilder::type(turned).getShape()));
}

/// convolution with as many batch groups as images and output features -> depthwise convolution
/// with vectors along the groups: the channels that were summed become a spatial dimension that the
/// window covers. Gradients of depthwise kernels have this form.
static Value depthwiseOfBatchGroups(ConvolutionOp op, HloBuilder &b) {
  int64_t groups = op.getBatchGroupCount().value_or(1);
  WindowAttr window = op.getWindowAttr();
  auto lhs = HloBuilder::type(op.getLhs());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  ConvDimsAttr dims = op.getDimLabels();
  int64_t rank = lhs.getRank();
  if (groups <= 1 || !window || rank < 3 || lhs.getDimSize(dims.getInputBatch()) != groups ||
      result.getDimSize(dims.getOutputFeature()) != groups) {
    return Value();
  }
  GroupsLast input{dims.getInputBatch(), rank}, kernel{dims.getKernelOutputFeature(), rank},
      output{dims.getOutputFeature(), rank};
  // The new first dimension is the images of the input, the channels of the kernel, and the
  // positions along the old channels in the result.
  auto labels = ConvDimsAttr::get(
      op.getContext(), 0, rank,
      input.placesOf(input.placeOf(dims.getInputFeature()), dims.getInputSpatial()), 0, rank,
      kernel.placesOf(kernel.placeOf(dims.getKernelInputFeature()), dims.getKernelSpatial()),
      output.placeOf(dims.getOutputBatch()), rank, output.placesOf(0, dims.getOutputSpatial()));
  auto wider = WindowAttr::get(
      op.getContext(), withFirst(lhs.getDimSize(dims.getInputFeature()), window.getSize()),
      withFirst(1, window.getStrides()), withFirst(0, window.getPadLow()),
      withFirst(0, window.getPadHigh()), withFirst(1, window.getBaseDilations()),
      withFirst(1, window.getWindowDilations()), withFirst(0, window.getReversal()));
  SmallVector<int64_t> order = output.order(), shape, back(rank);
  for (auto [i, dim] : llvm::enumerate(order)) {
    shape.push_back(result.getDimSize(dim));
    back[dim] = static_cast<int64_t>(i);
  }
  Value x = withGroupsLast(b, op.getLhs(), input), k = withGroupsLast(b, op.getRhs(), kernel);
  auto depthwise = cast<ConvolutionOp>(b.b.clone(*op));
  depthwise->setOperands({x, k});
  depthwise->getResult(0).setType(HloBuilder::array(withFirst(1, shape), result.getElementType()));
  depthwise.setWindowAttr(wider);
  depthwise.setDimLabelsAttr(labels);
  depthwise.removeBatchGroupCountAttr();
  depthwise.setFeatureGroupCount(groups);
  Value sums = b.reshape(depthwise->getResult(0), shape);
  return order.back() == rank - 1 ? sums : b.transpose(sums, back);
}

void hlo::populateWindowRules(RewritePatternSet &patterns) {
  patterns.add<PadIntoConvolution, PadIntoReduceWindow, WindowOfSpreadElements, WindowsSideBySide>(
      patterns.getContext());
  addRules<ConvolutionOp>(patterns, {convolutionOfHoles, depthwiseOfBatchGroups});
}
