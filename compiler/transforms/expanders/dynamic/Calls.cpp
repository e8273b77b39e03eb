//===- Calls.cpp - Arrays of bounded size through custom calls ------------===//
//
// Routines of LAPACK work on each matrix of a batch: those beyond the size are identities, which
// every routine takes. Of some the result for a leading block is the leading block of the result
// for diag(block, identity): there the matrices may have bounded size too.
//
// PadToStatic returns an array and its sizes, SliceToDynamic joins them. SetBound gives a compiler
// an assumption about the array, and returns the array unchanged.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/BatchedCall.h"
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

/// Identities of the type's last two dimensions; zeros of an array without two behind `batch`.
static Value identities(HloBuilder &b, Value like, int64_t batch) {
  ArrayRef<int64_t> shape = shapeOf(like);
  int64_t rank = shape.size();
  if (rank - batch != 2) {
    return b.broadcastScalar(b.scalar(elementTypeOf(like), 0), shape);
  }
  RankedTensorType indices = HloBuilder::array(shape, elementTypeOf(b.index(0)));
  return b.convert(b.compare(b.iota(indices, rank - 2), b.iota(indices, rank - 1), "EQ"),
                   elementTypeOf(like));
}

LogicalResult DynamicPadder::visitBatched(CustomCallOp op, const BatchedCall &call) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  bool isSolve = call.routine == "trsm", isFactor = call.routine == "potrf";
  bool isPivoted = call.routine == "getrf";
  Value matrix = op.getOperand(0);
  int64_t rank = rankOf(matrix), along = call.left ? rank - 2 : rank - 1;
  DynamicSizes batch(call.batch), own = sizesOf(matrix);
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    for (auto [dim, size] : llvm::enumerate(sizesOf(operand))) {
      if (size && dim < batch.size()) {
        batch[dim] = batch[dim] ? batch[dim] : size;
      } else if (size && !isSolve && !isFactor && !(isPivoted && i == 0)) {
        return refuse(op, "target '" + op.getCustomCallTarget() + "' works on dimension " +
                              Twine(dim) + " of operand " + Twine(i));
      }
    }
  }
  if (isPivoted && bool(own[rank - 2]) + bool(own[rank - 1]) != 0 &&
      !(own[rank - 2] && own[rank - 1] && sameSize(own[rank - 2], own[rank - 1]))) {
    return refuse(op, "target '" + op.getCustomCallTarget() + "' of matrices that are not square");
  }
  Value size = call.inner == 2 ? (own[rank - 2] ? own[rank - 2] : own[rank - 1]) : Value();
  if (isSolve && !size) {
    size = sizeOf(op.getOperand(1), along);
  }
  if (isSolve && size) { // the other operand may be the one whose size is known
    DynamicSizes both = own;
    both[rank - 2] = both[rank - 1] = size;
    sizes[matrix] = both;
  }
  DynamicSizes unknowns = isSolve ? sizesOf(op.getOperand(1)) : DynamicSizes();
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    Value x = operand.get(), plain = x;
    ArrayRef<int64_t> shape = shapeOf(x);
    Type index = elementTypeOf(b.index(0));
    auto keep = [&](int64_t dim, Value bound, Value fill) {
      Value inside = b.compare(b.iota(HloBuilder::array(shape, index), dim),
                               b.broadcastScalar(bound, shape), "LT");
      plain = b.select(inside, plain, fill);
    };
    if (size && i == 0) {
      plain = withIdentityBeyond(b, x);
    } else if (size && isSolve) {
      keep(along, size, b.broadcastScalar(b.scalar(elementTypeOf(x), 0), shape));
    }
    for (auto [dim, bound] : llvm::enumerate(batch)) {
      if (bound) {
        keep(dim, bound, i == 0 ? identities(b, x, call.batch) : identities(b, x, rankOf(x)));
      }
    }
    operand.set(plain);
  }
  changeCallTypes(op, [](Type type, bool, unsigned) { return withoutDynamicBits(type); });
  for (OpResult result : op->getResults()) {
    DynamicSizes made(batch);
    made.resize(rankOf(result));
    if (isSolve) {
      made[rank - 2] = unknowns[rank - 2];
      made[rank - 1] = unknowns[rank - 1];
      made[along] = size;
    } else if (size && rankOf(result) > call.batch) { // the factor and the pivots
      std::fill(made.begin() + call.batch, made.end(), size);
    }
    bind(result, made);
  }
  return success();
}

LogicalResult DynamicPadder::visitCustomCall(CustomCallOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  StringRef target = op.getCustomCallTarget();
  if (op->hasAttr("hlo.spmd")) { // a marker of phase partition: the same array
    return passOn(op);
  }
  if (target == "PadToStatic" && op.getNumOperands() == 1) {
    Value array = op.getOperand(0);
    int64_t rank = rankOf(array);
    if (op->getNumResults() != rank + 1) {
      return op.emitError("custom call PadToStatic: expected 1 array and ")
             << rank << " sizes, got " << op->getNumResults() << " results";
    }
    op->getResult(0).replaceAllUsesWith(
        b.copy(array, withoutDynamicBits(op->getResult(0).getType())));
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value result = op->getResult(dim + 1);
      result.replaceAllUsesWith(b.convert(sizeOrBound(b, array, dim), elementTypeOf(result)));
    }
    op.erase();
    return success();
  }
  if (target == "SetBound" && op.getNumOperands() == 2 && op->getNumResults() == 1 &&
      shapeOf(op.getOperand(0)) == shapeOf(op->getResult(0))) {
    Value copy = b.copy(op.getOperand(0), withoutDynamicBits(op->getResult(0).getType()));
    op->getResult(0).replaceAllUsesWith(copy);
    bind(copy, sizesOf(op.getOperand(0)));
    op.erase();
    return success();
  }
  if (target == "SliceToDynamic") {
    Value array = op.getNumOperands() ? op.getOperand(0) : Value();
    if (!array || op->getNumResults() != 1 || op.getNumOperands() != rankOf(array) + 1) {
      return op.emitError("custom call SliceToDynamic: expected 1 array and ")
             << (array ? rankOf(array) : 0) << " sizes, got " << op.getNumOperands() << " operands";
    }
    Type type = op->getResult(0).getType();
    Value copy = b.copy(array, withoutDynamicBits(type));
    DynamicSizes own(rankOf(copy));
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (isDynamicDim(type, dim)) {
        own[dim] = b.convert(op.getOperand(dim + 1), builder.getIntegerType(32, true));
      }
    }
    op->getResult(0).replaceAllUsesWith(copy);
    bind(copy, own);
    op.erase();
    return success();
  }
  bool dynamic = llvm::any_of(op.getOperands(), [&](Value v) { return isDynamic(v); }) ||
                 llvm::any_of(op->getResultTypes(), hasDynamicBit);
  if (!dynamic) {
    return success();
  }
  std::optional<BatchedCall> batched = BatchedCall::get(op);
  return batched ? visitBatched(op, *batched) : refuse(op, "target '" + target + "'");
}
