//===- Explain.h - The text of --explain ------------------------*- C++ -*-===//
//
// Messages end in a label, `[dot_c4]`, that names a constraint of an opcode or of the module. For
// each label there is an instruction that violates the constraint and a valid one.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_COMPILE_EXPLAIN_H
#define TOOLS_HLO_COMPILE_EXPLAIN_H

#include "llvm/ADT/StringRef.h"

namespace hlo::tool {

/// The text of explanations.txt, which test/error/ops/labels.py writes from the tests'
/// expectations: `== VALID INSTRUCTION` per opcode, then per label a line with the label, one with
/// a message and, if a single instruction shows it, one with that.
extern const char *const explanations[2];

/// Prints the explanation of a label; returns an exit code.
int explain(llvm::StringRef label);

} // namespace hlo::tool

#endif
