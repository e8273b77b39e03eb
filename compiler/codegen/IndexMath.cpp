//===- IndexMath.cpp - Arithmetic on indices, scalar or per lane ----------===//
//
// All functions fold constants, so a kernel over a small static shape has no index arithmetic that
// is known statically. For scalars they also avoid duplicates, which unrolled bodies would make: an
// equal existing op is reused. Sums have their constant last, (i + 3) * 512 becoming i * 512 +
// 1536, so that the addresses of a tile differ only by constants. LLVM would find both, but takes
// much longer to compile.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

Value constLanes(Emission &e, int64_t value, int64_t lanes) {
  if (lanes <= 1) {
    return constI64(e, value);
  }
  auto type = VectorType::get({lanes}, e.b.getI64Type());
  return arith::ConstantOp::create(e.b, e.loc,
                                   DenseElementsAttr::get(type, e.b.getI64IntegerAttr(value)));
}

static Value constantLike(Emission &e, Value like, int64_t value) {
  return constLanes(e, value, lanesOf(like));
}

/// True if only the terminator follows the insertion point `at`: then all other ops of the block
/// precede it, without a query for the order of ops.
static bool isLast(Operation *at) {
  Operation *next = at->getNextNode();
  return !next || !next->getNextNode();
}

bool isAvailable(Emission &e, Operation *op) {
  // Kernels under construction are structured: an op that precedes the insertion point in its
  // block, or in a block around it, dominates it.
  // Few kernels nest more loops than a task, a row, a vector, and two or three of a window or a
  // sum. An op that is not found is made again, which LLVM undoes.
  constexpr int deepest = 6;
  Block *block = e.b.getInsertionBlock();
  Operation *at = e.b.getInsertionPoint() == block->end() ? nullptr : &*e.b.getInsertionPoint();
  for (int depth = 0; depth < deepest && block; ++depth) {
    if (op->getBlock() == block) {
      return !at || (op != at && (isLast(at) ? op != at->getNextNode() : op->isBeforeInBlock(at)));
    }
    at = block->getParentOp();
    block = at ? at->getBlock() : nullptr;
  }
  return false;
}

/// An existing op on these values, among the last few that use its first operand; else null.
template <typename Op, typename Test> static Value findUser(Emission &e, Value operand, Test test) {
  int left = 16;
  for (Operation *user : operand.getUsers()) {
    if (left-- == 0) {
      break;
    }
    auto same = dyn_cast<Op>(user);
    if (same && same->getOperand(0) == operand && test(same->getOperand(1)) &&
        isAvailable(e, user)) {
      return same->getResult(0);
    }
  }
  return {};
}

static bool isScalarIndex(Value value) { return value.getType().isInteger(64); }

/// True for constants whose products and sums are far from overflow.
static bool isModest(int64_t value) {
  constexpr int64_t most = int64_t(1) << 40;
  return -most < value && value < most;
}

SumWithConstant splitConstant(Value value) {
  if (std::optional<int64_t> constant = constantOf(value); constant && isScalarIndex(value)) {
    return isModest(*constant) ? SumWithConstant{{}, *constant} : SumWithConstant{value, 0};
  }
  if (auto add = value.getDefiningOp<arith::AddIOp>(); add && isScalarIndex(value)) {
    std::optional<int64_t> constant = constantOf(add.getRhs());
    if (constant && isModest(*constant)) {
      return {add.getLhs(), *constant};
    }
  }
  return {value, 0};
}

/// value op constant, reusing an equal existing op.
template <typename Op> static Value withConstant(Emission &e, Value value, int64_t constant) {
  auto isConstant = [&](Value other) { return constantOf(other) == constant; };
  if (Value found = findUser<Op>(e, value, isConstant)) {
    return found;
  }
  return e.b.createOrFold<Op>(e.loc, value, constI64(e, constant));
}

/// a op b, reusing an equal existing op.
template <typename Op> static Value withValue(Emission &e, Value a, Value b) {
  if (Value found = findUser<Op>(e, a, [&](Value other) { return other == b; })) {
    return found;
  }
  return e.b.createOrFold<Op>(e.loc, a, b);
}

static Value joinConstant(Emission &e, Value value, int64_t constant) {
  if (!value) {
    return constI64(e, constant);
  }
  SumWithConstant sum = splitConstant(value);
  if (!sum.value || sum.constant + constant == 0) {
    return sum.value ? sum.value : constI64(e, sum.constant + constant);
  }
  return constant == 0 ? value : withConstant<arith::AddIOp>(e, sum.value, sum.constant + constant);
}

Value addI(Emission &e, Value a, Value b) {
  if (!isScalarIndex(a)) {
    return e.b.createOrFold<arith::AddIOp>(e.loc, a, b);
  }
  SumWithConstant x = splitConstant(a), y = splitConstant(b);
  if (!x.value || !y.value) {
    return joinConstant(e, x.value ? x.value : y.value, x.constant + y.constant);
  }
  return joinConstant(e, withValue<arith::AddIOp>(e, x.value, y.value), x.constant + y.constant);
}

