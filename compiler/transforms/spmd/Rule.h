//===- Rule.h - How the dimensions of an op belong together ---------------===//
//
// An op is an einsum of factors: each dimension of each operand and result is a list of factors,
// the most significant first (a dimension has several where a reshape splits or merges it). If a
// factor is split over some axes in the whole op, each partition computes its part of the result
// from its parts of the operands. A dot has the factors of its batch, rows, columns and contracted
// dimensions; an element-wise op one factor per dimension. Propagation and partitioning read the
// same rules: propagation gives a factor's axes to all arrays that have it, partitioning brings all
// operands to them.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_RULE_H
#define COMPILER_TRANSFORMS_SPMD_RULE_H

#include "compiler/transforms/spmd/Sharding.h"
#include "mlir/IR/Operation.h"

namespace hlo::spmd {

enum class FactorKind : uint8_t {
  /// Each partition's part of the results depends on its own parts of the operands alone.
  Pass,
  /// In no result: each partition has partial results, which are added up (Rule::combine) over the
  /// factor's axes after the op.
  Sum,
  /// Like Pass or Sum, but the partitioner of the op must do more than compute on shards: exchange
  /// edges, mask, add offsets. Propagated like Pass.
  Special,
  /// Not split: propagation never gives it axes, operands are gathered along it.
  Whole,
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::Pass;
};

/// Numbers of factors, the most significant first.
using FactorList = llvm::SmallVector<unsigned, 2>;
/// The factors of each dimension of an array.
using DimFactors = llvm::SmallVector<FactorList, 4>;

struct Rule {
  llvm::SmallVector<Factor, 8> factors;
  /// One entry per operand and per result of the op; the factors' sizes multiply to the dimension's
  /// size, except where a dimension has one factor of kind Special, whose size in operands and
  /// results may differ (a slice, a padded dimension).
  llvm::SmallVector<DimFactors, 4> operands, results;
  /// Propagated before others: element-wise ops, reshapes, transposes, broadcasts.
  bool passesThrough = false;
  /// Several result partitions may each compute the whole op for nothing: constants, iota.
  bool isFree = false;
  /// Why the op is computed whole on each partition; empty if it has a real rule. A literal.
  const char *replicated = "";

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::Pass) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }
  /// Makes room for the operands' and results' dimensions, all without factors (that is, whole).
  static Rule of(mlir::Operation *op);
};

/// The axes of each factor of one op.
using FactorAxes = llvm::SmallVector<AxisList, 8>;

/// The sharding of an array whose dimensions have these factors.
Sharding shardingOf(const DimFactors &dims, const FactorAxes &axes);

/// The rule of the op; every op of the dialect has one (default: all dimensions whole).
Rule ruleOf(mlir::Operation *op);

} // namespace hlo::spmd

#endif
