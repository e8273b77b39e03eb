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
// Sizes that are equal outside of a computation are one value inside of it, so that arrays of equal
// sizes stay so. In a loop this also needs a body that leaves both sizes unchanged, which is
// assumed at first and given up for those where an attempt shows otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Appends a parameter for the size of each dimension in `dims` (of the computation's arguments)
/// and binds them. Call it after all arguments exist.
///
/// `outer`: the operands of the computation, then the sizes. With `isShared(k)`, size k that equals
/// an earlier scalar of `outer` is that parameter, whose number becomes `shared[k]`.
SmallVector<int64_t> addSizeParameters(DynamicPadder &padder, ComputationOp computation,
                                       ArrayRef<DynamicDim> dims, ArrayRef<Value> outer,
                                       llvm::function_ref<bool(size_t)> isShared) {
  Block &body = computation.getBody().front();
  SmallVector<DynamicSizes> own;
  for (BlockArgument argument : body.getArguments()) {
    own.emplace_back(arrayType(argument) ? rankOf(argument) : 0);
  }
  Type s32 = RankedTensorType::get(
      {}, IntegerType::get(computation.getContext(), 32, IntegerType::Signed));
  SmallVector<int64_t> shared(dims.size(), -1);
  size_t before = body.getNumArguments();
  for (auto [k, at] : llvm::enumerate(dims)) {
    Value size = body.addArgument(s32, body.getArgument(at.array).getLoc());
    for (size_t i = 0; i < before + k && isShared(k) && shared[k] < 0; ++i) {
      if (outer[i].getType() == s32 && sameSize(outer[i], outer[before + k])) {
        shared[k] = i;
        size = body.getArgument(i);
      }
    }
    own[at.array][at.dim] = size;
  }
  for (auto [i, sizes] : llvm::enumerate(own)) {
    padder.bind(body.getArgument(i), sizes);
  }
  return shared;
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

/// Binds the results of `op` to the sizes that follow them, or to those that `known` has.
void bindResults(DynamicPadder &padder, Operation *op, ArrayRef<DynamicDim> dims,
                 ArrayRef<Value> known) {
  unsigned count = op->getNumResults() - dims.size();
  SmallVector<DynamicSizes> own;
  for (OpResult result : op->getResults().take_front(count)) {
    own.emplace_back(arrayType(result) ? rankOf(result) : 0);
  }
  for (auto [i, at] : llvm::enumerate(dims)) {
    own[at.array][at.dim] = known[i] ? known[i] : op->getResult(count + i);
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
  SmallVector<Value> operands;
  SmallVector<bool> changes; // the dimension's size, or that of the parameter it shares
  SmallVector<Value> known;  // the size before and after the loop, if the loop does not change it
  auto isShared = [&](size_t k) { return !changes[k]; };
  while (true) {
    operands.assign(op->getOperands().begin(), op->getOperands().end());
    for (DynamicDim at : dims) {
      operands.push_back(sizeOrBound(b, operands[at.array], at.dim));
    }
    changes.resize(dims.size(), false);
    body = context.clone(op.getBodyAttr());
    DynamicPadder inner(context);
    SmallVector<int64_t> shared = addSizeParameters(inner, body, dims, operands, isShared);
    if (failed(inner.run(body))) {
      return failure();
    }
    bool again = merge(dims, inner.dynamicDims(body.getReturn()->getOperands()));
    ValueRange returned = body.getReturn()->getOperands();
    auto keeps = [&](size_t number) { // the body returns scalar `number` as it got it
      Value argument = body.getBody().front().getArgument(number);
      if (number < returned.size()) {
        return returned[number] == argument;
      }
      DynamicDim at = dims[number - returned.size()];
      Value size = inner.sizeOf(returned[at.array], at.dim);
      return size && sameSize(size, argument);
    };
    for (auto [k, source] : llvm::enumerate(shared)) {
      if (source < 0) {
        continue;
      }
      Value size = inner.sizeOf(returned[dims[k].array], dims[k].dim);
      if (!keeps(source) || !size || !sameSize(size, body.getBody().front().getArgument(source))) {
        changes[k] = again = true;
      }
    }
    if (!again) {
      for (size_t k = 0; k < dims.size(); ++k) {
        size_t number = returned.size() + k;
        known.push_back(shared[k] >= 0 || keeps(number) ? operands[number] : Value());
      }
      returnSizes(inner, body, dims);
      break;
    }
    context.symbols.erase(body);
  }
  ComputationOp condition = context.clone(op.getConditionAttr());
  DynamicPadder inner(context);
  addSizeParameters(inner, condition, dims, operands, isShared);
  if (failed(inner.run(condition))) {
    return failure();
  }
  auto made = cast<WhileOp>(withSizes(builder, op, operands, dims));
  made.setBody(body.getSymName());
  made.setCondition(condition.getSymName());
  bindResults(*this, made, dims, known);
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
    addSizeParameters(padders[i], branch, ownDims, own, [](size_t) { return true; });
    if (failed(padders[i].run(branch))) {
      return failure();
    }
    merge(dims, padders[i].dynamicDims(branch.getReturn()->getOperands()));
  }
  // A result's size that every branch takes from an operand of the same value.
  SmallVector<Value> known;
  for (DynamicDim at : dims) {
    Value common;
    bool isKnown = true;
    int64_t first = 1;
    for (auto [padder, branch, count] : llvm::zip(padders, branches, counts)) {
      Value size = padder.sizeOf(branch.getReturn()->getOperand(at.array), at.dim);
      auto argument = dyn_cast_or_null<BlockArgument>(size);
      Value outer = argument && argument.getOwner() == &branch.getBody().front()
                        ? operands[first + argument.getArgNumber()]
                        : Value();
      isKnown &= outer && (!common || sameSize(common, outer));
      common = outer;
      first += count;
    }
    known.push_back(isKnown ? common : Value());
  }
  for (auto [padder, branch] : llvm::zip(padders, branches)) {
    returnSizes(padder, branch, dims);
  }
  auto made = cast<ConditionalOp>(withSizes(builder, op, operands, dims));
  made.setBranchComputationsAttr(builder.getArrayAttr(names));
  made.setBranchOperandCounts(counts);
  bindResults(*this, made, dims, known);
  op->erase();
  return success();
}
