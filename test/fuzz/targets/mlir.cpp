//===- mlir.cpp - MLIR as --start-from reads it ---------------------------===//
//
// In: bytes as a file of MLIR with ops of hlo and cpurt. What is accepted is printed as MLIR.
//
//===----------------------------------------------------------------------===//
#include "dialect/cpurt/Dialect.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/verify/VerifyModule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "test/fuzz/targets/FreshContext.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Of the nesting of MLIR's own parser nothing is known here: it recurses without a bound.
  // A file in memory ends with a zero, and MLIR's parser reads it.
  std::string text(reinterpret_cast<const char *>(data), size);
  llvm::StringRef view = text;
  if (view.count('(') + view.count('{') + view.count('[') + view.count('<') > 500) {
    return -1;
  }
  mlir::MLIRContext &context =
      freshContext<hlo::HloDialect, hlo::cpurt::CpurtDialect, mlir::LLVM::LLVMDialect>();
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [](mlir::Diagnostic &) { return mlir::success(); });
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), "fuzz.mlir");
  if (module && succeeded(hlo::verifyModule(*module))) {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    module->print(os);
  }
  return 0;
}
