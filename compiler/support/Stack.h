//===- Stack.h - What generated code may have on the stack ----------------===//
//
// A host runs models on threads of any size, so that frames are small: large variables of a kernel
// are scratch memory, a slot of the arena that a chunk of its tasks holds while it runs
// (runtime/abi/hlo/generated.h). codegen/Scratch decides which kernels get one, target/MoveScratch
// moves the variables.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_STACK_H
#define COMPILER_SUPPORT_STACK_H

#include <cstdint>

namespace hlo {

/// No function of an object has a larger frame (test/stack).
constexpr int64_t kMostFrameBytes = 16384;
/// Variables of a function without scratch memory; the rest of a frame is for spilled registers.
constexpr int64_t kMostVariableBytes = 8192;
/// Pointers that are passed as arguments, or in an array on the stack. A function of more buffers
/// gets a table of them, and an entry with such tables has them in the arena.
constexpr int64_t kMostPointers = 512;
/// Attribute of a function whose last argument is scratch memory: how many bytes.
constexpr const char *kScratchBytes = "hlo-scratch-bytes";
/// The runtime's functions between two of an object, the C library's that both call, and what the
/// dynamic linker needs to bind these at their first call (it saves all vector registers).
constexpr int64_t kRuntimeStackBytes = 8192;
/// The runtime's collectives: partial results that stay in the first level of cache, and tables.
constexpr int64_t kCollectiveStackBytes = 16384;

} // namespace hlo

#endif
