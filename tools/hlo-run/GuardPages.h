//===- GuardPages.h - Buffers next to inaccessible pages ------------------===//
#ifndef TOOLS_HLO_RUN_GUARDPAGES_H
#define TOOLS_HLO_RUN_GUARDPAGES_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace hlo::run {

/// The end of a buffer that touches a guard page.
enum class GuardSide { None, Before, After };

/// A mapping with 1 MiB of inaccessible pages on both sides of the buffer in its middle.
struct GuardedMapping {
  void *mapping = nullptr; ///< null: not enough memory
  size_t mappingBytes = 0;
  char *start = nullptr; ///< of the buffer
  size_t slackBytes = 0; ///< accessible bytes behind the buffer
};

/// Maps a buffer of `bytes` bytes at a multiple of `align`. With GuardSide::After there is slack
/// behind the buffer only if `bytes` is not a multiple of `align`. A program that touches a guard
/// page ends with exit code 70 and a message that names the buffer.
GuardedMapping mapGuarded(uint64_t bytes, uint64_t align, GuardSide side, std::string name);
void unmapGuarded(void *mapping, size_t mappingBytes);
/// Makes the middle of a mapping writable or read-only. A write to a read-only one is reported
/// likewise.
void setWritable(void *mapping, size_t mappingBytes, bool writable);

} // namespace hlo::run

#endif
