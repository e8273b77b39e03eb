//===- ReservedTargets.h - Names that no custom call may have -------------===//
#ifndef COMPILER_TARGET_RESERVEDTARGETS_H
#define COMPILER_TARGET_RESERVEDTARGETS_H

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Why a custom call target of this name is refused: "a function of the C library". Empty if it may
/// be called. `prefix` is that of the module's own symbols.
llvm::StringRef whyReserved(llvm::StringRef target, llvm::StringRef prefix);

/// Whether libhlo_lapack has a handler of this name; all of them are of the typed FFI.
bool isLapackTarget(llvm::StringRef target);

} // namespace hlo

#endif
