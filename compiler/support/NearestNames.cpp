//===- NearestNames.cpp - Which known names a wrong one is near to --------===//
//
// In: a name that nothing has, and those that something has. Out: the end of an error message, with
// the known names that take the fewest edits; a third of a name's letters at most.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/NearestNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

std::string hlo::nearestNames(StringRef name, ArrayRef<StringRef> known) {
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  unsigned limit = std::max<size_t>(2, name.size() / 3);
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    if (distance <= limit) {
      ranked.emplace_back(distance, candidate);
    }
  }
  llvm::sort(ranked);
  std::string text;
  for (const auto &[distance, candidate] : ArrayRef(ranked).take_front(3)) {
    text += (text.empty() ? "; did you mean '" : ", '") + candidate.str() + "'";
  }
  return text.empty() ? text : text + "?";
}
