//===- Error.cpp - Errors of hlo-run --------------------------------------===//
//
// Defines the ID of the error class for llvm::ErrorInfo, which uses only its address.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"

char hlo::run::RunError::ID = 0;
