//===- Attributes.cpp - Attributes of instructions ------------------------===//
//
// `name=value` after the operands: found in the opcode's row of the table, or
// among the common ones; the kind in the row decides the syntax of the value.
// Called computations are names of earlier ones, or bodies in place.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/PrinterImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
constexpr AttrSpec asyncStartExtra[] = {
    {"async_execution_thread", AttrKind::String},
    {"output_to_operand_aliasing", AttrKind::Aliasing},
};
constexpr AttrSpec asyncLaterExtra[] = {
    {"async_execution_thread", AttrKind::String},
};
} // namespace

ArrayRef<AttrSpec> Parser::attributesOf(const Instruction &inst) const {
  // An update or done in the sugar form repeats nothing of the wrapped op.
  bool later = inst.async == AsyncPart::Update || inst.async == AsyncPart::Done;
  return later ? ArrayRef<AttrSpec>(asyncLaterExtra) : inst.info->attributes;
}

void Parser::suggestAttributes(InFlightDiagnostic &diagnostic, const Instruction &inst,
                               StringRef wrong) {
  NearestName nearest(wrong);
  std::string list;
  for (const AttrSpec &spec : attributesOf(inst)) {
    nearest.consider(spec.name);
    list += (list.empty() ? "" : ", ") + spec.name.str();
  }
  for (StringRef name : getCommonAttributes()) {
    nearest.consider(name);
  }
  diagnostic << nearest.suggestion();
  if (nearest.suggestion().empty()) {
    diagnostic.attachNote() << inst.opcode << " takes "
                            << (list.empty() ? "no attributes of its own" : list)
                            << ", and the common attributes";
  }
}

Parser::Result Parser::parseAttribute(Scope &scope, Instruction &inst) {
  if (!at(Tok::AttrName)) {
    return unexpected("'attribute='", "after ','");
  }
  const char *start = position();
  StringRef name = token().text;
  if (inst.hasSeen(name)) {
    return error(start) << "attribute '" << name << "' is given twice";
  }
  const AttrSpec *found = nullptr;
  auto lookUp = [&](ArrayRef<AttrSpec> specs) {
    for (const AttrSpec &spec : specs) {
      if (spec.name == name) {
        found = &spec;
      }
    }
  };
  lookUp(attributesOf(inst));
  if (!found && (inst.async == AsyncPart::Start || inst.async == AsyncPart::Update)) {
    lookUp(asyncStartExtra);
  }
  if (!found && !isCommonAttribute(name)) {
    InFlightDiagnostic diagnostic = error(start);
    diagnostic << inst.opcode << " has no attribute '" << name << "'";
    suggestAttributes(diagnostic, inst, name);
    return diagnostic;
  }
  inst.seen.push_back(name);
  lexer.advance();
  return found ? parseAttributeValue(*found, inst)
               : parseCommonAttribute(scope, inst, name, start);
}

Parser::Result Parser::parseCommonAttribute(Scope &scope, Instruction &inst, StringRef name,
                                            const char *at) {
  if (name == "control-predecessors") {
    Attribute value;
    if (failed(parseControlPredecessors(scope, value))) {
      return failure();
    }
    inst.common.append("hlo.control_predecessors", value);
    return success();
  }
  std::string text;
  Result result = failure();
  if (name == "sharding") {
    result = parseSharding(text);
  } else if (name == "frontend_attributes") {
    result = parseFrontendAttributes(text);
  } else if (name == "metadata") {
    result = parseMetadata(text);
  } else if (name == "backend_config") {
    result = parseDictOrString(text, "in backend_config");
  } else if (name == "origin") {
    result = parseOrigin(text);
  } else if (name == "statistics") {
    result = parseStatistics(text);
  } else {
    if (inst.info->name != "parameter") {
      return error(at) << "parameter_replication belongs to parameters, not to "
                       << inst.info->name;
    }
    result = parseBooleanList(text);
  }
  if (succeeded(result)) {
    inst.common.append(("hlo." + name).str(), builder.getStringAttr(text));
  }
  return result;
}

