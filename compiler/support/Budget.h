//===- Budget.h - Bounds on the cost of a compilation ---------------------===//
//
// A short text can stand for a large module: a tuple of itself forty times over, or a chain of
// computations that each call the previous one twice. Bounds on the expanded size give every input
// an answer in seconds. They are far above real programs; each has a flag of the tools that sets
// another value. An error that reports one says the module's number, the bound, and the flag.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_BUDGET_H
#define COMPILER_SUPPORT_BUDGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace hlo {

/// The bounds of one compilation. A graph of 100,000 instructions does not meet them: its tuples,
/// calls and operands number at most as many as it has instructions. The exception are loops inside
/// each other: MLIR's verifier walks from each use of a buffer up to its definition, which takes
/// the square of their depth, 4 s at 8000 levels. Arrays have a bound of their own, because each
/// instruction takes the square of its rank; NumPy's arrays have 64 dimensions at most.
struct Budget {
  uint64_t rank = 256;              ///< dimensions of one array
  uint64_t leaves = 1 << 18;        ///< arrays in one value, tuples flattened
  uint64_t nesting = 1 << 17;       ///< levels of tuples in one value
  uint64_t loopNesting = 1 << 13;   ///< levels of loops and branches
  uint64_t operands = 1 << 18;      ///< of one instruction
  uint64_t inlined = 100000;        ///< instructions that copies of computations add
  uint64_t devices = 1 << 17;       ///< in the replica groups of one instruction
  uint64_t constantBytes = 1 << 28; ///< of all constants whose elements the text does not spell out
  uint64_t kernelInstructions = 1 << 14; ///< instructions in the code of one kernel

  /// For messages: "the bound is 262144 (--max-leaves sets another)".
  std::string text(uint64_t Budget::*bound) const;
};

/// Every error that reports a bound contains it.
inline constexpr llvm::StringLiteral kBoundMark = "the bound is ";

/// A bound as the tools offer it.
struct BudgetFlag {
  llvm::StringLiteral name; ///< "max-leaves"
  uint64_t Budget::*bound;
  llvm::StringLiteral help;
};

/// All bounds.
llvm::ArrayRef<BudgetFlag> budgetFlags();

} // namespace hlo

#endif
