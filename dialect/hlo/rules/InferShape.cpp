//===- InferShape.cpp - Rules of data movement ----------------------------===//
//
// Broadcast, reshape, slices, padding and the like: the result's sizes follow from the operand's
// and from attributes, with overflow checks. Ops that read or write at indices are in
// InferIndex.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hlo {

static FailureOr<Type> bitcast(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written)) {
    return failure();
  }
  RankedTensorType operand = asArray(context.type(0)), result = asArray(*written);
  if (!operand != !result) {
    return context.failAt({0}, "c1", "cannot turn ", context.type(0), " into ", *written);
  }
  // Types smaller than a byte may be packed or not.
  auto fillsBytes = [](RankedTensorType array) {
    return isPred(array.getElementType()) || elementBits(array.getElementType()) % 8 == 0;
  };
  std::optional<int64_t> from = byteSize(context.type(0)), to = byteSize(*written);
  if (operand && from && to && *from != *to && fillsBytes(operand) && fillsBytes(result)) {
    return context.failAt({0}, "c2", "sizes in bytes differ: the operand has ", *from,
                          ", the result ", *to);
  }
  return *written;
}

static FailureOr<Type> broadcast(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  if (!operand) {
    return failure();
  }
  ArrayRef<int64_t> dimensions = context.list("dimensions");
  if (!context.isWritten() && dimensions.empty() && operand.getRank() == 0) {
    return Type(operand);
  }
  FailureOr<RankedTensorType> result = context.requiredWrittenArray();
  if (failed(result)) {
    return failure();
  }
  if (static_cast<int64_t>(dimensions.size()) != operand.getRank()) {
    return context.failAt({0}, "c1", "dimensions has ", dimensions.size(),
                          " entries, the operand's rank is ", operand.getRank());
  }
  if (failed(checkDimensions(context, "c2", "dimensions", dimensions, result->getRank()))) {
    return failure();
  }
  for (auto [from, to] : llvm::enumerate(dimensions)) {
    if (!sizesAgree(operand.getDimSize(from), result->getDimSize(to))) {
      (void)context.failAt({0}, "c3", "sizes differ: operand dim ", from, " is ",
                           operand.getDimSize(from), ", result dim ", to, " is ",
                           result->getDimSize(to));
    }
  }
  return context.result(withElement(*result, operand.getElementType()));
}

static FailureOr<Type> concatenate(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  FailureOr<int64_t> dimension = context.requiredInteger("dimension");
  if (failed(operands) || failed(dimension)) {
    return failure();
  }
  RankedTensorType first = operands->front();
  if (failed(checkDimensions(context, "c1", "dimensions", {*dimension}, first.getRank()))) {
    return failure();
  }
  Type element = first.getElementType();
  int64_t total = 0;
  bool bounded = false;
  for (auto [i, operand] : llvm::enumerate(*operands)) {
    if (operand.getRank() != first.getRank()) {
      return context.failAt({0, static_cast<int64_t>(i)}, "c2", "ranks differ: operand 0 is ",
                            first, ", operand ", i, " is ", operand);
    }
    if (operand.getElementType() != element) {
      (void)context.failAt({0, static_cast<int64_t>(i)}, "c3",
                           "element types differ: operand 0 is ", first, ", operand ", i, " is ",
                           operand);
    }
    for (int64_t dim = 0; dim < first.getRank(); ++dim) {
      if (dim != *dimension && !sizesAgree(operand.getDimSize(dim), first.getDimSize(dim))) {
        (void)context.failAt({0, static_cast<int64_t>(i)}, "c4", "sizes of dim ", dim,
                             " differ: operand 0 has ", first.getDimSize(dim), ", operand ", i,
                             " has ", operand.getDimSize(dim));
      }
    }
    bounded |= isBounded(operand, *dimension);
    int64_t size = operand.getDimSize(*dimension);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(total)) {
      total = ShapedType::kDynamic;
    } else if (llvm::AddOverflow(total, size, total)) {
      return context.fail("c5", "the size of dim ", *dimension, " overflows");
    }
  }
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < first.getRank(); ++dim) {
    if (dim == *dimension) {
      shape.add(total, bounded);
    } else {
      shape.add(first, dim);
    }
  }
  return context.result(shape.build(element));
}

