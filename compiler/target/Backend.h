//===- Backend.h - LLVM IR to optimized IR to machine code ----------------===//
#ifndef COMPILER_TARGET_BACKEND_H
#define COMPILER_TARGET_BACKEND_H

#include "compiler/machine/Target.h"
#include "compiler/target/StackUse.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace hlo {

/// An LLVM target machine; not to be shared between threads.
/// `ownSections`: every function and every constant gets a section of its own, so that
/// mergeObjects can find equal ones.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, int optLevel,
                                                       bool ownSections = false);

/// Translates a module of the LLVM dialect. Null on failure, which is an internal error.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);

/// Sets the module's triple and data layout, and the attributes of every generated function: CPU,
/// features, vector width, no unwinding; hidden visibility unless `exported`.
void setTarget(llvm::Module &module, llvm::TargetMachine &machine, const Target &target);

/// Optimizes kernels. Emitters vectorize and tile, so this is scalar clean-up, hoisting and full
/// unrolling of short loops, without loop or SLP vectorizer. `thorough`: for functions into which
/// kernels were inlined, where buffers may become variables.
void optimizeKernels(llvm::Module &module, llvm::TargetMachine &machine, int optLevel,
                     bool thorough = false);

/// Inlines calls marked for inlining, in functions of small loops.
void inlineKernels(llvm::Module &module, llvm::TargetMachine &machine);

/// Removes unreferenced local functions and data.
void removeUnused(llvm::Module &module, llvm::TargetMachine &machine);

/// Machine code as an ELF object or as assembly text. `stack`, if given, receives the frame sizes.
llvm::SmallString<0> generateCode(llvm::Module &module, llvm::TargetMachine &machine,
                                  llvm::CodeGenFileType kind, StackUse *stack = nullptr);

} // namespace hlo

#endif
