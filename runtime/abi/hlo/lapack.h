/*===- hlo/lapack.h - Custom calls of JAX's linear algebra ----------------------===*\
 *
 * libhlo_lapack: the targets lapack_*_ffi (and one more) of programs from JAX, implemented with the
 * LAPACK and BLAS that the program links (-lhlo_lapack -llapack -lblas).
 *
 * A handler needs up to 48 KiB of stack, in addition to hlo_module_desc.stack_bytes: measured over
 * all targets with the reference LAPACK 3.11 (eigenvalues of complex matrices with more than 75
 * rows need 44 KiB, all but eigenvalues 5 KiB). Another LAPACK may need more.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_LAPACK_H
#define HLO_LAPACK_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The table for hlo_call.custom_calls: 60 LAPACK targets, and tridiagonal_solve_perturbed_ffi. A
 * program that needs other targets as well copies the entries it needs into a table of its own. */
const hlo_custom_calls *hlo_lapack_custom_calls(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_LAPACK_H */
