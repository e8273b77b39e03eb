//===- CustomCalls.h - Handlers of custom calls from libraries ------------===//
#ifndef TOOLS_HLO_RUN_CUSTOMCALLS_H
#define TOOLS_HLO_RUN_CUSTOMCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <hlo/rt.h>
#include <string>
#include <vector>

namespace hlo::run {

/// The table of handlers for a module.
class CustomCalls {
public:
  /// Loads the libraries, and libhlo_lapack if the module needs it and it was built, and looks up
  /// every target of the module in them. Targets that none defines are left out; hlo_check reports
  /// them.
  static llvm::Expected<CustomCalls> load(const hlo_module_desc &desc,
                                          llvm::ArrayRef<std::string> libraries);

  /// The table for hlo_call.custom_calls, for any number of ranks; lives as long as this.
  const hlo_custom_calls *table() const { return &calls; }

private:
  std::vector<hlo_custom_call> entries;
  hlo_custom_calls calls = {};
};

} // namespace hlo::run

#endif
