//===- Heap.cpp - Huge pages for the compiler's heap ----------------------===//
//
// In: the number of compiling threads, and each such thread. Out: settings of glibc's malloc that
// can only be made by allocating; other C libraries are left alone.
//
// The compiler runs on a thread of its own because it needs a large stack. glibc would give that
// thread its own heap, which grows with one mprotect call per page. Several compiling threads must
// not share one heap: two threads then take half as long again.
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
static constexpr uintptr_t kHugePage = 2 << 20, kHeap = 24 * kHugePage;
/// malloc's header: an allocation starts this many bytes after the chunk.
static constexpr uintptr_t kHeader = 2 * sizeof(size_t);
static bool isPrepared = false;
#endif

void hlo::prepareHeap(unsigned jobs) {
#ifdef __GLIBC__
  if (llvm::hardware_concurrency(jobs).compute_thread_count() == 1) {
    mallopt(M_ARENA_MAX, 1);
  }
  isPrepared = true;
  // The heap keeps the memory it has grown to.
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
#endif
}

void hlo::takeHugePages() {
#ifdef __GLIBC__
  static thread_local bool isDone = false;
  if (!isPrepared || std::exchange(isDone, true)) {
    return;
  }
  // One large allocation that is freed at once grows the heap by its size. Volatile, so that the
  // compiler does not remove the unused allocation.
  mallopt(M_MMAP_THRESHOLD, 2 * kHeap);
  void *volatile taken = std::malloc(kHeap + kHugePage);
  auto begin = reinterpret_cast<uintptr_t>(taken);
  uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  madvise(reinterpret_cast<void *>(first), kHeap, MADV_HUGEPAGE);
  std::free(taken);
  // Fills the space up to the first huge page: those addresses are never touched.
  [[maybe_unused]] static thread_local void *volatile skipped;
  if (taken && first > begin + 2 * kHeader) {
    skipped = std::malloc(first - begin - 2 * kHeader);
  }
  mallopt(M_MMAP_THRESHOLD, 2 * kHugePage);
#endif
}
