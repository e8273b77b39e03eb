//===- Shapes.cpp - The sizes of each op's results ------------------------===//
//
// Gives a `?` dimension of a result its expression, from those of the operands; then a bound, which
// goes into the type. Ops whose sizes are operands are in Dynamic.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

InFlightDiagnostic Refiner::refuse(Operation *op, const Twine &why) {
  return op->emitError() << op->getName().stripDialect() << ": " << why;
}

Sizes Refiner::sizesOf(Value value) {
  auto found = sizes.find(value);
  if (found != sizes.end()) {
    return found->second;
  }
  Sizes own;
  if (RankedTensorType type = arrayType(value)) {
    for (int64_t size : type.getShape()) {
      own.push_back(ShapedType::isDynamic(size) ? SizeExpr::unknown() : SizeExpr(size));
    }
  }
  return own;
}

FailureOr<RankedTensorType> Refiner::boundedType(Location loc, RankedTensorType type,
                                                 const Sizes &own) {
  SmallVector<int64_t> shape, limits;
  bool isBounded = false;
  __int128 elements = 1;
  for (auto [dim, size] : llvm::enumerate(own)) {
    if (!type.isDynamicDim(dim) || size.constant()) {
      shape.push_back(type.isDynamicDim(dim) ? std::max<int64_t>(*size.constant(), 0)
                                             : type.getDimSize(dim));
      limits.push_back(ShapedType::kDynamic);
      elements *= shape.back();
    } else {
      int64_t bound = boundOf(size);
      if (bound > INT32_MAX) {
        emitError(loc) << "dimension " << dim << ", " << size.text() << ", is bounded by " << bound
                       << "; the greatest bound is 2147483647";
        return failure();
      }
      shape.push_back(ShapedType::kDynamic);
      limits.push_back(bound);
      elements *= bound;
      isBounded = true;
    }
    if (elements > (__int128(1) << 48)) {
      emitError(loc) << "the array has more than 2^48 elements at its bounds; give smaller ones";
      return failure();
    }
  }
  return RankedTensorType::get(
      shape, type.getElementType(),
      isBounded ? Attribute(stablehlo::TypeExtensionsAttr::get(type.getContext(), limits))
                : Attribute());
}

FailureOr<RankedTensorType> Refiner::boundedType(Location loc, Type element, const Sizes &own) {
  SmallVector<int64_t> dynamic(own.size(), ShapedType::kDynamic);
  return boundedType(loc, RankedTensorType::get(dynamic, element), own);
}

LogicalResult Refiner::setSizes(Value value, Sizes own) {
  RankedTensorType type = arrayType(value);
  if (static_cast<int64_t>(own.size()) != type.getRank()) {
    return emitError(value.getLoc()) << "internal error: sizes of another rank";
  }
  bool isStatic = true;
  for (auto [dim, size] : llvm::enumerate(own)) {
    if (!type.isDynamicDim(dim)) {
      size = type.getDimSize(dim);
      continue;
    }
    if (isData(size)) {
      return emitError(value.getLoc())
             << "the size of dimension " << dim << " of the result depends on elements of arrays";
    }
    if (rangeOf(size).high <= 0) {
      size = 0;
    }
    isStatic &= size.constant().has_value();
  }
  FailureOr<RankedTensorType> bounded = boundedType(value.getLoc(), type, own);
  if (failed(bounded)) {
    return failure();
  }
  value.setType(*bounded);
  if (!isStatic) {
    sizes[value] = std::move(own);
  }
  return success();
}

/// For each dimension the first operand's size that is not 1, or whose type is not static.
static Sizes joined(ArrayRef<Sizes> operands) {
  Sizes result = operands.front();
  for (const Sizes &other : operands.drop_front()) {
    for (auto [mine, theirs] : llvm::zip(result, other)) {
      if (!mine.isKnown() || (!mine.constant() && theirs.constant())) {
        mine = theirs;
      }
    }
  }
  return result;
}

