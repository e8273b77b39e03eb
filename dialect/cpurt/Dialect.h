//===- Dialect.h - The cpurt dialect --------------------------------------===//
//
// A program whose memory is planned: see Cpurt.td.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_CPURT_DIALECT_H
#define DIALECT_CPURT_DIALECT_H

#include "dialect/hlo/Dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/RegionKindInterface.h"

#include "dialect/cpurt/Dialect.h.inc"

#define GET_OP_CLASSES
#include "dialect/cpurt/Ops.h.inc"

#endif
