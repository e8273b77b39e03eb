//===- KernelPlan.cpp - Requests for plans, and plans as text -------------===//
#include "compiler/support/KernelPlan.h"
#include "compiler/support/NearestNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace hlo {

std::optional<PlanRequest> parsePlanRequest(StringRef text) {
  auto [kernel, candidate] = text.rsplit(':');
  if (kernel.empty() || candidate.empty()) {
    return std::nullopt;
  }
  return PlanRequest{kernel.str(), candidate.str()};
}

/// "a, b, c"; of many the first few, and how many there are.
static std::string listed(ArrayRef<StringRef> names) {
  constexpr size_t kShown = 20;
  std::string text = join(names.take_front(kShown), ", ");
  return names.size() > kShown ? text + ", ... (" + std::to_string(names.size()) + ")" : text;
}

std::string checkPlanRequests(ArrayRef<PlanRequest> requests, ArrayRef<KernelPlan> plans) {
  for (const PlanRequest &request : requests) {
    std::string flag = "--plan=" + request.kernel + ":" + request.candidate + ": ";
    const KernelPlan *plan =
        find_if(plans, [&](const KernelPlan &p) { return p.kernel == request.kernel; });
    if (plan == plans.end()) {
      SmallVector<StringRef> names;
      for (const KernelPlan &known : plans) {
        names.push_back(known.kernel);
      }
      std::string known = names.empty() ? "it has none" : "its kernels are " + listed(names);
      return flag + "the module has no kernel '" + request.kernel + "'; " + known +
             nearestNames(request.kernel, names);
    }
    if (plan->candidates.empty()) {
      return flag + "kernels of strategy '" + plan->strategy + "' have no candidates";
    }
    SmallVector<StringRef> names;
    for (const PlanCandidate &candidate : plan->candidates) {
      names.push_back(candidate.name);
    }
    if (!is_contained(names, request.candidate)) {
      return flag + "the kernel has no candidate '" + request.candidate + "'; its candidates are " +
             listed(names);
    }
  }
  return "";
}

std::string printPlans(ArrayRef<KernelPlan> plans) {
  std::string text;
  raw_string_ostream out(text);
  for (const KernelPlan &plan : plans) {
    out << plan.kernel << " (" << plan.strategy << ")";
    if (plan.candidates.empty()) {
      out << ": no candidates\n";
      continue;
    }
    out << "\n        cycles  candidate\n";
    for (auto [i, candidate] : enumerate(plan.candidates)) {
      out << formatv("{0} {1,12:f0}  ", i == plan.chosen ? "*" : " ", candidate.cycles);
      out << (candidate.sizes.empty()
                  ? candidate.name
                  : formatv("{0,-20} {1}", candidate.name, candidate.sizes).str())
          << "\n";
    }
  }
  return text;
}

} // namespace hlo
