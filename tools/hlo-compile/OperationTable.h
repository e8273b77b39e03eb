//===- OperationTable.h - What --list-ops prints ---------------*- C++ -*-===//
//
// The page of operations and element types, which test/optable writes from the
// cells that it ran, as it was when this program was built.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_COMPILE_OPERATIONTABLE_H
#define TOOLS_HLO_COMPILE_OPERATIONTABLE_H

namespace hlo::tool {

/// The text of operations.txt.
extern const char *const operationTable;

} // namespace hlo::tool

#endif
