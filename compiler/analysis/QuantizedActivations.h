//===- QuantizedActivations.h - Dots whose rows may become bytes ----------===//
#ifndef COMPILER_ANALYSIS_QUANTIZEDACTIVATIONS_H
#define COMPILER_ANALYSIS_QUANTIZEDACTIVATIONS_H

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Of a module, as --quantize-activations gives it, and then of its dots: where the other side is
/// narrow integers with scales, few rows may be rounded to bytes, with a scale for each block along
/// k.
inline constexpr llvm::StringLiteral kQuantizeActivations = "hlo.quantize_activations";

} // namespace hlo

#endif
