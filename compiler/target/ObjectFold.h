//===- ObjectFold.h - Equal sections of several objects -------------------===//
#ifndef COMPILER_TARGET_OBJECTFOLD_H
#define COMPILER_TARGET_OBJECTFOLD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace hlo {

/// A section: number of the object, and of the section in it.
using SectionId = std::pair<unsigned, unsigned>;

/// For each section of each object the first one that can stand in for it: read-only, with the same
/// bytes, and with relocations to the same imported functions, constants and sections that can
/// stand in for each other. A section that has no such is its own.
///
/// Sections are compared as wholes, so objects should have one for each function and constant
/// (makeTargetMachine). `sameSymbol` maps a symbol that no object defines to the one that counts in
/// its place; symbols without an entry count for themselves.
llvm::Expected<std::vector<std::vector<SectionId>>>
findEqualSections(llvm::ArrayRef<llvm::StringRef> objects,
                  const llvm::StringMap<std::string> &sameSymbol);

} // namespace hlo

#endif
