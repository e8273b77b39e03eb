//===- Stack.h - Stack limits of generated code ---------------------------===//
//
// A host runs models on threads with stacks of any size, so frames must be small. Large variables
// of a kernel go to scratch memory: a slot of the arena that a chunk of the kernel's tasks holds
// while it runs (runtime/abi/hlo/generated.h). codegen/Scratch decides which kernels get scratch
// memory, target/MoveScratch moves the variables there.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_STACK_H
#define COMPILER_SUPPORT_STACK_H

#include <cstdint>

namespace hlo {

/// Largest frame of any function of an object (tested by test/stack).
constexpr int64_t kMostFrameBytes = 16384;
/// Bytes of variables that a function without scratch memory may have; the rest of its frame is for
/// spilled registers.
constexpr int64_t kMostVariableBytes = 8192;
/// Most pointers that are passed as arguments or in an array on the stack. A function with more
/// buffers gets one pointer to a table; the entry keeps such tables in the arena.
constexpr int64_t kMostPointers = 512;
/// Attribute of a function whose last argument is scratch memory: its size in bytes.
constexpr const char *kScratchBytes = "hlo-scratch-bytes";
/// Stack of the runtime's functions between two functions of an object, of the C library functions
/// that both call, and of the dynamic linker when it binds these at their first call (it saves all
/// vector registers).
constexpr int64_t kRuntimeStackBytes = 8192;
/// Stack of the runtime's collectives: partial results of L1 size, and tables.
constexpr int64_t kCollectiveStackBytes = 16384;

} // namespace hlo

#endif
