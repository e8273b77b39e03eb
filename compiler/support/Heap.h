//===- Heap.h - Huge pages for the compiler's heap ------------------------===//
#ifndef COMPILER_SUPPORT_HEAP_H
#define COMPILER_SUPPORT_HEAP_H

namespace hlo {

/// For programs, before they start threads: lets the compiler set up the C library's heap. If
/// `jobs` (0: one per CPU) comes to one thread, all threads share the first heap.
void prepareHeap(unsigned jobs);

/// For each thread that compiles, before it does: its heap grows by 16 MiB at once, in huge pages
/// where the kernel has some. A page fault costs 1.6 us on a virtual machine, and compiling a small
/// module touches 700 pages. Once for a thread; not in programs that have not prepared the heap.
void takeHugePages();

} // namespace hlo

#endif
