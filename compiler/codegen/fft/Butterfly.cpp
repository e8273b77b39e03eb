//===- Butterfly.cpp - Small transforms in registers ----------------------===//
//
// In: p complex values (vectors). Out: their discrete Fourier transform.
//
//   p = 2, 4, 8   by halves: the even outputs are the transform of x_t + x_(t+p/2), the odd ones
//                 that of w^t (x_t - x_(t+p/2)); roots of 8 cost two sums and two products
//   p odd         with s_t = x_t + x_(p-t), d_t = x_t - x_(p-t), t <= (p-1)/2:
//                 y_r, y_(p-r) = x_0 + sum cos(2 pi r t / p) s_t  -/+  i sum sin(2 pi r t / p) d_t
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Butterfly.h"
#include "compiler/codegen/fft/Roots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace hlo::codegen {

template <typename Op> static Value contracted(Emission &e, Value a, Value b) {
  auto flags = arith::FastMathFlagsAttr::get(e.b.getContext(), arith::FastMathFlags::contract);
  return Op::create(e.b, e.loc, a, b, flags);
}

Value ComplexMath::add(Value a, Value b) { return contracted<arith::AddFOp>(e, a, b); }
Value ComplexMath::sub(Value a, Value b) { return contracted<arith::SubFOp>(e, a, b); }
Value ComplexMath::mul(Value a, Value b) { return contracted<arith::MulFOp>(e, a, b); }

Value ComplexMath::constant(double value, Value like) {
  TypedAttr attr = e.b.getFloatAttr(real, value);
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  }
  return arith::ConstantOp::create(e.b, e.loc, attr);
}

Elem ComplexMath::mul(const Elem &a, const Elem &b) {
  return {sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))};
}

Elem ComplexMath::scale(const Elem &a, double by) {
  Value factor = constant(by, a.re);
  return {mul(a.re, factor), mul(a.im, factor)};
}

Elem ComplexMath::conj(const Elem &a) { return {a.re, arith::NegFOp::create(e.b, e.loc, a.im)}; }

Elem ComplexMath::timesI(const Elem &a, bool negative) {
  Value changed = arith::NegFOp::create(e.b, e.loc, negative ? a.re : a.im);
  return negative ? Elem(a.im, changed) : Elem(changed, a.re);
}

/// a times exp(-+2 pi i t / p), for p = 4 or 8.
static Elem timesRoot(ComplexMath &math, const Elem &a, int64_t t, int64_t p, bool inverse) {
  int64_t eighths = t * 8 / p;
  if (eighths == 0) {
    return a;
  }
  if (eighths == 2) {
    return math.timesI(a, !inverse);
  }
  // (1 -+ i) / sqrt(2), or that times -+i.
  double half = std::sqrt(0.5);
  Value sum = math.add(a.re, a.im), difference = math.sub(a.re, a.im);
  Value r = math.constant(half, a.re);
  Elem first = inverse ? Elem(math.mul(difference, r), math.mul(sum, r))
                       : Elem(math.mul(sum, r), math.mul(math.sub(a.im, a.re), r));
  return eighths == 1 ? first : math.timesI(first, !inverse);
}

static SmallVector<Elem> powerOfTwo(ComplexMath &math, ArrayRef<Elem> x, bool inverse) {
  int64_t p = x.size();
  if (p == 1) {
    return {x[0]};
  }
  SmallVector<Elem> even, odd;
  for (int64_t t = 0; t < p / 2; ++t) {
    even.push_back(math.add(x[t], x[t + p / 2]));
    odd.push_back(timesRoot(math, math.sub(x[t], x[t + p / 2]), t, p, inverse));
  }
  even = powerOfTwo(math, even, inverse);
  odd = powerOfTwo(math, odd, inverse);
  SmallVector<Elem> y;
  for (int64_t r = 0; r < p / 2; ++r) {
    y.append({even[r], odd[r]});
  }
  return y;
}

SmallVector<Elem> butterfly(ComplexMath &math, ArrayRef<Elem> x, bool inverse) {
  int64_t p = x.size(), half = (p - 1) / 2;
  if (p % 2 == 0 || p == 1) {
    return powerOfTwo(math, x, inverse);
  }
  SmallVector<Elem> sums, differences, y(p);
  Elem total = x[0];
  for (int64_t t = 1; t <= half; ++t) {
    sums.push_back(math.add(x[t], x[p - t]));
    differences.push_back(math.sub(x[t], x[p - t]));
    total = math.add(total, sums.back());
  }
  y[0] = total;
  for (int64_t r = 1; r <= half; ++r) {
    Elem a = x[0], b;
    for (int64_t t = 1; t <= half; ++t) {
      auto [c, s] = rootOfUnity(r * t % p, p);
      Value cosine = math.constant(c, a.re), sine = math.constant(-s, a.re);
      auto scaled = [&](const Elem &v, Value by) {
        return Elem(math.mul(v.re, by), math.mul(v.im, by));
      };
      a = math.add(a, scaled(sums[t - 1], cosine));
      Elem term = scaled(differences[t - 1], sine);
      b = t == 1 ? term : math.add(b, term);
    }
    Elem minus(math.add(a.re, b.im), math.sub(a.im, b.re));
    Elem plus(math.sub(a.re, b.im), math.add(a.im, b.re));
    y[r] = inverse ? plus : minus;
    y[p - r] = inverse ? minus : plus;
  }
  return y;
}

} // namespace hlo::codegen
