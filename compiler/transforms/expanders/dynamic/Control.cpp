//===- Control.cpp - Arrays of bounded size through loops, branches -------===//
//
// The size of each dynamic dimension of a carry becomes another carry:
//
//   x = while(x0)                ->  x, n = while(x0, n0), condition(x, n), body(x, n)
//   r = conditional(p, x, y)     ->  r, m = conditional(p, x, n, y)
//
// A dimension that becomes dynamic only in the body starts with its bound. Rewriting the body shows
// which dimensions these are, so a loop may need a second attempt with more carries. Each attempt
// works on fresh copies of the computations.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Appends a parameter for the size of each dimension in `dims` (of the computation's arguments)
/// and binds them. Call it after all arguments exist.
void addSizeParameters(DynamicPadder &padder, ComputationOp computation,
                       ArrayRef<DynamicDim> dims) {
  Block &body = computation.getBody().front();
  SmallVector<DynamicSizes> own;
  for (BlockArgument argument : body.getArguments()) {
    own.emplace_back(arrayType(argument) ? rankOf(argument) : 0);
  }
  Type s32 = RankedTensorType::get(
      {}, IntegerType::get(computation.getContext(), 32, IntegerType::Signed));
  for (DynamicDim at : dims) {
    own[at.array][at.dim] = body.addArgument(s32, body.getArgument(at.array).getLoc());
  }
  for (auto [i, sizes] : llvm::enumerate(own)) {
    padder.bind(body.getArgument(i), sizes);
  }
}

/// Appends the sizes of `dims`, dimensions of the returned values, to the returned values.
void returnSizes(const DynamicPadder &padder, ComputationOp computation,
                 ArrayRef<DynamicDim> dims) {
  Operation *root = computation.getReturn();
  OpBuilder builder(root);
  HloBuilder b(builder, root->getLoc());
  SmallVector<Value> values(root->getOperands());
  for (DynamicDim at : dims) {
    values.push_back(padder.sizeOrBound(b, values[at.array], at.dim));
  }
  root->setOperands(values);
  updateFunctionType(computation);
}

/// Adds the dimensions of `more` that `dims` lacks; returns true if there are any.
bool merge(SmallVectorImpl<DynamicDim> &dims, ArrayRef<DynamicDim> more) {
  size_t before = dims.size();
  for (DynamicDim at : more) {
    if (!llvm::is_contained(dims, at)) {
      dims.push_back(at);
    }
  }
  return dims.size() != before;
}

/// `op` with other operands and an additional s32[] result for each dimension in `dims`. Replaces
/// the results of `op`, which the caller erases.
Operation *withSizes(OpBuilder &builder, Operation *op, ValueRange operands,
                     ArrayRef<DynamicDim> dims) {
  SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), withoutDynamicBits);
  types.append(dims.size(), RankedTensorType::get({}, builder.getIntegerType(32, true)));
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  Operation *made = builder.create(state);
  op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
  return made;
}

/// Binds the results of `op` to the sizes that follow them.
void bindResults(DynamicPadder &padder, Operation *op, ArrayRef<DynamicDim> dims) {
  unsigned count = op->getNumResults() - dims.size();
  SmallVector<DynamicSizes> own;
  for (OpResult result : op->getResults().take_front(count)) {
    own.emplace_back(arrayType(result) ? rankOf(result) : 0);
  }
  for (auto [i, at] : llvm::enumerate(dims)) {
    own[at.array][at.dim] = op->getResult(count + i);
  }
  for (auto [i, sizes] : llvm::enumerate(own)) {
    padder.bind(op->getResult(i), sizes);
  }
}

} // namespace

LogicalResult DynamicPadder::visitWhile(WhileOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  SmallVector<DynamicDim> dims = dynamicDims(op->getOperands());
  ComputationOp body;
  while (true) {
    body = context.clone(op.getBodyAttr());
    DynamicPadder inner(context);
    addSizeParameters(inner, body, dims);
    if (failed(inner.run(body))) {
      return failure();
    }
    if (!merge(dims, inner.dynamicDims(body.getReturn()->getOperands()))) {
      returnSizes(inner, body, dims);
      break;
    }
    context.symbols.erase(body);
  }
  ComputationOp condition = context.clone(op.getConditionAttr());
  DynamicPadder inner(context);
  addSizeParameters(inner, condition, dims);
  if (failed(inner.run(condition))) {
    return failure();
  }
  SmallVector<Value> operands(op->getOperands());
  for (DynamicDim at : dims) {
    operands.push_back(sizeOrBound(b, operands[at.array], at.dim));
  }
  auto made = cast<WhileOp>(withSizes(builder, op, operands, dims));
  made.setBody(body.getSymName());
  made.setCondition(condition.getSymName());
  bindResults(*this, made, dims);
  op->erase();
  return success();
}

LogicalResult DynamicPadder::visitConditional(ConditionalOp op) {
  OpBuilder builder(op);
  SmallVector<Attribute> names;
  SmallVector<DynamicDim> dims;
  SmallVector<ComputationOp> branches;
  std::vector<DynamicPadder> padders(op.getBranchComputations().size(), DynamicPadder(context));
  SmallVector<Value> operands{op.getSelector()};
  SmallVector<int64_t> counts;
  size_t next = 1;
  for (auto [i, name] : llvm::enumerate(op.getBranchComputations())) {
    ComputationOp branch = context.clone(cast<FlatSymbolRefAttr>(name));
    branches.push_back(branch);
    names.push_back(FlatSymbolRefAttr::get(branch.getSymNameAttr()));
    SmallVector<Value> own(op->getOperands().slice(next, branch.getArgumentTypes().size()));
    next += own.size();
    SmallVector<DynamicDim> ownDims = dynamicDims(own);
    for (DynamicDim at : ownDims) {
      own.push_back(sizeOf(own[at.array], at.dim));
    }
    counts.push_back(own.size());
    operands.append(own);
    addSizeParameters(padders[i], branch, ownDims);
    if (failed(padders[i].run(branch))) {
      return failure();
    }
    merge(dims, padders[i].dynamicDims(branch.getReturn()->getOperands()));
  }
  for (auto [padder, branch] : llvm::zip(padders, branches)) {
    returnSizes(padder, branch, dims);
  }
  auto made = cast<ConditionalOp>(withSizes(builder, op, operands, dims));
  made.setBranchComputationsAttr(builder.getArrayAttr(names));
  made.setBranchOperandCounts(counts);
  bindResults(*this, made, dims);
  op->erase();
  return success();
}
