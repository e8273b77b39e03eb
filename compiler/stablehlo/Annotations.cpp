//===- Annotations.cpp - Attributes of functions, ops and the module ------===//
//
// StableHLO has shardings, aliases and the like as attributes of other dialects:
//
//   mhlo.sharding = "{devices=[2,1]<=[2]}"      hlo.sharding
//   mhlo.frontend_attributes = {k = "v"}        hlo.frontend_attributes = {k="v"}
//   sdy.sharding = #sdy.sharding<@m, [{"x"}]>   hlo.frontend_attributes, key xla.sdy.sharding
//   tf.aliasing_output = 1                      hlo.input_output_alias of the module
//   jax.buffer_donor = true                     hlo.buffer_donor of the module
//   mhlo.layout_mode = "{0,1}"                  hlo.entry_computation_layout of the module
//
// Shardy's forms are those that XLA's export writes; compiler/transforms/spmd reads them.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Annotations.h"
#include "compiler/parser/AttributeText.h"
#include "compiler/stablehlo/Places.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include <map>

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

namespace {
using Frontend = std::map<std::string, std::string>;

/// `{k="v",...}` as parseHlo keeps it.
FailureOr<StringAttr> frontendText(const Frontend &entries, Location at) {
  std::string text;
  for (const auto &[key, value] : entries) {
    text += (text.empty() ? "" : ",") + key + "=" + quotedText(value);
  }
  return parseCommonAttribute("frontend_attributes", "{" + text + "}", at);
}

LogicalResult wrongKind(Location at, StringRef name, StringRef wanted) {
  return mlir::emitError(placeOf(at)) << "attribute '" << name << "' is not " << wanted;
}

/// Adds the strings of a dictionary.
LogicalResult readFrontend(Attribute value, StringRef name, Location at, Frontend &entries) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  if (!dictionary) {
    return wrongKind(at, name, "a dictionary of strings");
  }
  for (NamedAttribute each : dictionary) {
    auto text = dyn_cast<StringAttr>(each.getValue());
    entries[each.getName().str()] = text ? text.str() : textOf(each.getValue());
  }
  return success();
}
} // namespace

std::string hlo::stable::perValue(Attribute sharding) {
  std::string text = textOf(sharding);
  StringRef body = text;
  body.consume_front("#sdy.sharding");
  return ("#sdy.sharding_per_value<[" + body + "]>").str();
}

FailureOr<NamedAttrList> hlo::stable::annotationsOf(DictionaryAttr attributes, Location at) {
  return annotationsOf(attributes, {}, at);
}

FailureOr<NamedAttrList>
hlo::stable::annotationsOf(DictionaryAttr attributes,
                           ArrayRef<std::pair<std::string, std::string>> more, Location at) {
  NamedAttrList made;
  Frontend frontend(more.begin(), more.end());
  Location place = placeOf(at);
  for (NamedAttribute each : attributes) {
    StringRef name = each.getName();
    if (name == "mhlo.sharding") {
      auto text = dyn_cast<StringAttr>(each.getValue());
      if (!text) {
        return wrongKind(at, name, "a string");
      }
      FailureOr<StringAttr> sharding = parseCommonAttribute("sharding", text.getValue(), place);
      if (failed(sharding)) {
        return failure();
      }
      made.append("hlo.sharding", *sharding);
    } else if (name == "mhlo.frontend_attributes") {
      if (failed(readFrontend(each.getValue(), name, at, frontend))) {
        return failure();
      }
    } else if (name == "sdy.sharding" || name == "sdy.sharding_rule") {
      frontend["xla." + name.str()] = textOf(each.getValue());
    }
  }
  if (!frontend.empty()) {
    FailureOr<StringAttr> text = frontendText(frontend, place);
    if (failed(text)) {
      return failure();
    }
    made.append("hlo.frontend_attributes", *text);
  }
  return made;
}

