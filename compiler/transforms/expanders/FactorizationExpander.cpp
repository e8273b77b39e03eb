//===- FactorizationExpander.cpp - Large factorizations by halves ---------===//
//
// A factorization or a substitution of a large matrix is mostly matrix products, which the dot
// kernels compute near peak and on all threads. A is cut into quarters at about half its order,
// recursively until the halves are small:
//
//   cholesky, lower            L11 = cholesky(A11), L21 = A21 L11^-T,
//                              L22 = cholesky(A22 - L21 L21^T)
//   cholesky, upper            the transpose of the lower one of A^T
//
//   op(A) X = B, T = op(A) lower     X1 = T11^-1 B1, X2 = T22^-1 (B2 - T21 X1)
//   op(A) X = B, T = op(A) upper     X2 = T22^-1 B2, X1 = T11^-1 (B1 - T12 X2)
//   X op(A) = B                      the same by columns of X
//
// Real element types only. A matrix that is not positive definite gives NaN throughout: if a half
// fails, the result is NaN wherever it depends on that half, which always includes the last
// diagonal element.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Largest order that is not cut: about where both ways take the same time (cholesky 192, solve
/// 512; see kLeastSides for few right-hand sides).
constexpr int64_t kLargestCholesky = 192, kLargestSolve = 256;
/// Orders of halves are multiples of this, so that there are few different kernels.
constexpr int64_t kHalfStep = 64;
/// A matrix is cut into at most this many parts along its diagonal, so that the text of a large one
/// compiles in seconds: a cholesky of order 40,000 is 4,000 launches.
constexpr int64_t kMostParts = 256;
/// Largest order that is cut. Its parts are those of which no solve is cut again.
constexpr int64_t kLargestOrder = kMostParts * 2 * kLargestSolve;

bool isCut(Value matrix, int64_t largest) {
  auto type = HloBuilder::type(matrix);
  Type element = type.getElementType();
  return type.getNumElements() > 0 && (element.isF32() || element.isF64()) &&
         type.getShape().back() > largest && type.getShape().back() <= kLargestOrder;
}

/// The largest order of a part of `matrix`, which parts of the order `largest` suit best.
int64_t partOrder(Value matrix, int64_t largest) {
  return std::max<int64_t>(largest, llvm::divideCeilSigned(shapeOf(matrix).back(), kMostParts));
}

int64_t halfOf(int64_t n) { return llvm::alignTo(n / 2, kHalfStep); }

/// Rows and columns [r0, r1) x [c0, c1) of matrices.
Value part(HloBuilder &b, Value matrix, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  SmallVector<int64_t> starts(HloBuilder::type(matrix).getRank(), 0), limits(shapeOf(matrix));
  size_t rank = starts.size();
  starts[rank - 2] = r0;
  limits[rank - 2] = r1;
  starts[rank - 1] = c0;
  limits[rank - 1] = c1;
  return b.slice(matrix, starts, limits);
}

/// op(x) op(y) of matrices with the same batch.
Value product(HloBuilder &b, Value x, bool transposeX, Value y, bool transposeY) {
  SmallVector<int64_t> shape(shapeOf(x)), batch;
  int64_t rank = shape.size();
  for (int64_t d = 0; d < rank - 2; ++d) {
    batch.push_back(d);
  }
  shape[rank - 2] = shapeOf(x)[transposeX ? rank - 1 : rank - 2];
  shape[rank - 1] = shapeOf(y)[transposeY ? rank - 2 : rank - 1];
  auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
  return DotOp::create(b.b, b.loc, HloBuilder::array(shape, elementTypeOf(x)), x, y, list(batch),
                       list(batch), list({transposeX ? rank - 2 : rank - 1}),
                       list({transposeY ? rank - 1 : rank - 2}), ArrayAttr(), StringAttr());
}

/// A triangular-solve, by halves of the triangle if that is larger than `largest`.
Value solve(HloBuilder &b, Value a, Value rhs, bool left, bool lower, bool unit,
            StringRef transpose, int64_t largest) {
  auto type = HloBuilder::type(rhs);
  int64_t rank = type.getRank(), n = shapeOf(a).back();
  if (!isCut(a, largest)) {
    return TriangularSolveOp::create(b.b, b.loc, type, a, rhs, b.b.getBoolAttr(left),
                                     b.b.getBoolAttr(lower), b.b.getBoolAttr(unit),
                                     b.b.getStringAttr(transpose));
  }
  int64_t half = halfOf(n), dimension = left ? rank - 2 : rank - 1;
  bool transposed = transpose != "NO_TRANSPOSE";
  Value a11 = part(b, a, 0, half, 0, half), a22 = part(b, a, half, n, half, n);
  Value between = lower ? part(b, a, half, n, 0, half) : part(b, a, 0, half, half, n);
  Value b1 = b.sliceDim(rhs, dimension, 0, half), b2 = b.sliceDim(rhs, dimension, half, n);
  // The first half comes first if op(A) is lower on the left, or upper on the right.
  bool firstFirst = (lower != transposed) == left;
  Value known =
      solve(b, firstFirst ? a11 : a22, firstFirst ? b1 : b2, left, lower, unit, transpose, largest);
  Value by = left ? product(b, between, transposed, known, false)
                  : product(b, known, false, between, transposed);
  Value rest = b.sub(firstFirst ? b2 : b1, by);
  Value other = solve(b, firstFirst ? a22 : a11, rest, left, lower, unit, transpose, largest);
  Value parts[] = {firstFirst ? known : other, firstFirst ? other : known};
  return b.concatenate(parts, dimension);
}

