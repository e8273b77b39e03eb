//===- svd.cpp - Singular values ------------------------------------------===//
//
// gesdd (divide and conquer) and gesvd (QR iterations): x -> destroyed x, s, u, vt, info.
// `mode` is LAPACK's: 'A' full u and vt, 'S' their first columns and rows, 'N' neither.
//
//===----------------------------------------------------------------------===//
#include "fortran.h"

namespace hlo_lapack {

template <typename T, bool divideAndConquer>
ffi_error *decompose(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.expect(1, 5)) {
    return call.error;
  }
  call.copy(0, 0);
  char mode = static_cast<char>(call.attribute("mode", 'A'));
  int64_t m = Call::rows(call.result(0)), n = Call::columns(call.result(0));
  int64_t uRows = Call::rows(call.result(2)), uColumns = Call::columns(call.result(2));
  int64_t vRows = Call::rows(call.result(3)), vColumns = Call::columns(call.result(3));
  int64_t least = smaller(m, n), most = larger(m, n);
  int64_t realSize = 5 * least;
  if (divideAndConquer) {
    int64_t a = 5 * least + 7, b = 2 * most + 2 * least + 1;
    realSize = mode == 'N' ? 7 * least : least * (a > b ? a : b);
  }
  T *a = call.out<T>(0), *u = call.out<T>(2), *vt = call.out<T>(3);
  R *s = call.out<R>(1);
  Scratch scratch(call.frame);
  R *rwork = Scalar<T>::isComplex ? scratch.take<R>(realSize) : nullptr;
  int *iwork = divideAndConquer ? scratch.take<int>(8 * least) : nullptr;
  if ((Scalar<T>::isComplex && !rwork) || (divideAndConquer && !iwork)) {
    return call.noMemory();
  }
  auto run = [&](int64_t i, T *work, int size, int *status) {
    T *matrix = a + i * m * n, *left = u + i * uRows * uColumns, *right = vt + i * vRows * vColumns;
    if constexpr (divideAndConquer) {
      gesdd(mode, m, n, matrix, leading(m), s + i * least, left, leading(uRows), right,
            leading(vRows), work, size, rwork, iwork, status);
    } else {
      gesvd(mode, m, n, matrix, leading(m), s + i * least, left, leading(uRows), right,
            leading(vRows), work, size, rwork, status);
    }
  };
  return runWithWork<T>(call, scratch, Call::batches(call.result(0), 2), 1, call.out<int>(4), run);
}

template <typename T>
ffi_error *svdDivideAndConquer(Call &call) {
  return decompose<T, true>(call);
}
template <typename T>
ffi_error *svdIterations(Call &call) {
  return decompose<T, false>(call);
}

}  // namespace hlo_lapack

HLO_LAPACK_HANDLERS(gesdd, svdDivideAndConquer)
HLO_LAPACK_HANDLERS(gesvd, svdIterations)
