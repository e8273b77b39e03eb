//===- Dynamic.h - Arrays with bounded dimensions -------------------------===//
#ifndef TOOLS_HLO_RUN_DYNAMIC_H
#define TOOLS_HLO_RUN_DYNAMIC_H

#include "tools/hlo-run/Leaf.h"
#include "tools/hlo-run/Zip.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace hlo::run {

/// A leaf cut to its true sizes, dense in the leaf's order of dimensions.
struct TrueLeaf {
  hlo_buffer_desc leaf; ///< refers to `dims`
  std::vector<int64_t> dims;
  Memory memory; ///< none if the leaf is static
  const char *data = nullptr;
};

/// Whether the leaf is the size of a bounded dimension, and no array of the module.
inline bool isSize(const hlo_buffer_desc &leaf) { return leaf.size_of != 0; }

/// Whether other leaves of the list hold sizes of leaf `index`.
bool isBounded(llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index);

/// Leaf `index` of `leaves` as `buffers` hold it and its sizes.
llvm::Expected<TrueLeaf> cutToSize(llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                                   llvm::function_ref<const char *(uint32_t)> buffer);

/// As loadLeaf, for a leaf with bounded dimensions: in these the array may be smaller, and what it
/// has is written to the leaves of the sizes. The rest of the buffer is filled with ones (NaN, -1),
/// so that a program that reads it shows.
llvm::Error loadBounded(const ZipReader &archive, llvm::StringRef name,
                        llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                        llvm::function_ref<char *(uint32_t)> buffer);

/// Makes the sizes among the leaves those of the bounds.
void setSizesToBounds(llvm::ArrayRef<hlo_buffer_desc> leaves,
                      llvm::function_ref<char *(uint32_t)> buffer);

} // namespace hlo::run

#endif
