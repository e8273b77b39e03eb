//===- Emit.h - Where the functions of a machine's capabilities emit ------===//
#ifndef COMPILER_MACHINE_EMIT_H
#define COMPILER_MACHINE_EMIT_H

#include "mlir/IR/Builders.h"

namespace hlo {

/// Where to put ops. The Emission of codegen/Element.h is one.
struct Emitter {
  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace hlo

#endif
