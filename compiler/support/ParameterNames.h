//===- ParameterNames.h - The names under which users know parameters -----===//
//
// JAX names a parameter after its place in the arguments, with all but letters and digits made `_`
// and a number appended:
//
//   variables['params']['dense']['kernel']   variables__params____dense____kernel__.1
//
// Users write the name without the number, or the path: params/dense/kernel.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_PARAMETERNAMES_H
#define COMPILER_SUPPORT_PARAMETERNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace hlo {

/// `name` without the number that JAX and XLA append to make names unique: "x.1" -> "x".
llvm::StringRef withoutNumber(llvm::StringRef name);

/// The path that JAX's name stands for: "params/dense/kernel" for "params__dense____kernel__.1".
/// A name without `__` is a path of one step.
std::string jaxPath(llvm::StringRef name);

/// True if `pattern`, with a `/` in it, matches the path of `name` or the end of that path from any
/// step on; `*`, `?` and `[...]` as in a shell, `*` across steps too.
bool matchesPath(llvm::StringRef pattern, llvm::StringRef name);

/// True if `pattern` is a glob that matches `name`; a pattern without `*`, `?` or `[` is none.
bool matchesGlob(llvm::StringRef pattern, llvm::StringRef name);

/// "x, y, z and 7 more": the first twenty of `names`.
std::string firstNames(llvm::ArrayRef<std::string> names);

} // namespace hlo

#endif
