//===- PackedRhs.h - The right side of a dot as panels --------------------===//
//
// What can be laid out once, because no call changes it, is best laid out as the inner loop
// reads it. The right side as panels of `width` columns is an ordinary array:
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
  int64_t width;
  mlir::Type element; ///< of the panels
};

/// How the right side of `dot` is best laid out if that costs nothing; nothing where reading it as
/// it is does as well (few rows, few columns, types that are converted or paired on the way).
std::optional<PackedRhs> packedRhsOf(DotOp dot, const Machine &machine);

} // namespace hlo::codegen

#endif
