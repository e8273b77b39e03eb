/* The same on four replicas that are processes: mpirun -np 4. */
#include "step_1.h"
#include "step_4.h"
#include "train.h"

#include <hlo/comm_mpi.h>
#include <mpi.h>

int main(int argc, char **argv) {
  static float one[STEPS], many[STEPS];
  MPI_Init(&argc, &argv);
  hlo_mpi *mpi = hlo_mpi_create(NULL, 1, INT64_C(60000000000));
  if (mpi == NULL) {
    return 1;
  }
  const hlo_comm *comm = hlo_mpi_comm(mpi);
  int failed = train(step_4_describe(), comm, comm->replica, comm->num_replicas, many) != HLO_OK;
  if (comm->replica == 0 && !failed) {
    failed =
        train(step_1_describe(), NULL, 0, 1, one) != HLO_OK || compare("4 processes", one, many);
  }
  hlo_mpi_destroy(mpi);
  MPI_Finalize();
  return failed;
}
