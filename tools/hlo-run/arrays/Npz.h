//===- Npz.h - Array leaves from and to .npz files ------------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_NPZ_H
#define TOOLS_HLO_RUN_ARRAYS_NPZ_H

#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Npy.h"
#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace hlo::run {

/// An array of an archive, read up to the end of its header: its bytes come next.
struct ArrayStream {
  ZipStream stream;
  NpyHeader header;
};

/// Opens the array `name` (without ".npy") of the archive, whose element type and shape must be the
/// leaf's.
llvm::Expected<ArrayStream> openLeaf(const ZipReader &archive, llvm::StringRef name,
                                     const hlo_buffer_desc &leaf);

/// Reads the array `name` (without ".npy") of the archive into `buffer`, which has leaf.bytes
/// bytes. Element type and shape must be the leaf's; the dimensions are permuted to the leaf's
/// order.
llvm::Error loadLeaf(const ZipReader &archive, llvm::StringRef name, const hlo_buffer_desc &leaf,
                     char *buffer);

/// The shape of the array `name` of the archive, which will be loaded for `leaf`.
llvm::Expected<llvm::SmallVector<int64_t>> readShape(const ZipReader &archive, llvm::StringRef name,
                                                     const hlo_buffer_desc &leaf);

/// Adds `buffer`, which has the leaf's layout, as a row-major array `name`.
llvm::Error saveLeaf(ZipWriter &archive, llvm::StringRef name, const hlo_buffer_desc &leaf,
                     const char *buffer);

} // namespace hlo::run

#endif
