//===- IntegerProducts.cpp - Products of scaled bytes as integers ---------===//
//
// In: a canonical module. Out: a dot or convolution of two operands that are scaled bytes
// (quantized/Dequantized.h) multiplies the bytes:
//
//   dot((a - za) * sa, (w - zw) * sw)
//     ->  (dot(a, w) - za * (sum of w - k * zw) - zw * (sum of a)) * sa * sw
//
// with sums in s32, which are exact, so the result is nearer to the exact one than that of floats.
// As everywhere where scales leave a sum, an infinite scale gives an infinity where products of
// both signs would have made a NaN, and the scales of both sides meet the sum one after the other.
// A float that was rounded and bounded may be NaN, which bytes are not: its sum is added.
//
// Padding is zeros of the product's operand, so a convolution whose bytes have a zero is padded by
// that zero first. Only where the machine multiplies bytes faster than the floats.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/quantized/IntegerProducts.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"

#include <limits>

using namespace mlir;
using namespace hlo;

static constexpr uint64_t kMostSum = std::numeric_limits<int32_t>::max();

/// Multiply-adds of f32 that one of these operands takes the time of; 1 if there is no instruction.
static double speed(const Machine &machine, Number lhs, Number rhs, Number sum) {
  if (const Product *tiles = machine.tileProduct(lhs, rhs, sum)) {
    return static_cast<double>(tiles->group * tiles->tiles->rows);
  }
  auto vectors = machine.vectorProducts(lhs, rhs, sum);
  return vectors.empty() ? 1 : vectors.front()->speed();
}

static Number byteOf(const Dequantized &operand) {
  return {operand.range().high > 127 ? Number::Unsigned : Number::Signed, 8};
}

namespace {

class IntegerProductsPass : public SettlingPass<IntegerProductsPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IntegerProductsPass)
  explicit IntegerProductsPass(const Machine &machine) : machine(machine) {}
  StringRef getArgument() const final { return "hlo-integer-products"; }
  StringRef getDescription() const final {
    return "Multiply scaled bytes as integers, and scale the sums";
  }

  FailureOr<bool> change();

private:
  bool pays(Operation *op, const Sides &sides) const;

  Machine machine;
};

} // namespace

/// True for products whose operands may be bytes at all.
static bool isCandidate(Operation *op) {
  auto isReal = [](Type type) { return type.isF32() || type.isBF16(); };
  return isReal(elementTypeOf(op->getResult(0))) && isReal(elementTypeOf(op->getOperand(0))) &&
         isReal(elementTypeOf(op->getOperand(1))) && !op->getAttr("algorithm");
}

/// Whether sums of so many products are exact in s32, and faster than those of the floats.
bool IntegerProductsPass::pays(Operation *op, const Sides &sides) const {
  uint64_t terms = sides.terms;
  if (!sides.of[0] || !sides.of[1] || terms < 1 || terms > kMostSum ||
      sides.of[0]->most() * sides.of[1]->most() > static_cast<int64_t>(kMostSum / terms)) {
    return false;
  }
  bool narrow =
      elementTypeOf(op->getOperand(0)).isBF16() && elementTypeOf(op->getOperand(1)).isBF16();
  double bytes = speed(machine, byteOf(*sides.of[0]), byteOf(*sides.of[1]), kS32);
  return bytes > (narrow ? speed(machine, kBf16, kBf16, kF32) : 1);
}

FailureOr<bool> IntegerProductsPass::change() {
  if (!getAnalysis<OpsPresent>().has<DotOp, ConvolutionOp>()) {
    return false;
  }
  ScalarComputations scalars(getOperation());
  SmallVector<Operation *> products;
  getOperation().walk([&](Operation *op) {
    if (isa<DotOp, ConvolutionOp>(op) && isCandidate(op)) {
      products.push_back(op);
    }
  });
  bool changed = false;
  for (Operation *op : products) {
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    Value result;
    if (auto dot = dyn_cast<DotOp>(op)) {
      IntegerDot integers(dot);
      if (pays(op, integers.sides)) {
        result = integers.emit(b, scalars);
      }
    } else {
      IntegerConvolution integers(cast<ConvolutionOp>(op));
      if (integers.canEmit() && pays(op, integers.sides)) {
        result = integers.emit(b, scalars);
      }
    }
    if (result) {
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
      changed = true;
    }
  }
  return changed;
}

std::unique_ptr<Pass> hlo::createIntegerProductsPass(const Machine &machine) {
  return std::make_unique<IntegerProductsPass>(machine);
}
