//===- InferFactorize.cpp - Rules of fft, factorizations, batch norm ------===//
//
// Ops on whole matrices or on one named dimension; mostly the result has the operand's shape.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// FFT
//===----------------------------------------------------------------------===//

/// Checks the transformed dimensions against fft_length; the last one must have `last` elements.
/// Empty arrays are not checked.
static void checkLengths(RuleContext &context, RankedTensorType operand, ArrayRef<int64_t> lengths,
                         int64_t last) {
  if (elementCount(operand) == 0) {
    return;
  }
  int64_t first = operand.getRank() - lengths.size();
  for (auto [i, length] : llvm::enumerate(lengths)) {
    int64_t expected = i + 1 == lengths.size() ? last : length;
    if (!sizesAgree(operand.getDimSize(first + i), expected)) {
      (void)context.failAt({0}, "c4", "dim ", first + i, " is ", operand.getDimSize(first + i),
                           ", fft_length asks for ", expected);
    }
  }
}

static FailureOr<Type> fft(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  auto lengths = context.requiredList("fft_length");
  StringRef type = context.text("fft_type");
  if (!operand || failed(lengths)) {
    return failure();
  }
  int64_t rank = operand.getRank(), count = lengths->size();
  if (count < 1 || count > 3 || count > rank) {
    return context.failAt({0}, "c1", "fft_length has ", count,
                          " entries, must have 1 to 3 and not more than the rank, ", rank);
  }
  if (llvm::any_of(*lengths, [](int64_t length) { return length < 0; })) {
    return context.fail("c1", "fft_length holds a negative length, is ", *lengths);
  }
  Type element = operand.getElementType();
  int64_t n = lengths->back();
  ShapeBuilder shape;
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    shape.add(operand, dim);
  }
  if (type == "FFT" || type == "IFFT") {
    if (!isComplex(element)) {
      return context.failAt({0}, "c2", type, " takes a complex operand, has ", operand);
    }
    checkLengths(context, operand, *lengths, n);
    return context.result(operand);
  }
  if (type == "RFFT") {
    if (!element.isF32() && !element.isF64()) {
      return context.failAt({0}, "c2", "RFFT takes f32 or f64, has ", operand);
    }
    checkLengths(context, operand, *lengths, n);
    shape.add(n == 0 ? 0 : n / 2 + 1);
    return context.result(shape.build(ComplexType::get(element)));
  }
  if (type == "IRFFT") {
    if (!isComplex(element)) {
      return context.failAt({0}, "c2", "IRFFT takes a complex operand, has ", operand);
    }
    checkLengths(context, operand, *lengths, n / 2 + 1);
    shape.add(n);
    return context.result(shape.build(componentType(element)));
  }
  return context.fail("c3", "fft_type is '", type, "', must be FFT, IFFT, RFFT or IRFFT");
}

//===----------------------------------------------------------------------===//
// Factorizations
//===----------------------------------------------------------------------===//

static LogicalResult checkSquare(RuleContext &context, RankedTensorType matrix) {
  Type element = matrix.getElementType();
  if (!isFloat(element) && !isComplex(element)) {
    return context.failAt({0}, "c1", "operand 0 is ", matrix,
                          ", its element type must be floating or complex");
  }
  int64_t rank = matrix.getRank();
  if (rank < 2) {
    return context.failAt({0}, "c2", "the rank must be at least 2, the operand is ", matrix);
  }
  if (!sizesAgree(matrix.getDimSize(rank - 1), matrix.getDimSize(rank - 2))) {
    return context.failAt({0}, "c3", "the matrices must be square, have ",
                          matrix.getDimSize(rank - 2), " rows and ", matrix.getDimSize(rank - 1),
                          " columns");
  }
  return success();
}

static FailureOr<Type> cholesky(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  if (!operand || failed(checkSquare(context, operand))) {
    return failure();
  }
  return Type(operand);
}

