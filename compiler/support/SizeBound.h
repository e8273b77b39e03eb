//===- SizeBound.h - Bounds of sizes that are given at run time -----------===//
#ifndef COMPILER_SUPPORT_SIZEBOUND_H
#define COMPILER_SUPPORT_SIZEBOUND_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace hlo {

/// One --bound flag: `b<=64`, the dimension of a parameter `x:0<=64`, or `all<=64` for every size
/// without a bound of its own.
struct SizeBound {
  std::string name; ///< "b", "x:0", "all"
  int64_t bound = 0;
};

/// Reads `NAME<=N`; returns what is wrong, or an empty string.
std::string parseSizeBound(llvm::StringRef text, SizeBound &bound);

} // namespace hlo

#endif
