//===- Dynamic.h - Arrays with bounded dimensions -------------------------===//
#ifndef TOOLS_HLO_RUN_DYNAMIC_H
#define TOOLS_HLO_RUN_DYNAMIC_H

#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Zip.h"
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

/// True if the leaf is the size of a bounded dimension, not an array of the module.
inline bool isSize(const hlo_buffer_desc &leaf) { return leaf.size_of != 0; }

/// True if other leaves of the list hold sizes of leaf `index`, or sizes that its own depend on.
bool isBounded(llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index);

/// Leaf `index` of `leaves`, cut to the sizes in `buffers`.
llvm::Expected<TrueLeaf> cutToSize(llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                                   llvm::function_ref<const char *(uint32_t)> buffer);

/// loadLeaf for a leaf with bounded dimensions, in which the array may be smaller; its sizes are
/// written to the size leaves. The rest of the buffer is filled with ones (NaN, -1), so that a
/// program that reads it gives visibly wrong results.
llvm::Error loadBounded(const ZipReader &archive, llvm::StringRef name,
                        llvm::ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                        llvm::function_ref<char *(uint32_t)> buffer);

/// Sets the size leaves of a program with names for sizes, from the shapes of the arrays `names`,
/// one for each input. Call it before loadBounded.
llvm::Error readSizes(const ZipReader &archive, llvm::ArrayRef<std::string> names,
                      llvm::ArrayRef<hlo_buffer_desc> leaves,
                      llvm::function_ref<char *(uint32_t)> buffer);

/// Sets all size leaves to the bounds.
void setSizesToBounds(llvm::ArrayRef<hlo_buffer_desc> leaves,
                      llvm::function_ref<char *(uint32_t)> buffer);

} // namespace hlo::run

#endif
