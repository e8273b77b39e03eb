//===- IntegerDot.cpp - Dots of scaled bytes as integers ------------------===//
//
//   dot((a - za) * sa, (w - zw) * sw)
//     ->  (dot(a, w) - za * (sum of w - k * zw) - zw * (sum of a)) * sa * sw
//
// The sums of w are one more row of a where a has few rows, since each call reads w anyway.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/transforms/simplifiers/quantized/IntegerProducts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;

static ArrayRef<int64_t> orEmpty(std::optional<ArrayRef<int64_t>> list) {
  return list.value_or(ArrayRef<int64_t>());
}

/// One more row of ones below the bytes of few rows.
static Value withOnes(HloBuilder &b, Value bytes, int64_t rowDim) {
  SmallVector<int64_t> shape(shapeOf(bytes));
  shape[rowDim] = 1;
  Value ones = b.splat(HloBuilder::array(shape, elementTypeOf(bytes)), 1);
  return b.concatenate({bytes, ones}, rowDim);
}

IntegerDot::IntegerDot(DotOp dot)
    : dot(dot), batch{orEmpty(dot.getLhsBatchDims()), orEmpty(dot.getRhsBatchDims())},
      contracting{orEmpty(dot.getLhsContractingDims()), orEmpty(dot.getRhsContractingDims())} {
  int64_t next = batch[0].size();
  for (int64_t dim : contracting[0]) {
    sides.terms = llvm::SaturatingMultiply<uint64_t>(sides.terms, shapeOf(dot.getLhs())[dim]);
  }
  for (int i : {0, 1}) {
    Value operand = dot->getOperand(i);
    SmallVector<bool> sums(rankOf(operand), false);
    sides.places[i].assign(sums.size(), -1);
    for (int64_t dim : contracting[i]) {
      sums[dim] = true;
    }
    for (auto [at, dim] : llvm::enumerate(batch[i])) {
      sides.places[i][dim] = at;
    }
    for (auto [dim, place] : llvm::enumerate(sides.places[i])) {
      place = sums[dim] || place >= 0 ? place : next++;
    }
    sides.of[i] = Dequantized::of(operand, sums, /*whole=*/false);
  }
}

Value IntegerDot::sumsOf(HloBuilder &b, ScalarComputations &scalars, int i, Value operand,
                         Type type) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rankOf(operand); ++dim) {
    if (!llvm::is_contained(contracting[i], dim)) {
      dims.push_back(dim);
    }
  }
  return sides.spreadOf(b, i, sumOver(b, scalars, operand, type, contracting[i]), dims,
                        shapeOf(dot.getResult()));
}

/// The dimension of few rows whose zero needs the sums of a rhs that each call reads: they are a
/// row more. With immutable parameters, sums may be computed once.
std::optional<int64_t> IntegerDot::fewRows() {
  constexpr int64_t few = 8;
  auto module = dot->getParentOfType<ModuleOp>();
  if (!sides.of[0]->hasZero() || sides.of[1]->hasZero() || !batch[0].empty() ||
      module->hasAttr(kImmutableLeaves)) {
    return std::nullopt;
  }
  std::optional<int64_t> rows;
  for (auto [dim, size] : llvm::enumerate(shapeOf(dot.getLhs()))) {
    if (!llvm::is_contained(contracting[0], dim)) {
      if (rows || size > few) {
        return std::nullopt;
      }
      rows = dim;
    }
  }
  return rows;
}

Value IntegerDot::emit(HloBuilder &b, ScalarComputations &scalars) {
  Type s32 = b.b.getIntegerType(32, true), f32 = b.b.getF32Type();
  // Signed rows have more forms, and the other side's sums are needed in any case.
  if (sides.of[0]->hasZero() && sides.of[0]->range().high > 127 &&
      elementsOf(dot.getLhs()) <= elementsOf(dot.getRhs())) {
    sides.of[0]->makeSigned();
  }
  SmallVector<int64_t> shape(shapeOf(dot.getResult()));
  Value bytes[2] = {sides.of[0]->integers(b), sides.of[1]->integers(b)};
  auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
  auto product = [&](Value lhs, ArrayRef<int64_t> sizes) -> Value {
    return DotOp::create(b.b, b.loc, HloBuilder::array(sizes, s32), lhs, bytes[1], list(batch[0]),
                         list(batch[1]), list(contracting[0]), list(contracting[1]), ArrayAttr(),
                         StringAttr());
  };
  Value result, sums;
  if (std::optional<int64_t> rows = fewRows()) {
    int64_t count = shape[0];
    shape[0] = count + 1;
    Value both = product(withOnes(b, bytes[0], *rows), shape);
    result = b.sliceDim(both, 0, 0, count);
    shape[0] = count;
    Value last = b.reshape(b.sliceDim(both, 0, count, count + 1), ArrayRef(shape).drop_front());
    SmallVector<int64_t> dims;
    for (int64_t dim = 1; dim < static_cast<int64_t>(shape.size()); ++dim) {
      dims.push_back(dim);
    }
    sums = b.broadcast(last, shape, dims);
  } else {
    result = product(bytes[0], shape);
  }
  for (int i : {0, 1}) {
    if (!sides.of[i]->hasZero()) {
      continue;
    }
    Value others = i == 0 && sums ? sums : sumsOf(b, scalars, 1 - i, bytes[1 - i], s32);
    // The product of both zeros is taken off once.
    if (i == 0 && sides.of[1]->hasZero()) {
      Value count = b.splat(HloBuilder::array(shape, s32), static_cast<double>(sides.terms));
      Value zero = sides.spreadOf(b, 1, sides.of[1]->zero(b), sides.of[1]->zeroDims(),
                                  shapeOf(dot.getResult()));
      others = b.sub(others, b.mul(zero, count));
    }
    Value zero = sides.spreadOf(b, i, sides.of[i]->zero(b), sides.of[i]->zeroDims(),
                                shapeOf(dot.getResult()));
    result = b.sub(result, b.mul(zero, others));
  }
  result = sides.scaled(b, result);
  for (int i : {0, 1}) {
    if (sides.of[i]->range().mayBeNan) {
      result = b.add(result, sumsOf(b, scalars, i, sides.of[i]->integersNan(b), f32));
    }
  }
  return b.convert(result, elementTypeOf(dot.getResult()));
}
