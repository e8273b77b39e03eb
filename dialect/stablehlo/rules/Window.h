//===- Window.h - Windows of convolutions and reductions ------------------===//
#ifndef DIALECT_STABLEHLO_RULES_WINDOW_H
#define DIALECT_STABLEHLO_RULES_WINDOW_H

#include "dialect/stablehlo/rules/Rule.h"

namespace stablehlo {

/// A window, one entry for each dimension that it moves along; lists that the text leaves out or
/// has empty have their default values.
struct Window {
  llvm::SmallVector<int64_t> sizes, strides, low, high, baseDilations, dilations;

  /// Number of places of the window in dimension `dim` of that size; `?` if that is not known, none
  /// on overflow.
  std::optional<int64_t> count(size_t dim, int64_t size) const;
};

/// Labels of the constraints that readWindow checks; empty for those that an op does not have.
struct WindowLabels {
  llvm::StringRef stridesCount, strides, paddingShape, baseCount, base, dilationsCount, dilations;
};

/// Reads the lists; an absent one has `rank` default entries. Null if a list is not valid, which is
/// reported.
std::optional<Window> readWindow(Check &check, const WindowLabels &labels, int64_t rank,
                                 llvm::ArrayRef<int64_t> sizes,
                                 std::optional<llvm::ArrayRef<int64_t>> strides,
                                 mlir::DenseIntElementsAttr padding,
                                 std::optional<llvm::ArrayRef<int64_t>> baseDilations,
                                 std::optional<llvm::ArrayRef<int64_t>> dilations);

} // namespace stablehlo

#endif
