/*===- plugin.c - MPI for hlo-run ------------------------------------------------===*\
 *
 * libhlo_run_mpi.so, which hlo-run opens for --mpi: MPI's start and end, and the ranks of
 * libhlo_comm_mpi. Built against the site's MPI library, as that is.
 *
 *===-------------------------------------------------------------------------===*/
#include "tools/hlo-run/mpi/plugin.h"

#include <mpi.h>
#include <stddef.h>

static int start(int32_t *rank, int32_t *size) {
  int provided, number = 0, count = 1;
  int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (error == MPI_SUCCESS) {
    error = MPI_Comm_rank(MPI_COMM_WORLD, &number);
  }
  if (error == MPI_SUCCESS) {
    error = MPI_Comm_size(MPI_COMM_WORLD, &count);
  }
  *rank = number;
  *size = count;
  return error;
}

static void stop(void) { MPI_Finalize(); }

static hlo_mpi *create(int32_t num_partitions, int64_t timeout_ns) {
  return hlo_mpi_create(NULL, num_partitions, timeout_ns);
}

__attribute__((visibility("default"))) const hlo_run_mpi *hlo_run_mpi_functions(void) {
  static const hlo_run_mpi functions = {.struct_size = sizeof functions,
                                        .start = start,
                                        .stop = stop,
                                        .create = create,
                                        .destroy = hlo_mpi_destroy,
                                        .comm = hlo_mpi_comm};
  return &functions;
}
