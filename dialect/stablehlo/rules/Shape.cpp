//===- Shape.cpp - Rules of constants, reshapes and broadcasts ------------===//
#include "dialect/stablehlo/rules/Rule.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace stablehlo;

//===----------------------------------------------------------------------===//
// Checks that rules of shapes share
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> stablehlo::integersOf(DenseIntElementsAttr attribute) {
  constexpr int64_t mostOfSplat = 1 << 16;
  if (attribute.isSplat() && attribute.getNumElements() > mostOfSplat) {
    return std::nullopt;
  }
  return llvm::map_to_vector(attribute.getValues<APInt>(), [](const APInt &number) {
    return number.getBitWidth() > 64 ? 0 : number.getSExtValue();
  });
}

std::optional<SmallVector<int64_t>> stablehlo::constantIntegers(Value value) {
  DenseIntElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? integersOf(constant) : std::nullopt;
}

bool stablehlo::isStaticVector(RankedTensorType array) {
  return array.getRank() == 1 && array.hasStaticShape();
}

void stablehlo::checkSizes(Check &check, StringRef label, StringRef what, Value sizes) {
  auto type = cast<RankedTensorType>(sizes.getType());
  RankedTensorType result = check.result();
  if (!check.require(isStaticVector(type), label, what, " is ", type,
                     ", expected a vector of known size") ||
      !check.hasSize(label, what, type.getDimSize(0), result.getRank())) {
    return;
  }
  std::optional<SmallVector<int64_t>> values = constantIntegers(sizes);
  if (!values) {
    return;
  }
  ArrayRef<int64_t> bounds = boundsOf(result);
  for (auto [dim, value] : llvm::enumerate(*values)) {
    bool bounded = !bounds.empty() && !ShapedType::isDynamic(bounds[dim]) && value > bounds[dim];
    check.require(value >= 0 && sizesAgree(value, result.getDimSize(dim)) && !bounded, label, what,
                  " gives dimension ", dim, " size ", value, ", the result is ", result);
  }
}

void stablehlo::requireStaticOrOneBound(Check &check, StringRef label) {
  RankedTensorType result = check.result();
  ArrayRef<int64_t> bounds = boundsOf(result);
  bool isBounded = result.getNumDynamicDims() == 1 &&
                   llvm::count_if(bounds, [](int64_t b) { return !ShapedType::isDynamic(b); }) == 1;
  check.require(result.hasStaticShape() || isBounded, label, "the result is ", result,
                ", expected known sizes, or one dimension that is bounded");
}

void stablehlo::sameElement(Check &check, StringRef label, RankedTensorType operand,
                            bool mayScaleDiffer) {
  Type from = operand.getElementType(), to = check.result().getElementType();
  auto fromAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(from),
       toAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(to);
  bool perAxis = fromAxis && toAxis && elementsAgree(from, to) &&
                 (mayScaleDiffer || (fromAxis.getScales() == toAxis.getScales() &&
                                     fromAxis.getZeroPoints() == toAxis.getZeroPoints()));
  check.require(from == to || perAxis, label, "the operand's elements are ", from,
                ", the result's ", to);
}

/// The dimension along which an array is quantized, and its element type; null if it is not.
static quant::UniformQuantizedPerAxisType axisType(RankedTensorType array) {
  return dyn_cast<quant::UniformQuantizedPerAxisType>(array.getElementType());
}

/// Number of elements; none if it is unknown or more than int64_t holds.
static std::optional<int64_t> countOf(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count)) {
      return std::nullopt;
    }
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static void constant(Check &check) {
  auto op = cast<ConstantOp>(check.getOp());
  auto value = dyn_cast<RankedTensorType>(op.getValue().getType());
  RankedTensorType result = check.result();
  bool fits = value && result.hasStaticShape() && value.getShape() == result.getShape() &&
              value.getEncoding() == result.getEncoding() &&
              value.getElementType() == storageType(result.getElementType());
  check.require(fits, "c1", "the value is ", op.getValue().getType(), ", the result ", result);
}

