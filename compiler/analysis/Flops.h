//===- Flops.h - Arithmetic that a kernel does ----------------------------===//
#ifndef COMPILER_ANALYSIS_FLOPS_H
#define COMPILER_ANALYSIS_FLOPS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// Arithmetic operations of one execution of a fusion, for profiles: a multiplication and an
/// addition count as two, an element-wise op of any kind as one an element, what moves or compares
/// data for its order as none. Taps of a window that lie in its padding count. Saturates.
uint64_t flopsOf(FusionOp fusion);

/// The product, convolution, transform or solve of a fusion that does most of its arithmetic; the
/// fusion itself if it has none.
mlir::Operation *mainOpOf(FusionOp fusion);

} // namespace hlo

#endif
