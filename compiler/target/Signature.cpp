//===- Signature.cpp - A module's interface, as C sees it -----------------===//
//
// In: the entry's leaves as the canonicalize phase wrote them down. Out: the same with
// the names, numbers and sizes that the ABI has: what the header, the description in the
// object, and the check that the two belong together are made from.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Signature.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace hlo;

/// INT8_MAX, UINT_FAST16_MAX, SIZE_MAX, INT64_C, ...: what <stdint.h> and <limits.h> define.
static bool isLimitMacro(StringRef id) {
  static constexpr StringRef kinds[] = {"INT",   "UINT",  "PTRDIFF", "SIZE",  "SIG_ATOMIC", "WINT",
                                        "WCHAR", "CHAR",  "SCHAR",   "UCHAR", "SHRT",       "USHRT",
                                        "LONG",  "ULONG", "LLONG",   "ULLONG"};
  auto [kind, limit] = id.rsplit('_');
  return llvm::is_contained({"MAX", "MIN", "C", "WIDTH", "BIT"}, limit) &&
         (llvm::is_contained(kinds, kind) || kind.starts_with("INT") || kind.starts_with("UINT"));
}

std::string hlo::cIdentifier(StringRef text) {
  std::string id;
  for (char c : text) {
    id += llvm::isAlnum(c) ? c : '_';
  }
  if (id.empty() || llvm::isDigit(id[0])) {
    id.insert(id.begin(), '_');
  }
  static constexpr StringRef keywords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
      "char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval "
      "constexpr constinit continue decltype default delete do double dynamic_cast else enum "
      "explicit export extern false float for friend goto if inline int long mutable namespace new "
      "noexcept not not_eq nullptr operator or or_eq private protected public register "
      "reinterpret_cast requires restrict return short signature signed sizeof static "
      "static_assert static_cast struct switch template this thread_local throw true try typedef "
      "typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq "
      "linux unix errno NULL I EOF stdin stdout stderr assert NAN INFINITY HUGE_VAL ";
  if (keywords.contains((" " + id + " ")) || isLimitMacro(id)) {
    id += '_';
  }
  return id;
}

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
      .Case<Float16Type>([](Type) { return HLO_F16; })
      .Case<BFloat16Type>([](Type) { return HLO_BF16; })
      .Case<Float32Type>([](Type) { return HLO_F32; })
      .Case<Float64Type>([](Type) { return HLO_F64; })
      .Case<Float8E5M2Type>([](Type) { return HLO_F8E5M2; })
      .Case<Float8E4M3Type>([](Type) { return HLO_F8E4M3; })
      .Case<Float8E4M3FNType>([](Type) { return HLO_F8E4M3FN; })
      .Case<Float8E4M3B11FNUZType>([](Type) { return HLO_F8E4M3B11FNUZ; })
      .Case<Float8E5M2FNUZType>([](Type) { return HLO_F8E5M2FNUZ; })
      .Case<Float8E4M3FNUZType>([](Type) { return HLO_F8E4M3FNUZ; })
      .Case<Float8E3M4Type>([](Type) { return HLO_F8E3M4; })
      .Case<Float8E8M0FNUType>([](Type) { return HLO_F8E8M0FNU; })
      .Case<Float4E2M1FNType>([](Type) { return HLO_F4E2M1FN; })
      .Case<Float6E2M3FNType>([](Type) { return HLO_F6E2M3FN; })
      .Case<Float6E3M2FNType>([](Type) { return HLO_F6E3M2FN; })
      .Default([](Type) { return HLO_INVALID_TYPE; });
}

