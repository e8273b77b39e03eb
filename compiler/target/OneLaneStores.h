//===- OneLaneStores.h - Masked stores of one lane --------------*- C++ -*-===//
#ifndef HLO_COMPILER_TARGET_ONELANESTORES_H
#define HLO_COMPILER_TARGET_ONELANESTORES_H

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {
/// Makes each masked store whose constant mask has one lane a store of that element.
///
/// LLVM 22 merges a truncation into a masked store, and then writes a single lane in the width
/// from before the truncation: past the element, with AVX-512.
void scalarizeOneLaneStores(llvm::Module &module);
} // namespace hlo

#endif // HLO_COMPILER_TARGET_ONELANESTORES_H