LogicalResult hlo::stable::markResults(Converter &c, func::FuncOp main, Values &results) {
  for (auto [i, value] : llvm::enumerate(results)) {
    DictionaryAttr attributes = main.getResultAttrDict(i);
    if (!attributes) {
      continue;
    }
    auto call = [&](StringRef target, NamedAttribute annotation) {
      value = c.create("hlo.custom_call", value.getType(), value,
                       {c.text("custom_call_target", target),
                        c.flag("custom_call_has_side_effect", true), annotation});
    };
    if (Attribute sharding = attributes.get("sdy.sharding")) {
      FailureOr<StringAttr> text =
          frontendText({{"xla.sdy.sharding", perValue(sharding)}}, main.getLoc());
      if (failed(text)) {
        return failure();
      }
      call("xla.sdy.FuncResultSharding", c.named("hlo.frontend_attributes", *text));
    } else if (attributes.get("mhlo.sharding")) {
      FailureOr<NamedAttrList> list = annotationsOf(attributes, main.getLoc());
      if (failed(list)) {
        return failure();
      }
      call("Sharding", c.named("hlo.sharding", list->get("hlo.sharding")));
    }
  }
  return success();
}

namespace {
/// The order of dimensions in "{0,1}" or "{0,1:T(8)}"; nothing for "default" and "auto".
std::optional<SmallVector<int64_t>> layoutOrder(StringRef mode) {
  if (!mode.consume_front("{")) {
    return std::nullopt;
  }
  SmallVector<int64_t> order;
  SmallVector<StringRef> numbers;
  mode.take_until([](char c) { return c == '}' || c == ':'; }).split(numbers, ',', -1, false);
  for (StringRef number : numbers) {
    int64_t dim = 0;
    if (number.trim().getAsInteger(10, dim)) {
      return std::nullopt;
    }
    order.push_back(dim);
  }
  return order;
}

/// The array in the layout that its attributes ask for. `any` is set if they ask for one.
FailureOr<Type> inLayout(Type type, DictionaryAttr attributes, Location at, bool &any) {
  auto mode = attributes ? attributes.getAs<StringAttr>("mhlo.layout_mode") : StringAttr();
  RankedTensorType array = asArray(type);
  std::optional<SmallVector<int64_t>> order =
      mode && array ? layoutOrder(mode.getValue()) : std::nullopt;
  if (!order) {
    return type;
  }
  RankedTensorType laidOut =
      arrayType(array.getShape(), array.getElementType(), *order, boundedDimensions(array));
  if (std::string why = shapeProblem(laidOut); !why.empty()) {
    return mlir::emitError(placeOf(at)) << "mhlo.layout_mode: " << why;
  }
  any = true;
  return Type(laidOut);
}

class EntryAnnotator {
public:
  EntryAnnotator(ModuleOp module, func::FuncOp main, ComputationOp entry)
      : module(module), main(main), entry(entry), builder(module.getContext()) {}

  LogicalResult run() {
    return success(succeeded(annotateParameters()) && succeeded(annotateAliases()) &&
                   succeeded(annotateLayout()) && succeeded(annotateModule()));
  }

private:
  DictionaryAttr argument(unsigned i) {
    DictionaryAttr attributes = main.getArgAttrDict(i);
    return attributes ? attributes : builder.getDictionaryAttr({});
  }

  LogicalResult annotateParameters() {
    SmallVector<Attribute> all;
    bool any = false;
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      FailureOr<NamedAttrList> list = annotationsOf(argument(i), main.getArgument(i).getLoc());
      if (failed(list)) {
        return failure();
      }
      Origin origin = originOf(main.getArgument(i).getLoc());
      if (StringRef(origin.metadata()).contains("source_file")) {
        list->append("hlo.metadata", builder.getStringAttr(origin.metadata()));
      }
      any |= !list->empty();
      all.push_back(list->getDictionary(module.getContext()));
    }
    if (any) {
      entry->setAttr(entry.getArgAttrsAttrName(), builder.getArrayAttr(all));
    }
    return success();
  }

