//===- Literals.cpp - Constants -------------------------------------------===//
//
// A literal's type comes from the instruction's shape. Elements go straight into
// a byte buffer in row-major order; the buffer becomes a DenseElementsAttr.
// Every brace level must hold exactly the dimension's size; commas are blanks.
// `{...}` (a value that the text leaves out) becomes a UnitAttr. A tuple gives
// an ArrayAttr.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Elements.h"
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
/// Reads scalars of one type and collects their bytes.
class ElementReader {
public:
  ElementReader(Lexer &lexer, Reporter &reporter, Type type, ElementFormat format)
      : lexer(lexer), reporter(reporter), type(type), format(format) {}

  llvm::LogicalResult readScalar() {
    switch (format.kind) {
    case ElementFormat::Float: return readFloat();
    case ElementFormat::Complex: return readComplex();
    default: return readInteger();
    }
  }

  std::vector<char> bytes;

private:
  InFlightDiagnostic error(const char *at) { return reporter.error(at); }
  std::string typeName() const { return elementWord(type); }

  void append(uint64_t bits, unsigned count) {
    const char *raw = reinterpret_cast<const char *>(&bits); // little-endian host
    bytes.insert(bytes.end(), raw, raw + count);
  }

  llvm::LogicalResult unexpected(StringRef what) {
    const Token &token = lexer.token();
    if (token.is(Tok::Error)) {
      return error(token.begin) << token.error;
    }
    return error(token.begin) << "expected " << what << " of type " << typeName() << ", got "
                              << (token.is(Tok::Eof) ? StringRef("the end of the text")
                                                     : token.text.take_front(40));
  }

  llvm::LogicalResult readInteger() {
    const Token &token = lexer.token();
    if (format.kind == ElementFormat::Pred && token.is(Tok::Keyword) &&
        (token.text == "true" || token.text == "false")) {
      append(token.text == "true", 1);
      lexer.advance();
      return success();
    }
    if (!token.is(Tok::Int)) {
      return unexpected(format.kind == ElementFormat::Pred ? "true, false or an integer"
                                                           : "an integer");
    }
    int64_t value = token.intValue;
    if (format.kind == ElementFormat::Pred) {
      append(value != 0, 1);
    } else if (format.bits == 64) {
      append(value, 8);
    } else {
      bool isSigned = format.kind == ElementFormat::Signed;
      int64_t least = isSigned ? -(int64_t(1) << (format.bits - 1)) : 0;
      int64_t most = (int64_t(1) << (format.bits - isSigned)) - 1;
      if (value < least || value > most) {
        return error(token.begin) << "value " << token.text << " is out of range for " << typeName()
                                  << ", which is [" << least << ", " << most << "]";
      }
      // The upper bits of a byte that holds fewer bits are zero.
      append(value & ((int64_t(1) << format.bits) - 1), format.bytes);
    }
    lexer.advance();
    return success();
  }

  llvm::LogicalResult readFloat() {
    const Token &token = lexer.token();
    uint64_t bits = 0;
    if (token.is(Tok::NonFinite)) {
      StringRef text = token.text;
      bool negative = text.consume_front("-");
      if (text == "inf") {
        bits = encodeInfinity(format, negative);
      } else {
        std::optional<uint64_t> payload;
        uint64_t most;
        if (text.consume_front("nan(0x")) {
          uint64_t value;
          // A payload of more than 64 bits is too large for any type.
          payload = text.drop_back().getAsInteger(16, value) ? ~uint64_t(0) : value;
        }
        if (!encodeNan(format, negative, payload, bits, most)) {
          if (most == 0) {
            return error(token.begin) << typeName() << " has no NaN payloads";
          }
          return error(token.begin) << "NaN payload of " << token.text << " is out of range for "
                                    << typeName() << ", which is [1, " << most << "]";
        }
      }
    } else if (token.is(Tok::Int) || token.is(Tok::Decimal)) {
      double value = token.is(Tok::Int) ? double(token.intValue) : token.floatValue;
      if (!encodeFinite(format, value, bits)) {
        return error(token.begin) << "value " << token.text << " is out of range for "
                                  << typeName();
      }
    } else {
      return unexpected("a number");
    }
    append(bits, format.bytes);
    lexer.advance();
    return success();
  }

  llvm::LogicalResult readComplex() {
    if (!lexer.token().is(Tok::LParen)) {
      return unexpected("'(real, imaginary)'");
    }
    lexer.advance();
    if (failed(readFloat())) {
      return failure();
    }
    if (!lexer.token().is(Tok::Comma)) {
      return unexpected("',' in a number");
    }
    lexer.advance();
    if (failed(readFloat())) {
      return failure();
    }
    if (!lexer.token().is(Tok::RParen)) {
      return unexpected("')' after a number");
    }
    lexer.advance();
    return success();
  }

  Lexer &lexer;
  Reporter &reporter;
  Type type;
  ElementFormat format;
};
} // namespace

Parser::Result Parser::parseLiteral(Type type, Attribute &value) {
  if (auto array = llvm::dyn_cast<RankedTensorType>(type)) {
    return parseDense(array, value);
  }
  auto tuple = llvm::dyn_cast<TupleType>(type);
  if (!tuple) {
    return error(position()) << "there are no constants of this shape";
  }
  if (at(Tok::LBrace)) { // the whole tuple is elided
    Lexer::State state = lexer.save();
    lexer.advance();
    if (consumeIf(Tok::Dots) && consumeIf(Tok::RBrace)) {
      value = builder.getUnitAttr();
      return success();
    }
    lexer.restore(state);
  }
  if (failed(enter(position()))) {
    return failure();
  }
  DepthGuard guard(depth);
  if (failed(expect(Tok::LParen, "'('", "at the start of a tuple literal"))) {
    return failure();
  }
  SmallVector<Attribute> elements;
  for (auto [i, element] : llvm::enumerate(tuple.getTypes())) {
    while (consumeIf(Tok::Comma)) {
    }
    if (at(Tok::RParen)) {
      return error(position()) << "tuple literal has " << i << " elements, the shape has "
                               << tuple.size();
    }
    if (failed(parseLiteral(element, elements.emplace_back()))) {
      return failure();
    }
  }
  while (consumeIf(Tok::Comma)) {
  }
  value = builder.getArrayAttr(elements);
  return expect(Tok::RParen, "')'", "at the end of a tuple literal");
}

