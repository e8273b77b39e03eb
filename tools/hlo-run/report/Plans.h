//===- Plans.h - Candidates of kernels, modelled and measured -------------===//
#ifndef TOOLS_HLO_RUN_REPORT_PLANS_H
#define TOOLS_HLO_RUN_REPORT_PLANS_H

#include "compiler/support/KernelPlan.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::run {

/// A kernel's plan, and nanoseconds of a call for each candidate; NaN: not measured.
struct MeasuredPlan {
  KernelPlan plan;
  std::vector<double> nanoseconds;
};

/// Cycles of this processor in a nanosecond, now: of a chain of additions, one cycle each.
double measureClock();

/// A table of modelled and measured cycles, for each kernel that has candidates.
void printMeasured(llvm::raw_ostream &os, llvm::ArrayRef<MeasuredPlan> plans, double clock);
/// The same, or without measurements if `clock` is 0.
llvm::json::Object plansJson(llvm::ArrayRef<MeasuredPlan> plans, double clock);

} // namespace hlo::run

#endif
