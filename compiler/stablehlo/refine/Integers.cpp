//===- Integers.cpp - Integers that sizes are computed from ---------------===//
//
// Evaluates small arrays of integers and booleans symbolically, element by element. An integer that
// is not a function of sizes gets a symbol of its own, so that differences of such integers are
// known: the slice [i, i + s) has s elements.
//
// JAX writes floordiv and mod as calls of its own functions, which the calls' inlining leaves as
//
//   floordiv(x, y) = select(sign(x) != sign(y) && remainder(x, y) != 0, x / y - 1, x / y)
//   mod(x, y)      = select((r < 0) != (y < 0) && r != 0, r + y, r),  r = remainder(x, y)
//
// where `/` and remainder round towards zero.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

/// Elements of the largest array that is evaluated: sizes of an array, or its padding.
static constexpr int64_t kMostElements = 64;

bool Refiner::canTrack(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() <= kMostElements &&
         isa<IntegerType>(type.getElementType());
}

bool Refiner::canTrackScalar(Value value) {
  return canTrack(value) && cast<RankedTensorType>(value.getType()).getNumElements() == 1;
}

SizeExpr Refiner::fresh() { return SizeExpr::symbol("%f" + std::to_string(freshCount++)); }

bool Refiner::isData(const SizeExpr &expr) const {
  return !expr.isKnown() ||
         llvm::any_of(expr.symbols(), [](StringRef name) { return name.starts_with("%f"); });
}

ArrayRef<SizeExpr> Refiner::elementsOf(Value value) {
  auto found = elements.find(value);
  if (found != elements.end()) {
    return found->second;
  }
  std::vector<SizeExpr> unknown;
  for (int64_t i = 0, end = cast<RankedTensorType>(value.getType()).getNumElements(); i < end;
       ++i) {
    unknown.push_back(fresh());
  }
  return elements[value] = std::move(unknown);
}

static bool isKnownBool(const SizeExpr &expr) { return expr == SizeExpr(0) || expr == SizeExpr(1); }

SizeExpr Refiner::compare(stablehlo::ComparisonDirection direction, const SizeExpr &a,
                          const SizeExpr &b) {
  using Direction = stablehlo::ComparisonDirection;
  SizeRange range = rangeOf(a - b);
  auto known = [&](bool isTrue, bool isFalse) {
    return isTrue ? SizeExpr(1) : isFalse ? SizeExpr(0) : fresh();
  };
  bool isZero = range == SizeRange{0, 0}, noZero = range.low > 0 || range.high < 0;
  switch (direction) {
  case Direction::EQ: return known(isZero, noZero);
  case Direction::NE: return known(noZero, isZero);
  case Direction::GE: return known(range.low >= 0, range.high < 0);
  case Direction::GT: return known(range.low > 0, range.high <= 0);
  case Direction::LE: return known(range.high <= 0, range.low > 0);
  case Direction::LT: return known(range.high < 0, range.low >= 0);
  }
  return fresh();
}

/// The op that makes the value, if it has this name.
static Operation *madeBy(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == name ? op : nullptr;
}

/// The operand x of sign(x).
static Value signOf(Value value) {
  Operation *sign = madeBy(value, "stablehlo.sign");
  return sign ? sign->getOperand(0) : Value();
}

static bool isCompare(Operation *op, stablehlo::ComparisonDirection direction) {
  auto compare = dyn_cast_or_null<stablehlo::CompareOp>(op);
  return compare && compare.getComparisonDirection() == direction;
}

