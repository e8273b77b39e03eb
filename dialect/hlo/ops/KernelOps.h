//===- KernelOps.h - Ops inside kernels that are no opcodes ---------------===//
//
// Beside Dialect.h, because only the fusion phase makes these ops and only code generation reads
// them.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_OPS_KERNELOPS_H
#define DIALECT_HLO_OPS_KERNELOPS_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialect/hlo/ops/KernelOps.h.inc"

#endif
