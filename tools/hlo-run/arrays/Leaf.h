//===- Leaf.h - Buffers of a program's array leaves -----------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_LEAF_H
#define TOOLS_HLO_RUN_ARRAYS_LEAF_H

#include "tools/hlo-run/GuardPages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstddef>
#include <hlo/rt.h>
#include <string>

namespace hlo::run {

/// Memory aligned to 64 bytes, on huge pages if it is large; contents unspecified. The bytes behind
/// it hold a pattern, from which `isIntact` tells whether something wrote past the end.
class Memory {
public:
  Memory() = default;
  /// `data` is null if there is not enough memory.
  explicit Memory(uint64_t bytes);
  /// Memory next to an inaccessible page on that side, aligned only to `align` (GuardPages.h).
  static Memory guarded(uint64_t bytes, uint64_t align, GuardSide side, std::string name);
  ~Memory();
  Memory(Memory &&other);
  Memory &operator=(Memory &&other);
  char *data() const { return start; }
  uint64_t size() const { return bytes; }
  bool isIntact() const;
  /// Makes guarded memory writable or read-only; other memory is always writable.
  void setWritable(bool writable);
  explicit operator bool() const { return start != nullptr; }

private:
  char *start = nullptr;
  uint64_t bytes = 0;
  void *mapping = nullptr; ///< if mapped
  size_t mappingBytes = 0;
  size_t patternBytes = 0; ///< behind it
  bool isGuarded = false;
};

inline llvm::ArrayRef<int64_t> dimsOf(const hlo_buffer_desc &leaf) {
  return {leaf.dims, static_cast<size_t>(leaf.rank)};
}
inline llvm::ArrayRef<int64_t> orderOf(const hlo_buffer_desc &leaf) {
  return {leaf.minor_to_major, static_cast<size_t>(leaf.rank)};
}
int64_t countOf(const hlo_buffer_desc &leaf);

/// The leaf's type in HLO syntax, with its layout if that is not the default: "f32[2,3]{0,1}".
std::string typeOf(const hlo_buffer_desc &leaf);

/// Converts raw bytes to the form that programs expect: sub-byte types sign- or zero-extended, pred
/// 0 or 1. Other types are unchanged.
void normalize(int32_t type, llvm::MutableArrayRef<char> items);
/// The inverse: sub-byte types as raw bits with zeros above, in place.
void denormalize(int32_t type, llvm::MutableArrayRef<char> items);

} // namespace hlo::run

#endif
