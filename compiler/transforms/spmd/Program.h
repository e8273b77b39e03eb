//===- Program.h - The module to partition, and its shardings -------------===//
//
// The computations that run at top level (entry, bodies, conditions, branches), the manual axes of
// each value, and the sharding of each array. Values that must have one sharding (a loop's carry in
// the body, the condition and as result) are one node.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_PROGRAM_H
#define COMPILER_TRANSFORMS_SPMD_PROGRAM_H

#include "compiler/analysis/Computations.h"
#include "compiler/transforms/spmd/Annotation.h"
#include "compiler/transforms/spmd/Rule.h"

namespace hlo::spmd {

/// The sharding of a node while it is found.
struct NodeState {
  Sharding sharding;
  llvm::SmallVector<bool, 4> open; ///< propagation may append axes to the dimension
  AxisSet manual = 0;              ///< axes that it must not use
  int64_t bytes = 0;               ///< of the whole array
};

class Program {
public:
  Program(mlir::ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  /// Copies constants and scalars' broadcasts for each use, finds computations, nodes, manual
  /// regions, and the annotations.
  mlir::LogicalResult build();
  /// Gives every node its sharding (Propagation.cpp).
  void propagate();

  const Sharding &shardingOf(mlir::Value value) const {
    return nodes[nodeOf.lookup(value)].sharding;
  }
  AxisSet manualOf(mlir::Value value) const { return nodes[nodeOf.lookup(value)].manual; }
  /// The manual axes around an op.
  AxisSet manualAround(mlir::Operation *op) const;
  ComputationOp computation(mlir::FlatSymbolRefAttr name) const {
    return byName.lookup(name.getAttr());
  }

  mlir::ModuleOp module;
  const Mesh &mesh;
  ComputationOp entry;
  std::vector<ComputationOp> computations; ///< callers before callees
  /// The annotations of the entry's parameters.
  std::vector<std::optional<Annotation>> parameters;

private:
  friend class Propagation;
  unsigned addNode(mlir::Value value);
  void tie(mlir::Value a, mlir::Value b);
  void copyFreeOps();
  mlir::LogicalResult findManualRegions();
  mlir::LogicalResult annotate();
  void annotateCarries();

  llvm::DenseMap<mlir::StringAttr, ComputationOp> byName;
  llvm::DenseMap<mlir::Value, unsigned> nodeOf;
  std::vector<NodeState> nodes;
  llvm::DenseMap<mlir::Operation *, AxisSet> regionOf; ///< of ops without values
  /// Annotations in the order of their priority, to be applied round by round.
  std::vector<std::pair<unsigned, Annotation>> given;
};

/// For each factor, its axes in the given sharding of an array with these dimensions' factors.
void projectFactors(const Rule &rule, const DimFactors &dims, const Sharding &sharding,
                    const Mesh &mesh, FactorAxes &axes);

} // namespace hlo::spmd

#endif
