/* Trains the compiled model (init.hlo, step.hlo) as one rank of as many as the objects were
 * compiled for. */
#ifndef TRAIN_H
#define TRAIN_H

#include <hlo/rt.h>

typedef struct Options {
  const char *text;    /* the file to train on */
  int steps;           /* of this run */
  int threads;         /* of each rank */
  const char *load;    /* folder of the checkpoint to start from; null: step 0 */
  const char *save;    /* folder of the checkpoint after the last step, or null */
  const char *losses;  /* file for the loss of each step, or null */
  const char *compare; /* such a file of another run: the losses must agree to 1e-4, or null */
} Options;

/* Reads the command line; prints the usage and returns 0 if it is wrong. */
int parse_options(int argc, char **argv, Options *options);

/* Runs the steps; all ranks at the same time, each with its comm (null: the only one). `what` names
 * the ranks in what rank 0 prints. Returns the exit status. */
int train(const Options *options, const hlo_comm *comm, const char *what);

/* The state's arrays as one file each, FOLDER/NAME.npy, that hold global arrays: numpy reads them,
 * and so does a run on another number of ranks. Ranks map the files and copy their shards; those of
 * several machines need a shared file system with coherent mappings. */
int checkpoint_save(const char *folder, const hlo_buffer_desc *leaf, int32_t rank,
                    const void *shard);
int checkpoint_load(const char *folder, const hlo_buffer_desc *leaf, int32_t rank, void *shard);

#endif
