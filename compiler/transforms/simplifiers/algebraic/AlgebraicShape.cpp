//===- AlgebraicShape.cpp - Rules of reshape, transpose, broadcast, ... ---===//
//
// Rules reduce the number and cost of moves: reshapes merge into broadcasts and into each other,
// transposes that only move dimensions of size one become reshapes (which are free), operands of
// broadcasts lose dimensions of size one.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

// reshape(x) to the same shape -> x; reshape(reshape(x)) -> reshape(x)
static Value mergeReshapes(ReshapeOp op, HloBuilder &b) {
  if (op.getOperand().getType() == op.getResult().getType()) {
    return op.getOperand();
  }
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  return inner ? b.reshape(inner.getOperand(), shapeOf(op.getResult())) : Value();
}

/// For shapes that differ only in dimensions of size one, the dimension of `to`
/// for each dimension of `from` that is not of size one, -1 for the others.
static std::optional<SmallVector<int64_t>> matchUnitDims(ArrayRef<int64_t> from,
                                                         ArrayRef<int64_t> to) {
  SmallVector<int64_t> map;
  size_t next = 0;
  for (int64_t size : from) {
    if (size == 1) {
      map.push_back(-1);
      continue;
    }
    while (next < to.size() && to[next] == 1) {
      ++next;
    }
    if (next == to.size() || to[next] != size) {
      return std::nullopt;
    }
    map.push_back(next++);
  }
  for (; next < to.size(); ++next) {
    if (to[next] != 1) {
      return std::nullopt;
    }
  }
  return map;
}

// reshape(broadcast(scalar)) -> broadcast(scalar); reshape(broadcast(x)) -> broadcast(x) if the
// reshape only adds or drops dimensions of size one that do not come from x
static Value reshapeOfBroadcast(ReshapeOp op, HloBuilder &b) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!broadcast) {
    return {};
  }
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  if (isScalar(broadcast.getOperand())) {
    return b.broadcastScalar(broadcast.getOperand(), shape);
  }
  auto map = matchUnitDims(shapeOf(broadcast.getResult()), shape);
  if (!map) {
    return {};
  }
  SmallVector<int64_t> dimensions;
  for (int64_t dim : broadcast.getDimensions()) {
    if ((*map)[dim] < 0) {
      return {};
    }
    dimensions.push_back((*map)[dim]);
  }
  return b.broadcast(broadcast.getOperand(), shape, dimensions);
}

// transpose by the identity -> x; transpose(transpose(x)) -> transpose(x)
static Value mergeTransposes(TransposeOp op, HloBuilder &b) {
  if (isDefaultOrder(SmallVector<int64_t>(llvm::reverse(op.getDimensions())))) {
    return op.getOperand();
  }
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner) {
    return {};
  }
  SmallVector<int64_t> dimensions;
  for (int64_t dim : op.getDimensions()) {
    dimensions.push_back(inner.getDimensions()[dim]);
  }
  return b.transpose(inner.getOperand(), dimensions);
}

// transpose(x) -> reshape(x) if only dimensions of size one move
static Value transposeOfUnitDims(TransposeOp op, HloBuilder &b) {
  int64_t last = -1;
  for (int64_t dim : op.getDimensions()) {
    if (shapeOf(op.getOperand())[dim] == 1) {
      continue;
    }
    if (dim < last) {
      return {};
    }
    last = dim;
  }
  return b.reshape(op.getOperand(), shapeOf(op.getResult()));
}

// transpose(broadcast(x)) -> broadcast(x)
static Value transposeOfBroadcast(TransposeOp op, HloBuilder &b) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!broadcast) {
    return {};
  }
  SmallVector<int64_t> place(op.getDimensions().size());
  for (auto [i, dim] : llvm::enumerate(op.getDimensions())) {
    place[dim] = i;
  }
  SmallVector<int64_t> dimensions;
  for (int64_t dim : broadcast.getDimensions()) {
    dimensions.push_back(place[dim]);
  }
  return b.broadcast(broadcast.getOperand(), shapeOf(op.getResult()), dimensions);
}

// transpose(dynamic-update-slice(parameter, y)) -> dynamic-update-slice(transpose(parameter),
// transpose(y)) if it is a result of the computation: the transpose of the parameter makes the copy
// that the update needs anyway
static Value transposeOfUpdate(TransposeOp op, HloBuilder &b) {
  auto update = op.getOperand().getDefiningOp<DynamicUpdateSliceOp>();
  bool isResult = llvm::all_of(op->getUsers(), llvm::IsaPred<ReturnOp>);
  if (!update || !update->hasOneUse() || !isa<BlockArgument>(update.getOperand()) || !isResult) {
    return {};
  }
  SmallVector<Value> starts;
  for (int64_t dim : op.getDimensions()) {
    starts.push_back(update.getStartIndices()[dim]);
  }
  Value array = b.transpose(update.getOperand(), op.getDimensions());
  return DynamicUpdateSliceOp::create(b.b, b.loc, array.getType(), array,
                                      b.transpose(update.getUpdate(), op.getDimensions()), starts);
}

// broadcast to the same shape -> x, or transpose(x)
static Value trivialBroadcast(BroadcastOp op, HloBuilder &b) {
  if (rankOf(op.getOperand()) != rankOf(op.getResult())) {
    return {};
  }
  SmallVector<int64_t> permutation(op.getDimensions().size());
  for (auto [i, dim] : llvm::enumerate(op.getDimensions())) {
    permutation[dim] = i;
  }
  return b.transpose(op.getOperand(), permutation);
}