static FailureOr<Type> triangularSolve(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType a = context.array(0), b = context.array(1);
  if (!a || !b || failed(checkSquare(context, a))) {
    return failure();
  }
  if (a.getElementType() != b.getElementType()) {
    (void)context.failAt({0, 1}, "c4", "element types differ: a is ", a, ", b is ", b);
  }
  if (a.getRank() != b.getRank()) {
    return context.failAt({0, 1}, "c5", "ranks differ: a is ", a, ", b is ", b);
  }
  int64_t rank = a.getRank();
  for (int64_t dim = 0; dim + 2 < rank; ++dim) {
    if (!sizesAgree(a.getDimSize(dim), b.getDimSize(dim))) {
      (void)context.failAt({0, 1}, "c6", "batch sizes differ: dim ", dim, " of a is ",
                           a.getDimSize(dim), ", of b is ", b.getDimSize(dim));
    }
  }
  int64_t shared = context.flag("left_side") ? rank - 2 : rank - 1;
  if (!sizesAgree(b.getDimSize(shared), a.getDimSize(rank - 1))) {
    (void)context.failAt({0, 1}, "c7", "sizes differ: a has ", a.getDimSize(rank - 1),
                         " columns, dim ", shared, " of b is ", b.getDimSize(shared));
  }
  StringRef transpose = context.text("transpose_a");
  if (!llvm::is_contained({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}, transpose)) {
    context.fail("c8", "transpose_a is '", transpose,
                 "', must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return context.result(b);
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Checks the operand, the feature index, and that operands `first` to `last` are vectors with one
/// value per feature. Returns the operand.
static FailureOr<RankedTensorType> checkBatchNorm(RuleContext &context, int64_t count,
                                                  int64_t first, int64_t last) {
  if (failed(context.expectOperands(count))) {
    return failure();
  }
  auto operands = context.arrays();
  auto feature = context.requiredInteger("feature_index");
  if (failed(operands) || failed(feature)) {
    return failure();
  }
  RankedTensorType operand = operands->front();
  if (!isFloat(operand.getElementType())) {
    (void)context.failAt({0}, "c1", "operand 0 is ", operand,
                         ", its element type must be floating");
  }
  if (failed(checkDimensions(context, "c2", "feature_index", {*feature}, operand.getRank()))) {
    return failure();
  }
  int64_t features = operand.getDimSize(*feature);
  for (int64_t i = first; i <= last; ++i) {
    RankedTensorType vector = (*operands)[i];
    if (vector.getRank() != 1 || !sizesAgree(vector.getDimSize(0), features)) {
      (void)context.failAt({0, i}, "c3", "operand ", i, " is ", vector, ", must be a vector of ",
                           features, " features");
    }
    if (!isFloat(vector.getElementType())) {
      (void)context.failAt({i}, "c4", "operand ", i, " is ", vector,
                           ", its element type must be floating");
    }
  }
  if (context.hasFailed()) {
    return failure();
  }
  return operand;
}

static FailureOr<Type> batchNormInference(RuleContext &context) {
  auto operand = checkBatchNorm(context, 5, 1, 4);
  if (failed(operand)) {
    return failure();
  }
  return Type(*operand);
}

/// The operand's shape and two vectors like the scale.
static Type withStatistics(RuleContext &context, RankedTensorType operand) {
  Type vector = context.type(1);
  return TupleType::get(operand.getContext(), {operand, vector, vector});
}

static FailureOr<Type> batchNormTraining(RuleContext &context) {
  auto operand = checkBatchNorm(context, 3, 1, 2);
  if (failed(operand)) {
    return failure();
  }
  return withStatistics(context, *operand);
}

static FailureOr<Type> batchNormGrad(RuleContext &context) {
  auto operand = checkBatchNorm(context, 5, 1, 3);
  if (failed(operand)) {
    return failure();
  }
  if (!sameShape(context.type(4), *operand, Precision::anyFloat)) {
    (void)context.failAt({0, 4}, "c5", "shapes differ: the operand is ", *operand,
                         ", the gradient is ", context.type(4));
  }
  return context.result(withStatistics(context, *operand));
}

Rule factorizeRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.fft", fft)
      .Case("hlo.cholesky", cholesky)
      .Case("hlo.triangular_solve", triangularSolve)
      .Case("hlo.batch_norm_inference", batchNormInference)
      .Case("hlo.batch_norm_training", batchNormTraining)
      .Case("hlo.batch_norm_grad", batchNormGrad)
      .Default(nullptr);
}

} // namespace hlo
