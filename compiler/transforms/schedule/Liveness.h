//===- Liveness.h - From uses to live ranges ------------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_LIVENESS_H
#define COMPILER_TRANSFORMS_SCHEDULE_LIVENESS_H

#include "compiler/transforms/schedule/Plan.h"

namespace hlo::schedule {

/// Collects the uses of values while a plan is built, then computes their ranges.
class Liveness {
public:
  explicit Liveness(Plan &plan) : plan(plan) {}

  /// Records that the value's bytes are needed in `sequence` up to, but not including, point `end`.
  void addUse(ValueId value, SequenceId sequence, uint32_t end) {
    uses.push_back({value, sequence, end});
  }
  /// Computes each value's range from its scopes and uses.
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
