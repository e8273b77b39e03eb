//===- PackedRhs.h - The panels that a contraction would read -------------===//
#ifndef COMPILER_CODEGEN_DOT_PACKEDRHS_H
#define COMPILER_CODEGEN_DOT_PACKEDRHS_H

#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

/// The panels in which a side of a contraction should be stored if packing it is free; `isLhs`: the
/// side. None if the preferred form reads the side in place, or needs more than panels.
std::optional<PanelLayout> packedPanels(const Contraction &c, bool isLhs);

} // namespace hlo::codegen

#endif
