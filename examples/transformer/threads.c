/* Training on one device, or on as many threads as the objects have partitions. */
#include <hlo/ranks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "step.h"
#include "train.h"

typedef struct Rank {
  pthread_t thread;
  const Options *options;
  const hlo_comm *comm;
  const char *what;
  int status;
} Rank;

static void *run(void *arg) {
  Rank *rank = arg;
  rank->status = train(rank->options, rank->comm, rank->what);
  return NULL;
}

int main(int argc, char **argv) {
  Options options;
  if (!parse_options(argc, argv, &options)) {
    return 2;
  }
  const int count = (int)step_describe()->num_partitions;
  if (count == 1) {
    return train(&options, NULL, "one device");
  }
  char what[32];
  snprintf(what, sizeof what, "%d threads", count);
  hlo_ranks *ranks = hlo_ranks_create(1, count, INT64_C(60000000000));
  Rank *rank = calloc((size_t)count, sizeof *rank);
  int failed = 0;
  for (int r = 0; r < count; ++r) {
    rank[r].options = &options;
    rank[r].comm = hlo_ranks_comm(ranks, r);
    rank[r].what = what;
    pthread_create(&rank[r].thread, NULL, run, &rank[r]);
  }
  for (int r = 0; r < count; ++r) {
    pthread_join(rank[r].thread, NULL);
    failed |= rank[r].status;
  }
  hlo_ranks_destroy(ranks);
  free(rank);
  return failed;
}
