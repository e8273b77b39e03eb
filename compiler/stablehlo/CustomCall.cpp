//===- CustomCall.cpp - Rules of custom calls -----------------------------===//
//
// A custom call keeps its target, layouts, aliases and configuration. Some targets name what has an
// opcode of its own in HLO: `mhlo.erf` and the like, which exports for older readers contain, and
// ApproxTopK, for which XLA makes an exact sort on CPUs.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/AttributeText.h"
#include "compiler/stablehlo/Annotations.h"
#include "compiler/stablehlo/Places.h"
#include "compiler/stablehlo/Rules.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

using Attributes = SmallVector<NamedAttribute>;

/// The array in the layout that a list of dimensions, the minor one first, gives.
static Type inLayout(Type type, Attribute order) {
  RankedTensorType array = asArray(type);
  auto dims = dyn_cast<DenseIntElementsAttr>(order);
  if (!array || !dims || dims.getNumElements() != array.getRank()) {
    return type;
  }
  SmallVector<int64_t> minorToMajor;
  for (const APInt &dim : dims.getValues<APInt>()) {
    minorToMajor.push_back(dim.getSExtValue());
  }
  return arrayType(array.getShape(), array.getElementType(), minorToMajor,
                   boundedDimensions(array));
}

static SmallVector<Type> inLayouts(Converter &c, TypeRange types, std::optional<ArrayAttr> orders) {
  SmallVector<Type> made;
  for (auto [i, type] : llvm::enumerate(types)) {
    Type converted = c.type(type);
    made.push_back(orders && i < orders->size() ? inLayout(converted, (*orders)[i]) : converted);
  }
  return made;
}

/// `{{0}: (1, {})}`.
static std::string aliasesText(ArrayAttr aliases) {
  auto list = [](ArrayRef<int64_t> values) {
    return "{" +
           llvm::join(llvm::map_range(values, [](int64_t i) { return std::to_string(i); }), ",") +
           "}";
  };
  SmallVector<std::string> entries;
  for (auto alias : aliases.getAsRange<stablehlo::OutputOperandAliasAttr>()) {
    entries.push_back(list(alias.getOutputTupleIndices()) + ": (" +
                      std::to_string(alias.getOperandIndex()) + ", " +
                      list(alias.getOperandTupleIndices()) + ")");
  }
  return "{" + llvm::join(entries, ", ") + "}";
}

/// The configuration and the version of the call's interface. JAX writes the dictionary of a typed
/// call as `mhlo.backend_config` beside an empty string.
static LogicalResult addConfig(Converter &c, stablehlo::CustomCallOp op, Attributes &attributes) {
  Attribute config = op->getAttr("backend_config");
  Attribute typed = op->getAttr("mhlo.backend_config");
  bool isTyped = isa_and_nonnull<DictionaryAttr>(typed) || isa_and_nonnull<DictionaryAttr>(config);
  std::string text;
  if (isTyped) {
    text = textOf(isa_and_nonnull<DictionaryAttr>(typed) ? typed : config);
  } else if (auto string = dyn_cast_if_present<StringAttr>(config); string && !string.empty()) {
    text = quotedText(string.getValue());
  }
  if (!text.empty()) {
    FailureOr<StringAttr> value =
        parseCommonAttribute("backend_config", text, placeOf(op.getLoc()));
    if (failed(value)) {
      return failure();
    }
    attributes.push_back(c.named("hlo.backend_config", *value));
  }
  StringRef version = stablehlo::stringifyCustomCallApiVersion(op.getApiVersion());
  if (isTyped) {
    version = "API_VERSION_TYPED_FFI";
  }
  if (version != "API_VERSION_ORIGINAL" && version != "API_VERSION_UNSPECIFIED") {
    attributes.push_back(c.text("api_version", version));
  }
  return success();
}

