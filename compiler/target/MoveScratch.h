//===- MoveScratch.h - Large variables leave the stack --------------------===//
#ifndef COMPILER_TARGET_MOVESCRATCH_H
#define COMPILER_TARGET_MOVESCRATCH_H

#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {

/// In functions with kScratchBytes, moves variables to the memory of the last argument, the largest
/// first, until kMostVariableBytes are left. For after LLVM's passes, which know better what a
/// variable does not alias, and make values of some.
void moveToScratch(llvm::Module &module);

/// Of an arena's slot with so much scratch memory, header included; 0 if there is none.
uint64_t slotBytes(uint64_t scratchBytes);

} // namespace hlo

#endif
