//===- Attrs.cpp - Types and attributes of stablehlo ----------------------===//
#include "dialect/stablehlo/Assembly.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace stablehlo;

#include "dialect/stablehlo/Enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/stablehlo/Types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/Attrs.cpp.inc"

void StablehloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/stablehlo/Types.cpp.inc"
      >();
}

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/stablehlo/Attrs.cpp.inc"
      >();
}

LogicalResult FutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> types) {
  for (Type type : types) {
    if (!isa<RankedTensorType>(type)) {
      return emitError() << "a future of " << type << ", expected arrays";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lists of sizes and dimensions
//===----------------------------------------------------------------------===//

static ParseResult parseSize(AsmParser &parser, int64_t &size) {
  if (succeeded(parser.parseOptionalQuestion())) {
    size = ShapedType::kDynamic;
    return success();
  }
  return parser.parseInteger(size);
}

static void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    if (ShapedType::isDynamic(size)) {
      printer << '?';
    } else {
      printer << size;
    }
  });
}

FailureOr<SmallVector<int64_t>> stablehlo::parseDimSizes(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return parseSize(parser, sizes.emplace_back());
      })) {
    return failure();
  }
  return sizes;
}

void stablehlo::printDimSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << '[';
  printSizes(printer, sizes);
  printer << ']';
}

ParseResult stablehlo::parseNumbers(AsmParser &parser, ArrayRef<NumbersField> fields) {
  SmallVector<bool> seen(fields.size());
  bool more = true;
  while (failed(parser.parseOptionalGreater())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (!more) {
      return parser.emitError(loc, "expected ',' or '>'");
    }
    if (parser.parseKeyword(&keyword)) {
      return failure();
    }
    const auto *field =
        llvm::find_if(fields, [&](const NumbersField &f) { return f.name == keyword; });
    if (field == fields.end()) {
      InFlightDiagnostic error = parser.emitError(loc, "unknown field '");
      error << keyword << "', expected one of ";
      llvm::interleaveComma(fields, error, [&](const NumbersField &f) { error << f.name; });
      return error;
    }
    if (seen[field - fields.begin()]) {
      return parser.emitError(loc, "field '") << keyword << "' is repeated";
    }
    seen[field - fields.begin()] = true;
    if (parser.parseEqual()) {
      return failure();
    }
    if (field->number) {
      if (parser.parseInteger(*field->number)) {
        return failure();
      }
    } else {
      FailureOr<SmallVector<int64_t>> list = parseDimSizes(parser);
      if (failed(list)) {
        return failure();
      }
      *field->list = std::move(*list);
    }
    more = succeeded(parser.parseOptionalComma());
  }
  return success();
}

void NumbersPrinter::start(StringRef name) {
  printer << (first ? "" : ", ") << name << " = ";
  first = false;
}
NumbersPrinter &NumbersPrinter::list(StringRef name, ArrayRef<int64_t> values) {
  if (!values.empty()) {
    start(name);
    printDimSizes(printer, values);
  }
  return *this;
}
NumbersPrinter &NumbersPrinter::number(StringRef name, int64_t value) {
  if (value != 0) {
    start(name);
    printer << value;
  }
  return *this;
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  if (parser.parseLess() ||
      parseNumbers(parser, {{"lhs_batching_dimensions", &lhsBatch},
                            {"rhs_batching_dimensions", &rhsBatch},
                            {"lhs_contracting_dimensions", &lhsContracting},
                            {"rhs_contracting_dimensions", &rhsContracting}})) {
    return {};
  }
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContracting, rhsContracting);
}
void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  NumbersPrinter(printer)
      .list("lhs_batching_dimensions", getLhsBatchingDimensions())
      .list("rhs_batching_dimensions", getRhsBatchingDimensions())
      .list("lhs_contracting_dimensions", getLhsContractingDimensions())
      .list("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVector = 0;
  if (parser.parseLess() || parseNumbers(parser, {{"offset_dims", &offset},
                                                  {"collapsed_slice_dims", &collapsed},
                                                  {"operand_batching_dims", &operandBatching},
                                                  {"start_indices_batching_dims", &indicesBatching},
                                                  {"start_index_map", &indexMap},
                                                  {"index_vector_dim", nullptr, &indexVector}})) {
    return {};
  }
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, indexMap,
             indexVector);
}
void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  NumbersPrinter(printer)
      .list("offset_dims", getOffsetDims())
      .list("collapsed_slice_dims", getCollapsedSliceDims())
      .list("operand_batching_dims", getOperandBatchingDims())
      .list("start_indices_batching_dims", getStartIndicesBatchingDims())
      .list("start_index_map", getStartIndexMap())
      .number("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, inputBatching, indicesBatching, toOperand;
  int64_t indexVector = 0;
  if (parser.parseLess() ||
      parseNumbers(parser, {{"update_window_dims", &window},
                            {"inserted_window_dims", &inserted},
                            {"input_batching_dims", &inputBatching},
                            {"scatter_indices_batching_dims", &indicesBatching},
                            {"scatter_dims_to_operand_dims", &toOperand},
                            {"index_vector_dim", nullptr, &indexVector}})) {
    return {};
  }
  return get(parser.getContext(), window, inserted, inputBatching, indicesBatching, toOperand,
             indexVector);
}
void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  NumbersPrinter(printer)
      .list("update_window_dims", getUpdateWindowDims())
      .list("inserted_window_dims", getInsertedWindowDims())
      .list("input_batching_dims", getInputBatchingDims())
      .list("scatter_indices_batching_dims", getScatterIndicesBatchingDims())
      .list("scatter_dims_to_operand_dims", getScatterDimsToOperandDims())
      .number("index_vector_dim", getIndexVectorDim());
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        return parseSize(parser, bounds.emplace_back());
      })) {
    return {};
  }
  return get(parser.getContext(), bounds);
}
void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printSizes(printer, getBounds());
  printer << '>';
}

