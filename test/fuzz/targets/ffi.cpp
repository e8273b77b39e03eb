//===- ffi.cpp - Attributes of typed custom calls -------------------------===//
//
// In: bytes as the backend_config of a custom call. What is accepted becomes constants of a module
// of LLVM, which must verify. As an object has them in memory, they are what a handler may read.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/FfiAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "test/fuzz/targets/Attributes.h"
#include "test/fuzz/targets/FreshContext.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include <map>
#include <memory>

namespace {
/// Constants as the loader puts them into memory, each global with no byte more than it needs.
class Image {
public:
  explicit Image(const llvm::DataLayout &layout) : layout(layout) {}
  char *of(const llvm::GlobalVariable &global) {
    std::unique_ptr<char[]> &memory = globals[&global];
    if (!memory) {
      uint64_t bytes = layout.getTypeAllocSize(global.getValueType());
      memory = std::make_unique<char[]>(bytes);
      write(*global.getInitializer(), memory.get());
    }
    return memory.get();
  }

private:
  void write(const llvm::Constant &constant, char *to) {
    if (auto *global = llvm::dyn_cast<llvm::GlobalVariable>(&constant)) {
      char *target = of(*global);
      std::memcpy(to, &target, sizeof(target));
    } else if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
      std::memcpy(to, number->getValue().getRawData(), number->getBitWidth() / 8);
    } else if (auto *list = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) {
      std::memcpy(to, list->getRawDataValues().data(), list->getRawDataValues().size());
    } else if (auto *record = llvm::dyn_cast<llvm::ConstantStruct>(&constant)) {
      const llvm::StructLayout &offsets = *layout.getStructLayout(record->getType());
      for (unsigned i = 0; i < record->getNumOperands(); ++i) {
        write(*record->getOperand(i), to + offsets.getElementOffset(i));
      }
    } else if (auto *array = llvm::dyn_cast<llvm::ConstantArray>(&constant)) {
      uint64_t step = layout.getTypeAllocSize(array->getType()->getElementType());
      for (unsigned i = 0; i < array->getNumOperands(); ++i) {
        write(*array->getOperand(i), to + i * step);
      }
    } else {
      require(constant.isNullValue());
    }
  }

  const llvm::DataLayout &layout;
  std::map<const llvm::GlobalVariable *, std::unique_ptr<char[]>> globals;
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  // MLIR's own parser recurses without a bound.
  if (text.count('(') + text.count('{') + text.count('[') + text.count('<') > 500) {
    return -1;
  }
  mlir::MLIRContext &context = freshContext<>();
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    ++errors;
    return mlir::success();
  });
  llvm::LLVMContext llvmContext;
  llvm::Module module("fuzz", llvmContext);
  module.setDataLayout("e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128");
  hlo::StaticData constants(module);
  auto made = hlo::makeFfiAttributes(text, mlir::UnknownLoc::get(&context), constants, module);
  // Neither refused without an error, nor a module that is none.
  require(failed(made) ? errors > 0 : !llvm::verifyModule(module));
  auto *global = failed(made) ? nullptr : llvm::dyn_cast<llvm::GlobalVariable>(*made);
  if (global) {
    Image image(module.getDataLayout());
    AttributeReader().read(*reinterpret_cast<const ffi_attributes *>(image.of(*global)));
  }
  return 0;
}