static LogicalResult convertPlain(Converter &c, stablehlo::CustomCallOp op) {
  auto isPlain = [](Attribute tiling) { return cast<ArrayAttr>(tiling).empty(); };
  if (ArrayAttr tilings = op.getResultTilingsAttr(); tilings && !llvm::all_of(tilings, isPlain)) {
    return op.emitOpError() << "has result_tilings; tiled layouts are not supported";
  }
  Attributes attributes{c.text("custom_call_target", op.getCallTargetName())};
  if (op.getHasSideEffect()) {
    attributes.push_back(c.flag("custom_call_has_side_effect", true));
  }
  if (auto orders = op.getOperandLayouts()) {
    SmallVector<Attribute> types;
    for (Type type : inLayouts(c, op->getOperandTypes(), orders)) {
      types.push_back(TypeAttr::get(type));
    }
    attributes.push_back(c.named("operand_layout_constraints", c.builder.getArrayAttr(types)));
  }
  if (ArrayAttr aliases = op.getOutputOperandAliases(); aliases && !aliases.empty()) {
    attributes.push_back(c.text("output_to_operand_aliasing", aliasesText(aliases)));
  }
  SmallVector<Attribute> callees;
  for (auto name : op.getCalledComputations().getAsRange<FlatSymbolRefAttr>()) {
    Computation callee = c.function(op, name.getValue());
    if (failed(callee)) {
      return failure();
    }
    callees.push_back(*callee);
  }
  if (!callees.empty()) {
    attributes.push_back(c.named("called_computations", c.builder.getArrayAttr(callees)));
  }
  if (failed(addConfig(c, op, attributes))) {
    return failure();
  }
  SmallVector<Type> results = inLayouts(c, op->getResultTypes(), op.getResultLayouts());
  Type result = results.size() == 1 ? results.front() : TupleType::get(c.context, results);
  return c.bind(op, c.create("hlo.custom_call", result, c.get(op->getOperands()), attributes));
}

static DictionaryAttr attributesOf(stablehlo::CustomCallOp op, StringRef name) {
  auto given = op->getAttrOfType<DictionaryAttr>(name);
  return given ? given : DictionaryAttr::get(op.getContext());
}

/// Operands: arrays, then one initial value for each. The k first of each array, sorted.
static LogicalResult convertApproxTopK(Converter &c, stablehlo::CustomCallOp op) {
  DictionaryAttr config = attributesOf(op, "mhlo.backend_config");
  auto k = config.getAs<IntegerAttr>("top_k"), dim = config.getAs<IntegerAttr>("reduction_dim");
  auto callees = llvm::to_vector(op.getCalledComputations().getAsRange<FlatSymbolRefAttr>());
  unsigned count = op->getNumResults();
  if (!k || !dim || callees.size() != 1 || op->getNumOperands() != 2 * count || count == 0) {
    return op.emitOpError() << "ApproxTopK needs top_k, reduction_dim and one comparison";
  }
  Computation compare = c.function(op, callees.front().getValue());
  if (failed(compare)) {
    return failure();
  }
  Values arrays = c.get(op->getOperands().take_front(count));
  int64_t axis = dim.getInt();
  if (axis < 0 || axis >= HloBuilder::type(arrays.front()).getRank() || k.getInt() < 0 ||
      k.getInt() > HloBuilder::type(arrays.front()).getDimSize(axis)) {
    return op.emitOpError() << "ApproxTopK of " << k.getInt() << " in dimension " << axis << " of "
                            << hloText(arrays.front().getType());
  }
  Value sorted = c.create("hlo.sort", c.joined(op->getOperands().take_front(count).getTypes()),
                          arrays, {c.integer("dimension", axis), c.named("to_apply", *compare)});
  Values results;
  for (Value whole : c.unpacked(sorted, count)) {
    results.push_back(c.hlo().sliceDim(whole, axis, 0, k.getInt()));
  }
  return c.bind(op, ValueRange(results));
}

/// `mhlo.topk` {k, largest}: the opcode topk.
static LogicalResult convertTopk(Converter &c, stablehlo::CustomCallOp op) {
  DictionaryAttr given = attributesOf(op, "mhlo.attributes");
  auto k = given.getAs<IntegerAttr>("k");
  auto largest = given.getAs<BoolAttr>("largest");
  if (!k) {
    return op.emitOpError() << "mhlo.topk has no 'k'";
  }
  return c.bind(op, c.create("hlo.topk", c.joined(op->getResultTypes()), c.get(op->getOperands()),
                             {c.integer("k", k.getInt()),
                              c.flag("largest", !largest || largest.getValue())}));
}

static LogicalResult convertCustomCall(Converter &c, stablehlo::CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (target == "ApproxTopK") {
    return convertApproxTopK(c, op);
  }
  if (target == "mhlo.topk") {
    return convertTopk(c, op);
  }
  bool isUnary =
      llvm::is_contained({"mhlo.acos", "mhlo.acosh", "mhlo.asin", "mhlo.asinh", "mhlo.atanh",
                          "mhlo.cosh", "mhlo.erf", "mhlo.sinh", "mhlo.tan"},
                         target);
  if (isUnary && op->getNumOperands() == 1 && op->getNumResults() == 1) {
    std::string name = ("hlo." + target.drop_front(strlen("mhlo."))).str();
    return c.bind(op, c.create(name, c.type(op->getResult(0).getType()), c.get(op->getOperands())));
  }
  return convertPlain(c, op);
}

void hlo::stable::addCustomCallRules(Rules &rules) {
  rules.add<stablehlo::CustomCallOp, convertCustomCall>();
}
