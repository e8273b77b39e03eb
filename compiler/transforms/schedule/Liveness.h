//===- Liveness.h - From uses to live ranges ------------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_LIVENESS_H
#define COMPILER_TRANSFORMS_SCHEDULE_LIVENESS_H

#include "compiler/transforms/schedule/Plan.h"

namespace hlo::schedule {

/// Gathers the uses of values while a plan is written, then fills their ranges.
class Liveness {
public:
  explicit Liveness(Plan &plan) : plan(plan) {}

  /// The value's bytes are needed in `sequence` up to (and without) point `end`.
  void addUse(ValueId value, SequenceId sequence, uint32_t end) {
    uses.push_back({value, sequence, end});
  }
  /// Adds to each value's range what its scopes and uses say.
  void fillRanges();

private:
  struct Use {
    ValueId value;
    SequenceId sequence;
    uint32_t end;
  };
  void fillRange(PlanValue &value, llvm::ArrayRef<Use> ofValue);

  Plan &plan;
  std::vector<Use> uses;
};

} // namespace hlo::schedule

#endif
