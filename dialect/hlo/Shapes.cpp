//===- Shapes.cpp - Questions about HLO shapes ----------------------------===//
//
// Total functions on types; sizes are multiplied with overflow checks, and a layout is never
// assumed to be a permutation.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/Shapes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static StringRef integerName(IntegerType type) {
  if (type.isSignless()) {
    return type.getWidth() == 1 ? "pred" : "";
  }
  bool isSigned = type.isSigned();
  switch (type.getWidth()) {
  case 1: return isSigned ? "s1" : "u1";
  case 2: return isSigned ? "s2" : "u2";
  case 4: return isSigned ? "s4" : "u4";
  case 8: return isSigned ? "s8" : "u8";
  case 16: return isSigned ? "s16" : "u16";
  case 32: return isSigned ? "s32" : "u32";
  case 64: return isSigned ? "s64" : "u64";
  default: return "";
  }
}

StringRef primitiveName(Type type) {
  return TypeSwitch<Type, StringRef>(type)
      .Case([](IntegerType integer) { return integerName(integer); })
      .Case([](ComplexType complex) {
        return complex.getElementType().isF32()   ? "c64"
               : complex.getElementType().isF64() ? "c128"
                                                  : "";
      })
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE) .Case([](TYPE) { return NAME; })
#include "dialect/hlo/FloatTypes.def"
      .Default([](Type) { return ""; });
}

Type primitiveType(StringRef name, MLIRContext *context) {
  if (name == "pred") {
    return IntegerType::get(context, 1);
  }
  if ((name.starts_with("s") || name.starts_with("u")) && name.size() > 1) {
    unsigned width = 0;
    if (!name.drop_front().getAsInteger(10, width) && name[1] != '0' && width <= 64 &&
        llvm::isPowerOf2_32(width)) {
      return IntegerType::get(context, width,
                              name[0] == 's' ? IntegerType::Signed : IntegerType::Unsigned);
    }
    return Type();
  }
  return llvm::StringSwitch<llvm::function_ref<Type()>>(name)
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE)                                                     \
  .Case(NAME, [&]() -> Type { return TYPE::get(context); })
#include "dialect/hlo/FloatTypes.def"
      .Case("c64", [&]() -> Type { return ComplexType::get(Float32Type::get(context)); })
      .Case("c128", [&]() -> Type { return ComplexType::get(Float64Type::get(context)); })
      .Default([]() -> Type { return Type(); })();
}

