//===- IndexMath.cpp - Arithmetic on indices, scalar or per lane ----------===//
//
// Everything folds constants on the fly (createOrFold), so that a kernel over a
// small static shape contains no index arithmetic that is known in advance.
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
  return arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::get(type, e.b.getI64IntegerAttr(value)));
}

static Value constantLike(Emission &e, Value like, int64_t value) {
  return constLanes(e, value, lanesOf(like));
}

Value addI(Emission &e, Value a, Value b) { return e.b.createOrFold<arith::AddIOp>(e.loc, a, b); }
Value subI(Emission &e, Value a, Value b) { return e.b.createOrFold<arith::SubIOp>(e.loc, a, b); }
Value mulI(Emission &e, Value a, Value b) { return e.b.createOrFold<arith::MulIOp>(e.loc, a, b); }

Value addI(Emission &e, Value a, int64_t b) {
  return b == 0 ? a : addI(e, a, constantLike(e, a, b));
}

Value mulI(Emission &e, Value a, int64_t b) {
  return b == 1 ? a : mulI(e, a, constantLike(e, a, b));
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

static int64_t alignmentOf(const Index &index) {
  std::optional<int64_t> constant = constantOf(index.base);
  return constant ? *constant : index.align;
}

Index patternIndex(Emission &e, Value base, ArrayRef<int64_t> offsets, int64_t align) {
  int64_t first = offsets[0], stride = offsets.size() > 1 ? offsets[1] - first : 0;
  bool affine = true;
  for (auto [l, offset] : llvm::enumerate(offsets)) {
    affine &= offset == first + static_cast<int64_t>(l) * stride;
  }
  if (affine) {
    return Index(addI(e, base, first), stride, std::gcd(align, first));
  }
  Index index(base, 0, align);
  index.offsets.assign(offsets.begin(), offsets.end());
  std::optional<int64_t> constant = constantOf(base);
  SmallVector<int64_t> values(offsets);
  for (int64_t &value : values) {
    value += constant.value_or(0);
  }
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, e.b.getI64Type());
  index.lanes = arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(values)));
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
      int64_t align = std::gcd(alignmentOf(a), alignmentOf(b));
      return patternIndex(e, addI(e, a.base, b.base), offsets, std::max<int64_t>(1, align));
    }
    sum.lanes = addI(e, laneIndices(e, a, lanes), laneIndices(e, b, lanes));
    return sum;
  }
  sum.base = addI(e, a.base, b.base);
  sum.stride = a.stride + b.stride;
  sum.align = std::max<int64_t>(1, std::gcd(alignmentOf(a), alignmentOf(b)));
  return sum;
}

Index addIndex(Emission &e, const Index &a, int64_t b) {
  if (b == 0) {
    return a;
  }
  if (!a.offsets.empty()) {
    return patternIndex(e, addI(e, a.base, b), a.offsets, std::gcd(a.align, b));
  }
  Index sum = a;
  if (a.lanes) {
    sum.lanes = addI(e, a.lanes, b);
    return sum;
  }
  sum.base = addI(e, a.base, b);
  sum.align = std::gcd(a.align, b);
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
    return patternIndex(e, mulI(e, a.base, factor), offsets, a.align * std::abs(factor));
  }
  if (a.lanes) {
    product.lanes = mulI(e, a.lanes, factor);
    return product;
  }
  product.base = mulI(e, a.base, factor);
  product.stride = a.stride * factor;
  product.align = a.align * std::abs(factor);
  return product;
}

/// a / b for a multiple of b, which may be negative: where a vector begins before an array, its later lanes may be inside.
static Value divideMultiple(Emission &e, Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b)) {
    return e.b.createOrFold<arith::ShRSIOp>(e.loc, a, constantLike(e, a, llvm::Log2_64(b)));
  }
  return e.b.createOrFold<arith::DivSIOp>(e.loc, a, constantLike(e, a, b));
}

std::pair<Index, Index> divRemIndex(Emission &e, const Index &a, int64_t divisor, int64_t lanes) {
  if (divisor == 1) {
    return {a, Index(constI64(e, 0))};
  }
  Index quotient, remainder;
  if (!a.lanes && a.stride == 0) {
    quotient.base = divI(e, a.base, divisor);
    remainder.base = remI(e, a.base, divisor);
    remainder.align = std::gcd(a.align, divisor);
    return {quotient, remainder};
  }
  if (!a.lanes && a.stride > 0) {
    // All lanes fall into one block of `divisor` if the block is a multiple of
    // an aligned run of `span` values.
    int64_t span = a.stride * lanes;
    std::optional<int64_t> constant = constantOf(a.base);
    bool oneBlock = constant && *constant >= 0 &&
                    *constant / divisor == (*constant + a.stride * (lanes - 1)) / divisor;
    if (oneBlock || (divisor % span == 0 && a.align % span == 0)) {
      quotient.base = divI(e, a.base, divisor);
      remainder = Index(remI(e, a.base, divisor), a.stride, std::gcd(a.align, divisor));
      return {quotient, remainder};
    }
    if (a.stride % divisor == 0 && a.align % divisor == 0) {
      quotient = Index(divideMultiple(e, a.base, divisor), a.stride / divisor, a.align / divisor);
      remainder.base = constI64(e, 0);
      return {quotient, remainder};
    }
  }
  SmallVector<int64_t> offsets = knownOffsets(a, lanes);
  if (!offsets.empty() && *llvm::min_element(offsets) >= 0) {
    // Offsets from a multiple of the divisor divide on their own.
    std::optional<int64_t> constant = constantOf(a.base);
    if ((constant && *constant >= 0) || a.align % divisor == 0) {
      int64_t first = constant.value_or(0);
      SmallVector<int64_t> rest(offsets);
      for (auto [offset, left] : llvm::zip(offsets, rest)) {
        left = (first + offset) % divisor;
        offset = (first + offset) / divisor;
      }
      Value zero = constI64(e, 0);
      quotient = constant ? patternIndex(e, zero, offsets)
                          : patternIndex(e, divideMultiple(e, a.base, divisor), offsets,
                                         a.align / divisor);
      return {quotient, patternIndex(e, zero, rest)};
    }
  }
  Value all = laneIndices(e, a, lanes);
  quotient.lanes = divI(e, all, divisor);
  remainder.lanes = remI(e, all, divisor);
  return {quotient, remainder};
}

} // namespace hlo::codegen
