//===- RngExpander.cpp - rng as random bits and a transformation ----------===//
//
// Bits come from rng-bit-generator (Philox) with a state for each draw: the caller's seed
// (hlo_call.rng_seed) and the number of the draw in the call, which the runtime counts. So a call's
// numbers depend only on its seed, no two rng ops share numbers, and one in a loop gives new
// numbers in each iteration.
//
//   uniform, float    a + (b - a) * u, u = as many random bits as the mantissa has
//   uniform, integer  a + floor(bits * (b - a) / 2^n), n the number of bits: at least 32
//                     more than the type has, so that the bias is negligible
//   uniform, pred     one random bit
//   normal            a + b * sqrt(-2 log(1 - u)) * cos(2 pi v)   (Box-Muller)
//
// Floats narrower than f32 are computed in f32. The upper bound never occurs.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class RngExpanderPass : public OpExpanderPass<RngExpanderPass, RngOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RngExpanderPass)
  StringRef getArgument() const final { return "hlo-rng-expander"; }
  StringRef getDescription() const final { return "Expand rng to rng-bit-generator"; }

  FailureOr<Values> expand(RngOp op, HloBuilder &b, ScalarComputations &) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Type element = type.getElementType();
    if (isa<ComplexType>(element)) {
      return op.emitError("rng of complex numbers is not supported");
    }
    bool normal = op.getDistribution().lower() == "rng_normal";
    if (auto integer = dyn_cast<IntegerType>(element)) {
      if (normal) {
        return op.emitError("rng_normal of integers is not supported");
      }
      return Values{uniformInteger(op, b, type, integer)};
    }
    auto number = cast<FloatType>(element);
    Type compute = number.getWidth() < 32 ? Type(b.b.getF32Type()) : element;
    RankedTensorType computed = HloBuilder::array(type.getShape(), compute);
    Value first = b.broadcastScalar(b.convert(op.getA(), compute), type.getShape());
    Value second = b.broadcastScalar(b.convert(op.getB(), compute), type.getShape());
    if (!normal) {
      Value u = unitInterval(b, computed, number.getFPMantissaWidth() - 1);
      Value result = b.convert(b.add(first, b.mul(b.sub(second, first), u)), element);
      // Rounding may turn the sum into the upper bound.
      Value low = b.broadcastScalar(op.getA(), type.getShape());
      Value high = b.broadcastScalar(op.getB(), type.getShape());
      return Values{b.select(b.compare(result, high, "LT"), result, low)};
    }
    Value u = b.sub(b.splat(computed, 1.0), unitInterval(b, computed, mantissaBits(compute)));
    Value v = unitInterval(b, computed, mantissaBits(compute));
    Value radius = b.unary<SqrtOp>(b.mul(b.splat(computed, -2.0), b.unary<LogOp>(u)));
    Value angle = b.unary<CosineOp>(b.mul(b.splat(computed, 6.283185307179586), v));
    return Values{b.convert(b.add(first, b.mul(second, b.mul(radius, angle))), element)};
  }

private:
  static unsigned mantissaBits(Type type) { return cast<FloatType>(type).getFPMantissaWidth() - 1; }

  static Value word(HloBuilder &b, ArrayRef<int64_t> shape, unsigned width, uint64_t value) {
    RankedTensorType scalar =
        HloBuilder::array(ArrayRef<int64_t>(), b.b.getIntegerType(width, false));
    return b.broadcastScalar(b.constant(DenseElementsAttr::get(scalar, APInt(width, value))),
                             shape);
  }

  /// New random bits, unsigned, with the given shape and width.
  static Value bits(HloBuilder &b, ArrayRef<int64_t> shape, unsigned width) {
    Type u64 = b.b.getIntegerType(64, false);
    auto draw = RngGetAndUpdateStateOp::create(b.b, b.loc, TypeRange{HloBuilder::array({2}, u64)},
                                               /*delta=*/0);
    draw->setAttr("hlo.of_call", b.b.getUnitAttr());
    // {seed, number} -> {key = seed, counter = number * 2^64}
    Value state = b.pad(draw->getResult(0), word(b, {}, 64, 0), {0}, {0}, {1});
    RankedTensorType type = HloBuilder::array(shape, b.b.getIntegerType(width, false));
    auto generator = RngBitGeneratorOp::create(b.b, b.loc, TypeRange{state.getType(), type}, state,
                                               b.b.getStringAttr("rng_philox"));
    return generator->getResult(1);
  }

  /// Uniform in [0, 1), f32 or f64: a multiple of 2^-bitCount.
  static Value unitInterval(HloBuilder &b, RankedTensorType type, unsigned bitCount) {
    unsigned width = type.getElementTypeBitWidth();
    unsigned mantissa = mantissaBits(type.getElementType());
    ArrayRef<int64_t> shape = type.getShape();
    Value fraction = b.binary<ShiftRightLogicalOp>(bits(b, shape, width),
                                                   word(b, shape, width, width - bitCount));
    fraction = b.binary<ShiftLeftOp>(fraction, word(b, shape, width, mantissa - bitCount));
    uint64_t one = width == 32 ? 0x3f800000 : 0x3ff0000000000000;
    Value number = b.bitcastConvert(b.binary<OrOp>(fraction, word(b, shape, width, one)), type);
    return b.sub(number, b.splat(type, 1.0));
  }

  static Value uniformInteger(RngOp op, HloBuilder &b, RankedTensorType type, IntegerType element) {
    unsigned width = element.getWidth();
    ArrayRef<int64_t> shape = type.getShape();
    if (element.isSignless()) {
      return b.compare(bits(b, shape, 8), word(b, shape, 8, 128), "GE");
    }
    Type own = b.b.getIntegerType(width, false), u64 = b.b.getIntegerType(64, false);
    Value low = b.broadcastScalar(b.convert(op.getA(), own), shape);
    Value range = b.sub(b.broadcastScalar(b.convert(op.getB(), own), shape), low);
    Value wideRange = b.convert(range, u64);
    Value high = bits(b, shape, 64);
    Value offset = b.binary<MulhiOp>(high, wideRange);
    if (width == 64) {
      // The carry out of the lower 64 bits of the product.
      Value part = b.mul(high, wideRange);
      Value sum = b.add(part, b.binary<MulhiOp>(bits(b, shape, 64), wideRange));
      offset = b.add(offset, b.convert(b.compare(sum, part, "LT"), u64));
    }
    return b.convert(b.add(low, b.convert(offset, own)), element);
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createRngExpanderPass() { return std::make_unique<RngExpanderPass>(); }
