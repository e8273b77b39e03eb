//===- StructuredAttributes.cpp - Slices, paddings, windows, labels ------===//
//
// Attributes whose values passes compute with, in the dialect's form.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

/// `{[0:8:2], [1:3]}`
Parser::Result Parser::parseSlice(NamedAttrList &attributes) {
  if (failed(expect(Tok::LBrace, "'{'", "in slice"))) {
    return failure();
  }
  SmallVector<int64_t> starts, limits, strides;
  if (!at(Tok::RBrace)) {
    do {
      if (failed(expect(Tok::LSquare, "'['", "in slice")) ||
          failed(parseInteger(starts.emplace_back(), "in slice")) ||
          failed(expect(Tok::Colon, "':'", "in slice")) ||
          failed(parseInteger(limits.emplace_back(), "in slice"))) {
        return failure();
      }
      strides.push_back(1);
      if (consumeIf(Tok::Colon) && failed(parseInteger(strides.back(), "in slice"))) {
        return failure();
      }
      if (failed(expect(Tok::RSquare, "']'", "in slice"))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  attributes.append("start_indices", builder.getDenseI64ArrayAttr(starts));
  attributes.append("limit_indices", builder.getDenseI64ArrayAttr(limits));
  attributes.append("strides", builder.getDenseI64ArrayAttr(strides));
  return expect(Tok::RBrace, "',' or '}'", "in slice");
}

/// `0_0x-1_2_1`: low, high and perhaps interior padding of each dimension.
Parser::Result Parser::parsePadding(NamedAttrList &attributes) {
  SmallVector<int64_t> low, high, interior;
  // The padding of rank 0 is empty.
  if (!at(Tok::Pad)) {
    return unexpected("a padding such as 0_1x2_2_1");
  }
  SmallVector<StringRef> groups, parts;
  token().text.split(groups, 'x');
  for (StringRef group : groups) {
    parts.clear();
    group.split(parts, '_');
    int64_t numbers[3] = {0, 0, 0};
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (part.getAsInteger(10, numbers[i])) {
        return error(position()) << "padding " << part << " does not fit in 64 bits";
      }
    }
    low.push_back(numbers[0]);
    high.push_back(numbers[1]);
    interior.push_back(numbers[2]);
  }
  lexer.advance();
  attributes.append("padding_low", builder.getDenseI64ArrayAttr(low));
  attributes.append("padding_high", builder.getDenseI64ArrayAttr(high));
  attributes.append("padding_interior", builder.getDenseI64ArrayAttr(interior));
  return success();
}

Parser::Result Parser::parsePrecision(Attribute &value) {
  if (failed(expect(Tok::LBrace, "'{'", "in operand_precision"))) {
    return failure();
  }
  SmallVector<Attribute> words;
  if (!at(Tok::RBrace)) {
    do {
      std::string word = token().text.lower();
      if (!at(Tok::Ident) || (word != "default" && word != "high" && word != "highest")) {
        return unexpected("default, high or highest", "in operand_precision");
      }
      words.push_back(builder.getStringAttr(word));
      lexer.advance();
    } while (consumeIf(Tok::Comma));
  }
  value = builder.getArrayAttr(words);
  return expect(Tok::RBrace, "',' or '}'", "in operand_precision");
}

/// `{size=3x3 stride=2x2 pad=1_1x0_2 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=0x1}`
Parser::Result Parser::parseWindow(WindowAttr &window) {
  if (failed(expect(Tok::LBrace, "'{'", "in a window"))) {
    return failure();
  }
  static constexpr StringRef items[] = {"size",       "stride",       "lhs_dilate",
                                        "rhs_dilate", "rhs_reversal", "pad"};
  SmallVector<int64_t> values[std::size(items)], padHigh;
  const char *places[std::size(items)] = {};
  while (!at(Tok::RBrace)) {
    const auto *item = at(Tok::AttrName) ? llvm::find(items, token().text) : std::end(items);
    if (item == std::end(items)) {
      return unexpected("size=, stride=, pad=, lhs_dilate=, rhs_dilate= or rhs_reversal=",
                        "in a window");
    }
    size_t index = item - items;
    if (places[index]) {
      return error(position()) << "window: '" << *item << "' is given twice";
    }
    places[index] = position();
    lexer.advance();
    SmallVector<StringRef> groups;
    if (*item == "pad") {
      if (!at(Tok::Pad)) {
        return unexpected("paddings such as 0_1x2_2", "in a window");
      }
      token().text.split(groups, 'x');
      for (StringRef group : groups) {
        auto [low, high] = group.split('_');
        if (low.getAsInteger(10, values[index].emplace_back()) ||
            high.getAsInteger(10, padHigh.emplace_back())) {
          return error(position()) << "window padding is low_high, got " << group;
        }
      }
    } else {
      if (!at(Tok::Int) && !at(Tok::DxD)) {
        return unexpected("sizes such as 3x3", "in a window");
      }
      token().text.split(groups, 'x');
      for (StringRef group : groups) {
        if (group.getAsInteger(10, values[index].emplace_back())) {
          return error(position()) << "window: " << group << " does not fit in 64 bits";
        }
      }
    }
    lexer.advance();
  }
  lexer.advance();
  size_t rank = values[0].size();
  for (auto [index, item] : llvm::enumerate(items)) {
    if (places[index] && values[index].size() != rank) {
      return error(places[index]) << "window: " << item << " has " << values[index].size()
                                  << " entries, size has " << rank;
    }
    if (!places[index]) {
      bool one = index >= 1 && index <= 3;
      values[index].assign(rank, one ? 1 : 0);
    }
  }
  padHigh.resize(rank, 0);
  window = WindowAttr::get(context, values[0], values[1], values[5], padHigh, values[2], values[3],
                           values[4]);
  return success();
}

/// `b01f_01io->b01f`
Parser::Result Parser::parseDimLabels(ConvDimsAttr &labels) {
  if (!at(Tok::DimLabels)) {
    return unexpected("labels such as b01f_01io->b01f", "for dim_labels");
  }
  const char *start = position();
  auto [left, output] = token().text.split("->");
  auto [input, kernel] = left.split('_');
  lexer.advance();
  struct Part {
    int64_t first = -1, second = -1;
    SmallVector<int64_t> spatial;
  } parts[3];
  const StringRef texts[] = {input, kernel, output};
  for (auto [index, text] : llvm::enumerate(texts)) {
    Part &part = parts[index];
    int64_t digits = llvm::count_if(text, [](char c) { return llvm::isDigit(c); });
    part.spatial.assign(digits, -1);
    for (auto [position, c] : llvm::enumerate(text)) {
      if (c == '?') {
        continue;
      }
      int64_t *slot = c == 'b' || c == 'i'   ? &part.first
                      : c == 'f' || c == 'o' ? &part.second
                      : c - '0' < digits     ? &part.spatial[c - '0']
                                             : nullptr;
      if (!slot) {
        return error(start) << "dim_labels: '" << text << "' has " << digits
                            << " spatial dimensions, so the largest is " << digits - 1;
      }
      if (*slot != -1) {
        return error(start) << "dim_labels: '" << c << "' occurs twice in '" << text << "'";
      }
      *slot = position;
    }
    if (part.first < 0 || part.second < 0) {
      return error(start) << "dim_labels: '" << text << "' lacks '"
                          << (part.first < 0 ? (index == 1 ? "i" : "b") : (index == 1 ? "o" : "f"))
                          << "'";
    }
  }
  if (parts[0].spatial.size() != parts[1].spatial.size() ||
      parts[0].spatial.size() != parts[2].spatial.size()) {
    return error(start) << "dim_labels: input, kernel and output have " << parts[0].spatial.size()
                        << ", " << parts[1].spatial.size() << " and " << parts[2].spatial.size()
                        << " spatial dimensions";
  }
  labels = ConvDimsAttr::get(context, parts[0].first, parts[0].second, parts[0].spatial,
                             parts[1].first, parts[1].second, parts[1].spatial, parts[2].first,
                             parts[2].second, parts[2].spatial);
  return success();
}

Parser::Result Parser::parseShapes(Attribute &value) {
  if (failed(expect(Tok::LBrace, "'{'", "before a list of shapes"))) {
    return failure();
  }
  SmallVector<Attribute> shapes;
  if (!at(Tok::RBrace)) {
    do {
      Type type;
      if (failed(parseShape(type))) {
        return failure();
      }
      shapes.push_back(TypeAttr::get(type));
    } while (consumeIf(Tok::Comma));
  }
  value = builder.getArrayAttr(shapes);
  return expect(Tok::RBrace, "',' or '}'", "in a list of shapes");
}
