//===- RowCosts.cpp - Modelled cycles of the ways of a row kernel ---------===//
//
//   rows     one row after the other; independent reduces share a walk over it
//   walks    the same, with a walk for each reduce; if that differs
//   lanes    a row in each lane, through transposed copies (ShortRows.cpp); if that is possible
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/reduce/RowEmission.h"
#include "compiler/machine/Costs.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hlo::codegen {

/// Cycles until a shuffled register can be added to (3 in most scheduling models).
static constexpr double kShuffleLatency = 3;
/// Registers of sums in a walk with enough columns.
static constexpr double kAccumulators = 4;

namespace {
class RowCosts {
public:
  explicit RowCosts(RowEmission &rows) : rows(rows), machine(rows.e.machine), lanes(rows.lanes) {
    for (int64_t size : rows.rowShape) {
      count *= static_cast<double>(size);
    }
    for (int64_t size : rows.columnShape) {
      columns *= static_cast<double>(size);
    }
    Operation *end = rows.kernel.body().getTerminator();
    for (ValueRange values :
         {ValueRange(rows.kernel.body().getArguments()), ValueRange(end->getOperands())}) {
      for (Value v : values) {
        bytes += static_cast<double>(elementsOf(v) * storageBytes(elementType(v.getType())));
      }
    }
  }

  /// Cycles of all rows, one after the other, by the walks that are planned.
  double byRows() const;
  /// Cycles with a row in each lane.
  double byLanes() const;

private:
  LoopBody walkOf(ValueRange values, double sums, DenseSet<Value> *read = nullptr) const;
  /// What all ways read and write.
  double cyclesOfMemory() const {
    LoopBody body;
    body.bytes = bytes;
    body.level = levelOf(machine, bytes);
    return cyclesOfLoop(machine, body);
  }

  RowEmission &rows;
  const Machine &machine;
  int64_t lanes;
  double count = 1, columns = 1, bytes = 0;
};
} // namespace

/// One vector of the walk that computes these values for `sums` sums. Adds the operands of the
/// kernel to `read`.
LoopBody RowCosts::walkOf(ValueRange values, double sums, DenseSet<Value> *read) const {
  LoopBody body;
  body.multiplyAdds = sums;
  body.integers = 2; // the counter and its branch
  SmallVector<Value> work(values);
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    // What does not depend on the column is computed once.
    if (!rows.overColumns(v) || !seen.insert(v).second) {
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (!op) {
      body.loads += 1;
      if (read) {
        read->insert(v);
      }
      continue;
    }
    body.multiplyAdds += propertiesOf(op).cost;
    llvm::append_range(work, op->getOperands());
  }
  return body;
}

/// The results that have an element for each column.
static SmallVector<Value> resultsOverColumns(RowEmission &rows) {
  return llvm::to_vector(llvm::make_filter_range(rows.kernel.body().getTerminator()->getOperands(),
                                                 [&](Value v) { return rows.overColumns(v); }));
}

double RowCosts::byRows() const {
  double cycles = 0, trips = std::ceil(columns / static_cast<double>(lanes));
  for (ArrayRef<ReduceOp> pass : rows.passes) {
    SmallVector<Value> inputs;
    for (ReduceOp op : pass) {
      llvm::append_range(inputs, op.getInputs());
    }
    auto sums = static_cast<double>(pass.size());
    LoopBody body = walkOf(inputs, sums);
    body.trips = trips;
    body.chain = 1 / std::min(trips, kAccumulators);
    body.start = kLoopStart + (kShuffleLatency + machine.issue.fmaLatency) *
                                  static_cast<double>(llvm::Log2_64_Ceil(lanes));
    cycles += cyclesOfLoop(machine, body);
  }
  if (SmallVector<Value> results = resultsOverColumns(rows); !results.empty()) {
    LoopBody body = walkOf(results, 0);
    body.stores = static_cast<double>(results.size());
    body.trips = trips;
    body.start = kLoopStart;
    cycles += cyclesOfLoop(machine, body);
  }
  return count * cycles + cyclesOfMemory();
}

double RowCosts::byLanes() const {
  double cycles = 0;
  DenseSet<Value> read;
  for (ReduceOp op : rows.reduces) {
    LoopBody body = walkOf(op.getInputs(), 1, &read);
    body.trips = columns;
    body.chain = 1;
    body.start = kLoopStart;
    cycles += cyclesOfLoop(machine, body);
  }
  SmallVector<Value> results = resultsOverColumns(rows);
  if (!results.empty()) {
    LoopBody body = walkOf(results, 0, &read);
    body.stores = static_cast<double>(results.size());
    body.trips = columns;
    body.start = kLoopStart;
    cycles += cyclesOfLoop(machine, body);
  }
  // Squares of lanes x lanes: each register is shuffled once for each bit of a lane's number.
  LoopBody copy;
  copy.loads = copy.stores = 1;
  copy.shuffles = llvm::Log2_64_Ceil(lanes);
  copy.trips = columns * static_cast<double>(read.size() + results.size());
  cycles += cyclesOfLoop(machine, copy);
  return std::ceil(count / static_cast<double>(lanes)) * cycles + cyclesOfMemory();
}

RowForm chooseRowForm(RowEmission &rows) {
  // A row in each lane wherever that is possible: kShortRow is measured, the model is not as near.
  bool canUseLanes = canUseShortRows(rows);
  if (!rows.kernel.choice) {
    return canUseLanes ? RowForm::Lanes : RowForm::Rows;
  }
  std::vector<PlanCandidate> candidates;
  SmallVector<RowForm> forms;
  RowCosts costs(rows);
  rows.planPasses(/*shared=*/false);
  size_t walks = rows.passes.size();
  double apart = costs.byRows();
  rows.planPasses(/*shared=*/true);
  auto add = [&](RowForm form, StringRef name, std::string sizes, double cycles) {
    forms.push_back(form);
    candidates.push_back({name.str(), std::move(sizes), cycles});
  };
  auto sizesOf = [&](size_t count) {
    return llvm::formatv("{0} walks over vectors of {1}", count, rows.lanes).str();
  };
  if (canUseLanes) {
    add(RowForm::Lanes, "lanes", llvm::formatv("{0} rows at once", rows.lanes), costs.byLanes());
  }
  add(RowForm::Rows, "rows", sizesOf(rows.passes.size()), costs.byRows());
  if (walks != rows.passes.size()) {
    add(RowForm::Walks, "walks", sizesOf(walks), apart);
  }
  return candidates.size() == 1 ? forms[0]
                                : forms[chooseCandidate(rows.kernel, std::move(candidates), 0)];
}

} // namespace hlo::codegen
