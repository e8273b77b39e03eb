//===- Types.cpp - Types of StableHLO as types of hlo ---------------------===//
//
// StableHLO's integers are signless where HLO's are signed; bounds are an encoding of dimensions
// `?` where HLO's are a part of the layout. Tuples may name others without end (`!b = tuple<!a,
// !a>`), so their leaves and levels are counted and bounded while each type is converted once.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Types.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;
using namespace hlo::stable;

Type TypeConversion::convertElement(Type type, std::string &why) {
  if (auto integer = dyn_cast<IntegerType>(type); integer && integer.isSignless()) {
    type = integer.getWidth() == 1
               ? type
               : IntegerType::get(type.getContext(), integer.getWidth(), IntegerType::Signed);
  }
  if (isa<quant::QuantizedType>(type)) {
    why = "quantized types are not supported: " + textOf(type);
    return Type();
  }
  if (primitiveName(type).empty()) {
    why = "HLO has no element type " + textOf(type);
    return Type();
  }
  return type;
}

Type TypeConversion::convertArray(RankedTensorType type, std::string &why) {
  Type element = convertElement(type.getElementType(), why);
  if (!element) {
    return Type();
  }
  if (static_cast<uint64_t>(type.getRank()) > budget.rank) {
    why = "an array of " + std::to_string(type.getRank()) + " dimensions; " +
          budget.text(&Budget::rank);
    return Type();
  }
  SmallVector<int64_t> sizes(type.getShape());
  SmallVector<int64_t> dynamic;
  if (auto bounds = dyn_cast_if_present<stablehlo::TypeExtensionsAttr>(type.getEncoding())) {
    for (auto [i, bound] : llvm::enumerate(bounds.getBounds())) {
      if (i < sizes.size() && sizes[i] == ShapedType::kDynamic && bound != ShapedType::kDynamic) {
        sizes[i] = bound;
        dynamic.push_back(i);
      }
    }
  } else if (type.getEncoding()) {
    why = "the encoding of " + textOf(type) + " has no meaning here";
    return Type();
  }
  if (llvm::is_contained(sizes, ShapedType::kDynamic)) {
    why = "the size of a dimension `?` is not known: " + textOf(type);
    return Type();
  }
  RankedTensorType array = arrayType(sizes, element, {}, dynamic);
  why = shapeProblem(array);
  return why.empty() ? array : Type();
}

TypeConversion::Known TypeConversion::computeTuple(TupleType type, std::string &why) {
  Known tuple{Type(), 0, 1};
  SmallVector<Type> elements;
  for (Type element : type.getTypes()) {
    Known part = compute(element, why);
    if (!part.type) {
      return part;
    }
    elements.push_back(part.type);
    tuple.leaves = llvm::SaturatingAdd(tuple.leaves, part.leaves);
    tuple.levels = std::max(tuple.levels, part.levels + 1);
  }
  // A level of types is one of calls here.
  constexpr uint64_t kMostLevels = 500;
  if (tuple.levels > kMostLevels) {
    why = "tuples nested deeper than " + std::to_string(kMostLevels) + " levels";
    return {Type()};
  }
  if (tuple.leaves > budget.leaves || tuple.levels > budget.nesting) {
    why = "a tuple of " + std::to_string(tuple.leaves) + " arrays in " +
          std::to_string(tuple.levels) + " levels; " +
          budget.text(tuple.leaves > budget.leaves ? &Budget::leaves : &Budget::nesting);
    return {Type()};
  }
  tuple.type = TupleType::get(type.getContext(), elements);
  return tuple;
}

TypeConversion::Known TypeConversion::compute(Type type, std::string &why) {
  if (auto found = known.find(type); found != known.end()) {
    return found->second;
  }
  Known result{Type()};
  if (auto array = dyn_cast<RankedTensorType>(type)) {
    result.type = convertArray(array, why);
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    result = computeTuple(tuple, why);
  } else if (isa<stablehlo::TokenType>(type)) {
    result.type = TokenType::get(type.getContext());
  } else if (auto future = dyn_cast<stablehlo::FutureType>(type)) {
    // What an asynchronous op will have computed is what it computes.
    ArrayRef<Type> types = future.getTypes();
    result = types.size() == 1 ? compute(types.front(), why)
                               : compute(TupleType::get(type.getContext(), types), why);
  } else {
    why = "HLO has no type " + textOf(type);
  }
  if (result.type) {
    known[type] = result;
  }
  return result;
}

Type TypeConversion::convert(Type type, std::string &why) { return compute(type, why).type; }
