//===- ComplexMath.cpp - Complex functions from real ones -----------------===//
//
// XLA's export of StableHLO expands these functions, so the expansion is a part of what a program
// computes: the same steps give the same bits. Ideas: the modulus scaled by its larger part; the
// squares of |z|^2 - 1 with their rounding errors (Dekker) where log(z) is near 0; for the inverse
// functions the cases of Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine
// functions using exception handling" (1997).
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Formula.h"
#include <limits>

using namespace hlo::stable;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
constexpr double kLn2 = 0.69314718055994530942;
constexpr double kSqrt2 = 1.41421356237309504880;

/// The constant of the value's width.
double choose(const Num &x, double single, double wide) { return x.isDouble() ? wide : single; }

/// sqrt(a^2 + b^2) of numbers >= 0, without overflow.
Num modulus(const Num &a, const Num &b) {
  Num larger = max(a, b), smaller = min(a, b);
  Num ratio = smaller / larger;
  Num square = ratio * ratio;
  Num root = sqrt(square + 1);
  return select(larger == smaller, larger * kSqrt2,
                select((root == 1) & (square > 0), larger + larger * square / 2, larger * root));
}

/// x * x - `square`, exactly, where `square` is x * x rounded. Dekker's splitting.
Num squareError(const Num &x, const Num &square) {
  Num shifted = x * choose(x, 4097, 134217729);
  Num high = shifted + (x - shifted);
  Num low = x - high;
  Num cross = high * low;
  return -square + high * high + cross + cross + low * low;
}
} // namespace

Num hlo::stable::polynomial(const Num &x, llvm::ArrayRef<double> coefficients) {
  Num sum = coefficients[0] == 1 ? x : x * coefficients[0];
  sum = sum + coefficients[1];
  for (double coefficient : coefficients.drop_front(2)) {
    sum = sum * x + coefficient;
  }
  return sum;
}

/// exp(re) as the square of exp(re / 2) where it overflows: the cosine or sine may bring the
/// product back into range.
Num hlo::stable::complexExp(const Num &z) {
  Num re = real(z), im = imag(z);
  Num whole = exp(re), half = exp(re * 0.5);
  Num overflows = whole == kInf;
  Num c = cos(im), s = sin(im);
  Num x = select(overflows, half * c * half, whole * c);
  Num y = select(im == 0, 0, select(overflows, half * s * half, whole * s));
  return complex(x, y);
}

Num hlo::stable::complexLog(const Num &z) {
  Num re = real(z), im = imag(z);
  Num reSquare = re * re, imSquare = im * im;
  Num imLarger = imSquare > reSquare;
  Num larger = select(imLarger, imSquare, reSquare);
  Num smaller = select(imLarger, reSquare, imSquare);
  // larger - 1 + smaller + the errors of both squares, each sum with its own error.
  Num first = larger + (-1.0);
  Num second = first + smaller;
  Num imError = squareError(im, imSquare);
  Num third = second + imError;
  Num reError = squareError(re, reSquare);
  Num fourth = third + reError;
  Num lost = (larger - (first - (-1.0))) + (smaller - (second - first)) +
             (imError - (third - second)) + (reError - (fourth - third));
  Num minusOne = fourth + lost;
  Num most = max(abs(re), abs(im)), least = min(abs(re), abs(im));
  Num ratio = select(least == most, 1, least / most);
  Num x =
      select(abs(minusOne) < 0.5, log1p(minusOne) * 0.5, log(most) + log1p(ratio * ratio) * 0.5);
  return complex(x, atan2(im, re));
}