SizeExpr Refiner::selected(Operation *op, const SizeExpr &predicate, const SizeExpr &onTrue,
                           const SizeExpr &onFalse) {
  if (isKnownBool(predicate)) {
    return predicate == SizeExpr(1) ? onTrue : onFalse;
  }
  if (onTrue == onFalse) {
    return onTrue;
  }
  using Direction = stablehlo::ComparisonDirection;
  Operation *both = madeBy(op->getOperand(0), "stablehlo.and");
  Value falseValue = op->getOperand(2);
  // What follows looks at the first elements alone.
  if (!both || !canTrackScalar(falseValue)) {
    return fresh();
  }
  if (Operation *divide = madeBy(falseValue, "stablehlo.divide")) {
    Value x = divide->getOperand(0), y = divide->getOperand(1);
    Operation *signs = both->getOperand(0).getDefiningOp();
    if (isCompare(signs, Direction::NE) && signOf(signs->getOperand(0)) == x &&
        signOf(signs->getOperand(1)) == y && (onTrue - onFalse) == SizeExpr(-1)) {
      Operation *inexact = both->getOperand(1).getDefiningOp();
      Operation *rest = isCompare(inexact, Direction::NE)
                            ? madeBy(inexact->getOperand(0), "stablehlo.remainder")
                            : nullptr;
      if (rest && rest->getOperand(0) == x && rest->getOperand(1) == y &&
          rangeOf(elementsOf(y).front()).low > 0 &&
          elementsOf(inexact->getOperand(1)).front() == SizeExpr(0)) {
        return SizeExpr::floorDiv(elementsOf(x).front(), elementsOf(y).front());
      }
    }
  }
  if (Operation *rest = madeBy(falseValue, "stablehlo.remainder")) {
    SizeExpr x = elementsOf(rest->getOperand(0)).front();
    SizeExpr y = elementsOf(rest->getOperand(1)).front();
    Operation *signs = both->getOperand(0).getDefiningOp();
    Operation *inexact = both->getOperand(1).getDefiningOp();
    Operation *left =
        isCompare(signs, Direction::NE) ? signs->getOperand(0).getDefiningOp() : nullptr;
    if (rangeOf(y).low > 0 && (onTrue - onFalse) == y && isCompare(left, Direction::LT) &&
        left->getOperand(0) == falseValue && isCompare(inexact, Direction::NE) &&
        inexact->getOperand(0) == falseValue &&
        elementsOf(left->getOperand(1)).front() == SizeExpr(0) &&
        elementsOf(inexact->getOperand(1)).front() == SizeExpr(0) &&
        elementsOf(signs->getOperand(1)).front() == SizeExpr(0)) {
      return SizeExpr::mod(x, y);
    }
  }
  return fresh();
}

bool Refiner::evaluateElementwise(Operation *op, SmallVector<SizeExpr> &result) {
  SmallVector<ArrayRef<SizeExpr>> operands;
  for (Value operand : op->getOperands()) {
    if (!canTrack(operand)) {
      return false;
    }
    operands.push_back(elementsOf(operand));
  }
  size_t count = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  StringRef name = op->getName().stripDialect();
  bool isBool = cast<RankedTensorType>(op->getResult(0).getType()).getElementType().isInteger(1);
  for (size_t i = 0; i < count; ++i) {
    auto get = [&](unsigned number) -> SizeExpr {
      ArrayRef<SizeExpr> all = operands[number];
      return all.size() == 1 ? all.front() : i < all.size() ? all[i] : SizeExpr::unknown();
    };
    SizeExpr value = SizeExpr::unknown();
    if (name == "convert" && !isBool) {
      value = get(0);
    } else if (name == "add") {
      value = isBool ? value : get(0) + get(1);
    } else if (name == "subtract") {
      value = get(0) - get(1);
    } else if (name == "multiply") {
      value = isBool ? value : get(0) * get(1);
    } else if (name == "negate") {
      value = SizeExpr(0) - get(0);
    } else if (name == "maximum") {
      SizeRange range = rangeOf(get(0) - get(1));
      value = range.low >= 0 ? get(0) : range.high <= 0 ? get(1) : SizeExpr::max(get(0), get(1));
    } else if (name == "minimum") {
      SizeRange range = rangeOf(get(0) - get(1));
      value = range.low >= 0 ? get(1) : range.high <= 0 ? get(0) : SizeExpr::min(get(0), get(1));
    } else if (name == "clamp") {
      SizeExpr low = get(0), x = get(1), high = get(2);
      if (rangeOf(x - low).low >= 0 && rangeOf(high - x).low >= 0) {
        value = x;
      } else {
        value = SizeExpr::min(SizeExpr::max(x, low), high);
      }
    } else if (name == "abs") {
      value = rangeOf(get(0)).low >= 0 ? get(0) : value;
    } else if (name == "sign") {
      SizeRange range = rangeOf(get(0));
      value = range.low > 0 ? SizeExpr(1) : range.high < 0 ? SizeExpr(-1) : value;
    } else if (name == "divide") {
      if (rangeOf(get(0)).low >= 0 && rangeOf(get(1)).low > 0) {
        value = SizeExpr::floorDiv(get(0), get(1));
      }
    } else if (name == "remainder") {
      if (rangeOf(get(0)).low >= 0 && rangeOf(get(1)).low > 0) {
        value = SizeExpr::mod(get(0), get(1));
      }
    } else if (name == "and" && isBool) {
      SizeExpr a = get(0), b = get(1);
      if (a == SizeExpr(0) || b == SizeExpr(0)) {
        value = 0;
      } else if (isKnownBool(a)) {
        value = b;
      } else if (isKnownBool(b)) {
        value = a;
      }
    } else if (name == "or" && isBool) {
      SizeExpr a = get(0), b = get(1);
      if (a == SizeExpr(1) || b == SizeExpr(1)) {
        value = 1;
      } else if (isKnownBool(a)) {
        value = b;
      } else if (isKnownBool(b)) {
        value = a;
      }
    } else if (name == "not" && isBool) {
      value = isKnownBool(get(0)) ? SizeExpr(1) - get(0) : value;
    } else if (name == "compare") {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      SizeExpr a = get(0), b = get(1);
      if (!type.getElementType().isInteger(1) || (isKnownBool(a) && isKnownBool(b))) {
        value = compare(cast<stablehlo::CompareOp>(op).getComparisonDirection(), a, b);
      }
    } else if (name == "select") {
      value = selected(op, get(0), get(1), get(2));
    } else {
      return false;
    }
    result.push_back(value.isKnown() ? value : fresh());
  }
  return true;
}

