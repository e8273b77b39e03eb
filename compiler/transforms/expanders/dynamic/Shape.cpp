//===- Shape.cpp - Ops that rearrange arrays of bounded size --------------===//
//
// With n the true size of a dimension and N its bound:
//
//   broadcast, transpose   sizes go with their dimensions
//   pad                    operand beyond n set to the padding value;
//                          n + (n-1) * interior + low + high
//   concatenate            each operand is written where the true elements of the previous
//                          operands end; the size is the sum
//   slice                  of the whole dimension: n. Of a part: the part of the slice before n
//                          if the result is written as dynamic; else static
//   reverse                the reversed dimension's element i is element n-1-i
//   reshape                below
//
// Reshape. The dimensions fall into groups of equal products: [a, b] -> [a*b] or [6] -> [2, 3]. A
// group with a dynamic dimension has as many true elements after the reshape as before. The
// dimension of the result that is written as dynamic gets the quotient of that number by the other
// dimensions' sizes. True elements stay in place if only the slowest dimension is dynamic, before
// and after. Otherwise each element of the result is fetched from the operand element with the same
// rank among the true elements in row-major order:
//
//   [2, <=3] -> [<=6], n = 2:   a b -          a b c d - -
//                               c d -    ->
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Dimensions of the operand and of the result that hold the same elements. Static dimensions of
/// size one are in no group.
struct Group {
  SmallVector<int64_t> in, out;
};

/// The finest groups of a reshape without empty dimensions. A dynamic dimension of bound one can
/// join either neighbouring group; it joins the one whose other side has an unmatched dynamic
/// dimension.
SmallVector<Group> commonGroups(ArrayRef<int64_t> from, const DynamicSizes &sizes,
                                RankedTensorType type) {
  ArrayRef<int64_t> to = type.getShape();
  auto varies = [&](int64_t dim) { return isDynamicDim(type, dim); };
  SmallVector<int64_t> in, out;
  for (int64_t dim = from.size() - 1; dim >= 0; --dim) {
    if (from[dim] != 1 || sizes[dim]) {
      in.push_back(dim);
    }
  }
  for (int64_t dim = to.size() - 1; dim >= 0; --dim) {
    if (to[dim] != 1 || varies(dim)) {
      out.push_back(dim);
    }
  }
  SmallVector<Group> groups;
  while (!in.empty() || !out.empty()) {
    Group &group = groups.emplace_back();
    int64_t before = 1, after = 1;
    auto takeIn = [&] {
      before *= from[in.back()];
      group.in.push_back(in.pop_back_val());
    };
    auto takeOut = [&] {
      after *= to[out.back()];
      group.out.push_back(out.pop_back_val());
    };
    if (!in.empty()) {
      takeIn();
    }
    if (!out.empty()) {
      takeOut();
    }
    while (before != after) {
      before < after ? takeIn() : takeOut();
    }
    bool isDynamic = llvm::any_of(group.in, [&](int64_t dim) { return bool(sizes[dim]); });
    while (!out.empty() && to[out.back()] == 1 && isDynamic && llvm::none_of(group.out, varies)) {
      takeOut();
    }
    while (
        !in.empty() && from[in.back()] == 1 && !group.out.empty() &&
        (out.empty() || (llvm::any_of(group.out, varies) && (!isDynamic || to[out.back()] != 1)))) {
      takeIn();
      isDynamic = true;
    }
  }
  return groups;
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    result *= size;
  }
  return result;
}

/// True if, of the dimensions with more than one element, only the slowest is dynamic.
bool onlySlowestIsDynamic(ArrayRef<int64_t> shape, const DynamicSizes &sizes,
                          ArrayRef<int64_t> dims) {
  while (!dims.empty() && shape[dims.front()] == 1) {
    dims = dims.drop_front();
  }
  return dims.empty() || llvm::none_of(dims.drop_front(),
                                       [&](int64_t dim) { return sizes[dim] && shape[dim] != 1; });
}

/// Computes `own`, the sizes of the result, if every dynamic dimension and every static one of more
/// than one element appears unchanged in the result. False if dimensions are merged or split, or if
/// other dimensions of the type are dynamic.
bool mapDimensions(ArrayRef<int64_t> from, const DynamicSizes &sizes, RankedTensorType type,
                   DynamicSizes &own) {
  ArrayRef<int64_t> to = type.getShape();
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (size == 1 && !sizes[dim]) {
      continue;
    }
    while (next < to.size() && to[next] != size && to[next] == 1) {
      ++next;
    }
    if (next == to.size() || to[next] != size) {
      return false;
    }
    own[next++] = sizes[dim];
  }
  return llvm::all_of(boundedDimensions(type), [&](int64_t dim) { return bool(own[dim]); });
}

} // namespace

