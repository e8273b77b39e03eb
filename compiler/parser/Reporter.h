//===- Reporter.h - Places and errors of one text -------------------------===//
#ifndef COMPILER_PARSER_REPORTER_H
#define COMPILER_PARSER_REPORTER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace hlo::parser {

/// Maps pointers into a buffer to locations, and counts errors.
class Reporter {
public:
  Reporter(llvm::StringRef buffer, llvm::StringRef fileName, mlir::MLIRContext *context,
           unsigned errorLimit);
  Reporter(const Reporter &) = delete;
  Reporter &operator=(const Reporter &) = delete;

  /// Continues with another buffer of the same file; errors are counted anew.
  void restart(llvm::StringRef newBuffer);

  /// The file, line and column (both from 1) of a position in the buffer.
  mlir::FileLineColLoc locate(const char *position) const;

  /// Opens an error at `position`. Beyond the limit errors are not shown, but the result is still a
  /// failure.
  mlir::InFlightDiagnostic error(const char *position);

  /// An error that is neither counted nor shown, for users of an instruction that had an error of
  /// its own. Until `unmute`, other errors are not shown either.
  mlir::InFlightDiagnostic silentError(const char *position);
  void unmute() { muted = isFull(); }

  /// Shows no more errors.
  void giveUp() {
    errors = limit + 1;
    muted = true;
  }
  /// True if no more errors are shown.
  bool isFull() const { return errors > limit; }
  bool hasErrors() const { return errors > 0; }

private:
  llvm::StringRef buffer;
  mlir::StringAttr fileName;
  std::vector<uint32_t> lineStarts;
  unsigned limit;
  unsigned errors = 0;
  bool muted = false;
  mlir::ScopedDiagnosticHandler handler;
};

/// Finds the known name that is nearest to a mistyped one.
class NearestName {
public:
  explicit NearestName(llvm::StringRef wrong);
  /// Considers one known name.
  void consider(llvm::StringRef known);
  /// `; did you mean 'x'?`, or nothing.
  std::string suggestion() const;

private:
  llvm::StringRef wrong;
  std::string best;
  unsigned bestDistance;
};

} // namespace hlo::parser

#endif
