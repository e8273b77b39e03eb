//===- Walk.cpp - The walk over the ops of a function ---------------------===//
//
// Gives each result of each op its sizes (Shapes.cpp), or hands the op to its rule (Dynamic.cpp).
// Regions of loops and branches are walked with the sizes of their operands.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

/// The block arguments of loops have the sizes of the loop's operands; branches give their sizes to
/// the op's results.
LogicalResult Refiner::refineRegions(Operation *op) {
  bool isLoop = isa<stablehlo::WhileOp>(op);
  bool isBranch = isa<stablehlo::CaseOp, stablehlo::IfOp>(op);
  if (!isLoop && !isBranch) {
    return success(); // scalars
  }
  SmallVector<Sizes> results;
  for (Region &region : op->getRegions()) {
    if (region.empty()) {
      continue;
    }
    Block &block = region.front();
    for (BlockArgument argument : block.getArguments()) {
      RankedTensorType type = arrayType(argument);
      if (type && !type.hasStaticShape() &&
          failed(setSizes(argument, sizesOf(op->getOperand(argument.getArgNumber()))))) {
        return failure();
      }
    }
    if (failed(refineBlock(block))) {
      return failure();
    }
    Operation *end = block.getTerminator();
    if (end->getNumOperands() != op->getNumResults()) {
      continue; // a loop's condition
    }
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      RankedTensorType declared = arrayType(op->getResult(i));
      if (!declared || declared.hasStaticShape()) {
        results.resize(std::max(results.size(), i + 1));
        continue;
      }
      Sizes own = sizesOf(value);
      Sizes expected =
          isLoop ? sizesOf(op->getOperand(i)) : (results.size() > i ? results[i] : own);
      if (results.size() <= i) {
        results.resize(i + 1);
        results[i] = own;
      }
      for (auto [dim, pair] : llvm::enumerate(llvm::zip(own, expected))) {
        auto [mine, wanted] = pair;
        if (mine != wanted) {
          return refuse(op, "result " + Twine(i) + " has size " + mine.text() + " in dimension " +
                                Twine(dim) +
                                (isLoop ? " after an iteration, " : " in one branch, ") +
                                wanted.text() + (isLoop ? " before it" : " in another"));
        }
      }
    }
  }
  for (OpResult result : op->getResults()) {
    RankedTensorType type = arrayType(result);
    if (type && !type.hasStaticShape()) {
      unsigned i = result.getResultNumber();
      if (failed(setSizes(result, isLoop ? sizesOf(op->getOperand(i)) : results[i]))) {
        return failure();
      }
    }
  }
  return success();
}

/// Ops with two operands of the result's shape.
static bool isPointwise(Operation *op) {
  return llvm::is_contained({"add", "subtract", "multiply", "divide", "remainder", "maximum",
                             "minimum", "power", "atan2", "and", "or", "xor", "compare",
                             "shift_left", "shift_right_logical", "shift_right_arithmetic",
                             "complex", "clamp"},
                            op->getName().stripDialect());
}