/// The sum of a and b, and what rounding took from it.
static std::pair<Num, Num> twoSum(const Num &a, const Num &b) {
  Num sum = a + b;
  Num part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

Num hlo::stable::complexLog1p(const Num &z) {
  Num re = real(z), im = imag(z);
  Num x = abs(re), y = abs(im);
  Num most = max(x, y), least = min(x, y);
  Num ratio = least / most;
  Num shifted = re + 1;
  // |1 + z|^2 - 1 = 2 re + im^2 + re^2
  Num imSquare = im * im, doubled = re + re;
  auto [second, lost2] = twoSum(doubled, imSquare);
  Num reSquare = re * re;
  auto [third, lost3] = twoSum(second, reSquare);
  auto [fourth, lost4] = twoSum(third, squareError(im, imSquare));
  auto [fifth, lost5] = twoSum(fourth, squareError(re, reSquare));
  Num minusOne = fifth + (lost2 + lost3 + lost4 + lost5);
  Num large = log(most) + log1p(select(least == most, 1, ratio * ratio)) * 0.5;
  Num nearZero = log(shifted * shifted + imSquare) * 0.5;
  Num part = select(most > choose(re, 1.84467419e+17, 1.3407807929942595e+152), large,
                    select(abs(shifted) + y < 0.2, nearZero, log1p(minusOne) * 0.5));
  return complex(part, atan2(im, shifted));
}

Num hlo::stable::complexSqrt(const Num &z) {
  Num re = real(z), im = imag(z);
  Num x = abs(re), y = abs(im);
  Num equal = x == y;
  Num rootX = sqrt(x), rootY = sqrt(y);
  Num plain = sqrt(modulus(x, y) / 2 + x / 2);
  Num scaled = (plain == 0) | (plain == kInf);
  Num xLarger = x > y, yLarger = x < y;
  Num ratio = select(equal, 1, select(yLarger, x / y, y / x));
  Num long_ = modulus(abs(ratio), ratio.like(1));
  Num alongX = sqrt(long_ + 1), alongY = sqrt(ratio + long_);
  Num big = select(
      equal, rootX * choose(re, 1.553774, 1.5537739740300374) / kSqrt2,
      select(scaled, select(xLarger, rootX * (alongX / kSqrt2), rootY * (alongY / kSqrt2)), plain));
  Num rootRatio = select(equal, 1, select(yLarger, rootX / rootY, rootY / rootX));
  Num small = select(
      equal, rootY / choose(re, 2.19736814, 2.19736822693562),
      select(scaled,
             select(xLarger, rootY * rootRatio / (alongX * kSqrt2), rootY / (alongY * kSqrt2)),
             y / (plain * 2)));
  Num negative = im < 0;
  return complex(select(re >= 0, big, small),
                 select(re < 0, select(negative, -big, big), select(negative, -small, small)));
}

Num hlo::stable::complexSquare(const Num &z) {
  Num re = real(z), im = imag(z);
  Num x = select(isFinite(re) & (abs(re) == abs(im)), 0, (re - im) * (re + im));
  return complex(x, re * im * 2);
}

namespace {
/// For x, y >= 0: asin(x + iy) = atan2(x, cosine) + i * height, acos = atan2(cosine, x) - i *
/// height.
struct Inverse {
  Num cosine, height;
};

Inverse inverseKernel(const Num &x, const Num &y) {
  const double safeMax = choose(x, 2.30584287e+18, 1.6759759912428245e+153);
  Num plus = x + 1, minus = x - 1;
  Num r = modulus(abs(plus), y), s = modulus(abs(minus), y);
  Num a = (r + s) * 0.5;
  Num half = (a + x) * 0.5, ySquare = y * y;
  Num rPlus = r + plus, sPlus = s + minus, sMinus = s - minus;
  Num cosine = select(max(x, y) >= safeMax, y,
                      select(x <= 1, sqrt(half * (ySquare / rPlus + sMinus)),
                             y * sqrt(half / rPlus + half / sPlus)));
  Num limit = select(x < choose(x, 2.30584285e+30, 1.6759759912428244e+165),
                     x.like(choose(x, 2.30584274e+12, 1.6759759912428242e+147)),
                     choose(x, 2.30584283e+20, 1.6759759912428244e+155));
  Num tall = y >= limit;
  Num larger = select(tall, y, x);
  Num ratio = select(tall & !(y == kInf), x / y, 0);
  Num tiny = (y < choose(x, 4.33680869e-19, 5.9666725849601654e-154)) & (x < 1);
  Num aPlus = a + 1, halfSquare = ySquare * 0.5;
  Num part = halfSquare / rPlus;
  Num aMinus = select(
      tiny, -(plus * minus / aPlus),
      select(x >= 1, part + sPlus * 0.5, select(a <= 1.5, part + halfSquare / sMinus, a - 1)));
  Num root = sqrt(aMinus * aPlus);
  Num height = select(larger >= select(tall, limit, safeMax),
                      log(larger) + kLn2 + log1p(ratio * ratio) * 0.5,
                      select(tiny, y / root, log1p(aMinus + root)));
  return {cosine, height};
}
} // namespace

Num hlo::stable::complexAsin(const Num &z) {
  Num re = real(z), im = imag(z);
  Inverse k = inverseKernel(abs(re), abs(im));
  return complex(atan2(re, k.cosine), select(im < 0, -k.height, k.height));
}

Num hlo::stable::complexAcos(const Num &z) {
  Num re = real(z), im = imag(z);
  Inverse k = inverseKernel(abs(re), abs(im));
  return complex(atan2(k.cosine, re), select(im < 0, k.height, -k.height));
}

/// asinh(z) = -i asin(iz).
Num hlo::stable::complexAsinh(const Num &z) {
  Num re = real(z), im = imag(z);
  Inverse k = inverseKernel(abs(-im), abs(re));
  return complex(select(re < 0, -k.height, k.height), atan2(im, k.cosine));
}

Num hlo::stable::complexAcosh(const Num &z) {
  Num re = real(z), im = imag(z);
  Inverse k = inverseKernel(abs(re), abs(im));
  Num angle = atan2(k.cosine, re);
  return complex(k.height, select(im < 0, -angle, angle));
}

/// Real and imaginary part of atanh(re + i im).
static std::pair<Num, Num> atanhParts(const Num &re, const Num &im) {
  Num x = abs(re), y = abs(im);
  const double most = choose(re, 2.81475044e+14, 8.1129638414606718e+31);
  Num moderate = (x < most) & (y < most);
  Num rest = 1 - x, imSquare = im * im;
  auto isInf = [](const Num &v) { return (v == kInf) | (v == -kInf); };
  Num far = select(y * choose(re, 16777218, 9007199254740994) < x, 1 / x,
                   select(isInf(re) | isInf(im), 0, 1 / (x / im + im / x) / im));
  auto signOf = [](const Num &v) { return select(v >= 0, v.like(1), -1); };
  Num height = signOf(re) * log1p(select(moderate, x / (rest * rest + imSquare), far) * 4) * 0.25;
  Num angle = select(moderate, atan2(im + im, rest * (x + 1) - imSquare), signOf(im) * kPi) * 0.5;
  return {height, angle};
}

Num hlo::stable::complexAtanh(const Num &z) {
  auto [height, angle] = atanhParts(real(z), imag(z));
  return complex(height, angle);
}

/// atan(z) = -i atanh(iz).
Num hlo::stable::complexAtan(const Num &z) {
  auto [height, angle] = atanhParts(-imag(z), real(z));
  return complex(angle, -height);
}

/// exp(z) / 2 as exp(z - ln 2), which does not overflow where the result does not.
static std::pair<Num, Num> halvedExponentials(const Num &z) {
  Num logHalf = complexLog(z.like(0.5));
  return {complexExp(z + logHalf), complexExp(logHalf - z)};
}

Num hlo::stable::complexSinh(const Num &z) {
  auto [up, down] = halvedExponentials(z);
  return up - down;
}

Num hlo::stable::complexCosh(const Num &z) {
  auto [up, down] = halvedExponentials(z);
  return up + down;
}
