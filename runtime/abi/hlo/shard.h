/*===- hlo/shard.h - Shards of an array that partitions share ------------------===*\
 *
 * A module compiled for several partitions (--partitions=N) takes and returns shards: each rank has
 * a part of an array. This header cuts shards out of a global array and puts them together. Only
 * declarations; plain C99, also valid as C++11.
 *
 *   const hlo_buffer_desc *w = hlo_input_at(desc, 0);
 *   void *shard = malloc(hlo_shard_bytes(w));
 *   status = hlo_shard_take(w, rank, global, shard);      before the call
 *   ...
 *   status = hlo_shard_put(out, rank, shard, global);     after it, for each rank
 *
 * The global array is dense, and its elements have the same order as those of the shard
 * (hlo_buffer_desc.minor_to_major); elements of 1, 2 and 4 bits are packed in both.
 *
 * The partitions are the places of a mesh, a grid with named axes. A dimension of an array may be
 * split along axes: with mesh_sizes {2, 4}, axes x and y, and 2 partitions along x, an array of 5
 * rows that are split along x has the shards
 *
 *   rows 0 1 2   on the partitions (0, y)
 *   rows 3 4 .   on the partitions (1, y)
 *
 * All shards have the same shape: ceil(size / parts) in each dimension. The last ones may have less
 * of the array than that, or nothing. What a shard has beyond the array (`.`) is zero after
 * hlo_shard_take, ignored by hlo_shard_put, and of any value in what a module returns.
 *
 * `rank` is replica * num_partitions + partition, as in hlo_comm; all replicas have the same
 * shards.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_SHARD_H
#define HLO_SHARD_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How an array is split; see hlo_buffer_desc.sharding. Static and read-only. */
typedef struct hlo_sharding {
  uint32_t struct_size;
  int32_t rank;                  /**< dimensions of the array, as in hlo_buffer_desc */
  const int64_t *dims;           /**< `rank` sizes of the global array; null for a scalar */
  const int64_t *mesh_sizes;     /**< `num_axes` sizes, each >= 1, the slowest varying first */
  const char *const *mesh_names; /**< `num_axes` names; never null */
  int32_t num_axes;
  int32_t num_partitions; /**< product of mesh_sizes */
  /** For each dimension the number of axes that split it, and these axes, the slowest varying
   * first. {1, 0, 0}: dimension 0 along axis 0, dimension 1 whole. Along all other axes of the mesh
   * the shards are equal. Null for a scalar. */
  const int64_t *axes;
  /** `num_partitions` entries: the partition at each place of the mesh, row-major. Null: partition
   * p is at place p. */
  const int64_t *devices;
} hlo_sharding;

/** Part of a dimension: the elements start <= i < start + size of the global array. */
typedef struct hlo_shard_range {
  int64_t start;
  int64_t size; /**< 0: the shard has nothing of the array */
} hlo_shard_range;

/** True if the leaves of the module have the field `sharding`; it must not be read otherwise, nor
 * may these leaves be passed to the functions below. */
HLO_INLINE int hlo_has_shardings(const hlo_module_desc *desc) {
  return desc->buffer_stride >= offsetof(hlo_buffer_desc, sharding) + sizeof(void *);
}

/** Bytes of one rank's buffer: desc->bytes. */
uint64_t hlo_shard_bytes(const hlo_buffer_desc *desc);
/** Bytes of the global array; UINT64_MAX if that exceeds 64 bits. */
uint64_t hlo_shard_global_bytes(const hlo_buffer_desc *desc);

/** Copies the shard of `rank` out of the global array. The two must not overlap. HLO_ERR_NULL; for
 * a negative rank HLO_OUT_OF_RANGE; for a description that contradicts itself HLO_ERR_VIEW. */
HLO_NODISCARD hlo_status hlo_shard_take(const hlo_buffer_desc *desc, int32_t rank,
                                        const void *global, void *shard);
/** The reverse: writes the elements that the shard has of the array, and nothing else. Ranks may do
 * so at the same time if their shards differ (hlo_shard_first) and elements are not packed. */
HLO_NODISCARD hlo_status hlo_shard_put(const hlo_buffer_desc *desc, int32_t rank, const void *shard,
                                       void *global);

/** What the shard of `rank` has of dimension `dim`: for code that reads and writes files itself. A
 * dimension that the array does not have is HLO_OUT_OF_RANGE. */
HLO_NODISCARD hlo_status hlo_shard_part(const hlo_buffer_desc *desc, int32_t rank, int32_t dim,
                                        hlo_shard_range *range);
/** The least rank with the same shard as `rank`; it is `rank` itself for exactly one of several
 * equal shards, which is the one to store. -1 if hlo_shard_take would return an error. */
int32_t hlo_shard_first(const hlo_buffer_desc *desc, int32_t rank);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_SHARD_H */