Parser::Result Parser::parseAttributeValue(const AttrSpec &spec, Instruction &inst) {
  StringRef name = spec.name;
  NamedAttrList &attributes = inst.attributes;
  std::string text;
  auto keepText = [&](Result result) {
    if (succeeded(result)) {
      attributes.append(name, builder.getStringAttr(text));
    }
    return result;
  };
  switch (spec.kind) {
  case AttrKind::Integer: {
    int64_t value;
    if (failed(parseInteger(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getI64IntegerAttr(value));
    return success();
  }
  case AttrKind::Boolean: {
    bool value;
    if (failed(parseBoolean(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getBoolAttr(value));
    return success();
  }
  case AttrKind::Float: {
    double value;
    if (failed(parseNumber(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getF64FloatAttr(value));
    return success();
  }
  case AttrKind::String:
    return keepText(parseString(text, "as an attribute"));
  case AttrKind::Word:
  case AttrKind::LowerWord:
  case AttrKind::UpperWord:
    return keepText(parseWord(spec, text));
  case AttrKind::IgnoredWord:
    if (!at(Tok::Ident)) {
      return unexpected("a word", "as an attribute");
    }
    lexer.advance();
    return success();
  case AttrKind::Dims: {
    SmallVector<int64_t> values;
    if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
      return failure();
    }
    attributes.append(name, builder.getDenseI64ArrayAttr(values));
    return success();
  }
  case AttrKind::OneDim: {
    const char *start = position();
    SmallVector<int64_t> values;
    if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
      return failure();
    }
    if (values.size() != 1) {
      return error(start) << name << " of " << inst.info->name << " takes 1 dimension, got "
                          << values.size();
    }
    attributes.append("dimension", builder.getI64IntegerAttr(values[0]));
    return success();
  }
  case AttrKind::Computation:
  case AttrKind::OneComputation:
  case AttrKind::TrueBranch:
  case AttrKind::FalseBranch: {
    FlatSymbolRefAttr ref;
    if (failed(parseComputationRef(ref, name))) {
      return failure();
    }
    if (spec.kind == AttrKind::Computation) {
      attributes.append(name, ref);
    } else if (spec.kind == AttrKind::TrueBranch) {
      inst.trueBranch = ref;
    } else if (spec.kind == AttrKind::FalseBranch) {
      inst.falseBranch = ref;
    } else if (!attributes.get("called_computations")) {
      attributes.append("called_computations", builder.getArrayAttr({ref}));
    }
    return success();
  }
  case AttrKind::Computations: {
    Attribute value;
    if (failed(parseComputationRefs(value, name))) {
      return failure();
    }
    if (!attributes.get(name)) {
      attributes.append(name, value);
    }
    return success();
  }
  case AttrKind::ReplicaGroups:
    return keepText(parseReplicaGroups(text));
  case AttrKind::Pairs:
    return keepText(parseIntegerLists(text, /*pairs=*/true));
  case AttrKind::IntLists:
    return keepText(parseIntegerLists(text, /*pairs=*/false));
  case AttrKind::Aliasing:
    return keepText(parseAliasing(text));
  case AttrKind::Window:
  case AttrKind::WindowText: {
    WindowAttr window;
    if (failed(parseWindow(window))) {
      return failure();
    }
    if (spec.kind == AttrKind::Window) {
      attributes.append(name, window);
      return success();
    }
    text = windowToText(window);
    return keepText(success());
  }
  case AttrKind::DimLabels:
  case AttrKind::DimLabelsText: {
    ConvDimsAttr labels;
    text = token().text.str();
    if (failed(parseDimLabels(labels))) {
      return failure();
    }
    if (spec.kind == AttrKind::DimLabels) {
      attributes.append(name, labels);
      return success();
    }
    return keepText(success());
  }
  case AttrKind::Padding:
    return parsePadding(attributes);
  case AttrKind::Slice:
    return parseSlice(attributes);
  case AttrKind::Precision: {
    Attribute value;
    if (failed(parsePrecision(value))) {
      return failure();
    }
    attributes.append(name, value);
    return success();
  }
  case AttrKind::Shape: {
    Type type;
    if (failed(parseShape(type))) {
      return failure();
    }
    attributes.append(name, TypeAttr::get(type));
    return success();
  }
  case AttrKind::Shapes: {
    Attribute value;
    if (failed(parseShapes(value))) {
      return failure();
    }
    attributes.append(name, value);
    return success();
  }
  case AttrKind::Literal:
    return keepText(parseTypedLiteral(text));
  case AttrKind::Domain:
    return keepText(parseDomain(text));
  case AttrKind::Sparsity:
    return keepText(parseSparsity(text));
  case AttrKind::Accuracy:
    return keepText(parseAccuracy(text));
  }
  return failure();
}

Parser::Result Parser::parseWord(const AttrSpec &spec, std::string &word) {
  word = token().text.str();
  if (spec.kind == AttrKind::LowerWord) {
    word = StringRef(word).lower();
  } else if (spec.kind == AttrKind::UpperWord) {
    word = StringRef(word).upper();
  }
  SmallVector<StringRef> choices;
  StringRef(spec.words).split(choices, ' ');
  if (at(Tok::Ident) && llvm::is_contained(choices, word)) {
    lexer.advance();
    return success();
  }
  if (!at(Tok::Ident)) {
    return unexpected("a word", "for '" + spec.name.str() + "'");
  }
  NearestName nearest(word);
  llvm::for_each(choices, [&](StringRef choice) { nearest.consider(choice); });
  return error(position()) << "unknown value '" << token().text << "' for '" << spec.name << "'"
                           << nearest.suggestion() << "; known are "
                           << llvm::join(choices, ", ");
}

Parser::Result Parser::parseComputationRef(FlatSymbolRefAttr &ref, StringRef attribute) {
  if (at(Tok::LBrace)) {
    return parseInlineComputation(ref, attribute);
  }
  const char *start = position();
  StringRef name;
  if (failed(parseName(name, "a computation"))) {
    return failure();
  }
  if (!computations.contains(name)) {
    NearestName nearest(name);
    for (auto &known : computations) {
      nearest.consider(known.first);
    }
    return error(start) << "computation '" << name << "' of " << attribute << " does not exist"
                        << nearest.suggestion();
  }
  ref = FlatSymbolRefAttr::get(context, name);
  return success();
}

Parser::Result Parser::parseComputationRefs(Attribute &refs, StringRef attribute) {
  if (failed(expect(Tok::LBrace, "'{'", "before a list of computations"))) {
    return failure();
  }
  SmallVector<Attribute> list;
  if (!at(Tok::RBrace)) {
    do {
      FlatSymbolRefAttr ref;
      if (failed(parseComputationRef(ref, attribute))) {
        return failure();
      }
      list.push_back(ref);
    } while (consumeIf(Tok::Comma));
  }
  refs = builder.getArrayAttr(list);
  return expect(Tok::RBrace, "',' or '}'", "in a list of computations");
}

Parser::Result Parser::parseInlineComputation(FlatSymbolRefAttr &ref, StringRef attribute) {
  const char *start = position();
  if (failed(enter(start))) {
    return failure();
  }
  DepthGuard guard(depth);
  lexer.advance();
  Scope scope(UnknownLoc::get(context));
  if (failed(parseBody(scope, "the computation"))) {
    return failure();
  }
  std::string name = makeComputationName("inline");
  if (!finishComputation(scope, name, start, Type(), nullptr, /*visible=*/false)) {
    return failure();
  }
  ref = FlatSymbolRefAttr::get(context, name);
  return success();
}

Parser::Result Parser::parseControlPredecessors(Scope &scope, Attribute &value) {
  if (failed(expect(Tok::LBrace, "'{'", "in control-predecessors"))) {
    return failure();
  }
  SmallVector<Attribute> names;
  llvm::StringSet<> seen;
  do {
    const char *start = position();
    StringRef name;
    if (failed(parseName(name, "an instruction"))) {
      return failure();
    }
    if (!scope.names.contains(name)) {
      NearestName nearest(name);
      for (auto &known : scope.names) {
        nearest.consider(known.first);
      }
      return error(start) << "control predecessor '" << name << "' does not exist"
                          << nearest.suggestion();
    }
    if (seen.insert(name).second) {
      names.push_back(builder.getStringAttr(name));
    }
  } while (consumeIf(Tok::Comma));
  value = builder.getArrayAttr(names);
  return expect(Tok::RBrace, "',' or '}'", "in control-predecessors");
}

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
  // A rank-0 pad has nothing to say.
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
  static constexpr StringRef items[] = {"size",       "stride",     "lhs_dilate",
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
