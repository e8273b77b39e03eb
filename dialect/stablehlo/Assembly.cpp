//===- Assembly.cpp - Parts of ops' assembly ------------------------------===//
#include "dialect/stablehlo/Assembly.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace mlir;
using namespace stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Sets the types of operands, all but the last, and of the result from a function type.
static ParseResult assign(OpAsmParser &parser, SMLoc loc, FunctionType function,
                          ArrayRef<Type *> types) {
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1) {
    return parser.emitError(loc, "the op has ")
           << types.size() - 1 << " operands and one result, its type " << function.getNumInputs()
           << " operands and " << function.getNumResults() << " results";
  }
  for (auto [type, input] : llvm::zip_equal(types.drop_back(), function.getInputs())) {
    *type = input;
  }
  *types.back() = function.getResult(0);
  return success();
}

ParseResult stablehlo::parseOneTypeForAll(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type)) {
    return failure();
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    return assign(parser, loc, function, types);
  }
  for (Type *each : types) {
    *each = type;
  }
  return success();
}

void stablehlo::printOneTypeForAll(OpAsmPrinter &printer, Operation *op) {
  Type result = op->getResult(0).getType();
  if (llvm::all_of(op->getOperandTypes(), [&](Type type) { return type == result; })) {
    printer.printType(result);
  } else {
    printer.printFunctionalType(op);
  }
}

ParseResult stablehlo::parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, Type &result) {
  types.resize(operands.size());
  auto all = llvm::map_to_vector(types, [](Type &type) { return &type; });
  all.push_back(&result);
  return parseOneTypeForAll(parser, all);
}
void stablehlo::printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *op,
                                                       OperandRange, TypeRange, Type) {
  printOneTypeForAll(printer, op);
}

/// The array of real parts, or null if the type is no array of complex numbers.
static RankedTensorType realPart(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  auto element = array ? dyn_cast<ComplexType>(array.getElementType()) : ComplexType();
  return element ? array.clone(element.getElementType()) : RankedTensorType();
}

ParseResult stablehlo::parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type)) {
    return failure();
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    return assign(parser, loc, function, {&lhs, &rhs, &result});
  }
  lhs = rhs = realPart(type);
  result = type;
  return lhs ? ParseResult(success())
             : parser.emitError(loc, "expected an array of complex numbers");
}
void stablehlo::printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs,
                                   Type result) {
  RankedTensorType real = realPart(result);
  if (lhs == real && rhs == real) {
    printer.printType(result);
  } else {
    printer.printFunctionalType(op);
  }
}

ParseResult stablehlo::parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue,
                                         Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pred)) {
    return failure();
  }
  if (auto function = dyn_cast<FunctionType>(pred)) {
    return assign(parser, loc, function, {&pred, &onTrue, &onFalse, &result});
  }
  if (parser.parseComma() || parser.parseType(result)) {
    return failure();
  }
  onTrue = onFalse = result;
  return success();
}
void stablehlo::printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue,
                                  Type onFalse, Type result) {
  if (onTrue == result && onFalse == result) {
    printer << pred << ", " << result;
  } else {
    printer.printFunctionalType(op);
  }
}

ParseResult stablehlo::parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                                        Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result)) {
    return failure();
  }
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple) {
    return parser.emitError(loc, "expected a tuple");
  }
  llvm::append_range(operands, tuple.getTypes());
  return success();
}
void stablehlo::printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange, Type result) {
  printer.printType(result);
}

ParseResult stablehlo::parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                                           SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands)) {
    return failure();
  }
  llvm::append_range(results, operands);
  return success();
}
void stablehlo::printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                                    TypeRange) {
  llvm::interleaveComma(operands, printer);
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseVariadicOperandWithAttribute(
    OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value()) {
      return success();
    }
    if (failed(*parsed) || parser.parseComma()) {
      return failure();
    }
    operands.push_back(operand);
  }
}
void stablehlo::printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *,
                                                  OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  printer << ',';
}

