//===- svd.cpp - Singular values ------------------------------------------===//
//
// gesdd (divide and conquer) and gesvd (QR iterations): x -> destroyed x, s, u, vt, info. A matrix
// with infinities or NaN, on which LAPACK may end the process, gives info = -4 and zeros. `mode` is
// LAPACK's: 'A' full u and vt, 'S' their first columns and rows, 'N' neither (zeros).
//
//===----------------------------------------------------------------------===//
#include <string.h>

#include "fortran.h"

namespace hlo_lapack {

static constexpr Dimension m{Size::m}, n{Size::n}, least{Size::least};
static constexpr Contract svdContract = {
    .operands = {{"x", Element::same, {m, n}, 0}},
    .results = {{"x", Element::same, {m, n}},
                {"s", Element::real, {least}},
                {"u", Element::same, {m, {Size::left}}},
                {"vt", Element::same, {{Size::right}, n}},
                {"info", Element::s32}},
    .attributes = {{"mode", "ASN"}},
    .work = {{8, Size::least, Size::least}, {3, Size::m, Size::n}, {128, Size::m}, {128, Size::n}}};

/// The singular vectors of an empty matrix, which LAPACK does not write.
template <typename T>
void setIdentity(T *matrix, int64_t order) {
  memset(matrix, 0, order * order * sizeof(T));
  for (int64_t i = 0; i < order; ++i) {
    setReal(matrix[i * order + i], 1);
  }
}

template <typename T, bool divideAndConquer>
ffi_error *decompose(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.begin(svdContract, typeNumber<T>)) {
    return call.error;
  }
  char mode = call.letter("mode");
  int64_t m = call.m(), n = call.n(), least = call.least(), most = larger(m, n);
  int64_t uColumns = call.size(Size::left), vRows = call.size(Size::right);
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
    if (size != -1 && !allFinite(a + i * m * n, m * n)) {
      memset(s + i * least, 0, least * sizeof(R));
      memset(u + i * m * uColumns, 0, m * uColumns * sizeof(T));
      memset(vt + i * vRows * n, 0, vRows * n * sizeof(T));
      *status = -4;
      return;
    }
    T *matrix = a + i * m * n, *left = u + i * m * uColumns, *right = vt + i * vRows * n;
    if constexpr (divideAndConquer) {
      gesdd(mode, m, n, matrix, leading(m), s + i * least, left, leading(m), right, leading(vRows),
            work, size, rwork, iwork, status);
    } else {
      gesvd(mode, m, n, matrix, leading(m), s + i * least, left, leading(m), right, leading(vRows),
            work, size, rwork, status);
    }
  };
  if (mode == 'N') {
    call.clear(2);
    call.clear(3);
  }
  if (least == 0) {
    for (int64_t i = 0, count = call.batches(); i < count; ++i) {
      call.out<int>(4)[i] = 0;
      if (mode == 'A') {
        setIdentity(u + i * m * m, m);
        setIdentity(vt + i * n * n, n);
      }
    }
    return nullptr;
  }
  // The least sizes according to the manuals.
  int64_t needed = divideAndConquer ? 4 * least * least + 7 * least + most : 5 * least + most;
  return runWithWork<T>(call, scratch, needed, call.out<int>(4), run);
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
