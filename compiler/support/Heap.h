//===- Heap.h - Huge pages for the compiler's heap ------------------------===//
#ifndef COMPILER_SUPPORT_HEAP_H
#define COMPILER_SUPPORT_HEAP_H

namespace hlo {

/// For programs, before they start threads: sets malloc options for the compiler. If `jobs` (0: one
/// per CPU) means one thread, all threads share the first heap.
void prepareHeap(unsigned jobs);

/// For each compiling thread, once, before it compiles: the first 48 MiB of its heap are in huge
/// pages if the kernel has some. This avoids page faults (compiling a small module touches 700
/// pages, one of 10,000 instructions 6000; a fault costs more than a microsecond on virtual
/// machines). Needs `prepareHeap` first.
void takeHugePages();

} // namespace hlo

#endif
