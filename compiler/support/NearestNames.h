//===- NearestNames.h - Which known names a wrong one is near to ----------===//
#ifndef COMPILER_SUPPORT_NEARESTNAMES_H
#define COMPILER_SUPPORT_NEARESTNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace hlo {

/// Up to three of `known` that are spelled most like `name`, as in "; did you mean 'a', 'b'?"
/// (empty if nothing is near).
std::string nearestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace hlo

#endif
