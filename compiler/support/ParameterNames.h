//===- ParameterNames.h - Users' names of parameters ----------------------===//
//
// JAX names a parameter after its path in the arguments: every character that is not a letter or a
// digit becomes `_`, and a number is appended:
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

/// The path in JAX's name: "params/dense/kernel" for "params__dense____kernel__.1". A name without
/// `__` is a path of one step.
std::string jaxPath(llvm::StringRef name);

/// True if `pattern`, which contains a `/`, matches the path of `name` or a suffix of it that
/// starts at a step. `*`, `?` and `[...]` are those of a shell, but `*` also matches `/`.
bool matchesPath(llvm::StringRef pattern, llvm::StringRef name);

/// True if `pattern` contains `*`, `?` or `[` and matches `name` as a glob.
bool matchesGlob(llvm::StringRef pattern, llvm::StringRef name);

/// "x, y, z and 7 more": the first twenty of `names`.
std::string firstNames(llvm::ArrayRef<std::string> names);

} // namespace hlo

#endif