static FailureOr<Type> copy(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  return context.type(0);
}

/// Checks that two arrays have the same number of elements, if both are known.
static LogicalResult checkSameCount(RuleContext &context, StringRef label, RankedTensorType operand,
                                    RankedTensorType result) {
  std::optional<int64_t> from = elementCount(operand), to = elementCount(result);
  if (!from || !to || *from == *to) {
    return success();
  }
  return context.failAt({0}, label, "element counts differ: operand ", operand, " has ", *from,
                        ", result ", result, " has ", *to);
}

static FailureOr<Type> reshape(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<RankedTensorType> result = context.requiredWrittenArray();
  if (!operand || failed(result)) {
    return failure();
  }
  (void)checkSameCount(context, "c1", operand, *result);
  if (std::optional<int64_t> inferred = context.integer("inferred_dimension");
      inferred && *inferred != -1) {
    (void)checkDimensions(context, "c2", "inferred_dimension", {*inferred}, result->getRank());
  }
  return context.result(withElement(*result, operand.getElementType()));
}

static FailureOr<Type> dynamicReshape(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<RankedTensorType> result = context.requiredWrittenArray();
  if (!operand || failed(result)) {
    return failure();
  }
  (void)checkSameCount(context, "c1", operand, *result);
  if (context.size() - 1 != result->getRank()) {
    context.fail("c2", "has ", context.size() - 1, " size operands, the result's rank is ",
                 result->getRank());
  }
  for (int64_t i = 1; i < context.size(); ++i) {
    if (!isScalar(context.type(i)) || !isInteger(asArray(context.type(i)).getElementType())) {
      (void)context.failAt({i}, "c3", "size operand ", i - 1, " must be an integer scalar, is ",
                           context.type(i));
    }
  }
  return context.result(withElement(*result, operand.getElementType()));
}

static FailureOr<Type> transpose(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<ArrayRef<int64_t>> dimensions = context.requiredList("dimensions");
  if (!operand || failed(dimensions)) {
    return failure();
  }
  if (static_cast<int64_t>(dimensions->size()) != operand.getRank()) {
    return context.failAt({0}, "c1", "dimensions has ", dimensions->size(),
                          " entries, the operand's rank is ", operand.getRank());
  }
  if (failed(checkDimensions(context, "c2", "dimensions", *dimensions, operand.getRank()))) {
    return failure();
  }
  // With the inferred layout the transpose keeps all bytes in place.
  SmallVector<int64_t> sizes, dynamic, inverse(operand.getRank()), order;
  for (auto [to, from] : llvm::enumerate(*dimensions)) {
    sizes.push_back(operand.getDimSize(from));
    inverse[from] = to;
    if (isBounded(operand, from)) {
      dynamic.push_back(to);
    }
  }
  for (int64_t dim : minorToMajor(operand)) {
    order.push_back(dim >= 0 && dim < operand.getRank() ? inverse[dim] : 0);
  }
  return Type(arrayType(sizes, operand.getElementType(), order, dynamic));
}

static FailureOr<Type> reverse(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<ArrayRef<int64_t>> dimensions = context.requiredList("dimensions");
  if (!operand || failed(dimensions)) {
    return failure();
  }
  (void)checkDimensions(context, "c1", "dimensions", *dimensions, operand.getRank());
  return context.result(operand);
}

