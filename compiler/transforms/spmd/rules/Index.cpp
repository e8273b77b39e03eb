//===- Index.cpp - Dynamic slices on shards, and the table of index ops ---===//
//
// A dimension that a dynamic slice or its update covers whole is split like any other. Otherwise:
//
//   dynamic-slice          each partition takes the part of the slice that lies in its shard, and
//                          -0 for the rest; the parts are added up
//   dynamic-update-slice   the update is whole, and each partition writes what lies in its shard:
//
//                            start   the update's start relative to the shard
//                            at      start, moved into the shard (a window of `size` fits there)
//                            i       0 ... size - 1
//                            new     window of the operand at `at`; element i is
//                                    update[at + i - start] where there is such an element
//
//                          and nothing is sent
//
// Starts are clamped by the size of the whole dimension before they become relative to the shard.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/rules/Indexed.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

/// The starts of a slice as signed scalars, from scalars or from one array.
static SmallVector<Value> signedStarts(HloBuilder b, ArrayRef<Value> operands, int64_t rank) {
  SmallVector<Value> starts;
  if (operands.size() == 1 && rankOf(operands.front()) == 1) {
    for (int64_t dim = 0; dim < rank; ++dim) {
      starts.push_back(asSigned(b, b.reshape(b.sliceDim(operands.front(), 0, dim, dim + 1), {})));
    }
    return starts;
  }
  for (Value operand : operands) {
    starts.push_back(asSigned(b, operand));
  }
  return starts;
}

//===----------------------------------------------------------------------===//
// Dynamic slice
//===----------------------------------------------------------------------===//

static Rule dynamicSliceRule(Operation *op) {
  auto slice = cast<DynamicSliceOp>(op);
  Rule rule = Rule::of(op);
  ArrayRef<int64_t> shape = shapeOf(slice.getOperand()), sizes = slice.getDynamicSliceSizes();
  bool isEmpty = llvm::is_contained(sizes, 0);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!isSplittable(size)) {
      continue;
    }
    if (sizes[dim] == size) {
      rule.operands[0][dim] = rule.results[0][dim] = {rule.addFactor(size)};
    } else if (!isEmpty && isSummable(elementTypeOf(slice.getOperand()))) {
      rule.operands[0][dim] = {rule.addFactor(size, FactorKind::Sum)};
    }
  }
  return rule;
}

static FailureOr<SmallVector<Value>> emitDynamicSlice(Site &site) {
  auto op = cast<DynamicSliceOp>(site.op);
  HloBuilder b = site.e.b();
  ArrayRef<int64_t> global = shapeOf(op.getOperand());
  Sharding sharding = site.operandSharding(0);
  Value operand = site.operands[0], isOwn;
  SmallVector<Value> starts =
      signedStarts(b, ArrayRef(site.operands).drop_front(), rankOf(operand));
  Value identity = identityOfParts(b, elementTypeOf(operand));
  RankedTensorType type = site.localResultType(0);
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    int64_t size = op.getDynamicSliceSizes()[dim], local = shapeOf(operand)[dim];
    if (axes.empty() || size == global[dim]) {
      continue;
    }
    // A slice of several elements may cross the border of two shards, so the shard is extended.
    bool crosses = size > 1;
    starts[dim] = relativeTo(b, clampTo(b, starts[dim], global[dim] - size),
                             site.e.shardOffset(axes, local), crosses ? size : 0);
    if (crosses) {
      operand = padBothEnds(b, operand, dim, size, identity);
    } else {
      isOwn = both(b, isOwn, isBelow(b, starts[dim], local));
    }
  }
  Value result = DynamicSliceOp::create(b.b, b.loc, type, operand, starts,
                                        b.b.getDenseI64ArrayAttr(type.getShape()));
  if (isOwn) {
    result = b.select(b.broadcastScalar(isOwn, type.getShape()), result,
                      b.broadcastScalar(identity, type.getShape()));
  }
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Dynamic update slice
//===----------------------------------------------------------------------===//

