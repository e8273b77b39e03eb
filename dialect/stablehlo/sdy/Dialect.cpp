//===- Dialect.cpp - Registration and attributes of sdy -------------------===//
#include "dialect/stablehlo/sdy/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Parts of the attributes' text
//===----------------------------------------------------------------------===//

namespace sdy {
/// `@mesh`, or `mesh<["x"=2]>`.
static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &mesh) {
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    mesh = MeshAttr::parse(parser, {});
    return success(mesh != nullptr);
  }
  FlatSymbolRefAttr symbol;
  if (parser.parseAttribute(symbol)) {
    return failure();
  }
  mesh = symbol;
  return success();
}
static void printMeshOrRef(AsmPrinter &printer, Attribute mesh) {
  if (auto inlined = dyn_cast<MeshAttr>(mesh)) {
    printer << "mesh";
    printer.printStrippedAttrOrType(inlined);
  } else {
    printer << mesh;
  }
}

/// `{"x", "y":(1)2}`
static ParseResult parseAxes(AsmParser &parser, SmallVector<AxisRefAttr> &axes) {
  if (parser.parseLBrace()) {
    return failure();
  }
  FailureOr<SmallVector<AxisRefAttr>> parsed = FieldParser<SmallVector<AxisRefAttr>>::parse(parser);
  if (failed(parsed)) {
    return failure();
  }
  axes = std::move(*parsed);
  return parser.parseRBrace();
}

/// `, replicated={"x"}, unreduced=max{"y"}`, each part where it is not empty.
static ParseResult parseReplicatedAndUnreducedAxes(AsmParser &parser,
                                                   SmallVector<AxisRefAttr> &replicated,
                                                   SmallVector<AxisRefAttr> &unreduced,
                                                   ReductionOp &reduction) {
  reduction = ReductionOp::SUM;
  while (succeeded(parser.parseOptionalComma())) {
    if (replicated.empty() && succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual() || parseAxes(parser, replicated)) {
        return failure();
      }
      continue;
    }
    if (!unreduced.empty() || failed(parser.parseOptionalKeyword("unreduced"))) {
      return parser.emitError(parser.getCurrentLocation(),
                              "expected 'replicated' or 'unreduced', each at most once");
    }
    if (succeeded(parser.parseOptionalEqual())) {
      for (ReductionOp op : {ReductionOp::SUM, ReductionOp::MAX, ReductionOp::MIN}) {
        if (succeeded(parser.parseOptionalKeyword(stringifyReductionOp(op)))) {
          reduction = op;
        }
      }
    }
    if (parseAxes(parser, unreduced)) {
      return failure();
    }
  }
  return success();
}
static void printReplicatedAndUnreducedAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> replicated,
                                            ArrayRef<AxisRefAttr> unreduced,
                                            ReductionOp reduction) {
  auto print = [&](StringRef text, ArrayRef<AxisRefAttr> axes) {
    printer << text << '{';
    printer.printStrippedAttrOrType(axes);
    printer << '}';
  };
  if (!replicated.empty()) {
    print(", replicated=", replicated);
  }
  if (!unreduced.empty()) {
    printer << ", unreduced=";
    print(reduction == ReductionOp::SUM ? "" : stringifyReductionOp(reduction), unreduced);
  }
}

//===----------------------------------------------------------------------===//
// Factors of sharding rules: i, j, ..., z, z_1, z_2, ... for 0, 1, ..., 17, 18, 19, ...
//===----------------------------------------------------------------------===//

static constexpr int64_t kFactorZ = 'z' - 'i';

static void printFactor(AsmPrinter &printer, int64_t factor) {
  if (factor <= kFactorZ) {
    printer << static_cast<char>('i' + factor);
  } else {
    printer << "z_" << factor - kFactorZ;
  }
}

/// Takes the first factor off `word`.
static ParseResult takeFactor(AsmParser &parser, SMLoc loc, StringRef &word, int64_t &factor) {
  if (word.consume_front("z_")) {
    uint32_t number;
    if (word.starts_with("0") || word.consumeInteger(10, number)) {
      return parser.emitError(loc, "expected a number from 1 on behind 'z_'");
    }
    factor = kFactorZ + static_cast<int64_t>(number);
    return success();
  }
  if (word.empty() || word.front() < 'i' || word.front() > 'z') {
    return parser.emitError(loc, "a factor is a letter from 'i' to 'z', or 'z_' and a number");
  }
  factor = word.front() - 'i';
  word = word.drop_front();
  return success();
}

/// One factor that is a word of its own.
static ParseResult parseFactor(AsmParser &parser, int64_t &factor) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word) || takeFactor(parser, loc, word, factor)) {
    return failure();
  }
  return word.empty() ? ParseResult(success()) : parser.emitError(loc, "expected one factor");
}

/// `{i=8, j=16}`, where the factors are in order.
static ParseResult parseFactorSizes(AsmParser &parser, SmallVector<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t factor;
    if (parseFactor(parser, factor)) {
      return failure();
    }
    if (factor != static_cast<int64_t>(sizes.size())) {
      return parser.emitError(loc, "factors must be in the order i, j, ...");
    }
    return failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  });
}
static void printFactorSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  if (sizes.empty()) {
    return;
  }
  int64_t factor = 0;
  printer << " {";
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    printFactor(printer, factor++);
    printer << '=' << size;
  });
  printer << '}';
}

