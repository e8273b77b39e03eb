//===- StaticData.h - Read-only data of an object -------------------------===//
#ifndef COMPILER_TARGET_STATICDATA_H
#define COMPILER_TARGET_STATICDATA_H

#include "compiler/target/Signature.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hlo {

/// Makes constants of one LLVM module in the layouts asserted in runtime/abi/hlo/generated.h.
class StaticData {
public:
  /// `shares`: equal constants become one variable, because thousands of calls have the same types.
  explicit StaticData(llvm::Module &module, bool shares = false)
      : module(module), b(module.getContext()), shares(shares) {}

  /// A pointer to the text, NUL-terminated.
  llvm::Constant *string(llvm::StringRef text);
  /// A pointer to an array of i64; null if it is empty.
  llvm::Constant *numbers(llvm::ArrayRef<int64_t> values);
  /// A pointer to an array of pointers; null if it is empty.
  llvm::Constant *pointers(llvm::ArrayRef<llvm::Constant *> values);
  /// A pointer to an array of hlo_buffer_desc; null if it is empty.
  /// `mesh`: of the shardings of the leaves.
  llvm::Constant *buffers(llvm::ArrayRef<Leaf> leaves, const MeshAxes &mesh = {});
  /// A pointer to a null-terminated array of strings; null if it is empty.
  llvm::Constant *names(llvm::ArrayRef<std::string> list);
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(b.getPtrTy()); }
  llvm::Constant *i32(uint32_t value) { return b.getInt32(value); }
  llvm::Constant *i64(uint64_t value) { return b.getInt64(value); }
  /// A private constant. It may be shared: changing it changes it for all users.
  llvm::GlobalVariable *global(llvm::Constant *value);
  /// A struct.
  llvm::Constant *record(llvm::ArrayRef<llvm::Constant *> fields);

private:
  llvm::Module &module;
  llvm::IRBuilder<> b;
  bool shares;
  llvm::DenseMap<llvm::Constant *, llvm::GlobalVariable *> known; ///< by value, if shared
};

} // namespace hlo

#endif
