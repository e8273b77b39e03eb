/*===- hlo/ranks.h - Ranks that are threads of one process -----------------------===*\
 *
 * Replicas and partitions of a program as threads. Each thread calls the module with a comm from
 * here, all at the same time, each with its own arena and buffers.
 *
 *   hlo_ranks *ranks = hlo_ranks_create(4, 1, 60e9);
 *   // on thread r of 4:
 *   hlo_call call = hlo_call_init();
 *   call.comm = hlo_ranks_comm(ranks, r);
 *   status = model_run(&call, &args[r]);
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_RANKS_H
#define HLO_RANKS_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** num_replicas * num_partitions ranks that can reach each other. */
typedef struct hlo_ranks hlo_ranks;

/** Makes the ranks, without a thread. `timeout_ns`: how long a rank waits for another in a
 * collective before all of them fail; 0: for ever. Null if memory is exhausted, or for more than
 * 1024 ranks. */
hlo_ranks *hlo_ranks_create(int32_t num_replicas, int32_t num_partitions, int64_t timeout_ns);

/** Ends their helpers and frees them; no call may be using them. Null is allowed. */
void hlo_ranks_destroy(hlo_ranks *ranks);

/** The value for hlo_call.comm of rank replica * num_partitions + partition; lives as long as the
 * ranks. One call at a time per rank. */
const hlo_comm *hlo_ranks_comm(const hlo_ranks *ranks, int32_t rank);

/** Starts a thread for each rank, which executes what the rank's program has begun and not yet
 * finished (all-reduce-start, ...) while the program goes on. Without them, a rank does so when it
 * comes to the -done. Worth it if there are CPUs for them. HLO_OK, or HLO_RESOURCE_EXHAUSTED if
 * threads cannot be started. Call it at most once, before the ranks are used. */
HLO_NODISCARD hlo_status hlo_ranks_start_helpers(hlo_ranks *ranks);

/** After an error all further collectives fail with it. When no call uses the ranks any more, this
 * makes them usable again. */
void hlo_ranks_reset(hlo_ranks *ranks);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_RANKS_H */
