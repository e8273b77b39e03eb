//===- fortran.h - LAPACK and BLAS routines, by overloads ------------------===//
//
// Fortran passes everything by address, and appends the length of each character argument. For each
// routine there is one overload per type, named without the type's letter.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_LAPACK_FORTRAN_H
#define RUNTIME_LAPACK_FORTRAN_H

#include "handler.h"

// clang-format off
#define HLO_FORTRAN(letter, T, R)                                                                  \
  extern "C" {                                                                                     \
  void letter##potrf_(const char *uplo, const int *n, T *a, const int *lda, int *info, size_t);    \
  void letter##getrf_(const int *m, const int *n, T *a, const int *lda, int *ipiv, int *info);     \
  void letter##geqrf_(const int *m, const int *n, T *a, const int *lda, T *tau, T *work,           \
                      const int *lwork, int *info);                                                \
  void letter##trsm_(const char *side, const char *uplo, const char *trans, const char *diag,      \
                     const int *m, const int *n, const T *alpha, const T *a, const int *lda, T *b, \
                     const int *ldb, size_t, size_t, size_t, size_t);                              \
  void letter##gtsv_(const int *n, const int *nrhs, T *dl, T *d, T *du, T *b, const int *ldb,      \
                     int *info);                                                                   \
  void letter##gehrd_(const int *n, const int *ilo, const int *ihi, T *a, const int *lda, T *tau,  \
                      T *work, const int *lwork, int *info);                                       \
  }                                                                                                \
  namespace hlo_lapack {                                                                           \
  inline void potrf(char uplo, int n, T *a, int lda, int *info) {                                  \
    letter##potrf_(&uplo, &n, a, &lda, info, 1);                                                   \
  }                                                                                                \
  inline void getrf(int m, int n, T *a, int lda, int *ipiv, int *info) {                           \
    letter##getrf_(&m, &n, a, &lda, ipiv, info);                                                   \
  }                                                                                                \
  inline void geqrf(int m, int n, T *a, int lda, T *tau, T *work, int lwork, int *info) {          \
    letter##geqrf_(&m, &n, a, &lda, tau, work, &lwork, info);                                      \
  }                                                                                                \
  inline void trsm(char side, char uplo, char trans, char diag, int m, int n, const T *alpha,      \
                   const T *a, int lda, T *b, int ldb) {                                           \
    letter##trsm_(&side, &uplo, &trans, &diag, &m, &n, alpha, a, &lda, b, &ldb, 1, 1, 1, 1);       \
  }                                                                                                \
  inline void gtsv(int n, int nrhs, T *dl, T *d, T *du, T *b, int ldb, int *info) {                \
    letter##gtsv_(&n, &nrhs, dl, d, du, b, &ldb, info);                                            \
  }                                                                                                \
  inline void gehrd(int n, int ilo, int ihi, T *a, int lda, T *tau, T *work, int lwork,            \
                    int *info) {                                                                   \
    letter##gehrd_(&n, &ilo, &ihi, a, &lda, tau, work, &lwork, info);                              \
  }                                                                                                \
  }

