//===- MeshGroups.h - Groups of devices along axes of a mesh --------------===//
#ifndef COMPILER_STABLEHLO_MESHGROUPS_H
#define COMPILER_STABLEHLO_MESHGROUPS_H

#include "dialect/stablehlo/Dialect.h"
#include <string>

namespace hlo::stable {

/// `{{0,1},{2,3}}`: devices of one group differ only along the axes that the attribute names. An
/// error at `op` if the mesh or an axis is not known.
mlir::FailureOr<std::string> meshGroupsText(mlir::Operation *op,
                                            stablehlo::ReplicaGroupMeshAxesAttr groups);

} // namespace hlo::stable

#endif
