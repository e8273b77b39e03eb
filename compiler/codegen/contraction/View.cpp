//===- View.cpp - A value as a strided view of a kernel's argument --------===//
//
// Follows a value of a fusion's region back to the argument whose elements it is made of, and keeps
// the strides that each op between the two gives it.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/View.h"
#include "compiler/analysis/Reshape.h"
#include "compiler/codegen/contraction/Loops.h"

using namespace mlir;

namespace hlo::codegen {

bool isExactConvert(Type from, Type to) {
  if (from == to) {
    return true;
  }
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    return to.isF64() || (to.isF32() && !from.isF64());
  }
  if (isa<IntegerType>(from) && isa<IntegerType>(to)) {
    unsigned wide = to.getIntOrFloatBitWidth(), narrow = from.getIntOrFloatBitWidth();
    bool fromUnsigned = isUnsignedElement(from), toUnsigned = isUnsignedElement(to);
    return wide > narrow && (fromUnsigned || !toUnsigned);
  }
  return false;
}

/// The strides of a reshape's result, given the source's shape `from` and its `strides`. A group of
/// result dimensions has strides only if the source dimensions that it is made of are contiguous
/// relative to one another; nullopt if one group has none. With `nearest` such a group gets the
/// innermost stride of its source dimensions instead.
static std::optional<SmallVector<int64_t>> reshapedStrides(ArrayRef<int64_t> from,
                                                           ArrayRef<int64_t> strides,
                                                           ArrayRef<int64_t> to, bool nearest) {
  std::optional<SmallVector<ReshapedRange>> ranges = reshapedRanges(from, to);
  if (!ranges) {
    return std::nullopt;
  }
  SmallVector<int64_t> result(to.size(), 0);
  for (const ReshapedRange &range : *ranges) {
    SmallVector<int64_t> sizes, runs;
    for (size_t d = range.from; d < range.fromEnd; ++d) {
      if (from[d] != 1) {
        sizes.push_back(from[d]);
        runs.push_back(strides[d]);
      }
    }
    int64_t stride = runs.empty() ? 1 : runs.back();
    if (!linearStride(sizes, runs) && !nearest) {
      return std::nullopt;
    }
    for (size_t d = range.toEnd; d-- > range.to;) {
      result[d] = stride;
      stride *= to[d];
    }
  }
  return result;
}

static bool isElementwiseOp(Operation *op) { return isElementwise(op) && op->getNumResults() == 1; }

bool relabel(Operation *op, View &view, bool nearest) {
  if (!isa<CopyOp, BitcastOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ReverseOp,
           DynamicSliceOp>(op)) {
    return false;
  }
  Value source = op->getOperand(0);
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  if (elementType(source.getType()) != elementType(op->getResult(0).getType())) {
    return false;
  }
  SmallVector<int64_t> inner = view.strides;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      view.strides[i] = inner[d];
    }
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    view.strides.assign(shape.size(), 0);
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      view.strides[d] = inner[i];
    }
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t d = 0; d < inner.size(); ++d) {
      view.offset += slice.getStartIndices()[d] * inner[d];
      view.strides[d] = inner[d] * slice.getStrides()[d];
    }
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    for (size_t d = 0; d < inner.size(); ++d) {
      int64_t last = shapeOf(source)[d] - slice.getDynamicSliceSizes()[d];
      if (last > 0) {
        view.starts.push_back({slice.getStartIndices()[d], last, inner[d]});
      }
    }
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    for (int64_t d : reverse.getDimensions()) {
      view.offset += (shape[d] - 1) * inner[d];
      view.strides[d] = -inner[d];
    }
  } else if (shape != shapeOf(source)) {
    std::optional<SmallVector<int64_t>> strides =
        reshapedStrides(shapeOf(source), inner, shape, nearest);
    if (!strides) {
      return false;
    }
    view.strides = *strides;
  }
  return true;
}

void splitElements(View &view, int64_t parts) {
  for (int64_t &stride : view.strides) {
    stride *= parts;
  }
  for (DynamicStart &start : view.starts) {
    start.stride *= parts;
  }
  view.offset *= parts;
  view.elements *= parts;
  view.strides.push_back(1);
}

std::optional<View> viewOf(Value v, bool nearest) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    View view{argument.getArgNumber(),  0,  rowMajorStrides(shapeOf(v)),
              elementType(v.getType()), {}, {}};
    view.elements = elementsOf(v);
    return view;
  }
  Operation *op = v.getDefiningOp();
  if (auto packed = dyn_cast<BitcastConvertOp>(op); packed && nearest) {
    // Each element of the source is unpacked into several, along an added last dimension.
    std::optional<View> view = viewOf(packed.getOperand(), nearest);
    size_t rank = shapeOf(v).size();
    if (!view || rank != view->strides.size() + 1) {
      return view && rank == view->strides.size() ? view : std::nullopt;
    }
    splitElements(*view, shapeOf(v).back());
    return view;
  }
  if (!isa<ConvertOp, CopyOp, BitcastOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ReverseOp,
           DynamicSliceOp>(op)) {
    std::optional<View> largest;
    if (nearest && isElementwiseOp(op)) {
      for (Value operand : op->getOperands()) {
        std::optional<View> view =
            shapeOf(operand) == shapeOf(v) ? viewOf(operand, nearest) : std::nullopt;
        if (view && (!largest || view->elements > largest->elements)) {
          largest = view;
        }
      }
    }
    return largest;
  }
  Value source = op->getOperand(0);
  std::optional<View> view = viewOf(source, nearest);
  if (!view) {
    return std::nullopt;
  }
  if (isa<ConvertOp>(op)) {
    Type from = elementType(source.getType()), to = elementType(v.getType());
    view->conversions.push_back(to);
    return nearest || isExactConvert(from, to) ? view : std::nullopt;
  }
  return relabel(op, *view, nearest) ? view : std::nullopt;
}

Value clampedStart(KernelBuilder &kernel, const DynamicStart &start) {
  Emission &e = kernel.e;
  Type element = elementType(start.start.getType());
  Elem raw = ElementEmitter(kernel, 1).emit(start.start, {});
  Type wide = isUnsignedElement(element)
                  ? IntegerType::get(element.getContext(), 64, IntegerType::Unsigned)
                  : IntegerType::get(element.getContext(), 64, IntegerType::Signed);
  Value at = emitConvert(e, element, wide, raw).re;
  Value limit = constI64(e, start.last);
  if (isUnsignedElement(element)) {
    return e.b.createOrFold<arith::MinUIOp>(e.loc, at, limit);
  }
  at = minI(e, at, limit);
  return maxI(e, at, 0);
}

} // namespace hlo::codegen
