//===- parse.cpp - HLO text: lexer, parser, verifier, printer -------------===//
//
// In: bytes as a file of HLO. What is accepted is printed, read and printed again: the two prints
// must be equal.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Parser.h"
#include "compiler/parser/Printer.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/verify/VerifyModule.h"
#include "mlir/IR/Diagnostics.h"
#include "test/fuzz/targets/FreshContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>

namespace {
mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text, mlir::MLIRContext &context) {
  mlir::OwningOpRef<mlir::ModuleOp> module = hlo::parseHlo(text, "fuzz.hlo", &context);
  if (module && failed(hlo::verifyModule(*module))) {
    return {};
  }
  return module;
}

void print(mlir::ModuleOp module, std::string &text) {
  llvm::raw_string_ostream os(text);
  hlo::printHlo(module, os);
}

void require(bool condition, const char *what, llvm::StringRef first, llvm::StringRef second) {
  if (!condition) {
    std::fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, first.str().c_str(),
                 second.str().c_str());
    std::abort();
  }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext &context = freshContext<>();
  unsigned errors = 0;
  std::string last;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    last = diagnostic.str();
    return mlir::success();
  });
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(text, context);
  require(module || errors, "refused without an error", text, "");
  if (!module) {
    return 0;
  }
  std::string first, second;
  print(*module, first);
  mlir::OwningOpRef<mlir::ModuleOp> again = parse(first, context);
  // Tuples whose shapes are left out may be nested deeper than a written shape (--max-nesting).
  if (!again && llvm::StringRef(last).contains("nested deeper than 500 levels")) {
    return 0;
  }
  require(static_cast<bool>(again), "the printed text is refused", first, last);
  print(*again, second);
  require(first == second, "printed, read and printed again it is another text", first, second);
  return 0;
}