static void iota(Check &check) {
  auto op = cast<IotaOp>(check.getOp());
  int64_t dim = op.getIotaDimension();
  check.require(check.result().hasStaticShape(), "o1", "the result is ", check.resultType(0),
                ", expected known sizes");
  check.inRange("c1", "iota_dimension", dim, check.result().getRank());
}

static void dynamicIota(Check &check) {
  auto op = cast<DynamicIotaOp>(check.getOp());
  checkSizes(check, "c2", "output_shape", op.getOutputShape());
  int64_t dim = op.getIotaDimension();
  check.inRange("c1", "iota_dimension", dim, check.result().getRank());
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static void bitcastConvert(Check &check) {
  RankedTensorType operand = check.operand(0), result = check.result();
  Type from = storageType(operand.getElementType()), to = storageType(result.getElementType());
  if (!check.require(isa<::mlir::ComplexType>(from) == isa<::mlir::ComplexType>(to), "c2",
                     "the operand is ", operand, ", the result ", result,
                     ": both or neither must be complex")) {
    return;
  }
  auto bitsOf = [](Type element) -> int64_t {
    auto number = dyn_cast<::mlir::ComplexType>(element);
    return number ? 2 * number.getElementType().getIntOrFloatBitWidth()
                  : element.getIntOrFloatBitWidth();
  };
  int64_t fromBits = bitsOf(from), toBits = bitsOf(to);
  // The array with narrower elements may have one dimension more.
  RankedTensorType wide = fromBits >= toBits ? operand : result;
  RankedTensorType narrow = fromBits >= toBits ? result : operand;
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  bool divides = ratio * std::min(fromBits, toBits) == std::max(fromBits, toBits);
  bool fits;
  if (fromBits == toBits) {
    fits = shapesAgree(wide, narrow);
  } else {
    SmallVector<int64_t> expected = llvm::to_vector(wide.getShape());
    expected.push_back(ratio);
    fits = divides && shapesAgree(expected, narrow.getShape());
  }
  check.require(fits, "c1", "the operand is ", operand, " with elements of ", fromBits,
                " bits, the result ", result, " with elements of ", toBits, " bits");
}

/// The dimensions in front of, at and behind the quantized one have the same numbers of elements.
static void reshapedAxis(Check &check, RankedTensorType operand) {
  auto from = axisType(operand), to = axisType(check.result());
  if (!from || !to) {
    return;
  }
  auto parts = [](RankedTensorType array, int64_t axis) {
    ArrayRef<int64_t> sizes = array.getShape();
    return std::array{countOf(sizes.take_front(axis)), countOf(sizes.slice(axis, 1)),
                      countOf(sizes.drop_front(axis + 1))};
  };
  for (auto [a, b] : llvm::zip(parts(operand, from.getQuantizedDimension()),
                               parts(check.result(), to.getQuantizedDimension()))) {
    if (!check.require(!a || !b || *a == *b, "c3", "the operand is ", operand, ", the result ",
                       check.resultType(0), ": the quantized dimension is at another place")) {
      return;
    }
  }
}

static void sameCount(Check &check, RankedTensorType operand) {
  std::optional<int64_t> from = countOf(operand.getShape()),
                         to = countOf(check.result().getShape());
  check.require(!from || !to || *from == *to, "c2", "the operand is ", operand, ", the result ",
                check.resultType(0), ": they differ in their numbers of elements");
}

static void reshape(Check &check) {
  requireStaticOrOneBound(check, "o1");
  sameElement(check, "c1", check.operand(0));
  sameCount(check, check.operand(0));
  reshapedAxis(check, check.operand(0));
}

static void dynamicReshape(Check &check) {
  sameElement(check, "c1", check.operand(0));
  sameCount(check, check.operand(0));
  reshapedAxis(check, check.operand(0));
  checkSizes(check, "c4", "output_shape", check->getOperand(1));
  std::optional<SmallVector<int64_t>> sizes = constantIntegers(check->getOperand(1));
  std::optional<int64_t> from = countOf(check.operand(0).getShape());
  std::optional<int64_t> to = sizes ? countOf(*sizes) : std::nullopt;
  check.require(!from || !to || *from == *to, "c2", "the operand is ", check.operandType(0),
                ", output_shape ", shapeText(sizes.value_or(SmallVector<int64_t>())));
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

static void broadcast(Check &check) {
  auto op = cast<BroadcastOp>(check.getOp());
  RankedTensorType operand = check.operand(0);
  SmallVector<int64_t> expected = llvm::to_vector(op.getBroadcastSizes());
  if (!check.require(llvm::none_of(expected, [](int64_t size) { return size < 0; }), "c1",
                     "broadcast_sizes has a negative entry: ", expected)) {
    return;
  }
  llvm::append_range(expected, operand.getShape());
  check.require(operand.getElementType() == check.result().getElementType(), "c2",
                "the operand is ", operand, ", the result ", check.resultType(0));
  check.resultShape("c3", expected);
}

/// broadcast_in_dim and dynamic_broadcast_in_dim.
static void broadcastDimensions(Check &check, ArrayRef<int64_t> dimensions) {
  RankedTensorType operand = check.operand(0), result = check.result();
  sameElement(check, "c1", operand, /*mayScaleDiffer=*/true);
  bool valid = check.hasSize("c2", "broadcast_dimensions", dimensions.size(), operand.getRank()) &&
               check.inRange("c3", "broadcast_dimensions", dimensions, result.getRank()) &&
               check.unique("c4", "broadcast_dimensions", dimensions);
  if (!valid) {
    return;
  }
  for (auto [dim, target] : llvm::enumerate(dimensions)) {
    int64_t size = operand.getDimSize(dim), wanted = result.getDimSize(target);
    check.require(size == 1 || sizesAgree(size, wanted), "c5", "dimension ", dim,
                  " of the operand has size ", size, ", dimension ", target, " of the result ",
                  wanted);
  }
  auto from = axisType(operand), to = axisType(result);
  if (!from || !to) {
    return;
  }
  int32_t axis = from.getQuantizedDimension();
  check.require(to.getQuantizedDimension() == dimensions[axis], "c6",
                "the result is quantized along dimension ", to.getQuantizedDimension(),
                ", expected ", dimensions[axis]);
  if (operand.getDimSize(axis) == 1) {
    auto allAre = [](auto list, auto value) {
      return llvm::all_of(list, [&](auto entry) { return entry == value; });
    };
    check.require(allAre(to.getScales(), from.getScales()[0]) &&
                      allAre(to.getZeroPoints(), from.getZeroPoints()[0]),
                  "c6", "the result's scales and zero points differ from the operand's");
  } else {
    check.require(from.getScales() == to.getScales() && from.getZeroPoints() == to.getZeroPoints(),
                  "c1", "the result's scales and zero points differ from the operand's");
  }
}

static void broadcastInDim(Check &check) {
  requireStaticOrOneBound(check, "o1");
  broadcastDimensions(check, cast<BroadcastInDimOp>(check.getOp()).getBroadcastDimensions());
}

static void dynamicBroadcastInDim(Check &check) {
  auto op = cast<DynamicBroadcastInDimOp>(check.getOp());
  broadcastDimensions(check, op.getBroadcastDimensions());
  checkSizes(check, "c7", "output_dimensions", op.getOutputDimensions());
  std::optional<SmallVector<int64_t>> sizes = constantIntegers(op.getOutputDimensions());
  for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (!sizes || check.hasFailed()) {
      break;
    }
    int64_t size = check.operand(0).getDimSize(dim);
    check.require(size == 1 || sizesAgree(size, (*sizes)[target]), "c5", "dimension ", dim,
                  " of the operand has size ", size, ", output_dimensions has ", (*sizes)[target]);
  }
  SmallVector<int64_t> known =
      llvm::to_vector(op.getKnownExpandingDimensions().value_or(ArrayRef<int64_t>()));
  int64_t rank = check.operand(0).getRank();
  check.inRange("c9", "known_expanding_dimensions", known, rank);
  ArrayRef<int64_t> fixed = op.getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
  check.inRange("c10", "known_nonexpanding_dimensions", fixed, rank);
  llvm::append_range(known, fixed);
  check.unique("c8", "the list of known dimensions", known);
}

//===----------------------------------------------------------------------===//
// Orders and sizes of dimensions
//===----------------------------------------------------------------------===//

static void reverse(Check &check) {
  auto op = cast<ReverseOp>(check.getOp());
  check.require(typesAgree(check.operandType(0), check.resultType(0)), "c1", "the operand is ",
                check.operandType(0), ", the result ", check.resultType(0));
  check.unique("c2", "dimensions", op.getDimensions());
  check.inRange("c3", "dimensions", op.getDimensions(), check.operand(0).getRank());
}

static void transpose(Check &check) {
  auto op = cast<TransposeOp>(check.getOp());
  RankedTensorType operand = check.operand(0), result = check.result();
  ArrayRef<int64_t> permutation = op.getPermutation();
  sameElement(check, "c1", operand);
  bool valid = check.hasSize("c2", "permutation", permutation.size(), operand.getRank()) &&
               check.inRange("c2", "permutation", permutation, operand.getRank()) &&
               check.unique("c2", "permutation", permutation);
  if (!valid) {
    return;
  }
  check.resultShape(
      "c3", llvm::map_to_vector(permutation, [&](int64_t dim) { return operand.getDimSize(dim); }));
  auto from = axisType(operand), to = axisType(result);
  if (from && to && to.getQuantizedDimension() < result.getRank()) {
    check.require(from.getQuantizedDimension() == permutation[to.getQuantizedDimension()], "c4",
                  "the operand is quantized along dimension ", from.getQuantizedDimension(),
                  ", the result along the operand's dimension ",
                  permutation[to.getQuantizedDimension()]);
  }
}

static bool isScalarI32(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  return array && array.getRank() == 0 && array.getElementType().isSignlessInteger(32);
}

static void getDimensionSize(Check &check) {
  int64_t dim = cast<GetDimensionSizeOp>(check.getOp()).getDimension();
  check.inRange("c1", "dimension", dim, check.operand(0).getRank());
  check.require(isScalarI32(check.resultType(0)), "o1", "the result is ", check.resultType(0),
                ", expected tensor<i32>");
}

static void setDimensionSize(Check &check) {
  auto op = cast<SetDimensionSizeOp>(check.getOp());
  int64_t dim = op.getDimension();
  RankedTensorType operand = check.operand(0);
  check.require(isScalarI32(op.getSize().getType()), "i2", "size is ", op.getSize().getType(),
                ", expected tensor<i32>");
  if (!check.inRange("c1", "dimension", dim, operand.getRank())) {
    return;
  }
  SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
  expected[dim] = ShapedType::kDynamic;
  check.require(elementsAgree(operand.getElementType(), check.result().getElementType()), "c2",
                "the operand is ", operand, ", the result ", check.resultType(0));
  check.resultShape("c3", expected);
}

ArrayRef<Row> stablehlo::shapeRows() {
  static constexpr unsigned any[] = {Any};
  static constexpr unsigned anyQuant[] = {AnyQuant};
  static constexpr unsigned sizes[] = {AnyQuant, Dimension};
  static constexpr unsigned dimensions[] = {Dimension};
  static constexpr unsigned sized[] = {Any, SInt};
  static const Row rows[] = {
      {"bitcast_convert", anyQuant, AnyQuant, bitcastConvert},
      {"broadcast", any, AnyQuant, broadcast},
      {"broadcast_in_dim", anyQuant, AnyQuant, broadcastInDim},
      {"constant", {}, AnyQuant, constant},
      {"dynamic_broadcast_in_dim", sizes, AnyQuant, dynamicBroadcastInDim},
      {"dynamic_iota", dimensions, Any, dynamicIota},
      {"dynamic_reshape", sizes, AnyQuant, dynamicReshape},
      {"get_dimension_size", anyQuant, SInt, getDimensionSize},
      {"iota", {}, Int | Float | Complex | Quant, iota},
      {"reshape", anyQuant, AnyQuant, reshape},
      {"reverse", any, Any, reverse},
      {"set_dimension_size", sized, Any, setDimensionSize},
      {"transpose", anyQuant, AnyQuant, transpose},
  };
  return rows;
}
