//===- ffi.cpp - Attributes of typed custom calls -------------------------===//
//
// In: bytes as the backend_config of a custom call. What is accepted becomes constants of a module
// of LLVM, which must verify.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/FfiAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "test/fuzz/targets/FreshContext.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  // MLIR's own parser recurses without a bound.
  if (text.count('(') + text.count('{') + text.count('[') + text.count('<') > 500) {
    return -1;
  }
  mlir::MLIRContext &context = freshContext<>();
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    ++errors;
    return mlir::success();
  });
  llvm::LLVMContext llvmContext;
  llvm::Module module("fuzz", llvmContext);
  hlo::StaticData constants(module);
  auto made = hlo::makeFfiAttributes(text, mlir::UnknownLoc::get(&context), constants, module);
  if (failed(made) ? !errors : llvm::verifyModule(module)) {
    std::abort(); // refused without an error, or a module that is none
  }
  return 0;
}
