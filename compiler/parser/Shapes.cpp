//===- Shapes.cpp - Shapes and layouts ------------------------------------===//
//
// Parses `f32[2,<=3]{1,0:T(8,128)}` into a tensor type, tuples into tuple types. The default layout
// of a static array leaves no encoding. Array shapes repeat often, so they are first looked up by
// their spelling.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/Shapes.h"
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
constexpr int64_t maxTupleElements = int64_t(1) << 24;
} // namespace

bool hlo::parser::areCompatible(Type a, Type b) {
  if (a == b) {
    return true;
  }
  if (auto tupleA = llvm::dyn_cast<TupleType>(a)) {
    auto tupleB = llvm::dyn_cast<TupleType>(b);
    return tupleB && tupleA.size() == tupleB.size() &&
           llvm::all_of(llvm::zip(tupleA.getTypes(), tupleB.getTypes()), [](auto pair) {
             return areCompatible(std::get<0>(pair), std::get<1>(pair));
           });
  }
  if (auto bufferA = llvm::dyn_cast<BufferType>(a)) {
    auto bufferB = llvm::dyn_cast<BufferType>(b);
    return bufferB && areCompatible(bufferA.getArray(), bufferB.getArray());
  }
  auto arrayA = llvm::dyn_cast<RankedTensorType>(a);
  auto arrayB = llvm::dyn_cast<RankedTensorType>(b);
  if (!arrayA || !arrayB || arrayA.getElementType() != arrayB.getElementType() ||
      arrayA.getRank() != arrayB.getRank()) {
    return false;
  }
  for (auto [x, y] : llvm::zip(arrayA.getShape(), arrayB.getShape())) {
    if (x != y && !ShapedType::isDynamic(x) && !ShapedType::isDynamic(y)) {
      return false;
    }
  }
  return true;
}

RankedTensorType hlo::parser::dropEncoding(RankedTensorType type) {
  return type.getEncoding() ? RankedTensorType::get(type.getShape(), type.getElementType()) : type;
}

bool Parser::atShape() const {
  return at(Tok::Primitive) || at(Tok::LParen) ||
         (at(Tok::Ident) && token().text == "b" && lexer.peekChar() == '(');
}

Parser::Result Parser::parseShape(Type &type) {
  if (at(Tok::Primitive)) {
    return parseArrayShape(type);
  }
  if (at(Tok::Ident) && token().text == "b" && lexer.peekChar() == '(') {
    lexer.advance();
    lexer.advance();
    const char *start = position();
    if (!at(Tok::Primitive)) {
      return unexpected("an array shape", "in a buffer shape");
    }
    if (failed(parseArrayShape(type))) {
      return failure();
    }
    if (!llvm::isa<RankedTensorType>(type)) {
      return error(start) << "a buffer must hold an array";
    }
    type = BufferType::get(context, type);
    return expect(Tok::RParen, "')'", "after a buffer's array");
  }
  if (!at(Tok::LParen)) {
    return unexpected("a shape");
  }
  if (failed(enter(position()))) {
    return failure();
  }
  DepthGuard guard(depth);
  lexer.advance();
  SmallVector<Type> elements;
  if (!at(Tok::RParen)) {
    do {
      if (failed(parseShape(elements.emplace_back()))) {
        return failure();
      }
      if (int64_t(elements.size()) > maxTupleElements) {
        return error(position()) << "a tuple of more than " << maxTupleElements << " elements";
      }
    } while (consumeIf(Tok::Comma));
  }
  type = TupleType::get(context, elements);
  return expect(Tok::RParen, "',' or ')'", "in a tuple shape");
}

Parser::Result Parser::parsePrimitive(Type &element, StringRef &word) {
  word = token().text;
  element = primitiveType(word, context);
  lexer.advance();
  return success();
}

