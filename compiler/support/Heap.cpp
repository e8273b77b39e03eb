//===- Heap.cpp - The heap of a process that compiles on one thread -------===//
//
// In: the number of compiling threads. Out: settings of glibc's malloc, which it has no other way
// to be told; other C libraries are left alone.
//
// The compiler runs on a thread of its own for its stack. glibc would give that thread an own heap,
// which grows by one call of mprotect for each page. The first heap can grow by megabytes, and
// those can be huge pages: a small module then takes 1 ms less of 10 to 20. Several compiling
// threads must not share a heap: two took half as long again.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Heap.h"
#include "llvm/Support/Threading.h"
#include <cstdint>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

void hlo::prepareHeap(unsigned jobs) {
#ifdef __GLIBC__
  constexpr int64_t grain = 2 << 20, most = 8 * grain;
  if (llvm::hardware_concurrency(jobs).compute_thread_count() > 1) {
    return;
  }
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 2 * grain);
  mallopt(M_TRIM_THRESHOLD, 2 * most);
  mallopt(M_TOP_PAD, most);
  // The heap grows by so much at once: what is taken here is free again, but the heap stays as
  // large. Volatile, as compilers know that nobody uses it.
  void *volatile taken = std::malloc(grain);
  std::free(taken);
  mallopt(M_TOP_PAD, grain);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / grain * grain;
  madvise(reinterpret_cast<void *>(end - most), most, MADV_HUGEPAGE);
#endif
}
