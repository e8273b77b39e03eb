//===- CustomCallHeader.h - Custom call targets and their C header --------===//
#ifndef COMPILER_TARGET_HEADER_CUSTOMCALLHEADER_H
#define COMPILER_TARGET_HEADER_CUSTOMCALLHEADER_H

#include "dialect/cpurt/Dialect.h"
#include <string>

namespace hlo {

/// One line per target and api version: "TARGET API_VERSION", sorted by name.
std::string listCustomCalls(cpurt::EntryOp entry);

/// A C header with the prototypes of all targets, each below the types of its calls. `prefix` is
/// the prefix of the module's symbols.
std::string makeCustomCallHeader(cpurt::EntryOp entry, llvm::StringRef prefix);

} // namespace hlo

#endif
