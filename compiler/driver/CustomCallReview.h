//===- CustomCallReview.h - Custom calls that the host must provide -------===//
#ifndef COMPILER_DRIVER_CUSTOMCALLREVIEW_H
#define COMPILER_DRIVER_CUSTOMCALLREVIEW_H

#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

/// Maps the name of a custom call's instruction to its line in the exported program ("train.py:12,
/// jit(step)/debug_callback"). Empty for texts without metadata.
using PythonLines = llvm::StringMap<std::string>;

/// Reads the metadata of all custom calls, which later phases drop.
PythonLines pythonLines(mlir::ModuleOp module);

/// Reports custom calls that the object will lack: a warning for each call back into Python, with
/// its line and how to avoid it, and a remark for each other target that this project does not
/// provide. Targets that match a name or glob in `allowed` are skipped. Returns a message if one of
/// these is malformed, else "".
std::string reviewCustomCalls(cpurt::EntryOp entry, const PythonLines &lines,
                              llvm::ArrayRef<std::string> allowed);

} // namespace hlo

#endif
