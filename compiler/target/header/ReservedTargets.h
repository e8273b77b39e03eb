//===- ReservedTargets.h - Names that no custom call may have -------------===//
#ifndef COMPILER_TARGET_HEADER_RESERVEDTARGETS_H
#define COMPILER_TARGET_HEADER_RESERVEDTARGETS_H

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// The reason why a custom call target is refused: "a function of the C library"; empty if it may
/// be called. `prefix` is the prefix of the module's own symbols.
llvm::StringRef whyReserved(llvm::StringRef target, llvm::StringRef prefix);

/// True if libhlo_lapack has a handler with this name; all of them use the typed FFI.
bool isLapackTarget(llvm::StringRef target);

} // namespace hlo

#endif
