//===- Slice.cpp - Rules of slices, pads and concatenations ---------------===//
#include "dialect/stablehlo/rules/Rule.h"

using namespace mlir;
using namespace stablehlo;

static bool sameElements(Check &check, StringRef label, Type a, Type b) {
  return check.require(elementsAgree(cast<RankedTensorType>(a).getElementType(),
                                     cast<RankedTensorType>(b).getElementType()),
                       label, "the elements of ", a, " and ", b, " differ");
}

/// The size of a dimension, or its bound; `?` if it has neither.
static int64_t limitOf(RankedTensorType array, int64_t dim) {
  ArrayRef<int64_t> bounds = boundsOf(array);
  return array.isDynamicDim(dim) && !bounds.empty() ? bounds[dim] : array.getDimSize(dim);
}

static void slice(Check &check) {
  auto op = cast<SliceOp>(check.getOp());
  RankedTensorType operand = check.operand(0);
  ArrayRef<int64_t> starts = op.getStartIndices(), limits = op.getLimitIndices(),
                    strides = op.getStrides();
  int64_t rank = operand.getRank();
  sameElements(check, "c1", operand, check.resultType(0));
  bool valid = check.hasSize("c2", "start_indices", starts.size(), rank) &&
               check.hasSize("c2", "limit_indices", limits.size(), rank) &&
               check.hasSize("c2", "strides", strides.size(), rank) &&
               check.positive("c4", "strides", strides);
  if (!valid) {
    return;
  }
  SmallVector<int64_t> expected;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = limitOf(operand, dim);
    bool inside = starts[dim] >= 0 && starts[dim] <= limits[dim] &&
                  (ShapedType::isDynamic(size) || limits[dim] <= size);
    if (!check.require(inside, "c3", "dimension ", dim, " of size ", size, " is sliced from ",
                       starts[dim], " to ", limits[dim])) {
      return;
    }
    // No overflow: the difference is at least 0, the stride at least 1.
    int64_t length = limits[dim] - starts[dim];
    expected.push_back(length / strides[dim] + (length % strides[dim] != 0));
  }
  check.resultShape("c5", expected);
}

/// The start indices are scalars of one type, one for each dimension.
static void startIndices(Check &check, OperandRange indices, int64_t rank, StringRef count,
                         StringRef type) {
  check.hasSize(count, "start_indices", indices.size(), rank);
  for (Value index : indices) {
    auto array = cast<RankedTensorType>(index.getType());
    check.require(array.getRank() == 0, type, "a start index is ", array, ", expected a scalar");
    check.require(array == indices.front().getType(), type, "the start indices are of types ",
                  indices.front().getType(), " and ", array);
  }
}

static void dynamicSlice(Check &check) {
  auto op = cast<DynamicSliceOp>(check.getOp());
  RankedTensorType operand = check.operand(0);
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  sameElements(check, "c1", operand, check.resultType(0));
  startIndices(check, op.getStartIndices(), operand.getRank(), "c2", "c3");
  if (!check.hasSize("c2", "slice_sizes", sizes.size(), operand.getRank())) {
    return;
  }
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t limit = operand.getDimSize(dim);
    check.require(size >= 0 && (ShapedType::isDynamic(limit) || size <= limit), "c4",
                  "slice_sizes has ", size, " for dimension ", dim, " of size ", limit);
  }
  check.resultShape("c5", sizes);
}

static void dynamicUpdateSlice(Check &check) {
  auto op = cast<DynamicUpdateSliceOp>(check.getOp());
  RankedTensorType operand = op.getOperand().getType(), update = op.getUpdate().getType();
  check.require(typesAgree(operand, check.resultType(0)), "c1", "the operand is ", operand,
                ", the result ", check.resultType(0));
  sameElements(check, "c2", operand, update);
  startIndices(check, op.getStartIndices(), operand.getRank(), "c4", "c5");
  if (!check.require(update.getRank() == operand.getRank(), "c3", "the operand is ", operand,
                     ", the update ", update)) {
    return;
  }
  for (auto [dim, size] : llvm::enumerate(update.getShape())) {
    int64_t limit = operand.getDimSize(dim);
    check.require(ShapedType::isDynamic(size) || ShapedType::isDynamic(limit) || size <= limit,
                  "c6", "dimension ", dim, " of the update has size ", size, ", of the operand ",
                  limit);
  }
}

static void realDynamicSlice(Check &check) {
  RankedTensorType operand = check.operand(0);
  sameElements(check, "c1", operand, check.resultType(0));
  check.require(operand.getRank() == check.result().getRank(), "c2", "the operand is ", operand,
                ", the result ", check.resultType(0));
  for (unsigned i = 1; i < 4; ++i) {
    RankedTensorType list = check.operand(i);
    check.require(list == check.operand(1), "c3", "the lists of indices are ", check.operandType(1),
                  " and ", list);
    check.require(list.getRank() == 1 && sizesAgree(list.getDimSize(0), operand.getRank()), "c4",
                  "operand ", i, " is ", list, ", expected ", operand.getRank(), " entries");
  }
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

/// Size of a padded dimension; none if it is negative or overflows.
static std::optional<int64_t> paddedSize(int64_t size, int64_t low, int64_t high,
                                         int64_t interior) {
  int64_t total, gaps;
  if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior, gaps) ||
      llvm::AddOverflow(size, gaps, total) || llvm::AddOverflow(total, low, total) ||
      llvm::AddOverflow(total, high, total) || total < 0) {
    return std::nullopt;
  }
  return total;
}

