//===- AlgebraicPacked.cpp - Rules of integers that share a word ----------===//
//
// Programs unpack the integers of a few bits that share a word by shifts and masks: all parts of a
// word by one shift of different amounts, or each by its own, put side by side by a concatenation.
// A bitcast-convert says the same in one op, and kernels read through it.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

/// The parts of `bits` bits of each element of x, along a new last dimension, as values of x's
/// type.
static Value partsOf(Value x, int64_t bits, HloBuilder &b) {
  auto word = cast<IntegerType>(elementTypeOf(x));
  int64_t words = elementsOf(x), count = word.getWidth() / bits;
  SmallVector<int64_t> shape(shapeOf(x));
  shape.push_back(count);
  // Kernels unpack a run of words that is one dimension in vectors.
  Type part = b.b.getIntegerType(static_cast<unsigned>(bits), /*isSigned=*/false);
  Value parts = b.bitcastConvert(b.reshape(x, {words}), HloBuilder::array({words, count}, part));
  return b.convert(b.reshape(parts, shape), word);
}

/// The bits of each of the `count` parts of a word; 0 if there is no type for them.
static int64_t bitsOfParts(IntegerType word, int64_t count) {
  int64_t bits = word && count > 1 ? word.getWidth() / count : 0;
  bool hasType = bits == 2 || bits == 4 || bits == 8;
  return hasType && count * bits == word.getWidth() ? bits : 0;
}

/// x of `x & mask`, where the mask has the `bits` lowest bits; null for others.
static Value unmasked(Value v, int64_t bits) {
  auto mask = v.getDefiningOp<AndOp>();
  for (unsigned side : {1, 0}) {
    if (mask && isInteger(mask->getOperand(side), (INT64_C(1) << bits) - 1)) {
      return mask->getOperand(1 - side);
    }
  }
  return {};
}

/// Whether element i of v along dimension `dim`, and at any index of the others, is i * step.
static bool countsAlong(Value v, int64_t dim, int64_t step, int depth = 0) {
  constexpr int kMostOps = 8;
  Operation *op = v.getDefiningOp();
  if (!op || depth > kMostOps) {
    return false;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const auto *place = llvm::find(broadcast.getDimensions(), dim);
    return place != broadcast.getDimensions().end() &&
           countsAlong(broadcast.getOperand(), place - broadcast.getDimensions().begin(), step,
                       depth + 1);
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    return static_cast<int64_t>(iota.getIotaDimension()) == dim && step == 1;
  }
  if (auto multiply = dyn_cast<MultiplyOp>(op)) {
    for (int64_t factor = 2; factor <= step; factor *= 2) {
      if (isInteger(multiply->getOperand(1), factor)) {
        return countsAlong(multiply->getOperand(0), dim, step / factor, depth + 1);
      }
    }
    return false;
  }
  if (DenseElementsAttr literal = smallConstant(v); literal && rankOf(v) == 1) {
    int64_t i = 0;
    return llvm::all_of(literal.getValues<APInt>(), [&](const APInt &value) {
      return value == static_cast<uint64_t>(step * i++);
    });
  }
  return false;
}

// (x >> {0, 4, 8, ...}) & 15, x being broadcast along a new last dimension -> the parts of x
static Value maskedParts(AndOp op, HloBuilder &b) {
  auto word = dyn_cast<IntegerType>(elementTypeOf(op.getResult()));
  int64_t rank = rankOf(op.getResult());
  if (!word || rank == 0) {
    return {};
  }
  int64_t bits = bitsOfParts(word, shapeOf(op.getResult()).back());
  Value shifted = bits ? unmasked(op.getResult(), bits) : Value();
  Operation *shift = shifted ? shifted.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<ShiftRightLogicalOp, ShiftRightArithmeticOp>(shift) ||
      !countsAlong(shift->getOperand(1), rank - 1, bits)) {
    return {};
  }
  auto words = shift->getOperand(0).getDefiningOp<BroadcastOp>();
  if (!words || static_cast<int64_t>(words.getDimensions().size()) != rank - 1) {
    return {};
  }
  for (auto [i, d] : llvm::enumerate(words.getDimensions())) {
    if (static_cast<int64_t>(i) != d) {
      return {};
    }
  }
  return partsOf(words.getOperand(), bits, b);
}

/// The word whose `number`th part of `bits` bits, the lowest being the first, is `v`; null if `v`
/// is none.
static Value wordOfPart(Value v, int64_t number, int64_t bits, bool isLast) {
  Value inner = unmasked(v, bits);
  if (!inner && !(isLast && v.getDefiningOp<ShiftRightLogicalOp>())) {
    return {};
  }
  v = inner ? inner : v;
  if (number == 0) {
    return v;
  }
  Operation *shift = v.getDefiningOp();
  bool isShift = isa_and_nonnull<ShiftRightLogicalOp, ShiftRightArithmeticOp>(shift);
  return isShift && isInteger(shift->getOperand(1), number * bits) ? shift->getOperand(0) : Value();
}

// {x & 15, x >> 4} along a new last dimension -> the parts of x, by a bitcast-convert
static Value stackOfParts(ConcatenateOp op, HloBuilder &b) {
  auto word = dyn_cast<IntegerType>(elementTypeOf(op.getResult()));
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t count = static_cast<int64_t>(op.getInputs().size());
  int64_t bits = bitsOfParts(word, count);
  if (!bits || shape.empty() || op.getDimension() != shape.size() - 1) {
    return {};
  }
  Value x;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto added = input.getDefiningOp<ReshapeOp>();
    if (!added || shapeOf(input).back() != 1 ||
        shapeOf(added.getOperand()) != shapeOf(input).drop_back()) {
      return {};
    }
    int64_t number = static_cast<int64_t>(i);
    Value from = wordOfPart(added.getOperand(), number, bits, number == count - 1);
    if (!from || (x && from != x)) {
      return {};
    }
    x = from;
  }
  return partsOf(x, bits, b);
}

void hlo::populatePackedRules(RewritePatternSet &patterns) {
  addRules<AndOp>(patterns, {maskedParts});
  addRules<ConcatenateOp>(patterns, {stackOfParts});
}
