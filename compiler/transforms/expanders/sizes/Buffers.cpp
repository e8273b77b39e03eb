//===- Buffers.cpp - Parameters and results in the caller's buffers -------===//
//
// Buffers of the bound's shape:
//
//   parameter   its leading part, in place if it is a run of bytes at the start (Shrink.cpp)
//   result      computed at the start of the buffer if its part is such a run, else copied there
//
// Buffers that are dense for the sizes of the call:
//
//   a version for one size     both in place, whatever the dimensions
//   a version for more sizes   unpack(parameter), with the strides of the version's largest size;
//                              pack(result)
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/sizes/Buffers.h"
#include "compiler/transforms/expanders/SizeEmitter.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

/// Keeps ops of different results apart.
static constexpr llvm::StringLiteral kOfResult = "hlo.of_result";

Value sizes::grown(HloBuilder &b, Value part, RankedTensorType whole) {
  if (part.getType() == whole) {
    return part;
  }
  if (isContiguous(whole.getShape(), shapeOf(part))) {
    return ResizeOp::create(b.b, b.loc, whole, part);
  }
  SmallVector<int64_t> none(whole.getShape());
  none[0] = 0;
  auto empty = DenseElementsAttr::get(RankedTensorType::get(none, whole.getElementType()),
                                      ArrayRef<Attribute>());
  Value anything = ResizeOp::create(b.b, b.loc, whole, b.constant(empty));
  SmallVector<Value> starts(none.size(), b.index(0));
  return DynamicUpdateSliceOp::create(b.b, b.loc, whole, anything, part, starts);
}

SmallVector<LeafSizes> sizes::sizesOfLeaves(HloBuilder &b, ArrayRef<EntryLeaf> leaves,
                                            function_ref<Value(size_t)> value) {
  SmallVector<LeafSizes> all(leaves.size());
  auto add = [&](size_t leaf, int64_t dim, Value size) {
    SmallVector<int64_t> order = majorToMinor(leaves[leaf].type);
    all[leaf].dims.push_back(llvm::find(order, dim) - order.begin());
    all[leaf].values.push_back(size);
  };
  llvm::StringMap<Value> symbols;
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    if (leaf.sizeOf >= 0 && leaf.symbol.empty()) {
      add(leaf.sizeOf, leaf.sizeDim, value(i));
    } else if (leaf.sizeOf >= 0) {
      symbols[leaf.symbol] = b.convert(value(i), b.b.getIntegerType(32, true));
    }
  }
  SizeEmitter emitter(b, symbols);
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    // Results have a leaf for each size.
    bool isComputed = !leaf.sizes.empty() && all[i].dims.empty();
    for (int64_t dim : isComputed ? boundedDimensions(leaf.type) : ArrayRef<int64_t>()) {
      std::optional<SizeExpr> size = SizeExpr::parse(leaf.sizes[dim]);
      Value computed = size ? emitter.emit(*size) : Value();
      assert(computed && "hlo-dynamic-padder writes expressions of the symbols that are leaves");
      add(i, dim, b.convert(computed, b.b.getIntegerType(64, true)));
    }
  }
  return all;
}

/// True if the part of an array has exactly the sizes, in every call.
static bool isExact(const LeafSizes &sizes, ArrayRef<int64_t> part, const Facts &facts) {
  for (auto [dim, value] : llvm::zip(sizes.dims, sizes.values)) {
    std::optional<Interval> size = facts.intervalOf(value);
    if (!size || size->lo != size->hi || size->lo != part[dim]) {
      return false;
    }
  }
  return true;
}

void sizes::unpackParameters(HloBuilder &b, Block &body, ArrayRef<LeafSizes> leaves,
                             const Facts &facts) {
  for (auto [i, sizes] : llvm::enumerate(leaves)) {
    BlockArgument argument = body.getArgument(i);
    if (sizes.dims.empty() || argument.use_empty()) {
      continue;
    }
    SmallVector<int64_t> box(shapeOf(argument)), none(box.size(), 0), high;
    for (auto [dim, own] : llvm::zip(sizes.dims, sizes.values)) {
      std::optional<Interval> size = facts.intervalOf(own);
      int64_t most = size ? size->hi : box[dim];
      box[dim] = limitedTo(most, box[dim]);
    }
    RankedTensorType type = HloBuilder::array(box, elementTypeOf(argument));
    Value part;
    if (isExact(sizes, box, facts)) {
      part = ResizeOp::create(b.b, b.loc, type, argument);
    } else {
      part = UnpackOp::create(b.b, b.loc, type, argument, sizes.values, sizes.dims);
    }
    for (auto [whole, own] : llvm::zip(shapeOf(argument), box)) {
      high.push_back(whole - own);
    }
    // Nothing beyond the largest size counts.
    Value whole = b.pad(part, b.scalar(type.getElementType(), 0), none, high, none);
    argument.replaceUsesWithIf(
        whole, [&](OpOperand &use) { return use.getOwner() != part.getDefiningOp(); });
  }
}

Value sizes::packed(HloBuilder &b, Value part, RankedTensorType whole, size_t result,
                    const LeafSizes &sizes, const Facts &facts) {
  bool inPlace = isExact(sizes, shapeOf(part), facts) && !part.getDefiningOp<ResizeOp>();
  Operation *op = inPlace ? ResizeOp::create(b.b, b.loc, whole, part).getOperation()
                          : PackOp::create(b.b, b.loc, whole, part, sizes.values, sizes.dims);
  op->setAttr(kOfResult, b.b.getI64IntegerAttr(result));
  return op->getResult(0);
}
