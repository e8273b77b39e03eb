//===- tridiagonal.cpp - Tridiagonal systems that may be singular ---------===//
//
// tridiagonal_solve_perturbed_ffi: lower, diagonal, upper, b -> x. LU factorization with row
// exchanges. If a division would overflow in any column, the pivot is moved away from zero by
// epsilon times the largest element of U, doubled until it does not (like LAPACK's lagts with job =
// -1). Inverse iteration for eigenvectors needs this.
//
//===----------------------------------------------------------------------===//
#include <float.h>

#include "handler.h"

namespace hlo_lapack {

using C64 = float _Complex;
using C128 = double _Complex;

template <typename T>
struct Limits;
template <>
struct Limits<float> {
  using Real = float;
  static constexpr float epsilon = FLT_EPSILON, least = FLT_MIN;
};
template <>
struct Limits<double> {
  using Real = double;
  static constexpr double epsilon = DBL_EPSILON, least = DBL_MIN;
};
template <>
struct Limits<C64> : Limits<float> {};
template <>
struct Limits<C128> : Limits<double> {};

template <typename R>
R absolute(R x) {
  return x < 0 ? -x : x;
}
inline float magnitude(float x) { return absolute(x); }
inline double magnitude(double x) { return absolute(x); }
inline float magnitude(C64 x) { return __builtin_hypotf(__real__ x, __imag__ x); }
inline double magnitude(C128 x) { return __builtin_hypot(__real__ x, __imag__ x); }
inline bool isNegative(float x) { return x < 0; }
inline bool isNegative(double x) { return x < 0; }
inline bool isNegative(C64 x) { return __real__ x < 0; }
inline bool isNegative(C128 x) { return __real__ x < 0; }

/// The factors of one matrix: U has three diagonals. Row k + 1 was replaced by itself minus
/// multiplier[k] times row k, after an exchange of the two rows if `swapped`.
template <typename T>
struct Factors {
  T *diagonal, *upper, *second, *multiplier;
  char *swapped;
  typename Limits<T>::Real tolerance;
};

template <typename T>
void factor(int64_t n, const T *lower, const T *diagonal, const T *upper, Factors<T> &f) {
  using R = typename Limits<T>::Real;
  for (int64_t k = 0; k < n; ++k) {
    f.diagonal[k] = diagonal[k];
    f.upper[k] = k + 1 < n ? upper[k] : T(0);
    f.second[k] = T(0);
  }
  R largest = 0;
  for (int64_t k = 0; k < n; ++k) {
    if (k + 1 < n) {
      T below = lower[k + 1];
      f.swapped[k] = magnitude(f.diagonal[k]) < magnitude(below);
      if (f.swapped[k]) {
        T ratio = f.diagonal[k] / below, above = f.upper[k];
        f.multiplier[k] = ratio;
        f.diagonal[k] = below;
        f.upper[k] = f.diagonal[k + 1];
        f.diagonal[k + 1] = above - ratio * f.upper[k];
        f.second[k] = f.upper[k + 1];
        f.upper[k + 1] = -ratio * f.second[k];
      } else {
        f.multiplier[k] = magnitude(f.diagonal[k]) > 0 ? below / f.diagonal[k] : T(0);
        f.diagonal[k + 1] = f.diagonal[k + 1] - f.multiplier[k] * f.upper[k];
      }
    }
    const T row[] = {f.diagonal[k], f.upper[k], f.second[k]};
    for (T element : row) {
      R size = magnitude(element);
      largest = size > largest ? size : largest;
    }
  }
  f.tolerance = largest * Limits<T>::epsilon;
  f.tolerance = f.tolerance > Limits<T>::least ? f.tolerance : Limits<T>::least;
}

/// A pivot by which numbers up to `largest` can be divided.
template <typename T>
T enlarge(T pivot, typename Limits<T>::Real largest, typename Limits<T>::Real tolerance) {
  using R = typename Limits<T>::Real;
  R step = isNegative(pivot) ? -tolerance : tolerance;
  for (;;) {
    R size = magnitude(pivot);
    // NaN stays NaN.
    if (!(size < 1) || (size > 0 && !(largest * Limits<T>::least > size))) {
      return pivot;
    }
    pivot = pivot + step;
    step *= 2;
  }
}

/// Overwrites right-hand sides with solutions; one pivot serves all columns of a row.
template <typename T>
void solve(int64_t n, int64_t columns, Factors<T> &f, T *rhs) {
  using R = typename Limits<T>::Real;
  for (int64_t k = 0; k + 1 < n; ++k) {
    for (T *x = rhs; x < rhs + columns * n; x += n) {
      if (f.swapped[k]) {
        T first = x[k];
        x[k] = x[k + 1];
        x[k + 1] = first - f.multiplier[k] * x[k];
      } else {
        x[k + 1] = x[k + 1] - f.multiplier[k] * x[k];
      }
    }
  }
  for (int64_t k = n - 1; k >= 0; --k) {
    R largest = 0;
    for (T *x = rhs; x < rhs + columns * n; x += n) {
      x[k] = k + 1 < n ? x[k] - f.upper[k] * x[k + 1] : x[k];
      x[k] = k + 2 < n ? x[k] - f.second[k] * x[k + 2] : x[k];
      R size = magnitude(x[k]);
      largest = size > largest ? size : largest;
    }
    T pivot = enlarge(f.diagonal[k], largest, f.tolerance);
    for (T *x = rhs; x < rhs + columns * n; x += n) {
      x[k] = x[k] / pivot;
    }
  }
}

static constexpr Dimension m{Size::m};
static constexpr Contract perturbedContract = {
    .operands = {{"lower", Element::same, {m}},
                 {"diagonal", Element::same, {m}},
                 {"upper", Element::same, {m}},
                 {"b", Element::same, {m, {Size::n}}, 0}},
    .results = {{"x", Element::same, {m, {Size::n}}}}};

template <typename T>
ffi_error *solvePerturbed(Call &call, Type type) {
  if (!call.begin(perturbedContract, type)) {
    return call.error;
  }
  int64_t n = call.m(), columns = call.n();
  Scratch scratch(call.frame);
  Factors<T> f = {scratch.take<T>(n), scratch.take<T>(n),    scratch.take<T>(n),
                  scratch.take<T>(n), scratch.take<char>(n), 0};
  if (!f.diagonal || !f.upper || !f.second || !f.multiplier || !f.swapped) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    factor(n, call.in<T>(0) + i * n, call.in<T>(1) + i * n, call.in<T>(2) + i * n, f);
    solve(n, columns, f, call.out<T>(0) + i * columns * n);
  }
  return nullptr;
}

}  // namespace hlo_lapack

using namespace hlo_lapack;

/// One target for all types.
extern "C" __attribute__((visibility("default"))) ffi_error *tridiagonal_solve_perturbed_ffi(
    ffi_frame *frame) {
  if (answersMetadata(frame)) {
    return nullptr;
  }
  Call call(frame);
  // The operands determine the type; without operands, or with an unsupported type, f32 is
  // expected.
  bool typed = frame->operands.size > 3 && frame->operands.kinds[3] == FFI_KIND_BUFFER &&
               frame->operands.values[3];
  switch (typed ? call.operand(3).type : 0) {
    case typeF64:
      return solvePerturbed<double>(call, typeF64);
    case typeC64:
      return solvePerturbed<C64>(call, typeC64);
    case typeC128:
      return solvePerturbed<C128>(call, typeC128);
    default:
      return solvePerturbed<float>(call, typeF32);
  }
}
