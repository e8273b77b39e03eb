//===- Spmd.h - Phase partition --------------------------------------------===//
//
// The passes of the phase; Pipeline.cpp adds them, and between the first two those that inline
// calls, flatten tuples and normalize layouts.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_SPMD_H
#define COMPILER_TRANSFORMS_SPMD_SPMD_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hlo {

/// Whether the module is one program for all partitions, which must be partitioned: it has several
/// partitions, and an annotation that splits an array or marks a manual region.
bool needsPartitioning(mlir::ModuleOp module);

/// The number of partitions that a module of no given number must have, because it goes between
/// arrays and their shards (shard_map); 0 if it need not have several.
int64_t impliedPartitions(mlir::ModuleOp module);

/// `hlo-import-shardings`: both forms of annotation become `hlo.spmd` attributes and markers (see
/// Annotation.h), and the mesh of the module is fixed.
std::unique_ptr<mlir::Pass> createImportShardingsPass();

/// One collective that partitioning has added.
struct CommunicationLine {
  std::string kind;       ///< "all-gather"
  std::string place;      ///< file:line:col of the op that needs it
  std::string why;        ///< which operand or result wanted which sharding
  int64_t bytes = 0;      ///< sent by each partition in one execution
  int64_t executions = 1; ///< the product of the trip counts of the loops around it
};

/// What phase partition did.
struct PartitionReport {
  int64_t partitions = 1;
  std::string mesh; ///< `["x"=2, "y"=4]`
  std::vector<CommunicationLine> communications;
  std::vector<std::string> parameters, results; ///< shardings of the entry's leaves
  /// Ops computed whole by each partition though an operand is split: place, opcode and reason.
  std::vector<std::string> replicated;
};

/// `hlo-spmd-partitioner`: propagation, then the program of one partition. Sets `hlo.entry_shards`.
/// The report is filled if it is not null.
std::unique_ptr<mlir::Pass> createSpmdPartitionerPass(PartitionReport *report = nullptr);

/// Adds the collectives of the partitioned module to the report, if it is not null, and removes the
/// attributes that they have for it. A loop whose trips are not known counts once.
void reportCommunication(mlir::ModuleOp module, PartitionReport *report);

/// The report as --spmd-report prints it.
std::string describePartition(const PartitionReport &report);

void registerSpmdPasses();

} // namespace hlo

#endif
