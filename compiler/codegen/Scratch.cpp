//===- Scratch.cpp - Kernels whose variables are too large for a stack ----===//
//
// In: an emitted function. Out: the same, with an argument for scratch memory if its variables are
// large.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Scratch.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/support/Stack.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;

namespace hlo::codegen {

FailureOr<KernelMemory> giveScratch(LLVM::LLVMFuncOp function, bool fixedType) {
  constexpr int64_t line = 64;
  KernelMemory memory;
  DataLayout layout = DataLayout::closest(function);
  Block &start = function.getFunctionBody().front();
  OpBuilder top(&start, start.begin());
  WalkResult result = function.walk([&](LLVM::AllocaOp variable) -> WalkResult {
    std::optional<int64_t> count = constantOf(variable.getArraySize());
    int64_t size = layout.getTypeSize(variable.getElemType()).getFixedValue(), bytes = 0;
    if (!count || llvm::MulOverflow(*count, size, bytes)) {
      return variable.emitError("internal error: a variable of unknown size");
    }
    if (variable->getBlock() != &start) {
      // One variable for all iterations: inside a loop each would grow the stack.
      Value all = LLVM::ConstantOp::create(top, variable.getLoc(), top.getI64IntegerAttr(*count));
      variable.getArraySizeMutable().assign(all);
      variable->moveAfter(all.getDefiningOp());
    }
    memory.variables += llvm::alignTo(bytes, line);
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  if (fixedType || memory.variables <= kMostVariableBytes) {
    return memory;
  }
  memory.scratch = memory.variables;
  Builder b(function.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  unsigned number = function.getNumArguments();
  SmallVector<Type> parameters(function.getArgumentTypes());
  parameters.push_back(pointer);
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(function.getFunctionType().getReturnType(), parameters));
  start.addArgument(pointer, function.getLoc());
  SmallVector<Attribute> attributes(number, b.getDictionaryAttr({}));
  if (ArrayAttr known = function.getArgAttrsAttr()) {
    attributes.assign(known.begin(), known.end());
  }
  attributes.push_back(b.getDictionaryAttr(
      {b.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(line)),
       b.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr()),
       b.getNamedAttr(LLVM::LLVMDialect::getNoCaptureAttrName(), b.getUnitAttr())}));
  function.setArgAttrsAttr(b.getArrayAttr(attributes));
  function.setPassthroughAttr(
      b.getArrayAttr({b.getStrArrayAttr({kScratchBytes, std::to_string(memory.scratch)})}));
  return memory;
}

void takeTable(LLVM::LLVMFuncOp function, int64_t buffers) {
  if (buffers <= kMostPointers) {
    return;
  }
  Block &start = function.getFunctionBody().front();
  Type pointer = LLVM::LLVMPointerType::get(function.getContext());
  Value table = start.insertArgument(0u, pointer, function.getLoc());
  for (int64_t i = 0; i < buffers; ++i) {
    for (OpOperand &use : llvm::make_early_inc_range(start.getArgument(1 + i).getUses())) {
      OpBuilder b(use.getOwner());
      Value place = LLVM::GEPOp::create(b, function.getLoc(), pointer, pointer, table,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(i))});
      // Volatile, because hoisting these loads out of loops would spill all of them.
      use.set(LLVM::LoadOp::create(b, function.getLoc(), pointer, place, /*alignment=*/8,
                                   /*isVolatile=*/true));
    }
  }
  start.eraseArguments(1, buffers);
  function.setFunctionType(LLVM::LLVMFunctionType::get(function.getFunctionType().getReturnType(),
                                                       llvm::to_vector(start.getArgumentTypes())));
  if (ArrayAttr known = function.getArgAttrsAttr()) {
    Builder b(function.getContext());
    SmallVector<Attribute> attributes{b.getDictionaryAttr(
        {b.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr()),
         b.getNamedAttr(LLVM::LLVMDialect::getNoCaptureAttrName(), b.getUnitAttr())})};
    llvm::append_range(attributes, known.getValue().drop_front(buffers));
    function.setArgAttrsAttr(b.getArrayAttr(attributes));
  }
}

} // namespace hlo::codegen
