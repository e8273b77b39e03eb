//===- LlvmFlags.h - Which flags of LLVM a tool has -----------------------===//
#ifndef TOOLS_LIMITS_LLVMFLAGS_H
#define TOOLS_LIMITS_LLVMFLAGS_H

namespace hlo::tool {

/// Removes every flag registered so far but --help, its variants and --version. LLVM's libraries
/// register hundreds. A tool's contract does not cover them: they change the object, open files,
/// or end the process. To be called before a tool's own flags exist.
void removeLlvmFlags();

} // namespace hlo::tool

#endif
