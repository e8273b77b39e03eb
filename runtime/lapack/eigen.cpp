//===- eigen.cpp - Eigenvalues and the forms on the way to them -----------===//
//
//   syevd, heevd   x -> vectors, values, info                    mode, uplo
//   geev           x -> values (real: re, im), left and right vectors (complex), info
//   gees           x -> Schur form, vectors, values (real: re, im), number selected, info
//   gehrd          x -> Hessenberg form and reflectors, tau, info    low, high (from 1)
//   sytrd, hetrd   x -> tridiagonal form and reflectors, d, e, tau, info    uplo
//
// geev and gees refuse matrices with infinities or NaN, on which LAPACK takes minutes or never
// ends: info = -4 and -5, the number of the argument. Results that are not computed are zeros.
//
//===----------------------------------------------------------------------===//
#include <string.h>

#include "fortran.h"

namespace hlo_lapack {

static constexpr Dimension n{Size::n}, below{Size::below};
static constexpr Array x = {"x", Element::same, {n, n}, 0};

static constexpr Contract symmetricContract = {.operands = {x},
                                               .results = {{"vectors", Element::same, {n, n}},
                                                           {"values", Element::real, {n}},
                                                           {"info", Element::s32}},
                                               .attributes = {{"mode", "VN"}, {"uplo", "LU"}},
                                               .work = {{3, Size::n, Size::n}, {128, Size::n}}};

template <typename T>
ffi_error *symmetricEigen(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.begin(symmetricContract, typeNumber<T>)) {
    return call.error;
  }
  char mode = call.letter("mode"), uplo = call.letter("uplo");
  int64_t n = call.n();
  T *a = call.out<T>(0), best = {};
  R *w = call.out<R>(1), bestReal = {};
  int *info = call.out<int>(2), bestInt = 0, ignored = 0;
  syevd(mode, uplo, n, a, leading(n), w, &best, -1, &bestReal, -1, &bestInt, -1, &ignored);
  // The least sizes according to the manual.
  int64_t forReal = 2 * n * n + 6 * n + 1, forComplex = n * n + 2 * n + 1;
  constexpr bool isComplex = Scalar<T>::isComplex;
  int size = workSize(realPart(best), isComplex ? forComplex : forReal);
  int realSize = workSize(bestReal, isComplex ? forReal : 1);
  int intSize = static_cast<int>(larger(bestInt, 5 * n + 3));
  Scratch scratch(call.frame);
  T *work = scratch.take<T>(size);
  R *rwork = scratch.take<R>(realSize);
  int *iwork = scratch.take<int>(intSize);
  if (!work || !rwork || !iwork) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    syevd(mode, uplo, n, a + i * n * n, leading(n), w + i * n, work, size, rwork, realSize, iwork,
          intSize, info + i);
  }
  return nullptr;
}

template <typename R>
struct ComplexOf;
template <>
struct ComplexOf<float> {
  using Type = Complex64;
};
template <>
struct ComplexOf<double> {
  using Type = Complex128;
};

/// Unpacks real eigenvectors from LAPACK's form: two columns hold the real and the imaginary part
/// of the vectors of a conjugate pair.
template <typename R, typename C>
void unpack(int64_t n, const R *wi, const R *packed, C *vectors) {
  for (int64_t j = 0; j < n; ++j) {
    bool pair = wi[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      R re = packed[j * n + i], im = pair ? packed[(j + 1) * n + i] : R(0);
      vectors[j * n + i] = {re, im};
      if (pair) {
        vectors[(j + 1) * n + i] = {re, -im};
      }
    }
    j += pair;
  }
}

static constexpr Contract realEigenContract = {
    .operands = {{"x", Element::same, {n, n}}},
    .results = {{"real parts", Element::same, {n}},
                {"imaginary parts", Element::same, {n}},
                {"left vectors", Element::complex, {n, n}},
                {"right vectors", Element::complex, {n, n}},
                {"info", Element::s32}},
    .attributes = {{"compute_left", "VN"}, {"compute_right", "VN"}},
    .work = {{512, Size::n}}};

