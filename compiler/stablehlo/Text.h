//===- Text.h - Attributes of StableHLO as HLO's ---------------------------===//
#ifndef COMPILER_STABLEHLO_TEXT_H
#define COMPILER_STABLEHLO_TEXT_H

#include "compiler/stablehlo/Converter.h"

namespace stablehlo {
class ChannelHandleAttr;
} // namespace stablehlo

namespace hlo::stable {

/// `{mode=highest}` or `{tolerance={atol=0,rtol=1e-06,ulps=2}}`; "" for the default.
std::string accuracyText(mlir::Attribute accuracy);

/// `operand_precision` of a precision_config; nothing if all are the default.
void addPrecision(Converter &c, std::optional<mlir::ArrayAttr> config,
                  llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

/// Adds a list of dimensions, which HLO leaves out if it is empty.
void addDims(Converter &c, llvm::StringRef name, llvm::ArrayRef<int64_t> values,
             llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

/// Adds `channel_id`. Null or the handle 0: there is no channel.
void addChannel(Converter &c, stablehlo::ChannelHandleAttr channel,
                llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

/// `{{0,1},{2,3}}` of a matrix; negative numbers fill up short rows and are left out.
std::string listsText(mlir::DenseIntElementsAttr rows);

/// The sizes of a window and what is absent filled in.
struct WindowSizes {
  llvm::ArrayRef<int64_t> sizes;
  std::optional<llvm::ArrayRef<int64_t>> strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
  std::optional<llvm::ArrayRef<bool>> reversal;
};
WindowAttr windowAttr(mlir::MLIRContext *context, const WindowSizes &window);

} // namespace hlo::stable

#endif