  LogicalResult annotateAliases() {
    SmallVector<Attribute> aliases, donors;
    auto empty = builder.getDenseI64ArrayAttr({});
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      auto parameter = builder.getNamedAttr("parameter", builder.getI64IntegerAttr(i));
      auto index = builder.getNamedAttr("parameter_index", empty);
      if (auto output = argument(i).getAs<IntegerAttr>("tf.aliasing_output")) {
        int64_t number = output.getValue().getSExtValue();
        if (number < 0 || number >= main.getNumResults()) {
          return mlir::emitError(placeOf(main.getArgument(i).getLoc()))
                 << "tf.aliasing_output: the function has no result " << number;
        }
        SmallVector<int64_t> path;
        if (main.getNumResults() != 1) {
          path.push_back(number);
        }
        aliases.push_back(builder.getDictionaryAttr(
            {builder.getNamedAttr("output_index", builder.getDenseI64ArrayAttr(path)), parameter,
             index, builder.getNamedAttr("kind", builder.getStringAttr("may-alias"))}));
      }
      auto donor = argument(i).getAs<BoolAttr>("jax.buffer_donor");
      if (donor && donor.getValue()) {
        donors.push_back(builder.getDictionaryAttr({parameter, index}));
      }
    }
    if (!aliases.empty()) {
      module->setAttr("hlo.input_output_alias", builder.getArrayAttr(aliases));
    }
    if (!donors.empty()) {
      module->setAttr("hlo.buffer_donor", builder.getArrayAttr(donors));
    }
    return success();
  }

  LogicalResult annotateLayout() {
    bool any = false;
    SmallVector<Type> parameters, results;
    FunctionType type = entry.getFunctionType();
    for (auto [i, each] : llvm::enumerate(type.getInputs())) {
      FailureOr<Type> made = inLayout(each, argument(i), main.getArgument(i).getLoc(), any);
      if (failed(made)) {
        return failure();
      }
      parameters.push_back(*made);
    }
    Type whole = type.getResult(0);
    bool isOne = main.getNumResults() == 1;
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      Type each = isOne ? whole : cast<TupleType>(whole).getType(i);
      FailureOr<Type> made = inLayout(each, main.getResultAttrDict(i), main.getLoc(), any);
      if (failed(made)) {
        return failure();
      }
      results.push_back(*made);
    }
    if (any) {
      Type result = isOne ? results.front() : TupleType::get(module.getContext(), results);
      module->setAttr("hlo.entry_computation_layout",
                      TypeAttr::get(builder.getFunctionType(parameters, result)));
    }
    return success();
  }

  LogicalResult annotateModule() {
    auto source = main->getParentOfType<ModuleOp>();
    for (auto [from, to] : {std::pair("mhlo.num_partitions", "hlo.num_partitions"),
                            std::pair("mhlo.num_replicas", "hlo.replica_count")}) {
      auto count = source->getAttrOfType<IntegerAttr>(from);
      if (count && count.getValue().getSExtValue() > 1) {
        module->setAttr(to, builder.getI64IntegerAttr(count.getValue().getSExtValue()));
      }
    }
    Frontend frontend;
    if (Attribute given = source->getAttr("mhlo.frontend_attributes")) {
      if (failed(readFrontend(given, "mhlo.frontend_attributes", source.getLoc(), frontend))) {
        return failure();
      }
    }
    std::string meshes;
    for (auto mesh : source.getOps<sdy::MeshOp>()) {
      meshes += (meshes.empty() ? "" : ", ") +
                (mesh.getSymName() + " = " + textOf(mesh.getMeshAttr())).str();
    }
    if (!meshes.empty()) {
      frontend["xla.sdy.meshes"] = "{" + meshes + "}";
    }
    if (frontend.empty()) {
      return success();
    }
    FailureOr<StringAttr> text = frontendText(frontend, placeOf(source.getLoc()));
    if (failed(text)) {
      return failure();
    }
    module->setAttr("hlo.frontend_attributes", *text);
    return success();
  }

  ModuleOp module;
  func::FuncOp main;
  ComputationOp entry;
  Builder builder;
};
} // namespace

LogicalResult hlo::stable::annotateEntry(ModuleOp module, func::FuncOp main, ComputationOp entry) {
  return EntryAnnotator(module, main, entry).run();
}
