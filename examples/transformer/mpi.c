/* Training on processes, one for each partition: mpirun -np N. */
#include <hlo/comm_mpi.h>
#include <mpi.h>
#include <stdio.h>

#include "step.h"
#include "train.h"

int main(int argc, char **argv) {
  Options options;
  if (!parse_options(argc, argv, &options)) {
    return 2;
  }
  const int count = (int)step_describe()->num_partitions;
  int processes = 0, failed = 1;
  char what[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  hlo_mpi *mpi = processes == count ? hlo_mpi_create(NULL, count, INT64_C(60000000000)) : NULL;
  if (mpi != NULL) {
    snprintf(what, sizeof what, "%d processes", count);
    failed = train(&options, hlo_mpi_comm(mpi), what);
  } else {
    fprintf(stderr, "the program needs mpirun -np %d\n", count);
  }
  hlo_mpi_destroy(mpi);
  MPI_Finalize();
  return failed;
}