Parser::Result Parser::parseArrayShape(Type &type) {
  const char *start = position();
  Type element;
  StringRef word;
  (void)parsePrimitive(element, word);
  if (!at(Tok::LSquare)) {
    return unexpected("'['", "after an element type");
  }

  // Shapes of the form `word[1,2]{1,0}`, without blanks or nested brackets, are cached.
  const char *bracket = position();
  StringRef rest(bracket, lexer.getBuffer().end() - bracket);
  size_t close = rest.take_front(256).find(']');
  bool cacheable = close != StringRef::npos;
  if (cacheable) {
    const char *after = bracket + close + 1;
    if (after + 1 < rest.end() && *after == '{' && (llvm::isDigit(after[1]) || after[1] == ':')) {
      size_t brace = StringRef(after, rest.end() - after).take_front(256).find('}');
      cacheable = brace != StringRef::npos;
      after += cacheable ? brace + 1 : 0;
    } else if (after < rest.end() && *after != ' ' && *after != ',' && *after != ')') {
      cacheable = false; // perhaps a blank or comment before the layout
    } else if (after < rest.end() && *after == ' ') {
      StringRef next = StringRef(after, rest.end() - after).take_front(64).ltrim(" ");
      cacheable = !next.empty() && (isIdentifierStart(next.front()) || next.front() == '%');
    }
    if (cacheable) {
      StringRef spelling(start, after - start);
      if (Type known = shapeCache.lookup(spelling)) {
        type = known;
        lexer.restartAt(after);
        return success();
      }
    }
  }

  lexer.advance();
  SmallVector<int64_t, 6> sizes, dynamic, order;
  if (!at(Tok::RSquare)) {
    do {
      const char *dimension = position();
      if (consumeIf(Tok::Question)) {
        sizes.push_back(ShapedType::kDynamic);
        continue;
      }
      if (consumeIf(Tok::LessEqual)) {
        dynamic.push_back(sizes.size());
      }
      int64_t size;
      if (failed(parseInteger(size, "as a dimension"))) {
        return failure();
      }
      if (size < 0) {
        return error(dimension) << "dimension " << sizes.size() << " has negative size " << size;
      }
      sizes.push_back(size);
    } while (consumeIf(Tok::Comma));
  }
  if (failed(expect(Tok::RSquare, "',' or ']'", "in a shape"))) {
    return failure();
  }

  if (sizes.size() > budget.rank) {
    return error(start) << "array has " << sizes.size() << " dimensions; "
                        << budget.text(&Budget::rank);
  }

  const char *layoutAt = position();
  std::string properties;
  bool written = false;
  if (failed(parseLayout(order, properties, written))) {
    return failure();
  }
  if (!element) {
    if (!sizes.empty()) {
      return error(start) << word << " has no dimensions, write " << word << "[]";
    }
    type = word == "token" ? Type(TokenType::get(context)) : Type(hlo::OpaqueType::get(context));
    return success();
  }
  if (written && order.size() != sizes.size()) {
    return error(layoutAt) << "layout has " << order.size() << " dimensions, the shape has "
                           << sizes.size();
  }
  type = arrayType(sizes, element, order, dynamic, properties);
  if (cacheable && lexer.previousEnd() > start) {
    shapeCache[StringRef(start, lexer.previousEnd() - start)] = type;
  }
  return success();
}

