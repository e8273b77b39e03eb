//===- Heap.cpp - Huge pages for the compiler's heap ----------------------===//
//
// In: the number of compiling threads, and each of them. Out: settings of glibc's
// malloc, which it has no other way to be told; other C libraries are left alone.
//
// The compiler runs on a thread of its own for its stack. glibc would give that thread an own heap,
// which grows by one call of mprotect for each page. Several compiling threads must not share a
// heap, though: two took half as long again.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Heap.h"
#include "llvm/Support/Threading.h"
#include <cstdint>
#include <cstdlib>
#include <utility>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

#ifdef __GLIBC__
static constexpr uintptr_t kHugePage = 2 << 20, kHeap = 8 * kHugePage;
/// What is allocated lies this much beyond the size of the allocation, which malloc writes down.
static constexpr uintptr_t kHeader = 2 * sizeof(size_t);
static bool isPrepared = false;
#endif

void hlo::prepareHeap(unsigned jobs) {
#ifdef __GLIBC__
  if (llvm::hardware_concurrency(jobs).compute_thread_count() == 1) {
    mallopt(M_ARENA_MAX, 1);
  }
  isPrepared = true;
  // The heap does not give back what it has grown to.
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
#endif
}

void hlo::takeHugePages() {
#ifdef __GLIBC__
  static thread_local bool isDone = false;
  if (!isPrepared || std::exchange(isDone, true)) {
    return;
  }
  // The heap grows by so much at once: what is taken here is free again, but the heap stays as
  // large. Volatile, as compilers know that nobody uses it.
  mallopt(M_MMAP_THRESHOLD, 2 * kHeap);
  void *volatile taken = std::malloc(kHeap + kHugePage);
  auto begin = reinterpret_cast<uintptr_t>(taken);
  uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  madvise(reinterpret_cast<void *>(first), kHeap, MADV_HUGEPAGE);
  std::free(taken);
  // The heap goes on at the first huge page: addresses before it, never touched, stay unused.
  [[maybe_unused]] static thread_local void *volatile skipped;
  if (taken && first > begin + 2 * kHeader) {
    skipped = std::malloc(first - begin - 2 * kHeader);
  }
  mallopt(M_MMAP_THRESHOLD, 2 * kHugePage);
#endif
}
