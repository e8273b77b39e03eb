//===- Linalg.cpp - Rules of factorizations, transforms, batch norm, random ===//
#include "dialect/stablehlo/rules/Rule.h"

using namespace mlir;
using namespace stablehlo;

//===----------------------------------------------------------------------===//
// Factorizations
//===----------------------------------------------------------------------===//

static void cholesky(Check &check) {
  RankedTensorType a = check.operand(0);
  check.require(typesAgree(a, check.resultType(0)), "c1", "a is ", a, ", the result ",
                check.resultType(0));
  if (check.require(a.getRank() >= 2, "c2", "a is ", a, ", expected a matrix")) {
    ArrayRef<int64_t> sizes = a.getShape().take_back(2);
    check.require(sizesAgree(sizes[0], sizes[1]), "c3", "a is ", a, ", expected square matrices");
  }
}

static void triangularSolve(Check &check) {
  auto op = cast<TriangularSolveOp>(check.getOp());
  RankedTensorType a = op.getA().getType(), b = op.getB().getType();
  check.require(elementsAgree(a.getElementType(), b.getElementType()), "c1", "a is ", a, ", b ", b);
  check.require(op.getTransposeA() != Transpose::TRANSPOSE_INVALID, "i6",
                "transpose_a is TRANSPOSE_INVALID");
  check.require(typesAgree(b, check.resultType(0)), "c4", "b is ", b, ", the result ",
                check.resultType(0));
  if (!check.require(a.getRank() >= 2 && a.getRank() == b.getRank(), "c2", "a is ", a, ", b ", b)) {
    return;
  }
  ArrayRef<int64_t> square = a.getShape().take_back(2), other = b.getShape().take_back(2);
  check.require(shapesAgree(a.getShape().drop_back(2), b.getShape().drop_back(2)), "c3",
                "the batch dimensions of a, ", a, ", and b, ", b, ", differ");
  check.require(sizesAgree(square[0], square[1]), "c3", "a is ", a, ", expected square matrices");
  check.require(sizesAgree(square[0], other[op.getLeftSide() ? 0 : 1]), "c3", "a is ", a, ", b ",
                b);
}

//===----------------------------------------------------------------------===//
// fft
//===----------------------------------------------------------------------===//

static void fft(Check &check) {
  auto op = cast<FftOp>(check.getOp());
  RankedTensorType operand = check.operand(0), result = check.result();
  ArrayRef<int64_t> lengths = op.getFftLength();
  int64_t count = lengths.size();
  bool isReal = op.getFftType() == FftType::RFFT, toReal = op.getFftType() == FftType::IRFFT;
  bool valid = check.require(count >= 1 && count <= 3, "c3", "fft_length has ", count,
                             " entries, expected 1 to 3");
  valid &= check.require(count <= operand.getRank(), "c1", "fft_length has ", count,
                         " entries, the operand is ", operand);
  Type from = operand.getElementType(), to = result.getElementType();
  check.require(isa<::mlir::ComplexType>(from) != isReal &&
                    isa<::mlir::ComplexType>(to) != toReal && realType(from) == realType(to) &&
                    (realType(from).isF32() || realType(from).isF64()),
                "c2", "the operand is ", operand, ", the result ", result, " of a transform ",
                stringifyFftType(op.getFftType()));
  if (!valid) {
    return;
  }
  check.require(llvm::none_of(lengths, [](int64_t length) { return length < 0; }), "c4",
                "fft_length is ", lengths);
  SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
  auto half = [](int64_t length) { return length == 0 ? 0 : length / 2 + 1; };
  ArrayRef<int64_t> last = operand.getShape().take_back(count);
  if (isReal) {
    check.require(shapesAgree(last, lengths), "c4", "the operand is ", operand, ", fft_length ",
                  lengths);
    expected.back() = ShapedType::isDynamic(last.back()) ? last.back() : half(last.back());
  } else if (toReal) {
    check.require(shapesAgree(last.drop_back(), lengths.drop_back()), "c4", "the operand is ",
                  operand, ", fft_length ", lengths);
    check.require(sizesAgree(last.back(), half(lengths.back())), "c5", "the operand is ", operand,
                  ", expected ", half(lengths.back()), " as its last size");
    expected.back() = lengths.back();
  } else {
    check.require(shapesAgree(last, lengths), "c4", "the operand is ", operand, ", fft_length ",
                  lengths);
  }
  check.resultShape("c5", expected);
}

//===----------------------------------------------------------------------===//
// batch norm: the first operand and result are arrays, all others vectors of features
//===----------------------------------------------------------------------===//

namespace {
struct NormLabels {
  StringRef arrays;                ///< all arrays have one shape
  SmallVector<StringRef> operands; ///< of operand 1, 2, ...: its size
  SmallVector<StringRef> results;
};
} // namespace

