//===- Partitioner.h - One op as its program for one partition ------------===//
//
// The partitioner of the module (Partitioner.cpp) visits ops in order. For each op it takes the
// rule, chooses axes for the factors from the shardings of operands and results (the choice that
// sends the fewest bytes), brings the operands to them, calls the op's `emit`, adds up Sum factors,
// and brings the results to their shardings. Families of ops register themselves in a table
// (rules/*.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_PARTITIONER_H
#define COMPILER_TRANSFORMS_SPMD_PARTITIONER_H

#include "compiler/transforms/spmd/Emitter.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::spmd {

/// One op to be emitted.
struct Site {
  mlir::Operation *op; ///< the global op: its attributes and types
  const Rule &rule;
  const FactorAxes &axes;                  ///< of each factor
  llvm::SmallVector<mlir::Value> operands; ///< shards, as `rule.operands` and `axes` say
  Emitter &e;

  int64_t count(unsigned factor) const { return e.mesh.count(axes[factor]); }
  bool isSplit(unsigned factor) const { return !axes[factor].empty(); }
  Sharding operandSharding(unsigned i) const { return shardingOf(rule.operands[i], axes); }
  Sharding resultSharding(unsigned i) const { return shardingOf(rule.results[i], axes); }
  /// The whole operand's and result's type.
  mlir::RankedTensorType operandType(unsigned i) const {
    return llvm::cast<mlir::RankedTensorType>(op->getOperand(i).getType());
  }
  mlir::RankedTensorType resultType(unsigned i) const {
    return llvm::cast<mlir::RankedTensorType>(op->getResult(i).getType());
  }
  /// The type of the result's shard.
  mlir::RankedTensorType localResultType(unsigned i) const {
    return llvm::cast<mlir::RankedTensorType>(
        shardType(op->getResult(i).getType(), resultSharding(i), e.mesh));
  }
  /// The op with the local operands and local result types, attributes unchanged.
  mlir::Operation *clone() const;
  /// The same with one attribute replaced.
  mlir::Operation *cloneWith(llvm::ArrayRef<mlir::NamedAttribute> changed) const;
};

/// What a family knows of one opcode.
struct OpPartitioner {
  /// The factors. Whatever the rule leaves without a factor is whole.
  Rule (*rule)(mlir::Operation *op) = nullptr;
  /// Emits the op on shards and returns the results' shards, in the shardings of `rule.results`
  /// under `site.axes`; results of Sum factors are partial and are added up by the caller (with
  /// SumKind::Add, or by what `sum` says). Null: the op with local types (Site::clone).
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> (*emit)(Site &site) = nullptr;
  /// How partial results are put together; null: by addition. The computation of the sum.
  mlir::FlatSymbolRefAttr (*sum)(Site &site) = nullptr;
  /// Whether `emit` can do it with these axes; null: always. The partitioner then drops axes of
  /// Special factors until it can.
  bool (*accepts)(mlir::Operation *op, const Rule &rule, const FactorAxes &axes,
                  const Mesh &mesh) = nullptr;
  /// Bytes that `emit` itself sends per partition with these axes; null: 0.
  int64_t (*bytes)(mlir::Operation *op, const Rule &rule, const FactorAxes &axes,
                   const Mesh &mesh) = nullptr;
};

/// By name of the op, "hlo.dot".
using PartitionerTable = llvm::StringMap<OpPartitioner>;
const PartitionerTable &partitionerTable();

/// The families; each adds its rows.
void registerElementwise(
    PartitionerTable &table);                // rules/Elementwise.cpp: and broadcast, iota, constant
void registerShape(PartitionerTable &table); // rules/Shape.cpp: transpose, reshape, bitcast-convert
void registerReduce(PartitionerTable &table);      // rules/Reduce.cpp: reduce
void registerDot(PartitionerTable &table);         // rules/Dot.cpp: dot, ragged-dot, scaled-dot
void registerConvolution(PartitionerTable &table); // rules/Convolution.cpp
void registerMovement(
    PartitionerTable &table); // rules/Movement.cpp: slice, pad, reverse, concatenate
void registerWindow(PartitionerTable &table); // rules/Window.cpp: reduce-window, select-and-scatter
void registerIndex(PartitionerTable &table);  // rules/Index.cpp: gather, scatter, dynamic slices
void registerSort(PartitionerTable &table);   // rules/Sort.cpp: sort, top-k
void registerLinalg(PartitionerTable &table); // rules/Linalg.cpp: fft, cholesky, triangular-solve
void registerOther(PartitionerTable &table);  // rules/Other.cpp: rng, batch norm, map, custom calls

} // namespace hlo::spmd

#endif
