//===- ReservedTargets.cpp - Names that no custom call may have -----------===//
//
// An object refers to its custom call targets by weak symbols: a module with the target `system`
// would run a shell command in every program that links it. A model is data: it may only name
// functions that the program offers to it. Refused are functions of the C library and of libhlo_rt,
// entry points of compiled modules, LLVM intrinsics, which are not functions, and names that C
// reserves for the implementation: compilers' and sanitizers' support, mangled names of C++.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/ReservedTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// What the C library exports, and what every program has besides, sorted.
static constexpr StringRef kLibcNames[] = {
#include "compiler/target/header/LibcNames.inc"
};

/// True for "m_run_buffers", "m_run_buffers_0123456789abcdef" and "m_describe_0123456789abcdef".
/// A handler may well be called "x_describe".
static bool isEntryPoint(StringRef name) {
  constexpr size_t hashDigits = 16;
  bool hashed = name.size() > hashDigits + 1 && name[name.size() - hashDigits - 1] == '_' &&
                all_of(name.take_back(hashDigits),
                       [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); });
  if (hashed) {
    name = name.drop_back(hashDigits + 1);
  }
  return name.ends_with("_run_buffers") || name.ends_with("_prepare_buffers") ||
         (hashed && name.ends_with("_describe"));
}

/// True for names that C reserves: "__x", "_X", and prefixes of the C library. XLA's own targets
/// ("__cublas$gemm") have a '$'.
static bool isOfImplementation(StringRef name) {
  if (name.starts_with("_dl_") || name.starts_with("_nl_")) {
    return true;
  }
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || isUpper(name[1])) &&
         !name.contains('$');
}

StringRef hlo::whyReserved(StringRef target, StringRef prefix) {
  if (target.starts_with("llvm.")) {
    return "an intrinsic of LLVM";
  }
  if (target.starts_with("hlo_")) {
    return "reserved for the runtime";
  }
  if (isEntryPoint(target) || target == (prefix + "_describe").str()) {
    return "an entry point of a compiled module";
  }
  if (isOfImplementation(target)) {
    return "a name that C reserves for compilers and their libraries";
  }
  return std::binary_search(std::begin(kLibcNames), std::end(kLibcNames), target)
             ? "a function of the C library"
             : "";
}

bool hlo::isLapackTarget(StringRef target) {
  return (target.starts_with("lapack_") && target.ends_with("_ffi")) ||
         target == "tridiagonal_solve_perturbed_ffi";
}
