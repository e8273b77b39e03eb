//===- Linear.cpp - Rules of products, FFT, factorizations, norms ---------===//
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

/// HLO's name of an algorithm; "" if it has none.
static std::string algorithmName(stablehlo::DotAlgorithmAttr algorithm) {
  auto word = [](Type type) -> std::string {
    if (isa<FloatTF32Type>(type)) {
      return "tf32";
    }
    if (type.getIntOrFloatBitWidth() == 8) {
      return "any_f8";
    }
    return type.isBF16() ? "bf16" : "f" + std::to_string(type.getIntOrFloatBitWidth());
  };
  std::string lhs = word(algorithm.getLhsPrecisionType());
  std::string rhs = word(algorithm.getRhsPrecisionType());
  std::string name = "dot_" + lhs + "_" + rhs + "_" + word(algorithm.getAccumulationType());
  int64_t products = algorithm.getNumPrimitiveOperations();
  if (algorithm.getAllowImpreciseAccumulation()) {
    return lhs == "any_f8" && rhs == lhs && products == 1 ? name + "_fast_accum" : "";
  }
  if (products != 1) {
    name += "_x" + std::to_string(products);
  }
  return llvm::is_contained({"dot_any_f8_any_f8_f32", "dot_f16_f16_f16", "dot_f16_f16_f32",
                             "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",
                             "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32",
                             "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64"},
                            StringRef(name))
             ? name
             : "";
}

static LogicalResult convertDotGeneral(Converter &c, stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  SmallVector<NamedAttribute> attributes;
  addDims(c, "lhs_batch_dims", numbers.getLhsBatchingDimensions(), attributes);
  addDims(c, "rhs_batch_dims", numbers.getRhsBatchingDimensions(), attributes);
  addDims(c, "lhs_contracting_dims", numbers.getLhsContractingDimensions(), attributes);
  addDims(c, "rhs_contracting_dims", numbers.getRhsContractingDimensions(), attributes);
  addPrecision(c, op.getPrecisionConfig(), attributes);
  if (auto algorithm = op.getAlgorithm()) {
    std::string name = algorithmName(*algorithm);
    if (name.empty()) {
      return op.emitOpError() << "HLO has no name for this algorithm";
    }
    attributes.push_back(c.text("algorithm", name));
  }
  return c.bind(op, c.create("hlo.dot", c.array(op.getResult()),
                             {c.get(op.getLhs()), c.get(op.getRhs())}, attributes));
}

/// Vectors and matrices: the last dimension of lhs with the first of rhs.
static LogicalResult convertDot(Converter &c, stablehlo::DotOp op) {
  SmallVector<NamedAttribute> attributes;
  int64_t rank = c.array(op.getLhs()).getRank();
  addDims(c, "lhs_contracting_dims", {rank - 1}, attributes);
  addDims(c, "rhs_contracting_dims", {0}, attributes);
  addPrecision(c, op.getPrecisionConfig(), attributes);
  return c.bind(op, c.create("hlo.dot", c.array(op.getResult()),
                             {c.get(op.getLhs()), c.get(op.getRhs())}, attributes));
}

static LogicalResult convertFft(Converter &c, stablehlo::FftOp op) {
  return c.bind(op, c.create("hlo.fft", c.array(op.getResult()), c.get(op.getOperand()),
                             {c.text("fft_type", stablehlo::stringifyFftType(op.getFftType())),
                              c.dims("fft_length", op.getFftLength())}));
}

static LogicalResult convertCholesky(Converter &c, stablehlo::CholeskyOp op) {
  return c.bind(op, c.create("hlo.cholesky", c.array(op.getResult()), c.get(op.getA()),
                             c.flag("lower", op.getLower())));
}

static LogicalResult convertTriangularSolve(Converter &c, stablehlo::TriangularSolveOp op) {
  StringRef transpose = stablehlo::stringifyTranspose(op.getTransposeA());
  // An enum value of its own for "not given".
  transpose = transpose == "TRANSPOSE_INVALID" ? "NO_TRANSPOSE" : transpose;
  return c.bind(op, c.create("hlo.triangular_solve", c.array(op.getResult()),
                             {c.get(op.getA()), c.get(op.getB())},
                             {c.flag("left_side", op.getLeftSide()), c.flag("lower", op.getLower()),
                              c.flag("unit_diagonal", op.getUnitDiagonal()),
                              c.text("transpose_a", transpose)}));
}

template <typename Op> static LogicalResult convertBatchNorm(Converter &c, Op op) {
  std::string name = ("hlo." + op->getName().stripDialect()).str();
  double epsilon = op.getEpsilon().convertToFloat();
  return c.bind(op, c.create(name, c.joined(op->getResultTypes()), c.get(op->getOperands()),
                             {c.named("epsilon", c.builder.getF64FloatAttr(epsilon)),
                              c.integer("feature_index", op.getFeatureIndex())}));
}

static LogicalResult convertRngBitGenerator(Converter &c, stablehlo::RngBitGeneratorOp op) {
  StringRef algorithm = "rng_default";
  switch (op.getRngAlgorithm()) {
  case stablehlo::RngAlgorithm::DEFAULT: break;
  case stablehlo::RngAlgorithm::THREE_FRY: algorithm = "rng_three_fry"; break;
  case stablehlo::RngAlgorithm::PHILOX: algorithm = "rng_philox"; break;
  }
  return c.bind(op, c.create("hlo.rng_bit_generator", c.joined(op->getResultTypes()),
                             c.get(op.getInitialState()), c.text("algorithm", algorithm)));
}

static LogicalResult convertRng(Converter &c, stablehlo::RngOp op) {
  bool isUniform = op.getRngDistribution() == stablehlo::RngDistribution::UNIFORM;
  return c.bind(op,
                c.create("hlo.rng", c.array(op.getResult()), {c.get(op.getA()), c.get(op.getB())},
                         c.text("distribution", isUniform ? "rng_uniform" : "rng_normal")));
}

void hlo::stable::addLinearRules(Rules &rules) {
  rules.add<stablehlo::BatchNormGradOp, convertBatchNorm<stablehlo::BatchNormGradOp>>();
  rules.add<stablehlo::BatchNormInferenceOp, convertBatchNorm<stablehlo::BatchNormInferenceOp>>();
  rules.add<stablehlo::BatchNormTrainingOp, convertBatchNorm<stablehlo::BatchNormTrainingOp>>();
  rules.add<stablehlo::CholeskyOp, convertCholesky>();
  rules.add<stablehlo::DotGeneralOp, convertDotGeneral>();
  rules.add<stablehlo::DotOp, convertDot>();
  rules.add<stablehlo::FftOp, convertFft>();
  rules.add<stablehlo::RngBitGeneratorOp, convertRngBitGenerator>();
  rules.add<stablehlo::RngOp, convertRng>();
  rules.add<stablehlo::TriangularSolveOp, convertTriangularSolve>();
}