int64_t elementBits(Type type) {
  if (auto complex = dyn_cast_if_present<ComplexType>(type)) {
    return 2 * elementBits(complex.getElementType());
  }
  return type && type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

int64_t bitcastBits(Type elementType) { return isPred(elementType) ? 8 : elementBits(elementType); }

int64_t elementBytes(Type type) { return llvm::divideCeil(elementBits(type), 8); }

Type componentType(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

bool sameUpToPrecision(Type a, Type b) {
  auto isNarrow = [](Type type) { return isFloat(type) && elementBits(type) <= 32; };
  return a == b || (isNarrow(a) && isNarrow(b));
}

Type widerType(Type a, Type b) { return elementBits(b) > elementBits(a) ? b : a; }

int elementClass(Type type) {
  return isComplex(type) ? 3 : isFloat(type) ? 2 : isPred(type) ? 0 : 1;
}

Type productType(Type lhs, Type rhs) {
  int difference = elementClass(lhs) - elementClass(rhs);
  return difference > 0 ? lhs : difference < 0 ? rhs : widerType(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

SmallVector<int64_t> defaultMinorToMajor(int64_t rank) {
  SmallVector<int64_t> order;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    order.push_back(dim);
  }
  return order;
}

RankedTensorType arrayType(ArrayRef<int64_t> sizes, Type element, ArrayRef<int64_t> minorToMajor,
                           ArrayRef<int64_t> dynamic, StringRef properties) {
  if (minorToMajor == ArrayRef<int64_t>(defaultMinorToMajor(sizes.size()))) {
    minorToMajor = {};
  }
  if (minorToMajor.empty() && dynamic.empty() && properties.empty()) {
    return RankedTensorType::get(sizes, element);
  }
  return RankedTensorType::get(
      sizes, element, LayoutAttr::get(element.getContext(), minorToMajor, dynamic, properties));
}

RankedTensorType scalarType(Type element) { return RankedTensorType::get({}, element); }

bool isScalar(Type type) {
  RankedTensorType array = asArray(type);
  return array && array.getRank() == 0;
}

static LayoutAttr layoutOf(RankedTensorType type) {
  return dyn_cast_if_present<LayoutAttr>(type.getEncoding());
}

SmallVector<int64_t> minorToMajor(RankedTensorType type) {
  LayoutAttr layout = layoutOf(type);
  if (!layout || static_cast<int64_t>(layout.getMinorToMajor().size()) != type.getRank()) {
    return defaultMinorToMajor(type.getRank());
  }
  return SmallVector<int64_t>(layout.getMinorToMajor());
}

bool hasDefaultLayout(RankedTensorType type) {
  return minorToMajor(type) == defaultMinorToMajor(type.getRank());
}

ArrayRef<int64_t> boundedDimensions(RankedTensorType type) {
  LayoutAttr layout = layoutOf(type);
  return layout ? layout.getDynamic() : ArrayRef<int64_t>();
}

bool isBounded(RankedTensorType type, int64_t dimension) {
  return llvm::is_contained(boundedDimensions(type), dimension);
}

StringRef layoutProperties(RankedTensorType type) {
  LayoutAttr layout = layoutOf(type);
  return layout ? layout.getProperties() : StringRef();
}

std::optional<int64_t> elementCount(Type type) {
  RankedTensorType array = asArray(type);
  if (!array) {
    return std::nullopt;
  }
  // Sizes are multiplied even if one is zero, because strides need the product.
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : array.getShape()) {
    if (size < 0 || (size > 0 && llvm::MulOverflow(count, size, count))) {
      return std::nullopt;
    }
    empty |= size == 0;
  }
  return empty ? 0 : count;
}

/// The first tile size of a layout's properties, `T(8,128)(2,1)S(1)`, that is neither positive nor
/// `*`.
static std::optional<int64_t> badTileSize(StringRef properties) {
  if (!properties.consume_front("T(")) {
    return std::nullopt;
  }
  do {
    auto [tile, rest] = properties.split(')');
    SmallVector<StringRef> sizes;
    tile.split(sizes, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef text : sizes) {
      int64_t size = 0;
      if (!text.trim().getAsInteger(10, size) && size <= 0) {
        return size;
      }
    }
    properties = rest;
  } while (properties.consume_front("("));
  return std::nullopt;
}

std::string shapeProblem(RankedTensorType type) {
  std::string shape = hloText(type);
  if (primitiveName(type.getElementType()).empty()) {
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    return "element type " + element + " does not exist in HLO";
  }
  for (int64_t size : type.getShape()) {
    if (size < 0 && !ShapedType::isDynamic(size)) {
      return "a size of " + shape + " is negative";
    }
  }
  if (type.hasStaticShape()) {
    int64_t product = 1;
    for (int64_t size : type.getShape()) {
      if (llvm::MulOverflow(product, std::max<int64_t>(size, 1), product)) {
        return "the number of elements of " + shape + " overflows";
      }
    }
    // Leaves room to round the size up to a multiple of 4 KiB, as code that places the array may
    // do.
    if (llvm::MulOverflow(product, elementBytes(type.getElementType()), product) ||
        product > INT64_MAX - 4095) {
      return "the number of bytes of " + shape + " overflows";
    }
  }
  LayoutAttr layout = layoutOf(type);
  if (!layout) {
    return "";
  }
  ArrayRef<int64_t> order = layout.getMinorToMajor();
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!order.empty() && !llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank()))) {
    return "the layout of " + shape + " is no permutation of its dimensions";
  }
  if (std::optional<int64_t> size = badTileSize(layout.getProperties())) {
    return "a tile size in the layout of " + shape + " is " + std::to_string(*size) +
           ", must be positive";
  }
  for (int64_t dim : layout.getDynamic()) {
    if (dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim)) {
      return "bounded dimension " + std::to_string(dim) + " of " + shape + " does not exist";
    }
  }
  return "";
}

std::optional<int64_t> byteSize(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    int64_t total = 0;
    for (Type element : tuple.getTypes()) {
      std::optional<int64_t> bytes = byteSize(element);
      if (!bytes || llvm::AddOverflow(total, *bytes, total)) {
        return std::nullopt;
      }
    }
    return total;
  }
  if (auto buffer = dyn_cast<BufferType>(type)) {
    return byteSize(buffer.getArray());
  }
  RankedTensorType array = asArray(type);
  if (!array) {
    return 0;
  }
  std::optional<int64_t> count = elementCount(array);
  int64_t bytes = 0;
  if (!count || llvm::MulOverflow(*count, elementBytes(array.getElementType()), bytes)) {
    return std::nullopt;
  }
  return bytes;
}

/// Applies `onArray` to all arrays of a shape.
static Type mapArrays(Type type, llvm::function_ref<Type(RankedTensorType)> onArray) {
  if (auto array = asArray(type)) {
    return array.getEncoding() ? onArray(array) : type;
  }
  if (auto buffer = dyn_cast<BufferType>(type)) {
    return BufferType::get(type.getContext(), mapArrays(buffer.getArray(), onArray));
  }
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    return type;
  }
  SmallVector<Type> elements;
  for (Type element : tuple.getTypes()) {
    elements.push_back(mapArrays(element, onArray));
  }
  return TupleType::get(type.getContext(), elements);
}

