//===- KernelOps.h - Ops of kernels and buffers that are no opcodes -------===//
//
// Beside Dialect.h, because few passes make these ops and few read them.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_OPS_KERNELOPS_H
#define DIALECT_HLO_OPS_KERNELOPS_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialect/hlo/ops/KernelOps.h.inc"

#endif
