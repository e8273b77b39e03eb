//===- Flops.h - Arithmetic operations of a kernel ------------------------===//
#ifndef COMPILER_ANALYSIS_FLOPS_H
#define COMPILER_ANALYSIS_FLOPS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// Arithmetic operations of one execution of a fusion, for profiles. A multiply-add counts two, an
/// element-wise op one per element, moves and comparisons of a sort none. Window taps that read
/// padding count. Saturates.
uint64_t flopsOf(FusionOp fusion);

/// The dot, convolution, transform or solve that does most of the fusion's arithmetic; the fusion
/// itself if it has none.
mlir::Operation *mainOpOf(FusionOp fusion);

} // namespace hlo

#endif
