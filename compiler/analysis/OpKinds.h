//===- OpKinds.h - What passes know of an opcode --------------------------===//
//
// One table of the properties of all opcodes (OpKinds.cpp), whatever their shapes. A property
// of an op that depends on its shapes starts from its row: see fusion/Cost.h.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_OPKINDS_H
#define COMPILER_ANALYSIS_OPKINDS_H

#include "dialect/hlo/Strategy.h"

namespace hlo {

/// What part an op can play in a kernel.
enum class Role : uint8_t {
  TopLevel, ///< runs on its own: loops, conditionals, runtime calls, large constants
  Free,     ///< moves data or makes it from nothing; costs nothing to repeat
  Compute,  ///< one result element from one element of each operand, or a window of them
  Reduce,   ///< reduce, reduce-window: many operand elements for one of the result
  Hero,     ///< has a kernel of its own, of the row's strategy
};

enum class OpFlag : uint16_t {
  None = 0,
  /// Element i of the result depends on element i of each operand alone (or on the one element of a
  /// scalar operand of select and clamp). A bitcast-convert only between types of one width: ask
  /// isElementwiseOp.
  Elementwise = 1 << 0,
  /// A function of tens of instructions or more per element, such as an exponential.
  Function = 1 << 1,
  /// A row kernel stores the result rather than to evaluate the op again.
  KeptInRow = 1 << 2,
  /// Several of scalars are computed in the lanes of one vector.
  Grouped = 1 << 3,
  /// Arithmetic whose bf16 or f16 result may keep the precision of f32 for the next op.
  StaysWide = 1 << 4,
  /// The elements of the result are elements of operands, bit by bit.
  HandsOn = 1 << 5,
  /// Element i of the result comes from another place than i of an operand.
  Displaces = 1 << 6,
  /// The runtime executes the op: a custom call, a feed, a transfer, a collective.
  Runtime = 1 << 7,
  /// What the op does depends on the ranks that the program runs on.
  Collective = 1 << 8,
  /// Has an effect beside its results. (A custom call says so itself.)
  Effect = 1 << 9,
  /// Other ops take its place before phase 3.
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
  /// Relative cost of one result element: 0 free, 1 an add, 20 an exponential. Of a reduce, its
  /// shapes say (fusion/Cost.h).
  int8_t cost = 1;
  OpFlag flags = OpFlag::None;
  /// Of a kernel whose root or hero it is.
  Strategy strategy = Strategy::Loop;
  /// Relative amount of code that LLVM gets for it.
  int8_t codeWeight = 2;
};

/// The op's row; that of an op of another dialect is `OpProperties()`.
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

} // namespace hlo

#endif
