//===- InferLinalg.cpp - Rules of dots and convolution --------------------===//
//
// Dimension numbers must be in range, unique and pair equal sizes. The result's element type is the
// written one, else the higher class and wider type of the operands'.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

/// The element type of a product: the written one if there is one.
static Type productElement(RuleContext &context, Type lhs, Type rhs) {
  RankedTensorType written = context.writtenArray();
  return written ? written.getElementType() : productType(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// The dimension numbers of a dot-like op.
struct DotNumbers {
  ArrayRef<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
};

static DotNumbers dotNumbers(RuleContext &context) {
  return {context.list("lhs_batch_dims"), context.list("rhs_batch_dims"),
          context.list("lhs_contracting_dims"), context.list("rhs_contracting_dims")};
}

/// Checks that paired dimensions have equal sizes.
static void checkPairs(RuleContext &context, StringRef label, StringRef what, RankedTensorType lhs,
                       RankedTensorType rhs, ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims) {
  for (auto [lhsDim, rhsDim] : llvm::zip(lhsDims, rhsDims)) {
    if (!sizesAgree(lhs.getDimSize(lhsDim), rhs.getDimSize(rhsDim))) {
      (void)context.failAt({0, 1}, label, what, " sizes differ: lhs dim ", lhsDim, " is ",
                           lhs.getDimSize(lhsDim), ", rhs dim ", rhsDim, " is ",
                           rhs.getDimSize(rhsDim));
    }
  }
}

static LogicalResult checkDot(RuleContext &context, const DotNumbers &numbers, RankedTensorType lhs,
                              RankedTensorType rhs) {
  SmallVector<int64_t> lhsDims(numbers.lhsBatch), rhsDims(numbers.rhsBatch);
  llvm::append_range(lhsDims, numbers.lhsContracting);
  llvm::append_range(rhsDims, numbers.rhsContracting);
  (void)checkDimensions(context, "c1", "lhs batch and contracting dims", lhsDims, lhs.getRank());
  (void)checkDimensions(context, "c1", "rhs batch and contracting dims", rhsDims, rhs.getRank());
  if (numbers.lhsBatch.size() != numbers.rhsBatch.size()) {
    context.fail("c2", "batch dims differ in number: lhs has ", numbers.lhsBatch.size(),
                 ", rhs has ", numbers.rhsBatch.size());
  }
  if (numbers.lhsContracting.size() != numbers.rhsContracting.size()) {
    context.fail("c3", "contracting dims differ in number: lhs has ", numbers.lhsContracting.size(),
                 ", rhs has ", numbers.rhsContracting.size());
  }
  if (context.hasFailed()) {
    return failure();
  }
  checkPairs(context, "c4", "contracting", lhs, rhs, numbers.lhsContracting,
             numbers.rhsContracting);
  checkPairs(context, "c5", "batch", lhs, rhs, numbers.lhsBatch, numbers.rhsBatch);
  return success(!context.hasFailed());
}

/// Adds the dimensions of `array` that are in none of the lists.
static void addFree(ShapeBuilder &shape, RankedTensorType array, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> contracting, ArrayRef<int64_t> group = {}) {
  for (int64_t dim = 0; dim < array.getRank(); ++dim) {
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim) &&
        !llvm::is_contained(group, dim)) {
      shape.add(array, dim);
    }
  }
}

/// Batch, lhs free, rhs free.
static void addDotDims(ShapeBuilder &shape, const DotNumbers &numbers, RankedTensorType lhs,
                       RankedTensorType rhs, ArrayRef<int64_t> rhsGroup = {}) {
  for (int64_t dim : numbers.lhsBatch) {
    shape.add(lhs, dim);
  }
  addFree(shape, lhs, numbers.lhsBatch, numbers.lhsContracting);
  addFree(shape, rhs, numbers.rhsBatch, numbers.rhsContracting, rhsGroup);
}

static FailureOr<Type> dot(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType lhs = context.array(0), rhs = context.array(1);
  DotNumbers numbers = dotNumbers(context);
  if (!lhs || !rhs || failed(checkDot(context, numbers, lhs, rhs))) {
    return failure();
  }
  ShapeBuilder shape;
  addDotDims(shape, numbers, lhs, rhs);
  return Type(shape.build(productElement(context, lhs.getElementType(), rhs.getElementType())));
}

