//===- TextAttributes.cpp - Attributes that are kept as text --------------===//
//
// Replica groups, aliasings, domains and the like. They are fully checked here, but kept as the
// text that the printer writes back: one blank or comma where the format requires one, strings in
// double quotes, fields in XLA's order.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include <map>

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Parser::Result Parser::checkDevices(const char *at, uint64_t devices) {
  if (devices <= budget.devices) {
    return success();
  }
  return error(at) << devices << " devices; " << budget.text(&Budget::devices);
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
  if (failed(checkDevices(start, count))) {
    return failure();
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
    uint64_t count = 0;
    do {
      const char *start = position();
      SmallVector<int64_t> values;
      if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
        return failure();
      }
      count += values.size();
      if (failed(checkDevices(start, pairs ? count / 2 : count))) {
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
    auto isGiven = [&](StringRef name, const std::string &value) {
      if (!value.empty()) {
        error(start) << name << " of domain is given twice";
      }
      return !value.empty();
    };
    if (consumeIfAttrName("kind")) {
      if (isGiven("kind", kind) || failed(parseString(kind, "in domain"))) {
        return failure();
      }
      if (kind != "sharding") {
        return error(start) << "unknown kind of domain '" << kind << "', only 'sharding' is known";
      }
    } else if (consumeIfAttrName("entry")) {
      if (isGiven("entry", entrySharding) || failed(parseSharding(entrySharding))) {
        return failure();
      }
    } else if (consumeIfAttrName("exit")) {
      if (isGiven("exit", exitSharding) || failed(parseSharding(exitSharding))) {
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
      const char *numberAt = position();
      StringRef spelling = token().text;
      double number;
      int64_t ulps;
      if (failed(field == "ulps" ? parseInteger(ulps, "as ulps")
                                 : parseNumber(number, "in a tolerance"))) {
        return failure();
      }
      if (spelling.starts_with("-")) {
        return error(numberAt) << "result_accuracy: " << field << " is " << spelling
                               << ", must not be negative";
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
