//===- TripCount.cpp - Trip counts of loops -------------------------------===//
//
// Matches, with i a scalar integer carry and all c constants,
//   condition: i < c (or <=, >, >=, !=, either side)    body: i + c, c + i, i - c
// and solves for the count in exact arithmetic. A loop whose counter would wrap
// before the condition fails is not counted.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/TripCount.h"
#include "compiler/analysis/evaluator/Evaluator.h"

using namespace mlir;
using namespace hlo;

/// The comparison with its sides exchanged: `a < b` gives `b > a`.
static StringRef mirrored(StringRef direction) {
  return llvm::StringSwitch<StringRef>(direction)
      .Case("LT", "GT")
      .Case("GT", "LT")
      .Case("LE", "GE")
      .Case("GE", "LE")
      .Default(direction);
}

/// The constant c if `value` is counter + c.
static std::optional<int64_t> stepOf(Value value, BlockArgument counter) {
  if (auto add = value.getDefiningOp<AddOp>()) {
    if (add.getLhs() == counter) {
      return constantInteger(add.getRhs());
    }
    return add.getRhs() == counter ? constantInteger(add.getLhs()) : std::nullopt;
  }
  auto subtract = value.getDefiningOp<SubtractOp>();
  if (!subtract || subtract.getLhs() != counter) {
    return std::nullopt;
  }
  std::optional<int64_t> step = constantInteger(subtract.getRhs());
  return step ? std::optional<int64_t>(-*step) : std::nullopt;
}

std::optional<TripCount> hlo::computeTripCount(WhileOp loop, ComputationOp condition,
                                               ComputationOp body) {
  auto compare = condition.getReturn()->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare) {
    return std::nullopt;
  }
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  std::optional<int64_t> limit = constantInteger(compare.getRhs());
  StringRef direction = compare.getDirection();
  if (!counter || !limit) {
    counter = dyn_cast<BlockArgument>(compare.getRhs());
    limit = constantInteger(compare.getLhs());
    direction = mirrored(direction);
  }
  if (!counter || !limit) {
    return std::nullopt;
  }
  TripCount result;
  result.carry = counter.getArgNumber();
  auto element = dyn_cast<IntegerType>(cast<RankedTensorType>(counter.getType()).getElementType());
  std::optional<int64_t> init = constantInteger(loop->getOperand(result.carry));
  std::optional<int64_t> step =
      stepOf(body.getReturn()->getOperand(result.carry), body.getBody().getArgument(result.carry));
  if (!element || element.getWidth() < 8 || !init || !step || *step == 0) {
    return std::nullopt;
  }
  // Unsigned 64-bit counters above INT64_MAX are not analyzed.
  bool isUnsigned = !element.isSigned();
  if (isUnsigned && element.getWidth() == 64 && (*init < 0 || *limit < 0)) {
    return std::nullopt;
  }
  result.init = *init;
  result.step = *step;
  if (direction == "GT" || direction == "GE") {
    // i > c  is  -i < -c.
    init = -*init;
    limit = -*limit;
    step = -*step;
  }
  bool inclusive = direction == "LE" || direction == "GE";
  if (direction == "NE") {
    __int128 distance = static_cast<__int128>(*limit) - *init;
    if (distance % *step != 0 || distance / *step < 0) {
      return std::nullopt;
    }
    result.count = static_cast<int64_t>(distance / *step);
  } else if (direction == "EQ") {
    result.count = *init == *limit ? 1 : 0;
    return result;
  } else {
    __int128 distance = static_cast<__int128>(*limit) - *init + (inclusive ? 1 : 0);
    if (distance <= 0) {
      result.count = 0;
      return result;
    }
    if (*step < 0) {
      return std::nullopt;
    }
    result.count = static_cast<int64_t>((distance + *step - 1) / *step);
  }
  // The value that ends the loop must exist in the counter's type.
  __int128 last =
      static_cast<__int128>(result.init) + static_cast<__int128>(result.step) * result.count;
  unsigned width = element.getWidth();
  __int128 low = isUnsigned ? 0 : -(static_cast<__int128>(1) << (width - 1));
  __int128 high = (static_cast<__int128>(1) << (isUnsigned ? width : width - 1)) - 1;
  return last < low || last > high ? std::nullopt : std::optional<TripCount>(result);
}