/// `scale` has the operand's rank and divides its sizes, or is a scalar.
static void checkScale(RuleContext &context, int64_t i, RankedTensorType operand,
                       RankedTensorType scale) {
  if (scale.getRank() == 0) {
    return;
  }
  if (scale.getRank() != operand.getRank()) {
    (void)context.failAt({i, i + 2}, "c6", "ranks differ: operand ", i, " is ", operand,
                         ", its scale is ", scale);
    return;
  }
  for (int64_t dim = 0; dim < scale.getRank(); ++dim) {
    int64_t whole = operand.getDimSize(dim), part = scale.getDimSize(dim);
    if (ShapedType::isDynamic(whole) || ShapedType::isDynamic(part) || whole == part) {
      continue;
    }
    if (part <= 0 || whole % part != 0) {
      (void)context.failAt({i, i + 2}, "c7", "dim ", dim, " of the scale is ", part,
                           ", must divide the operand's, ", whole);
    }
  }
}

static FailureOr<Type> scaledDot(RuleContext &context) {
  if (failed(context.expectOperands(4))) {
    return failure();
  }
  auto operands = context.arrays();
  if (failed(operands)) {
    return failure();
  }
  ArrayRef<RankedTensorType> all(*operands);
  DotNumbers numbers = dotNumbers(context);
  if (failed(checkDot(context, numbers, all[0], all[1]))) {
    return failure();
  }
  for (auto [i, array] : llvm::enumerate(all)) {
    if (isComplex(array.getElementType())) {
      (void)context.failAt({static_cast<int64_t>(i)}, "c9", "operand ", i,
                           " must hold real numbers, is ", array);
    }
  }
  checkScale(context, 0, all[0], all[2]);
  checkScale(context, 1, all[1], all[3]);
  if (all[2].getRank() == 0 && all[3].getRank() == 0 &&
      (all[0].getRank() != 0 || all[1].getRank() != 0)) {
    (void)context.failAt({2, 3}, "c8", "both scales are scalars: lhs scale is ", all[2],
                         ", rhs scale is ", all[3]);
  }
  FailureOr<RankedTensorType> written = context.requiredWrittenArray();
  if (failed(written)) {
    return failure();
  }
  ShapeBuilder shape;
  addDotDims(shape, numbers, all[0], all[1]);
  return context.result(shape.build(written->getElementType()));
}

/// Checks that group sizes are `[groups]`, or `[prefix..., groups]`.
static void checkGroupSizes(RuleContext &context, RankedTensorType sizes,
                            ArrayRef<int64_t> prefix) {
  if (!isInteger(sizes.getElementType())) {
    (void)context.failAt({2}, "c9", "group sizes must be integers, are ", sizes);
  }
  if (sizes.getRank() == 1) {
    return;
  }
  if (sizes.getRank() != static_cast<int64_t>(prefix.size()) + 1) {
    (void)context.failAt({2}, "c10", "group sizes are ", sizes, ", the rank must be 1 or ",
                         prefix.size() + 1);
    return;
  }
  for (auto [dim, size] : llvm::enumerate(prefix)) {
    if (!sizesAgree(sizes.getDimSize(dim), size)) {
      (void)context.failAt({0, 2}, "c10", "dim ", dim, " of the group sizes is ",
                           sizes.getDimSize(dim), ", must be ", size);
    }
  }
}

