//===- Leaf.cpp - Buffers of a program's array leaves ---------------------===//
//
// Memory for leaves and arena, and the conversion between files (raw bits, row-major) and program
// buffers (extended sub-byte values).
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Leaf.h"
#include "compiler/support/Checked.h"
#include "tools/hlo-run/arrays/Permute.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace llvm;
using namespace hlo::run;

namespace {
constexpr size_t hugePage = 2 << 20;
constexpr size_t leastMapped = 2 * hugePage;
/// Length of the pattern behind every buffer: one vector of equal bytes.
constexpr size_t patternLength = 64;
constexpr char pattern = 0x5a;

/// Bits of a sub-byte integer or float type, negative if signed; else 0.
int subByteBits(int32_t type) {
  switch (type) {
  case HLO_S1: return -1;
  case HLO_S2: return -2;
  case HLO_S4: return -4;
  case HLO_U1: return 1;
  case HLO_U2: return 2;
  case HLO_U4:
  case HLO_F4E2M1FN: return 4;
  case HLO_F6E2M3FN:
  case HLO_F6E3M2FN: return 6;
  default: return 0;
  }
}
} // namespace

Memory::Memory(uint64_t bytes) : bytes(bytes), patternBytes(patternLength) {
  if (bytes < leastMapped) {
    size_t rounded = (static_cast<size_t>(bytes) + patternLength + 63) / 64 * 64;
    start = static_cast<char *>(std::aligned_alloc(64, rounded));
    if (start) {
      std::memset(start + bytes, pattern, patternLength);
    }
    return;
  }
  if (bytes > SIZE_MAX / 2) {
    return;
  }
  mappingBytes = static_cast<size_t>(bytes) + patternLength + hugePage;
  mapping = mmap(nullptr, mappingBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    mapping = nullptr;
    return;
  }
  uintptr_t at = (reinterpret_cast<uintptr_t>(mapping) + hugePage - 1) / hugePage * hugePage;
  start = reinterpret_cast<char *>(at);
  madvise(start, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  std::memset(start + bytes, pattern, patternLength);
}

Memory Memory::guarded(uint64_t bytes, uint64_t align, GuardSide side, std::string name) {
  if (side == GuardSide::None) {
    return Memory(bytes);
  }
  GuardedMapping guarded = mapGuarded(bytes, align, side, std::move(name));
  Memory memory;
  memory.start = guarded.start;
  memory.bytes = bytes;
  memory.mapping = guarded.mapping;
  memory.mappingBytes = guarded.mappingBytes;
  memory.isGuarded = true;
  if (guarded.start) {
    memory.patternBytes = std::min(guarded.slackBytes, patternLength);
    std::memset(memory.start + bytes, pattern, memory.patternBytes);
  }
  return memory;
}

bool Memory::isIntact() const {
  return !start || llvm::all_of(ArrayRef<char>(start + bytes, patternBytes),
                                [](char c) { return c == pattern; });
}

void Memory::setWritable(bool writable) {
  if (isGuarded && mapping) {
    hlo::run::setWritable(mapping, mappingBytes, writable);
  }
}

Memory::~Memory() {
  if (mapping && isGuarded) {
    unmapGuarded(mapping, mappingBytes);
  } else if (mapping) {
    munmap(mapping, mappingBytes);
  } else {
    std::free(start);
  }
}

Memory::Memory(Memory &&other) { *this = std::move(other); }

Memory &Memory::operator=(Memory &&other) {
  std::swap(start, other.start);
  std::swap(bytes, other.bytes);
  std::swap(mapping, other.mapping);
  std::swap(mappingBytes, other.mappingBytes);
  std::swap(patternBytes, other.patternBytes);
  std::swap(isGuarded, other.isGuarded);
  return *this;
}

int64_t hlo::run::countOf(const hlo_buffer_desc &leaf) {
  return hlo::checkedProduct(dimsOf(leaf)).value_or(INT64_MAX); // no memory has that many
}

std::string hlo::run::typeOf(const hlo_buffer_desc &leaf) {
  std::string text = hlo_type_name(leaf.type);
  text += "[" + llvm::join(llvm::map_range(dimsOf(leaf), [](int64_t d) { return itostr(d); }), ",");
  text += "]";
  if (!sameOrder(dimsOf(leaf), orderOf(leaf), rowMajor(dimsOf(leaf).size()))) {
    auto order = llvm::map_range(orderOf(leaf), [](int64_t d) { return itostr(d); });
    text += "{" + llvm::join(order, ",") + "}";
  }
  return text;
}

void hlo::run::normalize(int32_t type, MutableArrayRef<char> items) {
  if (type == HLO_PRED) {
    for (char &item : items) {
      item = item != 0;
    }
    return;
  }
  int bits = subByteBits(type);
  if (bits > 0) {
    denormalize(type, items);
  } else if (bits < 0) {
    int shift = 8 + bits;
    for (char &item : items) {
      item = static_cast<char>(static_cast<int8_t>(static_cast<uint8_t>(item) << shift) >> shift);
    }
  }
}

void hlo::run::denormalize(int32_t type, MutableArrayRef<char> items) {
  int bits = std::abs(subByteBits(type));
  if (bits == 0) {
    return;
  }
  for (char &item : items) {
    item = static_cast<char>(item & ((1 << bits) - 1));
  }
}
