//===- CustomCallReview.h - Custom calls that the host must provide -------===//
#ifndef COMPILER_DRIVER_CUSTOMCALLREVIEW_H
#define COMPILER_DRIVER_CUSTOMCALLREVIEW_H

#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

/// The line of the program that was exported ("train.py:12, jit(step)/debug_callback"), by the
/// name of the custom call's instruction. Empty for texts printed without metadata.
using PythonLines = llvm::StringMap<std::string>;

/// Reads the metadata of all custom calls: later phases drop it.
PythonLines pythonLines(mlir::ModuleOp module);

/// Says which custom calls of the planned program the object will lack: a warning for each call
/// back into Python, with its line and the way out, and a remark for each other target that this
/// project does not provide. Targets that match one of `allowed`, names or globs, are passed over.
/// Returns a message if one of these is malformed, else "".
std::string reviewCustomCalls(cpurt::EntryOp entry, const PythonLines &lines,
                              llvm::ArrayRef<std::string> allowed);

} // namespace hlo

#endif
