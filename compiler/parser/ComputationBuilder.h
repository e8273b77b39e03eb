//===- ComputationBuilder.h - A module instruction by instruction -*- C++ -*-===//
//
// What parseHlo does for a text, for one instruction at a time: operands are values, and attributes
// and shapes are in the text format's syntax. The same tables and rules apply.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_COMPUTATIONBUILDER_H
#define COMPILER_PARSER_COMPUTATIONBUILDER_H

#include "compiler/parser/Parser.h"
#include "mlir/IR/SymbolTable.h"
#include <memory>
#include <string>

namespace hlo {

namespace parser {
class Parser;
struct Instruction;
struct Scope;
} // namespace parser

/// The place in a program that an instruction comes from; no place if the line is 0.
struct CallerPlace {
  std::string file;
  unsigned line = 0;
};

/// An attribute in the text format's syntax.
struct TextAttribute {
  llvm::StringRef name;
  std::string value;
};

/// Builds a module whose entry is the computation in work.
///
/// Errors go to the context's diagnostic engine; functions then return a null value. Instructions
/// get `place` as their location. The module is not verified as a whole, but every instruction is.
class ComputationBuilder {
public:
  /// Loads the hlo dialect into `context`, which must outlive this. Names may be any text: they are
  /// made names of the format, and unique.
  ComputationBuilder(mlir::MLIRContext *context, llvm::StringRef name);
  ~ComputationBuilder();

  mlir::Value parameter(int64_t number, llvm::StringRef shape, llvm::StringRef name,
                        const CallerPlace &place);
  /// `bytes`: row-major and dense elements, a byte for each of a type of less.
  mlir::Value constant(llvm::StringRef shape, llvm::ArrayRef<char> bytes, llvm::StringRef name,
                       const CallerPlace &place);
  /// `shape`: empty if it is to be inferred.
  mlir::Value add(llvm::StringRef opcode, mlir::ValueRange operands, llvm::StringRef shape,
                  llvm::ArrayRef<TextAttribute> attributes, llvm::StringRef name,
                  const CallerPlace &place);
  /// Gives a value attributes that every opcode has: metadata, sharding, frontend_attributes, ...
  mlir::LogicalResult annotate(mlir::Value value, llvm::ArrayRef<TextAttribute> attributes);
  mlir::LogicalResult moduleAttribute(llvm::StringRef name, llvm::StringRef value,
                                      const CallerPlace &place);

  /// Copies all computations of a module text; returns its entry's name here, or "" after an error.
  std::string import(llvm::StringRef text);

  /// Ends the entry; the last call. `root`: null for the instruction that was added last.
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value root);

private:
  mlir::Location locate(llvm::StringRef name, const CallerPlace &place);
  /// Reads from `text` from now on, whose first character is the place of errors.
  void startText(llvm::StringRef text);
  /// Where each attribute ends in the text that is read.
  using AttributeList = llvm::SmallVector<size_t>;
  AttributeList startAttributes(llvm::ArrayRef<TextAttribute> attributes);
  mlir::LogicalResult parseAttributes(const AttributeList &ends, parser::Instruction &inst);
  bool parseWholeShape(llvm::StringRef shape, mlir::Type &type);
  std::string uniqueName(llvm::StringRef wanted, llvm::function_ref<bool(llvm::StringRef)> isTaken);
  std::string nameInstruction(llvm::StringRef wanted, llvm::StringRef opcode);
  mlir::Value enter(mlir::Value value, mlir::Location location);
  void enterSymbols();

  mlir::MLIRContext *context;
  std::string text; ///< of the call in work; the parser reads from it
  std::string entryName;
  llvm::StringMap<unsigned> stems; ///< how often a name was made unique by a number
  std::unique_ptr<parser::Scope> scope;
  std::unique_ptr<parser::Parser> parser;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<mlir::SymbolTable> symbols; ///< computations of `module` up to `lastSymbol`
  mlir::Operation *lastSymbol = nullptr;
};

} // namespace hlo

#endif
