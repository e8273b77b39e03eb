//===- OneLaneStores.h - Masked stores of one lane --------------*- C++ -*-===//
#ifndef HLO_COMPILER_TARGET_ONELANESTORES_H
#define HLO_COMPILER_TARGET_ONELANESTORES_H

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {
/// Replaces each masked store whose constant mask has exactly one lane by a store of that element.
///
/// Works around a bug of LLVM 22: it merges a truncation into a masked store and then, with
/// AVX-512, stores a single lane in the width before the truncation, past the element.
void scalarizeOneLaneStores(llvm::Module &module);
} // namespace hlo

#endif // HLO_COMPILER_TARGET_ONELANESTORES_H
