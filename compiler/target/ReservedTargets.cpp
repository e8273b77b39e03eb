//===- ReservedTargets.cpp - Names that no custom call may have -----------===//
//
// An object refers to its custom call targets by weak symbols: a module with the target `system`
// would run a shell command in every program that links it. A model is data: it may only name
// functions that the program offers to it. Refused are functions of the C library, of C++'s
// run-time support and of libhlo_rt, entry points of compiled modules, and LLVM intrinsics, which
// are not functions.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/ReservedTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// What the C library exports, sorted.
static constexpr StringRef kLibcNames[] = {
#include "compiler/target/LibcNames.inc"
};

/// True for "m_run_buffers" and "m_run_buffers_0123456789abcdef".
static bool isEntryPoint(StringRef name) {
  constexpr size_t hashDigits = 16;
  if (name.size() > hashDigits + 1 && name[name.size() - hashDigits - 1] == '_' &&
      all_of(name.take_back(hashDigits),
             [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); })) {
    name = name.drop_back(hashDigits + 1);
  }
  return name.ends_with("_run_buffers") || name.ends_with("_prepare_buffers");
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
  if (target.starts_with("_Z") || target.starts_with("__cxa_") || target.starts_with("_Unwind_")) {
    return "a name of C++'s run-time support";
  }
  return std::binary_search(std::begin(kLibcNames), std::end(kLibcNames), target)
             ? "a function of the C library"
             : "";
}

bool hlo::isLapackTarget(StringRef target) {
  return (target.starts_with("lapack_") && target.ends_with("_ffi")) ||
         target == "tridiagonal_solve_perturbed_ffi";
}
