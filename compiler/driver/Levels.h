//===- Levels.h - One object for several CPU levels -----------------------===//
#ifndef COMPILER_DRIVER_LEVELS_H
#define COMPILER_DRIVER_LEVELS_H

#include "compiler/driver/CodeGeneration.h"

namespace hlo {

/// The code of a module for one CPU level: objects that define SYMBOLS.desc and
/// SYMBOLS_run_buffers.
struct LevelCode {
  std::string symbols; ///< Signature::symbols
  Target target;
  Description description;
  ConstantPool constants; ///< its bytes live as long as the context
  std::vector<ObjectCode> objects;
  uint64_t cpuFeatures = 0;
  LevelKernels kernels;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< which has the ops of the kernels
};

/// Why options with several CPU levels cannot be followed; empty if they can.
std::string dispatchFault(const CompileOptions &options);

/// The levels of a list of names, as --cpu takes them; empty for an empty list. Errors: an unknown
/// CPU; two levels with the same features; one that comes after another that has all its features,
/// which would never be chosen.
llvm::Expected<std::vector<Target>>
describeLevels(llvm::ArrayRef<std::string> names, llvm::StringRef features, llvm::StringRef triple);

/// What the object's own description says: the most of what its levels need. `levels` is not empty;
/// `flags` are those of the whole object.
Description describeAll(llvm::ArrayRef<Description> levels, std::string flags);

/// Merges the levels to one object, in which equal functions, tables and constants are there once.
/// `signature` is that of the module without levels, `description` what describeAll returns.
llvm::Expected<std::string> mergeLevels(llvm::MutableArrayRef<LevelCode> levels,
                                        const Signature &signature, Description description);

} // namespace hlo

#endif
