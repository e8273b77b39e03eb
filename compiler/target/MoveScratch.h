//===- MoveScratch.h - Large variables leave the stack --------------------===//
#ifndef COMPILER_TARGET_MOVESCRATCH_H
#define COMPILER_TARGET_MOVESCRATCH_H

#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {

/// In functions with kScratchBytes, moves the largest variables to the memory of the last argument
/// until at most kMostVariableBytes remain on the stack. Runs after LLVM's passes, which turn some
/// variables into values and know that variables do not alias.
void moveToScratch(llvm::Module &module);

/// Size of an arena slot for this much scratch memory, header included; 0 for none.
uint64_t slotBytes(uint64_t scratchBytes);

} // namespace hlo

#endif
