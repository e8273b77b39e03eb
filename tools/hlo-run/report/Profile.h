//===- Profile.h - Where the time of runs goes ----------------------------===//
#ifndef TOOLS_HLO_RUN_REPORT_PROFILE_H
#define TOOLS_HLO_RUN_REPORT_PROFILE_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <hlo/rt.h>
#include <vector>

namespace hlo::run {

/// Cost of a module's operations in some runs.
struct Profile {
  std::vector<hlo_profile> operations; ///< hlo_call.profile; empty: not requested
  double seconds = 0;                  ///< of all runs together, measured by the caller
  uint64_t runs = 0;
};

/// Prints a table sorted by time, with totals.
void printProfile(llvm::raw_ostream &os, const hlo_module_desc &desc, const Profile &profile);
/// The same with one object per executed operation.
llvm::json::Object profileJson(const hlo_module_desc &desc, const Profile &profile);

} // namespace hlo::run

#endif
