//===- eigen.cpp - Eigenvalues and the forms on the way to them -----------===//
//
//   syevd, heevd   x -> vectors, values, info                    mode, uplo
//   geev           x -> values (real: re, im), left and right vectors (complex), info
//   gees           x -> Schur form, vectors, values (real: re, im), number selected, info
//   gehrd          x -> Hessenberg form and reflectors, tau, info    low, high (from 1)
//   sytrd, hetrd   x -> tridiagonal form and reflectors, d, e, tau, info    uplo
//
// geev refuses matrices that are not finite, which some LAPACKs never finish: info = -4.
//
//===----------------------------------------------------------------------===//
#include <string.h>

#include "fortran.h"

namespace hlo_lapack {

template <typename T>
ffi_error *symmetricEigen(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.expect(1, 3)) {
    return call.error;
  }
  call.copy(0, 0);
  char mode = static_cast<char>(call.attribute("mode", 'V'));
  char uplo = static_cast<char>(call.attribute("uplo", 'L'));
  int64_t n = Call::columns(call.result(0));
  T *a = call.out<T>(0), best = {};
  R *w = call.out<R>(1), bestReal = {};
  int *info = call.out<int>(2), bestInt = 0, ignored = 0;
  syevd(mode, uplo, n, a, leading(n), w, &best, -1, &bestReal, -1, &bestInt, -1, &ignored);
  int size = larger(static_cast<int>(realPart(best)), 1);
  int realSize = larger(static_cast<int>(bestReal), 1), intSize = larger(bestInt, 1);
  Scratch scratch(call.frame);
  T *work = scratch.take<T>(size);
  R *rwork = scratch.take<R>(realSize);
  int *iwork = scratch.take<int>(intSize);
  if (!work || !rwork || !iwork) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = Call::batches(call.result(0), 2); i < count; ++i) {
    syevd(mode, uplo, n, a + i * n * n, leading(n), w + i * n, work, size, rwork, realSize, iwork,
          intSize, info + i);
  }
  return nullptr;
}

template <typename R>
bool allFinite(const R *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!(values[i] - values[i] == 0)) {
      return false;
    }
  }
  return true;
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

/// Real eigenvectors as LAPACK packs them: those of a conjugate pair of values are the real and
/// imaginary part in two columns.
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

template <typename R>
ffi_error *realEigen(Call &call) {
  using C = typename ComplexOf<R>::Type;
  if (!call.expect(1, 5)) {
    return call.error;
  }
  char left = static_cast<char>(call.attribute("compute_left", 'N'));
  char right = static_cast<char>(call.attribute("compute_right", 'V'));
  int64_t n = Call::columns(call.operand(0));
  R best = {};
  int *info = call.out<int>(4), ignored = 0;
  geev(left, right, n, nullptr, leading(n), nullptr, nullptr, nullptr, nullptr, &best, -1,
       &ignored);
  int size = larger(static_cast<int>(best), 4 * n);
  Scratch scratch(call.frame);
  R *work = scratch.take<R>(size), *a = scratch.take<R>(n * n);
  R *vl = scratch.take<R>(n * n), *vr = scratch.take<R>(n * n);
  if (!work || !a || !vl || !vr) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = Call::batches(call.operand(0), 2); i < count; ++i) {
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

template <typename C>
ffi_error *complexEigen(Call &call) {
  using R = typename Scalar<C>::Real;
  if (!call.expect(1, 4)) {
    return call.error;
  }
  char left = static_cast<char>(call.attribute("compute_left", 'N'));
  char right = static_cast<char>(call.attribute("compute_right", 'V'));
  int64_t n = Call::columns(call.operand(0));
  C best = {};
  int *info = call.out<int>(3), ignored = 0;
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(2 * n);
  if (!rwork) {
    return call.noMemory();
  }
  // The question for the size writes to rwork as well.
  geev(left, right, n, nullptr, leading(n), nullptr, nullptr, nullptr, &best, -1, rwork, &ignored);
  int size = larger(static_cast<int>(best.re), 2 * n);
  C *work = scratch.take<C>(size), *a = scratch.take<C>(n * n);
  if (!work || !a) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = Call::batches(call.operand(0), 2); i < count; ++i) {
    const C *x = call.in<C>(0) + i * n * n;
    if (!allFinite(&x->re, 2 * n * n)) {
      info[i] = -4;
      continue;
    }
    memcpy(a, x, n * n * sizeof(C));
    geev(left, right, n, a, leading(n), call.out<C>(0) + i * n, call.out<C>(1) + i * n * n,
         call.out<C>(2) + i * n * n, work, size, rwork, info + i);
  }
  return nullptr;
}