Value subI(Emission &e, Value a, Value b) {
  if (!isScalarIndex(a)) {
    return e.b.createOrFold<arith::SubIOp>(e.loc, a, b);
  }
  SumWithConstant x = splitConstant(a), y = splitConstant(b);
  if (!y.value) {
    return joinConstant(e, x.value, x.constant - y.constant);
  }
  if (!x.value) {
    return withValue<arith::SubIOp>(e, constI64(e, x.constant - y.constant), y.value);
  }
  return joinConstant(e, withValue<arith::SubIOp>(e, x.value, y.value), x.constant - y.constant);
}

Value mulI(Emission &e, Value a, Value b) {
  if (!isScalarIndex(a)) {
    return e.b.createOrFold<arith::MulIOp>(e.loc, a, b);
  }
  if (std::optional<int64_t> factor = constantOf(b)) {
    return mulI(e, a, *factor);
  }
  std::optional<int64_t> factor = constantOf(a);
  return factor ? mulI(e, b, *factor) : withValue<arith::MulIOp>(e, a, b);
}

Value addI(Emission &e, Value a, int64_t b) {
  if (b == 0) {
    return a;
  }
  return isScalarIndex(a) && isModest(b) ? joinConstant(e, a, b)
                                         : addI(e, a, constantLike(e, a, b));
}

Value mulI(Emission &e, Value a, int64_t b) {
  if (b == 1) {
    return a;
  }
  if (!isScalarIndex(a)) {
    return e.b.createOrFold<arith::MulIOp>(e.loc, a, constantLike(e, a, b));
  }
  SumWithConstant sum = splitConstant(a);
  int64_t constant;
  if (b == 0 || !isModest(b) || llvm::MulOverflow(sum.constant, b, constant) ||
      !isModest(constant)) {
    return e.b.createOrFold<arith::MulIOp>(e.loc, a, constI64(e, b));
  }
  Value product = sum.value ? withConstant<arith::MulIOp>(e, sum.value, b) : Value();
  return joinConstant(e, product, constant);
}

Value divI(Emission &e, Value a, int64_t b) {
  return b == 1 ? a : e.b.createOrFold<arith::DivUIOp>(e.loc, a, constantLike(e, a, b));
}

Value remI(Emission &e, Value a, int64_t b) {
  return b == 1 ? constantLike(e, a, 0)
                : e.b.createOrFold<arith::RemUIOp>(e.loc, a, constantLike(e, a, b));
}

Value minI(Emission &e, Value a, Value b) { return e.b.createOrFold<arith::MinSIOp>(e.loc, a, b); }
Value maxI(Emission &e, Value a, Value b) { return e.b.createOrFold<arith::MaxSIOp>(e.loc, a, b); }
Value minI(Emission &e, Value a, int64_t b) { return minI(e, a, constantLike(e, a, b)); }
Value maxI(Emission &e, Value a, int64_t b) { return maxI(e, a, constantLike(e, a, b)); }

Value compareI(Emission &e, arith::CmpIPredicate predicate, Value a, int64_t b) {
  return e.b.createOrFold<arith::CmpIOp>(e.loc, predicate, a, constantLike(e, a, b));
}

Value andMask(Emission &e, Value a, Value b) {
  if (!a) {
    return b;
  }
  if (!b) {
    return a;
  }
  int64_t lanes = std::max(lanesOf(a), lanesOf(b));
  auto widen = [&](Value v) { return lanesOf(v) == lanes ? v : splat(e, v, lanes).re; };
  return e.b.createOrFold<arith::AndIOp>(e.loc, widen(a), widen(b));
}

Value laneOffsets(Emission &e, int64_t lanes, int64_t stride) {
  SmallVector<int64_t> values(lanes);
  for (int64_t l = 0; l < lanes; ++l) {
    values[l] = l * stride;
  }
  auto type = VectorType::get({lanes}, e.b.getI64Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(values)));
}

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  return std::nullopt;
}

Value anyLane(Emission &e, Value mask) {
  if (lanesOf(mask) == 1 && !isa<VectorType>(mask.getType())) {
    return mask;
  }
  return vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::OR, mask);
}

Value laneIndices(Emission &e, const Index &index, int64_t lanes) {
  if (index.lanes) {
    return index.lanes;
  }
  if (lanes == 1) {
    return index.base;
  }
  Value base = splat(e, index.base, lanes).re;
  return index.stride == 0 ? base : addI(e, base, laneOffsets(e, lanes, index.stride));
}

Congruence::Congruence(int64_t modulus, int64_t rest)
    : modulus(modulus), rest(modulus == 0 ? rest : (rest % modulus + modulus) % modulus) {}

