//===- Compute.cpp - Computations on arrays of bounded size ---------------===//
//
// Rules for computations on arrays of bounded size:
//
//   reduce                 the computation's identity beyond the size
//   dot                    contracted dimensions: zeros beyond the size, on both sides
//   sort                   elements beyond the size go last; topk likewise
//   batch-norm             statistics over the true number of elements
//   cholesky,              the matrix is extended by the identity, which does not change the
//     triangular-solve     result inside the size
//   fft                    not along a dynamic dimension
//   collectives            of one rank: as they are
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/SortOrder.h"
#include "compiler/transforms/expanders/dynamic/Padder.h"
#include "compiler/transforms/expanders/sizes/Live.h"

using namespace mlir;
using namespace hlo;

Value DynamicPadder::fillOf(HloBuilder &b, Operation *op, FlatSymbolRefAttr computation,
                            unsigned i) {
  unsigned count = op->getNumOperands() / 2;
  Operation *root = context.lookup(computation).getReturn()->getOperand(0).getDefiningOp();
  Value fill = count == 1 ? ignoredBy(b, root, elementTypeOf(op->getOperand(i))) : Value();
  return fill ? fill : op->getOperand(count + i);
}

Value DynamicPadder::firstSizeOf(ValueRange inputs, int64_t dim) {
  for (Value input : inputs) {
    if (Value size = sizeOf(input, dim)) {
      return size;
    }
  }
  return Value();
}

void DynamicPadder::maskInputs(HloBuilder &b, Operation *op, unsigned count, int64_t dim,
                               Value size, FlatSymbolRefAttr computation) {
  for (unsigned i = 0; i < count; ++i) {
    op->setOperand(i, maskedBeyond(b, op->getOperand(i), dim, size, fillOf(b, op, computation, i)));
  }
}

LogicalResult DynamicPadder::visitReduce(ReduceOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  DynamicSizes own;
  for (int64_t dim = 0, rank = rankOf(op->getOperand(0)); dim < rank; ++dim) {
    Value size = firstSizeOf(op.getInputs().take_front(count), dim);
    if (!llvm::is_contained(op.getDimensions(), dim)) {
      own.push_back(size);
    } else if (size) {
      maskInputs(b, op, count, dim, size, op.getToApplyAttr());
    }
  }
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
  return success();
}

LogicalResult DynamicPadder::visitDot(DotOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
  };
  DynamicSizes own;
  auto freeSizes = [&](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
        own.push_back(sizeOf(operand, dim));
      }
    }
  };
  SmallVector<int64_t> lhsBatch = list(op.getLhsBatchDims()), rhsBatch = list(op.getRhsBatchDims());
  SmallVector<int64_t> lhsContract = list(op.getLhsContractingDims());
  SmallVector<int64_t> rhsContract = list(op.getRhsContractingDims());
  for (auto [lhs, rhs] : llvm::zip(lhsBatch, rhsBatch)) {
    Value size = sizeOf(op.getLhs(), lhs);
    own.push_back(size ? size : sizeOf(op.getRhs(), rhs));
    context.agree(own.back(), sizeOf(op.getRhs(), rhs));
  }
  freeSizes(op.getLhs(), lhsBatch, lhsContract);
  freeSizes(op.getRhs(), rhsBatch, rhsContract);
  // Both sides are masked: zero times an arbitrary element (infinity, NaN) need not be zero. Either
  // side may be the one with the size.
  for (auto [l, r] : llvm::zip(lhsContract, rhsContract)) {
    Value lhsSize = sizeOf(op.getLhs(), l), rhsSize = sizeOf(op.getRhs(), r);
    if (!lhsSize && !rhsSize) {
      continue;
    }
    context.agree(lhsSize, rhsSize);
    for (auto [number, dim, size] : {std::tuple(0u, l, lhsSize ? lhsSize : rhsSize),
                                     std::tuple(1u, r, rhsSize ? rhsSize : lhsSize)}) {
      Value operand = op->getOperand(number);
      op->setOperand(number,
                     maskedBeyond(b, operand, dim, size, b.scalar(elementTypeOf(operand), 0)));
    }
  }
  bind(op.getResult(), own);
  return success();
}

