//===- AttributeText.h - Attributes that every opcode has, from text ------===//
#ifndef COMPILER_PARSER_ATTRIBUTETEXT_H
#define COMPILER_PARSER_ATTRIBUTETEXT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace hlo {

/// The normalized text of a common attribute (sharding, frontend_attributes, backend_config, ...),
/// as parseHlo keeps it. A syntax error is reported at `loc`.
mlir::FailureOr<mlir::StringAttr> parseCommonAttribute(llvm::StringRef name, llvm::StringRef text,
                                                       mlir::Location loc);

/// `text` in double quotes, escaped as the format prints it.
std::string quotedText(llvm::StringRef text);

/// `stem` made a name of the format: other characters become `_`.
std::string identifierText(llvm::StringRef stem);

} // namespace hlo

#endif
