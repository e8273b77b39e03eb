//===- AttributeText.cpp - Attributes that every opcode has, from text ----===//
//
// For front ends that are no HLO text but carry attributes in its syntax, such as the strings of
// `mhlo.sharding`. The same productions read them, so that the same texts are accepted.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/AttributeText.h"
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

FailureOr<StringAttr> Parser::parseCommonAttributeText(StringRef name) {
  Scope scope(UnknownLoc::get(context));
  Instruction inst;
  inst.info = opcodes.find("parameter");
  inst.opcode = inst.info->name;
  if (failed(parseCommonAttribute(scope, inst, name, position()))) {
    return failure();
  }
  if (!at(Tok::Eof)) {
    (void)unexpected("the end", "after the value");
    return failure();
  }
  return cast<StringAttr>(inst.common.begin()->getValue());
}

FailureOr<StringAttr> hlo::parseCommonAttribute(StringRef name, StringRef text, Location loc) {
  MLIRContext *context = loc.getContext();
  std::string message;
  FailureOr<StringAttr> value = failure();
  {
    // The parser's places are in `text`, which the user did not write as a file.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      message = message.empty() ? diagnostic.str() : message;
      return success();
    });
    value = Parser(text, "", context, ParseOptions()).parseCommonAttributeText(name);
  }
  if (failed(value)) {
    return emitError(loc) << name << ": " << message;
  }
  return value;
}

std::string hlo::quotedText(StringRef text) { return quote(text); }

std::string hlo::identifierText(StringRef stem) {
  std::string name;
  for (char c : stem) {
    name += isIdentifierChar(c) && c != ':' ? c : '_';
  }
  if (name.empty() || !isIdentifierStart(name.front())) {
    name.insert(0, 1, '_');
  }
  // "__" begins names of the format's own.
  while (StringRef(name).starts_with("__")) {
    name.erase(0, 1);
  }
  return isReservedWord(name) || isPrimitiveWord(name) ? name + "_" : name;
}
