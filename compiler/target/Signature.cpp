//===- Signature.cpp - A module's interface, as C sees it -----------------===//
//
// In: the entry's leaves as the canonicalize phase recorded them. Out: the same with C names, ABI
// numbers and sizes. The header, the object's description, and the check that both belong together
// are made from it.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Signature.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace hlo;

hlo_type hlo::typeCode(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (integer.isSignless()) {
      return integer.getWidth() == 1 ? HLO_PRED : HLO_INVALID_TYPE;
    }
    bool isSigned = integer.isSigned();
    switch (integer.getWidth()) {
    case 1: return isSigned ? HLO_S1 : HLO_U1;
    case 2: return isSigned ? HLO_S2 : HLO_U2;
    case 4: return isSigned ? HLO_S4 : HLO_U4;
    case 8: return isSigned ? HLO_S8 : HLO_U8;
    case 16: return isSigned ? HLO_S16 : HLO_U16;
    case 32: return isSigned ? HLO_S32 : HLO_U32;
    case 64: return isSigned ? HLO_S64 : HLO_U64;
    default: return HLO_INVALID_TYPE;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return complex.getElementType().isF32() ? HLO_C64 : HLO_C128;
  }
  return llvm::TypeSwitch<Type, hlo_type>(element)
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE) .Case<TYPE>([](Type) { return HLO_##CODE; })
#include "dialect/hlo/FloatTypes.def"
      .Default([](Type) { return HLO_INVALID_TYPE; });
}

/// The element order in words; see describeLeaf.
static std::string layoutInWords(const Leaf &leaf) {
  size_t rank = leaf.dims.size();
  bool rowMajor = true;
  for (auto [i, dim] : llvm::enumerate(leaf.minorToMajor)) {
    rowMajor &= dim == static_cast<int64_t>(rank - 1 - i);
  }
  if (rowMajor) {
    return "row-major";
  }
  if (rank == 2) {
    return "column-major: element (i,j) at j*rows+i";
  }
  auto index = [&](int64_t dim) {
    return rank <= 6 ? std::string(1, static_cast<char>('i' + dim)) : "i" + std::to_string(dim);
  };
  std::string element, place;
  for (size_t dim = 0; dim < rank; ++dim) {
    element += (dim ? "," : "") + index(dim);
  }
  for (int64_t dim : llvm::reverse(leaf.minorToMajor)) {
    bool sum = llvm::StringRef(place).contains('+');
    place = (place.empty()
                 ? ""
                 : (sum ? "(" + place + ")" : place) + "*" + std::to_string(leaf.dims[dim]) + "+") +
            index(dim);
  }
  return "element (" + element + ") at " + place;
}

FailureOr<Leaf> hlo::describeLeaf(RankedTensorType type, StringRef name, bool packed) {
  Leaf leaf;
  leaf.name = name.str();
  leaf.type = typeCode(type.getElementType());
  if (leaf.type == HLO_INVALID_TYPE || !type.hasStaticShape()) {
    return failure();
  }
  StringRef spelling = primitiveName(type.getElementType());
  uint64_t size = elementBytes(type.getElementType());
  leaf.dims.assign(type.getShape().begin(), type.getShape().end());
  SmallVector<int64_t> order = majorToMinor(type);
  leaf.minorToMajor.assign(order.rbegin(), order.rend());
  leaf.bytes = packed ? entryBytes(type) : size * type.getNumElements();
  // Complex numbers are aligned as their parts are.
  leaf.align = leaf.type == HLO_C64 || leaf.type == HLO_C128 ? size / 2 : size;
  auto list = [](ArrayRef<int64_t> values) {
    return llvm::join(llvm::map_range(values, [](int64_t v) { return std::to_string(v); }), ",");
  };
  std::string dims;
  for (auto [dim, size] : llvm::enumerate(leaf.dims)) {
    bool isBound = llvm::is_contained(boundedDimensions(type), static_cast<int64_t>(dim));
    dims += (dim ? "," : "") + (isBound ? "<=" + std::to_string(size) : std::to_string(size));
  }
  leaf.typeText = (spelling + "[" + dims + "]").str();
  if (!leaf.dims.empty()) {
    leaf.typeText += "{" + list(leaf.minorToMajor) + "}";
  }
  if (packed && isPacked(type.getElementType())) {
    std::string packing = ":E(" + std::to_string(elementBits(type.getElementType())) + ")}";
    if (leaf.dims.empty()) {
      packing = "{" + packing;
    } else {
      leaf.typeText.pop_back();
    }
    leaf.typeText += packing;
  }
  leaf.layoutText = layoutInWords(leaf);
  return leaf;
}

/// Describes a leaf of the entry; an error names the leaf.
static FailureOr<Leaf> makeLeaf(ModuleOp module, RankedTensorType type, StringRef name) {
  FailureOr<Leaf> leaf = describeLeaf(type, name);
  if (failed(leaf)) {
    module.emitError() << "entry: '" << name << "' has type " << type
                       << ", which no caller can pass";
  }
  return leaf;
}

/// Names, and the number to try next for another one that is equal.
using TakenNames = llvm::StringMap<unsigned>;

/// Makes `name` different from all names in `taken`, and adds it.
static std::string makeUnique(const std::string &name, TakenNames &taken) {
  std::string unique = name;
  unsigned next = taken.lookup(name);
  while (!taken.try_emplace(unique, 1).second) {
    unique = name + "_" + std::to_string(next++);
  }
  if (next) {
    taken[name] = next;
  }
  return unique;
}

/// Rank of replicas or partitions that the module was written for.
static uint32_t countOf(ModuleOp module, StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count && count.getInt() > 0 ? count.getInt() : 1;
}

StringRef hlo::parameterName(const EntryLeaf &leaf) {
  std::string path;
  for (int64_t index : leaf.index) {
    path += "_" + std::to_string(index);
  }
  StringRef name = leaf.name;
  name.consume_back(path);
  return name;
}

/// Maps HLO names of parameters to names without numbers, where no other parameter has that name.
static llvm::StringMap<StringRef> shortNames(ArrayRef<EntryLeaf> inputs) {
  llvm::StringMap<llvm::StringSet<>> users;
  for (const EntryLeaf &leaf : inputs) {
    StringRef name = parameterName(leaf);
    users[withoutNumber(name)].insert(name);
  }
  llvm::StringMap<StringRef> names;
  for (const EntryLeaf &leaf : inputs) {
    StringRef name = parameterName(leaf), plain = withoutNumber(name);
    names[name] = users[plain].size() == 1 ? plain : name;
  }
  return names;
}

std::string Signature::partitionsText() const {
  return mesh.sizes.empty()
             ? ""
             : std::to_string(partitions) + " partitions, mesh " + cText(meshText(mesh));
}

std::string hlo::printSignature(const Signature &signature, ArrayRef<std::string> names) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto print = [&](StringRef kind, const std::vector<Leaf> &leaves,
                   const std::vector<Leaf> &other) {
    size_t nameWidth = 0, typeWidth = 0;
    for (const Leaf &leaf : leaves) {
      nameWidth = std::max(nameWidth, leaf.name.size());
      typeWidth = std::max(typeWidth, leaf.typeText.size());
    }
    for (const auto &[i, leaf] : llvm::enumerate(leaves)) {
      out << llvm::left_justify((kind + llvm::Twine(i)).str(), 6) << ' '
          << llvm::left_justify(leaf.name, nameWidth) << "  "
          << llvm::left_justify(leaf.typeText, typeWidth) << "  ";
      if (leaf.sizeOf >= 0) {
        out << "size " << (leaf.symbol.empty() ? "" : leaf.symbol + ": that ") << "of dimension "
            << leaf.sizeDim << " of " << leaves[leaf.sizeOf].name << '\n';
        continue;
      }
      out << leaf.layoutText << ", " << leaf.bytes << (leaf.bytes == 1 ? " byte" : " bytes")
          << (leaf.isDense() ? " at most, dense" : "");
      if (!leaf.sizesText.empty()) {
        out << ", sizes " << leaf.sizesText;
      }
      if (leaf.alias >= 0) {
        out << ", may share the buffer of " << other[leaf.alias].name;
      }
      if (!leaf.shardingText.empty()) {
        out << ", " << leaf.shardingText;
      }
      if (kind == "in" && i < names.size() && names[i] != leaf.name) {
        out << ", in the text " << names[i];
      }
      out << '\n';
    }
  };
  print("in", signature.inputs, signature.outputs);
  print("out", signature.outputs, signature.inputs);
  if (std::string partitions = signature.partitionsText(); !partitions.empty()) {
    out << partitions << '\n';
  }
  return text;
}

