//===- CustomCallHeader.h - What a module asks of its custom calls --------===//
#ifndef COMPILER_TARGET_CUSTOMCALLHEADER_H
#define COMPILER_TARGET_CUSTOMCALLHEADER_H

#include "dialect/cpurt/Dialect.h"
#include <string>

namespace hlo {

/// One line for each target and api version: "TARGET API_VERSION", sorted by name.
std::string listCustomCalls(cpurt::EntryOp entry);

/// A C header with the prototypes of all targets, each under the types that it is called with.
/// `prefix` is that of the module's symbols.
std::string makeCustomCallHeader(cpurt::EntryOp entry, llvm::StringRef prefix);

} // namespace hlo

#endif
