//===- Budget.cpp - The table of bounds -----------------------------------===//
#include "compiler/support/Budget.h"

using namespace hlo;

static constexpr BudgetFlag flags[] = {
    {"max-rank", &Budget::rank, "Dimensions of one array"},
    {"max-leaves", &Budget::leaves, "Arrays in one value, tuples flattened"},
    {"max-nesting", &Budget::nesting, "Levels of tuples in one value"},
    {"max-loop-nesting", &Budget::loopNesting, "Levels of loops and branches inside each other"},
    {"max-operands", &Budget::operands, "Operands of one instruction"},
    {"max-inlined", &Budget::inlined, "Instructions that inlining adds"},
    {"max-devices", &Budget::devices, "Devices in the replica groups of one instruction"},
    {"max-constant-bytes", &Budget::constantBytes,
     "Bytes of all constants whose elements the text does not spell out"},
    {"max-kernel-instructions", &Budget::kernelInstructions,
     "Instructions in the code of one kernel"},
};

llvm::ArrayRef<BudgetFlag> hlo::budgetFlags() { return flags; }

std::string Budget::text(uint64_t Budget::*bound) const {
  for (const BudgetFlag &flag : flags) {
    if (flag.bound == bound) {
      return kBoundMark.str() + std::to_string(this->*bound) + " (--" + flag.name.str() +
             " sets another)";
    }
  }
  return kBoundMark.str() + std::to_string(this->*bound);
}
