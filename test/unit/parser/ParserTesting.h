//===- ParserTesting.h - Parsing texts and collecting diagnostics ---------===//
#ifndef TEST_UNIT_PARSER_PARSERTESTING_H
#define TEST_UNIT_PARSER_PARSERTESTING_H

#include "compiler/parser/Parser.h"
#include "compiler/parser/Printer.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

/// A context, and the diagnostics of what was parsed in it, each as
/// `line:column: text`; notes begin with `note: `.
class ParseFixture {
public:
  ParseFixture()
      : context(mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          messages.push_back(render(diagnostic));
          for (mlir::Diagnostic &note : diagnostic.getNotes()) {
            messages.push_back("note: " + render(note));
          }
        }) {}

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text, unsigned errorLimit = 20) {
    hlo::ParseOptions options;
    options.errorLimit = errorLimit;
    return hlo::parseHlo(text, "test.hlo", &context, options);
  }

  /// The text of the parsed module, or "" after an error.
  std::string print(llvm::StringRef text) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(text);
    return module ? print(*module) : std::string();
  }

  static std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    hlo::printHlo(module, os);
    return text;
  }

  /// The MLIR of a module without locations, to compare structures.
  static std::string structure(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os, mlir::OpPrintingFlags().printGenericOpForm().useLocalScope());
    return text;
  }

  mlir::MLIRContext context;
  std::vector<std::string> messages;

private:
  static std::string render(mlir::Diagnostic &diagnostic) {
    mlir::Location location = diagnostic.getLocation();
    while (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) {
      location = name.getChildLoc();
    }
    std::string place;
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(location)) {
      place = std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn()) + ": ";
    }
    return place + diagnostic.str();
  }

  mlir::ScopedDiagnosticHandler handler;
};

/// `body` inside an entry computation that has some operands: x, y f32[4],
/// z f32[], i s32[], m f32[2,2]; and the computations neg, add.
inline std::string inEntry(llvm::StringRef body) {
  return ("HloModule m\n"
          "neg { v = f32[4] parameter(0) ROOT n = f32[4] negate(v) }\n"
          "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
          "ENTRY e {\n"
          "  x = f32[4] parameter(0)\n"
          "  y = f32[4] parameter(1)\n"
          "  z = f32[] parameter(2)\n"
          "  i = s32[] parameter(3)\n"
          "  m = f32[2,2] parameter(4)\n" +
          body + "\n}\n")
      .str();
}

#endif
