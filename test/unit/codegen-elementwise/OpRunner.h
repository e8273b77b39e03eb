//===- OpRunner.h - Compile one element-wise op and call it ---------------===//
#ifndef TEST_UNIT_CODEGEN_ELEMENTWISE_OPRUNNER_H
#define TEST_UNIT_CODEGEN_ELEMENTWISE_OPRUNNER_H

#include "compiler/codegen/Elementwise.h"
#include "compiler/machine/Target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <string>
#include <vector>

namespace hlo::testing {

/// A loop over arrays of up to three operands, compiled for one target.
class OpRunner {
public:
  /// Emits the body of a function of four pointers and an i64; `module` also holds the MLIR in
  /// `text`.
  using Body = llvm::function_ref<bool(codegen::Emission &, mlir::ModuleOp, mlir::ValueRange)>;
  /// A function in this process, called with run(). Null if `body` returns false.
  static std::unique_ptr<OpRunner> compileBody(const Target &target, llvm::StringRef text,
                                               Body body, std::string *error = nullptr);

  /// Element types as in MLIR: "f32", "si8", "i1", "complex<f64>". `attrs`: a dictionary in MLIR's
  /// syntax. Null if the op is not defined for the types (the error is in *error, if given).
  static std::unique_ptr<OpRunner> compile(llvm::StringRef opcode,
                                           llvm::ArrayRef<std::string> operands,
                                           llvm::StringRef result, int64_t lanes,
                                           const Target &target, llvm::StringRef attrs = "{}",
                                           std::string *error = nullptr);

  /// Runs over `count` elements, a multiple of the lanes.
  void run(llvm::ArrayRef<const void *> operands, void *result, int64_t count) const;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*entry)(const void *, const void *, const void *, void *, int64_t) = nullptr;
};

/// A target by CPU name; "host" is this machine.
Target targetOf(llvm::StringRef cpu);

} // namespace hlo::testing

#endif