SmallVector<int64_t> refine::listAttr(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attr)) {
    return SmallVector<int64_t>(array.asArrayRef());
  }
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr)) {
    SmallVector<int64_t> values;
    for (const APInt &each : dense.getValues<APInt>()) {
      values.push_back(each.sextOrTrunc(64).getSExtValue());
    }
    return values;
  }
  return {};
}

bool Refiner::evaluateShape(Operation *op, SmallVector<SizeExpr> &result) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  StringRef name = op->getName().stripDialect();
  if (name == "constant") {
    auto value = dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr("value"));
    if (!value) {
      return false;
    }
    bool isBool = type.getElementType().isInteger(1);
    for (const APInt &each : value.getValues<APInt>()) {
      if (each.getSignificantBits() > 64) {
        return false;
      }
      result.push_back(isBool || type.getElementType().isUnsignedInteger()
                           ? SizeExpr(static_cast<int64_t>(each.getLimitedValue(INT64_MAX)))
                           : SizeExpr(each.getSExtValue()));
    }
    return true;
  }
  if (!llvm::all_of(op->getOperands(), canTrack)) {
    return false;
  }
  auto operand = [&](unsigned i) { return elementsOf(op->getOperand(i)); };
  if (name == "reshape" || name == "bitcast_convert" || name == "optimization_barrier") {
    if (name == "bitcast_convert" || op->getNumOperands() != 1) {
      return false;
    }
    result.assign(operand(0).begin(), operand(0).end());
    return true;
  }
  if (name == "broadcast_in_dim") {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    SmallVector<int64_t> dims = listAttr(op, "broadcast_dimensions");
    SmallVector<int64_t> index(type.getRank(), 0);
    for (int64_t i = 0, end = type.getNumElements(); i < end; ++i) {
      int64_t rest = i, at = 0;
      for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
        index[dim] = rest % type.getDimSize(dim);
        rest /= type.getDimSize(dim);
      }
      for (auto [dim, target] : llvm::enumerate(dims)) {
        int64_t size = from.getDimSize(dim);
        at = at * size + (size == 1 ? 0 : index[target]);
      }
      result.push_back(operand(0)[at]);
    }
    return true;
  }
  if (name == "concatenate") {
    int64_t along = op->getAttrOfType<IntegerAttr>("dimension").getInt(), outer = 1, inner = 1;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      (dim < along ? outer : inner) *= dim == along ? 1 : type.getDimSize(dim);
    }
    for (int64_t i = 0; i < outer; ++i) {
      for (auto [number, part] : llvm::enumerate(op->getOperands())) {
        int64_t run = cast<RankedTensorType>(part.getType()).getDimSize(along) * inner;
        llvm::append_range(result, operand(number).slice(i * run, run));
      }
    }
    return true;
  }
  if (name == "slice" && type.getRank() == 1) {
    int64_t start = listAttr(op, "start_indices")[0], stride = listAttr(op, "strides")[0];
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      result.push_back(operand(0)[start + i * stride]);
    }
    return true;
  }
  return false;
}

void Refiner::evaluate(Operation *op) {
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    int64_t dim = size.getDimension();
    if (!namesAreSolved) {
      auto argument = dyn_cast<BlockArgument>(size.getOperand());
      if (argument && argument.getOwner() == &main.getBody().front() &&
          cast<RankedTensorType>(argument.getType()).isDynamicDim(dim)) {
        elements[size.getResult()] = {SizeExpr::symbol(dimensionKey(argument, dim))};
        return;
      }
    }
    auto type = cast<RankedTensorType>(size.getOperand().getType());
    if (namesAreSolved || !type.isDynamicDim(dim)) {
      elements[size.getResult()] = {sizesOf(size.getOperand())[dim]};
    }
    return;
  }
  if (op->getNumResults() != 1 || !canTrack(op->getResult(0)) || op->getNumRegions()) {
    return;
  }
  SmallVector<SizeExpr> result;
  if (!evaluateShape(op, result)) {
    result.clear();
    if (!evaluateElementwise(op, result)) {
      return;
    }
  }
  int64_t count = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  if (static_cast<int64_t>(result.size()) == count) {
    elements[op->getResult(0)].assign(result.begin(), result.end());
  }
}
