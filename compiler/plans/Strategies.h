//===- Strategies.h - What each strategy can take and share ---------------===//
//
// The table of strategies: everything that passes ask of one, but for its emitter
// (compiler/codegen/Strategies.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PLANS_STRATEGIES_H
#define COMPILER_PLANS_STRATEGIES_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Strategy.h"

namespace hlo {

/// Which producers of its operands a kernel may compute, beside constants of one element.
enum class Takes : uint8_t {
  Nothing,
  Sources,   ///< what is made from nothing, such as the iota of an argsort
  Addresses, ///< the indices and rows of a scatter (fusion/ScatterOperands.cpp)
  Producers, ///< any whose elements are not evaluated more often than that is worth
};

/// Which results may or must lie in the place of an operand.
enum class Sharing : uint8_t {
  None,
  InPlace,    ///< `in_place`: result n of the root is written over the root's operand n
  PerElement, ///< `may_alias`: an operand that is read at the element's own index alone; a reduce
              ///< reads other elements
  PerSpace,   ///< same, where the elements that a reduce reads belong to the element's own task
};

/// Which space a kernel walks (fusion/KernelSpace.h); `Own`: none that another kernel could share.
enum class Walk : uint8_t {
  Own,
  Elements, ///< that of its results, or of the columns it reduces to
  Rows,     ///< rows that it reduces
  Columns,  ///< the columns it reduces to, with results for all elements
};

/// What has to be small for a kernel to be inlined into a small loop (target/entry/SmallLoops.cpp).
enum class SmallForm : uint8_t {
  Never,
  Results, ///< every array
  Update,  ///< what is written of the array
};

struct StrategyProperties {
  Strategy strategy;
  Takes takes = Takes::Nothing;
  /// The root is a product: elementwise users join it as its epilogue, and producers of its
  /// operands are evaluated tile by tile (fusion/Prologue.cpp).
  bool isProduct = false;
  /// Reduces are evaluated in the loop of their user.
  bool takesReduces = false;
  /// Becomes, or is, a kernel by rows where it takes a reduce of its rows.
  bool canBecomeRow = false;
  Sharing sharing = Sharing::None;
  Walk walk = Walk::Own;
  SmallForm small = SmallForm::Never;
  /// Bytes of memory of all tasks together, beside results; null: none. Of the kernel's root.
  int64_t (*scratchBytes)(const Machine &machine, mlir::Operation *root) = nullptr;
};

const StrategyProperties &propertiesOf(Strategy strategy);

} // namespace hlo

#endif