static FailureOr<Type> slice(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  auto starts = context.requiredList("start_indices");
  auto limits = context.requiredList("limit_indices");
  auto strides = context.requiredList("strides");
  if (!operand || failed(starts) || failed(limits) || failed(strides)) {
    return failure();
  }
  for (ArrayRef<int64_t> values : {*starts, *limits, *strides}) {
    if (static_cast<int64_t>(values.size()) != operand.getRank()) {
      return context.failAt({0}, "c1", "slice has ", values.size(),
                            " ranges, the operand's rank is ", operand.getRank());
    }
  }
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    int64_t start = (*starts)[dim], limit = (*limits)[dim], stride = (*strides)[dim];
    int64_t size = operand.getDimSize(dim);
    if (start < 0 || start > limit) {
      context.fail("c2", "range of dim ", dim, " starts at ", start, " and ends at ", limit);
    } else if (!ShapedType::isDynamic(size) && limit > size) {
      (void)context.failAt({0}, "c3", "range of dim ", dim, " ends at ", limit, ", the size is ",
                           size);
    }
    if (stride < 1) {
      context.fail("c4", "stride of dim ", dim, " is ", stride, ", must be positive");
    }
    if (!context.hasFailed()) {
      shape.add(static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(limit - start),
                                                      static_cast<uint64_t>(stride))),
                isBounded(operand, dim));
    }
  }
  return context.result(shape.build(operand.getElementType()));
}

/// lo + n + max(n - 1, 0) * interior + hi; none on overflow.
static std::optional<int64_t> paddedSize(int64_t size, int64_t low, int64_t high,
                                         int64_t interior) {
  int64_t total = 0;
  if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior, total) ||
      llvm::AddOverflow(total, size, total) || llvm::AddOverflow(total, low, total) ||
      llvm::AddOverflow(total, high, total)) {
    return std::nullopt;
  }
  return total;
}

static FailureOr<Type> pad(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), value = context.array(1);
  auto low = context.requiredList("padding_low");
  auto high = context.requiredList("padding_high");
  auto interior = context.requiredList("padding_interior");
  if (!operand || !value || failed(low) || failed(high) || failed(interior)) {
    return failure();
  }
  if (value.getRank() != 0) {
    (void)context.failAt({1}, "c1", "the padding value must be a scalar, is ", value);
  }
  if (value.getElementType() != operand.getElementType()) {
    (void)context.failAt({0, 1}, "c2", "element types differ: operand is ", operand,
                         ", padding value is ", value);
  }
  for (ArrayRef<int64_t> values : {*low, *high, *interior}) {
    if (static_cast<int64_t>(values.size()) != operand.getRank()) {
      return context.failAt({0}, "c3", "padding has ", values.size(),
                            " groups, the operand's rank is ", operand.getRank());
    }
  }
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    if ((*interior)[dim] < 0) {
      context.fail("c4", "interior padding of dim ", dim, " is ", (*interior)[dim],
                   ", must not be negative");
      continue;
    }
    int64_t size = operand.getDimSize(dim);
    if (ShapedType::isDynamic(size)) {
      shape.add(size);
      continue;
    }
    std::optional<int64_t> padded = paddedSize(size, (*low)[dim], (*high)[dim], (*interior)[dim]);
    if (!padded) {
      context.fail("c5", "the padded size of dim ", dim, " overflows");
    } else if (*padded < 0) {
      (void)context.failAt({0}, "c6", "the padded size of dim ", dim, " is ", *padded,
                           ", the operand's is ", size);
    } else {
      shape.add(*padded, isBounded(operand, dim));
    }
  }
  return context.result(shape.build(operand.getElementType()));
}

static FailureOr<Type> iota(RuleContext &context) {
  if (failed(context.expectOperands(0))) {
    return failure();
  }
  FailureOr<int64_t> dimension = context.requiredInteger("iota_dimension");
  FailureOr<RankedTensorType> result = context.requiredWrittenArray();
  if (failed(dimension) || failed(result)) {
    return failure();
  }
  if (isPred(result->getElementType())) {
    context.fail("c1", "the result is ", *result,
                 ", its element type must be an integer, floating or complex");
  }
  (void)checkDimensions(context, "c2", "iota_dimension", {*dimension}, result->getRank());
  return context.result(*result);
}

