//===- Backend.h - LLVM IR to optimized IR to machine code ----------------===//
#ifndef COMPILER_TARGET_BACKEND_H
#define COMPILER_TARGET_BACKEND_H

#include "compiler/support/Target.h"
#include "compiler/target/StackUse.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace hlo {

/// A machine to compile for; not to be shared between threads.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, int optLevel);

/// Translates a module of the LLVM dialect. Null if that fails; it never should.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);

/// Sets the module's triple and data layout, and the attributes that every generated function has:
/// CPU, features, vector width, no unwinding; hidden visibility unless `exported`.
void setTarget(llvm::Module &module, llvm::TargetMachine &machine, const Target &target);

/// Optimizes kernels. They are vectorized and tiled by construction, so that this is scalar
/// clean-up, hoisting and full unrolling of short loops; no loop or SLP vectorizer. `thorough`: for
/// functions that kernels were inlined into, where buffers may become variables.
void optimizeKernels(llvm::Module &module, llvm::TargetMachine &machine, int optLevel,
                     bool thorough = false);

/// Inlines the calls that ask for it, in functions made of calls of kernels.
void inlineKernels(llvm::Module &module, llvm::TargetMachine &machine);

/// Removes local functions and data that nothing refers to.
void removeUnused(llvm::Module &module, llvm::TargetMachine &machine);

/// Machine code as an ELF object or as assembly text. `stack`, if given, gets the frames.
llvm::SmallString<0> generateCode(llvm::Module &module, llvm::TargetMachine &machine,
                                  llvm::CodeGenFileType kind, StackUse *stack = nullptr);

} // namespace hlo

#endif
