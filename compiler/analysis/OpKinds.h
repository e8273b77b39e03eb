//===- OpKinds.h - What passes know of an opcode --------------------------===//
//
// The properties of all opcodes, in one table (OpKinds.cpp). They do not depend on shapes. A
// property of an op that does starts from its row: see fusion/Cost.h.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_OPKINDS_H
#define COMPILER_ANALYSIS_OPKINDS_H

#include "dialect/hlo/Strategy.h"

namespace hlo {

/// The role of an op in a kernel.
enum class Role : uint8_t {
  TopLevel, ///< runs on its own: loops, conditionals, runtime calls, large constants
  Free,     ///< moves data or makes it from nothing; costs nothing to repeat
  Compute,  ///< one result element from one element of each operand, or a window of them
  Reduce,   ///< reduce, reduce-window: many operand elements for one of the result
  Hero,     ///< has a kernel of its own, of the row's strategy
};

enum class OpFlag : uint16_t {
  None = 0,
  /// Element i of the result depends only on element i of each operand (or on the one element of a
  /// scalar operand of select and clamp). A bitcast-convert is so only between types of one width:
  /// ask isElementwiseOp.
  Elementwise = 1 << 0,
  /// A function of tens of instructions or more per element, such as an exponential.
  Function = 1 << 1,
  /// A row kernel stores the result and does not evaluate the op again.
  KeptInRow = 1 << 2,
  /// Several of these on scalars are computed in the lanes of one vector.
  Grouped = 1 << 3,
  /// Arithmetic whose bf16 or f16 result the next op may read in f32, unrounded.
  StaysWide = 1 << 4,
  /// The elements of the result are elements of operands, bit by bit.
  HandsOn = 1 << 5,
  /// Element i of the result comes from another index than i of an operand.
  Displaces = 1 << 6,
  /// The runtime executes the op: a custom call, a feed, a transfer, a collective.
  Runtime = 1 << 7,
  /// The op's effect depends on the ranks that the program runs on.
  Collective = 1 << 8,
  /// Has an effect beside its results. (A custom call says so itself.)
  Effect = 1 << 9,
  /// An expander or a simplifier replaces the op before phase 4.
  Composite = 1 << 10,
};
constexpr OpFlag operator|(OpFlag a, OpFlag b) {
  return static_cast<OpFlag>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
/// Whether two sets of flags have one in common.
constexpr bool operator&(OpFlag a, OpFlag b) {
  return (static_cast<uint16_t>(a) & static_cast<uint16_t>(b)) != 0;
}

/// A row of the table.
struct OpProperties {
  Role role = Role::TopLevel;
  /// The relative cost of one result element: 0 free, 1 an add, 20 an exponential. For a reduce it
  /// follows from the shapes (fusion/Cost.h).
  int8_t cost = 1;
  OpFlag flags = OpFlag::None;
  /// The strategy of a kernel whose root or hero is such an op.
  Strategy strategy = Strategy::Loop;
  /// The relative amount of LLVM IR that the op becomes.
  int8_t codeWeight = 2;
};

/// The op's row; `OpProperties()` for an op of another dialect.
const OpProperties &propertiesOf(mlir::OperationName name);
inline const OpProperties &propertiesOf(mlir::Operation *op) { return propertiesOf(op->getName()); }

inline bool hasFlag(mlir::Operation *op, OpFlag flag) { return propertiesOf(op).flags & flag; }

/// Whether the op is element-wise, by its row and its types.
bool isElementwiseOp(mlir::Operation *op);

/// True for element-wise ops that take tens of instructions or more per element.
bool isExpensiveElementwise(mlir::Operation *op);

/// True if the runtime executes the op: a custom call, a feed, a transfer or a collective.
bool isRuntimeOp(mlir::Operation *op);

/// True if the op's effect depends on the ranks that the program runs on.
bool isCollectiveOp(mlir::Operation *op);

/// The unit attribute of a collective that only begins at its place. Its results are complete at
/// the `hlo.collective_done` that takes them.
inline constexpr llvm::StringLiteral kAsyncAttr = "hlo.async";

} // namespace hlo

#endif