template <typename R>
ffi_error *realEigen(Call &call) {
  using C = typename ComplexOf<R>::Type;
  if (!call.begin(realEigenContract, typeNumber<R>)) {
    return call.error;
  }
  char left = call.letter("compute_left"), right = call.letter("compute_right");
  for (int i = 0; i < 4; ++i) {
    call.clear(i);
  }
  int64_t n = call.n();
  R best = {};
  int *info = call.out<int>(4), ignored = 0;
  geev(left, right, n, nullptr, leading(n), nullptr, nullptr, nullptr, nullptr, &best, -1,
       &ignored);
  int size = workSize(best, larger(4 * n, 1));
  Scratch scratch(call.frame);
  R *work = scratch.take<R>(size), *a = scratch.take<R>(n * n);
  R *vl = scratch.take<R>(n * n), *vr = scratch.take<R>(n * n);
  if (!work || !a || !vl || !vr) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    const R *x = call.in<R>(0) + i * n * n;
    if (!allFinite(x, n * n)) {
      info[i] = -4;
      continue;
    }
    memcpy(a, x, n * n * sizeof(R));
    R *wi = call.out<R>(1) + i * n;
    geev(left, right, n, a, leading(n), call.out<R>(0) + i * n, wi, vl, vr, work, size, info + i);
    if (info[i] == 0 && left == 'V') {
      unpack(n, wi, vl, call.out<C>(2) + i * n * n);
    }
    if (info[i] == 0 && right == 'V') {
      unpack(n, wi, vr, call.out<C>(3) + i * n * n);
    }
  }
  return nullptr;
}

static constexpr Contract complexEigenContract = {
    .operands = {{"x", Element::same, {n, n}}},
    .results = {{"values", Element::same, {n}},
                {"left vectors", Element::same, {n, n}},
                {"right vectors", Element::same, {n, n}},
                {"info", Element::s32}},
    .attributes = {{"compute_left", "VN"}, {"compute_right", "VN"}},
    .work = {{512, Size::n}}};

template <typename C>
ffi_error *complexEigen(Call &call) {
  using R = typename Scalar<C>::Real;
  if (!call.begin(complexEigenContract, typeNumber<C>)) {
    return call.error;
  }
  char left = call.letter("compute_left"), right = call.letter("compute_right");
  for (int i = 0; i < 3; ++i) {
    call.clear(i);
  }
  int64_t n = call.n();
  C best = {};
  int *info = call.out<int>(3), ignored = 0;
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(2 * n);
  if (!rwork) {
    return call.noMemory();
  }
  // The workspace query writes to rwork as well.
  geev(left, right, n, nullptr, leading(n), nullptr, nullptr, nullptr, &best, -1, rwork, &ignored);
  int size = workSize(best.re, larger(2 * n, 1));
  C *work = scratch.take<C>(size), *a = scratch.take<C>(n * n);
  if (!work || !a) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    const C *x = call.in<C>(0) + i * n * n;
    if (!allFinite(x, n * n)) {
      info[i] = -4;
      continue;
    }
    memcpy(a, x, n * n * sizeof(C));
    geev(left, right, n, a, leading(n), call.out<C>(0) + i * n, call.out<C>(1) + i * n * n,
         call.out<C>(2) + i * n * n, work, size, rwork, info + i);
  }
  return nullptr;
}

// Sorting eigenvalues is not supported: it needs a selection function.
static constexpr Attribute schurMode = {"mode", "VN"}, schurSort = {"sort", "N"};
static constexpr Contract realSchurContract = {.operands = {x},
                                               .results = {{"form", Element::same, {n, n}},
                                                           {"vectors", Element::same, {n, n}},
                                                           {"real parts", Element::same, {n}},
                                                           {"imaginary parts", Element::same, {n}},
                                                           {"selected", Element::s32},
                                                           {"info", Element::s32}},
                                               .attributes = {schurMode, schurSort},
                                               .work = {{512, Size::n}}};
static constexpr Contract complexSchurContract = {.operands = {x},
                                                  .results = {{"form", Element::same, {n, n}},
                                                              {"vectors", Element::same, {n, n}},
                                                              {"values", Element::same, {n}},
                                                              {"selected", Element::s32},
                                                              {"info", Element::s32}},
                                                  .attributes = {schurMode, schurSort},
                                                  .work = {{512, Size::n}}};

template <typename R>
ffi_error *realSchur(Call &call) {
  if (!call.begin(realSchurContract, typeNumber<R>)) {
    return call.error;
  }
  char mode = call.letter("mode");
  for (int i = 1; i < 5; ++i) {
    call.clear(i);
  }
  int64_t n = call.n();
  R *a = call.out<R>(0);
  int *selected = call.out<int>(4);
  Scratch scratch(call.frame);
  return runWithWork<R>(
      call, scratch, 3 * n, call.out<int>(5), [&](int64_t i, R *work, int size, int *info) {
        if (size != -1 && !allFinite(a + i * n * n, n * n)) {
          *info = -5;
          return;
        }
        gees(mode, n, a + i * n * n, leading(n), selected + i, call.out<R>(2) + i * n,
             call.out<R>(3) + i * n, call.out<R>(1) + i * n * n, work, size, info);
      });
}

