//===- Facts.cpp - Ranges of sizes, and what masks fill arrays with -------===//
//
// Sizes are integer scalars, clamped to the bounds of a version; arithmetic on them keeps their
// ranges. A loop's carry has the range of its initial value if the body keeps it there.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/expanders/sizes/Live.h"
#include "llvm/ADT/SmallBitVector.h"
#include <array>

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

/// How many ops a mask is followed through.
static constexpr unsigned kMostSteps = 8;
/// Walks of the bodies of all loops after which only carries that a body returns as they are have
/// intervals.
static constexpr unsigned kMostWalks = 1000;

Extents sizes::wholeOf(Value value) {
  RankedTensorType type = arrayType(value);
  return type ? Extents(type.getShape()) : Extents();
}

std::optional<Interval> Facts::intervalOf(Value scalar) const {
  auto known = ranges.find(scalar);
  if (known != ranges.end()) {
    return known->second;
  }
  if (std::optional<int64_t> constant = constantInteger(scalar)) {
    return Interval{*constant, *constant};
  }
  return std::nullopt;
}

/// The range if the signed integer type of `value` can hold it.
static std::optional<Interval> ifHeld(Interval range, Value value) {
  auto type = dyn_cast<IntegerType>(elementTypeOf(value));
  if (!type || !type.isSigned() || type.getWidth() < 32) {
    return std::nullopt;
  }
  bool narrow = type.getWidth() == 32;
  int64_t least = narrow ? std::numeric_limits<int32_t>::min() : -(int64_t(1) << 62);
  int64_t most = narrow ? std::numeric_limits<int32_t>::max() : int64_t(1) << 62;
  return range.lo >= least && range.hi <= most ? std::optional(range) : std::nullopt;
}

