//===- CommonAttributes.cpp - Attributes that every instruction may have -===//
//
// Metadata, frontend attributes, origins, statistics, backend configurations. They are checked, and
// kept as the text that the printer writes back, with fields in XLA's order.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include <map>

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

/// A raw `{...}` or a string. A string that is itself a balanced dictionary is
/// written raw.
Parser::Result Parser::parseDictOrString(std::string &text, StringRef what) {
  if (at(Tok::LBrace)) {
    StringRef raw;
    if (!lexer.takeRawBraces(raw)) {
      return error(position()) << "no '}' matches this '{' of " << what;
    }
    text += raw;
    return success();
  }
  std::string value;
  if (!at(Tok::String)) {
    return unexpected("a string or '{'", what);
  }
  if (failed(parseString(value, what))) {
    return failure();
  }
  if (!value.empty() && value.front() == '{' && value.find('\0') == std::string::npos) {
    Lexer inner(value);
    StringRef raw;
    if (inner.takeRawBraces(raw) && raw.size() == value.size()) {
      text += value;
      return success();
    }
  }
  text += quote(value);
  return success();
}

Parser::Result Parser::parseFrontendAttributes(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in frontend_attributes"))) {
    return failure();
  }
  std::map<StringRef, std::string> entries;
  if (!at(Tok::RBrace)) {
    do {
      if (!at(Tok::AttrName)) {
        return unexpected("'key='", "in frontend_attributes");
      }
      const char *keyAt = position();
      StringRef key = token().text;
      lexer.advance();
      std::string value;
      if (failed(parseDictOrString(value, "in frontend_attributes"))) {
        return failure();
      }
      if (!entries.try_emplace(key, std::move(value)).second) {
        return error(keyAt) << "frontend attribute '" << key << "' is given twice";
      }
    } while (consumeIf(Tok::Comma));
  }
  text += "{";
  bool first = true;
  for (auto &[key, value] : entries) {
    text += (first ? "" : ",") + key.str() + "=" + value;
    first = false;
  }
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in frontend_attributes");
}

Parser::Result Parser::parseMetadata(std::string &text) {
  static constexpr StringRef fields[] = {
      "op_type",         "op_name",           "source_file",       "source_line",
      "source_end_line", "source_column",     "source_end_column", "stack_frame_id",
      "profile_type",    "deduplicated_name", "scheduling_name",   "metadata_payload"};
  std::string values[std::size(fields)];
  if (failed(expect(Tok::LBrace, "'{'", "in metadata"))) {
    return failure();
  }
  while (!at(Tok::RBrace)) {
    if (!at(Tok::AttrName)) {
      return unexpected("'field='", "in metadata");
    }
    const char *start = position();
    StringRef field = token().text;
    const auto *found = llvm::find(fields, field);
    if (found == std::end(fields)) {
      NearestName nearest(field);
      llvm::for_each(fields, [&](StringRef known) { nearest.consider(known); });
      return error(start) << "metadata has no field '" << field << "'" << nearest.suggestion();
    }
    lexer.advance();
    std::string &value = values[found - fields];
    if (!value.empty()) {
      return error(start) << "metadata field '" << field << "' is given twice";
    }
    if (field == "profile_type") {
      SmallVector<int64_t> types;
      const char *typesAt = position();
      if (failed(parseIntegers(types, Tok::LBrace, Tok::RBrace, "in profile_type"))) {
        return failure();
      }
      for (int64_t type : types) {
        if (type < 0 || type > 3) {
          return error(typesAt) << "profile_type " << type << " is not in [0, 3]";
        }
      }
      value = joinIntegers(types, "{", "}");
    } else if (field.ends_with("line") || field.ends_with("column") || field.ends_with("_id")) {
      int64_t number;
      if (failed(parseInteger(number, "in metadata"))) {
        return failure();
      }
      value = std::to_string(number);
    } else {
      std::string string;
      if (failed(parseString(string, "in metadata"))) {
        return failure();
      }
      value = quote(string);
    }
    if (consumeIf(Tok::Comma) && at(Tok::RBrace)) {
      return unexpected("'field='", "after ',' in metadata");
    }
  }
  lexer.advance();
  text += "{";
  bool first = true;
  for (auto [field, value] : llvm::zip(fields, values)) {
    if (!value.empty()) {
      text += (first ? "" : " ") + field.str() + "=" + value;
      first = false;
    }
  }
  text += "}";
  return success();
}

Parser::Result Parser::parseOrigin(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in origin"))) {
    return failure();
  }
  text += "{";
  if (at(Tok::RBrace)) {
    text += "()";
  } else if (consumeIf(Tok::LSquare)) {
    if (!atWord("synthetic_call")) {
      return unexpected("'synthetic_call'", "in origin");
    }
    lexer.advance();
    text += "[synthetic_call]";
    if (failed(expect(Tok::RSquare, "']'", "in origin"))) {
      return failure();
    }
  } else if (failed(parseOriginTree(text))) {
    return failure();
  }
  text += "}";
  return expect(Tok::RBrace, "'}'", "in origin");
}

Parser::Result Parser::parseOriginTree(std::string &text) {
  if (!at(Tok::LParen)) {
    return parseOriginLeaf(text);
  }
  if (failed(enter(position()))) {
    return failure();
  }
  DepthGuard guard(depth);
  lexer.advance();
  text += "(";
  if (!at(Tok::RParen)) {
    bool first = true;
    do {
      text += first ? "" : ", ";
      first = false;
      if (failed(parseOriginTree(text))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  text += ")";
  return expect(Tok::RParen, "',' or ')'", "in origin");
}

/// `{}`, `{"name"}` or `{"name" {1,0}}`
Parser::Result Parser::parseOriginLeaf(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{' or '('", "in origin"))) {
    return failure();
  }
  text += "{";
  if (at(Tok::String)) {
    std::string name;
    if (failed(parseString(name, "in origin"))) {
      return failure();
    }
    text += quote(name);
    if (at(Tok::LBrace)) {
      SmallVector<int64_t> index;
      if (failed(parseShapeIndex(index))) {
        return failure();
      }
      if (!index.empty()) {
        text += joinIntegers(index, " {", "}");
      }
    }
  }
  text += "}";
  return expect(Tok::RBrace, "'}'", "in origin");
}

Parser::Result Parser::parseStatistics(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in statistics"))) {
    return failure();
  }
  text += "{";
  bool first = true;
  llvm::StringSet<> names;
  if (!at(Tok::RBrace)) {
    do {
      if (!at(Tok::AttrName)) {
        return unexpected("'name='", "in statistics");
      }
      std::string name = token().text.str();
      if (!names.insert(name).second) {
        return error(position()) << "statistic '" << name << "' is given twice";
      }
      lexer.advance();
      StringRef spelling = token().text;
      int64_t index;
      double number;
      if (failed(first ? parseInteger(index, "in statistics")
                       : parseNumber(number, "in statistics"))) {
        return failure();
      }
      text += (first ? "" : ",") + name + "=" + spelling.str();
      first = false;
    } while (consumeIf(Tok::Comma));
  }
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in statistics");
}

Parser::Result Parser::parseBooleanList(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "at the start of a list"))) {
    return failure();
  }
  text += "{";
  if (!at(Tok::RBrace)) {
    bool first = true;
    do {
      bool value;
      if (failed(parseBoolean(value, "in a list"))) {
        return failure();
      }
      text += std::string(first ? "" : ",") + (value ? "true" : "false");
      first = false;
    } while (consumeIf(Tok::Comma));
  }
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in a list");
}
