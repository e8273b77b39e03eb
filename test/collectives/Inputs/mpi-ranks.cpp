//===- mpi-ranks.cpp - Collectives over processes -------------------------===//
//
//   mpirun -np N mpi-ranks             random collectives, at once and in two parts
//   mpirun -np N mpi-ranks absent      process 1 joins an all-reduce only after the others gave up
//   mpirun -np 3 mpi-ranks elsewhere   so does process 2; process 1 waits in another all-reduce
//   mpirun -np N mpi-ranks fails       the call of process 1 ends with an error
//   mpirun -np N mpi-ranks abandon     the same while collectives are under way that it has begun
//   mpirun -np N mpi-ranks ragged      the last process has a ragged-all-to-all with wrong sizes
//
// In the last case the other processes exchange large messages at that time. After the error no
// buffer may be written to, and no receive may be freed before it has completed.
//
// Each process prints one line, in any order.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/CollectiveCases.h"
#include <cstdio>
#include <cstring>
#include <hlo/comm_mpi.h>
#include <mpi.h>
#include <set>

/// Requests of receives, and the number of receives that were freed before they completed: MPI
/// still writes to their buffers. The next three functions replace MPI's own, which remain
/// available with the prefix P.
static std::set<MPI_Request> receives;
static int givenUp = 0;

extern "C" int MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm, MPI_Request *request) {
  int error = PMPI_Irecv(data, count, type, source, tag, comm, request);
  receives.insert(*request);
  return error;
}
extern "C" int MPI_Isend(const void *data, int count, MPI_Datatype type, int target, int tag,
                         MPI_Comm comm, MPI_Request *request) {
  int error = PMPI_Isend(data, count, type, target, tag, comm, request);
  receives.erase(*request); // MPI reuses handles
  return error;
}
extern "C" int MPI_Request_free(MPI_Request *request) {
  int ended = 1;
  PMPI_Request_get_status(*request, &ended, MPI_STATUS_IGNORE);
  givenUp += receives.count(*request) && !ended;
  return PMPI_Request_free(request);
}

/// Delay before a failed process reports its error, so that others are in the middle of a message.
static int silentFor = 0;
static void (*tellAll)(void *user, hlo_status status, const char *message);
static void tellLate(void *user, hlo_status status, const char *message) {
  std::this_thread::sleep_for(std::chrono::microseconds(silentFor));
  tellAll(user, status, message);
}

/// Ragged all-to-all of rows of u32; every process sends `rows` of them to each.
static std::string ragged(const hlo_comm *comm, int rank, int n, int64_t rows, bool fails,
                          std::vector<uint32_t> &in, std::vector<uint32_t> &out) {
  RankCall call(comm, /*sharedMemory=*/false);
  tellAll = call.comm.leave;
  call.comm.leave = tellLate;
  std::vector<int64_t> offsets, sizes, places, expected, dims = {n * rows}, peers = {n};
  for (int64_t m = 0; m < n; ++m) {
    offsets.push_back(m * rows);
    sizes.push_back(rows);
    places.push_back(rank * rows);
    expected.push_back(fails ? rows - 1 : rows);
  }
  hlo_buffer_desc data = {}, table = {};
  data.name = table.name = "";
  data.dims = dims.data();
  data.bytes = 4 * static_cast<uint64_t>(n * rows);
  data.type = HLO_U32;
  table.dims = peers.data();
  table.bytes = 8 * static_cast<uint64_t>(n);
  table.type = HLO_S64;
  data.rank = table.rank = 1;
  const hlo_buffer_desc buffers[] = {data, data, table, table, table, table, data};
  hlo_rt_collective desc = {};
  desc.op = {sizeof desc, 6, 1, sizeof buffers[0], "ragged-all-to-all", "rows", buffers, 0};
  desc.kind = HLO_RAGGED_ALL_TO_ALL;
  desc.mode = HLO_GROUPS_OF_REPLICAS;
  desc.channel = -1;
  desc.dimension = -1;
  void *pointers[] = {in.data(),     out.data(),      offsets.data(), sizes.data(),
                      places.data(), expected.data(), out.data()};
  hlo_status status = call.module.begin();
  if (!status) {
    status = hlo_rt_collective_run(&call.module.frame, &desc, pointers);
    status = hlo_rt_end(&call.module.frame, status);
  }
  return status ? std::string(hlo_status_name(status)) + " " + call.module.message : "";
}