LogicalResult DynamicPadder::visitShape(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](BroadcastOp broadcast) {
        DynamicSizes own(rankOf(broadcast.getResult()));
        for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
          own[dim] = sizeOf(broadcast.getOperand(), i);
        }
        bind(broadcast.getResult(), own);
        return success();
      })
      .Case([&](TransposeOp transpose) {
        DynamicSizes own;
        for (int64_t dim : transpose.getDimensions()) {
          own.push_back(sizeOf(transpose.getOperand(), dim));
        }
        bind(transpose.getResult(), own);
        return success();
      })
      .Case([&](BitcastConvertOp convert) -> LogicalResult {
        // Between element widths the last dimension is added or removed.
        int64_t rank = rankOf(convert.getResult());
        DynamicSizes own = sizesOf(convert.getOperand());
        if (static_cast<int64_t>(own.size()) > rank && own.back()) {
          return refuse(op, "the dimension that it removes");
        }
        own.resize(rank);
        bind(convert.getResult(), own);
        return success();
      })
      .Case([&](PadOp pad) { return visitPad(pad); })
      .Case([&](ConcatenateOp concatenate) { return visitConcatenate(concatenate); })
      .Case([&](SliceOp slice) { return visitSlice(slice); })
      .Case([&](ReverseOp reverse) { return visitReverse(reverse); })
      .Case([&](ReshapeOp reshape) { return visitReshape(reshape); })
      .Default([&](Operation *other) { return refuse(other); });
}

LogicalResult DynamicPadder::visitPad(PadOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  DynamicSizes own = sizesOf(op.getOperand());
  SmallVector<int64_t> changed;
  for (auto [dim, size] : llvm::enumerate(own)) {
    int64_t low = op.getPaddingLow()[dim], high = op.getPaddingHigh()[dim];
    int64_t interior = op.getPaddingInterior()[dim];
    if (!size || (!low && !high && !interior)) {
      continue;
    }
    changed.push_back(dim);
    if (interior) {
      Value gaps = b.binary<MaximumOp>(b.sub(size, b.index(1)), b.index(0));
      size = b.add(size, b.mul(gaps, b.index(interior)));
    }
    size = b.binary<MaximumOp>(b.add(size, b.index(low + high)), b.index(0));
  }
  op.getOperandMutable().assign(masked(b, op.getOperand(), changed, op.getPaddingValue()));
  bind(op.getResult(), own);
  return success();
}

LogicalResult DynamicPadder::visitConcatenate(ConcatenateOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  int64_t along = op.getDimension(), rank = rankOf(op.getResult());
  DynamicSizes own(rank);
  for (Value operand : op.getInputs()) {
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value size = dim == along ? Value() : sizeOf(operand, dim);
      own[dim] = size ? size : own[dim];
    }
  }
  if (llvm::none_of(op.getInputs(), [&](Value v) { return bool(sizeOf(v, along)); })) {
    bind(op.getResult(), own);
    return success();
  }
  builder.setInsertionPointAfter(op);
  Value result = op.getResult(), end = b.index(0);
  Operation *first = nullptr; // first op that writes an operand
  bool moved = false;         // an operand is not at the place given by the bounds
  for (Value operand : op.getInputs()) {
    if (moved) {
      SmallVector<Value> starts(rank, b.index(0));
      starts[along] = end;
      result = DynamicUpdateSliceOp::create(builder, op.getLoc(),
                                            withoutDynamicBits(op.getResult().getType()), result,
                                            operand, starts);
      first = first ? first : result.getDefiningOp();
    }
    moved |= bool(sizeOf(operand, along));
    end = b.add(end, sizeOrBound(b, operand, along));
  }
  own[along] = end;
  Value joined = op.getResult();
  joined.setType(withoutDynamicBits(joined.getType()));
  if (first) {
    joined.replaceAllUsesExcept(result, first);
  }
  bind(result, own);
  return success();
}

