//===- GuardPages.h - Buffers between pages that nothing may touch --------===//
#ifndef TOOLS_HLO_RUN_GUARDPAGES_H
#define TOOLS_HLO_RUN_GUARDPAGES_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace hlo::run {

/// The end of a buffer that lies exactly at a guard page.
enum class GuardSide { None, Before, After };

/// A mapping with 1 MiB of pages without access on both sides of its middle, which holds a buffer.
struct GuardedMapping {
  void *mapping = nullptr; ///< null: there is not that much memory
  size_t mappingBytes = 0;
  char *start = nullptr; ///< of the buffer
  size_t slackBytes = 0; ///< accessible bytes behind the buffer
};

/// Maps a buffer of `bytes` bytes at an address that is a multiple of `align`. Behind a buffer at
/// GuardSide::After there is slack only if `bytes` is no multiple of `align`. A program that
/// touches a page without access ends with exit code 70 and a message that names the buffer.
GuardedMapping mapGuarded(uint64_t bytes, uint64_t align, GuardSide side, std::string name);
void unmapGuarded(void *mapping, size_t mappingBytes);
/// Whether the middle of a mapping can be written. A write to one that cannot is reported likewise.
void setWritable(void *mapping, size_t mappingBytes, bool writable);

} // namespace hlo::run

#endif
