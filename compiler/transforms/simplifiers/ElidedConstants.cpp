//===- ElidedConstants.cpp - hlo-elided-constants -------------------------===//
//
// In: constants whose literal is `{...}`, because the default printing leaves out large literals.
// Out: constants with placeholder values, and one warning at the first. The values are those of
// XLA's parser (a running 32-bit counter as raw bits, in text order), so that both run such a
// module alike. XLA:CPU flushes the subnormals, which most of these are as floats, to zero. We
// write zeros instead, because arithmetic on subnormals is about a hundred times slower.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Dialect.h"

using namespace mlir;

namespace hlo {
namespace {

/// Produces the raw bytes of one literal after another.
class PlaceholderBytes {
public:
  std::vector<char> next(size_t size) {
    std::vector<char> bytes(size, 0);
    for (size_t word = 0; word < size / 4; ++word) {
      memcpy(&bytes[4 * word], &counter, 4);
      ++counter;
    }
    for (size_t i = 0; i < size % 4; ++i) {
      bytes[size / 4 + i] = static_cast<char>(byteCounter++);
    }
    return bytes;
  }

private:
  uint32_t counter = 0;
  uint8_t byteCounter = 0;
};

/// Replaces subnormal floats of `width` bytes by zero; `exponent` masks the exponent in the highest
/// two bytes. The last zero is made negative if all elements are zero: the array must not be a
/// splat, as the elided values would not be one either.
void replaceSubnormals(std::vector<char> &bytes, size_t width, uint16_t exponent) {
  bool allZero = true;
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    uint16_t high;
    memcpy(&high, &bytes[at + width - 2], 2);
    if ((high & exponent) == 0) {
      memset(&bytes[at], 0, width);
    } else {
      allZero = false;
    }
  }
  if (allZero && bytes.size() > width) {
    bytes.back() = static_cast<char>(0x80);
  }
}

DenseElementsAttr fill(RankedTensorType type, PlaceholderBytes &source) {
  Type element = type.getElementType();
  auto plain = RankedTensorType::get(type.getShape(), element);
  unsigned bits = 0;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  } else {
    bits = element.getIntOrFloatBitWidth();
  }
  size_t size = plain.getNumElements() * ((bits + 7) / 8);
  std::vector<char> bytes = source.next(size);
  Type part = element;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    part = complex.getElementType();
  }
  if (part.isF32() || part.isBF16()) {
    replaceSubnormals(bytes, part.isF32() ? 4 : 2, 0x7F80);
  } else if (part.isF64()) {
    replaceSubnormals(bytes, 8, 0x7FF0);
  }
  if (bits == 1) {
    SmallVector<bool> values;
    for (char byte : bytes) {
      values.push_back(byte & 1);
    }
    return DenseElementsAttr::get(plain, ArrayRef<bool>(values));
  }
  if (bits < 8) {
    for (char &byte : bytes) {
      byte &= (1 << bits) - 1;
    }
  }
  return DenseElementsAttr::getFromRawBuffer(plain, bytes);
}

class HloElidedConstantsPass : public PassWrapper<HloElidedConstantsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HloElidedConstantsPass)

  StringRef getArgument() const override { return "hlo-elided-constants"; }
  StringRef getDescription() const override {
    return "Give constants without values in the text placeholder values";
  }
  StringRef getName() const override { return "HloElidedConstantsPass"; }

  void runOnOperation() override {
    if (!getAnalysis<OpsPresent>().has<ConstantOp>()) {
      return markAllAnalysesPreserved();
    }
    PlaceholderBytes source;
    ConstantOp first;
    size_t count = 0;
    getOperation().walk<WalkOrder::PreOrder>([&](ConstantOp op) {
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (!isa<UnitAttr>(op.getValue()) || !type || !type.hasStaticShape()) {
        return;
      }
      op.setValueAttr(fill(type, source));
      first = first ? first : op;
      ++count;
    });
    if (first) {
      first.emitWarning()
          << count << (count == 1 ? " constant is" : " constants are")
          << " elided in the text ('{...}'), this one first; placeholder values are "
             "used, so results mean nothing";
    } else {
      markAllAnalysesPreserved();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createElidedConstantsPass() {
  return std::make_unique<HloElidedConstantsPass>();
}

} // namespace hlo