// broadcast(broadcast(x)) -> broadcast(x)
static Value mergeBroadcasts(BroadcastOp op, HloBuilder &b) {
  auto inner = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!inner) {
    return {};
  }
  SmallVector<int64_t> dimensions;
  for (int64_t dim : inner.getDimensions()) {
    dimensions.push_back(op.getDimensions()[dim]);
  }
  return b.broadcast(inner.getOperand(), shapeOf(op.getResult()), dimensions);
}

// broadcast(x) that only adds dimensions of size one in place -> reshape(x)
static Value broadcastOfUnitDims(BroadcastOp op, HloBuilder &b) {
  if (elementsOf(op.getOperand()) != elementsOf(op.getResult())) {
    return {};
  }
  int64_t last = -1;
  for (auto [i, dim] : llvm::enumerate(op.getDimensions())) {
    if (shapeOf(op.getOperand())[i] == 1) {
      continue;
    }
    if (dim < last) {
      return {};
    }
    last = dim;
  }
  return b.reshape(op.getOperand(), shapeOf(op.getResult()));
}

// broadcast(x) -> broadcast(reshape(x)) without x's dimensions of size one
static Value squeezeBroadcast(BroadcastOp op, HloBuilder &b) {
  SmallVector<int64_t> shape, dimensions;
  for (auto [size, dim] : llvm::zip(shapeOf(op.getOperand()), op.getDimensions())) {
    if (size != 1) {
      shape.push_back(size);
      dimensions.push_back(dim);
    }
  }
  if (shape.size() == shapeOf(op.getOperand()).size()) {
    return {};
  }
  return b.broadcast(b.reshape(op.getOperand(), shape), shapeOf(op.getResult()), dimensions);
}

// reverse of dimensions of size one only, or of equal elements -> x; reverse(reverse(x)) -> x
static Value simplifyReverse(ReverseOp op, HloBuilder &b) {
  SmallVector<int64_t> dimensions;
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  for (int64_t dim : op.getDimensions()) {
    bool uniform = broadcast && !llvm::is_contained(broadcast.getDimensions(), dim);
    if (shapeOf(op.getOperand())[dim] > 1 && !uniform) {
      dimensions.push_back(dim);
    }
  }
  if (dimensions.empty()) {
    return op.getOperand();
  }
  auto inner = op.getOperand().getDefiningOp<ReverseOp>();
  if (inner && inner.getDimensions() == op.getDimensions()) {
    return inner.getOperand();
  }
  if (dimensions.size() == op.getDimensions().size()) {
    return {};
  }
  return ReverseOp::create(b.b, b.loc, op.getResult().getType(), op.getOperand(),
                           b.b.getDenseI64ArrayAttr(dimensions));
}

// iota along a dimension of size one -> 0
static Value unitIota(IotaOp op, HloBuilder &b) {
  RankedTensorType type = arrayType(op.getResult());
  return type.getDimSize(op.getIotaDimension()) == 1 ? b.splat(type, 0) : Value();
}

// reshape(iota) that only adds or drops dimensions of size one -> iota
static Value reshapeOfIota(ReshapeOp op, HloBuilder &b) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  if (!iota) {
    return {};
  }
  auto map = matchUnitDims(shapeOf(iota.getResult()), shapeOf(op.getResult()));
  int64_t dim = map ? (*map)[iota.getIotaDimension()] : -1;
  return dim < 0 ? Value() : b.iota(arrayType(op.getResult()), dim);
}

// broadcast(iota) -> iota
static Value broadcastOfIota(BroadcastOp op, HloBuilder &b) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  return iota ? b.iota(arrayType(op.getResult()), op.getDimensions()[iota.getIotaDimension()])
              : Value();
}

// transpose(iota) -> iota
static Value transposeOfIota(TransposeOp op, HloBuilder &b) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  if (!iota) {
    return {};
  }
  auto place = llvm::find(op.getDimensions(), static_cast<int64_t>(iota.getIotaDimension()));
  return b.iota(arrayType(op.getResult()), place - op.getDimensions().begin());
}

// copy(x) -> x
static Value simplifyCopy(CopyOp op, HloBuilder &b) {
  return op.getOperand().getType() == op.getResult().getType() ? op.getOperand() : Value();
}

namespace {

/// Any op without side effects and with an empty result -> constant.
class EmptyResult : public RewritePattern {
public:
  explicit EmptyResult(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 10, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (op->getNumResults() != 1 || isa<ConstantOp>(op) || !isPure(op)) {
      return failure();
    }
    auto type = arrayType(op->getResult(0));
    if (!type || !type.hasStaticShape() || type.getNumElements() != 0 || type.getEncoding()) {
      return failure();
    }
    HloBuilder b(rewriter, op->getLoc());
    DenseElementsAttr empty = DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>());
    rewriter.replaceOp(op, b.constant(empty));
    return success();
  }
};

} // namespace

void hlo::populateShapeRules(RewritePatternSet &patterns) {
  addRules<ReshapeOp>(patterns, {mergeReshapes, reshapeOfBroadcast, reshapeOfIota});
  addRules<TransposeOp>(patterns, {mergeTransposes, transposeOfUnitDims, transposeOfBroadcast,
                                   transposeOfIota, transposeOfUpdate});
  addRules<BroadcastOp>(patterns, {trivialBroadcast, mergeBroadcasts, broadcastOfUnitDims,
                                   squeezeBroadcast, broadcastOfIota});
  addRules<ReverseOp>(patterns, {simplifyReverse});
  addRules<IotaOp>(patterns, {unitIota});
  addRules<CopyOp>(patterns, {simplifyCopy});
  patterns.add<EmptyResult>(patterns.getContext());
}
