//===- Opcodes.h - The table of opcodes and their attributes --------------===//
//
// What the text format knows of each opcode: operand counts, attributes, and how the written result
// shape is treated. Shared by parser and printer.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_OPCODES_H
#define COMPILER_PARSER_OPCODES_H

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace hlo::parser {

/// The syntax of an attribute's value and the MLIR attribute that it becomes. Unless noted, the
/// attribute keeps its name.
enum class AttrKind : uint8_t {
  Integer,        ///< I64Attr
  Boolean,        ///< BoolAttr
  Float,          ///< F64Attr
  String,         ///< StrAttr, unescaped
  Word,           ///< one of `words`, exactly
  LowerWord,      ///< one of `words` in any case, kept in lower case
  UpperWord,      ///< one of `words` in any case, kept in upper case
  IgnoredWord,    ///< any word; dropped
  Dims,           ///< `{1,2}`: DenseI64ArrayAttr
  OneDim,         ///< `dimensions={1}`: I64Attr `dimension`
  Computation,    ///< FlatSymbolRefAttr
  Computations,   ///< `{f, g}`: ArrayAttr of FlatSymbolRefAttr
  OneComputation, ///< custom-call `to_apply=f`: `called_computations = [f]`
  TrueBranch,     ///< element 0 of `branch_computations`
  FalseBranch,    ///< element 1 of `branch_computations`
  ReplicaGroups,  ///< text
  Pairs,          ///< `{{0,1},{1,0}}`, text
  IntLists,       ///< `{{0,1,2},{1}}`, text
  Aliasing,       ///< `{{0}: (1, {})}`, text
  Window,         ///< WindowAttr
  WindowText,     ///< text
  DimLabels,      ///< ConvDimsAttr
  DimLabelsText,  ///< text
  Padding,        ///< `padding_low`, `padding_high`, `padding_interior`
  Slice,          ///< `start_indices`, `limit_indices`, `strides`
  Precision,      ///< `{default,high}`: StrArrayAttr
  Shape,          ///< TypeAttr
  Shapes,         ///< `{f32[2], f32[]}`: ArrayAttr of TypeAttr
  Literal,        ///< typed literal, text
  Domain,         ///< text
  Sparsity,       ///< text
  Accuracy,       ///< result_accuracy, text
};

/// One attribute of an opcode.
struct AttrSpec {
  llvm::StringLiteral name;
  AttrKind kind;
  bool required = false;
  /// For the Word kinds: the choices, separated by blanks.
  llvm::StringLiteral words = "";
};

/// How the parser treats the result shape.
enum class ShapeRule : uint8_t {
  Written,  ///< must be written
  Inferred, ///< may be left out
};

/// One opcode.
struct OpcodeInfo {
  llvm::StringLiteral name;
  int minOperands;
  /// -1: any number.
  int maxOperands;
  ShapeRule shape;
  llvm::ArrayRef<AttrSpec> attributes;

  bool mayOmitShape() const { return shape == ShapeRule::Inferred; }
};

/// All opcodes, in alphabetical order.
llvm::ArrayRef<OpcodeInfo> getOpcodes();

/// The part of an asynchronous chain: `X-start`, `X-update` or `X-done`.
enum class AsyncPart : uint8_t { None, Start, Update, Done };

/// Finds opcodes by name. Built once per parse or print.
class OpcodeTable {
public:
  explicit OpcodeTable(mlir::MLIRContext *context);

  /// The opcode with this name, or null.
  const OpcodeInfo *find(llvm::StringRef opcode) const;
  /// The opcode of an op, or null if the op has none.
  const OpcodeInfo *findOp(mlir::OperationName op) const;
  /// The op of an opcode.
  mlir::OperationName getOpName(const OpcodeInfo &info) const;
  /// Splits `X-start`, `X-update` and `X-done` if X may be wrapped.
  const OpcodeInfo *findAsync(llvm::StringRef opcode, AsyncPart &part) const;

private:
  llvm::StringMap<unsigned> indices;
  llvm::DenseMap<mlir::OperationName, unsigned> ops;
  std::vector<mlir::OperationName> opNames;
};

/// True if every opcode accepts this attribute.
bool isCommonAttribute(llvm::StringRef name);
/// The attributes that every opcode accepts, in printing order.
llvm::ArrayRef<llvm::StringLiteral> getCommonAttributes();

} // namespace hlo::parser

#endif
