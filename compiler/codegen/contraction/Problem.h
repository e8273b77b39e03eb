//===- Problem.h - What dots and convolutions compute ---------------------===//
//
// out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, n, k]
//
// A problem has dimensions, each with a size, a role (batch, m, n or k) and a stride in each array
// that has it. Those of a dot are dimensions of its arrays. Those of a convolution are
//
//   batch  the feature or batch groups
//   m      output batch and output positions
//   n      output features of a group
//   k      taps and input features of a group
//
// An output position and a tap are two dimensions of the input, although both step along one
// dimension of the array: their indices, each times its step, add up to the place in the array.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_PROBLEM_H
#define COMPILER_CODEGEN_CONTRACTION_PROBLEM_H

#include "compiler/codegen/contraction/Operand.h"
#include "compiler/codegen/contraction/ScaledOperand.h"

#include <functional>

namespace hlo::codegen {

struct Problem {
  struct Dim {
    int64_t size;
    int64_t lhs = -1, rhs = -1, out = -1; ///< its number in each array; -1 if absent there
  };
  struct Array {
    std::shared_ptr<Operand> operand;
    /// Per dimension, in elements; of a computed operand those in the largest array it reads. 0 if
    /// a step along the dimension does not always move by as much.
    llvm::SmallVector<int64_t> strides;
    /// Whether an element is in memory at the sum of the indices times the strides.
    bool isStrided;
    /// The element at an index per dimension.
    std::function<Elem(llvm::ArrayRef<Index>, int64_t lanes, mlir::Value mask)> read;
    /// The operand as narrow integers with scales, if it is such; `strides` are then theirs.
    std::shared_ptr<ScaledOperand> scaled;
    /// The operand's panels, if those of one tap.
    std::optional<StoredPanels> panels;
  };
  /// An operand with its own dimensions.
  static Array arrayOf(std::shared_ptr<Operand> operand) {
    Array array{operand,
                llvm::SmallVector<int64_t>(operand->strides()),
                operand->isStrided(),
                {},
                {},
                operand->panels()};
    array.read = [operand](llvm::ArrayRef<Index> index, int64_t lanes, mlir::Value mask) {
      return operand->at(index, lanes, mask);
    };
    return array;
  }

  Array lhs, rhs;
  llvm::SmallVector<Dim> batch, m, n, k;
  llvm::SmallVector<int64_t> outStrides;
  /// One index per dimension of the result's array, in place of one per dimension of the problem
  /// that the result has. Null: they are the same.
  std::function<llvm::SmallVector<Index>(llvm::ArrayRef<Index>, int64_t lanes)> outIndex;
  /// Whether some elements of the lhs are padding or holes: no dimensions are merged then, since
  /// each index is checked, and those of k keep their order.
  bool hasBorders = false;
};

} // namespace hlo::codegen

#endif
