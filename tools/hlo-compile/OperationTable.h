//===- OperationTable.h - The text of --list-ops ----------------*- C++ -*-===//
//
// The table of operations and element types, written by test/optable from the cells that it ran, as
// of the time this program was built.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_COMPILE_OPERATIONTABLE_H
#define TOOLS_HLO_COMPILE_OPERATIONTABLE_H

namespace hlo::tool {

/// The text of operations.txt.
extern const char *const operationTable;

} // namespace hlo::tool

#endif
