//===- ModulePrinter.h - The printer's state ------------------------------===//
//
// One class for one module; its member functions are spread over Printer.cpp
// (module, names), PrintComputations.cpp and PrintAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_PRINT_MODULEPRINTER_H
#define COMPILER_PARSER_PRINT_MODULEPRINTER_H

#include "compiler/parser/Opcodes.h"
#include "compiler/parser/Printer.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hlo::parser {

/// The instruction name in a location; empty if there is none.
llvm::StringRef nameOf(mlir::Location location);
/// `name`, or `fallback` if it is empty, with only identifier characters.
std::string identifier(llvm::StringRef name, llvm::StringRef fallback);
/// The single type, or a tuple of the types.
mlir::Type tupleOf(mlir::TypeRange types, mlir::MLIRContext *context);

/// Prints one module.
class ModulePrinter {
public:
  ModulePrinter(mlir::ModuleOp module, llvm::raw_ostream &os, const PrintOptions &options)
      : module(module), os(os), options(options), context(module.getContext()),
        opcodes(module.getContext()) {}

  void print();

private:
  /// The printed names of one computation.
  struct Names {
    llvm::DenseMap<mlir::Value, std::string> values;
    llvm::StringSet<> taken;
    /// Maps instruction names of the text to printed names.
    llvm::StringMap<std::string> printed;
  };

  void collect();
  std::vector<ComputationOp> calleesFirst();
  void printHeader();
  void printComputation(ComputationOp computation);
  void printBody(llvm::StringRef name, mlir::Block &block, bool isEntry, bool packParameters,
                 mlir::ArrayAttr argumentAttributes, llvm::StringRef thread);
  void printFusedRegions(mlir::Block &block);
  void printOp(mlir::Operation *op, Names &names, bool isRoot);
  void printOperands(mlir::Operation *op, Names &names, const OpcodeInfo &info);
  std::string packOperands(mlir::ValueRange operands, Names &names, llvm::StringRef stem);
  void printAttributes(mlir::Operation *op, const OpcodeInfo &info);
  void printAttribute(mlir::Operation *op, const AttrSpec &spec);
  void printCommon(mlir::DictionaryAttr attributes, Names &names);
  void printDims(mlir::DenseI64ArrayAttr dims, llvm::StringRef open = "{",
                 llvm::StringRef close = "}");
  void printRef(mlir::Attribute ref);
  std::string unique(Names &names, llvm::StringRef wanted, llvm::StringRef fallback);
  std::string uniqueComputation(llvm::StringRef wanted);
  mlir::Operation *wrappedOp(AsyncStartOp start) const;

  mlir::ModuleOp module;
  llvm::raw_ostream &os;
  const PrintOptions &options;
  mlir::MLIRContext *context;
  OpcodeTable opcodes;
  llvm::StringMap<ComputationOp> computations;
  llvm::StringSet<> computationNames;
  /// Computations wrapped by an async start that prints in the sugar form.
  llvm::DenseSet<mlir::Operation *> hidden;
  /// Computations whose flattened values print as one tuple parameter and one tuple result.
  llvm::StringSet<> packed;
  llvm::DenseMap<mlir::Operation *, std::string> fusedNames;
};

} // namespace hlo::parser

#endif
