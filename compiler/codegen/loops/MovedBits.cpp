//===- MovedBits.cpp - Moved floats and pairs as integers -----------------===//
//
// In: a region. Out: the same, with unsigned integers for every 8-bit or 16-bit float type and
// 64-bit complex type that no op computes with:
//
//   pad(x : bf16[500,777], 0)      becomes      pad(x : u16[500,777], 0)
//
// In a kernel such floats would be f32 values, rounded when they are stored: half as many lanes,
// and ten useless instructions per vector. Both parts of complex numbers would be separated, moved
// on their own, and joined again.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/loops/Regions.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hlo::codegen {

/// True for ops whose results consist of elements of their operands.
static bool handsOnElements(Operation &op) {
  if (isa<BitcastConvertOp>(op)) {
    return shapeOf(op.getOperand(0)) == shapeOf(op.getResult(0));
  }
  return hasFlag(&op, OpFlag::HandsOn) || isa<ReturnOp>(op);
}

static bool isMovable(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return complex.getElementType().isF32();
  }
  return isa<FloatType>(element) &&
         (element.getIntOrFloatBitWidth() == 8 || element.getIntOrFloatBitWidth() == 16);
}

/// The bits of floats, or of complex numbers with the real part in the lower half.
static DenseElementsAttr bitsOf(DenseElementsAttr values, RankedTensorType type) {
  if (!isa<ComplexType>(values.getElementType())) {
    return values.mapValues(type.getElementType(),
                            [](const APFloat &f) { return f.bitcastToAPInt(); });
  }
  SmallVector<APInt> bits;
  auto append = [&](const std::complex<APFloat> &z) {
    bits.push_back(z.imag().bitcastToAPInt().concat(z.real().bitcastToAPInt()));
  };
  if (values.isSplat()) {
    append(values.getSplatValue<std::complex<APFloat>>());
  } else {
    llvm::for_each(values.getValues<std::complex<APFloat>>(), append);
  }
  return DenseElementsAttr::get(type, bits);
}

void moveAsBits(Block &body) {
  llvm::SmallMapVector<Type, bool, 4> types; // whether elements of the type are only moved
  auto see = [&](Value v, bool moved) {
    Type element = elementType(v.getType());
    if (isMovable(element)) {
      auto [known, isNew] = types.try_emplace(element, moved);
      known->second &= moved;
    }
  };
  for (Operation &op : body) {
    bool moves = handsOnElements(op);
    llvm::for_each(op.getOperands(), [&](Value v) { see(v, moves); });
    llvm::for_each(op.getResults(), [&](Value v) { see(v, moves); });
  }
  types.remove_if([](const auto &type) { return !type.second; });
  if (types.empty()) {
    return;
  }
  auto retype = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    Type element = type.getElementType();
    if (types.contains(element)) {
      Type bits =
          IntegerType::get(v.getContext(), 8 * storageBytes(element), IntegerType::Unsigned);
      v.setType(RankedTensorType::get(type.getShape(), bits));
    }
  };
  llvm::for_each(body.getArguments(), retype);
  for (Operation &op : body) {
    llvm::for_each(op.getResults(), retype);
    auto constant = dyn_cast<ConstantOp>(op);
    auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (values && types.contains(values.getElementType())) {
      constant.setValueAttr(bitsOf(values, cast<RankedTensorType>(constant.getType())));
    }
  }
}

} // namespace hlo::codegen