Parser::Result Parser::parseLayout(SmallVectorImpl<int64_t> &order, std::string &properties,
                                   bool &written) {
  if (!at(Tok::LBrace)) {
    return success();
  }
  // A brace that is not followed by an integer or a colon is not a layout.
  Lexer::State state = lexer.save();
  lexer.advance();
  if (!at(Tok::Int) && !at(Tok::Colon)) {
    lexer.restore(state);
    return success();
  }
  written = true;
  if (at(Tok::Int)) {
    do {
      if (failed(parseInteger(order.emplace_back(), "in a layout"))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  if (consumeIf(Tok::Colon) && failed(parseLayoutProperties(properties))) {
    return failure();
  }
  return expect(Tok::RBrace, "'}'", "at the end of a layout");
}

/// The properties after the colon: groups in a fixed order, kept without blanks and without
/// defaults.
Parser::Result Parser::parseLayoutProperties(std::string &properties) {
  auto atGroup = [&](StringRef word) {
    return at(Tok::Ident) && token().text == word && lexer.peekChar() == '(';
  };
  auto begin = [&]() {
    lexer.advance();
    return expect(Tok::LParen, "'('", "in a layout");
  };
  auto end = [&]() { return expect(Tok::RParen, "')'", "in a layout"); };
  auto number = [&](StringRef word, int64_t least, int64_t absent) -> Result {
    if (!atGroup(word)) {
      return success();
    }
    int64_t value;
    if (failed(begin())) {
      return failure();
    }
    const char *valueAt = position();
    if (failed(parseInteger(value, "in a layout"))) {
      return failure();
    }
    if (value < least) {
      return error(valueAt) << "layout: " << word << "(" << value << ") must be at least " << least;
    }
    if (value != absent) {
      properties += word.str() + "(" + std::to_string(value) + ")";
    }
    return end();
  };

  if (atGroup("D")) { // dimension level types, which mean nothing for dense arrays
    if (failed(begin())) {
      return failure();
    }
    do {
      if (!at(Tok::Ident) || token().text.size() != 1 ||
          !StringRef("DCSH").contains(token().text)) {
        return unexpected("D, C, S or H", "in a layout");
      }
      lexer.advance();
      consumeIf(Tok::Plus);
      consumeIf(Tok::Tilde);
    } while (consumeIf(Tok::Comma));
    if (failed(end())) {
      return failure();
    }
  }
  if (atGroup("T")) {
    lexer.advance();
    properties += "T";
    while (consumeIf(Tok::LParen)) {
      properties += "(";
      bool first = true;
      while (!at(Tok::RParen)) {
        properties += first ? "" : ",";
        if (!first && failed(expect(Tok::Comma, "',' or ')'", "in a tile"))) {
          return failure();
        }
        first = false;
        if (consumeIf(Tok::Star)) {
          properties += "*";
          continue;
        }
        const char *sizeAt = position();
        int64_t size;
        if (failed(parseInteger(size, "in a tile"))) {
          return failure();
        }
        if (size < 0) {
          return error(sizeAt) << "layout: tile size " << size << " is negative";
        }
        properties += std::to_string(size);
      }
      lexer.advance();
      properties += ")";
    }
  }
  if (failed(number("L", 1, 1))) {
    return failure();
  }
  for (auto [kind, spelling] : {std::pair(Tok::Hash, "#("), std::pair(Tok::Star, "*(")}) {
    if (!consumeIf(kind)) {
      continue;
    }
    if (failed(expect(Tok::LParen, "'('", "in a layout"))) {
      return failure();
    }
    if (!at(Tok::Primitive)) {
      return unexpected("an element type", "in a layout");
    }
    properties += spelling + token().text.str() + ")";
    lexer.advance();
    if (failed(end())) {
      return failure();
    }
  }
  if (failed(number("E", 0, 0)) || failed(number("S", 0, 0))) {
    return failure();
  }
  if (atGroup("SC")) {
    lexer.advance();
    properties += "SC";
    while (consumeIf(Tok::LParen)) {
      int64_t dimension;
      if (failed(parseInteger(dimension, "in a split configuration")) ||
          failed(expect(Tok::Colon, "':'", "in a split configuration"))) {
        return failure();
      }
      properties += "(" + std::to_string(dimension) + ":";
      bool first = true;
      do {
        int64_t index;
        if (failed(parseInteger(index, "in a split configuration"))) {
          return failure();
        }
        properties += (first ? "" : ",") + std::to_string(index);
        first = false;
      } while (consumeIf(Tok::Comma));
      properties += ")";
      if (failed(end())) {
        return failure();
      }
    }
  }
  if (atGroup("P")) {
    return error(position()) << "layout: a dense array cannot have a physical shape";
  }
  return number("M", 0, 0);
}
