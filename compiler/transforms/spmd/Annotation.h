//===- Annotation.h - What a user said about the sharding of a value ------===//
//
// hlo-import-shardings turns both forms of the text into one attribute, a text that this file
// writes and reads, so that inlining and flattening need not know of shardings. Markers are custom
// calls of these targets, with one operand and one result:
//   hlo.sharding      the same array, whose sharding is given (or open)
//   hlo.barrier       the same array; propagation does not pass
//   hlo.manual_enter  from the array to its shard along the manual axes
//   hlo.manual_exit   back
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_ANNOTATION_H
#define COMPILER_TRANSFORMS_SPMD_ANNOTATION_H

#include "compiler/transforms/spmd/Sharding.h"
#include "dialect/hlo/Dialect.h"

#include <optional>

namespace hlo::spmd {

struct Annotation {
  Sharding sharding;
  /// Per dimension: whether propagation may append axes, and in which round it starts from here.
  llvm::SmallVector<bool, 4> open;
  llvm::SmallVector<int64_t, 4> priority;
  /// Values of one group have one sharding.
  std::optional<int64_t> group;
  /// Of a manual region's border: the axes that are manual inside.
  AxisSet manual = 0;
  /// For a list of devices that is no permutation of the mesh's axes: the partition at each
  /// position. It matters where the caller sees shards, at the entry's parameters and results.
  llvm::SmallVector<int64_t> partitionAt;

  Annotation() = default;
  Annotation(int64_t rank, bool isOpen) : sharding(rank), open(rank, isOpen), priority(rank, 0) {}
};

inline constexpr llvm::StringRef kAnnotation = "hlo.spmd";            ///< of an op: its result's
inline constexpr llvm::StringRef kParameters = "hlo.spmd_parameters"; ///< of the module: per leaf
inline constexpr llvm::StringRef kMesh = "hlo.spmd_mesh";             ///< of the module
inline constexpr llvm::StringRef kMarkSharding = "hlo.sharding", kMarkBarrier = "hlo.barrier",
                                 kMarkEnter = "hlo.manual_enter", kMarkExit = "hlo.manual_exit";

std::string encode(const Annotation &annotation);
/// The inverse; only of what `encode` wrote.
Annotation decode(llvm::StringRef text);

mlir::Attribute encodeMesh(const Mesh &mesh, mlir::MLIRContext *context);
Mesh decodeMesh(mlir::Attribute attribute);

/// The marker's target if `op` is one; else empty.
llvm::StringRef markerOf(mlir::Operation *op);
/// The op's annotation, if it has one.
std::optional<Annotation> annotationOf(mlir::Operation *op);

} // namespace hlo::spmd

#endif
