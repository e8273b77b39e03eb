//===- TextAttributes.cpp - Attributes that are kept as text --------------===//
//
// Replica groups, metadata, frontend attributes, origins and the like are fully
// checked here, but kept as the text that the printer writes back: one blank or
// comma where the format wants one, strings in double quotes, fields in XLA's
// order.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

bool hlo::parser::unescape(StringRef spelling, std::string &value) {
  StringRef body = spelling.drop_front().drop_back();
  value.clear();
  value.reserve(body.size());
  auto appendUtf8 = [&](uint32_t code) {
    if (code < 0x80) {
      value += char(code);
    } else if (code < 0x800) {
      value += {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
    } else if (code < 0x10000) {
      value += {char(0xE0 | code >> 12), char(0x80 | (code >> 6 & 0x3F)),
                char(0x80 | (code & 0x3F))};
    } else {
      value += {char(0xF0 | code >> 18), char(0x80 | (code >> 12 & 0x3F)),
                char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
    }
  };
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    if (++i == body.size()) {
      return false;
    }
    char c = body[i];
    static constexpr StringRef letters = "abfnrtv\\?'\"";
    static constexpr StringRef meanings = "\a\b\f\n\r\t\v\\?'\"";
    if (size_t at = letters.find(c); at != StringRef::npos) {
      value += meanings[at];
    } else if (c >= '0' && c <= '7') {
      size_t length = 1;
      while (length < 3 && i + length < body.size() && body[i + length] >= '0' &&
             body[i + length] <= '7') {
        ++length;
      }
      unsigned code;
      body.substr(i, length).getAsInteger(8, code);
      if (code > 255) {
        return false;
      }
      value += char(code);
      i += length - 1;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      size_t most = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      size_t length = 0;
      while (length < most && i + 1 + length < body.size() &&
             llvm::isHexDigit(body[i + 1 + length])) {
        ++length;
      }
      if (length == 0 || (c != 'x' && length != most)) {
        return false;
      }
      uint32_t code;
      body.substr(i + 1, length).getAsInteger(16, code);
      if (c == 'x') {
        value += char(code);
      } else if (code > 0x10FFFF) {
        return false;
      } else {
        appendUtf8(code);
      }
      i += length;
    } else {
      return false;
    }
  }
  return true;
}

std::string hlo::parser::quote(StringRef value) {
  std::string text = "\"";
  for (unsigned char c : value) {
    switch (c) {
    case '\n':
      text += "\\n";
      break;
    case '\r':
      text += "\\r";
      break;
    case '\t':
      text += "\\t";
      break;
    case '"':
      text += "\\\"";
      break;
    case '\'':
      text += "\\'";
      break;
    case '\\':
      text += "\\\\";
      break;
    default:
      if (c >= 32 && c < 127) {
        text += char(c);
      } else {
        text += {'\\', char('0' + (c >> 6)), char('0' + (c >> 3 & 7)), char('0' + (c & 7))};
      }
    }
  }
  return text + "\"";
}

std::string hlo::parser::joinIntegers(ArrayRef<int64_t> values, StringRef open, StringRef close) {
  std::string text = open.str();
  for (auto [i, value] : llvm::enumerate(values)) {
    text += (i ? "," : "") + std::to_string(value);
  }
  return text + close.str();
}

/// `[2,4]<=[8]` or `[2,4]<=[2,2,2]T(1,0,2)`, after the `<=`; counts the devices.
Parser::Result Parser::parseIota(std::string &text, int64_t &count) {
  const char *start = position();
  SmallVector<int64_t> dims, permutation;
  if (failed(parseIntegers(dims, Tok::LSquare, Tok::RSquare, "in a device list"))) {
    return failure();
  }
  count = 1;
  for (int64_t dim : dims) {
    if (dim <= 0 || llvm::MulOverflow(count, dim, count)) {
      return error(start) << "device list: bad dimension " << dim;
    }
  }
  text += joinIntegers(dims, "[", "]");
  if (!atWord("T")) {
    if (dims.size() != 1) {
      return error(start) << "a device list of " << dims.size()
                          << " dimensions needs a transposition T(...)";
    }
    return success();
  }
  const char *transposition = position();
  lexer.advance();
  if (dims.size() == 1) {
    return error(transposition) << "a device list of one dimension has no transposition";
  }
  if (failed(parseIntegers(permutation, Tok::LParen, Tok::RParen, "in a transposition"))) {
    return failure();
  }
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted)) {
    if (dim != int64_t(i) || sorted.size() != dims.size()) {
      return error(transposition) << "transposition is no permutation of " << dims.size()
                                  << " dimensions";
    }
  }
  text += joinIntegers(permutation, "T(", ")");
  return success();
}

