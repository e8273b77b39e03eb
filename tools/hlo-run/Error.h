//===- Error.h - Errors of hlo-run and their exit codes -------------------===//
#ifndef TOOLS_HLO_RUN_ERROR_H
#define TOOLS_HLO_RUN_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <system_error>

namespace hlo::run {

/// The tools' common exit codes, as far as hlo-run uses them.
enum ExitCode : int {
  ExitDone = 0,
  ExitInput = 1,       ///< the HLO text or an array file is wrong
  ExitUsage = 2,       ///< a flag
  ExitFile = 3,        ///< a file cannot be read or written
  ExitUnsupported = 4, ///< valid, but not supported by this version
  ExitLimit = 5,       ///< a bound of the compilation (--max-...)
  ExitRun = 6,         ///< the program returned an error status
  ExitTimeout = 7,     ///< --timeout passed
  ExitInternal = 70    ///< our own fault
};

/// A message for the user and its exit code.
class RunError : public llvm::ErrorInfo<RunError> {
public:
  static char ID;
  RunError(int exitCode, std::string message) : exitCode(exitCode), text(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  int getExitCode() const { return exitCode; }
  const std::string &getText() const { return text; }

private:
  int exitCode;
  std::string text;
};

inline llvm::Error makeError(int exitCode, const llvm::Twine &message) {
  return llvm::make_error<RunError>(exitCode, message.str());
}

} // namespace hlo::run

#endif
