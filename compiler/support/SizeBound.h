//===- SizeBound.h - What the user says of sizes given at run time --------===//
#ifndef COMPILER_SUPPORT_SIZEBOUND_H
#define COMPILER_SUPPORT_SIZEBOUND_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace hlo {

/// One --bound flag: `b<=64`, the dimension of a parameter `x:0<=64`, or `all<=64` for every size
/// without a bound of its own.
struct SizeBound {
  std::string name; ///< "b", "x:0", "all"
  int64_t bound = 0;
};

/// Sizes of one version of the program, as --specialize lists them: `b=1`, `x:0=8`.
using SpecialSizes = std::vector<std::string>;

/// Reads lists of `NAME=N` with colons between them, and commas between lists: `b=1:s=128,b=8`;
/// returns what is wrong, or an empty string.
std::string parseSpecialSizes(llvm::StringRef text, std::vector<SpecialSizes> &lists);

/// Reads `NAME<=N`; returns what is wrong, or an empty string.
std::string parseSizeBound(llvm::StringRef text, SizeBound &bound);

} // namespace hlo

#endif