static void padElements(Check &check, RankedTensorType value) {
  sameElements(check, "c1", check.operandType(0), value);
  sameElements(check, "c1", check.operandType(0), check.resultType(0));
  check.require(value.getRank() == 0, "i2", "padding_value is ", value, ", expected a scalar");
}

static void padSizes(Check &check, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                     ArrayRef<int64_t> interior) {
  RankedTensorType operand = check.operand(0);
  SmallVector<int64_t> expected;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    if (!check.require(interior[dim] >= 0, "c3", "interior_padding has ", interior[dim])) {
      return;
    }
    int64_t size = limitOf(operand, dim);
    if (ShapedType::isDynamic(size)) {
      expected.push_back(size);
      continue;
    }
    std::optional<int64_t> padded = paddedSize(size, low[dim], high[dim], interior[dim]);
    if (!check.require(padded.has_value(), "c4", "dimension ", dim, " of size ", size,
                       " has no valid size after padding with ", low[dim], ", ", high[dim], ", ",
                       interior[dim])) {
      return;
    }
    expected.push_back(operand.isDynamicDim(dim) ? ShapedType::kDynamic : *padded);
  }
  check.resultShape("c4", expected);
}

static void pad(Check &check) {
  auto op = cast<PadOp>(check.getOp());
  int64_t rank = check.operand(0).getRank();
  padElements(check, op.getPaddingValue().getType());
  bool valid = check.hasSize("c2", "edge_padding_low", op.getEdgePaddingLow().size(), rank) &&
               check.hasSize("c2", "edge_padding_high", op.getEdgePaddingHigh().size(), rank) &&
               check.hasSize("c2", "interior_padding", op.getInteriorPadding().size(), rank);
  if (valid) {
    padSizes(check, op.getEdgePaddingLow(), op.getEdgePaddingHigh(), op.getInteriorPadding());
  }
}

static void dynamicPad(Check &check) {
  auto op = cast<DynamicPadOp>(check.getOp());
  RankedTensorType operand = check.operand(0);
  padElements(check, op.getPaddingValue().getType());
  std::array<Value, 3> lists = {op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
                                op.getInteriorPadding()};
  for (Value list : lists) {
    auto type = cast<RankedTensorType>(list.getType());
    if (!check.require(type == lists[0].getType() && isStaticVector(type) &&
                           type.getDimSize(0) == operand.getRank(),
                       "c2", "a list of paddings is ", type, ", expected ", operand.getRank(),
                       " entries of one type")) {
      return;
    }
  }
  if (!check.require(operand.getRank() == check.result().getRank(), "c4", "the operand is ",
                     operand, ", the result ", check.resultType(0))) {
    return;
  }
  auto low = constantIntegers(lists[0]), high = constantIntegers(lists[1]),
       interior = constantIntegers(lists[2]);
  if (interior) {
    for (int64_t value : *interior) {
      check.require(value >= 0, "c3", "interior_padding has ", value);
    }
  }
  if (low && high && interior && !check.hasFailed()) {
    padSizes(check, *low, *high, *interior);
  }
}

//===----------------------------------------------------------------------===//
// concatenate
//===----------------------------------------------------------------------===//

static void concatenate(Check &check) {
  auto op = cast<ConcatenateOp>(check.getOp());
  int64_t dimension = op.getDimension();
  if (!check.require(!op.getInputs().empty(), "c3", "there are no inputs")) {
    return;
  }
  RankedTensorType first = check.operand(0);
  if (!check.inRange("c4", "dimension", dimension, first.getRank())) {
    return;
  }
  SmallVector<int64_t> expected = llvm::to_vector(first.getShape());
  expected[dimension] = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    sameElements(check, "c1", first, type);
    if (!check.require(type.getRank() == first.getRank(), "c2", "the inputs are ", first, " and ",
                       type)) {
      return;
    }
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      int64_t &total = expected[dim];
      if (static_cast<int64_t>(dim) == dimension) {
        if (ShapedType::isDynamic(size) || ShapedType::isDynamic(total)) {
          total = ShapedType::kDynamic;
        } else if (llvm::AddOverflow(total, size, total)) {
          check.fail("c6", "the result is too large");
          return;
        }
        continue;
      }
      if (!check.require(sizesAgree(size, total), "c2", "the inputs are ", first, " and ", type)) {
        return;
      }
      total = ShapedType::isDynamic(total) ? size : total;
    }
  }
  sameElements(check, "c5", first, check.resultType(0));
  check.resultShape("c6", expected);
}

ArrayRef<Row> stablehlo::sliceRows() {
  static constexpr unsigned any[] = {Any};
  static constexpr unsigned indexed[] = {Any, Int};
  static constexpr unsigned updated[] = {Any, Any, Int};
  static constexpr unsigned limited[] = {Any, Dimension};
  static constexpr unsigned padded[] = {Any, Any, Dimension};
  static const Row rows[] = {
      {"concatenate", any, Any, concatenate},
      {"dynamic_pad", padded, Any, dynamicPad},
      {"dynamic_slice", indexed, Any, dynamicSlice},
      {"dynamic_update_slice", updated, Any, dynamicUpdateSlice},
      {"pad", any, Any, pad},
      {"real_dynamic_slice", limited, Any, realDynamicSlice},
      {"slice", any, Any, slice},
  };
  return rows;
}