static Congruence operator+(const Congruence &a, const Congruence &b) {
  return Congruence(std::gcd(a.modulus, b.modulus), a.rest + b.rest);
}

static Congruence operator*(const Congruence &a, int64_t factor) {
  return Congruence(a.modulus * std::abs(factor), a.rest * factor);
}

/// The congruence of a constant.
static Congruence exactly(int64_t number) { return Congruence(0, number); }

static Congruence knownOf(const Index &index) {
  std::optional<int64_t> constant = index.base ? constantOf(index.base) : std::nullopt;
  return constant ? exactly(*constant) : index.known;
}

Index patternIndex(Emission &e, Value base, ArrayRef<int64_t> offsets, Congruence known) {
  int64_t first = offsets[0], stride = offsets.size() > 1 ? offsets[1] - first : 0;
  bool affine = true;
  for (auto [l, offset] : llvm::enumerate(offsets)) {
    affine &= offset == first + static_cast<int64_t>(l) * stride;
  }
  if (affine) {
    return Index(addI(e, base, first), stride, known + exactly(first));
  }
  Index index(base, 0, known);
  index.offsets.assign(offsets.begin(), offsets.end());
  std::optional<int64_t> constant = constantOf(base);
  SmallVector<int64_t> values(offsets);
  for (int64_t &value : values) {
    value += constant.value_or(0);
  }
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, e.b.getI64Type());
  index.lanes =
      arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(values)));
  if (!constant) {
    index.lanes = addI(e, splat(e, base, offsets.size()).re, index.lanes);
  }
  return index;
}

SmallVector<int64_t> knownOffsets(const Index &index, int64_t lanes) {
  if (index.lanes) {
    return SmallVector<int64_t>(ArrayRef<int64_t>(index.offsets));
  }
  SmallVector<int64_t> offsets(lanes);
  for (int64_t l = 0; l < lanes; ++l) {
    offsets[l] = l * index.stride;
  }
  return offsets;
}

Index addIndex(Emission &e, const Index &a, const Index &b, int64_t lanes) {
  Index sum;
  if (a.lanes || b.lanes) {
    SmallVector<int64_t> offsets = knownOffsets(a, lanes), others = knownOffsets(b, lanes);
    if (!offsets.empty() && !others.empty()) {
      for (auto [offset, other] : llvm::zip(offsets, others)) {
        offset += other;
      }
      return patternIndex(e, addI(e, a.base, b.base), offsets, knownOf(a) + knownOf(b));
    }
    sum.lanes = addI(e, laneIndices(e, a, lanes), laneIndices(e, b, lanes));
    return sum;
  }
  sum.base = addI(e, a.base, b.base);
  sum.stride = a.stride + b.stride;
  sum.known = knownOf(a) + knownOf(b);
  return sum;
}

Index addIndex(Emission &e, const Index &a, int64_t b) {
  if (b == 0) {
    return a;
  }
  if (!a.offsets.empty()) {
    return patternIndex(e, addI(e, a.base, b), a.offsets, a.known + exactly(b));
  }
  if (a.lanes) {
    Index sum;
    sum.lanes = addI(e, a.lanes, b);
    return sum;
  }
  Index sum = a;
  sum.base = addI(e, a.base, b);
  sum.known = a.known + exactly(b);
  return sum;
}

Index mulIndex(Emission &e, const Index &a, int64_t factor) {
  if (factor == 1) {
    return a;
  }
  Index product;
  if (factor == 0) {
    product.base = constI64(e, 0);
    return product;
  }
  if (!a.offsets.empty()) {
    SmallVector<int64_t> offsets{ArrayRef<int64_t>(a.offsets)};
    for (int64_t &offset : offsets) {
      offset *= factor;
    }
    return patternIndex(e, mulI(e, a.base, factor), offsets, a.known * factor);
  }
  if (a.lanes) {
    product.lanes = mulI(e, a.lanes, factor);
    return product;
  }
  product.base = mulI(e, a.base, factor);
  product.stride = a.stride * factor;
  product.known = a.known * factor;
  return product;
}

/// a / b for a multiple a of b, which may be negative: if a vector begins before an array, its
/// later lanes may be inside.
static Value divideMultiple(Emission &e, Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b)) {
    return e.b.createOrFold<arith::ShRSIOp>(e.loc, a, constantLike(e, a, llvm::Log2_64(b)));
  }
  return e.b.createOrFold<arith::DivSIOp>(e.loc, a, constantLike(e, a, b));
}

