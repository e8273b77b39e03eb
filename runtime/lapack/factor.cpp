//===- factor.cpp - Factorizations and solves -----------------------------===//
//
// potrf, getrf, geqrf, geqp3, orgqr (ungqr), ormqr (unmqr), trsm, gtsv: operands and
// results as JAX orders them. `info` has one number a matrix; routines without it in
// their results can only fail through wrong arguments.
//
//===----------------------------------------------------------------------===//
#include "fortran.h"

namespace hlo_lapack {

/// x -> factor, info
template <typename T>
ffi_error *choleskyFactor(Call &call) {
  if (!call.expect(1, 2)) {
    return call.error;
  }
  call.copy(0, 0);
  int n = Call::columns(call.result(0));
  char uplo = static_cast<char>(call.attribute("uplo", 'L'));
  T *a = call.out<T>(0);
  int *info = call.out<int>(1);
  for (int64_t i = 0, count = Call::batches(call.result(0), 2); i < count; ++i) {
    potrf(uplo, n, a + i * n * n, leading(n), info + i);
  }
  return nullptr;
}

/// x -> factors, pivots (from 1), info
template <typename T>
ffi_error *luFactor(Call &call) {
  if (!call.expect(1, 3)) {
    return call.error;
  }
  call.copy(0, 0);
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  int *info = call.out<int>(2);
  for (int64_t i = 0, count = Call::batches(call.result(0), 2); i < count; ++i) {
    getrf(m, n, call.out<T>(0) + i * m * n, leading(m), call.out<int>(1) + i * smaller(m, n),
          info + i);
  }
  return nullptr;
}

/// x -> factors, tau
template <typename T>
ffi_error *qrFactor(Call &call) {
  if (!call.expect(1, 2)) {
    return call.error;
  }
  call.copy(0, 0);
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  T *a = call.out<T>(0), *tau = call.out<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), leading(n), nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          geqrf(m, n, a + i * m * n, leading(m), tau + i * smaller(m, n), work,
                                size, info);
                        });
}

/// x, pivots -> factors, pivots, tau
template <typename T>
ffi_error *pivotedQrFactor(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.expect(2, 3)) {
    return call.error;
  }
  call.copy(0, 0);
  call.copy(1, 1);
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  T *a = call.out<T>(0), *tau = call.out<T>(2);
  int *pivots = call.out<int>(1);
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(2 * n);
  if (!rwork) {
    return call.noMemory();
  }
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), 3 * n + 1, nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          geqp3(m, n, a + i * m * n, leading(m), pivots + i * n,
                                tau + i * smaller(m, n), work, size, rwork, info);
                        });
}

/// x, tau -> q
template <typename T>
ffi_error *generateQ(Call &call) {
  if (!call.expect(2, 1)) {
    return call.error;
  }
  call.copy(0, 0);
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  int64_t k = Call::extent(call.operand(1), 0);
  T *a = call.out<T>(0), *tau = call.in<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), leading(n), nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          orgqr(m, n, k, a + i * m * n, leading(m), tau + i * k, work, size, info);
                        });
}

/// a, tau, c -> q c, c q, or with q's adjoint
template <typename T>
ffi_error *multiplyQ(Call &call) {
  if (!call.expect(3, 1)) {
    return call.error;
  }
  call.copy(2, 0);
  char side = call.attribute("left", 1) ? 'L' : 'R';
  char transpose = !call.attribute("transpose", 0) ? 'N' : Scalar<T>::isComplex ? 'C' : 'T';
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  int64_t aRows = Call::rows(call.operand(0)), aColumns = Call::columns(call.operand(0));
  int64_t k = Call::extent(call.operand(1), 0);
  T *a = call.in<T>(0), *tau = call.in<T>(1), *c = call.out<T>(0);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), leading(larger(m, n)),
                        nullptr, [&](int64_t i, T *work, int size, int *info) {
                          ormqr(side, transpose, m, n, k, a + i * aRows * aColumns, leading(aRows),
                                tau + i * k, c + i * m * n, leading(m), work, size, info);
                        });
}

inline float makeOne(float *) { return 1; }
inline double makeOne(double *) { return 1; }
inline Complex64 makeOne(Complex64 *) { return {1, 0}; }
inline Complex128 makeOne(Complex128 *) { return {1, 0}; }

/// a, b -> x with op(a) x = b or x op(a) = b
template <typename T>
ffi_error *triangularSolve(Call &call) {
  if (!call.expect(2, 1)) {
    return call.error;
  }
  call.copy(1, 0);
  auto letter = [&](const char *name, char otherwise) {
    return static_cast<char>(call.attribute(name, otherwise));
  };
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  char side = letter("side", 'L');
  int64_t order = side == 'L' ? m : n;
  T *b = call.out<T>(0);
  T one = makeOne(static_cast<T *>(nullptr));
  for (int64_t i = 0, count = Call::batches(call.result(0), 2); i < count; ++i) {
    trsm(side, letter("uplo", 'L'), letter("trans_x", 'N'), letter("diag", 'N'), m, n, &one,
         call.in<T>(0) + i * order * order, leading(order), b + i * m * n, leading(m));
  }
  return nullptr;
}

/// lower, diagonal, upper, b -> the same overwritten (b by the solution), info. The lower diagonal
/// starts at its second element, the upper one ends before its last.
template <typename T>
ffi_error *tridiagonalSolve(Call &call) {
  if (!call.expect(4, 5)) {
    return call.error;
  }
  for (int i = 0; i < 4; ++i) {
    call.copy(i, i);
  }
  int64_t n = Call::rows(call.result(3)), columns = Call::columns(call.result(3));
  int *info = call.out<int>(4);
  for (int64_t i = 0, count = Call::batches(call.result(3), 2); i < count; ++i) {
    gtsv(n, columns, call.out<T>(0) + i * n + 1, call.out<T>(1) + i * n, call.out<T>(2) + i * n,
         call.out<T>(3) + i * n * columns, leading(n), info + i);
  }
  return nullptr;
}

}  // namespace hlo_lapack

HLO_LAPACK_HANDLERS(potrf, choleskyFactor)
HLO_LAPACK_HANDLERS(getrf, luFactor)
HLO_LAPACK_HANDLERS(geqrf, qrFactor)
HLO_LAPACK_HANDLERS(geqp3, pivotedQrFactor)
HLO_LAPACK_HANDLER(sorgqr, generateQ, float)
HLO_LAPACK_HANDLER(dorgqr, generateQ, double)
HLO_LAPACK_HANDLER(cungqr, generateQ, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zungqr, generateQ, hlo_lapack::Complex128)
HLO_LAPACK_HANDLER(sormqr, multiplyQ, float)
HLO_LAPACK_HANDLER(dormqr, multiplyQ, double)
HLO_LAPACK_HANDLER(cunmqr, multiplyQ, hlo_lapack::Complex64)
HLO_LAPACK_HANDLER(zunmqr, multiplyQ, hlo_lapack::Complex128)
HLO_LAPACK_HANDLERS(trsm, triangularSolve)
HLO_LAPACK_HANDLERS(gtsv, tridiagonalSolve)
