//===- AlgebraicCounter.cpp - Rules of integers made of iotas -------------===//
//
// Rules for integers made of iotas. A random generator counts its elements in 64 bits, then splits
// the counter into two words of 32 bits: the lower one is a counter of 32 bits, the upper one is
// zero for every array that fits into memory. Without these rules its kernel would compute all
// vectors in 64 bits.
//
// An index x[i] in NumPy's manner is i < 0 ? i + size : i; the comparison folds if i is made of
// iotas and constants.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

/// Depth up to which an expression is analyzed.
static constexpr int kMaxDepth = 6;

DenseElementsAttr hlo::smallConstant(Value v) {
  auto constant = v.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.getNumElements() <= (1 << 16) ? elements : DenseElementsAttr();
}

/// True if v consists of iotas and constants, added and multiplied: recomputing it in another type
/// costs nothing.
static bool isCounter(Value v, int depth = kMaxDepth) {
  if (v.getDefiningOp<IotaOp>() || splatConstant(v) || smallConstant(v)) {
    return true;
  }
  Operation *op = v.getDefiningOp();
  return op && depth > 0 && isa<AddOp, SubtractOp, MultiplyOp, ReshapeOp, BroadcastOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value x) { return isCounter(x, depth - 1); });
}

static std::optional<uint64_t> largestOf(Value v, int depth) {
  Type element = elementTypeOf(v);
  Operation *op = v.getDefiningOp();
  if (!op || depth == 0 || !isInteger(element)) {
    return std::nullopt;
  }
  unsigned width = element.getIntOrFloatBitWidth();
  width -= cast<IntegerType>(element).isSigned();
  uint64_t limit = (uint64_t(1) << std::min(width, 62u)) - 1;
  auto fitting = [&](std::optional<uint64_t> value) {
    return value && *value <= limit ? value : std::nullopt;
  };
  if (DenseElementsAttr attr = splatConstant(v)) {
    APInt value = attr.getSplatValue<APInt>();
    return value.getActiveBits() < 63 ? fitting(value.getZExtValue()) : std::nullopt;
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    int64_t size = shapeOf(iota.getResult())[iota.getIotaDimension()];
    return fitting(std::max<int64_t>(size, 1) - 1);
  }
  if (DenseElementsAttr elements = smallConstant(v)) {
    bool isSigned = cast<IntegerType>(element).isSigned();
    uint64_t largest = 0;
    for (const APInt &value : elements.getValues<APInt>()) {
      if ((isSigned && value.isNegative()) || value.getActiveBits() > 62) {
        return std::nullopt;
      }
      largest = std::max(largest, value.getZExtValue());
    }
    return fitting(largest);
  }
  SmallVector<uint64_t> operands;
  for (Value operand : op->getOperands()) {
    std::optional<uint64_t> largest = largestOf(operand, depth - 1);
    if (!largest) {
      return std::nullopt;
    }
    operands.push_back(*largest);
  }
  if (isa<BroadcastOp, ReshapeOp, SliceOp, TransposeOp, ReverseOp, ConvertOp>(op)) {
    return fitting(operands[0]);
  }
  if (isa<ConcatenateOp, MaximumOp>(op)) {
    return fitting(*llvm::max_element(operands));
  }
  if (isa<AddOp>(op)) {
    return fitting(operands[0] + operands[1]);
  }
  uint64_t product;
  if (isa<MultiplyOp>(op) && !__builtin_mul_overflow(operands[0], operands[1], &product)) {
    return fitting(product);
  }
  return std::nullopt;
}

std::optional<uint64_t> hlo::largestValue(Value v) { return largestOf(v, kMaxDepth); }

// x >> n (logical) -> 0 if every value of x is below 2^n
static Value shiftAllOut(ShiftRightLogicalOp op, HloBuilder &b) {
  DenseElementsAttr attr = splatConstant(op.getRhs());
  if (!attr || splatConstant(op.getLhs())) {
    return {};
  }
  APInt shift = attr.getSplatValue<APInt>();
  std::optional<uint64_t> largest = largestValue(op.getLhs());
  bool out = largest && shift.ult(63) && (*largest >> shift.getZExtValue()) == 0;
  return out ? b.splat(HloBuilder::type(op.getResult()), 0) : Value();
}

// iota < 0, iota + 3 >= 0, iota[10] < 10 and the like -> true or false, if it is the same for all
// elements
static Value compareCounter(CompareOp op, HloBuilder &b) {
  DenseElementsAttr attr =
      isInteger(elementTypeOf(op.getLhs())) ? splatConstant(op.getRhs()) : DenseElementsAttr();
  if (!attr || splatConstant(op.getLhs())) {
    return {};
  }
  auto bound = attr.getSplatValue<APInt>();
  bool isSigned = cast<IntegerType>(elementTypeOf(op.getLhs())).isSigned();
  std::optional<uint64_t> largest = largestValue(op.getLhs());
  if (!largest || (!isSigned && bound.getActiveBits() > 62)) {
    return {};
  }
  // All elements of the counter are in [0, most].
  int64_t most = static_cast<int64_t>(*largest),
          c = isSigned ? bound.getSExtValue() : bound.getZExtValue();
  StringRef direction = op.getDirection();
  std::optional<bool> known;
  if (direction == "LT" || direction == "GE") {
    known = most < c ? std::optional(true) : c <= 0 ? std::optional(false) : std::nullopt;
  } else if (direction == "LE" || direction == "GT") {
    known = most <= c ? std::optional(true) : c < 0 ? std::optional(false) : std::nullopt;
  } else if (c < 0 || most < c) {
    known = direction == "NE";
  }
  if (!known) {
    return {};
  }
  bool isOpposite = direction == "GE" || direction == "GT";
  return b.splat(HloBuilder::type(op.getResult()), *known != isOpposite ? 1 : 0);
}