template <typename C>
ffi_error *complexSchur(Call &call) {
  using R = typename Scalar<C>::Real;
  if (!call.begin(complexSchurContract, typeNumber<C>)) {
    return call.error;
  }
  char mode = call.letter("mode");
  for (int i = 1; i < 4; ++i) {
    call.clear(i);
  }
  int64_t n = call.n();
  C *a = call.out<C>(0);
  int *selected = call.out<int>(3);
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(n);
  if (!rwork) {
    return call.noMemory();
  }
  return runWithWork<C>(
      call, scratch, 2 * n, call.out<int>(4), [&](int64_t i, C *work, int size, int *info) {
        if (size != -1 && !allFinite(a + i * n * n, n * n)) {
          *info = -5;
          return;
        }
        gees(mode, n, a + i * n * n, leading(n), selected + i, call.out<C>(2) + i * n,
             call.out<C>(1) + i * n * n, work, size, rwork, info);
      });
}

static constexpr Contract hessenbergContract = {
    .operands = {x},
    .results = {{"form", Element::same, {n, n}},
                {"tau", Element::same, {below}},
                {"info", Element::s32}},
    .attributes = {{"low", nullptr, typeS32}, {"high", nullptr, typeS32}},
    .work = {{256, Size::n}}};

template <typename T>
ffi_error *hessenberg(Call &call) {
  if (!call.begin(hessenbergContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t n = call.n(), low = call.attribute("low"), high = call.attribute("high");
  if (low < 1 || low > larger(n, 1) || high < smaller(low, n) || high > n) {
    return call.fail(invalidArgument,
                     "attributes 'low' and 'high': expected 1 <= low <= high <= n");
  }
  T *a = call.out<T>(0), *tau = call.out<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, leading(n), call.out<int>(2),
                        [&](int64_t i, T *work, int size, int *info) {
                          gehrd(n, low, high, a + i * n * n, leading(n), tau + i * larger(n - 1, 0),
                                work, size, info);
                        });
}

static constexpr Contract tridiagonalContract = {
    .operands = {x},
    .results = {{"form", Element::same, {n, n}},
                {"diagonal", Element::real, {n}},
                {"off-diagonal", Element::real, {below}},
                {"tau", Element::same, {below}},
                {"info", Element::s32}},
    .attributes = {{"uplo", "LU"}},
    .work = {{128, Size::n}}};

template <typename T>
ffi_error *tridiagonal(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.begin(tridiagonalContract, typeNumber<T>)) {
    return call.error;
  }
  char uplo = call.letter("uplo");
  int64_t n = call.n();
  int64_t off = larger(n - 1, 0);
  T *a = call.out<T>(0), *tau = call.out<T>(3);
  R *d = call.out<R>(1), *e = call.out<R>(2);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, 1, call.out<int>(4),
                        [&](int64_t i, T *work, int size, int *info) {
                          sytrd(uplo, n, a + i * n * n, leading(n), d + i * n, e + i * off,
                                tau + i * off, work, size, info);
                        });
}

}  // namespace hlo_lapack

HLO_LAPACK_HANDLER(ssyevd, symmetricEigen, float)
HLO_LAPACK_HANDLER(dsyevd, symmetricEigen, double)
HLO_LAPACK_HANDLER(cheevd, symmetricEigen, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zheevd, symmetricEigen, hlo_lapack::Complex128)
HLO_LAPACK_HANDLER(sgeev, realEigen, float)
HLO_LAPACK_HANDLER(dgeev, realEigen, double)
HLO_LAPACK_HANDLER(cgeev, complexEigen, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zgeev, complexEigen, hlo_lapack::Complex128)
HLO_LAPACK_HANDLER(sgees, realSchur, float)
HLO_LAPACK_HANDLER(dgees, realSchur, double)
HLO_LAPACK_HANDLER(cgees, complexSchur, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zgees, complexSchur, hlo_lapack::Complex128)
HLO_LAPACK_HANDLERS(gehrd, hessenberg)
HLO_LAPACK_HANDLER(ssytrd, tridiagonal, float)
HLO_LAPACK_HANDLER(dsytrd, tridiagonal, double)
HLO_LAPACK_HANDLER(chetrd, tridiagonal, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zhetrd, tridiagonal, hlo_lapack::Complex128)
