//===- StackUse.h - How much stack a program needs ------------------------===//
#ifndef COMPILER_TARGET_STACKUSE_H
#define COMPILER_TARGET_STACKUSE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {

/// The frames of an object's functions, as LLVM has laid them out, and who calls whom.
class StackUse {
public:
  /// Notes the calls of the module's functions and asks LLVM to tell their frames
  /// (DiagnosticInfoStackSize), which go to addFrame.
  void addCalls(llvm::Module &module);
  void addFrame(llvm::StringRef function, uint64_t bytes);
  /// Adds what is known of other functions, or of others of these names: the larger frame counts.
  void add(const StackUse &other);

  /// A bound on the stack below the caller of `function`, with all that it calls but what the user
  /// supplies; an indirect call is one of a kernel with a name in `kernels`, and the runtime's
  /// loops call task functions.
  uint64_t boundOf(llvm::StringRef function, llvm::ArrayRef<std::string> kernels) const;
  /// The function with the largest frame, the first of these by name; "" and 0 if there is none.
  std::pair<std::string, uint64_t> largest() const;

private:
  class Bounds;
  struct Function {
    uint64_t frame = 0;
    llvm::StringSet<> callees; ///< "" for a function that is only known at run time
  };
  llvm::StringMap<Function> functions;
};

/// Whether a function of the entry is what a parallel loop calls (EntryLaunch.cpp names them).
bool isTaskFunction(llvm::StringRef name);

} // namespace hlo

#endif