// convert(iota), convert(iota * 3 + iota) -> the same in the narrower integer type
static Value narrowCounter(ConvertOp op, HloBuilder &b) {
  Type from = elementTypeOf(op.getOperand()), to = elementTypeOf(op.getResult());
  if (!isInteger(from) || !isInteger(to) ||
      to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth() || !isCounter(op.getOperand())) {
    return {};
  }
  if (auto iota = op.getOperand().getDefiningOp<IotaOp>()) {
    return b.iota(HloBuilder::type(op.getResult()), iota.getIotaDimension());
  }
  if (auto reshape = op.getOperand().getDefiningOp<ReshapeOp>()) {
    return b.reshape(b.convert(reshape.getOperand(), to), shapeOf(op.getResult()));
  }
  if (auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>()) {
    return b.broadcast(b.convert(broadcast.getOperand(), to), shapeOf(op.getResult()),
                       broadcast.getDimensions());
  }
  Operation *inner = op.getOperand().getDefiningOp();
  if (!inner || !isa<AddOp, SubtractOp, MultiplyOp>(inner)) {
    return {};
  }
  OperationState state(op.getLoc(), inner->getName());
  for (Value operand : inner->getOperands()) {
    if (DenseElementsAttr attr = splatConstant(operand)) {
      APInt bits = attr.getSplatValue<APInt>().trunc(to.getIntOrFloatBitWidth());
      auto scalar = RankedTensorType::get({}, to);
      state.addOperands(b.broadcastScalar(b.constant(DenseElementsAttr::get(scalar, bits)),
                                          shapeOf(op.getResult())));
    } else {
      state.addOperands(b.convert(operand, to));
    }
  }
  state.addTypes(op.getResult().getType());
  return b.b.create(state)->getResult(0);
}

/// Adds v's step along each dimension, times `factor`, to `steps`; false unless v is a sum of
/// multiples of iotas.
static bool addSteps(Value v, uint64_t factor, MutableArrayRef<uint64_t> steps, int depth) {
  if (auto iota = v.getDefiningOp<IotaOp>()) {
    steps[iota.getIotaDimension()] += factor;
    return true;
  }
  if (auto add = v.getDefiningOp<AddOp>(); add && depth > 0) {
    return addSteps(add.getLhs(), factor, steps, depth - 1) &&
           addSteps(add.getRhs(), factor, steps, depth - 1);
  }
  auto product = v.getDefiningOp<MultiplyOp>();
  DenseElementsAttr attr = product ? splatConstant(product.getRhs()) : DenseElementsAttr();
  return attr && depth > 0 &&
         addSteps(product.getLhs(), factor * attr.getSplatValue<APInt>().getLimitedValue(), steps,
                  depth - 1);
}

// iota along 0 * 1000 + iota along 1 (of 1000) -> reshape(iota): a kernel over it needs one index
static Value linearCounter(AddOp op, HloBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  Type element = elementTypeOf(op.getResult());
  SmallVector<uint64_t> steps(shape.size(), 0);
  if (shape.size() < 2 || !isInteger(element) || element.getIntOrFloatBitWidth() < 32 ||
      !addSteps(op.getResult(), 1, steps, kMaxDepth)) {
    return {};
  }
  int64_t elements = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && steps[d] != static_cast<uint64_t>(elements)) {
      return {};
    }
    elements *= shape[d];
  }
  return elements > INT32_MAX ? Value()
                              : b.reshape(b.iota(HloBuilder::array({elements}, element), 0), shape);
}

// iota[100:200] along the iota -> iota + 100
static Value sliceOfIota(SliceOp op, HloBuilder &b) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  Type element = elementTypeOf(op.getResult());
  if (!iota || !isInteger(element) || element.getIntOrFloatBitWidth() < 32) {
    return {};
  }
  int64_t along = iota.getIotaDimension(), start = op.getStartIndices()[along];
  if (op.getStrides()[along] != 1 || start > INT32_MAX) {
    return {};
  }
  RankedTensorType type = HloBuilder::type(op.getResult());
  return b.add(b.iota(type, along), b.splat(type, start));
}

void hlo::populateCounterRules(RewritePatternSet &patterns) {
  addRules<AddOp>(patterns, {linearCounter});
  addRules<ShiftRightLogicalOp>(patterns, {shiftAllOut});
  addRules<SliceOp>(patterns, {sliceOfIota});
  addRules<ConvertOp>(patterns, {narrowCounter});
  addRules<CompareOp>(patterns, {compareCounter});
}
