//===- Worth.h - The cost rule of prepared values -------------------------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_WORTH_H
#define COMPILER_TRANSFORMS_PREPARE_WORTH_H

#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace hlo {

/// How an op that stays in the entry reads a value.
enum class Use {
  Registers, ///< element by element; recomputed there if it is not stored
  Memory,    ///< from memory: a loop, a branch, a kernel built around the op
  Parts,     ///< a few elements: a gather, a slice
};
Use useOf(mlir::OpOperand &operand);

/// The cost rule. `kept` are values that are prepared already.
bool isWorthKeeping(mlir::Value value, Use use, const llvm::SetVector<mlir::Value> &kept);

} // namespace hlo

#endif