/// The lower factor, by halves if it is larger than `largest`, whose solves are by halves to
/// `largestSolve`. If the factorization fails, some elements are NaN.
Value factorize(HloBuilder &b, Value a, int64_t largest, int64_t largestSolve) {
  int64_t n = shapeOf(a).back(), rank = shapeOf(a).size();
  if (!isCut(a, largest)) {
    return CholeskyOp::create(b.b, b.loc, a.getType(), a, b.b.getBoolAttr(true));
  }
  int64_t half = halfOf(n);
  Value first = factorize(b, part(b, a, 0, half, 0, half), largest, largestSolve);
  Value under = solve(b, first, part(b, a, half, n, 0, half), /*left=*/false, /*lower=*/true,
                      /*unit=*/false, "TRANSPOSE", largestSolve);
  Value rest = b.sub(part(b, a, half, n, half, n), product(b, under, false, under, true));
  SmallVector<int64_t> shape(shapeOf(first));
  shape[rank - 1] = n - half;
  Value zeros = b.splat(HloBuilder::array(shape, elementTypeOf(a)), 0);
  Value top = b.concatenate({first, zeros}, rank - 1);
  Value bottom = b.concatenate({under, factorize(b, rest, largest, largestSolve)}, rank - 1);
  return b.concatenate({top, bottom}, rank - 2);
}

class CholeskyExpanderPass : public OpExpanderPass<CholeskyExpanderPass, CholeskyOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CholeskyExpanderPass)
  StringRef getArgument() const final { return "hlo-cholesky-expander"; }
  StringRef getDescription() const final { return "Large choleskys by halves"; }

  FailureOr<Values> expand(CholeskyOp op, HloBuilder &b, ScalarComputations &) {
    bool lower = op.getLower().value_or(false);
    // The kernel of a lower factor reads contiguous rows, so larger matrices stay whole.
    if (!isCut(op.getOperand(), lower ? kLargestCholesky : kLargestUpper)) {
      return Values{};
    }
    auto transposed = [&](Value matrix) {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, HloBuilder::type(matrix).getRank()));
      std::swap(order[order.size() - 1], order[order.size() - 2]);
      return lower ? matrix : b.transpose(matrix, order);
    };
    Value matrix = transposed(op.getOperand());
    Value factor =
        factorize(b, matrix, partOrder(matrix, kLargestCholesky), partOrder(matrix, kLargestSolve));
    if (!isCut(factor, kLargestCholesky)) {
      return Values{transposed(factor)};
    }
    ArrayRef<int64_t> shape = shapeOf(factor);
    int64_t n = shape.back(), rank = shape.size();
    Value last = part(b, factor, n - 1, n, n - 1, n);
    last = b.reshape(last, shape.drop_back(2));
    SmallVector<int64_t> batch;
    for (int64_t d = 0; d < rank - 2; ++d) {
      batch.push_back(d);
    }
    Value good = b.broadcast(b.compare(last, last, "EQ"), shape, batch);
    Value none = b.splat(HloBuilder::type(factor), std::numeric_limits<double>::quiet_NaN());
    return Values{transposed(b.select(good, factor, none))};
  }

private:
  static constexpr int64_t kLargestUpper = 16;
};

class TriangularSolveExpanderPass
    : public OpExpanderPass<TriangularSolveExpanderPass, TriangularSolveOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TriangularSolveExpanderPass)
  StringRef getArgument() const final { return "hlo-triangular-solve-expander"; }
  StringRef getDescription() const final { return "Large triangular solves by halves"; }

  FailureOr<Values> expand(TriangularSolveOp op, HloBuilder &b, ScalarComputations &) {
    // With few right-hand sides a solve is bound by reading A, as the products are: cutting gains
    // nothing.
    bool left = op.getLeftSide().value_or(false);
    ArrayRef<int64_t> shape = shapeOf(op.getB());
    if (!isCut(op.getA(), 2 * kLargestSolve) ||
        shape[shape.size() - (left ? 1 : 2)] < kLeastSides) {
      return Values{};
    }
    return Values{solve(b, op.getA(), op.getB(), left, op.getLower().value_or(false),
                        op.getUnitDiagonal().value_or(false),
                        op.getTransposeA().value_or("NO_TRANSPOSE"),
                        partOrder(op.getA(), kLargestSolve))};
  }

private:
  static constexpr int64_t kLeastSides = 128;
};

} // namespace

std::unique_ptr<Pass> hlo::createCholeskyExpanderPass() {
  return std::make_unique<CholeskyExpanderPass>();
}

std::unique_ptr<Pass> hlo::createTriangularSolveExpanderPass() {
  return std::make_unique<TriangularSolveExpanderPass>();
}
