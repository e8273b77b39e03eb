//===- Targets.cpp - The machines that kernels are tested for -------------===//
//
// Levels of x86-64 from the host's own down to the baseline, so that each test
// covers the vector lengths and the masked and unmasked tails.
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

namespace hlo::testing {

Target withFastPairs(Target target) {
  for (Product &product : target.machine.products) {
    if (product.operand == kBf16 && !product.tiles) {
      product.cost = 1;
    }
  }
  return target;
}

bool hasPairs(const Target &target) {
  return llvm::any_of(target.machine.products, [](const Product &product) {
    return product.operand == kBf16 && !product.tiles;
  });
}

Target targetNamed(const char *cpu) {
  auto target = describeTarget(cpu);
  if (!target) {
    llvm::report_fatal_error(target.takeError());
  }
  return *target;
}

std::vector<Target> targets() {
  std::vector<Target> list{targetNamed("host")};
  if (list[0].machine.vectors.hasPredicates()) {
    list.push_back(targetNamed("x86-64-v3"));
  }
  list.push_back(targetNamed("x86-64"));
  return list;
}

} // namespace hlo::testing
