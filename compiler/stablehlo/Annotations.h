//===- Annotations.h - Attributes of functions, ops and the module --------===//
#ifndef COMPILER_STABLEHLO_ANNOTATIONS_H
#define COMPILER_STABLEHLO_ANNOTATIONS_H

#include "compiler/stablehlo/Converter.h"

namespace hlo::stable {

/// The common attributes of HLO (`hlo.sharding`, `hlo.frontend_attributes`, `hlo.backend_config`)
/// that attributes of another dialect stand for: `mhlo.*` and `sdy.*`. Others say nothing.
mlir::FailureOr<mlir::NamedAttrList> annotationsOf(mlir::DictionaryAttr attributes,
                                                   mlir::Location at);
/// The same with further frontend attributes.
mlir::FailureOr<mlir::NamedAttrList>
annotationsOf(mlir::DictionaryAttr attributes,
              llvm::ArrayRef<std::pair<std::string, std::string>> frontend, mlir::Location at);

/// `#sdy.sharding_per_value<[<@mesh, ...>]>` of `#sdy.sharding<@mesh, ...>`.
std::string perValue(mlir::Attribute sharding);

/// Puts the custom calls around results of the entry whose sharding the function gives.
mlir::LogicalResult markResults(Converter &converter, mlir::func::FuncOp main, Values &results);

/// Attributes of the module and of the entry: shardings and layouts of parameters, aliases, donated
/// buffers, numbers of partitions and replicas, meshes.
mlir::LogicalResult annotateEntry(mlir::ModuleOp module, mlir::func::FuncOp main,
                                  ComputationOp entry);

} // namespace hlo::stable

#endif