std::string hlo::hashedSymbol(const Signature &signature, StringRef symbol) {
  return (symbol + "_" + llvm::utohexstr(signature.hash, /*LowerCase=*/true, /*Width=*/16)).str();
}

/// True for macros that the header of `prefix` defines, and for the name of its struct.
static bool clashesWithHeader(StringRef name, StringRef prefix) {
  return name.starts_with(prefix.upper() + "_") || name == (prefix + "_args").str();
}

/// Sets how the leaves are split; fails unless they have the shapes of shards.
static LogicalResult addShardings(ModuleOp module, Signature &signature) {
  FailureOr<EntryShards> shards = EntryShards::get(module);
  if (failed(shards)) {
    return failure();
  }
  for (auto [list, leaves] : {std::pair(&shards->params, &signature.inputs),
                              std::pair(&shards->results, &signature.outputs)}) {
    if (list->size() > leaves->size()) {
      return module.emitError() << "hlo.entry_shards has " << list->size() << " leaves of "
                                << leaves->size();
    }
    for (auto [sharding, leaf] : llvm::zip(*list, *leaves)) {
      if (!sharding) {
        continue;
      }
      if (leaf.sizeOf >= 0 || sharding->dims.size() != leaf.dims.size() ||
          sharding->shardDims(shards->mesh) != leaf.dims) {
        return module.emitError() << "hlo.entry_shards: '" << leaf.name << "' of type "
                                  << leaf.typeText << " is no shard of its array";
      }
      leaf.shardingText =
          "shard of " + StringRef(leaf.typeText).split('[').first.str() + "[" +
          llvm::join(llvm::map_range(sharding->dims, [](int64_t d) { return std::to_string(d); }),
                     ",") +
          "] by " + cText(axesText(*sharding, shards->mesh));
      leaf.sharding = std::move(*sharding);
      signature.mesh = shards->mesh;
    }
  }
  return success();
}