/// The same for lanes that cross into the next block of `divisor` at most once: one scalar
/// division, where CPUs have no vector division. A moderately negative base is allowed: lanes
/// before 0 get the quotient -1.
static std::pair<Index, Index> divRemOfRun(Emission &e, const Index &a, int64_t divisor,
                                           int64_t lanes) {
  int64_t blocks = (int64_t(1) << 40) / divisor + 1;
  Value block = addI(e, divI(e, addI(e, a.base, blocks * divisor), divisor), -blocks);
  Value first = subI(e, a.base, mulI(e, block, divisor));
  Value within = addI(e, splat(e, first, lanes).re, laneOffsets(e, lanes, a.stride));
  Value isNext = compareI(e, arith::CmpIPredicate::sge, within, divisor);
  Index quotient, remainder;
  quotient.lanes = arith::SelectOp::create(
      e.b, e.loc, isNext, splat(e, addI(e, block, 1), lanes).re, splat(e, block, lanes).re);
  remainder.lanes = arith::SelectOp::create(e.b, e.loc, isNext, addI(e, within, -divisor), within);
  return {quotient, remainder};
}

std::pair<Index, Index> divRemIndex(Emission &e, const Index &a, int64_t divisor, int64_t lanes) {
  if (divisor == 1) {
    return {a, Index(constI64(e, 0))};
  }
  Index quotient, remainder;
  Congruence known = knownOf(a), knownRest(std::gcd(known.modulus, divisor), known.rest);
  if (!a.lanes && a.stride == 0) {
    quotient.base = divI(e, a.base, divisor);
    return {quotient, Index(remI(e, a.base, divisor), 0, knownRest)};
  }
  if (!a.lanes && a.stride > 0) {
    // All lanes are in one block of `divisor` if the block is a multiple of an aligned run of
    // `span` values.
    int64_t span = a.stride * lanes;
    std::optional<int64_t> constant = constantOf(a.base);
    bool oneBlock = constant && *constant >= 0 &&
                    *constant / divisor == (*constant + a.stride * (lanes - 1)) / divisor;
    if (oneBlock || (divisor % span == 0 && known.isMultipleOf(span))) {
      quotient.base = divI(e, a.base, divisor);
      return {quotient, Index(remI(e, a.base, divisor), a.stride, knownRest)};
    }
    if (a.stride % divisor == 0 && known.isMultipleOf(divisor)) {
      quotient = Index(divideMultiple(e, a.base, divisor), a.stride / divisor,
                       Congruence(known.modulus / divisor, known.rest / divisor));
      remainder.base = constI64(e, 0);
      return {quotient, remainder};
    }
  }
  SmallVector<int64_t> offsets = knownOffsets(a, lanes);
  if (!offsets.empty() && known.isKnownModulo(divisor) &&
      *llvm::min_element(offsets) + known.rest >= 0) {
    // If the base is a multiple of the divisor, the offsets can be divided separately.
    SmallVector<int64_t> rest(offsets);
    for (auto [offset, left] : llvm::zip(offsets, rest)) {
      left = (known.rest + offset) % divisor;
      offset = (known.rest + offset) / divisor;
    }
    Value multiple = divideMultiple(e, addI(e, a.base, -known.rest), divisor);
    return {patternIndex(e, multiple, offsets, Congruence(known.modulus / divisor)),
            patternIndex(e, constI64(e, 0), rest)};
  }
  if (!a.lanes && a.stride > 0 && a.stride * (lanes - 1) <= divisor && isModest(divisor)) {
    std::tie(quotient, remainder) = divRemOfRun(e, a, divisor, lanes);
  } else {
    Value all = laneIndices(e, a, lanes);
    quotient.lanes = divI(e, all, divisor);
    remainder.lanes = remI(e, all, divisor);
  }
  quotient.whole = remainder.whole = std::make_shared<const Index>(a);
  quotient.divisor = remainder.divisor = divisor;
  remainder.isRest = true;
  return {quotient, remainder};
}

Index linearIndex(Emission &e, ArrayRef<Index> index, ArrayRef<int64_t> strides, int64_t lanes) {
  struct Term {
    Index index;
    int64_t stride;
  };
  SmallVector<Term> terms;
  for (auto [i, stride] : llvm::zip(index, strides)) {
    if (stride == 0 || (i.isUniform() && constantOf(i.base) == 0)) {
      continue;
    }
    terms.push_back({i, stride});
    while (terms.size() > 1) {
      const Term &quotient = terms[terms.size() - 2], &rest = terms.back();
      if (!rest.index.whole || rest.index.whole != quotient.index.whole || !rest.index.isRest ||
          quotient.index.isRest || quotient.stride != rest.stride * rest.index.divisor) {
        break;
      }
      Term joined{*rest.index.whole, rest.stride};
      terms.pop_back();
      terms.back() = std::move(joined);
    }
  }
  Index linear(constI64(e, 0));
  for (const Term &term : terms) {
    linear = addIndex(e, linear, mulIndex(e, term.index, term.stride), lanes);
  }
  return linear;
}

} // namespace hlo::codegen
