/* Checkpoints: global arrays in .npy files, of which each rank maps all and copies its shard. */
#include <fcntl.h>
#include <hlo/shard.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train.h"

enum { HEADER = 256 }; /* of each file: magic, version, length, and a Python dictionary */

/* The header of a leaf's file; the dictionary is filled up with spaces. Returns 0 if it is too
 * long. */
static int write_header(const hlo_buffer_desc *leaf, char header[HEADER]) {
  const int64_t *dims = leaf->sharding ? leaf->sharding->dims : leaf->dims;
  const int integer = leaf->type != HLO_F32; /* there are f32 and s32 */
  char text[HEADER] = "";
  int n = snprintf(text, sizeof text, "{'descr': '<%c4', 'fortran_order': False, 'shape': (",
                   integer ? 'i' : 'f');
  for (int d = 0; d < leaf->rank && n < HEADER; ++d) {
    n += snprintf(text + n, sizeof text - n, "%" PRId64 ", ", dims[d]);
  }
  n += n < HEADER ? snprintf(text + n, sizeof text - n, "), }") : 0;
  if (n > HEADER - 11 || (leaf->type != HLO_F32 && leaf->type != HLO_S32)) {
    return 0;
  }
  memcpy(header, "\x93NUMPY\1", 8);
  header[8] = (char)((HEADER - 10) & 255), header[9] = (HEADER - 10) >> 8;
  memset(header + 10, ' ', HEADER - 11);
  memcpy(header + 10, text, (size_t)n);
  header[HEADER - 1] = '\n';
  return 1;
}

/* Maps the file of a leaf, which must have the right size when it is read, and gets it when it is
 * written. Returns null with a message if that fails. */
static char *map(const char *folder, const hlo_buffer_desc *leaf, int write) {
  char path[4096];
  const uint64_t bytes = HEADER + hlo_shard_global_bytes(leaf);
  snprintf(path, sizeof path, "%s/%s.npy", folder, leaf->name);
  if (write) {
    mkdir(folder, 0777); /* it may be there */
  }
  const int file = open(path, write ? O_RDWR | O_CREAT : O_RDONLY, 0666);
  struct stat status;
  char *memory = MAP_FAILED;
  if (file >= 0 && (!write || ftruncate(file, (off_t)bytes) == 0) && fstat(file, &status) == 0) {
    if ((uint64_t)status.st_size != bytes) {
      fprintf(stderr, "%s has %" PRId64 " bytes, not %" PRIu64 "\n", path, (int64_t)status.st_size,
              bytes);
      close(file);
      return NULL;
    }
    memory = mmap(NULL, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    perror(path);
  }
  if (file >= 0) {
    close(file);
  }
  return memory == MAP_FAILED ? NULL : memory;
}

int checkpoint_save(const char *folder, const hlo_buffer_desc *leaf, int32_t rank,
                    const void *shard) {
  if (hlo_shard_first(leaf, rank) != rank) {
    return 1; /* another rank has the same shard */
  }
  char header[HEADER];
  char *memory = write_header(leaf, header) ? map(folder, leaf, 1) : NULL;
  if (memory == NULL) {
    return 0;
  }
  if (rank == 0) {
    memcpy(memory, header, HEADER);
  }
  int ok = hlo_shard_put(leaf, rank, shard, memory + HEADER) == HLO_OK;
  return munmap(memory, HEADER + hlo_shard_global_bytes(leaf)) == 0 && ok;
}

int checkpoint_load(const char *folder, const hlo_buffer_desc *leaf, int32_t rank, void *shard) {
  char header[HEADER];
  char *memory = write_header(leaf, header) ? map(folder, leaf, 0) : NULL;
  if (memory == NULL) {
    return 0;
  }
  int ok = memcmp(memory, header, HEADER) == 0;
  if (!ok) {
    fprintf(stderr, "%s/%s.npy has another type or shape\n", folder, leaf->name);
  }
  ok = ok && hlo_shard_take(leaf, rank, memory + HEADER, shard) == HLO_OK;
  return munmap(memory, HEADER + hlo_shard_global_bytes(leaf)) == 0 && ok;
}