/// The number of the operand that decides a sort alone, if elements of it that sort last can stand
/// for those beyond the size: a true element that equals them comes before them, or is all there is
/// to sort.
static std::optional<unsigned> decidingOperand(SortOp op, ComputationOp comparator,
                                               DenseElementsAttr &last) {
  SmallVector<SortKey, 2> keys = findSortKeys(comparator);
  if (keys.size() != 1 || keys[0].operand < 0) {
    return std::nullopt;
  }
  last = lastInOrder(keys[0].element, keys[0].descending);
  if (!last || (op->getNumOperands() > 1 && !op.getIsStable().value_or(false)) ||
      elementTypeOf(op->getOperand(keys[0].operand)) != keys[0].element) {
    return std::nullopt;
  }
  return keys[0].operand;
}

/// Sorts elements beyond the size last: what decides their order is masked with the element that
/// sorts last; or, in general, an extra operand marks them, and the comparator compares it first.
LogicalResult DynamicPadder::visitSort(SortOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  int64_t dim = op.getDimension();
  unsigned count = op->getNumOperands();
  Value size;
  for (Value operand : op->getOperands()) {
    size = size ? size : sizeOf(operand, dim);
  }
  SmallVector<DynamicSizes> own;
  for (Value operand : op->getOperands()) {
    own.push_back(sizesOf(operand));
  }
  // An operand without a size, such as the iota of an argsort, has as many elements as the operands
  // it is sorted with.
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    for (int64_t k = 0; k < rankOf(result); ++k) {
      for (unsigned j = 0; j < count && !own[i][k] && isDynamicDim(result.getType(), k); ++j) {
        own[i][k] = sizeOf(op->getOperand(j), k);
      }
    }
  }
  Operation *sort = op;
  DenseElementsAttr last;
  std::optional<unsigned> deciding =
      size ? decidingOperand(op, context.lookup(op.getToApplyAttr()), last) : std::nullopt;
  if (deciding) {
    Value key = maskedBeyond(b, op->getOperand(*deciding), dim, size, b.constant(last));
    op->setOperand(*deciding, key);
    op->setAttr(sizes::kSizedSort, builder.getI64IntegerAttr(*deciding));
    for (OpResult result : op->getResults()) {
      result.setType(withoutDynamicBits(result.getType()));
    }
  } else if (size) {
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
    Value inside = b.compare(b.iota(HloBuilder::array(shape, elementTypeOf(size)), dim),
                             b.broadcastScalar(size, shape), "LT");
    ComputationOp before = context.clone(op.getToApplyAttr());
    Block &body = before.getBody().front();
    Type flag = RankedTensorType::get({}, b.b.getI1Type());
    Value left = body.addArgument(flag, op.getLoc()), right = body.addArgument(flag, op.getLoc());
    OpBuilder inner(body.getTerminator());
    HloBuilder c(inner, op.getLoc());
    Value rule = body.getTerminator()->getOperand(0);
    Value beyond = c.unary<NotOp>(right);
    body.getTerminator()->setOperand(0, c.binary<AndOp>(left, c.binary<OrOp>(rule, beyond)));
    updateFunctionType(before);
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), withoutDynamicBits);
    operands.push_back(inside);
    types.push_back(inside.getType());
    OperationState state(op.getLoc(), op->getName(), operands, types, op->getAttrs());
    sort = builder.create(state);
    sort->setAttr(sizes::kSizedSort, builder.getI64IntegerAttr(count));
    cast<SortOp>(sort).setToApply(before.getSymName());
    op->replaceAllUsesWith(sort->getResults().drop_back());
    op->erase();
  }
  for (unsigned i = 0; i < count; ++i) {
    bind(sort->getResult(i), own[i]);
  }
  return success();
}

/// Computes the statistics over the true number of elements.
LogicalResult DynamicPadder::visitBatchNorm(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  int64_t feature = op->getAttrOfType<IntegerAttr>("feature_index").getInt();
  Value operand = op->getOperand(0), count = b.index(1);
  for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
    if (dim != feature) {
      count = b.mul(count, sizeOrBound(b, operand, dim));
    }
  }
  Operation *before = count.getDefiningOp();
  return replaceBy(op, expandBatchNorm(op, b, context.scalars, count), before);
}