Parser::Result Parser::parseDense(RankedTensorType type, Attribute &value) {
  type = dropEncoding(type);
  std::optional<ElementFormat> format = getElementFormat(type.getElementType());
  if (!format || !type.hasStaticShape()) {
    return error(position()) << "there are no constants of an unbounded shape";
  }
  ArrayRef<int64_t> sizes = type.getShape();
  int64_t rank = type.getRank();
  ElementReader reader(lexer, reporter, type.getElementType(), *format);

  // As in XLA, a bare scalar is the first element of an array, and the other elements are zero.
  bool bare = rank > 0 && !at(Tok::LBrace) && !llvm::is_contained(sizes, 0);
  if (rank == 0 || bare) {
    const char *start = position();
    if (at(Tok::LBrace)) {
      return error(start) << "a scalar literal has no braces";
    }
    if (failed(reader.readScalar())) {
      return failure();
    }
    int64_t bytes = format->elementBytes();
    for (int64_t size : sizes) {
      if (llvm::MulOverflow(bytes, size, bytes)) {
        return error(start) << "literal has 1 element, too few for this shape";
      }
    }
    if (size_t(bytes) > reader.bytes.size()) {
      paddedBytes = llvm::SaturatingAdd(paddedBytes, uint64_t(bytes));
      if (paddedBytes > budget.constantBytes) {
        return error(start) << "literal has 1 element; with the others, zeros, constants take "
                            << paddedBytes << " bytes; " << budget.text(&Budget::constantBytes);
      }
      emitWarning(reporter.locate(start)) << "literal has 1 element, the shape "
                                          << bytes / format->elementBytes() << "; the others are 0";
      reader.bytes.resize(bytes);
    }
  } else {
    if (!at(Tok::LBrace)) {
      return unexpected("'{'", "at the start of a literal");
    }
    // counts[l] = elements seen so far in the open brace of level l.
    SmallVector<int64_t> counts;
    auto countOne = [&](const char *at) -> Result {
      int64_t level = counts.size() - 1;
      if (counts[level] == sizes[level]) {
        return error(at) << "literal has more than " << sizes[level] << " elements in dimension "
                         << level;
      }
      ++counts[level];
      return success();
    };
    bool elided = false;
    do {
      const char *start = position();
      if (at(Tok::LBrace)) {
        if (int64_t(counts.size()) == rank) {
          return error(start) << "literal is nested deeper than rank " << rank;
        }
        if (!counts.empty() && failed(countOne(start))) {
          return failure();
        }
        counts.push_back(0);
        lexer.advance();
      } else if (at(Tok::RBrace)) {
        int64_t level = counts.size() - 1;
        if (counts.back() != sizes[level] && !elided) {
          return error(start) << "literal has " << counts.back() << " elements in dimension "
                              << level << ", the shape has " << sizes[level];
        }
        counts.pop_back();
        lexer.advance();
      } else if (at(Tok::Comma)) {
        lexer.advance();
      } else if (at(Tok::Dots)) {
        if (counts.size() != 1) {
          return error(start) << "'...' must be directly inside the outermost braces";
        }
        elided = true;
        lexer.advance();
      } else {
        if (int64_t(counts.size()) != rank) {
          if (at(Tok::Error) || at(Tok::Eof)) {
            return unexpected("an element or '}'", "in a literal");
          }
          return error(start) << "literal element at nesting level " << counts.size()
                              << ", the rank is " << rank;
        }
        if (failed(countOne(start)) || failed(reader.readScalar())) {
          return failure();
        }
      }
    } while (!counts.empty());
    if (elided) {
      value = builder.getUnitAttr();
      return success();
    }
  }
  value = denseElements(type, *format, reader.bytes);
  return success();
}

/// `shape literal`, or a tuple of these. Returns the normalized text.
Parser::Result Parser::parseTypedLiteral(std::string &text) {
  if (!at(Tok::LParen)) {
    const char *start = position();
    Type type;
    Attribute value;
    if (!atShape()) {
      return unexpected("a shape", "before a literal");
    }
    if (failed(parseShape(type)) || failed(parseLiteral(type, value))) {
      return failure();
    }
    // Parse the type without a layout, whose brace would be taken for the literal's.
    if (auto array = llvm::dyn_cast<RankedTensorType>(type)) {
      text += typeToText(array, /*alwaysLayout=*/true) + " " + literalToText(array, value);
      return success();
    }
    return error(start) << "a typed literal is an array or a tuple of typed literals";
  }
  if (failed(enter(position()))) {
    return failure();
  }
  DepthGuard guard(depth);
  lexer.advance();
  text += "(";
  bool first = true;
  while (!at(Tok::RParen)) {
    if (!first && failed(expect(Tok::Comma, "',' or ')'", "in a tuple literal"))) {
      return failure();
    }
    text += first ? "" : ", ";
    first = false;
    if (failed(parseTypedLiteral(text))) {
      return failure();
    }
  }
  lexer.advance();
  text += ")";
  return success();
}