Parser::Result Parser::parseReplicaGroups(std::string &text) {
  if (at(Tok::LBrace)) {
    return parseIntegerLists(text, /*pairs=*/false);
  }
  if (at(Tok::LSquare)) {
    const char *start = position();
    SmallVector<int64_t> groups;
    int64_t count, product;
    if (failed(parseIntegers(groups, Tok::LSquare, Tok::RSquare, "in replica groups"))) {
      return failure();
    }
    if (groups.size() != 2) {
      return error(start) << "replica groups have two dimensions, got " << groups.size();
    }
    text += joinIntegers(groups, "[", "]<=");
    if (failed(expect(Tok::LessEqual, "'<='", "in replica groups")) ||
        failed(parseIota(text, count))) {
      return failure();
    }
    if (llvm::MulOverflow(groups[0], groups[1], product) || product != count) {
      return error(start) << "replica groups: " << groups[0] << " groups of " << groups[1]
                          << " do not hold " << count << " devices";
    }
    return success();
  }
  if (atWord("mesh") || atWord("maximal_mesh")) {
    if (failed(parseMesh(text))) {
      return failure();
    }
    consumeIf(Tok::Comma);
    text += " ";
    return parseAxes(text, Tok::LBrace, Tok::RBrace, /*allowOpen=*/false);
  }
  return unexpected("replica groups");
}

Parser::Result Parser::parseIntegerLists(std::string &text, bool pairs) {
  if (failed(expect(Tok::LBrace, "'{'", "at the start of a list"))) {
    return failure();
  }
  text += "{";
  if (!at(Tok::RBrace)) {
    bool first = true;
    do {
      const char *start = position();
      SmallVector<int64_t> values;
      if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
        return failure();
      }
      if (pairs && values.size() != 2) {
        return error(start) << "a source and target pair has 2 entries, got " << values.size();
      }
      text += (first ? "" : ",") + joinIntegers(values, "{", "}");
      first = false;
    } while (consumeIf(Tok::Comma));
  }
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in a list");
}

Parser::Result Parser::parseShapeIndex(SmallVectorImpl<int64_t> &index) {
  return parseIntegers(index, Tok::LBrace, Tok::RBrace, "in a shape index");
}

/// `{ {0}: (1, {}), {1}: (0, {2}) }`
Parser::Result Parser::parseAliasing(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "at the start of the aliasing"))) {
    return failure();
  }
  text += "{";
  if (!at(Tok::RBrace)) {
    bool first = true;
    do {
      SmallVector<int64_t> output, operand;
      int64_t number;
      if (failed(parseShapeIndex(output)) || failed(expect(Tok::Colon, "':'", "in an alias")) ||
          failed(expect(Tok::LParen, "'('", "in an alias")) ||
          failed(parseInteger(number, "as an operand number")) ||
          failed(expect(Tok::Comma, "','", "in an alias")) || failed(parseShapeIndex(operand)) ||
          failed(expect(Tok::RParen, "')'", "in an alias"))) {
        return failure();
      }
      text += (first ? "" : ", ") + joinIntegers(output, "{", "}: (") + std::to_string(number) +
              ", " + joinIntegers(operand, "{", "})");
      first = false;
    } while (consumeIf(Tok::Comma));
  }
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in the aliasing");
}

Parser::Result Parser::parseDomain(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in domain"))) {
    return failure();
  }
  std::string kind, entrySharding, exitSharding;
  do {
    const char *start = position();
    if (consumeIfAttrName("kind")) {
      if (failed(parseString(kind, "in domain"))) {
        return failure();
      }
      if (kind != "sharding") {
        return error(start) << "unknown kind of domain '" << kind << "', only 'sharding' is known";
      }
    } else if (consumeIfAttrName("entry")) {
      entrySharding.clear();
      if (failed(parseSharding(entrySharding))) {
        return failure();
      }
    } else if (consumeIfAttrName("exit")) {
      exitSharding.clear();
      if (failed(parseSharding(exitSharding))) {
        return failure();
      }
    } else {
      return unexpected("kind=, entry= or exit=", "in domain");
    }
  } while (consumeIf(Tok::Comma));
  if (kind.empty() || entrySharding.empty() || exitSharding.empty()) {
    return error(position()) << "domain needs kind=, entry= and exit=";
  }
  text += "{kind=\"sharding\", entry=" + entrySharding + ", exit=" + exitSharding + "}";
  return expect(Tok::RBrace, "',' or '}'", "in domain");
}

