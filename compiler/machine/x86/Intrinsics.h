//===- Intrinsics.h - Calls of LLVM's intrinsics for x86 ------------------===//
#ifndef COMPILER_MACHINE_X86_INTRINSICS_H
#define COMPILER_MACHINE_X86_INTRINSICS_H

#include "compiler/machine/Emit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hlo::x86 {

/// A call of llvm.x86.NAME with one result.
inline mlir::Value call(Emitter &e, mlir::Type result, const llvm::Twine &name,
                        llvm::ArrayRef<mlir::Value> operands) {
  mlir::StringAttr full = e.b.getStringAttr("llvm.x86." + name);
  return mlir::LLVM::CallIntrinsicOp::create(e.b, e.loc, result, full, operands).getResult(0);
}

/// A call of llvm.x86.NAME without a result.
inline void call(Emitter &e, const llvm::Twine &name, llvm::ArrayRef<mlir::Value> operands) {
  mlir::LLVM::CallIntrinsicOp::create(e.b, e.loc, e.b.getStringAttr("llvm.x86." + name), operands);
}

inline mlir::Value i32Constant(Emitter &e, int32_t value) {
  return mlir::arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(value));
}

/// Lanes, and bits, of a vector.
inline int64_t lanesOf(mlir::Value vector) {
  return mlir::cast<mlir::VectorType>(vector.getType()).getNumElements();
}
inline int64_t bitsOf(mlir::Value vector) {
  return lanesOf(vector) * mlir::cast<mlir::VectorType>(vector.getType()).getElementTypeBitWidth();
}

} // namespace hlo::x86

#endif