/// The range of an op on scalars.
std::optional<Interval> Facts::compute(Operation &op) const {
  SmallVector<Interval, 3> in;
  for (Value operand : op.getOperands()) {
    std::optional<Interval> range = isScalar(operand) ? intervalOf(operand) : std::nullopt;
    if (!range && isa<MinimumOp, ClampOp>(op)) {
      range = Interval{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    }
    if (!range && !isa<SelectOp>(op)) {
      return std::nullopt;
    }
    in.push_back(range.value_or(Interval{0, 1}));
  }
  // Products of ranges of 31 bits do not overflow.
  auto isSmall = [&](unsigned i) {
    return in[i].lo >= -(int64_t(1) << 31) && in[i].hi < int64_t(1) << 31;
  };
  Interval result;
  if (isa<ConvertOp, CopyOp>(op)) {
    result = in[0];
  } else if (isa<AddOp>(op) && isSmall(0) && isSmall(1)) {
    result = {in[0].lo + in[1].lo, in[0].hi + in[1].hi};
  } else if (isa<SubtractOp>(op) && isSmall(0) && isSmall(1)) {
    result = {in[0].lo - in[1].hi, in[0].hi - in[1].lo};
  } else if (isa<MultiplyOp>(op) && isSmall(0) && isSmall(1)) {
    auto ends = {in[0].lo * in[1].lo, in[0].lo * in[1].hi, in[0].hi * in[1].lo,
                 in[0].hi * in[1].hi};
    result = {std::min(ends), std::max(ends)};
  } else if (isa<DivideOp>(op) && in[1].lo == in[1].hi && in[1].lo > 0) {
    result = {in[0].lo / in[1].lo, in[0].hi / in[1].lo};
  } else if (isa<RemainderOp>(op) && in[0].lo >= 0 && in[1].lo > 0) {
    result = {0, std::min(in[0].hi, in[1].hi - 1)};
  } else if (isa<MaximumOp>(op)) {
    result = {std::max(in[0].lo, in[1].lo), std::max(in[0].hi, in[1].hi)};
  } else if (isa<MinimumOp>(op)) {
    result = {std::min(in[0].lo, in[1].lo), std::min(in[0].hi, in[1].hi)};
  } else if (isa<ClampOp>(op) && in[0].lo <= in[0].hi && in[0].hi <= in[2].lo) {
    result = {std::clamp(in[1].lo, in[0].lo, in[2].lo), std::clamp(in[1].hi, in[0].hi, in[2].hi)};
  } else if (isa<SelectOp>(op)) {
    std::optional<bool> known = valueWithin(op.getOperand(0), {});
    std::optional<Interval> yes = intervalOf(op.getOperand(1)), no = intervalOf(op.getOperand(2));
    if (known ? !(*known ? yes : no) : !yes || !no) {
      return std::nullopt;
    }
    result = known ? *(*known ? yes : no)
                   : Interval{std::min(yes->lo, no->lo), std::max(yes->hi, no->hi)};
  } else {
    return std::nullopt;
  }
  return ifHeld(result, op.getResult(0));
}

/// Assumes that each carry stays in the interval of its initial value, and drops the assumptions
/// that the body does not confirm.
void Facts::collectLoop(WhileOp loop) {
  ComputationOp body = lookup(loop.getBodyAttr()), condition = lookup(loop.getConditionAttr());
  llvm::SmallBitVector assumed(loop->getNumOperands());
  auto carriesOf = [&](unsigned i) {
    return std::array<Value, 3>{body.getBody().getArgument(i), condition.getBody().getArgument(i),
                                loop->getResult(i)};
  };
  for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
    std::optional<Interval> interval = isScalar(operand) ? intervalOf(operand) : std::nullopt;
    for (Value carry : carriesOf(i)) {
      ranges.erase(carry);
      if (interval) {
        ranges[carry] = *interval;
      }
    }
    assumed[i] = interval.has_value();
  }
  auto drop = [&](unsigned i) {
    assumed.reset(i);
    for (Value carry : carriesOf(i)) {
      ranges.erase(carry);
    }
  };
  auto isKept = [&](unsigned i) { // whatever the intervals are
    return body.getReturn()->getOperand(i) == body.getBody().getArgument(i);
  };
  for (bool confirmed = false; !confirmed;) {
    bool gaveUp = ++walks > kMostWalks;
    for (unsigned i : llvm::to_vector(assumed.set_bits())) {
      if (gaveUp && !isKept(i)) {
        drop(i);
      }
    }
    collect(body);
    confirmed = true;
    for (unsigned i : llvm::to_vector(assumed.set_bits())) {
      Interval mine = ranges[loop->getResult(i)];
      std::optional<Interval> next = intervalOf(body.getReturn()->getOperand(i));
      if (!isKept(i) && (!next || next->lo < mine.lo || next->hi > mine.hi)) {
        drop(i);
        confirmed = false;
      }
    }
  }
  collect(condition);
}

void Facts::collect(ComputationOp computation) {
  for (Operation &op : computation.getBody().front()) {
    if (auto loop = dyn_cast<WhileOp>(op)) {
      collectLoop(loop);
      continue;
    }
    if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      unsigned next = 1;
      for (Attribute name : conditional.getBranchComputations()) {
        ComputationOp branch = lookup(cast<FlatSymbolRefAttr>(name));
        for (BlockArgument argument : branch.getBody().getArguments()) {
          Value operand = op.getOperand(next++);
          ranges.erase(argument);
          if (std::optional<Interval> range =
                  isScalar(operand) ? intervalOf(operand) : std::nullopt) {
            ranges[argument] = *range;
          }
        }
        collect(branch);
      }
      continue;
    }
    if (op.getNumResults() == 1 && isScalar(op.getResult(0)) && !isa<ConstantOp>(op) &&
        isa<IntegerType>(elementTypeOf(op.getResult(0)))) {
      // What was known under an assumption may be known no longer.
      ranges.erase(op.getResult(0));
      if (std::optional<Interval> range = compute(op)) {
        ranges[op.getResult(0)] = *range;
      }
    }
  }
}

/// The scalar n if `pred` is `iota < n` along the dimension; else null.
static Value limitOf(Value pred, int64_t dim) {
  auto compare = pred.getDefiningOp<CompareOp>();
  auto iota = compare ? compare.getLhs().getDefiningOp<IotaOp>() : IotaOp();
  bool fits = iota && compare.getDirection() == "LT" &&
              static_cast<int64_t>(iota.getIotaDimension()) == dim;
  return fits ? repeatedScalar(compare.getRhs()) : Value();
}

