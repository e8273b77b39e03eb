//===- BudgetOptions.h - The flags of the compiler's bounds ---------------===//
//
// One --max-... flag for each bound of compiler/support/Budget.h, shared by all tools that compile.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_LIMITS_BUDGETOPTIONS_H
#define TOOLS_LIMITS_BUDGETOPTIONS_H

#include "compiler/support/Budget.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <vector>

namespace hlo::tool {

/// The flags. They exist only while the command line is read.
class BudgetOptions {
public:
  explicit BudgetOptions(llvm::cl::OptionCategory &category) {
    Budget defaults;
    for (const BudgetFlag &flag : budgetFlags()) {
      help.push_back(std::make_unique<std::string>(
          flag.help.str() + " (default: " + std::to_string(defaults.*flag.bound) + ")"));
      options.push_back(std::make_unique<llvm::cl::opt<uint64_t>>(
          llvm::StringRef(flag.name), llvm::cl::init(defaults.*flag.bound),
          llvm::cl::value_desc("n"), llvm::cl::desc(*help.back()), llvm::cl::cat(category)));
    }
  }

  /// Applies the given bounds to `budget`.
  void apply(Budget &budget) const {
    for (auto [flag, option] : llvm::zip(budgetFlags(), options)) {
      if (option->getNumOccurrences()) {
        budget.*flag.bound = *option;
      }
    }
  }

private:
  std::vector<std::unique_ptr<std::string>> help;
  std::vector<std::unique_ptr<llvm::cl::opt<uint64_t>>> options;
};

} // namespace hlo::tool

#endif
