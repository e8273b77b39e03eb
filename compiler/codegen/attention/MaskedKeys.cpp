//===- MaskedKeys.cpp - Keys whose weights are zero in a block ------------===//
//
// In: the ops between the dots of an attention. Out: whether they are a softmax of
//
//   select(mask of positions, scores, a very negative number)
//
// and whether the mask is false in a whole block of rows and keys. The interval of each number that
// the mask compares follows from those of the positions:
//
//   row >= key   with rows in [64, 127], keys in [128, 191]: [64, 127] >= [128, 191] is false
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/attention/MaskedKeys.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"

using namespace mlir;

namespace hlo::codegen {

/// A masked score must be far below any other: e^-1000 is zero in f32, and half of -2000 is 1000
/// above it.
static constexpr double kMostMasked = -2000;

double MaskedSoftmax::leastMaximum() const {
  return std::isinf(masked) ? -std::numeric_limits<double>::infinity() : masked / 2;
}

/// The value without the ops that only change its shape.
static Value withoutShape(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp, BitcastOp, TransposeOp, CopyOp>(op)) {
      break;
    }
    v = op->getOperand(0);
  }
  return v;
}

static std::optional<double> splatNumber(Value v) {
  auto constant = withoutShape(v).getDefiningOp<ConstantOp>();
  auto literal = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!literal || !literal.isSplat() || !isa<FloatType>(literal.getElementType())) {
    return std::nullopt;
  }
  APFloat number = literal.getSplatValue<APFloat>();
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// The reduce that is `v`, or its maximum with negative infinity; of that op, of f32.
template <typename Op> static ReduceOp reduceOf(KernelBuilder &kernel, Value v, double init) {
  v = withoutShape(v);
  if (auto maximum = v.getDefiningOp<MaximumOp>()) {
    bool first = splatNumber(maximum.getLhs()) == init;
    if (!first && splatNumber(maximum.getRhs()) != init) {
      return {};
    }
    v = withoutShape(first ? maximum.getRhs() : maximum.getLhs());
  }
  auto reduce = v.getDefiningOp<ReduceOp>();
  if (!reduce || !elementType(reduce.getResult(0).getType()).isF32() ||
      splatNumber(reduce.getInputs()[1]) != init) {
    return {};
  }
  return isa_and_nonnull<Op>(associativeOp(kernel.lookup(reduce.getToApplyAttr()))) ? reduce
                                                                                    : ReduceOp();
}

std::optional<MaskedSoftmax> findMaskedSoftmax(KernelBuilder &kernel, Attention &attention,
                                               Value scores) {
  auto select = scores.getDefiningOp<SelectOp>();
  std::optional<double> masked = select ? splatNumber(select.getOnFalse()) : std::nullopt;
  if (!masked || !(*masked <= kMostMasked) || !elementType(scores.getType()).isF32()) {
    return std::nullopt;
  }
  Value v = attention.weights();
  while (auto convert = v.getDefiningOp<ConvertOp>()) {
    v = convert.getOperand();
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto quotient = v.getDefiningOp<DivideOp>();
  auto exponential = quotient ? quotient.getLhs().getDefiningOp<ExponentialOp>() : ExponentialOp();
  auto difference =
      exponential ? exponential.getOperand().getDefiningOp<SubtractOp>() : SubtractOp();
  if (!difference || difference.getLhs() != scores) {
    return std::nullopt;
  }
  ReduceOp sum = reduceOf<AddOp>(kernel, quotient.getRhs(), 0);
  ReduceOp maximum = reduceOf<MaximumOp>(kernel, difference.getRhs(), -infinity);
  if (!sum || !maximum || sum.getInputs()[0] != exponential.getResult() ||
      maximum.getInputs()[0] != scores) {
    return std::nullopt;
  }
  return MaskedSoftmax{select.getPred(), *masked, maximum, sum};
}

namespace {
/// What is known of a predicate in a block.
enum class Known { False, True, Either };
using Interval = std::optional<std::pair<int64_t, int64_t>>;

class Ranges {
public:
  Ranges(const AxisRanges &ranges) : ranges(ranges) {}
  Known predicate(Value v, ArrayRef<int64_t> axes, int depth = 0);

private:
  Interval number(Value v, ArrayRef<int64_t> axes, int depth);
  Known compare(CompareOp op, ArrayRef<int64_t> axes, int depth);
  const AxisRanges &ranges;
};
} // namespace

/// The axes of the operand of an op that only changes the shape; nothing for others.
static std::optional<AxisNumbers> innerAxes(Operation *op, ArrayRef<int64_t> axes) {
  if (!op || !isa<BroadcastOp, TransposeOp, ReshapeOp, BitcastOp, CopyOp>(op)) {
    return std::nullopt;
  }
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  AxisNumbers inner(from.size(), kNoAxis);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      inner[i] = from[i] == 1 ? kNoAxis : axes[d];
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      inner[d] = axes[i];
    }
  } else {
    size_t next = 0;
    for (auto [d, size] : llvm::enumerate(from)) {
      if (size != 1) {
        while (to[next] == 1) {
          ++next;
        }
        inner[d] = axes[next++];
      }
    }
  }
  return inner;
}