/// Routines whose real and complex forms differ in name or arguments. The wrappers take the
/// arguments of the complex form; real ones ignore rwork.
#define HLO_FORTRAN_REAL(letter, T)                                                                \
  extern "C" {                                                                                     \
  void letter##geqp3_(const int *m, const int *n, T *a, const int *lda, int *jpvt, T *tau,         \
                      T *work, const int *lwork, int *info);                                       \
  void letter##orgqr_(const int *m, const int *n, const int *k, T *a, const int *lda,              \
                      const T *tau, T *work, const int *lwork, int *info);                         \
  void letter##ormqr_(const char *side, const char *trans, const int *m, const int *n,             \
                      const int *k, const T *a, const int *lda, const T *tau, T *c,                \
                      const int *ldc, T *work, const int *lwork, int *info, size_t, size_t);       \
  void letter##gesdd_(const char *jobz, const int *m, const int *n, T *a, const int *lda, T *s,    \
                      T *u, const int *ldu, T *vt, const int *ldvt, T *work, const int *lwork,     \
                      int *iwork, int *info, size_t);                                              \
  void letter##gesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, T *a,       \
                      const int *lda, T *s, T *u, const int *ldu, T *vt, const int *ldvt, T *work, \
                      const int *lwork, int *info, size_t, size_t);                                \
  void letter##syevd_(const char *jobz, const char *uplo, const int *n, T *a, const int *lda,      \
                      T *w, T *work, const int *lwork, int *iwork, const int *liwork, int *info,   \
                      size_t, size_t);                                                             \
  void letter##sytrd_(const char *uplo, const int *n, T *a, const int *lda, T *d, T *e, T *tau,    \
                      T *work, const int *lwork, int *info, size_t);                               \
  void letter##geev_(const char *jobvl, const char *jobvr, const int *n, T *a, const int *lda,     \
                     T *wr, T *wi, T *vl, const int *ldvl, T *vr, const int *ldvr, T *work,        \
                     const int *lwork, int *info, size_t, size_t);                                 \
  void letter##gees_(const char *jobvs, const char *sort, void *select, const int *n, T *a,        \
                     const int *lda, int *sdim, T *wr, T *wi, T *vs, const int *ldvs, T *work,     \
                     const int *lwork, int *bwork, int *info, size_t, size_t);                     \
  }                                                                                                \
  namespace hlo_lapack {                                                                           \
  inline void geqp3(int m, int n, T *a, int lda, int *jpvt, T *tau, T *work, int lwork, T *,       \
                    int *info) {                                                                   \
    letter##geqp3_(&m, &n, a, &lda, jpvt, tau, work, &lwork, info);                                \
  }                                                                                                \
  inline void orgqr(int m, int n, int k, T *a, int lda, const T *tau, T *work, int lwork,          \
                    int *info) {                                                                   \
    letter##orgqr_(&m, &n, &k, a, &lda, tau, work, &lwork, info);                                  \
  }                                                                                                \
  inline void ormqr(char side, char trans, int m, int n, int k, const T *a, int lda,               \
                    const T *tau, T *c, int ldc, T *work, int lwork, int *info) {                  \
    letter##ormqr_(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &lwork, info, 1, 1);    \
  }                                                                                                \
  inline void gesdd(char jobz, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt,  \
                    T *work, int lwork, T *, int *iwork, int *info) {                              \
    letter##gesdd_(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, info, 1);   \
  }                                                                                                \
  inline void gesvd(char job, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt,   \
                    T *work, int lwork, T *, int *info) {                                          \
    letter##gesvd_(&job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, info, 1, 1);  \
  }                                                                                                \
  inline void syevd(char jobz, char uplo, int n, T *a, int lda, T *w, T *work, int lwork, T *,     \
                    int, int *iwork, int liwork, int *info) {                                      \
    letter##syevd_(&jobz, &uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, info, 1, 1);        \
  }                                                                                                \
  inline void sytrd(char uplo, int n, T *a, int lda, T *d, T *e, T *tau, T *work, int lwork,       \
                    int *info) {                                                                   \
    letter##sytrd_(&uplo, &n, a, &lda, d, e, tau, work, &lwork, info, 1);                          \
  }                                                                                                \
  inline void geev(char left, char right, int n, T *a, int lda, T *wr, T *wi, T *vl, T *vr,        \
                   T *work, int lwork, int *info) {                                                \
    int ld = leading(n);                                                                           \
    letter##geev_(&left, &right, &n, a, &lda, wr, wi, vl, &ld, vr, &ld, work, &lwork, info, 1, 1); \
  }                                                                                                \
  inline void gees(char job, int n, T *a, int lda, int *sdim, T *wr, T *wi, T *vs, T *work,        \
                   int lwork, int *info) {                                                         \
    int ld = leading(n);                                                                           \
    char sort = 'N';                                                                               \
    letter##gees_(&job, &sort, nullptr, &n, a, &lda, sdim, wr, wi, vs, &ld, work, &lwork, nullptr, \
                  info, 1, 1);                                                                     \
  }                                                                                                \
  }