ParseResult stablehlo::parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    return parser.parseInteger(values.emplace_back());
  });
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                                        DenseI64ArrayAttr &limits, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back())) {
      return failure();
    }
    stride.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back())
                                                  : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange)) {
    return failure();
  }
  Builder builder(parser.getContext());
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}
/// The verifier refuses lists of different lengths.
void stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *, ArrayRef<int64_t> starts,
                                 ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(starts, limits, strides), printer, [&](const auto &range) {
    auto [start, limit, stride] = range;
    printer << start << ':' << limit;
    if (stride != 1) {
      printer << ':' << stride;
    }
  });
  printer << ']';
}

ParseResult stablehlo::parseExponentMantissa(AsmParser &parser, IntegerAttr &exponent,
                                             IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  StringRef rest = word;
  uint32_t exponentBits, mantissaBits;
  bool valid = rest.consume_front("e") && !rest.consumeInteger(10, exponentBits) &&
               rest.consume_front("m") && !rest.consumeInteger(10, mantissaBits) && rest.empty() &&
               exponentBits <= INT32_MAX && mantissaBits <= INT32_MAX;
  if (!valid) {
    return parser.emitError(loc, "expected a format such as e8m7, found '") << word << "'";
  }
  exponent = Builder(parser.getContext()).getI32IntegerAttr(exponentBits);
  mantissa = Builder(parser.getContext()).getI32IntegerAttr(mantissaBits);
  return success();
}
void stablehlo::printExponentMantissa(AsmPrinter &printer, Operation *, IntegerAttr exponent,
                                      IntegerAttr mantissa) {
  printer << 'e' << exponent.getValue() << 'm' << mantissa.getValue();
}

ParseResult stablehlo::parseCustomCallTarget(AsmParser &parser, StringAttr &target) {
  return parser.parseSymbolName(target);
}
void stablehlo::printCustomCallTarget(AsmPrinter &printer, Operation *, StringAttr target) {
  printer.printSymbolName(target.getValue());
}

/// `KEYWORD = [1] x [0]`, where the keyword has been read.
static ParseResult parsePairOfLists(AsmParser &parser, SmallVector<int64_t> &lhs,
                                    SmallVector<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseIntegers(parser, lhs) || parser.parseKeyword("x") ||
                 parseIntegers(parser, rhs));
}

ParseResult stablehlo::parseDotDimensionNumbers(AsmParser &parser,
                                                DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePairOfLists(parser, lhsBatch, rhsBatch) || parser.parseComma())) {
    return failure();
  }
  if (parser.parseKeyword("contracting_dims") ||
      parsePairOfLists(parser, lhsContracting, rhsContracting)) {
    return failure();
  }
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch, lhsContracting,
                                         rhsContracting);
  return success();
}
void stablehlo::printDotDimensionNumbers(AsmPrinter &printer, Operation *,
                                         DotDimensionNumbersAttr numbers) {
  auto pair = [&](StringRef keyword, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << keyword << " = [" << lhs << "] x [" << rhs << ']';
  };
  if (!numbers.getLhsBatchingDimensions().empty() || !numbers.getRhsBatchingDimensions().empty()) {
    pair("batching_dims", numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  pair("contracting_dims", numbers.getLhsContractingDimensions(),
       numbers.getRhsContractingDimensions());
}

/// `= [DEFAULT, HIGH]`
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> entries;
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        entries.push_back(PrecisionAttr::parse(parser, {}));
        return success(entries.back() != nullptr);
      })) {
    return failure();
  }
  precision = ArrayAttr::get(parser.getContext(), entries);
  return success();
}

ParseResult stablehlo::parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma())) {
    return success();
  }
  return failure(parser.parseKeyword("precision") || parsePrecisions(parser, precision));
}
void stablehlo::printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precision) {
  if (precision) {
    printer << ", precision = [";
    llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer, [&](PrecisionAttr entry) {
      printer << stringifyPrecision(entry.getValue());
    });
    printer << ']';
  }
}

