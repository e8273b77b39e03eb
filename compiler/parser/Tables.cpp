//===- Tables.cpp - Tables of a module that are kept as text -------------===//
//
// Stack frames, the recovery table of origins, debug attributes. They are checked, and kept in the
// form in which they are printed.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

/// `{ {"old" {0}} : {"new"}, "HloModule r ..." {"a"} : {"b"} }`
Parser::Result Parser::parseRecoveryTable(std::string &text) {
  StringRef where = "in origin_recovery_table";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  text += "{";
  while (!at(Tok::RBrace)) {
    text += " ";
    if (failed(parseOriginLeaf(text)) || failed(expect(Tok::Colon, "':'", where))) {
      return failure();
    }
    text += " : ";
    if (failed(parseOriginLeaf(text))) {
      return failure();
    }
    if (consumeIf(Tok::Comma)) {
      std::string recovery;
      if (failed(parseString(recovery, where))) {
        return failure();
      }
      text += ", " + quote(recovery);
    }
  }
  lexer.advance();
  text += " }";
  return success();
}

/// `{ {"inst" {0}}:({log_mode=default,op_id=1}), ... }`
Parser::Result Parser::parseDebugAttributes(std::string &text) {
  StringRef where = "in debug_attributes";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  text += "{";
  bool firstEntry = true;
  while (!at(Tok::RBrace)) {
    if (!firstEntry && failed(expect(Tok::Comma, "',' or '}'", where))) {
      return failure();
    }
    text += firstEntry ? "" : ",";
    firstEntry = false;
    if (failed(parseOriginLeaf(text)) || failed(expect(Tok::Colon, "':'", where)) ||
        failed(expect(Tok::LParen, "'('", where))) {
      return failure();
    }
    text += ":(";
    bool firstGroup = true;
    while (!at(Tok::RParen)) {
      if (!firstGroup && failed(expect(Tok::Comma, "',' or ')'", where))) {
        return failure();
      }
      text += firstGroup ? "{" : ",{";
      firstGroup = false;
      if (failed(expect(Tok::LBrace, "'{'", where))) {
        return failure();
      }
      bool firstField = true;
      while (!at(Tok::RBrace)) {
        if (!firstField && failed(expect(Tok::Comma, "',' or '}'", where))) {
          return failure();
        }
        StringRef field = at(Tok::AttrName) ? token().text : "";
        text += (firstField ? "" : ",") + field.str() + "=";
        firstField = false;
        if (field == "log_mode") {
          lexer.advance();
          if (!atWord("default") && !atWord("fusion_debugger")) {
            return unexpected("default or fusion_debugger", "as log_mode");
          }
          text += token().text;
          lexer.advance();
        } else if (field == "partitioned") {
          lexer.advance();
          bool value;
          if (failed(parseBoolean(value, where))) {
            return failure();
          }
          text += value ? "true" : "false";
        } else if (field == "callback_id" || field == "op_id") {
          lexer.advance();
          int64_t value;
          if (failed(parseInteger(value, where))) {
            return failure();
          }
          text += std::to_string(value);
        } else {
          return unexpected("log_mode=, callback_id=, partitioned= or op_id=", where);
        }
      }
      lexer.advance();
      text += "}";
    }
    lexer.advance();
    text += ")";
  }
  lexer.advance();
  text += "}";
  return success();
}

Parser::Result Parser::parseStackTables(ModuleOp module) {
  static constexpr StringRef locationFields[] = {"file_name_id", "function_name_id", "line",
                                                 "end_line",     "column",           "end_column"};
  static constexpr StringRef frameFields[] = {"file_location_id", "parent_frame_id"};
  std::string text;
  for (StringRef section : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (!consumeIfKeyword(section)) {
      return unexpected(section, "in the stack frame tables");
    }
    text += (text.empty() ? "" : "\n") + section.str() + "\n";
    int64_t number = 0;
    while (at(Tok::Int)) {
      lexer.advance();
      text += std::to_string(++number) + " ";
      if (section == "FileNames" || section == "FunctionNames") {
        std::string name;
        if (failed(parseString(name, "in the stack frame tables"))) {
          return failure();
        }
        text += quote(name);
      } else if (failed(parseStackEntry(text, section == "StackFrames"
                                                  ? ArrayRef<StringRef>(frameFields)
                                                  : ArrayRef<StringRef>(locationFields)))) {
        return failure();
      }
      text += "\n";
    }
  }
  module->setAttr("hlo.stack_frames", builder.getStringAttr(text));
  return success();
}

/// `{file_location_id=1 parent_frame_id=2}`: all fields, in any order.
Parser::Result Parser::parseStackEntry(std::string &text, ArrayRef<StringRef> fields) {
  SmallVector<std::optional<int64_t>> values(fields.size());
  if (failed(expect(Tok::LBrace, "'{'", "in the stack frame tables"))) {
    return failure();
  }
  while (!at(Tok::RBrace)) {
    const auto *field = at(Tok::AttrName) ? llvm::find(fields, token().text) : fields.end();
    if (field == fields.end()) {
      return unexpected("one of " + llvm::join(fields, "=, ") + "=", "in the stack frame tables");
    }
    lexer.advance();
    int64_t value;
    if (failed(parseInteger(value, "in the stack frame tables"))) {
      return failure();
    }
    values[field - fields.begin()] = value;
    consumeIf(Tok::Comma);
  }
  text += "{";
  for (auto [field, value] : llvm::zip(fields, values)) {
    if (!value) {
      return error(position()) << "the entry has no " << field << "=";
    }
    text += (text.back() == '{' ? "" : " ") + field.str() + "=" + std::to_string(*value);
  }
  text += "}";
  lexer.advance();
  return success();
}