Interval Ranges::number(Value v, ArrayRef<int64_t> axes, int depth) {
  constexpr int mostDepth = 16;
  // Sums and products of positions: far from wrapping around in 32 bits.
  constexpr int64_t most = int64_t(1) << 30;
  Operation *op = v.getDefiningOp();
  auto type = dyn_cast<IntegerType>(elementType(v.getType()));
  if (!op || !type || type.getWidth() < 32 || depth > mostDepth) {
    return std::nullopt;
  }
  if (auto inner = innerAxes(op, axes)) {
    return number(op->getOperand(0), *inner, depth + 1);
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    auto dimension = static_cast<int64_t>(iota.getIotaDimension());
    int64_t axis = axes[dimension];
    return axis == kNoAxis ? std::pair<int64_t, int64_t>(0, shapeOf(v)[dimension] - 1)
                           : ranges[axis];
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!literal || !literal.isSplat()) {
      return std::nullopt;
    }
    APInt value = literal.getSplatValue<APInt>();
    int64_t number = type.isUnsigned() ? static_cast<int64_t>(value.getLimitedValue(most))
                     : value.getSignificantBits() > 31 ? most
                                                       : value.getSExtValue();
    return std::abs(number) < most ? Interval({number, number}) : std::nullopt;
  }
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Interval from = number(convert.getOperand(), axes, depth + 1);
    return from && (from->first >= 0 || !type.isUnsigned()) ? from : std::nullopt;
  }
  if (!isa<AddOp, SubtractOp>(op)) {
    return std::nullopt;
  }
  Interval a = number(op->getOperand(0), axes, depth + 1);
  Interval b = number(op->getOperand(1), axes, depth + 1);
  if (!a || !b) {
    return std::nullopt;
  }
  if (isa<SubtractOp>(op)) {
    b = {-b->second, -b->first};
  }
  std::pair sum(a->first + b->first, a->second + b->second);
  bool fits = -most < sum.first && sum.second < most && (!type.isUnsigned() || sum.first >= 0);
  return fits ? Interval(sum) : std::nullopt;
}

Known Ranges::compare(CompareOp op, ArrayRef<int64_t> axes, int depth) {
  Interval a = number(op.getLhs(), axes, depth), b = number(op.getRhs(), axes, depth);
  if (!a || !b) {
    return Known::Either;
  }
  StringRef direction = op.getDirection();
  auto decide = [](bool isTrue, bool isFalse) {
    return isTrue ? Known::True : isFalse ? Known::False : Known::Either;
  };
  if (direction == "LT") {
    return decide(a->second < b->first, a->first >= b->second);
  }
  if (direction == "LE") {
    return decide(a->second <= b->first, a->first > b->second);
  }
  if (direction == "GT") {
    return decide(a->first > b->second, a->second <= b->first);
  }
  if (direction == "GE") {
    return decide(a->first >= b->second, a->second < b->first);
  }
  return Known::Either;
}

Known Ranges::predicate(Value v, ArrayRef<int64_t> axes, int depth) {
  constexpr int mostDepth = 8;
  Operation *op = v.getDefiningOp();
  if (!op || depth > mostDepth) {
    return Known::Either;
  }
  if (auto inner = innerAxes(op, axes)) {
    return predicate(op->getOperand(0), *inner, depth + 1);
  }
  if (auto compareOp = dyn_cast<CompareOp>(op)) {
    return compare(compareOp, axes, depth + 1);
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !literal || !literal.isSplat()            ? Known::Either
           : literal.getSplatValue<APInt>().isZero() ? Known::False
                                                     : Known::True;
  }
  auto known = [&](unsigned n) { return predicate(op->getOperand(n), axes, depth + 1); };
  if (isa<AndOp>(op)) {
    Known a = known(0), b = known(1);
    return a == Known::False || b == Known::False ? Known::False : a == b ? a : Known::Either;
  }
  if (isa<OrOp>(op)) {
    Known a = known(0), b = known(1);
    return a == Known::True || b == Known::True ? Known::True : a == b ? a : Known::Either;
  }
  if (isa<NotOp>(op)) {
    Known a = known(0);
    return a == Known::Either ? a : a == Known::True ? Known::False : Known::True;
  }
  return Known::Either;
}

bool isFalseWithin(Attention &attention, Value mask, const AxisRanges &ranges) {
  // The mask is an operand of a select whose result has the axes of all scores, or a number.
  Operation *select = *mask.getUsers().begin();
  for (Operation *user : mask.getUsers()) {
    if (isa<SelectOp>(user) && attention.between.contains(user)) {
      select = user;
    }
  }
  AxisNumbers axes = shapeOf(mask).empty() ? AxisNumbers() : attention.axesOf[select->getResult(0)];
  return Ranges(ranges).predicate(mask, axes) == Known::False;
}

} // namespace hlo::codegen
