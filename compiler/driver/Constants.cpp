//===- Constants.cpp - The bytes of a module's constants ------------------===//
//
// In: cpurt.global ops. Out: the bytes of each, and LLVM global variables. MLIR stores elements as
// the ABI does (little-endian, at least one byte each) with two exceptions, which are copied:
// elements of fewer than 8 bits are zero-extended, where the ABI sign-extends signed ones, and pred
// may be packed. All others are used in place.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Constants.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace hlo;

/// Widens elements of fewer than 8 bits to one byte each.
static std::string widenElements(DenseElementsAttr value, bool isSigned) {
  std::string bytes;
  bytes.reserve(value.isSplat() ? 1 : value.getNumElements());
  auto add = [&](const APInt &element) {
    bytes += static_cast<char>(isSigned ? element.getSExtValue() : element.getZExtValue());
  };
  if (value.isSplat()) {
    add(value.getSplatValue<APInt>());
  } else {
    for (APInt element : value.getValues<APInt>()) {
      add(element);
    }
  }
  return bytes;
}

/// Code addresses constants by signed 32-bit offsets; 128 MiB are left for the rest of a program.
static constexpr uint64_t mostConstantBytes = (uint64_t(1) << 31) - (uint64_t(1) << 27);

/// The bytes of one constant; of a single element if it is a splat.
static FailureOr<ArrayRef<char>> bytesOf(cpurt::GlobalOp global, ConstantPool &pool) {
  ElementsAttr value = global.getValue();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      return blob->getData();
    }
    return global.emitError("internal error: constant has no data");
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) {
    return global.emitError("internal error: constant is neither dense nor a resource");
  }
  auto integer = dyn_cast<IntegerType>(dense.getElementType());
  if (integer && integer.getWidth() < 8) {
    return ArrayRef<char>(pool.owned.emplace_back(widenElements(dense, integer.isSigned())));
  }
  return dense.getRawData();
}

LogicalResult hlo::collectConstants(ModuleOp planned, StringRef prefix, ConstantPool &pool) {
  for (auto global : planned.getOps<cpurt::GlobalOp>()) {
    FailureOr<ArrayRef<char>> bytes = bytesOf(global, pool);
    if (failed(bytes)) {
      return failure();
    }
    ConstantData data;
    data.symbol = (prefix + "." + global.getSymName()).str();
    data.alignment = global.getAlignment();
    data.bytes = *bytes;
    data.size = bytes->size();
    auto dense = dyn_cast<DenseElementsAttr>(global.getValue());
    if (dense && dense.isSplat()) {
      data.splat = true;
      data.size = bytes->size() * dense.getNumElements();
    }
    pool.totalBytes += data.size;
    if (pool.totalBytes > mostConstantBytes) {
      return global.emitError("constants of ")
             << pool.totalBytes << " bytes up to this one: an object can hold " << mostConstantBytes
             << "; pass large arrays as parameters";
    }
    pool.symbols[global.getSymName()] = data.symbol;
    pool.data.push_back(std::move(data));
  }
  return success();
}

/// Adds a constant to a module as a global variable.
static void addConstant(const ConstantData &data, llvm::GlobalValue::LinkageTypes linkage,
                        llvm::Module &module) {
  std::string repeated;
  StringRef bytes(data.bytes.data(), data.bytes.size());
  if (data.splat && !bytes.empty()) {
    repeated.reserve(data.size);
    while (repeated.size() < data.size) {
      repeated += bytes;
    }
    bytes = repeated;
  }
  auto *value = llvm::ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, linkage,
                                          value, data.symbol);
  global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  global->setAlignment(llvm::Align(data.alignment));
}

void hlo::addConstants(const ConstantPool &pool, llvm::Module &module) {
  for (const ConstantData &data : pool.data) {
    addConstant(data, llvm::GlobalValue::ExternalLinkage, module);
  }
}

void hlo::addSmallConstants(const ConstantPool &pool, llvm::Module &module) {
  constexpr uint64_t smallBytes = 64;
  for (const ConstantData &data : pool.data) {
    if (data.size <= smallBytes) {
      addConstant(data, llvm::GlobalValue::AvailableExternallyLinkage, module);
    }
  }
}
