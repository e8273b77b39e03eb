//===- factor.cpp - Factorizations and solves -----------------------------===//
//
// potrf, getrf, geqrf, geqp3, orgqr (ungqr), ormqr (unmqr), trsm, gtsv: operands and results in
// JAX's order. `info` has one number per matrix; routines without it in their results can fail only
// because of wrong arguments.
//
//===----------------------------------------------------------------------===//
#include <string.h>

#include "fortran.h"

namespace hlo_lapack {

static constexpr Dimension m{Size::m}, n{Size::n}, least{Size::least}, order{Size::order};
static constexpr Dimension columns{Size::n, Size::m}, reflectors{Size::k, Size::reflectors};

static constexpr Contract choleskyContract = {
    .operands = {{"x", Element::same, {n, n}, 0}},
    .results = {{"factor", Element::same, {n, n}}, {"info", Element::s32}},
    .attributes = {{"uplo", "LU"}}};

/// x -> factor, info
template <typename T>
ffi_error *choleskyFactor(Call &call) {
  if (!call.begin(choleskyContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t n = call.n();
  char uplo = call.letter("uplo");
  T *a = call.out<T>(0);
  int *info = call.out<int>(1);
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    potrf(uplo, n, a + i * n * n, leading(n), info + i);
  }
  return nullptr;
}

static constexpr Contract luContract = {.operands = {{"x", Element::same, {m, n}, 0}},
                                        .results = {{"factors", Element::same, {m, n}},
                                                    {"pivots", Element::s32, {least}},
                                                    {"info", Element::s32}}};

/// x -> factors, pivots (from 1), info
template <typename T>
ffi_error *luFactor(Call &call) {
  if (!call.begin(luContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t m = call.m(), n = call.n();
  int *info = call.out<int>(2);
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    getrf(m, n, call.out<T>(0) + i * m * n, leading(m), call.out<int>(1) + i * smaller(m, n),
          info + i);
  }
  return nullptr;
}

static constexpr Contract qrContract = {
    .operands = {{"x", Element::same, {m, n}, 0}},
    .results = {{"factors", Element::same, {m, n}}, {"tau", Element::same, {least}}},
    .work = {{128, Size::n}}};

/// x -> factors, tau
template <typename T>
ffi_error *qrFactor(Call &call) {
  if (!call.begin(qrContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t m = call.m(), n = call.n();
  T *a = call.out<T>(0), *tau = call.out<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(
      call, scratch, leading(n), nullptr, [&](int64_t i, T *work, int size, int *info) {
        geqrf(m, n, a + i * m * n, leading(m), tau + i * smaller(m, n), work, size, info);
      });
}

static constexpr Contract pivotedQrContract = {
    .operands = {{"x", Element::same, {m, n}, 0}, {"pivots", Element::s32, {n}, 1}},
    .results = {{"factors", Element::same, {m, n}},
                {"pivots", Element::s32, {n}},
                {"tau", Element::same, {least}}},
    .work = {{128, Size::n}}};

/// x, pivots -> factors, pivots, tau
template <typename T>
ffi_error *pivotedQrFactor(Call &call) {
  using R = typename Scalar<T>::Real;
  if (!call.begin(pivotedQrContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t m = call.m(), n = call.n();
  T *a = call.out<T>(0), *tau = call.out<T>(2);
  int *pivots = call.out<int>(1);
  Scratch scratch(call.frame);
  R *rwork = scratch.take<R>(2 * n);
  if (!rwork) {
    return call.noMemory();
  }
  return runWithWork<T>(call, scratch, 3 * n + 1, nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          geqp3(m, n, a + i * m * n, leading(m), pivots + i * n,
                                tau + i * smaller(m, n), work, size, rwork, info);
                        });
}

static constexpr Contract generateContract = {
    .operands = {{"x", Element::same, {m, columns}, 0},
                 {"tau", Element::same, {{Size::k, Size::n}}}},
    .results = {{"q", Element::same, {m, n}}},
    .work = {{128, Size::n}}};

/// x, tau -> q
template <typename T>
ffi_error *generateQ(Call &call) {
  if (!call.begin(generateContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t m = call.m(), n = call.n(), k = call.k();
  T *a = call.out<T>(0), *tau = call.in<T>(1);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, leading(n), nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          orgqr(m, n, k, a + i * m * n, leading(m), tau + i * k, work, size, info);
                        });
}

static constexpr Contract multiplyContract = {
    .operands = {{"a", Element::same, {order, {Size::p}}},
                 {"tau", Element::same, {reflectors}},
                 {"c", Element::same, {m, n}, 0}},
    .results = {{"product", Element::same, {m, n}}},
    .attributes = {{"left", nullptr, typePred}, {"transpose", nullptr, typePred}},
    .work = {{128, Size::m}, {128, Size::n}}};

/// a, tau, c -> q c, c q, or with q's adjoint
template <typename T>
ffi_error *multiplyQ(Call &call) {
  if (!call.begin(multiplyContract, typeNumber<T>)) {
    return call.error;
  }
  char side = call.attribute("left") ? 'L' : 'R';
  char transpose = !call.attribute("transpose") ? 'N' : Scalar<T>::isComplex ? 'C' : 'T';
  int64_t m = call.m(), n = call.n(), k = call.k();
  int64_t aRows = call.size(Size::order), aColumns = call.size(Size::p);
  T *a = call.in<T>(0), *tau = call.in<T>(1), *c = call.out<T>(0);
  Scratch scratch(call.frame);
  return runWithWork<T>(call, scratch, leading(larger(m, n)), nullptr,
                        [&](int64_t i, T *work, int size, int *info) {
                          ormqr(side, transpose, m, n, k, a + i * aRows * aColumns, leading(aRows),
                                tau + i * k, c + i * m * n, leading(m), work, size, info);
                        });
}

inline float makeOne(float *) { return 1; }
inline double makeOne(double *) { return 1; }
inline Complex64 makeOne(Complex64 *) { return {1, 0}; }
inline Complex128 makeOne(Complex128 *) { return {1, 0}; }

static constexpr Contract triangularContract = {
    .operands = {{"a", Element::same, {order, order}}, {"b", Element::same, {m, n}, 0}},
    .results = {{"x", Element::same, {m, n}}},
    .attributes = {{"side", "LR"}, {"uplo", "LU"}, {"trans_x", "NTC"}, {"diag", "NU"}}};

/// a, b -> x with op(a) x = b or x op(a) = b
template <typename T>
ffi_error *triangularSolve(Call &call) {
  if (!call.begin(triangularContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t m = call.m(), n = call.n(), order = call.size(Size::order);
  T *b = call.out<T>(0);
  T one = makeOne(static_cast<T *>(nullptr));
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    trsm(call.letter("side"), call.letter("uplo"), call.letter("trans_x"), call.letter("diag"), m,
         n, &one, call.in<T>(0) + i * order * order, leading(order), b + i * m * n, leading(m));
  }
  return nullptr;
}

static constexpr Contract tridiagonalContract = {.operands = {{"lower", Element::same, {m}, 0},
                                                              {"diagonal", Element::same, {m}, 1},
                                                              {"upper", Element::same, {m}, 2},
                                                              {"b", Element::same, {m, n}, 3}},
                                                 .results = {{"lower", Element::same, {m}},
                                                             {"diagonal", Element::same, {m}},
                                                             {"upper", Element::same, {m}},
                                                             {"x", Element::same, {m, n}},
                                                             {"info", Element::s32}}};

/// lower, diagonal, upper, b -> the same, overwritten (b by the solution), info. The lower diagonal
/// starts at its second element, the upper one ends before its last.
template <typename T>
ffi_error *tridiagonalSolve(Call &call) {
  if (!call.begin(tridiagonalContract, typeNumber<T>)) {
    return call.error;
  }
  int64_t n = call.m(), columns = call.n();
  int *info = call.out<int>(4);
  // LAPACK's back substitution always processes a first column, even if there is none.
  Scratch scratch(call.frame);
  T *none = columns == 0 ? scratch.take<T>(n) : nullptr;
  if (columns == 0 && !none) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    if (none) {
      memset(none, 0, n * sizeof(T));
    }
    gtsv(n, larger(columns, 1), call.out<T>(0) + i * n + 1, call.out<T>(1) + i * n,
         call.out<T>(2) + i * n, none ? none : call.out<T>(3) + i * n * columns, leading(n),
         info + i);
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