static void batchNorm(Check &check, int64_t featureIndex, const NormLabels &labels) {
  RankedTensorType operand = check.operand(0);
  if (!check.inRange("c1", "feature_index", featureIndex, operand.getRank())) {
    return;
  }
  int64_t features = operand.getDimSize(featureIndex);
  auto one = [&](Type type, StringRef label, StringRef what, unsigned number) {
    auto array = cast<RankedTensorType>(type);
    check.require(elementsAgree(array.getElementType(), operand.getElementType()), "c2", what,
                  number, " is ", array, ", the operand ", operand);
    if (label.empty()) {
      check.require(shapesAgree(array, operand), labels.arrays, what, number, " is ", array,
                    ", the operand ", operand);
    } else {
      check.require(array.getRank() == 1 && sizesAgree(array.getShape()[0], features), label, what,
                    number, " is ", array, ", expected a vector of ", features, " features");
    }
  };
  for (auto [i, label] : llvm::enumerate(labels.operands)) {
    one(check.operandType(i + 1), label, "operand ", i + 1);
  }
  for (auto [i, label] : llvm::enumerate(labels.results)) {
    one(check.resultType(i), label, "result ", i);
  }
}

static void batchNormGrad(Check &check) {
  batchNorm(check, cast<BatchNormGradOp>(check.getOp()).getFeatureIndex(),
            {"c3", {"c5", "c4", "c4", ""}, {"", "c4", "c4"}});
}
static void batchNormInference(Check &check) {
  batchNorm(check, cast<BatchNormInferenceOp>(check.getOp()).getFeatureIndex(),
            {"c7", {"c3", "c4", "c5", "c6"}, {""}});
}
static void batchNormTraining(Check &check) {
  batchNorm(check, cast<BatchNormTrainingOp>(check.getOp()).getFeatureIndex(),
            {"c7", {"c3", "c4"}, {"", "c5", "c6"}});
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

static void rng(Check &check) {
  auto op = cast<RngOp>(check.getOp());
  RankedTensorType a = op.getA().getType(), b = op.getB().getType(), result = check.result();
  check.require(a.getRank() == 0, "i1", "a is ", a, ", expected a scalar");
  check.require(b.getRank() == 0, "i2", "b is ", b, ", expected a scalar");
  check.require(a.getElementType() == b.getElementType() &&
                    a.getElementType() == result.getElementType(),
                "c1", "a is ", a, ", b ", b, ", the result ", result);
  check.require(op.getRngDistribution() != RngDistribution::NORMAL ||
                    kindOf(a.getElementType()) == Float,
                "c2", "a is ", a, " for a normal distribution, expected floats");
  checkSizes(check, "c3", "shape", op.getShape());
}

static void rngBitGenerator(Check &check) {
  auto op = cast<RngBitGeneratorOp>(check.getOp());
  RankedTensorType state = op.getInitialState().getType();
  check.require(typesAgree(state, check.resultType(0)), "c1", "initial_state is ", state,
                ", output_state ", check.resultType(0));
  check.require(check.result(1).hasStaticShape(), "o2", "output is ", check.resultType(1),
                ", expected known sizes");
  if (state.getRank() != 1 || state.isDynamicDim(0)) {
    return;
  }
  int64_t size = state.getDimSize(0);
  bool fits = op.getRngAlgorithm() == RngAlgorithm::THREE_FRY ? size == 2
              : op.getRngAlgorithm() == RngAlgorithm::PHILOX  ? size == 2 || size == 3
                                                              : true;
  check.require(fits, "c2", "initial_state is ", state, " for algorithm ",
                stringifyRngAlgorithm(op.getRngAlgorithm()));
}

ArrayRef<Row> stablehlo::linalgRows() {
  static constexpr unsigned function[] = {Float | Complex | Quant};
  static constexpr unsigned numbers[] = {Float | Complex};
  static constexpr unsigned norm[] = {Float | Quant};
  static constexpr unsigned limits[] = {Pred | Int | Float, Pred | Int | Float, Dimension};
  static constexpr unsigned state[] = {Int | Float};
  static const Row rows[] = {
      {"batch_norm_grad", norm, norm[0], batchNormGrad},
      {"batch_norm_inference", norm, norm[0], batchNormInference},
      {"batch_norm_training", norm, norm[0], batchNormTraining},
      {"cholesky", function, function[0], cholesky},
      {"fft", numbers, numbers[0], fft},
      {"rng", limits, Pred | Int | Float, rng},
      {"rng_bit_generator", state, Int | Float, rngBitGenerator},
      {"triangular_solve", numbers, numbers[0], triangularSolve},
  };
  return rows;
}
