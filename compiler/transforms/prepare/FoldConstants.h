//===- FoldConstants.h - Values of constants, computed here ---------------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_FOLDCONSTANTS_H
#define COMPILER_TRANSFORMS_PREPARE_FOLDCONSTANTS_H

#include "dialect/hlo/Dialect.h"
#include <map>
#include <vector>

namespace hlo {

/// Whether a computation has a constant so large that what is computed from it may be folded.
bool hasLargeConstants(ComputationOp computation);

/// Whether the compiler computes the value, because it depends on large constants only, is not much
/// larger than these, and is the same wherever it is computed.
bool isFoldable(mlir::Value value);

/// The largest constant that a foldable value depends on.
mlir::DenseElementsAttr largestSource(mlir::Value value);

/// Replaces foldable values by constants. Values computed in the same way from the same constants
/// are computed once.
class ConstantFolder {
public:
  explicit ConstantFolder(llvm::ArrayRef<ComputationOp> programs);
  /// False if the value is as it was: it is not foldable, or the folder has done enough.
  bool fold(mlir::Value value);

private:
  int64_t budget;
  std::map<std::vector<const void *>, mlir::DenseElementsAttr> known;
};

} // namespace hlo

#endif