static FailureOr<Type> raggedDot(RuleContext &context) {
  if (failed(context.expectOperands(3))) {
    return failure();
  }
  RankedTensorType lhs = context.array(0), rhs = context.array(1), sizes = context.array(2);
  DotNumbers numbers = dotNumbers(context);
  ArrayRef<int64_t> ragged = context.list("lhs_ragged_dims");
  ArrayRef<int64_t> group = context.list("rhs_group_dims");
  if (!lhs || !rhs || !sizes || failed(checkDot(context, numbers, lhs, rhs))) {
    return failure();
  }
  if (ragged.size() != 1) {
    return context.fail("c6", "expects one lhs ragged dim, has ", ragged.size());
  }
  if (failed(checkDimensions(context, "c6", "lhs_ragged_dims", ragged, lhs.getRank())) ||
      failed(checkDimensions(context, "c7", "rhs_group_dims", group, rhs.getRank())) ||
      sizes.getRank() == 0) {
    if (sizes.getRank() == 0) {
      (void)context.failAt({2}, "c10", "group sizes must have a dimension, are ", sizes);
    }
    return failure();
  }
  bool isBatch = llvm::is_contained(numbers.lhsBatch, ragged[0]);
  bool isContracting = llvm::is_contained(numbers.lhsContracting, ragged[0]);
  bool isFree = !isBatch && !isContracting;
  int64_t groups = sizes.getDimSize(sizes.getRank() - 1);
  if (group.size() != (isFree ? 1 : 0)) {
    return context.fail("c7", "expects ", isFree ? 1 : 0, " rhs group dims when lhs dim ",
                        ragged[0], isFree ? " is free" : " is a batch or contracting dim", ", has ",
                        group.size());
  }
  if (isFree) {
    if (llvm::is_contained(numbers.rhsBatch, group[0]) ||
        llvm::is_contained(numbers.rhsContracting, group[0])) {
      return context.fail("c7", "rhs group dim ", group[0], " is a batch or contracting dim");
    }
    if (!sizesAgree(rhs.getDimSize(group[0]), groups)) {
      return context.failAt({1, 2}, "c8", "group counts differ: rhs dim ", group[0], " is ",
                            rhs.getDimSize(group[0]), ", the group sizes hold ", groups);
    }
  }
  // The group sizes may have dimensions for all dimensions except the ragged one.
  SmallVector<int64_t> prefix;
  auto addUpTo = [&](ArrayRef<int64_t> dims) {
    for (int64_t dim : dims) {
      if (dim == ragged[0]) {
        return;
      }
      prefix.push_back(lhs.getDimSize(dim));
    }
  };
  addUpTo(numbers.lhsBatch);
  if (isContracting) {
    addUpTo(numbers.lhsContracting);
  } else if (isFree) {
    for (int64_t dim = 0; dim < ragged[0]; ++dim) {
      if (!llvm::is_contained(numbers.lhsBatch, dim) &&
          !llvm::is_contained(numbers.lhsContracting, dim)) {
        prefix.push_back(lhs.getDimSize(dim));
      }
    }
  }
  checkGroupSizes(context, sizes, prefix);
  ShapeBuilder shape;
  if (isContracting) {
    shape.add(groups);
  }
  addDotDims(shape, numbers, lhs, rhs, group);
  return context.result(
      shape.build(productElement(context, lhs.getElementType(), rhs.getElementType())));
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Checks that two labels and the spatial ones name each dimension once.
static LogicalResult checkLabels(RuleContext &context, StringRef what, int64_t first,
                                 int64_t second, ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> dims = {first, second};
  llvm::append_range(dims, spatial);
  if (static_cast<int64_t>(dims.size()) != rank) {
    return context.fail("c1", "dim_labels name ", dims.size(), " dimensions of the ", what,
                        ", its rank is ", rank);
  }
  return checkDimensions(context, "c1", what, dims, rank);
}

static FailureOr<Type> convolution(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType lhs = context.array(0), rhs = context.array(1);
  auto labels = context.get<ConvDimsAttr>("dim_labels");
  auto window = context.get<WindowAttr>("window");
  if (!lhs || !rhs) {
    return failure();
  }
  if (!labels) {
    return context.fail("c0", "attribute 'dim_labels' is missing");
  }
  int64_t spatial = labels.getInputSpatial().size();
  int64_t featureGroups = context.integer("feature_group_count").value_or(1);
  int64_t batchGroups = context.integer("batch_group_count").value_or(1);
  (void)checkLabels(context, "input", labels.getInputBatch(), labels.getInputFeature(),
                    labels.getInputSpatial(), lhs.getRank());
  (void)checkLabels(context, "kernel", labels.getKernelInputFeature(),
                    labels.getKernelOutputFeature(), labels.getKernelSpatial(), rhs.getRank());
  (void)checkLabels(context, "output", labels.getOutputBatch(), labels.getOutputFeature(),
                    labels.getOutputSpatial(), spatial + 2);
  if (static_cast<int64_t>(labels.getKernelSpatial().size()) != spatial) {
    context.fail("c1", "dim_labels name ", spatial, " spatial dimensions of the input and ",
                 labels.getKernelSpatial().size(), " of the kernel");
  }
  if (featureGroups < 1 || batchGroups < 1) {
    context.fail("c2", "feature_group_count is ", featureGroups, ", batch_group_count is ",
                 batchGroups, ", both must be positive");
  } else if (featureGroups > 1 && batchGroups > 1) {
    context.fail("c3", "feature_group_count is ", featureGroups, ", batch_group_count is ",
                 batchGroups, ", only one may exceed 1");
  }
  if (context.hasFailed() || failed(checkWindow(context, "c4", window, spatial))) {
    return failure();
  }
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t size = rhs.getDimSize(labels.getKernelSpatial()[d]);
    if (!sizesAgree(size, window.getSize()[d])) {
      (void)context.failAt({1}, "c5", "window size of spatial dim ", d, " is ", window.getSize()[d],
                           ", the kernel's is ", size);
    }
  }
  // Floating and complex types may be mixed, integers of one signedness too, and pred with
  // everything.
  Type lhsElement = lhs.getElementType(), rhsElement = rhs.getElementType();
  auto isReal = [](Type element) { return isFloat(element) || isComplex(element); };
  bool bothNumbers = !isPred(lhsElement) && !isPred(rhsElement);
  if (bothNumbers &&
      (isReal(lhsElement) != isReal(rhsElement) || isSigned(lhsElement) != isSigned(rhsElement))) {
    (void)context.failAt({0, 1}, "c10", "element types differ: input is ", lhs, ", kernel is ",
                         rhs);
  }
  int64_t inputFeatures = lhs.getDimSize(labels.getInputFeature());
  int64_t kernelFeatures = rhs.getDimSize(labels.getKernelInputFeature());
  int64_t outputFeatures = rhs.getDimSize(labels.getKernelOutputFeature());
  int64_t batch = lhs.getDimSize(labels.getInputBatch());
  auto isStatic = [](int64_t size) { return !ShapedType::isDynamic(size); };
  if (isStatic(inputFeatures) && isStatic(kernelFeatures) &&
      (inputFeatures % featureGroups != 0 || inputFeatures / featureGroups != kernelFeatures)) {
    (void)context.failAt({0, 1}, "c6", "features differ: input has ", inputFeatures,
                         ", kernel has ", kernelFeatures, " in ", featureGroups,
                         featureGroups == 1 ? " group" : " groups");
  }
  if (isStatic(outputFeatures) &&
      (outputFeatures % featureGroups != 0 || outputFeatures % batchGroups != 0)) {
    (void)context.failAt({1}, "c7", "output features, ", outputFeatures,
                         ", must be divisible by feature_group_count, ", featureGroups,
                         ", and by batch_group_count, ", batchGroups);
  }
  if (isStatic(batch) && batch % batchGroups != 0) {
    (void)context.failAt({0}, "c8", "batch size ", batch,
                         " must be divisible by batch_group_count, ", batchGroups);
  }
  SmallVector<int64_t> sizes(spatial + 2), dynamic;
  auto set = [&](int64_t dim, int64_t size, bool bounded) {
    sizes[dim] = size;
    if (bounded) {
      dynamic.push_back(dim);
    }
  };
  set(labels.getOutputBatch(), isStatic(batch) ? batch / batchGroups : batch,
      isBounded(lhs, labels.getInputBatch()));
  set(labels.getOutputFeature(), outputFeatures, isBounded(rhs, labels.getKernelOutputFeature()));
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t input = labels.getInputSpatial()[d];
    std::optional<int64_t> size = windowOutput(lhs.getDimSize(input), window, d);
    if (!size) {
      (void)context.failAt({0}, "c9", "output size of spatial dim ", d, " overflows");
    }
    set(labels.getOutputSpatial()[d], size.value_or(0), isBounded(lhs, input));
  }
  llvm::sort(dynamic);
  return context.result(arrayType(
      sizes, productElement(context, lhs.getElementType(), rhs.getElementType()), {}, dynamic));
}

Rule linalgRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.dot", dot)
      .Case("hlo.scaled_dot", scaledDot)
      .Case("hlo.ragged_dot", raggedDot)
      .Case("hlo.convolution", convolution)
      .Default(nullptr);
}

} // namespace hlo