/// `{lhs={sparsity=1x4 dimension=1 stride=1} rhs={...}}`
Parser::Result Parser::parseSparsity(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in sparsity_config"))) {
    return failure();
  }
  std::string sides[2];
  while (!at(Tok::RBrace)) {
    bool right = at(Tok::AttrName) && token().text == "rhs";
    if (!right && !(at(Tok::AttrName) && token().text == "lhs")) {
      return unexpected("lhs= or rhs=", "in sparsity_config");
    }
    const char *start = position();
    lexer.advance();
    if (!sides[right].empty()) {
      return error(start) << "sparsity_config: a side is given twice";
    }
    if (failed(expect(Tok::LBrace, "'{'", "in sparsity_config"))) {
      return failure();
    }
    std::map<StringRef, std::string> fields;
    while (!at(Tok::RBrace)) {
      StringRef field = at(Tok::AttrName) ? token().text : "";
      if (field != "sparsity" && field != "dimension" && field != "stride") {
        return unexpected("sparsity=, dimension= or stride=", "in sparsity_config");
      }
      const char *fieldAt = position();
      lexer.advance();
      if (!at(field == "sparsity" ? Tok::DxD : Tok::Int)) {
        return unexpected("a number", "in sparsity_config");
      }
      if (!fields.try_emplace(field, token().text.str()).second) {
        return error(fieldAt) << "sparsity_config: '" << field << "' is given twice";
      }
      lexer.advance();
    }
    lexer.advance();
    sides[right] = right ? "rhs={" : "lhs={";
    for (StringRef field : {"sparsity", "dimension", "stride"}) {
      if (auto it = fields.find(field); it != fields.end()) {
        sides[right] += (sides[right].back() == '{' ? "" : " ") + field.str() + "=" + it->second;
      }
    }
    sides[right] += "}";
  }
  lexer.advance();
  text += "{" + sides[0] + (sides[0].empty() || sides[1].empty() ? "" : " ") + sides[1] + "}";
  return success();
}

/// `{mode=highest}` or `{tolerance={atol=1,rtol=2,ulps=3}}`
Parser::Result Parser::parseAccuracy(std::string &text) {
  if (failed(expect(Tok::LBrace, "'{'", "in result_accuracy"))) {
    return failure();
  }
  if (consumeIfAttrName("mode")) {
    if (!at(Tok::Ident) ||
        (token().text.lower() != "highest" && token().text.lower() != "default")) {
      return unexpected("'highest' or 'default'", "as the mode of result_accuracy");
    }
    text += "{mode=" + token().text.lower() + "}";
    lexer.advance();
    return expect(Tok::RBrace, "'}'", "in result_accuracy");
  }
  if (!consumeIfAttrName("tolerance")) {
    return unexpected("mode= or tolerance=", "in result_accuracy");
  }
  if (failed(expect(Tok::LBrace, "'{'", "in result_accuracy"))) {
    return failure();
  }
  std::map<StringRef, std::string> fields;
  if (!at(Tok::RBrace)) {
    do {
      StringRef field = at(Tok::AttrName) ? token().text : "";
      if (field != "atol" && field != "rtol" && field != "ulps") {
        return unexpected("atol=, rtol= or ulps=", "in a tolerance");
      }
      const char *fieldAt = position();
      lexer.advance();
      StringRef spelling = token().text;
      double number;
      int64_t ulps;
      if (failed(field == "ulps" ? parseInteger(ulps, "as ulps")
                                 : parseNumber(number, "in a tolerance"))) {
        return failure();
      }
      if (!fields.try_emplace(field, spelling.str()).second) {
        return error(fieldAt) << "result_accuracy: '" << field << "' is given twice";
      }
    } while (consumeIf(Tok::Comma));
  }
  text += "{tolerance={";
  bool first = true;
  for (auto &[field, value] : fields) {
    text += (first ? "" : ",") + field.str() + "=" + value;
    first = false;
  }
  text += "}}";
  if (failed(expect(Tok::RBrace, "',' or '}'", "in a tolerance"))) {
    return failure();
  }
  return expect(Tok::RBrace, "'}'", "in result_accuracy");
}

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
      StringRef key = token().text;
      lexer.advance();
      std::string value;
      if (failed(parseDictOrString(value, "in frontend_attributes"))) {
        return failure();
      }
      entries[key] = std::move(value);
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
      "op_type",           "op_name",        "source_file",       "source_line",
      "source_end_line",   "source_column",  "source_end_column", "stack_frame_id",
      "profile_type",      "deduplicated_name", "scheduling_name", "metadata_payload"};
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
  if (!at(Tok::RBrace)) {
    do {
      if (!at(Tok::AttrName)) {
        return unexpected("'name='", "in statistics");
      }
      std::string name = first ? "visualizing_index" : token().text.str();
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
