//===- PrinterImpl.h - Text of types, literals and attributes -------------===//
#ifndef COMPILER_PARSER_PRINT_PRINTERIMPL_H
#define COMPILER_PARSER_PRINT_PRINTERIMPL_H

#include "dialect/hlo/Dialect.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace hlo::parser {

/// When a layout is printed.
enum class LayoutText { Always, IfPresent, Never };

/// The word of an element type, such as `f32` or `pred`.
std::string elementWord(mlir::Type element);
/// Prints a shape.
void printType(llvm::raw_ostream &os, mlir::Type type, LayoutText layout);
/// The text of a shape; with layouts if they are not the default, or if `alwaysLayout`.
std::string typeToText(mlir::Type type, bool alwaysLayout = false);
/// Prints a literal of the type; arrays with more than `maxElements` elements as `{...}`. 0: no
/// limit.
void printLiteral(llvm::raw_ostream &os, mlir::Type type, mlir::Attribute value,
                  uint64_t maxElements);
/// The literal in full.
std::string literalToText(mlir::Type type, mlir::Attribute value);
/// `{size=3x3 pad=1_1x1_1}`
std::string windowToText(WindowAttr window);
/// `b01f_01io->b01f`; unused positions below the ranks print as `?`.
std::string dimLabelsToText(ConvDimsAttr labels, int64_t inputRank, int64_t kernelRank,
                            int64_t outputRank);

} // namespace hlo::parser

#endif