static Rule dynamicUpdateSliceRule(Operation *op) {
  auto update = cast<DynamicUpdateSliceOp>(op);
  Rule rule = Rule::of(op);
  ArrayRef<int64_t> shape = shapeOf(update.getOperand()), part = shapeOf(update.getUpdate());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!isSplittable(size)) {
      continue;
    }
    bool isWhole = part[dim] == size;
    unsigned factor = rule.addFactor(size, isWhole ? FactorKind::Pass : FactorKind::Special);
    rule.operands[0][dim] = rule.results[0][dim] = {factor};
    if (isWhole) {
      rule.operands[1][dim] = {factor};
    }
  }
  return rule;
}

static FailureOr<SmallVector<Value>> emitDynamicUpdateSlice(Site &site) {
  auto op = cast<DynamicUpdateSliceOp>(site.op);
  HloBuilder b = site.e.b();
  ArrayRef<int64_t> global = shapeOf(op.getOperand()), part = shapeOf(op.getUpdate());
  Sharding sharding = site.operandSharding(0);
  Value operand = site.operands[0], update = site.operands[1];
  if (llvm::is_contained(part, 0)) {
    return SmallVector<Value>{operand};
  }
  SmallVector<Value> starts =
      signedStarts(b, ArrayRef(site.operands).drop_front(2), rankOf(operand));
  // Whether an element of the window comes from the update: a scalar, and terms by dimension.
  Value isHit;
  struct Shifted {
    int64_t dim;
    Value distance; ///< at - start
  };
  SmallVector<Shifted> shifted;
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    if (axes.empty() || part[dim] == global[dim]) {
      continue;
    }
    int64_t local = shapeOf(operand)[dim], size = std::min(part[dim], local);
    Value start = relativeTo(b, clampTo(b, starts[dim], global[dim] - part[dim]),
                             site.e.shardOffset(axes, local), 0);
    if (part[dim] == 1) {
      isHit = both(b, isHit, isBelow(b, start, local));
      starts[dim] = start;
      continue;
    }
    starts[dim] = clampTo(b, start, local - size);
    Value distance = b.sub(starts[dim], start);
    // Starts below 0 and beyond the end are clamped: then no element of the update is in reach.
    Value padded = padBothEnds(b, update, dim, size, site.e.zero(elementTypeOf(update)));
    Value from = b.add(distance, b.scalar(elementTypeOf(distance), size));
    from = b.convert(from, b.b.getIntegerType(32, /*isSigned=*/true));
    update = site.e.dynamicSliceDim(padded, dim, from, size);
    shifted.push_back({static_cast<int64_t>(dim), distance});
  }
  SmallVector<int64_t> shape(shapeOf(update));
  Value isNew = isHit ? b.broadcastScalar(isHit, shape) : Value();
  for (const Shifted &shift : shifted) {
    Type element = elementTypeOf(shift.distance);
    Value index = b.iota(HloBuilder::array(shape, element), shift.dim);
    index = b.add(index, b.broadcastScalar(shift.distance, shape));
    isNew = both(b, isNew, isBelow(b, index, part[shift.dim]));
  }
  if (isNew) {
    Value old = DynamicSliceOp::create(b.b, b.loc, update.getType(), operand, starts,
                                       b.b.getDenseI64ArrayAttr(shape));
    update = b.select(isNew, update, old);
  }
  Value result =
      DynamicUpdateSliceOp::create(b.b, b.loc, operand.getType(), operand, update, starts);
  return SmallVector<Value>{result};
}

void hlo::spmd::registerIndex(PartitionerTable &table) {
  registerGather(table);
  registerScatter(table);
  table["hlo.dynamic_slice"] = {
      .rule = dynamicSliceRule, .emit = emitDynamicSlice, .sum = sumOfParts};
  table["hlo.dynamic_update_slice"] = {.rule = dynamicUpdateSliceRule,
                                       .emit = emitDynamicUpdateSlice};
}
