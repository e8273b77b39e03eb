//===- KernelBody.h - Ops copied into a kernel ----------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_KERNELBODY_H
#define COMPILER_TRANSFORMS_FUSION_KERNELBODY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace hlo::fusion {

/// Copies an op into the region of a kernel, without the names and metadata of the text: these must
/// not make equal kernels differ.
mlir::Operation *copyIntoKernel(mlir::OpBuilder &inside, mlir::Operation *member,
                                mlir::IRMapping &mapping);

} // namespace hlo::fusion

#endif
