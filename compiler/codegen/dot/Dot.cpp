//===- Dot.cpp - Kernels around an hlo.dot --------------------------------===//
//
// Emits a fusion of one dot, producers of its operands, and element-wise ops on its result, as a
// contraction in the form that suits its shape:
//
//   nest      pred, empty sums, and shapes too small for anything else
//   inner     few rows or columns, both sides contiguous along k: lanes along k
//   scaled    few rows or columns, the other side narrow integers with scales
//   stream    few rows or columns, the other side large and contiguous along them
//   trace     no rows and columns, and the sides contiguous along different dimensions
//   batch     both sides (or all but a single row) contiguous along the batch: lanes along it
//   blocked   everything else; groups of narrow neighbours along k; few rows (or columns) that fill
//             a vector and are adjacent in the result
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/dot/PackedRhs.h"

using namespace mlir;

namespace hlo::codegen {

static ArrayRef<int64_t> dimsOr(std::optional<ArrayRef<int64_t>> dims) {
  return dims ? *dims : ArrayRef<int64_t>();
}

/// The dimensions of a dot.
static Problem problemOf(DotOp dot) {
  using Dim = Problem::Dim;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType()).getShape();
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType()).getShape();
  ArrayRef<int64_t> lhsBatch = dimsOr(dot.getLhsBatchDims()),
                    rhsBatch = dimsOr(dot.getRhsBatchDims());
  ArrayRef<int64_t> lhsK = dimsOr(dot.getLhsContractingDims());
  ArrayRef<int64_t> rhsK = dimsOr(dot.getRhsContractingDims());
  Problem problem;
  problem.outStrides = rowMajorStrides(shapeOf(dot.getResult()));
  int64_t out = 0;
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch)) {
    problem.batch.push_back(Dim{lhs[l], l, r, out++});
  }
  for (int64_t d = 0; d < static_cast<int64_t>(lhs.size()); ++d) {
    if (!llvm::is_contained(lhsBatch, d) && !llvm::is_contained(lhsK, d)) {
      problem.m.push_back(Dim{lhs[d], d, -1, out++});
    }
  }
  for (int64_t d = 0; d < static_cast<int64_t>(rhs.size()); ++d) {
    if (!llvm::is_contained(rhsBatch, d) && !llvm::is_contained(rhsK, d)) {
      problem.n.push_back(Dim{rhs[d], -1, d, out++});
    }
  }
  for (auto [l, r] : llvm::zip(lhsK, rhsK)) {
    problem.k.push_back(Dim{lhs[l], l, r, -1});
  }
  return problem;
}

/// Describes an operand as narrow integers with scales, if it is such. Those of a product of
/// integers may be read as elements, too.
static void addScaled(KernelBuilder &kernel, Value operand, Problem::Array &array) {
  bool isInteger = isa<IntegerType>(elementType(operand.getType()));
  array.scaled = array.isStrided && !isInteger ? nullptr : ScaledOperand::create(kernel, operand);
  if (array.scaled && !array.isStrided) {
    array.strides.assign(array.scaled->strides().begin(), array.scaled->strides().end());
  }
}

LogicalResult emitDotKernel(KernelBuilder &kernel) {
  auto dot = findHero<DotOp>(kernel);
  if (!dot) {
    return kernel.fusion.emitOpError("of strategy 'dot' holds no dot");
  }
  FailureOr<Epilogue> epilogue = Epilogue::create(kernel, dot);
  if (failed(epilogue)) {
    return failure();
  }
  Type element =
      accumulationType(elementType(dot.getLhs().getType()), elementType(dot.getRhs().getType()),
                       elementType(dot.getResult().getType()));
  Problem problem = problemOf(dot);
  int64_t products = 1; // in each sum
  for (const Problem::Dim &dim : problem.k) {
    products *= dim.size;
  }
  if (hlo::isPred(element) && products < std::numeric_limits<int32_t>::max()) {
    // An or of ands is a count of them that is not zero.
    element = IntegerType::get(dot.getContext(), 32, IntegerType::Unsigned);
  }
  problem.lhs = Problem::arrayOf(std::make_shared<Operand>(kernel, dot.getLhs(), element));
  problem.rhs = Problem::arrayOf(std::make_shared<Operand>(kernel, dot.getRhs(), element));
  if (element.isF32() || element.isInteger(32)) {
    addScaled(kernel, dot.getLhs(), problem.lhs);
    addScaled(kernel, dot.getRhs(), problem.rhs);
  }
  separateRuns(kernel, element, problem);
  Contraction c = makeContraction(kernel, dot, element, std::move(problem));
  if (kernel.panels) {
    kernel.panels->layout = packedPanels(c, kernel.panels->operand == 0);
    return success();
  }
  emitContraction(c, *epilogue);
  return success();
}

} // namespace hlo::codegen