/// Expands topk to a sort that puts elements beyond the size last.
LogicalResult DynamicPadder::visitTopk(TopkOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Operation *before = b.index(0).getDefiningOp();
  FailureOr<SmallVector<Value>> values = expandTopk(op, b, context.scalars);
  if (failed(values)) {
    return failure();
  }
  // The indices have the same sizes as the elements.
  for (Operation *made = before->getNextNode(); made != op; made = made->getNextNode()) {
    if (isa<IotaOp>(made)) {
      bind(made->getResult(0), sizesOf(op.getOperand()));
    }
  }
  return replaceBy(op, *values, before);
}

/// Visits the ops made between `before` and `op`, and replaces `op` by `values`.
LogicalResult DynamicPadder::replaceBy(Operation *op, ArrayRef<Value> values, Operation *before) {
  op->replaceAllUsesWith(ValueRange(values));
  for (Operation *made = before->getNextNode(); made != op;) {
    Operation *next = made->getNextNode();
    if (failed(visit(made))) {
      return failure();
    }
    made = next;
  }
  op->erase();
  return success();
}

/// With one rank nothing is exchanged. With several, reductions keep an array's size; the sizes of
/// other collectives' results depend on other ranks.
LogicalResult DynamicPadder::visitCollective(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  for (StringRef count : {"hlo.replica_count", "hlo.num_partitions"}) {
    auto ranks = module->getAttrOfType<IntegerAttr>(count);
    if (ranks && ranks.getInt() > 1 && !isa<AllReduceOp>(op)) {
      return refuse(op, "other ranks may have other sizes");
    }
  }
  for (OpResult result : op->getResults()) {
    Value operand = op->getOperand(result.getResultNumber());
    if (shapeOf(operand) != shapeOf(result)) {
      return refuse(op);
    }
    bind(result, sizesOf(operand));
  }
  return success();
}

/// Extends a square matrix by the identity: the factorization or solve is unchanged inside the
/// size.
Value DynamicPadder::withIdentityBeyond(HloBuilder &b, Value x) {
  int64_t rank = rankOf(x), row = rank - 2, column = rank - 1;
  Value size = sizeOf(x, row) ? sizeOf(x, row) : sizeOf(x, column);
  if (!size) {
    return x;
  }
  ArrayRef<int64_t> shape = shapeOf(x);
  RankedTensorType indices = HloBuilder::array(shape, elementTypeOf(size));
  Value rows = b.iota(indices, row), columns = b.iota(indices, column);
  Value inside =
      b.compare(b.binary<MaximumOp>(rows, columns), b.broadcastScalar(size, shape), "LT");
  Value identity = b.convert(b.compare(rows, columns, "EQ"), elementTypeOf(x));
  return b.select(inside, x, identity);
}

/// Ops on matrices, rows or columns; batch dimensions are unaffected.
LogicalResult DynamicPadder::visitLinalg(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  DynamicSizes own = sizesOf(x);
  if (auto fft = dyn_cast<FftOp>(op)) {
    for (int64_t dim = rank - fft.getFftLength().size(); dim < rank; ++dim) {
      if (own[dim]) {
        return refuse(op, "dimension " + Twine(dim) + " is one that it works on");
      }
    }
  } else {
    op->setOperand(0, withIdentityBeyond(b, x));
  }
  if (auto solve = dyn_cast<TriangularSolveOp>(op)) {
    int64_t along = solve.getLeftSide().value_or(false) ? rank - 2 : rank - 1;
    Value size = own[rank - 2] ? own[rank - 2] : own[rank - 1], rhs = solve.getB();
    size = size ? size : sizeOf(rhs, along);
    own.resize(rank - 2);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value other = dim == along ? size : sizeOf(rhs, dim);
      if (dim < rank - 2) {
        own[dim] = own[dim] ? own[dim] : other;
      } else {
        own.push_back(other);
      }
    }
    if (size) {
      op->setOperand(1, maskedBeyond(b, rhs, along, size, b.scalar(elementTypeOf(rhs), 0)));
    }
  }
  bind(op->getResult(0), own);
  return success();
}
