//===- Plans.cpp - Candidates of kernels, modelled and measured -----------===//
//
// In: the plans of a module's kernels, and times of their candidates. Out: tables and JSON. The
// model counts cycles and clocks measure nanoseconds, so the frequency is measured beside them.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/report/Plans.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace hlo::run;

double hlo::run::measureClock() {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 20, kSteps = 100000, kAdditions = 8;
  double best = 1e300;
  uint64_t sum = 1, step = 3;
  for (int round = 0; round < kRounds; ++round) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < kSteps; ++i) {
      for (int j = 0; j < kAdditions; ++j) {
        sum += step;
        asm volatile("" : "+r"(sum), "+r"(step)); // neither folded nor vectorized
      }
    }
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return kSteps * kAdditions / best;
}

void hlo::run::printMeasured(raw_ostream &os, ArrayRef<MeasuredPlan> plans, double clock) {
  os << "measured at " << format("%.2f", clock) << " cycles a nanosecond\n";
  for (const MeasuredPlan &measured : plans) {
    const KernelPlan &plan = measured.plan;
    os << plan.kernel << " (" << plan.strategy << ")";
    if (plan.candidates.empty()) {
      os << ": no candidates\n";
      continue;
    }
    os << "\n      modelled     measured  candidate\n";
    for (auto [i, candidate] : enumerate(plan.candidates)) {
      double ns = measured.nanoseconds[i];
      os << (i == plan.chosen ? "* " : "  ") << format("%12.0f ", candidate.cycles);
      if (std::isnan(ns)) {
        os << format("%12s", "-");
      } else {
        os << format("%12.0f", ns * clock);
      }
      os << "  " << format("%-20s ", candidate.name.c_str()) << candidate.sizes << "\n";
    }
  }
}

json::Object hlo::run::plansJson(ArrayRef<MeasuredPlan> plans, double clock) {
  json::Array kernels;
  for (const MeasuredPlan &measured : plans) {
    const KernelPlan &plan = measured.plan;
    json::Array candidates;
    for (auto [i, candidate] : enumerate(plan.candidates)) {
      json::Object one{{"name", candidate.name},
                       {"sizes", candidate.sizes},
                       {"modelled_cycles", candidate.cycles}};
      if (clock > 0 && !std::isnan(measured.nanoseconds[i])) {
        one["measured_ns"] = measured.nanoseconds[i];
        one["measured_cycles"] = measured.nanoseconds[i] * clock;
      }
      candidates.push_back(std::move(one));
    }
    json::Object kernel{{"kernel", plan.kernel},
                        {"strategy", plan.strategy},
                        {"candidates", std::move(candidates)}};
    if (!plan.candidates.empty()) {
      kernel["chosen"] = plan.candidates[plan.chosen].name;
    }
    kernels.push_back(std::move(kernel));
  }
  json::Object result{{"plans", std::move(kernels)}};
  if (clock > 0) {
    result["cycles_per_ns"] = clock;
  }
  return result;
}
