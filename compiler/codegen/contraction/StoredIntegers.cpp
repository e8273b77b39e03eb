//===- StoredIntegers.cpp - Integers of a few bits in memory --------------===//
#include "compiler/codegen/contraction/StoredIntegers.h"
#include "compiler/analysis/Constants.h"

using namespace mlir;

namespace hlo::codegen {

std::optional<int64_t> integerSplat(Value v) {
  DenseElementsAttr literal = splatConstant(v);
  auto type = literal ? dyn_cast<IntegerType>(literal.getElementType()) : IntegerType();
  if (!type || type.getWidth() > 32 || type.getWidth() == 1) {
    return std::nullopt;
  }
  APInt bits = *literal.value_begin<APInt>();
  return type.isUnsigned() ? static_cast<int64_t>(bits.getZExtValue()) : bits.getSExtValue();
}

std::optional<StoredIntegers> storedIntegers(Value v) {
  auto type = dyn_cast<IntegerType>(elementType(v.getType()));
  if (!type) {
    return std::nullopt;
  }
  bool isSigned = !isUnsignedElement(type);
  if (isa<BlockArgument>(v)) {
    // Types smaller than a byte are held as bytes inside a program.
    bool isByte = !isPred(type) && type.getWidth() <= 8;
    std::optional<View> view = isByte ? viewOf(v) : std::nullopt;
    return view ? std::optional(StoredIntegers{*view, 8, isSigned}) : std::nullopt;
  }
  auto packed = v.getDefiningOp<BitcastConvertOp>();
  std::optional<View> view = packed ? viewOf(packed.getOperand()) : std::nullopt;
  if (!view || !view->conversions.empty() || !isa<IntegerType>(view->storage) ||
      isPred(view->storage)) {
    return std::nullopt;
  }
  int64_t bits = type.getWidth();
  if (shapeOf(v).size() == view->strides.size()) {
    // The same bits as another type.
    bool areBytes = bits == 8 && view->storage.getIntOrFloatBitWidth() == 8;
    return areBytes ? std::optional(StoredIntegers{*view, bits, isSigned}) : std::nullopt;
  }
  // An element of memory is several integers, along an added last dimension.
  if (shapeOf(v).size() < view->strides.size() || (bits != 2 && bits != 4 && bits != 8)) {
    return std::nullopt;
  }
  splitElements(*view, shapeOf(v).back());
  return StoredIntegers{*view, bits, isSigned};
}

} // namespace hlo::codegen
