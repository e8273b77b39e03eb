//===- Convolution.cpp - Dimension numbers and windows in the text --------===//
//
// The pattern `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` has a list for each of input, kernel and
// output: entry d is the role of dimension d, a letter or the number of a spatial dimension. Lists
// in which a role is missing, repeated or outside of the rank have no pattern; they are written
// `raw input_batch_dimension = 0, ...`.
//
//===----------------------------------------------------------------------===//
#include "dialect/stablehlo/Assembly.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace stablehlo;

namespace {
/// The roles of one array's dimensions.
struct Roles {
  char first, second; ///< letters of the two roles that are not spatial
  int64_t firstDim = 0, secondDim = 0;
  SmallVector<int64_t> spatial;

  /// Entries of the pattern: -1 and -2 for the letters, or a spatial dimension's number. Empty if
  /// there is no pattern.
  SmallVector<int64_t> pattern() const;
};
} // namespace

SmallVector<int64_t> Roles::pattern() const {
  constexpr int64_t unset = -3;
  SmallVector<int64_t> entries(spatial.size() + 2, unset);
  auto set = [&](int64_t dim, int64_t role) {
    if (dim < 0 || dim >= static_cast<int64_t>(entries.size()) || entries[dim] != unset) {
      return false;
    }
    entries[dim] = role;
    return true;
  };
  bool valid = set(firstDim, -1) && set(secondDim, -2);
  for (auto [number, dim] : llvm::enumerate(spatial)) {
    valid = valid && set(dim, number);
  }
  return valid ? entries : SmallVector<int64_t>();
}

static std::array<Roles, 3> rolesOf(ConvDimensionNumbersAttr numbers) {
  return {Roles{'b', 'f', numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                llvm::to_vector(numbers.getInputSpatialDimensions())},
          Roles{'i', 'o', numbers.getKernelInputFeatureDimension(),
                numbers.getKernelOutputFeatureDimension(),
                llvm::to_vector(numbers.getKernelSpatialDimensions())},
          Roles{'b', 'f', numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                llvm::to_vector(numbers.getOutputSpatialDimensions())}};
}

static ConvDimensionNumbersAttr attributeOf(MLIRContext *context, const std::array<Roles, 3> &r) {
  return ConvDimensionNumbersAttr::get(context, r[0].firstDim, r[0].secondDim, r[0].spatial,
                                       r[1].firstDim, r[1].secondDim, r[1].spatial, r[2].firstDim,
                                       r[2].secondDim, r[2].spatial);
}

static bool hasPattern(ConvDimensionNumbersAttr numbers) {
  return llvm::none_of(rolesOf(numbers), [](const Roles &r) { return r.pattern().empty(); });
}

static void printPattern(AsmPrinter &printer, ConvDimensionNumbersAttr numbers) {
  const char *separator = "";
  int part = 0;
  for (const Roles &roles : rolesOf(numbers)) {
    printer << separator << '[';
    llvm::interleaveComma(roles.pattern(), printer, [&](int64_t role) {
      if (role < 0) {
        printer << (role == -1 ? roles.first : roles.second);
      } else {
        printer << role;
      }
    });
    printer << ']';
    separator = part++ == 0 ? "x" : "->";
  }
}

static void printRaw(AsmPrinter &printer, ConvDimensionNumbersAttr n) {
  auto field = [&](StringRef name, auto value) { printer << ' ' << name << " = " << value; };
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    printer << ", " << name << " = ";
    printDimSizes(printer, values);
  };
  printer << "raw";
  field("input_batch_dimension", n.getInputBatchDimension());
  printer << ',';
  field("input_feature_dimension", n.getInputFeatureDimension());
  list("input_spatial_dimensions", n.getInputSpatialDimensions());
  printer << ',';
  field("kernel_input_feature_dimension", n.getKernelInputFeatureDimension());
  printer << ',';
  field("kernel_output_feature_dimension", n.getKernelOutputFeatureDimension());
  list("kernel_spatial_dimensions", n.getKernelSpatialDimensions());
  printer << ',';
  field("output_batch_dimension", n.getOutputBatchDimension());
  printer << ',';
  field("output_feature_dimension", n.getOutputFeatureDimension());
  list("output_spatial_dimensions", n.getOutputSpatialDimensions());
}

/// `[b, 0, f]`
static ParseResult parseRoles(AsmParser &parser, Roles &roles) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> spatial; // number, dimension
  bool hasFirst = false, hasSecond = false;
  int64_t dim = 0;
  auto parseRole = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      if (failed(*parsed)) {
        return failure();
      }
      if (number < 0) {
        return parser.emitError(loc, "spatial dimension ") << number << " is negative";
      }
      spatial.emplace_back(number, dim++);
      return success();
    }
    StringRef letter;
    if (parser.parseKeyword(&letter)) {
      return failure();
    }
    bool isFirst = letter == StringRef(&roles.first, 1);
    if (!isFirst && letter != StringRef(&roles.second, 1)) {
      return parser.emitError(loc, "expected a number, '")
             << roles.first << "' or '" << roles.second << "', found '" << letter << "'";
    }
    if (std::exchange(isFirst ? hasFirst : hasSecond, true)) {
      return parser.emitError(loc, "'") << letter << "' is repeated";
    }
    (isFirst ? roles.firstDim : roles.secondDim) = dim++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRole)) {
    return failure();
  }
  if (!hasFirst || !hasSecond) {
    return parser.emitError(start, "expected a dimension '")
           << (hasFirst ? roles.second : roles.first) << "'";
  }
  llvm::sort(spatial);
  for (auto [expected, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(expected)) {
      return parser.emitError(start, "the spatial dimensions must be numbered 0 to ")
             << spatial.size() - 1 << ", each once";
    }
    roles.spatial.push_back(entry.second);
  }
  return success();
}

