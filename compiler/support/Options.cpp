//===- Options.cpp - Names of the phases ----------------------------------===//
//
// The one table from phases to their names, used by --compile-to, --list-phases,
// --time-report and the files of --dump-dir.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Options.h"

using namespace llvm;

static constexpr StringRef names[] = {"parse", "partition", "canonicalize", "layout", "fuse",
                                      "plan",  "emit",      "optimize",     "package"};

ArrayRef<StringRef> hlo::phaseNames() { return names; }

std::optional<hlo::Phase> hlo::parsePhase(StringRef name) {
  for (size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) {
      return static_cast<Phase>(i);
    }
  }
  return std::nullopt;
}