Type stripLayout(Type type) {
  return mapArrays(type, [](RankedTensorType array) -> Type {
    return arrayType(array.getShape(), array.getElementType(), {}, boundedDimensions(array));
  });
}

Type stripEncoding(Type type) {
  return mapArrays(type, [](RankedTensorType array) -> Type {
    return RankedTensorType::get(array.getShape(), array.getElementType());
  });
}

//===----------------------------------------------------------------------===//
// Tuples, comparison, text
//===----------------------------------------------------------------------===//

static void appendLeaves(Type type, SmallVectorImpl<Type> &leaves) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    leaves.push_back(type);
    return;
  }
  for (Type element : tuple.getTypes()) {
    appendLeaves(element, leaves);
  }
}

SmallVector<Type> leafTypes(Type type) {
  SmallVector<Type> leaves;
  appendLeaves(type, leaves);
  return leaves;
}

SmallVector<Type> leafTypes(TypeRange types) {
  SmallVector<Type> leaves;
  for (Type type : types) {
    appendLeaves(type, leaves);
  }
  return leaves;
}

Type typeAtIndex(Type type, ArrayRef<int64_t> index) {
  for (int64_t position : index) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || position < 0 || position >= static_cast<int64_t>(tuple.size())) {
      return Type();
    }
    type = tuple.getType(position);
  }
  return type;
}

bool sameShape(Type a, Type b, Precision precision) {
  if (a == b) {
    return true;
  }
  if (auto tupleA = dyn_cast<TupleType>(a)) {
    auto tupleB = dyn_cast<TupleType>(b);
    return tupleB && tupleA.size() == tupleB.size() &&
           llvm::all_of(llvm::zip(tupleA.getTypes(), tupleB.getTypes()), [&](auto pair) {
             return sameShape(std::get<0>(pair), std::get<1>(pair), precision);
           });
  }
  if (auto bufferA = dyn_cast<BufferType>(a)) {
    auto bufferB = dyn_cast<BufferType>(b);
    return bufferB && sameShape(bufferA.getArray(), bufferB.getArray(), precision);
  }
  RankedTensorType arrayA = asArray(a), arrayB = asArray(b);
  if (!arrayA || !arrayB || arrayA.getRank() != arrayB.getRank()) {
    return false;
  }
  Type elementA = arrayA.getElementType(), elementB = arrayB.getElementType();
  if (precision == Precision::anyFloat ? !sameUpToPrecision(elementA, elementB)
                                       : elementA != elementB) {
    return false;
  }
  return llvm::all_of(llvm::zip(arrayA.getShape(), arrayB.getShape()), [](auto pair) {
    auto [sizeA, sizeB] = pair;
    return sizeA == sizeB || ShapedType::isDynamic(sizeA) || ShapedType::isDynamic(sizeB);
  });
}

static void printArray(raw_ostream &os, RankedTensorType array, LayoutText layout) {
  StringRef name = primitiveName(array.getElementType());
  os << (name.empty() ? "?" : name) << '[';
  llvm::interleave(
      llvm::seq<int64_t>(0, array.getRank()), os,
      [&](int64_t dim) {
        if (array.isDynamicDim(dim)) {
          os << '?';
          return;
        }
        os << (isBounded(array, dim) ? "<=" : "") << array.getDimSize(dim);
      },
      ",");
  os << ']';
  StringRef properties = layoutProperties(array);
  if (layout == LayoutText::never ||
      (properties.empty() &&
       (array.getRank() == 0 || (layout == LayoutText::nonDefault && hasDefaultLayout(array))))) {
    return;
  }
  os << '{';
  llvm::interleave(minorToMajor(array), os, ",");
  if (!properties.empty()) {
    os << ':' << properties;
  }
  os << '}';
}

static void printType(raw_ostream &os, Type type, LayoutText layout) {
  if (!type) {
    os << "<none>";
  } else if (auto array = asArray(type)) {
    printArray(os, array, layout);
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    os << '(';
    llvm::interleave(
        tuple.getTypes(), os, [&](Type element) { printType(os, element, layout); }, ", ");
    os << ')';
  } else if (auto buffer = dyn_cast<BufferType>(type)) {
    os << "b(";
    printType(os, buffer.getArray(), layout);
    os << ')';
  } else if (isa<TokenType>(type)) {
    os << "token[]";
  } else if (isa<OpaqueType>(type)) {
    os << "opaque[]";
  } else {
    os << type;
  }
}

std::string hloText(Type type, LayoutText layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printType(os, type, layout);
  return text;
}

std::string hloOpcode(StringRef opName) {
  opName.consume_front("hlo.");
  std::string opcode = opName.str();
  llvm::replace(opcode, '_', '-');
  return opcode;
}

} // namespace hlo