LogicalResult DynamicPadder::visitSlice(SliceOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  DynamicSizes own = sizesOf(op.getOperand());
  for (auto [dim, size] : llvm::enumerate(own)) {
    int64_t start = op.getStartIndices()[dim], limit = op.getLimitIndices()[dim];
    int64_t stride = op.getStrides()[dim];
    if (!size || (start == 0 && stride == 1 && limit == shapeOf(op.getOperand())[dim])) {
      continue;
    }
    if (!isDynamicDim(op.getResult().getType(), dim)) {
      size = Value();
      continue;
    }
    // ceil((min(n, limit) - start) / stride)
    Value end = b.binary<MinimumOp>(size, b.index(limit));
    Value length = b.binary<MaximumOp>(b.sub(end, b.index(start)), b.index(0));
    size = stride == 1 ? length : b.div(b.add(length, b.index(stride - 1)), b.index(stride));
  }
  bind(op.getResult(), own);
  return success();
}

LogicalResult DynamicPadder::visitReverse(ReverseOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value x = op.getOperand();
  DynamicSizes own = sizesOf(x);
  SmallVector<int64_t> whole;
  for (int64_t dim : op.getDimensions()) {
    Value size = own[dim];
    if (!size) {
      whole.push_back(dim);
      continue;
    }
    SmallVector<int64_t> shape(shapeOf(x)), windows(shape), offsets;
    int64_t bound = shape[dim];
    if (bound == 0) {
      continue;
    }
    Value last = b.broadcastScalar(b.sub(size, b.index(1)), {bound});
    Value source = b.sub(last, b.iota(HloBuilder::array({bound}, elementTypeOf(size)), 0));
    windows[dim] = 1;
    for (int64_t other = 0, rank = shape.size(); other < rank; ++other) {
      if (other != dim) {
        offsets.push_back(other);
      }
    }
    x = GatherOp::create(builder, op.getLoc(), HloBuilder::array(x, elementTypeOf(x)), x, source,
                         builder.getDenseI64ArrayAttr(offsets), builder.getDenseI64ArrayAttr({dim}),
                         builder.getDenseI64ArrayAttr({dim}), builder.getI64IntegerAttr(1),
                         builder.getDenseI64ArrayAttr(windows), DenseI64ArrayAttr(),
                         DenseI64ArrayAttr(), BoolAttr());
  }
  op.getOperandMutable().assign(x);
  op.setDimensions(whole);
  bind(op.getResult(), own);
  return success();
}

/// Moves the true elements of dimensions `inDims` of `x` to dimensions `outDims` of an array of
/// shape `to` with true sizes `own`, in row-major order of the true elements.
Value DynamicPadder::moveElements(HloBuilder &b, Value x, ArrayRef<int64_t> to,
                                  const DynamicSizes &own, std::pair<int64_t, int64_t> inDims,
                                  std::pair<int64_t, int64_t> outDims) {
  SmallVector<int64_t> from(shapeOf(x));
  int64_t outer = product(ArrayRef(from).take_front(inDims.first));
  int64_t inner = product(ArrayRef(from).drop_front(inDims.second));
  int64_t count = product(ArrayRef(to).slice(outDims.first, outDims.second - outDims.first));
  Type index = b.b.getIntegerType(count > INT32_MAX ? 64 : 32, true);
  RankedTensorType indices = HloBuilder::array({count}, index);
  auto spread = [&](Value scalar) { return b.broadcastScalar(b.convert(scalar, index), {count}); };
  auto number = [&](int64_t value) { return spread(b.scalar(index, value)); };
  auto rem = [&](Value x, Value y) { return b.binary<RemainderOp>(x, y); };
  // Position in the result -> rank of the element among the true ones.
  Value place = b.iota(indices, 0), rank = number(0), weight = number(1);
  int64_t stride = 1;
  for (int64_t dim = outDims.second - 1; dim >= outDims.first; --dim) {
    Value digit = b.div(place, number(stride));
    digit = dim == outDims.first ? digit : rem(digit, number(to[dim]));
    rank = b.add(rank, b.mul(digit, weight));
    weight = b.mul(weight, own[dim] ? spread(own[dim]) : number(to[dim]));
    stride *= to[dim];
  }
  // Rank -> position in the operand.
  Value source = number(0);
  stride = 1;
  for (int64_t dim = inDims.second - 1; dim >= inDims.first; --dim) {
    Value size =
        sizeOf(x, dim) ? b.binary<MaximumOp>(spread(sizeOf(x, dim)), number(1)) : number(from[dim]);
    Value digit = dim == inDims.first ? rank : rem(rank, size);
    source = b.add(source, b.mul(digit, number(stride)));
    rank = b.div(rank, size);
    stride *= from[dim];
  }
  Value flat = b.reshape(x, {outer, count, inner});
  Value gathered =
      GatherOp::create(b.b, b.loc, HloBuilder::array({outer, count, inner}, elementTypeOf(x)), flat,
                       source, b.b.getDenseI64ArrayAttr({0, 2}), b.b.getDenseI64ArrayAttr({1}),
                       b.b.getDenseI64ArrayAttr({1}), b.b.getI64IntegerAttr(1),
                       b.b.getDenseI64ArrayAttr({outer, 1, inner}), DenseI64ArrayAttr(),
                       DenseI64ArrayAttr(), BoolAttr());
  return b.reshape(gathered, to);
}