static ParseResult parsePattern(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  std::array<Roles, 3> roles = {Roles{'b', 'f'}, Roles{'i', 'o'}, Roles{'b', 'f'}};
  if (parseRoles(parser, roles[0]) || parser.parseKeyword("x") || parseRoles(parser, roles[1]) ||
      parser.parseArrow() || parseRoles(parser, roles[2])) {
    return failure();
  }
  numbers = attributeOf(parser.getContext(), roles);
  return success();
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess()) {
    return {};
  }
  if (failed(parser.parseOptionalKeyword("raw"))) {
    ConvDimensionNumbersAttr numbers;
    if (parsePattern(parser, numbers) || parser.parseGreater()) {
      return {};
    }
    return numbers;
  }
  std::array<Roles, 3> r = {Roles{'b', 'f'}, Roles{'i', 'o'}, Roles{'b', 'f'}};
  if (parseNumbers(parser, {{"input_batch_dimension", nullptr, &r[0].firstDim},
                            {"input_feature_dimension", nullptr, &r[0].secondDim},
                            {"input_spatial_dimensions", &r[0].spatial},
                            {"kernel_input_feature_dimension", nullptr, &r[1].firstDim},
                            {"kernel_output_feature_dimension", nullptr, &r[1].secondDim},
                            {"kernel_spatial_dimensions", &r[1].spatial},
                            {"output_batch_dimension", nullptr, &r[2].firstDim},
                            {"output_feature_dimension", nullptr, &r[2].secondDim},
                            {"output_spatial_dimensions", &r[2].spatial}})) {
    return {};
  }
  return attributeOf(parser.getContext(), r);
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (hasPattern(*this)) {
    printPattern(printer, *this);
  } else {
    printRaw(printer, *this);
  }
  printer << '>';
}

ParseResult stablehlo::parseConvolutionDimensions(AsmParser &parser,
                                                  ConvDimensionNumbersAttr &numbers) {
  return parsePattern(parser, numbers);
}
/// The verifier refuses an op whose numbers have no pattern.
void stablehlo::printConvolutionDimensions(AsmPrinter &printer, Operation *,
                                           ConvDimensionNumbersAttr numbers) {
  printPattern(printer, numbers);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                             DenseIntElementsAttr &padding,
                                             DenseI64ArrayAttr &lhsDilation,
                                             DenseI64ArrayAttr &rhsDilation,
                                             DenseBoolArrayAttr &reversal) {
  Builder builder(parser.getContext());
  SmallVector<StringRef> seen;
  auto parsePadding = [&](SmallVectorImpl<int64_t> &values) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      SmallVector<int64_t, 2> pair;
      if (parseIntegers(parser, pair)) {
        return failure();
      }
      if (pair.size() != 2) {
        return parser.emitError(loc, "padding of a dimension has two numbers, not ") << pair.size();
      }
      values.append(pair);
      return success();
    });
  };
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (!llvm::is_contained({"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}, keyword)) {
      return parser.emitError(loc, "a window has no '") << keyword << "'";
    }
    if (llvm::is_contained(seen, keyword)) {
      return parser.emitError(loc, "'") << keyword << "' is repeated";
    }
    seen.push_back(keyword);
    SmallVector<int64_t> values;
    if (parser.parseEqual() ||
        (keyword == "pad" ? parsePadding(values) : parseIntegers(parser, values))) {
      return failure();
    }
    if (keyword == "pad") {
      auto type =
          RankedTensorType::get({static_cast<int64_t>(values.size()) / 2, 2}, builder.getI64Type());
      padding = DenseIntElementsAttr::get(type, values);
    } else if (keyword == "reverse") {
      reversal = builder.getDenseBoolArrayAttr(
          llvm::map_to_vector(values, [](int64_t value) { return value != 0; }));
    } else {
      DenseI64ArrayAttr &list = keyword == "stride"       ? strides
                                : keyword == "lhs_dilate" ? lhsDilation
                                                          : rhsDilation;
      list = builder.getDenseI64ArrayAttr(values);
    }
    if (failed(parser.parseOptionalComma())) {
      break;
    }
    loc = parser.getCurrentLocation();
  }
  return success();
}

void stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                                      DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                                      DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  bool first = true;
  auto start = [&](StringRef name) {
    printer << (first ? "" : ", ") << name << " = [";
    first = false;
  };
  auto list = [&](StringRef name, DenseI64ArrayAttr values) {
    if (values) {
      start(name);
      llvm::interleaveComma(values.asArrayRef(), printer);
      printer << ']';
    }
  };
  list("stride", strides);
  if (padding) {
    start("pad");
    auto values = llvm::to_vector(padding.getValues<int64_t>());
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      printer << (i ? ", [" : "[") << values[i] << ", " << values[i + 1] << ']';
    }
    printer << ']';
  }
  list("lhs_dilate", lhsDilation);
  list("rhs_dilate", rhsDilation);
  if (reversal) {
    start("reverse");
    llvm::interleaveComma(reversal.asArrayRef(), printer);
    printer << ']';
  }
}
