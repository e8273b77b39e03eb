/* The training on one device, and on four replicas that are threads. */
#include "step_1.h"
#include "step_4.h"
#include "train.h"

#include <hlo/ranks.h>
#include <pthread.h>

enum { REPLICAS = 4 };

typedef struct Replica {
  pthread_t thread;
  const hlo_comm *comm;
  int number;
  hlo_status status;
  float losses[STEPS];
} Replica;

static void *run(void *arg) {
  Replica *replica = arg;
  replica->status =
      train(step_4_describe(), replica->comm, replica->number, REPLICAS, replica->losses);
  return NULL;
}

int main(void) {
  static float one[STEPS];
  static Replica replicas[REPLICAS];
  if (train(step_1_describe(), NULL, 0, 1, one) != HLO_OK) {
    return 1;
  }
  hlo_ranks *ranks = hlo_ranks_create(REPLICAS, 1, INT64_C(60000000000));
  for (int r = 0; r < REPLICAS; ++r) {
    replicas[r].number = r;
    replicas[r].comm = hlo_ranks_comm(ranks, r);
    pthread_create(&replicas[r].thread, NULL, run, &replicas[r]);
  }
  int failed = 0;
  for (int r = 0; r < REPLICAS; ++r) {
    pthread_join(replicas[r].thread, NULL);
    failed |= replicas[r].status != HLO_OK;
  }
  hlo_ranks_destroy(ranks);
  return failed || compare("4 threads", one, replicas[0].losses);
}
