//===- CustomCalls.h - Handlers of custom calls from libraries ------------===//
#ifndef TOOLS_HLO_RUN_CUSTOMCALLS_H
#define TOOLS_HLO_RUN_CUSTOMCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <hlo/rt.h>
#include <string>
#include <vector>

namespace hlo::run {

/// The table of handlers that a module calls.
class CustomCalls {
public:
  /// Loads the libraries, and libhlo_lapack where the module needs it and it was built, and looks
  /// up every target of the module in them. Targets that none has are left out: hlo_check names
  /// them.
  static llvm::Expected<CustomCalls> load(const hlo_module_desc &desc,
                                          llvm::ArrayRef<std::string> libraries);

  /// For hlo_call.custom_calls, of any number of ranks; lives as long as this.
  const hlo_custom_calls *table() const { return &calls; }

private:
  std::vector<hlo_custom_call> entries;
  hlo_custom_calls calls = {};
};

} // namespace hlo::run

#endif