FailureOr<Signature> hlo::makeSignature(ModuleOp module, StringRef prefix, StringRef moduleHash) {
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  if (failed(layout)) {
    return failure();
  }
  Signature signature;
  signature.prefix = signature.symbols = prefix.str();
  signature.replicas = countOf(module, "hlo.replica_count");
  signature.partitions = countOf(module, "hlo.num_partitions");
  // A member that the argument struct already has.
  TakenNames taken;
  taken["signature"] = 1;
  auto add = [&](std::vector<Leaf> &leaves, const EntryLeaf &leaf, std::string name) {
    if (leaf.sizeOf >= 0) {
      name = leaf.symbol.empty() || leaf.symbol.find(':') != std::string::npos
                 ? leaves[leaf.sizeOf].name + "_size" + std::to_string(leaf.sizeDim)
                 : cIdentifier(leaf.symbol);
    }
    name += clashesWithHeader(name, prefix) ? "_" : "";
    FailureOr<Leaf> made = makeLeaf(module, leaf.type, makeUnique(name, taken));
    if (succeeded(made)) {
      made->sizeOf = leaf.sizeOf;
      made->sizeDim = leaf.sizeDim;
      made->symbol = leaf.symbol;
      if (!leaf.sizes.empty()) {
        made->sizesText = "[" + llvm::join(leaf.sizes, ", ") + "]";
      }
      if (module->hasAttr(kDenseBuffers) && !boundedDimensions(leaf.type).empty()) {
        made->sizeDim = HLO_DENSE;
      }
      leaves.push_back(std::move(*made));
    }
    return LogicalResult(made);
  };
  llvm::StringMap<StringRef> shorter = shortNames(layout->inputs);
  for (const auto &[i, leaf] : llvm::enumerate(layout->inputs)) {
    std::string name = "in" + std::to_string(i);
    if (!leaf.name.empty()) {
      StringRef parameter = parameterName(leaf), path = leaf.name;
      path.consume_front(parameter);
      name = cIdentifier((shorter.lookup(parameter) + path).str());
    }
    if (failed(add(signature.inputs, leaf, name))) {
      return failure();
    }
  }
  for (const auto &[i, leaf] : llvm::enumerate(layout->outputs)) {
    std::string name =
        leaf.name.empty() ? "out" + std::to_string(i) : cIdentifier("out_" + leaf.name);
    if (leaf.name.empty() && (layout->outputs.size() == 1 || layout->outputs[1].sizeOf >= 0)) {
      name = "out";
    }
    if (failed(add(signature.outputs, leaf, name))) {
      return failure();
    }
  }
  for (auto [leaf, made] : llvm::zip(layout->inputs, signature.inputs)) {
    std::string textName = cIdentifier(leaf.name);
    if (leaf.sizeOf < 0 && !leaf.name.empty() && !clashesWithHeader(textName, prefix) &&
        taken.try_emplace(textName, 1).second) {
      made.textName = textName;
    }
  }
  for (const LeafAlias &alias : layout->aliases) {
    signature.outputs[alias.output].alias = alias.input;
    signature.inputs[alias.input].alias = alias.output;
  }
  if (failed(addShardings(module, signature))) {
    return failure();
  }
  std::string all = moduleHash.str() + ";";
  for (const std::vector<Leaf> *leaves : {&signature.inputs, &signature.outputs}) {
    for (const Leaf &leaf : *leaves) {
      all += leaf.name + " " + leaf.typeText + leaf.sizesText + "@" + std::to_string(leaf.alias) +
             ";" + leaf.shardingText + (leaf.isDense() ? "dense" : "");
    }
    all += "->";
  }
  signature.hash = llvm::xxh3_64bits(all);
  return signature;
}
