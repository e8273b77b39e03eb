//===- Targets.cpp - The machines that kernels are tested for -------------===//
//
// Levels of x86-64 from the host's own down to the baseline, so that each test
// covers the vector lengths and the masked and unmasked tails.
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/Targets.h"

#include "llvm/Support/Error.h"

namespace hlo::testing {

Target targetNamed(const char *cpu) {
  auto target = describeTarget(cpu);
  if (!target) {
    llvm::report_fatal_error(target.takeError());
  }
  return *target;
}

std::vector<Target> targets() {
  std::vector<Target> list{targetNamed("host")};
  if (list[0].avx512) {
    list.push_back(targetNamed("x86-64-v3"));
  }
  list.push_back(targetNamed("x86-64"));
  return list;
}

} // namespace hlo::testing
