//===- ObjectMerge.h - Several ELF objects and constants into one ---------===//
#ifndef COMPILER_TARGET_OBJECTMERGE_H
#define COMPILER_TARGET_OBJECTMERGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace hlo {

/// Read-only data of the merged object, under a local symbol.
struct ConstantData {
  std::string symbol;
  llvm::ArrayRef<char> bytes;
  uint64_t alignment = 64; ///< a power of two
  bool splat = false;      ///< `bytes` is one element, repeated to `size` bytes
  uint64_t size = 0;
  std::vector<std::string> otherNames{}; ///< further symbols of the same data
};

/// Merges relocatable objects of one architecture, as LLVM writes them, and constants. Undefined
/// symbols of one object are bound to definitions in the others. Definitions not in `exported`
/// become local; symbols that remain undefined must be in `imported`. With `fold`, of sections that
/// can stand in for each other (ObjectFold.h) only the first is kept. The result depends only on
/// the arguments.
llvm::Expected<std::string> mergeObjects(llvm::ArrayRef<llvm::StringRef> objects,
                                         llvm::ArrayRef<ConstantData> constants,
                                         llvm::ArrayRef<std::string> exported,
                                         llvm::ArrayRef<llvm::StringRef> imported,
                                         bool fold = false);

/// Writes 8 bytes at `offset` into the definition of `symbol`, if the object has one.
void setNumber(llvm::MutableArrayRef<char> object, llvm::StringRef symbol, uint64_t offset,
               uint64_t value);

/// The symbols that objects may import: from the runtime, libc, and libm (below SSE4.1 only).
llvm::ArrayRef<llvm::StringRef> importedSymbols();

} // namespace hlo

#endif