/// Elements of n with windows: (n' + low + high - window') / stride + 1, where n' and window' are
/// dilated; 0 if that is negative.
static SizeExpr windowCount(SizeExpr n, int64_t window, int64_t stride, int64_t low, int64_t high,
                            int64_t base, int64_t dilation) {
  if (base != 1) {
    n = SizeExpr::max((n - 1) * base + 1, 0);
  }
  SizeExpr room = n + low + high - ((window - 1) * dilation + 1);
  return SizeExpr::max(SizeExpr::floorDiv(room, stride) + 1, 0);
}

SizeExpr refine::paddedSize(const SizeExpr &n, const SizeExpr &low, const SizeExpr &high,
                            int64_t interior) {
  SizeExpr gaps = interior ? SizeExpr::max(n - 1, 0) * interior : 0;
  return n + gaps + low + high;
}

Sizes refine::gatherSizes(stablehlo::GatherDimensionNumbersAttr numbers, int64_t rank,
                          ArrayRef<SizeExpr> slices, const Sizes &indices) {
  Sizes result(rank, SizeExpr::unknown());
  size_t window = 0, next = 0;
  for (int64_t dim = 0, end = slices.size(); dim < end; ++dim) {
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), dim)) {
      result[numbers.getOffsetDims()[window++]] = slices[dim];
    }
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(numbers.getOffsetDims(), dim)) {
      next += static_cast<int64_t>(next) == numbers.getIndexVectorDim();
      result[dim] = indices[next++];
    }
  }
  return result;
}

/// The sizes of an einsum's result, "ab,bc->ac"; none if the equation does not fit the operands.
static std::optional<Sizes> einsumSizes(StringRef equation, ArrayRef<Sizes> operands) {
  auto [from, to] = equation.split("->");
  SmallVector<StringRef, 2> sides;
  from.split(sides, ',');
  llvm::DenseMap<char, SizeExpr> sizeOf;
  for (auto [side, sizes] : llvm::zip(sides, operands)) {
    size_t dim = 0;
    for (char label : side) {
      if (label != ' ' && dim < sizes.size()) {
        sizeOf.insert({label, sizes[dim++]});
      }
    }
  }
  Sizes result;
  for (char label : to) {
    auto found = sizeOf.find(label);
    if (label != ' ' && found == sizeOf.end()) {
      return std::nullopt;
    }
    if (label != ' ') {
      result.push_back(found->second);
    }
  }
  return result;
}

