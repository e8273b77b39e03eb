//===- mpi-ranks.cpp - Collectives over processes -------------------------===//
//
//   mpirun -np N mpi-ranks             random collectives
//   mpirun -np N mpi-ranks absent      process 1 does not come to an all-reduce before the others
//                                      have given it up
//   mpirun -np N mpi-ranks fails       the call of process 1 ends with an error
//
// Each process prints one line; the order of lines is anybody's.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/CollectiveCases.h"
#include <cstdio>
#include <cstring>
#include <hlo/comm_mpi.h>
#include <mpi.h>

static std::string reduceOnce(const hlo_comm *comm, int rank, bool fails) {
  RankCall call(comm, /*sharedMemory=*/false);
  Op op;
  op.name = "sum";
  op.operandDims = op.resultDims = {100};
  if (fails && rank == 1) {
    op.groups = {{0}}; // it is in no group
  }
  std::vector<uint32_t> in(100, 1), out(100);
  hlo_status status = call.run(op, in, out);
  return std::string(hlo_status_name(status)) + " " + call.module.message;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  bool absent = argc > 1 && !strcmp(argv[1], "absent"),
       fails = argc > 1 && !strcmp(argv[1], "fails");
  hlo_mpi *mpi = hlo_mpi_create(nullptr, 1, absent ? INT64_C(3000000000) : INT64_C(60000000000));
  const hlo_comm *comm = hlo_mpi_comm(mpi);
  int rank = comm->replica;
  std::string text;
  if (absent) {
    // All begin together, since a machine that is busy may start one of them seconds later.
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    text = reduceOnce(comm, rank, false);
    if (rank != 1) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } else if (fails) {
    text = reduceOnce(comm, rank, true);
  } else {
    text = runRandomAs(comm, rank, comm->num_replicas, 2000, /*sharedMemory=*/false,
                       [] { return false; });
  }
  printf("rank %d: %s\n", rank, text.empty() ? "ok" : text.c_str());
  fflush(stdout);
  hlo_mpi_destroy(mpi);
  MPI_Finalize();
}