/// `reduction={k}`
static ParseResult parseFactorsWithType(AsmParser &parser, SmallVector<int64_t> &factors,
                                        StringRef keyword) {
  if (failed(parser.parseOptionalKeyword(keyword))) {
    return success();
  }
  return failure(parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() {
                   return parseFactor(parser, factors.emplace_back());
                 }));
}
static void printFactorsWithType(AsmPrinter &printer, ArrayRef<int64_t> factors,
                                 StringRef keyword) {
  if (factors.empty()) {
    return;
  }
  printer << ' ' << keyword << "={";
  llvm::interleaveComma(factors, printer, [&](int64_t factor) { printFactor(printer, factor); });
  printer << '}';
}

static ParseResult parseIsCustomRule(AsmParser &parser, bool &isCustom) {
  isCustom = succeeded(parser.parseOptionalComma());
  return isCustom ? parser.parseKeyword("custom") : ParseResult(success());
}
static void printIsCustomRule(AsmPrinter &printer, bool isCustom) {
  printer << (isCustom ? ", custom" : "");
}
} // namespace sdy

#include "dialect/stablehlo/sdy/Dialect.cpp.inc"
#include "dialect/stablehlo/sdy/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/sdy/Attrs.cpp.inc"

void sdy::SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/stablehlo/sdy/Attrs.cpp.inc"
      >();
}

void sdy::SdyDialect::initialize() {
  registerAttributes();
  registerOps(*this);
}

//===----------------------------------------------------------------------===//
// Attributes with a text of their own
//===----------------------------------------------------------------------===//

/// A single factor in a `DimMapping`, several next to each other: `ij`.
Attribute sdy::DimMappingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> factors;
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    while (!word.empty()) {
      if (takeFactor(parser, loc, word, factors.emplace_back())) {
        return {};
      }
    }
  }
  return get(parser.getContext(), factors);
}
void sdy::DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices()) {
    printFactor(printer, factor);
  }
}

/// `{"x", ?}p2`
Attribute sdy::DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  if (parser.parseLBrace()) {
    return {};
  }
  while (isClosed && failed(parser.parseOptionalRBrace())) {
    if (!axes.empty() && parser.parseComma()) {
      return {};
    }
    if (succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      if (parser.parseRBrace()) {
        return {};
      }
      continue;
    }
    auto axis = dyn_cast_if_present<AxisRefAttr>(AxisRefAttr::parse(parser, {}));
    if (!axis) {
      return {};
    }
    axes.push_back(axis);
  }
  std::optional<int64_t> priority;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    StringRef digits = word;
    uint32_t value = 0;
    bool valid = digits.consume_front("p") && !digits.empty() &&
                 llvm::all_of(digits, llvm::isDigit) &&
                 (digits.size() == 1 || digits.front() != '0') && !digits.getAsInteger(10, value);
    if (!valid) {
      parser.emitError(loc, "expected a priority such as p1, found '") << word << "'";
      return {};
    }
    priority = value;
  }
  return get(parser.getContext(), axes, isClosed, priority);
}
void sdy::DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  printer.printStrippedAttrOrType(getAxes());
  if (!getIsClosed()) {
    printer << (getAxes().empty() ? "?" : ", ?");
  }
  printer << '}';
  if (getPriority()) {
    printer << 'p' << *getPriority();
  }
}

LogicalResult sdy::MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<MeshAxisAttr> axes, ArrayRef<int64_t> deviceIds) {
  if (axes.size() > stablehlo::kMostMeshAxes) {
    return emitError() << "the mesh has " << axes.size() << " axes, at most "
                       << stablehlo::kMostMeshAxes << " are supported";
  }
  int64_t total = 1;
  SmallVector<StringRef> names;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() < 1 || llvm::MulOverflow(total, axis.getSize(), total)) {
      return emitError() << "axis '" << axis.getName() << "' of the mesh has size "
                         << axis.getSize();
    }
    if (llvm::is_contained(names, axis.getName())) {
      return emitError() << "axis '" << axis.getName() << "' of the mesh is repeated";
    }
    names.push_back(axis.getName());
  }
  for (int64_t id : deviceIds) {
    if (id < 0) {
      return emitError() << "device " << id << " is negative";
    }
  }
  if (axes.empty()) {
    return deviceIds.size() <= 1
               ? LogicalResult(success())
               : emitError() << "a mesh without axes has one device, not " << deviceIds.size();
  }
  if (deviceIds.empty()) {
    return success();
  }
  SmallVector<int64_t> sorted = llvm::to_vector(deviceIds);
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != total ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, total))) {
    return emitError() << "the device_ids must be 0 to " << total - 1 << ", each once";
  }
  return success();
}

sdy::MeshAttr sdy::TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    return mesh;
  }
  auto symbol = cast<FlatSymbolRefAttr>(getMeshOrRef());
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, symbol.getAttr());
  return mesh ? mesh.getMesh() : MeshAttr();
}
