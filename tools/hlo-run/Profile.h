//===- Profile.h - Where the time of runs goes ----------------------------===//
#ifndef TOOLS_HLO_RUN_PROFILE_H
#define TOOLS_HLO_RUN_PROFILE_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <hlo/rt.h>
#include <vector>

namespace hlo::run {

/// What the operations of a module have cost in some runs.
struct Profile {
  std::vector<hlo_profile> operations; ///< hlo_call.profile; empty: not wanted
  double seconds = 0;                  ///< of all runs together, as seen from outside
  uint64_t runs = 0;
};

/// A table sorted by time, with sums.
void printProfile(llvm::raw_ostream &os, const hlo_module_desc &desc, const Profile &profile);
/// The same with one object for each operation that was executed.
llvm::json::Object profileJson(const hlo_module_desc &desc, const Profile &profile);

} // namespace hlo::run

#endif
