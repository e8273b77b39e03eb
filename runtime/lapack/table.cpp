//===- table.cpp - All LAPACK targets, for hlo_call.custom_calls ----------===//
//
// See hlo/lapack.h. Sorted by name, as the lookup requires.
//
//===----------------------------------------------------------------------===//
#include <hlo/lapack.h>

#include "handler.h"

// clang-format off
#define HLO_LAPACK_TARGETS(X) \
  X(cgees) X(cgeev) X(cgehrd) X(cgeqp3) X(cgeqrf) X(cgesdd) X(cgesvd) X(cgetrf) X(cgtsv) X(cheevd) \
  X(chetrd) X(cpotrf) X(ctrsm) X(cungqr) X(cunmqr) X(dgees) X(dgeev) X(dgehrd) X(dgeqp3) X(dgeqrf) \
  X(dgesdd) X(dgesvd) X(dgetrf) X(dgtsv) X(dorgqr) X(dormqr) X(dpotrf) X(dsyevd) X(dsytrd) X(dtrsm) \
  X(sgees) X(sgeev) X(sgehrd) X(sgeqp3) X(sgeqrf) X(sgesdd) X(sgesvd) X(sgetrf) X(sgtsv) X(sorgqr) \
  X(sormqr) X(spotrf) X(ssyevd) X(ssytrd) X(strsm) X(zgees) X(zgeev) X(zgehrd) X(zgeqp3) X(zgeqrf) \
  X(zgesdd) X(zgesvd) X(zgetrf) X(zgtsv) X(zheevd) X(zhetrd) X(zpotrf) X(ztrsm) X(zungqr) X(zunmqr)
// clang-format on

#define HLO_DECLARE(name) extern "C" ffi_error *lapack_##name##_ffi(ffi_frame *frame);
HLO_LAPACK_TARGETS(HLO_DECLARE)
extern "C" ffi_error *tridiagonal_solve_perturbed_ffi(ffi_frame *frame);

#define HLO_ENTRY(name)                          \
  {"lapack_" #name "_ffi", HLO_API_TYPED_FFI, 0, \
   reinterpret_cast<void (*)(void)>(lapack_##name##_ffi), nullptr},
static const hlo_custom_call entries[] = {HLO_LAPACK_TARGETS(HLO_ENTRY){
    "tridiagonal_solve_perturbed_ffi", HLO_API_TYPED_FFI, 0,
    reinterpret_cast<void (*)(void)>(tridiagonal_solve_perturbed_ffi), nullptr}};

static const hlo_custom_calls table = {
    sizeof(hlo_custom_calls), sizeof(entries) / sizeof(entries[0]), sizeof(entries[0]), 0, entries};

extern "C" __attribute__((visibility("default"))) const hlo_custom_calls *hlo_lapack_custom_calls(
    void) {
  return &table;
}
