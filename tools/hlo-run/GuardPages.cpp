//===- GuardPages.cpp - Buffers next to inaccessible pages ----------------===//
//
// In: sizes and names of buffers. A fault inside one of the mappings is reported with the buffer's
// name; other faults go to the previous handler.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/GuardPages.h"
#include "tools/hlo-run/Error.h"
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace hlo::run;

namespace {
/// Large enough that overruns by a row or two of a small array fault too.
constexpr size_t guardBytes = 1 << 20;

struct Region {
  uintptr_t begin, end;  ///< of the mapping
  uintptr_t start, stop; ///< of the buffer
  std::string name;
};

/// Written only by the main thread, between runs; read by the fault handler.
std::vector<Region> regions;
struct sigaction previous;

/// A line for standard error, built without allocation.
class Line {
public:
  void add(const char *text) {
    size_t n = std::min(std::strlen(text), sizeof(chars) - used);
    std::memcpy(chars + used, text, n);
    used += n;
  }
  void add(uintptr_t number) {
    used = std::to_chars(chars + used, chars + sizeof(chars), number).ptr - chars;
  }
  void write() { [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, chars, used); }

private:
  char chars[512];
  size_t used = 0;
};

void onFault(int signal, siginfo_t *info, void *context) {
  uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Region &region : regions) {
    if (at < region.begin || at >= region.end) {
      continue;
    }
    Line line;
    line.add("hlo-run: error: the program ");
    if (at < region.start) {
      line.add("touched the byte ");
      line.add(region.start - at);
      line.add(" before the start of ");
    } else if (at >= region.stop) {
      line.add("touched the byte ");
      line.add(at - region.stop);
      line.add(" past the end of ");
    } else {
      line.add("wrote to the byte ");
      line.add(at - region.start);
      line.add(" of ");
    }
    line.add(region.name.c_str());
    line.add(", which has ");
    line.add(region.stop - region.start);
    line.add(" bytes\n");
    line.write();
    _exit(ExitInternal);
  }
  sigaction(signal, &previous, nullptr); // the instruction faults again
}

void watchFaults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &previous);
  });
}
} // namespace

GuardedMapping hlo::run::mapGuarded(uint64_t bytes, uint64_t align, GuardSide side,
                                    std::string name) {
  GuardedMapping result;
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX / 2) {
    return result;
  }
  size_t middle = std::max<size_t>(1, (bytes + page - 1) / page) * page;
  size_t mappingBytes = middle + 2 * guardBytes;
  void *mapping =
      mmap(nullptr, mappingBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return result;
  }
  char *first = static_cast<char *>(mapping) + guardBytes;
  if (mprotect(first, middle, PROT_READ | PROT_WRITE)) {
    munmap(mapping, mappingBytes);
    return result;
  }
  size_t offset = side == GuardSide::After ? (middle - bytes) / align * align : 0;
  result = {mapping, mappingBytes, first + offset, middle - offset - bytes};
  uintptr_t begin = reinterpret_cast<uintptr_t>(mapping);
  uintptr_t start = begin + guardBytes + offset;
  regions.push_back({begin, begin + mappingBytes, start, start + bytes, std::move(name)});
  watchFaults();
  return result;
}

void hlo::run::unmapGuarded(void *mapping, size_t mappingBytes) {
  uintptr_t begin = reinterpret_cast<uintptr_t>(mapping);
  std::erase_if(regions, [&](const Region &region) { return region.begin == begin; });
  munmap(mapping, mappingBytes);
}

void hlo::run::setWritable(void *mapping, size_t mappingBytes, bool writable) {
  mprotect(static_cast<char *>(mapping) + guardBytes, mappingBytes - 2 * guardBytes,
           writable ? PROT_READ | PROT_WRITE : PROT_READ);
}
