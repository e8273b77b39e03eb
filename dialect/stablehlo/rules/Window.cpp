//===- Window.cpp - Windows of convolutions and reductions ----------------===//
#include "dialect/stablehlo/rules/Window.h"

using namespace mlir;
using namespace stablehlo;

/// (size - 1) * dilation + 1, and 0 for size 0; none on overflow.
static std::optional<int64_t> dilated(int64_t size, int64_t dilation) {
  int64_t result;
  if (size <= 0) {
    return 0;
  }
  if (llvm::MulOverflow(size - 1, dilation, result) ||
      llvm::AddOverflow<int64_t>(result, 1, result)) {
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> Window::count(size_t dim, int64_t size) const {
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(sizes[dim])) {
    return ShapedType::kDynamic;
  }
  std::optional<int64_t> base = dilated(size, baseDilations[dim]);
  std::optional<int64_t> window = dilated(sizes[dim], dilations[dim]);
  int64_t padded;
  if (!base || !window || llvm::AddOverflow(*base, low[dim], padded) ||
      llvm::AddOverflow(padded, high[dim], padded)) {
    return std::nullopt;
  }
  if (padded == 0 || *window > padded) {
    return 0;
  }
  // Both are at most `padded`, which is positive here.
  return (padded - *window) / strides[dim] + 1;
}

std::optional<Window> stablehlo::readWindow(Check &check, const WindowLabels &labels, int64_t rank,
                                            ArrayRef<int64_t> sizes,
                                            std::optional<ArrayRef<int64_t>> strides,
                                            DenseIntElementsAttr padding,
                                            std::optional<ArrayRef<int64_t>> baseDilations,
                                            std::optional<ArrayRef<int64_t>> dilations) {
  Window window;
  bool valid = true;
  auto read = [&](StringRef countLabel, StringRef label, StringRef what,
                  std::optional<ArrayRef<int64_t>> list, SmallVector<int64_t> &target) {
    target.assign(std::max<int64_t>(rank, 0), 1);
    if (list && !list->empty()) {
      valid &=
          check.hasSize(countLabel, what, list->size(), rank) && check.positive(label, what, *list);
      target = llvm::to_vector(*list);
    }
  };
  window.sizes = llvm::to_vector(sizes);
  read(labels.stridesCount, labels.strides, "window_strides", strides, window.strides);
  read(labels.baseCount, labels.base, "the list of base dilations", baseDilations,
       window.baseDilations);
  read(labels.dilationsCount, labels.dilations, "the list of window dilations", dilations,
       window.dilations);
  window.low.assign(std::max<int64_t>(rank, 0), 0);
  window.high = window.low;
  if (padding && !padding.empty()) {
    auto type = cast<ShapedType>(padding.getType());
    bool fits = type.getRank() == 2 && type.getDimSize(0) == rank && type.getDimSize(1) == 2;
    valid &= check.require(fits, labels.paddingShape, "padding is ", type, ", expected ", rank,
                           " pairs");
    for (auto [i, value] : llvm::enumerate(padding.getValues<int64_t>())) {
      if (!fits) {
        break;
      }
      (i % 2 ? window.high : window.low)[i / 2] = value;
    }
  }
  return valid ? std::optional<Window>(window) : std::nullopt;
}
