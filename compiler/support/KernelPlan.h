//===- KernelPlan.h - The ways to make a kernel, and which is taken -------===//
#ifndef COMPILER_SUPPORT_KERNELPLAN_H
#define COMPILER_SUPPORT_KERNELPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hlo {

/// One way to make a kernel.
struct PlanCandidate {
  std::string name;
  std::string sizes; ///< of tiles, pieces and copies, for people
  double cycles = 0; ///< of all its tasks on one core, by machine/Costs.h
};

/// The choice among the ways to make one kernel. A strategy with a single way leaves `candidates`
/// empty.
struct KernelChoice {
  std::string forced; ///< name of the candidate to take; empty: the strategy's own choice
  std::vector<PlanCandidate> candidates; ///< set by the strategy, as is
  size_t chosen = 0;                     ///< an index of them
};

/// The choice for a kernel of a compiled module.
struct KernelPlan {
  std::string kernel, strategy;
  std::vector<PlanCandidate> candidates;
  size_t chosen = 0;
  std::optional<uint32_t> operation; ///< its row in a profile; none in a loop of scalars
};

/// A candidate that a kernel shall use.
struct PlanRequest {
  std::string kernel, candidate;
};

/// "KERNEL:CANDIDATE"; nothing if the text has not that form.
std::optional<PlanRequest> parsePlanRequest(llvm::StringRef text);

/// Why the requests cannot be obeyed by kernels of these plans; empty if they can.
std::string checkPlanRequests(llvm::ArrayRef<PlanRequest> requests,
                              llvm::ArrayRef<KernelPlan> plans);

/// The plans as text: for each kernel its candidates, the chosen one marked by a star.
std::string printPlans(llvm::ArrayRef<KernelPlan> plans);

} // namespace hlo

#endif
