//===- Linalg.cpp - fft, cholesky, triangular-solve --------------------------===//
//
// Only dimensions in which the op is repeated are split: batch dimensions, and the right-hand sides
// of triangular-solve. The padding of such a dimension gives padding.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Partitioner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// A factor for dimension `dim` of the result and of each operand; none if it is never split.
void share(Rule &rule, Operation *op, int64_t dim) {
  int64_t size = shapeOf(op->getResult(0))[dim];
  if (size <= 1) {
    return;
  }
  unsigned factor = rule.addFactor(size);
  rule.results[0][dim] = {factor};
  for (DimFactors &operand : rule.operands) {
    operand[dim] = {factor};
  }
}

/// The first dimensions, all but `whole` of them.
Rule batchRule(Operation *op, int64_t whole) {
  Rule rule = Rule::of(op);
  for (int64_t dim = 0, batch = rankOf(op->getResult(0)) - whole; dim < batch; ++dim) {
    share(rule, op, dim);
  }
  return rule;
}

Rule fftRule(Operation *op) { return batchRule(op, cast<FftOp>(op).getFftLength().size()); }

Rule choleskyRule(Operation *op) { return batchRule(op, 2); }

Rule triangularSolveRule(Operation *op) {
  Rule rule = batchRule(op, 2);
  bool isLeft = cast<TriangularSolveOp>(op).getLeftSide().value_or(false);
  int64_t dim = rankOf(op->getResult(0)) - (isLeft ? 1 : 2);
  if (int64_t size = shapeOf(op->getResult(0))[dim]; size > 1) {
    rule.operands[1][dim] = rule.results[0][dim] = {rule.addFactor(size)};
  }
  return rule;
}

} // namespace

void hlo::spmd::registerLinalg(PartitionerTable &table) {
  table["hlo.fft"].rule = fftRule;
  table["hlo.cholesky"].rule = choleskyRule;
  table["hlo.triangular_solve"].rule = triangularSolveRule;
}
