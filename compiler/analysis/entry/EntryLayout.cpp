//===- EntryLayout.cpp - The entry as its user sees it --------------------===//
//
// Module attributes <-> structs. The attributes are plain dictionaries, so that tests can print and
// parse them without code of their own.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/analysis/Shapes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hlo;

static constexpr StringLiteral kEntryLayout = "hlo.entry_layout";
static constexpr StringLiteral kLeafAlias = "hlo.leaf_alias";

static Attribute encode(Builder &builder, const EntryLeaf &leaf) {
  NamedAttrList attrs;
  attrs.set("name", builder.getStringAttr(leaf.name));
  attrs.set("type", TypeAttr::get(leaf.type));
  attrs.set("index", builder.getDenseI64ArrayAttr(leaf.index));
  if (leaf.parameter >= 0) {
    attrs.set("parameter", builder.getI64IntegerAttr(leaf.parameter));
  }
  if (leaf.donor) {
    attrs.set("donor", builder.getUnitAttr());
  }
  if (leaf.sizeOf >= 0) {
    attrs.set("size_of", builder.getI64IntegerAttr(leaf.sizeOf));
    attrs.set("size_dim", builder.getI64IntegerAttr(leaf.sizeDim));
  }
  if (!leaf.symbol.empty()) {
    attrs.set("symbol", builder.getStringAttr(leaf.symbol));
  }
  if (!leaf.sizes.empty()) {
    SmallVector<StringRef> sizes(leaf.sizes.begin(), leaf.sizes.end());
    attrs.set("sizes", builder.getStrArrayAttr(sizes));
  }
  return attrs.getDictionary(builder.getContext());
}

static FailureOr<EntryLeaf> decode(Attribute attr) {
  auto dict = dyn_cast<DictionaryAttr>(attr);
  if (!dict) {
    return failure();
  }
  EntryLeaf leaf;
  auto name = dict.getAs<StringAttr>("name");
  auto type = dict.getAs<TypeAttr>("type");
  auto index = dict.getAs<DenseI64ArrayAttr>("index");
  if (!name || !type || !index || !isa<RankedTensorType>(type.getValue())) {
    return failure();
  }
  leaf.name = name.str();
  leaf.type = cast<RankedTensorType>(type.getValue());
  leaf.index.assign(index.asArrayRef().begin(), index.asArrayRef().end());
  if (auto parameter = dict.getAs<IntegerAttr>("parameter")) {
    leaf.parameter = parameter.getInt();
  }
  leaf.donor = dict.contains("donor");
  auto sizeOf = dict.getAs<IntegerAttr>("size_of"), sizeDim = dict.getAs<IntegerAttr>("size_dim");
  if (sizeOf && sizeDim) {
    leaf.sizeOf = sizeOf.getInt();
    leaf.sizeDim = sizeDim.getInt();
  }
  if (auto symbol = dict.getAs<StringAttr>("symbol")) {
    leaf.symbol = symbol.str();
  }
  if (auto sizes = dict.getAs<ArrayAttr>("sizes")) {
    for (StringRef size : sizes.getAsValueRange<StringAttr>()) {
      leaf.sizes.push_back(size.str());
    }
  }
  return leaf;
}

void EntryLayout::set(ModuleOp module) const {
  Builder builder(module.getContext());
  auto list = [&](ArrayRef<EntryLeaf> leaves) {
    return builder.getArrayAttr(
        llvm::map_to_vector(leaves, [&](const EntryLeaf &leaf) { return encode(builder, leaf); }));
  };
  module->setAttr(kEntryLayout,
                  builder.getDictionaryAttr({builder.getNamedAttr("inputs", list(inputs)),
                                             builder.getNamedAttr("outputs", list(outputs))}));
  SmallVector<int64_t> pairs;
  for (LeafAlias alias : aliases) {
    pairs.append({alias.output, alias.input});
  }
  module->setAttr(kLeafAlias, builder.getDenseI64ArrayAttr(pairs));
}

FailureOr<EntryLayout> EntryLayout::get(ModuleOp module) {
  EntryLayout layout;
  auto dict = module->getAttrOfType<DictionaryAttr>(kEntryLayout);
  if (!dict) {
    return module.emitError("module has no ") << kEntryLayout << " attribute";
  }
  auto read = [&](StringRef key, SmallVectorImpl<EntryLeaf> &leaves) -> LogicalResult {
    auto list = dict.getAs<ArrayAttr>(key);
    for (Attribute attr : list ? list.getValue() : ArrayRef<Attribute>()) {
      FailureOr<EntryLeaf> leaf = decode(attr);
      if (failed(leaf)) {
        return module.emitError("malformed ") << kEntryLayout << " attribute: " << attr;
      }
      leaves.push_back(std::move(*leaf));
    }
    return success();
  };
  if (failed(read("inputs", layout.inputs)) || failed(read("outputs", layout.outputs))) {
    return failure();
  }
  if (auto pairs = module->getAttrOfType<DenseI64ArrayAttr>(kLeafAlias)) {
    ArrayRef<int64_t> values = pairs.asArrayRef();
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      layout.aliases.push_back({values[i], values[i + 1]});
    }
  }
  return layout;
}

SmallVector<int64_t> hlo::majorToMinor(RankedTensorType type) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  LayoutAttr layout = layoutOf(type);
  if (layout && static_cast<int64_t>(layout.getMinorToMajor().size()) == type.getRank()) {
    llvm::copy(llvm::reverse(layout.getMinorToMajor()), order.begin());
  }
  return order;
}

RankedTensorType hlo::physicalType(RankedTensorType type) {
  SmallVector<int64_t> shape;
  for (int64_t dim : majorToMinor(type)) {
    shape.push_back(type.getDimSize(dim));
  }
  return RankedTensorType::get(shape, type.getElementType());
}

bool hlo::isPacked(Type element) {
  int64_t bits = elementBits(element);
  return !isPred(element) && (bits == 1 || bits == 2 || bits == 4);
}

int64_t hlo::entryBytes(RankedTensorType type) {
  Type element = type.getElementType();
  if (!isPacked(element)) {
    return type.getNumElements() * elementBytes(element);
  }
  return llvm::divideCeil(type.getNumElements(), 8 / elementBits(element));
}
