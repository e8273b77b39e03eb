//===- Strategies.cpp - What each strategy can take and share -------------===//
//
// To add a strategy: a case in dialect/hlo/Strategy.td, a row here, its emitter in
// compiler/codegen/Strategies.cpp, and the op or the rewrite that asks for it (OpKinds.cpp
// for an op that has a kernel of its own).
//
//===----------------------------------------------------------------------===//
#include "compiler/plans/Strategies.h"
#include "compiler/plans/FftPlan.h"
#include "compiler/plans/SortPlan.h"

using namespace mlir;
using namespace hlo;

static int64_t sortScratch(const Machine &machine, Operation *root) {
  return planSort(machine, cast<SortOp>(root)).scratchBytes();
}
static int64_t topkScratch(const Machine &machine, Operation *root) {
  return planTopk(machine, cast<TopkOp>(root)).scratchBytes();
}
static int64_t fftScratch(const Machine &machine, Operation *root) {
  FftShape shape = fftShape(machine, cast<FftOp>(root));
  return fftScratchBytes(machine, shape, fftLineCandidates(machine, shape).front().line);
}

// clang-format off
static constexpr StrategyProperties table[] = {
    {.strategy = Strategy::Loop, .takes = Takes::Producers, .takesReduces = true, .canBecomeRow = true,
     .sharing = Sharing::PerElement, .walk = Walk::Elements, .small = SmallForm::Results},
    {.strategy = Strategy::Range},
    {.strategy = Strategy::Reduce, .takes = Takes::Producers, .canBecomeRow = true,
     .walk = Walk::Rows, .small = SmallForm::Results},
    {.strategy = Strategy::Row, .takes = Takes::Producers, .canBecomeRow = true,
     .sharing = Sharing::PerSpace, .walk = Walk::Rows},
    {.strategy = Strategy::Columns, .sharing = Sharing::PerSpace, .walk = Walk::Columns},
    {.strategy = Strategy::Scan, .takes = Takes::Producers},
    {.strategy = Strategy::Dot, .takes = Takes::Producers, .isProduct = true},
    {.strategy = Strategy::Conv, .takes = Takes::Producers, .isProduct = true},
    {.strategy = Strategy::Sort, .takes = Takes::Sources, .scratchBytes = sortScratch},
    {.strategy = Strategy::Topk, .scratchBytes = topkScratch},
    {.strategy = Strategy::Scatter, .takes = Takes::Addresses, .sharing = Sharing::InPlace},
    {.strategy = Strategy::SelectAndScatter},
    {.strategy = Strategy::UpdateSlice, .takes = Takes::Producers, .sharing = Sharing::InPlace,
     .small = SmallForm::Update},
    {.strategy = Strategy::Rng},
    {.strategy = Strategy::Fft, .scratchBytes = fftScratch},
    {.strategy = Strategy::Cholesky},
    {.strategy = Strategy::TriangularSolve},
    {.strategy = Strategy::Attention},
};
// clang-format on

/// Whether row n is that of strategy n, for each strategy.
static constexpr bool isComplete() {
  for (size_t n = 0; n < std::size(table); ++n) {
    if (static_cast<size_t>(table[n].strategy) != n) {
      return false;
    }
  }
  return std::size(table) == getMaxEnumValForStrategy() + 1;
}
static_assert(isComplete(), "one row for each strategy, in the order of Strategy.td");

const StrategyProperties &hlo::propertiesOf(Strategy strategy) {
  return table[static_cast<size_t>(strategy)];
}
