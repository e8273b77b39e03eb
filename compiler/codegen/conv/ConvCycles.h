//===- ConvCycles.h - What an order of dimensions costs -------------------===//
#ifndef COMPILER_CODEGEN_CONV_CONVCYCLES_H
#define COMPILER_CODEGEN_CONV_CONVCYCLES_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"

namespace hlo::codegen {

/// Cycles of a convolution as a kernel of its own, on one core, in the form that would be emitted.
double convolutionCycles(ConvolutionOp conv, const Machine &machine);
/// Cycles of a kernel that transposes an array.
double transposeCycles(mlir::RankedTensorType type, const Machine &machine);

} // namespace hlo::codegen

#endif
