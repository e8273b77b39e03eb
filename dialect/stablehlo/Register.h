//===- Register.h - Registration of the dialects of JAX's exports ---------===//
#ifndef DIALECT_STABLEHLO_REGISTER_H
#define DIALECT_STABLEHLO_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace stablehlo {
/// Registers stablehlo, chlo and sdy, and the dialects that a module of them may use: func, quant.
void registerStablehloDialects(mlir::DialectRegistry &registry);
} // namespace stablehlo

#endif