static FailureOr<Type> constant(RuleContext &context) {
  if (failed(context.expectOperands(0))) {
    return failure();
  }
  FailureOr<Type> result = context.requiredWritten();
  if (failed(result)) {
    return failure();
  }
  // A tuple holds its elements' literals; an elided literal has no shape.
  SmallVector<std::pair<Attribute, Type>> pending = {{context.get<Attribute>("value"), *result}};
  while (!pending.empty()) {
    auto [value, type] = pending.pop_back_val();
    if (auto elements = dyn_cast_if_present<DenseElementsAttr>(value)) {
      if (!sameShape(elements.getType(), type)) {
        context.fail("c1", "the literal is ", elements.getType(), ", the shape is ", type);
      }
      continue;
    }
    auto tuple = dyn_cast<TupleType>(type);
    auto values = dyn_cast_if_present<ArrayAttr>(value);
    if (values && tuple) {
      if (values.size() != tuple.size()) {
        context.fail("c2", "the literal has ", values.size(), " elements, the shape ", type,
                     " has ", tuple.size());
        continue;
      }
      for (auto [elementValue, elementType] : llvm::zip(values, tuple.getTypes())) {
        pending.push_back({elementValue, elementType});
      }
    } else if (!isa_and_present<UnitAttr, ElementsAttr>(value)) {
      context.fail("c3", "the literal does not fit the shape ", type);
    }
  }
  return context.result(*result);
}

static FailureOr<Type> getDimensionSize(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  FailureOr<int64_t> dimension = context.requiredInteger("dimension");
  if (!operand || failed(dimension)) {
    return failure();
  }
  if (failed(checkDimensions(context, "c1", "dimensions", {*dimension}, operand.getRank()))) {
    return failure();
  }
  if (operand.getDimSize(*dimension) > std::numeric_limits<int32_t>::max()) {
    return context.failAt({0}, "c2", "dim ", *dimension, " of ", operand, " does not fit into s32");
  }
  return Type(scalarType(IntegerType::get(operand.getContext(), 32, IntegerType::Signed)));
}

static FailureOr<Type> setDimensionSize(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), size = context.array(1);
  FailureOr<int64_t> dimension = context.requiredInteger("dimension");
  if (!operand || !size || failed(dimension)) {
    return failure();
  }
  if (failed(checkDimensions(context, "c1", "dimensions", {*dimension}, operand.getRank()))) {
    return failure();
  }
  if (operand.getDimSize(*dimension) > std::numeric_limits<int32_t>::max()) {
    (void)context.failAt({0}, "c2", "dim ", *dimension, " of ", operand, " does not fit into s32");
  }
  if (size.getRank() != 0 || !size.getElementType().isSignedInteger(32)) {
    (void)context.failAt({1}, "c3", "the size must be s32[], is ", size);
  }
  SmallVector<int64_t> dynamic(boundedDimensions(operand));
  if (!llvm::is_contained(dynamic, *dimension)) {
    dynamic.push_back(*dimension);
    llvm::sort(dynamic);
  }
  return context.result(
      arrayType(operand.getShape(), operand.getElementType(), minorToMajor(operand), dynamic));
}

Rule shapeRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.bitcast", bitcast)
      .Case("hlo.broadcast", broadcast)
      .Case("hlo.concatenate", concatenate)
      .Case("hlo.copy", copy)
      .Case("hlo.reshape", reshape)
      .Case("hlo.dynamic_reshape", dynamicReshape)
      .Case("hlo.transpose", transpose)
      .Case("hlo.reverse", reverse)
      .Case("hlo.slice", slice)
      .Case("hlo.pad", pad)
      .Case("hlo.iota", iota)
      .Case("hlo.constant", constant)
      .Case("hlo.get_dimension_size", getDimensionSize)
      .Case("hlo.set_dimension_size", setDimensionSize)
      .Default(nullptr);
}

} // namespace hlo
