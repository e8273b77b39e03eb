//===- Print.h - Arrays as text for a person ------------------------------===//
#ifndef TOOLS_HLO_RUN_REPORT_PRINT_H
#define TOOLS_HLO_RUN_REPORT_PRINT_H

#include "llvm/Support/raw_ostream.h"
#include <hlo/rt.h>

namespace hlo::run {

/// Prints a leaf like numpy: nested brackets, aligned columns, only the first and last elements of
/// long dimensions. Every line starts with `indent` spaces.
void printLeaf(llvm::raw_ostream &os, const hlo_buffer_desc &leaf, const char *buffer,
               unsigned indent);

/// "1.5 KiB", "640 bytes".
std::string formatBytes(uint64_t bytes);

} // namespace hlo::run

#endif
