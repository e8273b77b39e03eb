//===- Constants.h - The bytes of a module's constants --------------------===//
#ifndef COMPILER_DRIVER_CONSTANTS_H
#define COMPILER_DRIVER_CONSTANTS_H

#include "compiler/target/ObjectMerge.h"
#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace llvm {
class Module;
} // namespace llvm

namespace hlo {

/// The constants of a planned module, in their memory format (compiler/README.md, "How elements are
/// held"). `data` points into the IR, or into `owned` for constants that had to be converted.
struct ConstantPool {
  std::vector<ConstantData> data;
  llvm::StringMap<std::string> symbols; ///< name of the cpurt.global -> symbol
  uint64_t totalBytes = 0;
  std::deque<std::string> owned;
};

/// Collects all cpurt.globals; symbols start with `prefix`.
mlir::LogicalResult collectConstants(mlir::ModuleOp planned, llvm::StringRef prefix,
                                     ConstantPool &pool);

/// Defines all constants in a module, for output as one LLVM module.
void addConstants(const ConstantPool &pool, llvm::Module &module);
/// Gives a module the values of the small constants, defined elsewhere, so that it can fold them.
void addSmallConstants(const ConstantPool &pool, llvm::Module &module);

} // namespace hlo

#endif