LogicalResult
TypeExtensionsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                   function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size()) {
    return emitError() << "the array has " << shape.size() << " dimensions and "
                       << getBounds().size() << " bounds";
  }
  for (auto [dimension, size, bound] : llvm::enumerate(shape, getBounds())) {
    if (ShapedType::isDynamic(bound)) {
      continue;
    }
    if (bound < 0) {
      return emitError() << "the bound of dimension " << dimension << " is " << bound;
    }
    if (!ShapedType::isDynamic(size)) {
      return emitError() << "dimension " << dimension << " has a static size, " << size
                         << ", and a bound, " << bound;
    }
  }
  return success();
}

ArrayRef<int64_t> stablehlo::boundsOf(RankedTensorType array) {
  auto encoding = dyn_cast_if_present<TypeExtensionsAttr>(array.getEncoding());
  return encoding ? encoding.getBounds() : ArrayRef<int64_t>();
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult parsed = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (parsed.has_value()) {
    return attribute;
  }
  // The long form of `bounds`.
  if (mnemonic == "type_extensions") {
    if (parser.parseLess() || parser.parseKeyword("bounds") || parser.parseEqual()) {
      return {};
    }
    FailureOr<SmallVector<int64_t>> bounds = parseDimSizes(parser);
    if (failed(bounds) || parser.parseGreater()) {
      return {};
    }
    return TypeExtensionsAttr::get(getContext(), *bounds);
  }
  parser.emitError(loc, "stablehlo has no attribute '") << mnemonic << "'";
  return {};
}

void StablehloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

ResultAccuracyAttr stablehlo::defaultAccuracy(MLIRContext *context) {
  return ResultAccuracyAttr::get(context, APFloat(0.0), APFloat(0.0), 0,
                                 ResultAccuracyModeAttr::get(context, ResultAccuracyMode::DEFAULT));
}

// <atol = 1.0e-05, rtol = 0.0, ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  auto parseTolerance = [&](StringRef name, double &value) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name))) {
      return success();
    }
    return failure(parser.parseEqual() || parser.parseFloat(value) || parser.parseComma());
  };
  if (parser.parseLess() || parseTolerance("atol", atol) || parseTolerance("rtol", rtol)) {
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("ulps")) &&
      (parser.parseEqual() || parser.parseInteger(ulps) || parser.parseComma())) {
    return {};
  }
  if (parser.parseKeyword("mode") || parser.parseEqual() || parser.parseAttribute(mode) ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<ResultAccuracyAttr>(loc, parser.getContext(), APFloat(atol),
                                               APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getAtol().isZero()) {
    printer << "atol = ";
    printer.printFloat(getAtol());
    printer << ", ";
  }
  if (!getRtol().isZero()) {
    printer << "rtol = ";
    printer.printFloat(getRtol());
    printer << ", ";
  }
  if (getUlps() != 0) {
    printer << "ulps = " << getUlps() << ", ";
  }
  printer << "mode = ";
  printer.printAttribute(getMode());
  printer << '>';
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat atol,
                                         APFloat rtol, int64_t ulps, ResultAccuracyModeAttr mode) {
  bool isZero = atol.isZero() && rtol.isZero() && ulps == 0;
  if ((mode.getValue() == ResultAccuracyMode::TOLERANCE) == isZero) {
    return emitError() << "tolerances are given with mode TOLERANCE, and only with it";
  }
  if (atol.isNegative() || rtol.isNegative() || ulps < 0) {
    return emitError() << "a tolerance is negative";
  }
  return success();
}