std::optional<Fill> Facts::fillOf(Value value, int64_t dim) const {
  return fillOf(value, dim, kMostSteps);
}

std::optional<Fill> Facts::fillOf(Value value, int64_t dim, unsigned steps) const {
  Operation *op = value.getDefiningOp();
  if (!op || !arrayType(value) || steps == 0) {
    return std::nullopt;
  }
  auto upTo = [&](Value limit, Value scalar) -> std::optional<Fill> {
    std::optional<Interval> range = intervalOf(limit);
    return range ? std::optional(Fill{range->hi, scalar}) : std::nullopt;
  };
  if (Value limit = limitOf(value, dim)) {
    return upTo(limit, Value());
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    Value other = repeatedScalar(select.getOnFalse());
    if (!other || isScalar(select.getPred())) {
      return std::nullopt;
    }
    if (Value limit = limitOf(select.getPred(), dim)) {
      return upTo(limit, other);
    }
    // The mask of another dimension: what it lets through must be filled with the same.
    std::optional<Fill> below = fillOf(select.getOnTrue(), dim, steps - 1);
    return below && below->scalar && isSameScalar(below->scalar, other) ? below : std::nullopt;
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    return fillOf(copy.getOperand(), dim, steps - 1);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    return fillOf(transpose.getOperand(), transpose.getDimensions()[dim], steps - 1);
  }
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    // The scalar has another type, but zero is zero.
    std::optional<Fill> below = fillOf(convert.getOperand(), dim, steps - 1);
    return below && below->scalar && isZero(below->scalar) ? below : std::nullopt;
  }
  return std::nullopt;
}

/// The result of comparing two numbers of which only the intervals are known.
static std::optional<bool> compared(StringRef direction, Interval a, Interval b) {
  if (direction == "EQ" || direction == "NE") {
    bool equal = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
    if (!equal && a.hi >= b.lo && b.hi >= a.lo) {
      return std::nullopt;
    }
    return equal == (direction == "EQ");
  }
  if (direction == "GT" || direction == "GE") {
    return compared(direction == "GT" ? "LT" : "LE", b, a);
  }
  bool strict = direction == "LT";
  if (strict ? a.hi < b.lo : a.hi <= b.lo) {
    return true;
  }
  if (strict ? a.lo >= b.hi : a.lo > b.hi) {
    return false;
  }
  return std::nullopt;
}

std::optional<bool> Facts::valueWithin(Value pred, ArrayRef<int64_t> extents) const {
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    Value limit = limitOf(pred, dim);
    std::optional<Interval> interval = limit ? intervalOf(limit) : std::nullopt;
    if (interval && interval->lo >= extent) {
      return true;
    }
  }
  Value scalar = repeatedScalar(pred);
  auto compare = scalar ? scalar.getDefiningOp<CompareOp>() : CompareOp();
  if (!compare) {
    return std::nullopt;
  }
  std::optional<Interval> lhs = intervalOf(compare.getLhs()), rhs = intervalOf(compare.getRhs());
  return lhs && rhs ? compared(compare.getDirection(), *lhs, *rhs) : std::nullopt;
}

Value sizes::repeatedScalar(Value array) {
  if (isScalar(array)) {
    return array;
  }
  auto broadcast = array.getDefiningOp<BroadcastOp>();
  return broadcast && isScalar(broadcast.getOperand()) ? broadcast.getOperand() : Value();
}

/// The bits of a constant scalar; null for others.
static DenseElementsAttr constantOf(Value scalar) {
  auto constant = scalar ? scalar.getDefiningOp<ConstantOp>() : ConstantOp();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
}

bool sizes::isSameScalar(Value a, Value b) {
  DenseElementsAttr known = constantOf(a);
  return a == b || (known && known == constantOf(b));
}

bool sizes::isZero(Value scalar) {
  DenseElementsAttr known = constantOf(scalar);
  if (!known) {
    return false;
  }
  return llvm::all_of(known.getRawData(), [](char byte) { return byte == 0; });
}
