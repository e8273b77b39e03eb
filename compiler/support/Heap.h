//===- Heap.h - The heap of a process that compiles on one thread ---------===//
#ifndef COMPILER_SUPPORT_HEAP_H
#define COMPILER_SUPPORT_HEAP_H

namespace hlo {

/// For programs, before they start threads: if `jobs` (0: one per CPU) comes to one thread, all
/// threads share the C library's first heap, which then grows in large steps. A page fault costs 2
/// us on a virtual machine, and a small module touches 800 pages.
void prepareHeap(unsigned jobs);

} // namespace hlo

#endif
