//===- ParameterNames.cpp - Users' names of parameters --------------------===//
//
// In: a parameter's name in the text, and a name that a user wrote. Out: whether they match. Used
// for --immutable-params, for the members of C structs, and for the arrays of hlo-run's files.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/ParameterNames.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

StringRef hlo::withoutNumber(StringRef name) {
  auto [start, number] = name.rsplit('.');
  bool isNumber = !number.empty() && all_of(number, isDigit);
  return isNumber && !start.empty() ? start : name;
}

std::string hlo::jaxPath(StringRef name) {
  SmallVector<StringRef> steps;
  withoutNumber(name).split(steps, "__", /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string path;
  for (StringRef step : steps) {
    // `layers[0]['w']` has three underscores between 0 and w.
    step = step.trim('_');
    if (!step.empty()) {
      path += (path.empty() ? "" : "/") + step.str();
    }
  }
  return path;
}

/// `pattern` compiled; nothing if it is malformed or has no wildcard.
static std::optional<GlobPattern> globOf(StringRef pattern) {
  if (pattern.find_first_of("*?[") == StringRef::npos) {
    return std::nullopt;
  }
  Expected<GlobPattern> glob = GlobPattern::create(pattern);
  if (!glob) {
    consumeError(glob.takeError());
    return std::nullopt;
  }
  return std::move(*glob);
}

bool hlo::matchesGlob(StringRef pattern, StringRef name) {
  std::optional<GlobPattern> glob = globOf(pattern);
  return glob && glob->match(name);
}

bool hlo::matchesPath(StringRef pattern, StringRef name) {
  if (!pattern.contains('/')) {
    return false;
  }
  std::optional<GlobPattern> glob = globOf(pattern);
  std::string whole = jaxPath(name);
  StringRef path = whole;
  while (!path.empty()) {
    if (glob ? glob->match(path) : path == pattern) {
      return true;
    }
    path = path.split('/').second;
  }
  return false;
}

std::string hlo::firstNames(ArrayRef<std::string> names) {
  constexpr size_t shown = 20;
  std::string text = join(names.take_front(shown), ", ");
  return names.size() > shown ? text + " and " + std::to_string(names.size() - shown) + " more"
                              : text;
}
