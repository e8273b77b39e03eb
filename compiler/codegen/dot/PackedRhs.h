//===- PackedRhs.h - The rhs of a dot, stored as panels -------------------===//
//
// An rhs that no call changes can be stored in the order in which the inner loop reads it. As
// panels of `width` columns it is an ordinary array:
//
//   rhs[batch..., k, n]  ->  p[batch..., n / width, k, width]
//   dot(lhs, p)          ->  [batch..., m..., n / width, width]
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_PACKEDRHS_H
#define COMPILER_CODEGEN_DOT_PACKEDRHS_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"

namespace hlo::codegen {

struct PackedRhs {
  int64_t width;      ///< columns of a panel
  mlir::Type element; ///< element type of the panels
};

/// The panels in which the rhs of `dot` should be stored if packing it is free. nullopt if panels
/// would not help: few rows, few columns, or types that are converted or grouped as they are read.
std::optional<PackedRhs> packedRhsOf(DotOp dot, const Machine &machine);

} // namespace hlo::codegen

#endif