/// Runs rounds, of which every other one must fail; "" if all behaved as expected.
static std::string raggedRounds(int rank, int n) {
  std::string last;
  for (int round = 0; round < 24; ++round) {
    bool fails = round % 2;
    const int64_t rows = round % 3 ? 2000003 : 5;
    hlo_mpi *mpi = hlo_mpi_create(nullptr, 1, INT64_MAX);
    std::vector<uint32_t> in(static_cast<size_t>(n * rows)), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = valueAt(rank, 7, static_cast<int64_t>(i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    silentFor = round * 250;
    std::string text = ragged(hlo_mpi_comm(mpi), rank, n, rows, fails && rank == n - 1, in, out);
    if (fails) {
      last = text;
    } else {
      if (!text.empty()) {
        return text;
      }
      for (int64_t i = 0; i < n * rows; ++i) {
        if (out[static_cast<size_t>(i)] !=
            valueAt(static_cast<int>(i / rows), 7, rank * rows + i % rows)) {
          return "a wrong result";
        }
      }
    }
    // The call has returned the caller's memory; MPI's progress must not change it.
    std::fill(out.begin(), out.end(), 0x5b5b5b5bu);
    std::fill(in.begin(), in.end(), 0u);
    for (int i = 0; i < 2000; ++i) {
      int there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (uint32_t x : out) {
      if (x != 0x5b5b5b5bu) {
        return "a buffer was written to after the call";
      }
    }
    hlo_mpi_destroy(mpi);
  }
  return givenUp ? std::to_string(givenUp) + " receives were given up" : last;
}

static std::string reduceOnce(const hlo_comm *comm, int rank, bool fails,
                              const char *name = "sum") {
  RankCall call(comm, /*sharedMemory=*/false);
  Op op;
  op.name = name;
  op.operandDims = op.resultDims = {100};
  if (fails && rank == 1) {
    op.groups = {{0}}; // it is in no group
  }
  std::vector<uint32_t> in(100, 1), out(100);
  hlo_status status = call.run(op, in, out);
  return std::string(hlo_status_name(status)) + " " + call.module.message;
}

/// Begins large and small collectives, of which nobody finishes the last one, because the call of
/// process 1 fails.
static std::string abandonOnce(const hlo_comm *comm, int rank, int n) {
  RankCall call(comm, /*sharedMemory=*/false);
  std::vector<std::unique_ptr<Pair>> pairs;
  hlo_status status = call.module.begin();
  for (int k = 0; k < 5 && !status; ++k) {
    Op op;
    int64_t size = k % 2 ? 300000 : 100;
    if (k % 3) {
      op.kind = HLO_ALL_GATHER;
      op.opcode = "all-gather";
      op.dimension = 0;
    }
    op.name = "p" + std::to_string(k);
    op.operandDims = {size};
    op.resultDims = {k % 3 ? size * n : size};
    pairs.push_back(std::make_unique<Pair>(op, n, 1 << 20));
    pairs.back()->in.assign(static_cast<size_t>(size), 1);
    pairs.back()->other.assign(static_cast<size_t>(size * n), 0);
    if (rank == 1 && k == 4) {
      status = hlo_rt_fail(&call.module.frame, HLO_OUT_OF_RANGE, "no");
    } else {
      status = pairs.back()->start(&call.module.frame);
    }
  }
  for (auto &pair : pairs) {
    status = status ? status : pair->done(&call.module.frame);
  }
  status = hlo_rt_end(&call.module.frame, status);
  std::string text = std::string(hlo_status_name(status)) + " " + call.module.message;
  // The buffers are the caller's again: MPI must not write to them.
  for (auto &pair : pairs) {
    std::fill(pair->other.begin(), pair->other.end(), 0x5b5b5b5bu);
    std::fill(pair->state.begin(), pair->state.end(), 0x5b);
  }
  for (int i = 0; i < 2000; ++i) {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (auto &pair : pairs) {
    bool changed = false;
    for (uint32_t x : pair->other) {
      changed |= x != 0x5b5b5b5bu;
    }
    for (char x : pair->state) {
      changed |= x != 0x5b;
    }
    if (changed) {
      return "a buffer was written to after the call";
    }
  }
  return givenUp ? std::to_string(givenUp) + " receives were given up" : text;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  bool absent = argc > 1 && !strcmp(argv[1], "absent"),
       fails = argc > 1 && !strcmp(argv[1], "fails"),
       abandons = argc > 1 && !strcmp(argv[1], "abandon");
  if (argc > 1 && !strcmp(argv[1], "ragged")) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::string text = raggedRounds(rank, size);
    printf("rank %d: %s\n", rank, text.c_str());
    fflush(stdout);
    if (text.find("HLO_") != 0) {
      MPI_Abort(MPI_COMM_WORLD, 1); // the others wait for this one
    }
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "elsewhere")) {
    // Process 0 alone gives up, while process 1 still waits and so reads its question.
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hlo_mpi *mpi =
        hlo_mpi_create(nullptr, 1, rank == 0 ? INT64_C(3000000000) : INT64_C(60000000000));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    std::string text = reduceOnce(hlo_mpi_comm(mpi), rank, false, rank == 1 ? "product" : "sum");
    if (rank != 2) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d: %s\n", rank, text.c_str());
    fflush(stdout);
    hlo_mpi_destroy(mpi);
    MPI_Finalize();
    return 0;
  }
  hlo_mpi *mpi = hlo_mpi_create(nullptr, 1, absent ? INT64_C(3000000000) : INT64_C(60000000000));
  const hlo_comm *comm = hlo_mpi_comm(mpi);
  int rank = comm->replica;
  std::string text;
  if (absent) {
    // All begin together: a busy machine may start a process seconds after the others.
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
  } else if (abandons) {
    text = abandonOnce(comm, rank, comm->num_replicas);
  } else {
    text = runRandomAs(comm, rank, comm->num_replicas, 2000, /*sharedMemory=*/false,
                       [] { return false; });
    if (text.empty()) {
      text = runRandomPairsAs(comm, rank, comm->num_replicas, 2000, /*sharedMemory=*/false,
                              [] { return false; });
    }
  }
  printf("rank %d: %s\n", rank, text.empty() ? "ok" : text.c_str());
  fflush(stdout);
  hlo_mpi_destroy(mpi);
  MPI_Finalize();
}