ParseResult stablehlo::parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                                        DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma())) {
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parsePrecisions(parser, precision)) {
      return failure();
    }
    if (failed(parser.parseOptionalComma())) {
      return success();
    }
  }
  if (parser.parseKeyword("algorithm") || parser.parseEqual()) {
    return failure();
  }
  algorithm = dyn_cast_if_present<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, {}));
  return success(algorithm != nullptr);
}
void stablehlo::printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                                 ArrayAttr precision, DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// True in front of `dense<"0x0100..."> : tensor<2xi1>`, as far as one can see without parsing.
static bool isHexOfBooleans(SMLoc loc) {
  constexpr StringLiteral start = "dense<\"0x", middle = "> : tensor<";
  // The buffer ends in a NUL, at which all of these stop.
  const char *text = loc.getPointer();
  if (strncmp(text, start.data(), start.size()) != 0) {
    return false;
  }
  const char *quote = strchr(text + start.size(), '"');
  if (!quote || strncmp(quote + 1, middle.data(), middle.size()) != 0) {
    return false;
  }
  const char *type = quote + 1 + middle.size();
  return StringRef(type, strcspn(type, ">\n")).ends_with("xi1");
}

/// Reads `dense<"0x..."> : TYPE` of i1. Newer versions of MLIR, which JAX uses, write a byte for
/// each element; the version that this is built with writes and reads eight elements in a byte.
static ParseResult parseHexOfBooleans(OpAsmParser &parser, ElementsAttr &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string digits, bytes;
  RankedTensorType type;
  if (parser.parseKeyword("dense") || parser.parseLess() || parser.parseString(&digits) ||
      parser.parseGreater() || parser.parseColonType(type)) {
    return failure();
  }
  if (!type.hasStaticShape() || !type.getElementType().isInteger(1) ||
      !llvm::tryGetFromHex(StringRef(digits).drop_front(2), bytes)) {
    return parser.emitError(loc, "expected hexadecimal digits of an array of i1");
  }
  size_t count = type.getNumElements();
  if (bytes.size() != count ||
      llvm::any_of(bytes, [](char byte) { return byte != 0 && byte != 1; })) {
    bool isSplat = false;
    ArrayRef<char> packed(bytes.data(), bytes.size());
    if (!DenseElementsAttr::isValidRawBuffer(type, packed, isSplat)) {
      return parser.emitError(loc, "expected ") << count << " bytes that are 0 or 1";
    }
    value = DenseElementsAttr::getFromRawBuffer(type, packed);
    return success();
  }
  SmallVector<bool> elements(bytes.begin(), bytes.end());
  value = DenseElementsAttr::get(type, elements);
  return success();
}

ParseResult stablehlo::parseConstant(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    SmallVector<Type> results;
    if (parser.parseRParen() ||
        (succeeded(parser.parseOptionalLess()) &&
         (parser.parseAttribute(result.propertiesAttr) || parser.parseGreater())) ||
        parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
        parser.parseLParen() || parser.parseRParen() || parser.parseArrow() ||
        parser.parseType(results.emplace_back())) {
      return failure();
    }
    result.addTypes(results);
    return success();
  }
  ElementsAttr value;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes)) {
    return failure();
  }
  if (result.attributes.get("value")) {
    return parser.emitError(loc, "'value' stands after the attributes");
  }
  if (!isHexOfBooleans(parser.getCurrentLocation())) {
    if (parser.parseAttribute(value)) {
      return failure();
    }
  } else if (parseHexOfBooleans(parser, value)) {
    return failure();
  }
  result.addAttribute("value", value);
  result.addTypes(value.getType());
  return success();
}
void stablehlo::printConstant(OpAsmPrinter &printer, Operation *op, ElementsAttr value) {
  if (value.getType() != op->getResult(0).getType()) {
    printer.printGenericOp(op, /*printOpName=*/false);
    return;
  }
  printer.printOptionalAttrDict(op->getAttrs(), {"value"});
  printer << ' ';
  printer.printStrippedAttrOrType(value);
}
