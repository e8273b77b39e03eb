//===- AttentionPlan.h - Two dots with a reduce of rows between them ------===//
//
//   scores = dot(queries, keys); weights = f(scores); result = dot(weights, values)
//
// f is element-wise but for reduces along the keys, such as the two of a softmax. A kernel of
// strategy `attention` computes a block of rows from the scores to the result, so that neither
// scores nor weights are arrays in memory.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PLANS_ATTENTIONPLAN_H
#define COMPILER_PLANS_ATTENTIONPLAN_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/SetVector.h"

#include <array>
#include <optional>

namespace hlo {

/// A dimension that several arrays of an attention have in common.
struct AttentionAxis {
  enum Kind : uint8_t {
    Unit,  ///< a batch dimension of a dot: a block has one index of it
    Row,   ///< rows of scores that share keys and values
    Key,   ///< along which weights are reduced, and contracted with the values
    Whole, ///< columns of queries and keys, or of values: a block has all of it
  } kind;
  int64_t size;
};

/// For each dimension of a value, the number of its axis; kNoAxis for dimensions of size 1.
using AxisNumbers = llvm::SmallVector<int64_t>;
inline constexpr int64_t kNoAxis = -1;

/// What matchAttention finds.
struct Attention {
  DotOp scores, weighted;
  unsigned keySide = 0;     ///< the operand of `scores` that has the keys
  unsigned weightsSide = 0; ///< the operand of `weighted` that is the weights
  /// Rows stand in the order of the queries' dimensions.
  llvm::SmallVector<AttentionAxis> axes;
  int64_t key = kNoAxis; ///< the number of the Key axis
  /// The ops from `scores` to the weights, in program order, and the conversions and transposes
  /// behind `weighted`, whose last result (or that of `weighted`) is the root.
  llvm::SetVector<mlir::Operation *> between;
  llvm::SmallVector<mlir::Operation *> epilogue;
  /// The axes of the results of all these ops, of the operands of `scores`, and of the values.
  llvm::DenseMap<mlir::Value, AxisNumbers> axesOf;
  std::array<AxisNumbers, 2> ofScoresOperand;
  AxisNumbers ofValues;

  mlir::Value values() { return weighted->getOperand(!weightsSide); }
  mlir::Value weights() { return weighted->getOperand(weightsSide); }
  mlir::Value root() {
    return epilogue.empty() ? weighted.getResult() : epilogue.back()->getResult(0);
  }
};

/// The attention that ends in `weighted`: scores of another dot with at least one reduce between
/// the two, all of whose users are between them as well.
std::optional<Attention> matchAttention(DotOp weighted);

/// Whether a reshape only adds or drops dimensions of size 1.
bool keepsSizes(mlir::Operation *reshape);

/// How many elements of each axis a block has.
struct AttentionBlocks {
  llvm::SmallVector<int64_t> sizes;
  int64_t cut = kNoAxis; ///< the axis that is cut into blocks, of which the last may be smaller
  int64_t blocks = 1;    ///< of that axis
};
/// The blocks of a kernel; nothing where no kernel is worth it.
std::optional<AttentionBlocks> planAttention(const Machine &machine, Attention &attention);

} // namespace hlo

#endif
