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

std::optional<Target> withTiles(const Target &target) {
  if (!target.machine.vectors.hasPredicates()) {
    return std::nullopt;
  }
  Target tiles = target;
  tiles.features += ",+amx-bf16,+amx-int8";
  tiles.machine.products =
      llvm::cantFail(describeTarget(target.cpu, tiles.features)).machine.products;
  return tiles;
}

Target withFreeTiles(Target target) {
  static Tiles free;
  // Beside them, multiply-adds of vectors take long, on a machine of any speed.
  target.machine.issue.fma /= 16;
  for (Product &product : target.machine.products) {
    if (product.tiles) {
      free = *product.tiles;
      free.startCycles = free.latency = 0;
      product.tiles = &free;
      product.cost = 0.01;
    }
  }
  return target;
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
