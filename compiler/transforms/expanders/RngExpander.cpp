//===- RngExpander.cpp - rng as random bits and a transformation ----------===//
//
// The op has no state of its own. Bits come from rng-bit-generator (ThreeFry)
// with a state made of a fixed seed and the op's ordinal in the module: a
// program gives the same numbers each time it runs, and its rng ops give
// independent ones. An rng inside a loop gives the same numbers in each
// iteration; programs that need more carry a state in rng-bit-generator.
//
//   uniform, float    a + (b - a) * u, u = mantissa bits in [1, 2) - 1
//   uniform, integer  a + bits mod (b - a)
//   normal            a + b * sqrt(-2 log(1 - u)) * cos(2 pi v)   (Box-Muller)
//
// Floats narrower than f32 are made in f32.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// "hlo-rng" as bytes; any constant would do.
constexpr uint64_t kSeed = 0x676e722d6f6c68;

class RngExpanderPass : public OpExpanderPass<RngExpanderPass, RngOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RngExpanderPass)
  StringRef getArgument() const final { return "hlo-rng-expander"; }
  StringRef getDescription() const final { return "Expand rng to rng-bit-generator"; }

  FailureOr<Values> expand(RngOp op, HloBuilder &b, ScalarComputations &) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Type element = type.getElementType();
    if (isa<ComplexType>(element)) {
      return op.emitError("rng of complex numbers is not supported yet");
    }
    bool normal = op.getDistribution().lower() == "rng_normal";
    if (auto integer = dyn_cast<IntegerType>(element)) {
      if (normal) {
        return op.emitError("rng_normal of integers is not supported");
      }
      return Values{uniformInteger(op, b, type, integer)};
    }
    Type compute =
        element.getIntOrFloatBitWidth() < 32 ? Type(b.b.getF32Type()) : element;
    RankedTensorType computed = HloBuilder::array(type.getShape(), compute);
    Value first = b.broadcastScalar(b.convert(op.getA(), compute), type.getShape());
    Value second = b.broadcastScalar(b.convert(op.getB(), compute), type.getShape());
    if (!normal) {
      Value u = unitInterval(b, computed);
      return Values{b.convert(b.add(first, b.mul(b.sub(second, first), u)), element)};
    }
    Value u = b.sub(b.splat(computed, 1.0), unitInterval(b, computed));
    Value v = unitInterval(b, computed);
    Value radius = b.unary<SqrtOp>(b.mul(b.splat(computed, -2.0), b.unary<LogOp>(u)));
    Value angle = b.unary<CosineOp>(b.mul(b.splat(computed, 6.283185307179586), v));
    return Values{b.convert(b.add(first, b.mul(second, b.mul(radius, angle))), element)};
  }

private:
  /// Fresh bits, unsigned, of the given shape and width.
  Value bits(HloBuilder &b, ArrayRef<int64_t> shape, unsigned width) {
    Type word = b.b.getIntegerType(64, false);
    auto state = b.constant(DenseElementsAttr::get(
        HloBuilder::array({2}, word), {APInt(64, kSeed), APInt(64, ordinal++ << 32)}));
    RankedTensorType type = HloBuilder::array(shape, b.b.getIntegerType(width, false));
    auto generator = RngBitGeneratorOp::create(b.b, b.loc, TypeRange{state.getType(), type}, state,
                                               b.b.getStringAttr("rng_three_fry"));
    return generator->getResult(1);
  }

  /// Uniform in [0, 1), f32 or f64.
  Value unitInterval(HloBuilder &b, RankedTensorType type) {
    unsigned width = type.getElementTypeBitWidth();
    unsigned mantissa = width == 32 ? 23 : 52;
    RankedTensorType words = HloBuilder::array(type.getShape(), b.b.getIntegerType(width, false));
    auto word = [&](uint64_t value) {
      return b.broadcastScalar(
          b.constant(DenseElementsAttr::get(HloBuilder::array(ArrayRef<int64_t>(), words.getElementType()),
                                            APInt(width, value))),
          type.getShape());
    };
    Value random = bits(b, type.getShape(), width);
    Value fraction = b.binary<ShiftRightLogicalOp>(random, word(width - mantissa));
    uint64_t one = width == 32 ? 0x3f800000 : 0x3ff0000000000000;
    Value number = b.bitcastConvert(b.binary<OrOp>(fraction, word(one)), type);
    return b.sub(number, b.splat(type, 1.0));
  }

  Value uniformInteger(RngOp op, HloBuilder &b, RankedTensorType type, IntegerType element) {
    unsigned width = element.getWidth();
    if (width == 1) {
      Value random = bits(b, type.getShape(), 8);
      Value half = b.splat(HloBuilder::type(random), 128);
      return b.compare(random, half, "GE");
    }
    Type word = b.b.getIntegerType(width, false);
    Value low = b.convert(op.getA(), word);
    Value range = b.sub(b.convert(op.getB(), word), low);
    unsigned drawn = std::max(width, 8u);
    Value random = b.convert(bits(b, type.getShape(), drawn), word);
    Value offset = b.binary<RemainderOp>(random, b.broadcastScalar(range, type.getShape()));
    return b.convert(b.add(b.broadcastScalar(low, type.getShape()), offset), element);
  }

  uint64_t ordinal = 1;
};

} // namespace

std::unique_ptr<Pass> hlo::createRngExpanderPass() { return std::make_unique<RngExpanderPass>(); }
