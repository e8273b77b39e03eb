//===- Global.h - Arrays of which ranks have shards -----------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_GLOBAL_H
#define TOOLS_HLO_RUN_ARRAYS_GLOBAL_H

#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <hlo/shard.h>

namespace hlo::run {

/// The array that `leaf` is a shard of; `leaf` itself if it is whole. Like all leaves here, with an
/// element per byte for smaller types.
hlo_buffer_desc globalLeaf(const hlo_buffer_desc &leaf);

/// A global array in memory or in a file. Ranks take their shards from it, or put them into it.
class GlobalArray {
public:
  /// The array of `leaf` in the leaf's own order of dimensions; zeros.
  static llvm::Expected<GlobalArray> make(const hlo_buffer_desc &leaf);
  /// The array `name` of the archive, which must have the global shape. `maps`: a member that is
  /// stored as it is stays in the file, of which take() reads what it needs, and no checksum is
  /// compared.
  static llvm::Expected<GlobalArray> read(const ZipReader &archive, llvm::StringRef name,
                                          const hlo_buffer_desc &leaf, bool maps);

  /// Copies the shard of a rank to `shard`, leaf.bytes bytes; what it has beyond the array is zero.
  llvm::Error take(uint32_t rank, char *shard) const;
  /// Fills what the rank's shard has beyond the array with 1 bits, or `true` for pred: NaN, and the
  /// largest numbers. A program must not depend on it.
  llvm::Error spoil(uint32_t rank, char *shard) const;
  /// Copies what a shard has of an array that make() made.
  llvm::Error put(uint32_t rank, const char *shard);

  /// The array, for one that make() made.
  hlo_buffer_desc describe() const { return globalLeaf(leaf); }
  char *data() const { return memory.data(); }

private:
  explicit GlobalArray(const hlo_buffer_desc &leaf) : leaf(leaf) {}
  const char *bytes() const { return mapped ? mapped.data() : memory.data(); }

  hlo_buffer_desc leaf;
  llvm::SmallVector<int64_t> order; ///< of the elements in memory or file, fastest dimension first
  Memory memory;
  MappedBytes mapped;
};

} // namespace hlo::run

#endif