FailureOr<Sizes> Refiner::inferSizes(Operation *op, unsigned number) {
  StringRef name = op->getName().getStringRef();
  RankedTensorType type = arrayType(op->getResult(number));
  int64_t rank = type.getRank();
  auto operand = [&](unsigned i) { return sizesOf(op->getOperand(i)); };
  auto list = [&](StringRef attr, int64_t count, int64_t absent) {
    SmallVector<int64_t> values = listAttr(op, attr);
    values.resize(count, absent);
    return values;
  };
  // Padding is a list of pairs.
  auto padding = [&](int64_t count) {
    SmallVector<int64_t> values = listAttr(op, "padding");
    values.resize(2 * count, 0);
    return values;
  };
  if (name == "stablehlo.transpose") {
    Sizes result, from = operand(0);
    for (int64_t dim : listAttr(op, "permutation")) {
      result.push_back(from[dim]);
    }
    return result;
  }
  if (name == "stablehlo.reduce") {
    Sizes result, from = operand(0);
    SmallVector<int64_t> reduced = listAttr(op, "dimensions");
    for (auto [dim, size] : llvm::enumerate(from)) {
      if (!llvm::is_contained(reduced, static_cast<int64_t>(dim))) {
        result.push_back(size);
      }
    }
    return result;
  }
  if (name == "stablehlo.broadcast_in_dim") {
    Sizes result(rank, SizeExpr::unknown()), from = operand(0);
    for (auto [dim, target] : llvm::enumerate(listAttr(op, "broadcast_dimensions"))) {
      result[target] = from[dim];
    }
    return result;
  }
  if (name == "stablehlo.set_dimension_size") {
    Sizes result = operand(0);
    Value size = op->getOperand(1);
    result[op->getAttrOfType<IntegerAttr>("dimension").getInt()] =
        canTrackScalar(size) ? elementsOf(size).front() : SizeExpr::unknown();
    return result;
  }
  if (name == "stablehlo.concatenate") {
    int64_t along = op->getAttrOfType<IntegerAttr>("dimension").getInt();
    SmallVector<Sizes> all;
    SizeExpr total = 0;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      all.push_back(operand(i));
      total = total + all.back()[along];
    }
    Sizes result = joined(all);
    result[along] = total;
    return result;
  }
  if (name == "stablehlo.pad") {
    Sizes result = operand(0);
    auto low = list("edge_padding_low", rank, 0), high = list("edge_padding_high", rank, 0);
    auto interior = list("interior_padding", rank, 0);
    for (int64_t dim = 0; dim < rank; ++dim) {
      result[dim] = SizeExpr::max(paddedSize(result[dim], low[dim], high[dim], interior[dim]), 0);
    }
    return result;
  }
  if (name == "stablehlo.slice") {
    Sizes result = operand(0);
    auto start = list("start_indices", rank, 0), limit = list("limit_indices", rank, 0);
    auto stride = list("strides", rank, 1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (start[dim] != 0 || stride[dim] != 1 || result[dim].constant()) {
        result[dim] = (limit[dim] - start[dim] + stride[dim] - 1) / stride[dim];
      }
    }
    return result;
  }
  if (name == "stablehlo.gather") {
    auto numbers = op->getAttrOfType<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
    SmallVector<int64_t> slices = listAttr(op, "slice_sizes");
    return gatherSizes(numbers, rank, SmallVector<SizeExpr>(slices.begin(), slices.end()),
                       operand(1));
  }
  if (name == "stablehlo.dot_general") {
    auto numbers = op->getAttrOfType<stablehlo::DotDimensionNumbersAttr>("dot_dimension_numbers");
    Sizes result, lhs = operand(0), rhs = operand(1);
    auto addFree = [&](const Sizes &from, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
      for (int64_t dim = 0, end = from.size(); dim < end; ++dim) {
        if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
          result.push_back(from[dim]);
        }
      }
    };
    for (int64_t dim : numbers.getLhsBatchingDimensions()) {
      result.push_back(lhs[dim]);
    }
    addFree(lhs, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
    addFree(rhs, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
    return result;
  }
  if (name == "stablehlo.dot") {
    Sizes lhs = operand(0), rhs = operand(1), result(lhs.begin(), lhs.end() - 1);
    result.append(rhs.begin() + 1, rhs.end());
    return result;
  }
  if (auto equation = op->getAttrOfType<StringAttr>("einsum_config")) {
    SmallVector<Sizes, 2> operands;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      operands.push_back(operand(i));
    }
    std::optional<Sizes> result = einsumSizes(equation, operands);
    if (result && static_cast<int64_t>(result->size()) == rank) {
      return *result;
    }
    refuse(op, "sizes of its result are unknown: its equation does not give them");
    return failure();
  }
  if (auto select = dyn_cast<stablehlo::TorchIndexSelectOp>(op)) {
    Sizes from = operand(0), index = operand(1);
    int64_t dim = select.getDim(), batch = select.getBatchDims(), size = from.size();
    dim += dim < 0 ? size : 0;
    if (dim < 0 || dim >= size || batch < 0 || batch > static_cast<int64_t>(index.size())) {
      refuse(op, "sizes of its result are unknown: it has no such dimension");
      return failure();
    }
    Sizes result(from.begin(), from.begin() + dim);
    result.append(index.begin() + batch, index.end());
    result.append(from.begin() + dim + 1, from.end());
    return result;
  }
  if (name == "stablehlo.reduce_window") {
    Sizes result = operand(0);
    auto window = list("window_dimensions", rank, 1), stride = list("window_strides", rank, 1);
    auto base = list("base_dilations", rank, 1), dilation = list("window_dilations", rank, 1);
    auto pads = padding(rank);
    for (int64_t dim = 0; dim < rank; ++dim) {
      result[dim] = windowCount(result[dim], window[dim], stride[dim], pads[2 * dim],
                                pads[2 * dim + 1], base[dim], dilation[dim]);
    }
    return result;
  }
  if (name == "stablehlo.convolution") {
    auto numbers = op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
    Sizes result(rank, SizeExpr::unknown()), lhs = operand(0), rhs = operand(1);
    int64_t spatial = numbers.getInputSpatialDimensions().size();
    auto groups = op->getAttrOfType<IntegerAttr>("batch_group_count");
    result[numbers.getOutputBatchDimension()] =
        SizeExpr::floorDiv(lhs[numbers.getInputBatchDimension()], groups ? groups.getInt() : 1);
    result[numbers.getOutputFeatureDimension()] = rhs[numbers.getKernelOutputFeatureDimension()];
    auto stride = list("window_strides", spatial, 1), base = list("lhs_dilation", spatial, 1);
    auto dilation = list("rhs_dilation", spatial, 1), pads = padding(spatial);
    for (int64_t i = 0; i < spatial; ++i) {
      SizeExpr window = rhs[numbers.getKernelSpatialDimensions()[i]];
      if (window.constant()) {
        result[numbers.getOutputSpatialDimensions()[i]] =
            windowCount(lhs[numbers.getInputSpatialDimensions()[i]], *window.constant(), stride[i],
                        pads[2 * i], pads[2 * i + 1], base[i], dilation[i]);
      }
    }
    return result;
  }
  if (name == "stablehlo.triangular_solve") {
    return operand(1);
  }
  if (name == "stablehlo.iota" || name == "stablehlo.constant") {
    refuse(op, "its type has a dimension of unknown size");
    return failure();
  }
  if (name == "stablehlo.sort" || name == "stablehlo.scatter" ||
      name == "stablehlo.optimization_barrier" || name == "stablehlo.while") {
    return operand(number);
  }
  // One-to-one, or of the shape of the first operand.
  SmallVector<Sizes> all;
  for (Value each : op->getOperands()) {
    RankedTensorType from = arrayType(each);
    if (from && from.getRank() == rank && (rank || all.empty())) {
      all.push_back(sizesOf(each));
    }
  }
  if (name == "chlo.top_k" && !all.empty()) {
    all.front().back() = op->getAttrOfType<IntegerAttr>("k").getInt();
    return all.front();
  }
  bool isFirst = llvm::StringSwitch<bool>(name)
                     .Cases({"stablehlo.dynamic_update_slice", "stablehlo.reverse",
                             "stablehlo.cholesky", "stablehlo.fft", "stablehlo.select_and_scatter",
                             "stablehlo.batch_norm_inference", "stablehlo.batch_norm_training",
                             "stablehlo.batch_norm_grad", "stablehlo.all_reduce",
                             "stablehlo.collective_broadcast", "stablehlo.collective_permute",
                             "stablehlo.bitcast_convert", "stablehlo.dynamic_slice"},
                            true)
                     .Default(false);
  StringRef dialect = op->getName().getDialectNamespace();
  if (all.empty() || (dialect != "stablehlo" && dialect != "chlo") ||
      name == "stablehlo.custom_call" || name == "stablehlo.all_gather" ||
      name == "stablehlo.all_to_all" || name == "stablehlo.reduce_scatter" ||
      name == "stablehlo.reshape" || name == "stablehlo.rng") {
    refuse(op, "sizes of its result are unknown: no rule gives them from the operands");
    return failure();
  }
  if (name == "stablehlo.clamp") {
    return operand(1);
  }
  return isFirst ? all.front() : joined(all);
}
