//===- Simulate.h - Fused and planned modules, run on symbols -------------===//
//
// Both simulators run a module with a symbol (a 64-bit hash) in place of each array. A kernel's
// result is a symbol made from its `tag` attribute and its operands' symbols, so two runs agree iff
// every kernel got the right operands. Predicates and selectors are derived from the symbols too.
// The planned module runs on memory that is tracked by byte ranges: a write invalidates every value
// it overlaps, a read must find exactly the value that was written.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_UNIT_PLANNER_SIMULATE_H
#define TEST_UNIT_PLANNER_SIMULATE_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hlo::test {

/// Symbols of the entry's results, for inputs with symbols made from `seed`. Nothing, if the
/// program does not end within some thousand steps.
std::optional<std::vector<uint64_t>> runFused(mlir::ModuleOp module, uint64_t seed);

struct PlannedRun {
  std::vector<uint64_t> outputs;
  std::string error; ///< the first rule that was broken, or empty
};

/// The same on a planned module. `shareDonated`: the caller passes one buffer for each output and
/// the input donated to it.
PlannedRun runPlanned(mlir::ModuleOp module, uint64_t seed, bool shareDonated);

} // namespace hlo::test

#endif
