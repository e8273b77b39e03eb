//===- Npy.h - The header of an .npy array --------------------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_NPY_H
#define TOOLS_HLO_RUN_ARRAYS_NPY_H

#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace hlo::run {

/// The header of an .npy file: describes the array that follows.
struct NpyHeader {
  char order = '|'; ///< '<', '>', '|' or '='
  char kind = 'V';  ///< numpy's: b, i, u, f, c, V, ...
  int64_t itemBytes = 0;
  bool fortran = false; ///< first dimension varies fastest
  llvm::SmallVector<int64_t> shape;
  std::string descr() const; ///< e.g. "<f4"
};

/// The bytes from the magic to the end of the header, padded so that the data are aligned to 64.
std::string formatNpyHeader(const NpyHeader &header);

/// Parses the header's text, a Python dictionary. Error texts start with `where`.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef text, llvm::StringRef where);

/// Reads magic, version and header from a stream; the array's bytes come next in it.
llvm::Expected<NpyHeader> readNpyHeader(ZipStream &stream, llvm::StringRef where);

/// Storage of an HLO element type (hlo_type) in .npy: numpy's kind and bytes per item.
std::pair<char, int64_t> npyStorage(int32_t type);
/// True if an array with this header can hold elements of the type: the type's own storage, raw
/// void of the same width, or another spelling of the same bits.
bool npyMatches(const NpyHeader &header, int32_t type);

} // namespace hlo::run

#endif
