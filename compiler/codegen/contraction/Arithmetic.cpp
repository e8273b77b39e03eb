//===- Arithmetic.cpp - Products and sums ---------------------------------===//
#include "compiler/codegen/contraction/Arithmetic.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;

namespace hlo::codegen {

Type partType(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  return complex ? complex.getElementType() : element;
}

int64_t partsOf(Type element) { return isa<ComplexType>(element) ? 2 : 1; }

Type accumulationType(Type lhs, Type rhs, Type result) {
  MLIRContext *context = result.getContext();
  bool wide = partType(lhs).isF64() || partType(rhs).isF64() || partType(result).isF64();
  Type real = wide ? Type(Float64Type::get(context)) : Type(Float32Type::get(context));
  if (isa<ComplexType>(result)) {
    return ComplexType::get(real);
  }
  if (isa<FloatType>(result)) {
    return real;
  }
  if (result.isInteger(1)) {
    return result;
  }
  // Sums wrap around, so a wider sum has the right low bits.
  auto integer = cast<IntegerType>(result);
  return integer.getWidth() >= 32
             ? result
             : IntegerType::get(context, 32,
                                isUnsignedElement(result) ? IntegerType::Unsigned
                                                          : IntegerType::Signed);
}

static Value fusedMultiplyAdd(Emission &e, Value a, Value b, Value acc) {
  if (isa<VectorType>(acc.getType())) {
    return vector::FMAOp::create(e.b, e.loc, a, b, acc);
  }
  return math::FmaOp::create(e.b, e.loc, a, b, acc);
}

/// `isPred`: the sum is a disjunction; s1 and u1 wrap.
static Value multiplyAddPart(Emission &e, Value acc, Value a, Value b, bool isPred = false) {
  Type scalar = getElementTypeOrSelf(acc.getType());
  if (isPred) {
    return arith::OrIOp::create(e.b, e.loc, acc, arith::AndIOp::create(e.b, e.loc, a, b));
  }
  if (isa<IntegerType>(scalar)) {
    return arith::AddIOp::create(e.b, e.loc, acc, arith::MulIOp::create(e.b, e.loc, a, b));
  }
  if (e.machine.fma) {
    return fusedMultiplyAdd(e, a, b, acc);
  }
  return arith::AddFOp::create(e.b, e.loc, acc, arith::MulFOp::create(e.b, e.loc, a, b));
}

Elem multiplyAdd(Emission &e, Type element, const Elem &acc, const Elem &a, const Elem &b) {
  if (!isa<ComplexType>(element)) {
    return multiplyAddPart(e, acc.re, a.re, b.re, hlo::isPred(element));
  }
  Value minus = arith::NegFOp::create(e.b, e.loc, a.im);
  Value re = multiplyAddPart(e, multiplyAddPart(e, acc.re, a.re, b.re), minus, b.im);
  Value im = multiplyAddPart(e, multiplyAddPart(e, acc.im, a.re, b.im), a.im, b.re);
  return Elem(re, im);
}

Elem addElems(Emission &e, Type element, const Elem &a, const Elem &b) {
  auto add = [&](Value x, Value y) -> Value {
    Type scalar = getElementTypeOrSelf(x.getType());
    if (hlo::isPred(element)) {
      return arith::OrIOp::create(e.b, e.loc, x, y);
    }
    if (isa<IntegerType>(scalar)) {
      return arith::AddIOp::create(e.b, e.loc, x, y);
    }
    return arith::AddFOp::create(e.b, e.loc, x, y);
  };
  return isa<ComplexType>(element) ? Elem(add(a.re, b.re), add(a.im, b.im)) : Elem(add(a.re, b.re));
}

Elem constF32(Emission &e, double value, int64_t lanes) {
  Value one = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(static_cast<float>(value)));
  return splat(e, Elem(one), lanes);
}

Elem zeroUnless(Emission &e, Type element, Value condition, const Elem &value) {
  if (!condition) {
    return value;
  }
  if (auto known = constantOf(condition); known && *known != 0 && lanesOf(condition) == 1) {
    return value;
  }
  return selectElem(e, condition, value, zeroElem(e, element, lanesOf(value.re)));
}

Value addLanes(Emission &e, Type element, SmallVector<Value> vectors) {
  int64_t lanes = lanesOf(vectors[0]), count = vectors.size();
  auto add = [&](Value a, Value b, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    Value x = vector::ShuffleOp::create(e.b, e.loc, a, b, low);
    Value y = vector::ShuffleOp::create(e.b, e.loc, a, b, high);
    return addElems(e, element, Elem(x), Elem(y)).re;
  };
  for (; lanes > count; lanes /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes / 2; ++l) {
      low.push_back(l);
      high.push_back(l + lanes / 2);
    }
    for (Value &v : vectors) {
      v = add(v, v, low, high);
    }
  }
  // Two vectors become one that holds, run by run, the halves of each run of the first and of the
  // second.
  for (int64_t run = lanes / 2; run >= 1; run /= 2) {
    int64_t half = vectors.size() / 2;
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t within = l % (2 * run), first = l - within;
      low.push_back((within >= run ? lanes + first : first) + within % run);
      high.push_back(low.back() + run);
    }
    for (int64_t i = 0; i < half; ++i) {
      vectors[i] = add(vectors[i], vectors[i + half], low, high);
    }
    vectors.resize(half);
  }
  return vectors[0];
}

} // namespace hlo::codegen