/// The bounds of the parts may sum up to more than the bound of the sum: x[n/2:] and x[:n/2] of n
/// elements. The result is then cut.
LogicalResult Refiner::concatenate(Operation *op) {
  int64_t along = op->getAttrOfType<IntegerAttr>("dimension").getInt(), total = 0;
  FailureOr<Sizes> own = inferSizes(op, 0);
  if (failed(own)) {
    return failure();
  }
  for (Value part : op->getOperands()) {
    total += boundOf(sizesOf(part)[along]);
  }
  Value result = op->getResult(0);
  if (isData((*own)[along]) || total == boundOf((*own)[along])) {
    return setSizes(result, *own);
  }
  builder.setInsertionPoint(op);
  SmallVector<Value> parts;
  for (Value part : op->getOperands()) {
    parts.push_back(part);
  }
  Sizes wide = *own;
  wide[along] = total;
  // A size that is not the sum of the bounds: the elements are at their places all the same.
  FailureOr<RankedTensorType> type = boundedType(op->getLoc(), arrayType(result), wide);
  if (failed(type)) {
    return failure();
  }
  SmallVector<int64_t> limits(wide.size(), ShapedType::kDynamic), shape(type->getShape());
  for (size_t dim = 0; dim < wide.size(); ++dim) {
    if (static_cast<int64_t>(dim) == along) {
      shape[dim] = ShapedType::kDynamic;
      limits[dim] = total;
    } else if (!wide[dim].constant()) {
      limits[dim] = boundOf(wide[dim]);
    }
  }
  auto bounded = RankedTensorType::get(
      shape, type->getElementType(), stablehlo::TypeExtensionsAttr::get(op->getContext(), limits));
  Value all = make("stablehlo.concatenate", parts, bounded,
                   builder.getNamedAttr("dimension", builder.getI64IntegerAttr(along)));
  // Forgets the size along the dimension, which the bound does not say.
  SmallVector<int64_t> whole(shape);
  whole[along] = total;
  all = make("stablehlo.set_dimension_size", {all, s32(total)},
             RankedTensorType::get(whole, type->getElementType(), type->getEncoding()),
             builder.getNamedAttr("dimension", builder.getI64IntegerAttr(along)));
  sizes[all] = wide;
  replace(op, resized(all, *own));
  return success();
}

LogicalResult Refiner::refineOp(Operation *op) {
  bool isDynamic = llvm::any_of(op->getResultTypes(), [](Type type) {
    auto array = dyn_cast<RankedTensorType>(type);
    return array && !array.hasStaticShape();
  });
  if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op)) {
    return refineRegions(op);
  }
  if (auto get = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    evaluate(op);
    bool isSymbol =
        llvm::any_of(symbols, [&](const Symbol &s) { return s.value == get.getResult(); });
    if (isSymbol || (op->getBlock() == sizesEnd->getBlock() && op->isBeforeInBlock(sizesEnd))) {
      return success();
    }
    auto argument = dyn_cast<BlockArgument>(get.getOperand());
    if (argument && argument.getOwner() == &main.getBody().front() &&
        inexact.contains(dimensionKey(argument, get.getDimension()))) {
      return success();
    }
    SizeExpr size = sizesOf(get.getOperand())[get.getDimension()];
    builder.setInsertionPoint(op);
    Value known =
        size.constant()
            ? constantInt(cast<RankedTensorType>(get.getType()).getElementType(), *size.constant())
            : sizeValue(size);
    if (known.getType() != get.getType()) {
      known = make("stablehlo.convert", known, get.getType());
    }
    elements[known] = {size};
    replace(op, known);
    return success();
  }
  StringRef name = op->getName().stripDialect();
  if (name.starts_with("dynamic_") || name == "real_dynamic_slice" || name == "custom_call") {
    if (!isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(op)) {
      return refineDynamic(op);
    }
  }
  if (isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(op)) {
    clampIndices(op);
  } else if (isa<stablehlo::GatherOp>(op)) {
    clampGather(op);
  }
  if (!isDynamic) {
    evaluate(op);
    return success();
  }
  if (isa<stablehlo::ConcatenateOp>(op)) {
    return concatenate(op);
  }
  for (OpResult result : op->getResults()) {
    RankedTensorType type = arrayType(result);
    if (!type || type.hasStaticShape()) {
      continue;
    }
    FailureOr<Sizes> own = inferSizes(op, result.getResultNumber());
    if (failed(own) || failed(setSizes(result, *own))) {
      return failure();
    }
    // Operands of one size that is written in two ways may have two bounds.
    if (op->getNumOperands() > 1 && (isa<stablehlo::SelectOp>(op) || isPointwise(op))) {
      builder.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands()) {
        RankedTensorType from = arrayType(operand.get());
        if (from && from.getRank() == type.getRank() && from.getRank() > 0) {
          operand.set(resized(operand.get(), *own));
        }
      }
    }
  }
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (failed(refineOp(&op))) {
      return failure();
    }
  }
  return success();
}
