//===- KernelRunner.h - Compile one fusion and call it --------------------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_KERNELRUNNER_H
#define TEST_UNIT_KERNEL_RUNNER_KERNELRUNNER_H

#include "compiler/machine/Target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace hlo::testing {

/// A kernel in memory.
class Kernel {
public:
  /// Compiles the first hlo.fusion of an MLIR module for `target`.
  static llvm::Expected<std::unique_ptr<Kernel>>
  compile(llvm::StringRef moduleText, const Target &target, bool keepAssembly = false);
  /// Runs tasks first <= t < last on operand and result buffers, in order.
  void run(llvm::ArrayRef<void *> buffers, int64_t first, int64_t last) const;
  void run(llvm::ArrayRef<void *> buffers) const { run(buffers, 0, taskCount); }
  int64_t tasks() const { return taskCount; }
  /// Bytes of the object file.
  size_t codeSize() const { return objectBytes; }
  /// Assembly text, if it was asked for.
  const std::string &assembly() const { return text; }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *entry = nullptr;
  int64_t taskCount = 0;
  size_t objectBytes = 0;
  std::string text;
};

} // namespace hlo::testing

#endif
