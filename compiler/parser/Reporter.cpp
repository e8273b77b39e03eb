//===- Reporter.cpp - Places and errors of one text -----------------------===//
//
// A table of line starts, built once, maps a position to its line by binary search. Errors go to
// MLIR's diagnostic engine; the last one shown says that there may be more.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Reporter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <cstring>

using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Reporter::Reporter(StringRef buffer, StringRef fileName, MLIRContext *context, unsigned errorLimit)
    : fileName(StringAttr::get(context, fileName)), limit(std::max(errorLimit, 1u)),
      handler(context, [this](Diagnostic &) { return success(muted); }) {
  restart(buffer);
}

void Reporter::restart(StringRef newBuffer) {
  buffer = newBuffer;
  errors = 0;
  muted = false;
  lineStarts.assign(1, 0);
  for (size_t at = buffer.find('\n'); at != StringRef::npos; at = buffer.find('\n', at + 1)) {
    lineStarts.push_back(at + 1);
  }
}

FileLineColLoc Reporter::locate(const char *position) const {
  uint32_t offset = position - buffer.begin();
  auto after = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  unsigned line = after - lineStarts.begin();
  return FileLineColLoc::get(fileName, line, offset - *(after - 1) + 1);
}

InFlightDiagnostic Reporter::error(const char *position) {
  ++errors;
  muted |= isFull();
  InFlightDiagnostic diagnostic = emitError(locate(position));
  if (errors == limit && limit > 1) {
    diagnostic.attachNote() << "this is error " << limit << "; further ones are not shown";
  }
  return diagnostic;
}

InFlightDiagnostic Reporter::silentError(const char *position) {
  muted = true;
  return emitError(locate(position));
}

NearestName::NearestName(StringRef wrong)
    : wrong(wrong), bestDistance(wrong.size() > 200 ? 0 : wrong.size() / 3 + 2) {}

void NearestName::consider(StringRef known) {
  if (bestDistance > 0 && wrong.equals_insensitive(known)) {
    bestDistance = 0;
    best = known.str();
    return;
  }
  size_t difference =
      known.size() > wrong.size() ? known.size() - wrong.size() : wrong.size() - known.size();
  if (difference >= bestDistance) {
    return;
  }
  unsigned distance = wrong.edit_distance(known, /*AllowReplacements=*/true, bestDistance);
  if (distance < bestDistance && distance < wrong.size()) {
    bestDistance = distance;
    best = known.str();
  }
}

std::string NearestName::suggestion() const {
  return best.empty() ? std::string() : "; did you mean '" + best + "'?";
}
