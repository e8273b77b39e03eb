//===- BatchedCall.h - Custom calls on each matrix of a batch -------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_BATCHEDCALL_H
#define COMPILER_TRANSFORMS_EXPANDERS_BATCHEDCALL_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// A call of a routine of LAPACK, `lapack_spotrf_ffi` and the like: every operand and result has
/// the batch dimensions in front, and each of their positions is computed alone.
struct BatchedCall {
  llvm::StringRef routine; ///< without the letter of its type: `potrf`
  int64_t batch = 0;       ///< batch dimensions
  int64_t inner = 0;       ///< dimensions of the first operand behind them: 2 of a matrix
  bool left = false;       ///< of `trsm`: the matrix stands left of the unknowns

  /// None for other targets, and for arrays that are not what the routine takes.
  static std::optional<BatchedCall> get(CustomCallOp op);
};

/// Replaces the arrays in the attributes of a custom call that hold its types; `change` gets each
/// with the number of its operand or, if `isResult`, of its result.
void changeCallTypes(
    CustomCallOp op,
    llvm::function_ref<mlir::Type(mlir::Type type, bool isResult, unsigned number)> change);

} // namespace hlo

#endif
