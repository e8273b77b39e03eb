//===- StackUse.h - Stack bound of a program ------------------------------===//
#ifndef COMPILER_TARGET_STACKUSE_H
#define COMPILER_TARGET_STACKUSE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {

/// Frame sizes of an object's functions, as LLVM laid them out, and the call graph.
class StackUse {
public:
  /// Records the calls of the module's functions, and makes LLVM report their frames
  /// (DiagnosticInfoStackSize), which go to addFrame.
  void addCalls(llvm::Module &module);
  void addFrame(llvm::StringRef function, uint64_t bytes);
  /// Adds another module's functions. For functions of the same name the larger frame counts.
  void add(const StackUse &other);

  /// A bound on the stack below the caller of `function`, including everything it calls except the
  /// user's functions. An indirect call may call any kernel in `kernels`; the runtime's loops call
  /// task functions.
  uint64_t boundOf(llvm::StringRef function, llvm::ArrayRef<std::string> kernels) const;
  /// The function with the largest frame (the first by name if several); "" and 0 if there is none.
  std::pair<std::string, uint64_t> largest() const;

private:
  class Bounds;
  struct Function {
    uint64_t frame = 0;
    llvm::StringSet<> callees; ///< "" stands for a function known only at run time
  };
  llvm::StringMap<Function> functions;
};

/// True for functions that parallel loops call (EntryLaunch.cpp names them).
bool isTaskFunction(llvm::StringRef name);

} // namespace hlo

#endif