#define HLO_FORTRAN_COMPLEX(letter, T, R)                                                          \
  extern "C" {                                                                                     \
  void letter##geqp3_(const int *m, const int *n, T *a, const int *lda, int *jpvt, T *tau,         \
                      T *work, const int *lwork, R *rwork, int *info);                             \
  void letter##ungqr_(const int *m, const int *n, const int *k, T *a, const int *lda,              \
                      const T *tau, T *work, const int *lwork, int *info);                         \
  void letter##unmqr_(const char *side, const char *trans, const int *m, const int *n,             \
                      const int *k, const T *a, const int *lda, const T *tau, T *c,                \
                      const int *ldc, T *work, const int *lwork, int *info, size_t, size_t);       \
  void letter##gesdd_(const char *jobz, const int *m, const int *n, T *a, const int *lda, R *s,    \
                      T *u, const int *ldu, T *vt, const int *ldvt, T *work, const int *lwork,     \
                      R *rwork, int *iwork, int *info, size_t);                                    \
  void letter##gesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, T *a,       \
                      const int *lda, R *s, T *u, const int *ldu, T *vt, const int *ldvt, T *work, \
                      const int *lwork, R *rwork, int *info, size_t, size_t);                      \
  void letter##heevd_(const char *jobz, const char *uplo, const int *n, T *a, const int *lda,      \
                      R *w, T *work, const int *lwork, R *rwork, const int *lrwork, int *iwork,    \
                      const int *liwork, int *info, size_t, size_t);                               \
  void letter##hetrd_(const char *uplo, const int *n, T *a, const int *lda, R *d, R *e, T *tau,    \
                      T *work, const int *lwork, int *info, size_t);                               \
  void letter##geev_(const char *jobvl, const char *jobvr, const int *n, T *a, const int *lda,     \
                     T *w, T *vl, const int *ldvl, T *vr, const int *ldvr, T *work,                \
                     const int *lwork, R *rwork, int *info, size_t, size_t);                       \
  void letter##gees_(const char *jobvs, const char *sort, void *select, const int *n, T *a,        \
                     const int *lda, int *sdim, T *w, T *vs, const int *ldvs, T *work,             \
                     const int *lwork, R *rwork, int *bwork, int *info, size_t, size_t);           \
  }                                                                                                \
  namespace hlo_lapack {                                                                           \
  inline void geqp3(int m, int n, T *a, int lda, int *jpvt, T *tau, T *work, int lwork, R *rwork,  \
                    int *info) {                                                                   \
    letter##geqp3_(&m, &n, a, &lda, jpvt, tau, work, &lwork, rwork, info);                         \
  }                                                                                                \
  inline void orgqr(int m, int n, int k, T *a, int lda, const T *tau, T *work, int lwork,          \
                    int *info) {                                                                   \
    letter##ungqr_(&m, &n, &k, a, &lda, tau, work, &lwork, info);                                  \
  }                                                                                                \
  inline void ormqr(char side, char trans, int m, int n, int k, const T *a, int lda,               \
                    const T *tau, T *c, int ldc, T *work, int lwork, int *info) {                  \
    letter##unmqr_(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &lwork, info, 1, 1);    \
  }                                                                                                \
  inline void gesdd(char jobz, int m, int n, T *a, int lda, R *s, T *u, int ldu, T *vt, int ldvt,  \
                    T *work, int lwork, R *rwork, int *iwork, int *info) {                         \
    letter##gesdd_(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, iwork,      \
                   info, 1);                                                                       \
  }                                                                                                \
  inline void gesvd(char job, int m, int n, T *a, int lda, R *s, T *u, int ldu, T *vt, int ldvt,   \
                    T *work, int lwork, R *rwork, int *info) {                                     \
    letter##gesvd_(&job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, info,  \
                   1, 1);                                                                          \
  }                                                                                                \
  inline void syevd(char jobz, char uplo, int n, T *a, int lda, R *w, T *work, int lwork,          \
                    R *rwork, int lrwork, int *iwork, int liwork, int *info) {                     \
    letter##heevd_(&jobz, &uplo, &n, a, &lda, w, work, &lwork, rwork, &lrwork, iwork, &liwork,     \
                   info, 1, 1);                                                                    \
  }                                                                                                \
  inline void sytrd(char uplo, int n, T *a, int lda, R *d, R *e, T *tau, T *work, int lwork,       \
                    int *info) {                                                                   \
    letter##hetrd_(&uplo, &n, a, &lda, d, e, tau, work, &lwork, info, 1);                          \
  }                                                                                                \
  inline void geev(char left, char right, int n, T *a, int lda, T *w, T *vl, T *vr, T *work,       \
                   int lwork, R *rwork, int *info) {                                               \
    int ld = leading(n);                                                                           \
    letter##geev_(&left, &right, &n, a, &lda, w, vl, &ld, vr, &ld, work, &lwork, rwork, info, 1,   \
                  1);                                                                              \
  }                                                                                                \
  inline void gees(char job, int n, T *a, int lda, int *sdim, T *w, T *vs, T *work, int lwork,     \
                   R *rwork, int *info) {                                                          \
    int ld = leading(n);                                                                           \
    char sort = 'N';                                                                               \
    letter##gees_(&job, &sort, nullptr, &n, a, &lda, sdim, w, vs, &ld, work, &lwork, rwork,        \
                  nullptr, info, 1, 1);                                                            \
  }                                                                                                \
  }
// clang-format on

HLO_FORTRAN(s, float, float)
HLO_FORTRAN(d, double, double)
HLO_FORTRAN(c, hlo_lapack::Complex64, float)
HLO_FORTRAN(z, hlo_lapack::Complex128, double)
HLO_FORTRAN_REAL(s, float)
HLO_FORTRAN_REAL(d, double)
HLO_FORTRAN_COMPLEX(c, hlo_lapack::Complex64, float)
HLO_FORTRAN_COMPLEX(z, hlo_lapack::Complex128, double)

#endif
