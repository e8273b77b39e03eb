/*===- hlo/comm_mpi.h - Ranks that are processes under MPI -------------------------===*\
 *
 * Replicas and partitions of a program as processes started by mpirun. The functions are in
 * libhlo_comm_mpi.a, a separate library because it must be built against the site's MPI library.
 *
 *   MPI_Init(&argc, &argv);
 *   hlo_mpi *mpi = hlo_mpi_create(NULL, 1, 60e9);
 *   hlo_call call = hlo_call_init();
 *   call.comm = hlo_mpi_comm(mpi);
 *   status = model_run(&call, &args);
 *   hlo_mpi_destroy(mpi);
 *   MPI_Finalize();
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_COMM_MPI_H
#define HLO_COMM_MPI_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** This process's place among the others. */
typedef struct hlo_mpi hlo_mpi;

/** Call it on all processes of `communicator` (a const MPI_Comm *; null: MPI_COMM_WORLD) at once,
 * after MPI_Init. Process r is replica r / num_partitions and partition r % num_partitions; the
 * number of processes must be a multiple of num_partitions. `timeout_ns` as in hlo_comm. Null if
 * that is not so, or if MPI or memory fails. The communicator is duplicated, so other messages on
 * it do not interfere. */
hlo_mpi *hlo_mpi_create(const void *communicator, int32_t num_partitions, int64_t timeout_ns);

/** Call it on all processes at once, before MPI_Finalize. After an error the buffers of the failed
 * call must stay valid until then, because MPI may still read them. Null is allowed. */
void hlo_mpi_destroy(hlo_mpi *mpi);

/** The value for hlo_call.comm. One call at a time; MPI needs MPI_THREAD_FUNNELED if only the main
 * thread calls, MPI_THREAD_SERIALIZED otherwise. */
const hlo_comm *hlo_mpi_comm(const hlo_mpi *mpi);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_COMM_MPI_H */
