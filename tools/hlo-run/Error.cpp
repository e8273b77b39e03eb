//===- Error.cpp - Errors of hlo-run --------------------------------------===//
//
// Holds the identity of the error class, as llvm::ErrorInfo wants it; its address
// is what counts, so it is no state.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"

char hlo::run::RunError::ID = 0;