/// HLO's spelling and the size of one element, by hlo_type.
static std::pair<StringRef, uint64_t> typeProperties(hlo_type type) {
  static constexpr std::pair<StringRef, uint64_t> table[] = {
      {"invalid", 0},    {"pred", 1},
      {"s1", 1},         {"s2", 1},
      {"s4", 1},         {"s8", 1},
      {"s16", 2},        {"s32", 4},
      {"s64", 8},        {"u1", 1},
      {"u2", 1},         {"u4", 1},
      {"u8", 1},         {"u16", 2},
      {"u32", 4},        {"u64", 8},
      {"f16", 2},        {"bf16", 2},
      {"f32", 4},        {"f64", 8},
      {"c64", 8},        {"c128", 16},
      {"f8e5m2", 1},     {"f8e4m3", 1},
      {"f8e4m3fn", 1},   {"f8e4m3b11fnuz", 1},
      {"f8e5m2fnuz", 1}, {"f8e4m3fnuz", 1},
      {"f8e3m4", 1},     {"f8e8m0fnu", 1},
      {"f4e2m1fn", 1},   {"f6e2m3fn", 1},
      {"f6e3m2fn", 1}};
  return table[type];
}

FailureOr<Leaf> hlo::describeLeaf(RankedTensorType type, StringRef name, bool packed) {
  Leaf leaf;
  leaf.name = name.str();
  leaf.type = typeCode(type.getElementType());
  if (leaf.type == HLO_INVALID_TYPE || !type.hasStaticShape()) {
    return failure();
  }
  auto [spelling, size] = typeProperties(leaf.type);
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
  return leaf;
}

/// A leaf of the entry, or an error that says which.
static FailureOr<Leaf> makeLeaf(ModuleOp module, RankedTensorType type, StringRef name) {
  FailureOr<Leaf> leaf = describeLeaf(type, name);
  if (failed(leaf)) {
    module.emitError() << "entry: '" << name << "' has type " << type
                       << ", which no caller can pass";
  }
  return leaf;
}

/// Makes `name` different from all before it.
static std::string makeUnique(std::string name, llvm::StringSet<> &taken) {
  std::string unique = name;
  for (unsigned i = 1; !taken.insert(unique).second; ++i) {
    unique = name + "_" + std::to_string(i);
  }
  return unique;
}

/// Rank of replicas or partitions that the module was written for.
static uint32_t countOf(ModuleOp module, StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count && count.getInt() > 0 ? count.getInt() : 1;
}

FailureOr<Signature> hlo::makeSignature(ModuleOp module, StringRef prefix) {
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  if (failed(layout)) {
    return failure();
  }
  Signature signature;
  signature.prefix = prefix.str();
  signature.replicas = countOf(module, "hlo.replica_count");
  signature.partitions = countOf(module, "hlo.num_partitions");
  // The struct of the arguments has a member of its own.
  llvm::StringSet<> taken{{"signature"}};
  auto add = [&](std::vector<Leaf> &leaves, const EntryLeaf &leaf, std::string name) {
    if (leaf.sizeOf >= 0) {
      name = leaves[leaf.sizeOf].name + "_size" + std::to_string(leaf.sizeDim);
    }
    FailureOr<Leaf> made = makeLeaf(module, leaf.type, makeUnique(name, taken));
    if (succeeded(made)) {
      made->sizeOf = leaf.sizeOf;
      made->sizeDim = leaf.sizeDim;
      leaves.push_back(std::move(*made));
    }
    return LogicalResult(made);
  };
  for (const auto &[i, leaf] : llvm::enumerate(layout->inputs)) {
    std::string name = leaf.name.empty() ? "in" + std::to_string(i) : cIdentifier(leaf.name);
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
  for (const LeafAlias &alias : layout->aliases) {
    signature.outputs[alias.output].alias = alias.input;
    signature.inputs[alias.input].alias = alias.output;
  }
  std::string all;
  for (const std::vector<Leaf> *leaves : {&signature.inputs, &signature.outputs}) {
    for (const Leaf &leaf : *leaves) {
      all += leaf.typeText + "@" + std::to_string(leaf.alias) + ";";
    }
    all += "->";
  }
  signature.hash = llvm::xxh3_64bits(all);
  return signature;
}
