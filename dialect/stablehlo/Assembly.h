//===- Assembly.h - Parts of ops' assembly --------------------------------===//
//
// The `custom<...>` parts of the ops' formats: each a parser and a printer of one name.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_ASSEMBLY_H
#define DIALECT_STABLEHLO_ASSEMBLY_H

#include "dialect/stablehlo/Dialect.h"

namespace stablehlo {

using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::Type;

//===----------------------------------------------------------------------===//
// Types. One type stands for all where all are equal, else there is a function type.
//===----------------------------------------------------------------------===//

ParseResult parseOneTypeForAll(OpAsmParser &parser, llvm::ArrayRef<Type *> types);
void printOneTypeForAll(OpAsmPrinter &printer, Operation *op);

template <typename... Types>
ParseResult parseSameOperandsAndResultType(OpAsmParser &parser, Types &...types) {
  return parseOneTypeForAll(parser, {&types...});
}
template <typename... Types>
void printSameOperandsAndResultType(OpAsmPrinter &printer, Operation *op, Types...) {
  printOneTypeForAll(printer, op);
}
ParseResult parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    llvm::SmallVectorImpl<Type> &types, Type &result);
void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *op,
                                            mlir::OperandRange operands, mlir::TypeRange types,
                                            Type result);

/// `tensor<4xcomplex<f32>>` for two tensor<4xf32>.
ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);

/// `tensor<i1>, tensor<4xf32>`: the predicate's type, and that of all others.
ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                              Type &result);
void printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse,
                       Type result);

/// The tuple's type alone.
ParseResult parseTupleOpType(OpAsmParser &parser, llvm::SmallVectorImpl<Type> &operands,
                             Type &result);
void printTupleOpType(OpAsmPrinter &printer, Operation *op, mlir::TypeRange operands, Type result);

/// The operands' types, which are also the results'.
ParseResult parsePairwiseOpType(OpAsmParser &parser, llvm::SmallVectorImpl<Type> &operands,
                                llvm::SmallVectorImpl<Type> &results);
void printPairwiseOpType(OpAsmPrinter &printer, Operation *op, mlir::TypeRange operands,
                         mlir::TypeRange results);

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// `%a, %b, ` in front of a keyword.
ParseResult
parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                  llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *op,
                                       mlir::OperandRange operands);

/// `[1, 2]`
ParseResult parseIntegers(AsmParser &parser, llvm::SmallVectorImpl<int64_t> &values);

/// `[0:4, 0:8:2]`
ParseResult parseSliceRanges(OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                             mlir::DenseI64ArrayAttr &limits, mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op, llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides);

/// The word of an enum, without the space that its attribute prints in front.
template <typename EnumAttrT> ParseResult parseEnumWord(AsmParser &parser, EnumAttrT &attribute) {
  attribute = llvm::dyn_cast_if_present<EnumAttrT>(EnumAttrT::parse(parser, {}));
  return mlir::success(attribute != nullptr);
}
template <typename EnumAttrT>
void printEnumWord(AsmPrinter &printer, Operation *op, EnumAttrT attribute) {
  printer << stringifyEnum(attribute.getValue());
}

/// `e8m7`
ParseResult parseExponentMantissa(AsmParser &parser, mlir::IntegerAttr &exponent,
                                  mlir::IntegerAttr &mantissa);
void printExponentMantissa(AsmPrinter &printer, Operation *op, mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);

/// `@name`
ParseResult parseCustomCallTarget(AsmParser &parser, mlir::StringAttr &target);
void printCustomCallTarget(AsmPrinter &printer, Operation *op, mlir::StringAttr target);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
ParseResult parseDotDimensionNumbers(AsmParser &parser, DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(AsmPrinter &printer, Operation *op, DotDimensionNumbersAttr numbers);

/// `, precision = [DEFAULT, DEFAULT], algorithm = <...>`, each part where it is given.
ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, mlir::ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                      mlir::ArrayAttr precision, DotAlgorithmAttr algorithm);
ParseResult parsePrecisionConfig(OpAsmParser &parser, mlir::ArrayAttr &precision);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *op, mlir::ArrayAttr precision);

/// `[b, 0, f]x[0, i, o]->[b, 0, f]`
ParseResult parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(AsmPrinter &printer, Operation *op,
                                ConvDimensionNumbersAttr numbers);

/// `stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1]`
ParseResult parseWindowAttributes(OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                                  mlir::DenseIntElementsAttr &padding,
                                  mlir::DenseI64ArrayAttr &lhsDilation,
                                  mlir::DenseI64ArrayAttr &rhsDilation,
                                  mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *op, mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);

//===----------------------------------------------------------------------===//
// Whole ops, and parts that chlo and sdy share
//===----------------------------------------------------------------------===//

/// `dense<1> : tensor<4xi32>` after the attributes; the generic form if the result has another type
/// than the value, as with quantized types.
ParseResult parseConstant(OpAsmParser &parser, mlir::OperationState &result);
void printConstant(OpAsmPrinter &printer, Operation *op, mlir::ElementsAttr value);

/// A list or a number in an attribute of the form `<name = [1, 2], other = 3>`, whose parts may be
/// in any order or absent.
struct NumbersField {
  llvm::StringRef name;
  llvm::SmallVector<int64_t> *list = nullptr;
  int64_t *number = nullptr;
};
/// Parses from behind `<` to `>`.
ParseResult parseNumbers(AsmParser &parser, llvm::ArrayRef<NumbersField> fields);

/// Prints `<...>` without lists that are empty and numbers that are 0.
class NumbersPrinter {
public:
  explicit NumbersPrinter(AsmPrinter &printer) : printer(printer) { printer << '<'; }
  ~NumbersPrinter() { printer << '>'; }
  NumbersPrinter &list(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  NumbersPrinter &number(llvm::StringRef name, int64_t value);

private:
  AsmPrinter &printer;
  bool first = true;
  void start(llvm::StringRef name);
};

} // namespace stablehlo

#endif
