//===- plugin.h - What hlo-run needs of MPI -------------------------------===//
//
// The functions of the library that hlo-run opens for --mpi. hlo-run itself refers to no MPI
// library, so it runs where there is none. C11, and C++.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_RUN_MPI_PLUGIN_H
#define TOOLS_HLO_RUN_MPI_PLUGIN_H

#include <hlo/comm_mpi.h>

typedef struct hlo_run_mpi {
  uint32_t struct_size;
  /** Starts MPI; sets the process's number and how many there are. Returns 0, or MPI's error. */
  int (*start)(int32_t *rank, int32_t *size);
  /** Ends MPI; waits for all processes. */
  void (*stop)(void);
  /** Those of hlo/comm_mpi.h, for all processes. */
  hlo_mpi *(*create)(int32_t num_partitions, int64_t timeout_ns);
  void (*destroy)(hlo_mpi *mpi);
  const hlo_comm *(*comm)(const hlo_mpi *mpi);
} hlo_run_mpi;

/** The library's only function has this type and the name HLO_RUN_MPI_FUNCTIONS. */
typedef const hlo_run_mpi *hlo_run_mpi_functions_type(void);
#define HLO_RUN_MPI_FUNCTIONS "hlo_run_mpi_functions"

#endif
