//===- LlvmFlags.cpp - Takes LLVM's flags off a tool's command line -------===//
#include "tools/limits/LlvmFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

void hlo::tool::removeLlvmFlags() {
  constexpr StringLiteral kept[] = {
      "h", "help", "help-hidden", "help-list", "help-list-hidden", "version"};
  // An option may have several names, and removing it changes the map.
  SmallSetVector<cl::Option *, 0> others;
  for (auto [name, option] : cl::getRegisteredOptions()) {
    if (!is_contained(kept, name)) {
      others.insert(option);
    }
  }
  for (cl::Option *option : others) {
    option->removeArgument();
  }
}
