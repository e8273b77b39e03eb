//===- WayCosts.h - Cycles of the ways to make a convolution --------------===//
#ifndef COMPILER_CODEGEN_CONV_WAYCOSTS_H
#define COMPILER_CODEGEN_CONV_WAYCOSTS_H

#include "compiler/codegen/conv/DirectPlan.h"
#include "compiler/codegen/conv/KernelGradient.h"

namespace hlo::codegen {

// Each gives the sizes of a way that takes the convolution, and its cycles on one core by
// machine/Costs.h, without the epilogue.

PlanCandidate describeDepthwise(const ConvOperands &operands, const Machine &machine);
PlanCandidate describeGradient(const ConvOperands &operands, const GradientPlan &plan,
                               const Machine &machine);
PlanCandidate describeDirect(llvm::StringRef name, const ConvOperands &operands,
                             const DirectPlan &plan, const Machine &machine);

} // namespace hlo::codegen

#endif
