//===- EntryPack.cpp - Arrays between dense and bound strides -------------===//
//
// In: cpurt.call "unpack" or "pack" of an array that is dense for sizes known at run time, and of
// one with the strides of a constant shape. Out: a loop over the rows, one memcpy each:
//
//     L: the last dimension whose size is in a buffer; a row is size[L] times what follows it
//     for r < size[0] * ... * size[L-1]:
//       copy a row between dense + r * row and box + (indices of r) . strides
//
//===----------------------------------------------------------------------===//
#include "compiler/target/entry/EntryBuilder.h"
#include "dialect/hlo/Shapes.h"

using namespace hlo;
using llvm::BasicBlock;

mlir::LogicalResult EntryBuilder::emitPack(cpurt::CallOp call) {
  bool unpacks = call.getKind() == "unpack";
  mlir::ArrayAttr types = unpacks ? call.getResultTypes() : call.getOperandTypes();
  auto box = mlir::cast<mlir::RankedTensorType>(mlir::cast<mlir::TypeAttr>(types[0]).getValue());
  auto dims = call.getConfig().getAs<mlir::DenseI64ArrayAttr>("dims");
  llvm::SmallVector<llvm::Value *> buffers;
  for (mlir::Value buffer : call.getBuffers()) {
    buffers.push_back(address(buffer));
    if (!buffers.back()) {
      return mlir::failure();
    }
  }
  if (!dims || dims.empty() || buffers.size() != static_cast<size_t>(dims.size()) + 2) {
    return call.emitError("internal error: a pack without a size for each dimension");
  }
  llvm::SmallVector<llvm::Value *> sizes;
  for (int64_t size : box.getShape()) {
    sizes.push_back(b.getInt64(size));
  }
  int64_t last = 0;
  for (auto [k, dim] : llvm::enumerate(dims.asArrayRef())) {
    llvm::Value *size = b.CreateLoad(i64, buffers[1 + k]);
    size = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, b.getInt64(0));
    sizes[dim] = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, size, sizes[dim]);
    last = std::max(last, dim);
  }
  int64_t bytes = elementBytes(box.getElementType());
  for (int64_t size : box.getShape().drop_front(last + 1)) {
    bytes *= size;
  }
  llvm::Value *row = b.CreateMul(sizes[last], b.getInt64(bytes)), *rows = b.getInt64(1);
  for (llvm::Value *size : llvm::ArrayRef(sizes).take_front(last)) {
    rows = b.CreateMul(rows, size);
  }
  BasicBlock *start = b.GetInsertBlock(), *loop = newBlock("row"), *next = newBlock("");
  b.CreateCondBr(b.CreateICmpSGT(rows, b.getInt64(0)), loop, next);
  b.SetInsertPoint(loop);
  llvm::PHINode *number = b.CreatePHI(i64, 2);
  number->addIncoming(b.getInt64(0), start);
  llvm::Value *rest = number, *offset = b.getInt64(0);
  int64_t stride = bytes * box.getDimSize(last);
  for (int64_t dim = last; dim-- > 0; stride *= box.getDimSize(dim)) {
    llvm::Value *index = dim == 0 ? rest : b.CreateURem(rest, sizes[dim]);
    rest = dim == 0 ? rest : b.CreateUDiv(rest, sizes[dim]);
    offset = b.CreateAdd(offset, b.CreateMul(index, b.getInt64(stride)));
  }
  llvm::Value *dense =
      b.CreatePtrAdd(unpacks ? buffers.front() : buffers.back(), b.CreateMul(number, row));
  llvm::Value *strided = b.CreatePtrAdd(unpacks ? buffers.back() : buffers.front(), offset);
  b.CreateMemCpy(unpacks ? strided : dense, llvm::MaybeAlign(1), unpacks ? dense : strided,
                 llvm::MaybeAlign(1), row);
  llvm::Value *following = b.CreateAdd(number, b.getInt64(1));
  number->addIncoming(following, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(following, rows), loop, next);
  b.SetInsertPoint(next);
  if (auto found = in.operations.others.find(call); found != in.operations.others.end()) {
    count(found->second, in.operations.rows[found->second].bytes);
  }
  return mlir::success();
}