LogicalResult DynamicPadder::visitReshape(ReshapeOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value x = op.getOperand();
  SmallVector<int64_t> from(shapeOf(x)), to(shapeOf(op.getResult()));
  DynamicSizes before = sizesOf(x), own(to.size());
  if (mapDimensions(from, before, arrayType(op.getResult()), own) || product(from) == 0) {
    bind(op.getResult(), own);
    return success();
  }
  own.assign(to.size(), Value());
  // The groups from the first to the last whose elements move are moved together.
  std::pair<int64_t, int64_t> inDims(from.size(), 0), outDims(to.size(), 0);
  for (const Group &group : commonGroups(from, before, arrayType(op.getResult()))) {
    Value elements = b.index(1);
    bool isDynamic = false;
    for (int64_t dim : group.in) {
      isDynamic |= bool(before[dim]);
      elements = b.mul(elements, sizeOrBound(b, x, dim));
    }
    if (!isDynamic) {
      continue;
    }
    SmallVector<int64_t> candidates, large;
    int64_t others = 1;
    for (int64_t dim : group.out) {
      if (isDynamicDim(op.getResult().getType(), dim) || group.out.size() == 1) {
        candidates.push_back(dim);
      }
      if (to[dim] != 1) {
        large.push_back(dim);
      }
      others *= to[dim];
    }
    std::optional<int64_t> inferred = op.getInferredDimension();
    if (candidates.size() != 1 && inferred && llvm::is_contained(group.out, *inferred)) {
      candidates = {*inferred};
    } else if (candidates.empty() && large.size() == 1) {
      candidates = large;
    }
    if (candidates.size() > 1) {
      return refuse(op,
                    "which of " + Twine(candidates.size()) +
                        " dimensions of the result varies cannot be told; dynamic-reshape says");
    }
    if (candidates.empty()) {
      continue; // written as static: the whole array counts
    }
    others /= to[candidates[0]];
    own[candidates[0]] = others == 1 ? elements : b.div(elements, b.index(others));
    if (!onlySlowestIsDynamic(from, before, group.in) ||
        !onlySlowestIsDynamic(to, own, group.out)) {
      inDims = {std::min(inDims.first, group.in.front()), group.in.back() + 1};
      outDims = {std::min(outDims.first, group.out.front()), group.out.back() + 1};
    }
  }
  Value result = op.getResult();
  if (inDims.first < inDims.second) {
    Type type = withoutDynamicBits(result.getType());
    Value moved = b.copy(moveElements(b, x, to, own, inDims, outDims), type);
    result.replaceAllUsesWith(moved);
    op.erase();
    result = moved;
  }
  bind(result, own);
  return success();
}

/// Like reshape, but the sizes are given, and with them the number of elements: no groups.
LogicalResult DynamicPadder::visitDynamicReshape(DynamicReshapeOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value x = op.getOperand();
  Type type = op.getResult().getType();
  SmallVector<int64_t> from(shapeOf(x)), to(shapeOf(op.getResult()));
  DynamicSizes own(to.size());
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (isDynamicDim(type, dim)) {
      own[dim] = b.convert(op.getSizes()[dim], builder.getIntegerType(32, true));
    }
  }
  int64_t in = from.size(), out = to.size();
  bool moves = product(from) != 0 &&
               (!onlySlowestIsDynamic(from, sizesOf(x), llvm::to_vector(llvm::seq(in))) ||
                !onlySlowestIsDynamic(to, own, llvm::to_vector(llvm::seq(out))));
  Value result = moves ? moveElements(b, x, to, own, {0, in}, {0, out}) : b.reshape(x, to);
  result = b.copy(result, withoutDynamicBits(type));
  op.getResult().replaceAllUsesWith(result);
  bind(result, own);
  op.erase();
  return success();
}