/// Whether the call asks for eigenvalues to be sorted by a function, which there is none for.
inline bool asksForOrder(Call &call) { return call.attribute("sort", 'N') != 'N'; }

template <typename R>
ffi_error *realSchur(Call &call) {
  if (!call.expect(1, 6)) {
    return call.error;
  }
  if (asksForOrder(call)) {
    return call.fail(12, "gees: sorting of eigenvalues is not supported");
  }
  call.copy(0, 0);
  char mode = static_cast<char>(call.attribute("mode", 'V'));
  int64_t n = Call::columns(call.result(0));
  R *a = call.out<R>(0);
  int *selected = call.out<int>(4);
  Scratch scratch(call.frame);
  return runWithWork<R>(call, scratch, Call::batches(call.result(0), 2), 3 * n, call.out<int>(5),
                        [&](int64_t i, R *work, int size, int *info) {
                          gees(mode, n, a + i * n * n, leading(n), selected + i,
                               call.out<R>(2) + i * n, call.out<R>(3) + i * n,
                               call.out<R>(1) + i * n * n, work, size, info);
                        });
}

template <typename C>
ffi_error *complexSchur(Call &call) {
  using R = typename Scalar<C>::Real;
  if (!call.expect(1, 5)) {
    return call.error;
  }
  if (asksForOrder(call)) {
    return call.fail(12, "gees: sorting of eigenvalues is not supported");
  }
  call.copy(0, 0);
  char mode = static_cast<char>(call.attribute("mode", 'V'));
  int64_t n = Call::columns(call.result(0));
  C *a = call.out<C>(0);
  int *selected = call.out<int>(3);
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(n);
  if (!rwork) {
    return call.noMemory();
  }
  return runWithWork<C>(call, scratch, Call::batches(call.result(0), 2), 2 * n, call.out<int>(4),
                        [&](int64_t i, C *work, int size, int *info) {
                          gees(mode, n, a + i * n * n, leading(n), selected + i,
                               call.out<C>(2) + i * n, call.out<C>(1) + i * n * n, work, size,
                               rwork, info);
                        });
}

template <typename T>
ffi_error *hessenberg(Call &call) {
  if (!call.expect(1, 3)) {
    return call.error;
  }
  call.copy(0, 0);
  int64_t n = Call::columns(call.result(0)), lda = Call::rows(call.result(0));
  int low = static_cast<int>(call.attribute("low", 1));
  int high = static_cast<int>(call.attribute("high", n));
  T *a = call.out<T>(0), *tau = call.out<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), leading(n),
                        call.out<int>(2), [&](int64_t i, T *work, int size, int *info) {
                          gehrd(n, low, high, a + i * lda * n, leading(lda),
                                tau + i * larger(n - 1, 0), work, size, info);
                        });
}

template <typename T>
ffi_error *tridiagonal(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.expect(1, 5)) {
    return call.error;
  }
  call.copy(0, 0);
  char uplo = static_cast<char>(call.attribute("uplo", 'L'));
  int64_t n = Call::columns(call.result(0)), lda = Call::rows(call.result(0));
  int64_t off = larger(n - 1, 0);
  T *a = call.out<T>(0), *tau = call.out<T>(3);
  R *d = call.out<R>(1), *e = call.out<R>(2);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), 1, call.out<int>(4),
                        [&](int64_t i, T *work, int size, int *info) {
                          sytrd(uplo, n, a + i * lda * n, leading(lda), d + i * n, e + i * off,
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
